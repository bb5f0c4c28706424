//! Directories that are swapped while they are in use: at a known point, and all the time by another thread.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use loggia_tree::{Content, TreeError, WalkOptions};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{Fixture, INSIDE, SECRET, at, snapshot};

/// How often each race is run: the other thread swaps some thousand times meanwhile.
const ROUNDS: usize = 2_000;
/// The same, where each round waits for the disk.
const DURABLE_ROUNDS: usize = 200;

#[test]
fn a_parent_swapped_for_a_link_before_the_commit_is_refused() {
    let fixture = Fixture::new();
    fixture.dir("d");
    let before = snapshot(&fixture.outside(""));
    let staged = fixture.root.stage(&at("d/secret.txt"), &Content::Bytes(b"written"), 0o644).unwrap();
    fs::rename(fixture.inside("d"), fixture.inside("e")).unwrap();
    symlink(fixture.outside(""), fixture.inside("d")).unwrap();
    let error = fixture.root.commit(staged).unwrap_err();
    assert!(matches!(error, TreeError::ThroughLink { .. }) && error.is_forbidden(), "{error}");
    assert_eq!(snapshot(&fixture.outside("")), before);
    // The unfinished file moved away with its directory; a sweep finds it.
    assert_eq!(fixture.root.sweep_all_staged().files, 1);
    assert_eq!(fixture.unfinished(), [""; 0]);
}

#[test]
fn a_parent_swapped_for_another_directory_before_the_commit_is_refused() {
    let fixture = Fixture::new();
    fixture.dir("d").file("other/a", "other");
    let staged = fixture.root.stage(&at("d/a"), &Content::Bytes(b"written"), 0o644).unwrap();
    fs::rename(fixture.inside("d"), fixture.inside("e")).unwrap();
    fs::rename(fixture.inside("other"), fixture.inside("d")).unwrap();
    // The other directory even has a file of the same name as our unfinished one.
    let unfinished = fs::read_dir(fixture.inside("e")).unwrap().next().unwrap().unwrap().file_name();
    let forged = fixture.inside("d").join(unfinished);
    fs::write(&forged, "forged").unwrap();
    let error = fixture.root.commit(staged).unwrap_err();
    assert!(matches!(error, TreeError::Swapped { .. }) && error.is_forbidden(), "{error}");
    assert_eq!(fixture.text("d/a"), "other");
    assert!(forged.exists(), "it was not ours to remove");
}

#[test]
fn a_parent_moved_out_of_the_root_before_the_commit_is_refused() {
    let fixture = Fixture::new();
    fixture.dir("d");
    let staged = fixture.root.stage(&at("d/a"), &Content::Bytes(b"written"), 0o644).unwrap();
    fs::rename(fixture.inside("d"), fixture.outside("d")).unwrap();
    let error = fixture.root.commit(staged).unwrap_err();
    assert!(matches!(error, TreeError::Swapped { .. }) && error.is_forbidden(), "{error}");
    assert!(!fixture.outside("d/a").exists());
}

#[test]
fn a_parent_further_up_swapped_for_a_link_inside_is_refused() {
    let fixture = Fixture::new();
    fixture.dir("d/e").dir("protected/e");
    let real = fixture.root.real_path_of(&at("d/e/hook")).unwrap();
    fs::rename(fixture.inside("d"), fixture.inside("f")).unwrap();
    symlink("protected", fixture.inside("d")).unwrap();
    let error = fixture.root.stage(&real, &Content::Bytes(b"written"), 0o755).unwrap_err();
    assert!(matches!(error, TreeError::ThroughLink { .. }), "{error}");
    assert!(!fixture.exists("protected/e/hook"));
}

#[test]
fn a_target_that_became_a_directory_is_refused_and_nothing_is_left() {
    let fixture = Fixture::new();
    let staged = fixture.root.stage(&at("a"), &Content::Bytes(b"written"), 0o644).unwrap();
    fixture.dir("a");
    assert!(matches!(fixture.root.commit(staged), Err(TreeError::NotAFile { .. })));
    assert_eq!(fixture.unfinished(), [""; 0]);
}

#[test]
fn a_target_that_became_a_hard_link_is_refused_and_nothing_is_left() {
    let fixture = Fixture::new();
    let staged = fixture.root.stage(&at("a"), &Content::Bytes(b"written"), 0o644).unwrap();
    fixture.hard_link("a", "secret.txt");
    let before = snapshot(&fixture.outside(""));
    assert!(matches!(fixture.root.commit(staged), Err(TreeError::HardLinked { .. })));
    assert_eq!(snapshot(&fixture.outside("")), before);
    assert_eq!(fixture.unfinished(), [""; 0]);
}

#[test]
fn an_unfinished_file_that_somebody_removed_is_told_of() {
    let fixture = Fixture::new();
    fixture.file("a", INSIDE);
    let staged = fixture.root.stage(&at("a"), &Content::Bytes(b"written"), 0o644).unwrap();
    for line in fs::read_dir(fixture.inside("")).unwrap() {
        let path = line.unwrap().path();
        if path.to_string_lossy().contains(".loggia-") {
            fs::remove_file(path).unwrap();
        }
    }
    assert!(matches!(fixture.root.commit(staged), Err(TreeError::Swapped { .. })));
    assert_eq!(fixture.text("a"), INSIDE);
}

#[test]
fn the_root_can_be_moved_while_it_is_in_use() {
    let fixture = Fixture::new();
    fixture.file("a", INSIDE);
    let staged = fixture.root.stage(&at("a"), &Content::Bytes(b"written"), 0o644).unwrap();
    let moved = fixture.base().join("moved");
    fs::rename(fixture.inside(""), &moved).unwrap();
    symlink(fixture.outside(""), fixture.base().join("workspace")).unwrap();
    fixture.root.commit(staged).unwrap();
    assert_eq!(fs::read_to_string(moved.join("a")).unwrap(), "written");
    assert_eq!(fs::read_to_string(fixture.outside("secret.txt")).unwrap(), SECRET);
    assert!(matches!(fixture.root.stat(&at("secret.txt")), Ok(None)));
}

/// Runs `round` again and again, while another thread swaps `d` with a link to something outside.
fn while_swapped(fixture: &Fixture, outside: &str, rounds: usize, round: impl Fn()) {
    fixture.link("e", fixture.outside(outside));
    let (d, e) = (fixture.inside("d"), fixture.inside("e"));
    let swap = || renameat_with(CWD, &d, CWD, &e, RenameFlags::EXCHANGE).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0_usize;
            while !is_over.load(Ordering::Relaxed) {
                swap();
                swaps += 1;
            }
            swaps
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (0..rounds).for_each(|_| round());
        }));
        is_over.store(true, Ordering::Relaxed);
        assert!(swapper.join().unwrap() > 0, "nothing was swapped");
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
    // As it was before.
    if d.is_symlink() {
        swap();
    }
    fs::remove_file(&e).unwrap();
}

/// Whatever goes wrong in a race, it is one of these.
fn assert_refusal(error: &TreeError) {
    let is_gone = matches!(error, TreeError::NotFound { .. } | TreeError::NotADirectory { .. });
    assert!(error.is_forbidden() || is_gone, "{error:?}");
}

#[test]
fn reading_while_a_parent_is_swapped_never_reads_outside() {
    let fixture = Fixture::new();
    fixture.file("d/secret.txt", INSIDE).file("d/dir/secret.txt", INSIDE);
    for path in [at("d/secret.txt"), at("d/dir/secret.txt")] {
        while_swapped(&fixture, "", ROUNDS, || match fixture.root.read(&path, 100) {
            Ok(file) => assert_eq!(file.bytes, INSIDE.as_bytes()),
            Err(error) => assert_refusal(&error),
        });
    }
}

#[test]
fn reading_through_a_link_while_it_is_swapped_never_reads_outside() {
    let fixture = Fixture::new();
    fixture.file("d/secret.txt", INSIDE).link("l", "x/../d/../d/secret.txt").dir("x");
    while_swapped(&fixture, "", ROUNDS, || match fixture.root.read(&at("l"), 100) {
        Ok(file) => assert_eq!(file.bytes, INSIDE.as_bytes()),
        Err(error) => assert_refusal(&error),
    });
}

#[test]
fn reading_while_the_file_is_swapped_for_a_link_never_reads_outside() {
    let fixture = Fixture::new();
    fixture.file("d", INSIDE);
    while_swapped(&fixture, "secret.txt", ROUNDS, || match fixture.root.read(&at("d"), 100) {
        Ok(file) => assert_eq!(file.bytes, INSIDE.as_bytes()),
        Err(error) => assert_refusal(&error),
    });
}

#[test]
fn listing_and_walking_while_a_parent_is_swapped_never_looks_outside() {
    let fixture = Fixture::new();
    fixture.file("d/inside.txt", INSIDE);
    while_swapped(&fixture, "", ROUNDS, || {
        match fixture.root.list(&at("d")) {
            Ok(listed) => assert!(listed.iter().all(|entry| entry.name == "inside.txt"), "{listed:?}"),
            Err(error) => assert_refusal(&error),
        }
        for found in fixture.root.walk(&WalkOptions::default()) {
            match found {
                Ok(found) => assert!(!found.path.as_str().contains("secret"), "{found:?}"),
                Err(error) => assert_refusal(&error),
            }
        }
    });
}

#[test]
fn writing_while_a_parent_is_swapped_never_writes_outside() {
    let fixture = Fixture::new();
    fixture.dir("d/dir");
    let before = snapshot(&fixture.outside(""));
    for path in ["d/secret.txt", "d/dir/secret.txt"] {
        while_swapped(&fixture, "", DURABLE_ROUNDS, || match fixture.put(path, "written", 0o600) {
            Ok(()) => {}
            Err(error) => assert_refusal(&error),
        });
    }
    assert_eq!(snapshot(&fixture.outside("")), before);
}

#[test]
fn making_directories_while_a_parent_is_swapped_never_makes_them_outside() {
    let fixture = Fixture::new();
    fixture.dir("d");
    let before = snapshot(&fixture.outside(""));
    while_swapped(&fixture, "", DURABLE_ROUNDS, || {
        match fixture.root.stage(&at("d/new/deep/a"), &Content::Bytes(b"written"), 0o600) {
            Ok(staged) => drop(staged),
            Err(error) => assert_refusal(&error),
        }
    });
    assert_eq!(snapshot(&fixture.outside("")), before);
}

#[test]
fn removing_while_a_parent_is_swapped_never_removes_outside() {
    let fixture = Fixture::new();
    fixture.file("d/keep", INSIDE).dir("d/empty");
    let before = snapshot(&fixture.outside(""));
    while_swapped(&fixture, "", DURABLE_ROUNDS, || {
        for result in [
            fixture.root.remove(&at("d/secret.txt")),
            fixture.root.remove(&at("d/dir/secret.txt")),
            fixture.root.remove_empty_parents(&at("d/empty/x")),
            fixture.root.sync_directories([&at("d/empty/x")]),
        ] {
            if let Err(error) = result {
                assert_refusal(&error);
            }
        }
    });
    assert_eq!(snapshot(&fixture.outside("")), before);
}

#[test]
fn a_file_is_always_seen_whole_while_it_is_replaced() {
    let fixture = Fixture::new();
    let texts = ["a".repeat(5_000), "b".repeat(9_000)];
    fixture.put("f", &texts[0], 0o644).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..200 {
                fixture.put("f", &texts[round % 2], 0o644).unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            let file = fixture.root.read(&at("f"), 10_000).unwrap();
            assert!(texts.iter().any(|text| text.as_bytes() == file.bytes));
        }
        writer.join().unwrap();
    });
}

#[test]
fn files_staged_into_the_same_new_directory_by_many_threads_leave_nothing_when_dropped() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                for round in 0..200 {
                    let path = at(&format!("new/deep/{thread}-{round}"));
                    drop(fixture.root.stage(&path, &Content::Bytes(b"x"), 0o644).unwrap());
                }
            });
        }
    });
    assert_eq!(fs::read_dir(fixture.inside("")).unwrap().count(), 0);
}

#[test]
fn a_handle_can_be_used_from_many_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let fixture = Fixture::new();
    shared(&fixture.root);
    assert!(fixture.root.path().starts_with(Path::new("/")));
}
