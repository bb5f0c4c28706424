//! Builds: what is indexed, what is told, how they are held up and ended.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{CodeIndex, CodeQuery, IndexBuild, IndexControl, IndexError, IndexState, QueryKind};

use crate::support::{
    House, eventually, found, held_up, obey_permissions, paused_among_symbols, phrase, skipped, symbols,
    text, until, write_much,
};

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
    assert_eq!((index.status().state, index.details().was_cancelled), (IndexState::Stale, true));
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    assert_eq!(found(&index, symbols("meadow")).await, "");
    index.build(IndexBuild::Refresh).await.unwrap();
    assert_eq!((index.status().state, index.details().was_cancelled), (IndexState::Ready, false));
    assert_eq!(found(&index, symbols("meadow")).await, "b.rs:1-1 meadow");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_build_answers_for_words_before_it_knows_symbols() {
    let house = House::with(&[]);
    let (index, build) = held_up(&house).await;
    assert_eq!(found(&index, phrase("orchard_7()")).await, "f7.rs:1-1");
    assert_eq!(found(&index, symbols("orchard_7")).await, "");
    let all_ways = CodeQuery::new("orchard_7", QueryKind::Fused, 3);
    assert_eq!(found(&index, all_ways).await.lines().next(), Some("f7.rs:1-1"));
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

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_cancelled_again_and_again_can_be_finished() {
    let house = House::with(&[]);
    write_much(&house);
    let index = Arc::new(house.open());
    for round in 0..3 {
        let building = Arc::clone(&index);
        let build = tokio::spawn(async move { building.build(IndexBuild::Refresh).await });
        paused_among_symbols(&index).await;
        index.control(IndexControl::Cancel);
        assert_eq!(build.await.unwrap(), Err(IndexError::Cancelled));
        assert_eq!(index.status().state, IndexState::Stale);
        assert!(index.status().done < index.status().total);
        // A change is taken in meanwhile, and takes part in the next attempt.
        let name = format!("changed_in_{round}");
        house.write("f3.rs", format!("fn {name}() {{}}\n"));
        index.changed(vec!["f3.rs".to_owned()]).await.unwrap();
        assert_eq!(found(&index, symbols(&name)).await.lines().next(), Some(&*format!("f3.rs:1-1 {name}")));
    }
    index.build(IndexBuild::Refresh).await.unwrap();
    assert_eq!((index.status().state, index.status().files), (IndexState::Ready, 200));
    assert!(found(&index, symbols("orchard_7")).await.starts_with("f7.rs:1-1 orchard_7"));
    drop(index);
    let index = house.open();
    assert!(found(&index, symbols("changed_in_2")).await.starts_with("f3.rs:1-1 changed_in_2"));
    assert_eq!(index.details().notes, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_taken_in_while_builds_are_held_up() {
    let house = House::with(&[("a.rs", "fn orchard() {}\n")]);
    let index = house.built().await;
    index.control(IndexControl::Pause);
    assert!(index.details().is_paused && index.details().progress.is_none());
    house.write("a.rs", "fn meadow() {}\n");
    let told = index.changed(vec!["a.rs".to_owned()]);
    tokio::time::timeout(Duration::from_secs(30), told).await.expect("nobody waits for a pause").unwrap();
    assert_eq!(found(&index, symbols("meadow")).await, "a.rs:1-1 meadow");
    // Neither is it, where all files have to be looked at.
    house.write("made/b.rs", "fn brook() {}\n");
    house.write(".gitignore", "made\n");
    let told = index.changed(vec![".gitignore".to_owned(), "made".to_owned()]);
    tokio::time::timeout(Duration::from_secs(30), told).await.expect("nobody waits for a pause").unwrap();
    assert_eq!(found(&index, symbols("brook")).await, "");
    house.write(".gitignore", "");
    let told = index.changed(vec![".gitignore".to_owned()]);
    tokio::time::timeout(Duration::from_secs(30), told).await.expect("nobody waits for a pause").unwrap();
    assert_eq!(found(&index, symbols("brook")).await, "made/b.rs:1-1 brook");
    // Without a build there is nothing to cancel, and it cancels nothing later.
    index.control(IndexControl::Cancel);
    index.control(IndexControl::Resume);
    assert!(!index.details().is_paused);
    index.build(IndexBuild::Rebuild).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_joins_a_build_gets_what_changed_before_that_a_moment_later() {
    let house = House::with(&[]);
    let (index, build) = held_up(&house).await;
    house.write("late.rs", "fn latecomer() {}\n");
    let joined = index.build(IndexBuild::Refresh);
    index.control(IndexControl::Resume);
    assert_eq!(joined.await.unwrap(), build.await.unwrap().unwrap());
    until(&index, symbols("latecomer"), "late.rs:1-1 latecomer").await;
}

#[tokio::test]
async fn a_first_build_that_failed_goes_well_when_it_can_for_whoever_asks_again_and_by_itself() {
    obey_permissions();
    for is_asked_for_again in [true, false] {
        let house = House::with(&[("a.rs", "fn orchard() {}\n")]);
        let allow = |mode| {
            std::fs::set_permissions(house.data.path(), PermissionsExt::from_mode(mode)).unwrap();
        };
        let index = house.open();
        index.loaded().await;
        allow(0o500);
        // As whoever keeps an index fresh asks for it, also where there is none yet.
        let failed = index.build(IndexBuild::Refresh).await.unwrap_err();
        assert!(
            matches!(&failed, IndexError::Unavailable(why) if why.contains("ermission denied")),
            "{failed}"
        );
        allow(0o700);
        if is_asked_for_again {
            index.build(IndexBuild::Refresh).await.unwrap();
        } else {
            eventually("another attempt", || index.status().state == IndexState::Ready).await;
        }
        assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
        assert_eq!((index.status().state, index.status().last_error), (IndexState::Ready, None));
    }
}
