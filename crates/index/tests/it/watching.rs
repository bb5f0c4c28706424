//! Changes that nobody tells, heard from the file system.

use std::time::{Duration, Instant};

use loggia_index::FileIndex;

use crate::support::{House, found, symbols};

/// Waits until a query finds what it should.
async fn until(index: &FileIndex, name: &str, expected: &str) {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let now = found(index, symbols(name)).await;
        if now == expected {
            return;
        }
        assert!(Instant::now() < patience, "{name}: {now:?} instead of {expected:?}");
        // The file system has no event for what we made of its event.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
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
