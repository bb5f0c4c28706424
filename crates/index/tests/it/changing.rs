//! Changes: taken in at once, written later, the same as if everything were built anew.

use loggia_domain::{CodeIndex, IndexBuild};

use crate::support::{House, found, phrase, skipped, symbols, text, until, used};

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[tokio::test]
async fn a_changed_file_is_found_by_what_it_says_now() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n"), ("b.rs", "fn other() { orchard() }\n")]);
    let index = house.built().await;
    house.write("a.rs", "fn meadow() {}\n");
    house.write("c.rs", "fn brook() { orchard(); }\n");
    index.changed(paths(&["a.rs", "c.rs"])).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "");
    assert_eq!(found(&index, symbols("meadow")).await, "a.rs:1-1 meadow");
    assert_eq!(found(&index, symbols("brook")).await, "c.rs:1-1 brook");
    assert_eq!(found(&index, text("orchard")).await, "b.rs:1-1\nc.rs:1-1");
    assert_eq!(found(&index, phrase("orchard()")).await, "b.rs:1-1\nc.rs:1-1");
    assert_eq!(
        used(&index, "orchard").await,
        "b.rs:1 Call fn other() { orchard() }\nc.rs:1 Call fn brook() { orchard(); }"
    );
    assert_eq!(index.status().files, 3);
}

#[tokio::test]
async fn changes_in_memory_are_written_and_survive_the_end() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n"), ("b.rs", "fn brook() {}\n")]);
    let index = house.built().await;
    house.write("a.rs", "fn meadow() {}\n");
    house.remove("b.rs");
    index.changed(paths(&["a.rs", "b.rs"])).await.unwrap();
    drop(index);
    let index = house.open();
    assert_eq!(found(&index, symbols("meadow")).await, "a.rs:1-1 meadow");
    assert_eq!(found(&index, symbols("orchard")).await, "");
    assert_eq!(found(&index, text("brook")).await, "");
    assert_eq!(index.status().files, 1);
}

#[tokio::test]
async fn renames_of_files_and_directories_are_followed() {
    let house = House::with(&[("old/a.rs", "fn orchard() {}\n"), ("old/deep/b.rs", "fn brook() {}\n")]);
    let index = house.built().await;
    std::fs::rename(house.path("old"), house.path("new")).unwrap();
    index.changed(paths(&["old", "new"])).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "new/a.rs:1-1 orchard");
    assert_eq!(found(&index, symbols("brook")).await, "new/deep/b.rs:1-1 brook");
    std::fs::rename(house.path("new/a.rs"), house.path("new/A.rs")).unwrap();
    index.changed(paths(&["new/a.rs", "new/A.rs"])).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "new/A.rs:1-1 orchard");
    assert_eq!(index.status().files, 2);
}

#[tokio::test]
async fn a_large_file_that_changed_is_found_by_its_words_at_once_and_then_by_its_names() {
    let house = House::with(&[("small.rs", "fn brook() {}\n")]);
    let index = house.built().await;
    let filler: String = (0..8_000).map(|number| format!("fn meadow_{number}() {{}}\n")).collect();
    house.write("large.rs", format!("{filler}fn orchard() {{}}\n"));
    index.changed(paths(&["large.rs"])).await.unwrap();
    assert!(found(&index, text("orchard")).await.starts_with("large.rs:8001"));
    // Whoever asks for another change is answered after that.
    house.write("small.rs", "fn river() {}\n");
    index.changed(paths(&["small.rs"])).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "large.rs:8001-8001 orchard");
    drop(index);
    let index = house.open();
    assert_eq!(found(&index, symbols("orchard")).await, "large.rs:8001-8001 orchard");
}

#[tokio::test]
async fn a_change_of_the_rules_changes_which_files_there_are() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n"), ("made/b.rs", "fn brook() {}\n")]);
    let index = house.built().await;
    house.write(".gitignore", "made\n");
    index.changed(paths(&[".gitignore"])).await.unwrap();
    until(&index, symbols("brook"), "").await;
    house.write("made/c.rs", "fn creek() {}\n");
    index.changed(paths(&["made/c.rs", "made"])).await.unwrap();
    assert_eq!(found(&index, symbols("creek")).await, "");
    house.remove(".gitignore");
    index.changed(paths(&[".gitignore"])).await.unwrap();
    until(&index, symbols("brook"), "made/b.rs:1-1 brook").await;
    assert_eq!(found(&index, symbols("creek")).await, "made/c.rs:1-1 creek");
}

#[tokio::test]
async fn a_file_may_become_one_that_is_skipped_and_back() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n")]);
    let index = house.built().await;
    house.write("a.rs", b"fn orchard\0");
    index.changed(paths(&["a.rs"])).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "");
    assert_eq!(skipped(&index), "a.rs: it is binary");
    house.write("a.rs", "fn orchard() {}\n");
    index.changed(paths(&["a.rs"])).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    assert_eq!(skipped(&index), "");
}

#[tokio::test]
async fn many_changes_at_once_are_a_new_state() {
    let house = House::with(&[("keep.rs", "fn keep() {}\n")]);
    for number in 0..400 {
        house.write(&format!("many/f{number}.rs"), format!("fn orchard_{number}() {{}}\n"));
    }
    let index = house.built().await;
    // As a branch switch does: some go, some change, some come.
    for number in 0..400 {
        match number % 4 {
            0 => house.remove(&format!("many/f{number}.rs")),
            1 => house.write(&format!("many/f{number}.rs"), format!("fn meadow_{number}() {{}}\n")),
            2 => house.write(&format!("many/g{number}.rs"), format!("fn brook_{number}() {{}}\n")),
            _ => {}
        }
    }
    index.changed(paths(&["many"])).await.unwrap();
    assert_eq!(index.status().files, 401);
    assert!(!found(&index, symbols("orchard_0")).await.contains("f0.rs"));
    assert_eq!(found(&index, symbols("meadow_1")).await.lines().next(), Some("many/f1.rs:1-1 meadow_1"));
    assert_eq!(found(&index, symbols("brook_2")).await.lines().next(), Some("many/g2.rs:1-1 brook_2"));
    assert_eq!(found(&index, symbols("orchard_3")).await.lines().next(), Some("many/f3.rs:1-1 orchard_3"));
    let before = index.status();
    index.build(IndexBuild::Refresh).await.unwrap();
    assert_eq!(index.status().symbols, before.symbols);
}

#[tokio::test]
async fn paths_that_lead_nowhere_change_nothing() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n")]);
    let index = house.built().await;
    index
        .changed(paths(&["../else", "/etc/passwd", "none/at/all", "", ".git/objects/x", "a.rs/b"]))
        .await
        .unwrap();
    index.changed(Vec::new()).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    assert_eq!(index.status().files, 1);
}
