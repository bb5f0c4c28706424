//! What is undone is as it was, and what is redone is as it became: byte for byte, over any number of turns.

use loggia_domain::FileChange;
use proptest::collection::vec;
use proptest::prelude::*;

use super::scenario::{Operation, after, changes, operations, tree};
use super::support::{Bench, Entry, Snapshot, change, file, files, patches, redo, settle, undo};
use crate::changes::{ApplyError, Found, plan_redo, plan_undo};

/// A turn's change sets.
type Turn = Vec<Vec<Operation>>;

fn run_turn(bench: &Bench, turn: &Turn) -> Vec<FileChange> {
    let mut made = Vec::new();
    for operations in turn {
        let before = bench.snapshot_of_files();
        let wanted = after(&before, operations);
        made.extend(settle(bench.applier().apply(patches(), changes(&before, &wanted))));
        assert_eq!(bench.snapshot_of_files(), wanted);
        bench.prune();
    }
    made
}

fn check_walk(start: &Snapshot, turns: &[Turn], walk: &[bool]) {
    let bench = Bench::with(start);
    let mut states = vec![start.clone()];
    let mut made = Vec::new();
    for turn in turns {
        made.push(run_turn(&bench, turn));
        states.push(bench.snapshot_of_files());
    }
    let mut at = turns.len();
    let mut go = |back: bool| {
        if back && at > 0 {
            at -= 1;
            let _ = settle(bench.applier().restore(undo(), &plan_undo(&made[at])));
        } else if !back && at < turns.len() {
            let _ = settle(bench.applier().restore(redo(), &plan_redo(&made[at])));
            at += 1;
        }
        bench.prune();
        assert_eq!(bench.snapshot_of_files(), states[at]);
        assert_eq!(bench.records(), 0);
    };
    walk.iter().for_each(|back| go(*back));
    (0..turns.len()).for_each(|_| go(true));
    (0..turns.len()).for_each(|_| go(false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undo_and_redo_restore_trees_exactly(
        start in tree(),
        turns in vec(vec(operations(), 1..4), 1..5),
        walk in vec(any::<bool>(), 0..8),
    ) {
        check_walk(&start, &turns, &walk);
    }
}

#[test]
fn directories_come_and_go_with_the_files_that_need_them() {
    let bench = Bench::with(&files([("kept/file", file("k"))]));
    let start = bench.snapshot();
    let wanted = vec![change("new/deep/one", None, Some("1")), change("kept/two", None, Some("2"))];
    let made = settle(bench.applier().apply(patches(), wanted));
    let end = bench.snapshot();
    assert!(end.contains_key("new/deep/"));
    settle(bench.applier().restore(undo(), &plan_undo(&made)));
    assert_eq!(bench.snapshot(), start);
    settle(bench.applier().restore(redo(), &plan_redo(&made)));
    assert_eq!(bench.snapshot(), end);
}

#[test]
fn a_deleted_file_leaves_its_directory_and_comes_back_into_it() {
    let bench = Bench::with(&files([("d/only", file("x"))]));
    let start = bench.snapshot();
    let made = settle(bench.applier().apply(patches(), vec![change("d/only", Some("x"), None)]));
    assert_eq!(bench.snapshot(), files([("d/", Entry::Directory)]));
    settle(bench.applier().restore(undo(), &plan_undo(&made)));
    assert_eq!(bench.snapshot(), start);
}

#[test]
fn directories_with_something_else_in_them_stay() {
    let bench = Bench::new();
    let made = settle(bench.applier().apply(patches(), vec![change("new/ours", None, Some("1"))]));
    bench.write_one("new/theirs", &file("2"));
    settle(bench.applier().restore(undo(), &plan_undo(&made)));
    assert_eq!(bench.snapshot_of_files(), files([("new/theirs", file("2"))]));
}

#[test]
fn a_file_changed_since_stops_the_undo_and_every_such_file_is_named() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1")), ("c", file("1")), ("d", file("1"))]));
    let all = ["a", "b", "c", "d"].map(|name| change(name, Some("1"), Some("2"))).to_vec();
    let made = settle(bench.applier().apply(patches(), all));
    bench.write_one("b", &file("theirs"));
    bench.write_one("d", &Entry::File { bytes: b"2".to_vec(), mode: 0o755 });
    std::fs::remove_file(bench.tree().join("c")).unwrap();
    let found = bench.snapshot();
    let Err(ApplyError::Conflict(conflicts)) = bench.applier().restore(undo(), &plan_undo(&made)) else {
        panic!("the undo went over somebody's changes")
    };
    let named: Vec<(&str, bool)> =
        conflicts.iter().map(|conflict| (conflict.path.as_str(), conflict.found == Found::Nothing)).collect();
    assert_eq!(named, [("b", false), ("c", true), ("d", false)]);
    assert_eq!(bench.snapshot(), found);
    assert_eq!(bench.records(), 0);
}

#[test]
fn content_that_is_not_kept_any_more_stops_the_undo() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1"))]));
    let both = vec![change("a", Some("1"), Some("2")), change("b", Some("1"), None)];
    let made = settle(bench.applier().apply(patches(), both));
    let found = bench.snapshot();
    std::fs::remove_dir_all(bench.blobs_directory()).unwrap();
    std::fs::create_dir(bench.blobs_directory()).unwrap();
    let result = bench.applier().restore(undo(), &plan_undo(&made));
    assert!(matches!(result, Err(ApplyError::Blobs(_))), "{result:?}");
    assert_eq!(bench.snapshot(), found);
}
