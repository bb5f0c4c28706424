//! Builds: what is indexed, what is told, how they are held up and ended.

use loggia_domain::{CodeIndex, IndexBuild, IndexControl, IndexError, IndexState, IndexStep};

use crate::support::{House, found, phrase, skipped, symbols, text};

#[tokio::test]
async fn files_that_the_rules_keep_are_indexed() {
    let house = House::with(&[
        ("src/lib.rs", "pub fn orchard() {}\n"),
        ("notes.md", "About the orchard.\n"),
        (".gitignore", "target\n"),
        ("target/out.rs", "fn orchard() {}\n"),
        (".git/config", "orchard"),
    ]);
    let index = house.open();
    assert_eq!(index.build(IndexBuild::Rebuild).await.unwrap().state, IndexState::Ready);
    let status = index.status();
    assert_eq!((status.files, status.symbols), (3, 1));
    assert!(status.bytes > 0 && status.chunks > 0);
    assert_eq!(found(&index, text("orchard")).await, "src/lib.rs:1-1\nnotes.md:1-1");
    assert_eq!(skipped(&index), "");
}

#[tokio::test]
async fn before_the_first_build_a_search_says_that_nothing_is_indexed() {
    let house = House::with(&[("a.rs", "fn a() {}")]);
    let index = house.open();
    index.loaded().await;
    assert_eq!(index.status().state, IndexState::Empty);
    let error = index.search(text("anything")).await.unwrap_err();
    assert_eq!(error, IndexError::Unavailable("nothing is indexed yet".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn builds_that_are_asked_for_while_one_runs_join_it() {
    let house = House::with(&[("a.rs", "fn orchard() {}")]);
    let index = house.open();
    index.control(IndexControl::Pause);
    let (one, two) = (index.build(IndexBuild::Rebuild), index.build(IndexBuild::Rebuild));
    index.control(IndexControl::Resume);
    let (one, two) = tokio::join!(one, two);
    assert_eq!(one.unwrap(), two.unwrap());
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_build_tells_so_and_a_cancelled_one_leaves_the_last_state() {
    let house = House::with(&[("a.rs", "fn orchard() {}")]);
    let index = house.built().await;
    house.write("b.rs", "fn meadow() {}");
    index.control(IndexControl::Pause);
    let build = index.build(IndexBuild::Rebuild);
    let progress = loop {
        // The state follows the progress, which is told first.
        if let (Some(progress), IndexState::Building) = (index.details().progress, index.status().state) {
            break progress;
        }
        tokio::task::yield_now().await;
    };
    assert!(progress.is_paused);
    // The last finished state answers meanwhile.
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    index.control(IndexControl::Cancel);
    assert_eq!(build.await, Err(IndexError::Cancelled));
    assert_eq!(index.status().state, IndexState::Stale);
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    assert_eq!(found(&index, symbols("meadow")).await, "");
    index.build(IndexBuild::Refresh).await.unwrap();
    assert_eq!(found(&index, symbols("meadow")).await, "b.rs:1-1 meadow");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_build_answers_for_words_before_it_knows_symbols() {
    let house = House::with(&[]);
    // Enough that a person could not stop it before the end, and we can.
    let more: String =
        (0..200).map(|number| format!("fn more_{number}() {{ let a = {number}; }}\n")).collect();
    for number in 0..200 {
        house.write(&format!("f{number}.rs"), format!("fn orchard_{number}() {{}}\n{more}"));
    }
    let index = std::sync::Arc::new(house.open());
    let (building, looking) = (std::sync::Arc::clone(&index), std::sync::Arc::clone(&index));
    let build = tokio::spawn(async move { building.build(IndexBuild::Rebuild).await });
    let stopped = tokio::task::spawn_blocking(move || {
        while looking.details().progress.is_none_or(|progress| progress.step != IndexStep::Symbols) {
            std::thread::yield_now();
        }
        looking.control(IndexControl::Pause);
        looking.details().progress
    });
    let progress = stopped.await.unwrap().expect("it is under way");
    assert!(progress.is_paused && progress.done < progress.total, "{progress:?}");
    assert_eq!(found(&index, phrase("orchard_7()")).await, "f7.rs:1-1");
    assert_eq!(found(&index, symbols("orchard_7")).await, "");
    index.control(IndexControl::Resume);
    build.await.unwrap().unwrap();
    assert!(found(&index, symbols("orchard_7")).await.starts_with("f7.rs:1-1 orchard_7"));
}

#[tokio::test]
async fn a_rebuild_leaves_one_build_on_disk() {
    let house = House::with(&[("a.rs", "fn orchard() {}")]);
    let index = house.built().await;
    index.build(IndexBuild::Rebuild).await.unwrap();
    let names = std::fs::read_dir(house.data.path()).unwrap().flatten();
    let builds = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("build-"));
    assert_eq!(builds.count(), 1);
}
