//! Changes that nobody tells, heard from the file system.

use std::os::unix::fs::PermissionsExt;

use loggia_domain::{CodeIndex, IndexBuild, IndexControl};

use crate::support::{self, House, found, held_up, obey_permissions, symbols};

async fn until(index: &loggia_index::FileIndex, name: &str, expected: &str) {
    support::until(index, symbols(name), expected).await;
}

#[tokio::test]
async fn changes_are_heard_of_wherever_the_rules_keep_files() {
    let house =
        House::with(&[("a.rs", "fn orchard() {}\n"), (".gitignore", "made\n"), (".git/HEAD", "one\n")]);
    std::fs::create_dir_all(house.path("empty/deep")).unwrap();
    std::fs::create_dir_all(house.path("made")).unwrap();
    let index = house.built().await;
    let watch = index.watch().unwrap();
    house.write("a.rs", "fn meadow() {}\n");
    until(&index, "meadow", "a.rs:1-1 meadow").await;
    house.write("empty/deep/b.rs", "fn brook() {}\n");
    until(&index, "brook", "empty/deep/b.rs:1-1 brook").await;
    house.write("new/very/deep/c.rs", "fn creek() {}\n");
    until(&index, "creek", "new/very/deep/c.rs:1-1 creek").await;
    house.write("new/very/deep/d.rs", "fn pond() {}\n");
    until(&index, "pond", "new/very/deep/d.rs:1-1 pond").await;
    std::fs::rename(house.path("new"), house.path("old")).unwrap();
    until(&index, "creek", "old/very/deep/c.rs:1-1 creek").await;
    house.remove("a.rs");
    until(&index, "meadow", "").await;
    house.write("made/e.rs", "fn hidden() {}\n");
    // Another branch: what is heard of it is that its head changed.
    house.write(".git/HEAD", "two\n");
    house.write("f.rs", "fn last() {}\n");
    until(&index, "last", "f.rs:1-1 last").await;
    assert_eq!(found(&index, symbols("hidden")).await, "");
    drop(watch);
}

#[tokio::test]
async fn directories_are_watched_that_the_rules_keep_later_and_those_made_in_a_hurry() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n"), (".gitignore", "made\n")]);
    house.write("made/b.rs", "fn hidden() {}\n");
    let index = house.built().await;
    let watch = index.watch().unwrap();
    house.write(".gitignore", "other\n");
    until(&index, "hidden", "made/b.rs:1-1 hidden").await;
    house.write("made/b.rs", "fn meadow() {}\n");
    until(&index, "meadow", "made/b.rs:1-1 meadow").await;
    // As somebody unpacks an archive: directories are made while the first of them are begun to be watched.
    for number in 0..100 {
        house.write(
            &format!("un/{}/{number}/deep/c.rs", number % 10),
            format!("fn first_{number:03}() {{}}\n"),
        );
    }
    for number in 0..100 {
        let path = format!("un/{}/{number}/deep/c.rs", number % 10);
        until(&index, &format!("first_{number:03}"), &format!("{path}:1-1 first_{number:03}")).await;
        house.write(&path, format!("fn second_{number:03}() {{}}\n"));
    }
    for number in 0..100 {
        let path = format!("un/{}/{number}/deep/c.rs", number % 10);
        until(&index, &format!("second_{number:03}"), &format!("{path}:1-1 second_{number:03}")).await;
    }
    drop(watch);
}

#[tokio::test]
async fn a_directory_that_may_not_be_read_leaves_the_others_watched_and_is_told() {
    obey_permissions();
    let house = House::with(&[("a.rs", "fn orchard() {}\n"), ("data/b.rs", "fn hidden() {}\n")]);
    let shut = |mode| std::fs::set_permissions(house.path("data"), PermissionsExt::from_mode(mode)).unwrap();
    shut(0o000);
    let index = house.built().await;
    let watch = index.watch().unwrap();
    let notes = index.details().notes;
    assert!(notes.len() == 1 && notes[0].starts_with("changes are not heard of in `data` ("), "{notes:?}");
    house.write("a.rs", "fn meadow() {}\n");
    until(&index, "meadow", "a.rs:1-1 meadow").await;
    // What could not be read is looked for again, and heard of from then on.
    shut(0o755);
    house.write(".gitignore", "none\n");
    until(&index, "hidden", "data/b.rs:1-1 hidden").await;
    assert_eq!(index.details().notes, Vec::<String>::new());
    house.write("data/b.rs", "fn brook() {}\n");
    until(&index, "brook", "data/b.rs:1-1 brook").await;
    drop(watch);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_behind_a_running_build_is_found_after_it() {
    let house = House::with(&[]);
    let (index, build) = held_up(&house).await;
    // The build has seen all files, and nobody listens yet.
    house.write("late.rs", "fn latecomer() {}\n");
    let watch = index.watch().unwrap();
    let joined = index.build(IndexBuild::Refresh);
    index.control(IndexControl::Resume);
    build.await.unwrap().unwrap();
    joined.await.unwrap();
    until(&index, "latecomer", "late.rs:1-1 latecomer").await;
    drop(watch);
}

#[tokio::test]
async fn whoever_asks_does_not_wait_until_it_is_quiet() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n")]);
    let index = house.built().await;
    let watch = index.watch().unwrap();
    let mut at_once = 0;
    for number in 0..20 {
        house.write("a.rs", format!("fn written_{number}() {{}}\n"));
        watch.caught_up().await;
        let name = format!("written_{number}");
        let now = found(&index, symbols(&name)).await;
        at_once += u32::from(now.lines().next() == Some(&*format!("a.rs:1-1 {name}")));
        until(&index, &name, &format!("a.rs:1-1 {name}")).await;
    }
    // Without being asked for, a change takes ten times as long as a query; a busy machine may be late now and then.
    assert!(at_once > 0);
    drop(watch);
}
