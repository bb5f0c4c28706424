//! Applying when something goes wrong on the way: the tree is as it was, or the error says that it is not.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::scenario::{changes, numbered};
use super::support::{Bench, Entry, change, file, files, patches, path, settle, undo};
use crate::changes::{Applier, ApplyError, plan_undo};

/// Lets a step fail: the first with this number, counted from 0.
fn failing_at(bench: &Bench, number: usize) -> (Applier, Arc<AtomicUsize>) {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    let applier = bench.applier_with(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        step if step == number => Err(io::Error::other("wanted by the test")),
        _ => Ok(()),
    });
    (applier, steps)
}

/// Does something the first time a step is reached.
fn meanwhile(bench: &Bench, step: &'static str, what: impl Fn() + Send + Sync + 'static) -> Applier {
    let done = AtomicUsize::new(0);
    bench.applier_with(move |reached| {
        if reached == step && done.fetch_add(1, Ordering::SeqCst) == 0 {
            what();
        }
        Ok(())
    })
}

#[test]
fn whichever_step_fails_the_tree_is_as_it_was() {
    for number in 0..12 {
        let (before, after) = numbered(number);
        let bench = Bench::with(&before);
        let found = bench.snapshot();
        for step in 0.. {
            let (applier, steps) = failing_at(&bench, step);
            let result = applier.apply(patches(), changes(&before, &after));
            if steps.load(Ordering::SeqCst) <= step {
                assert!(step > 8, "a change of four files has more steps");
                let _ = settle(result);
                assert_eq!(bench.snapshot_of_files(), after);
                break;
            }
            assert!(matches!(result, Err(ApplyError::Unwritable { .. })), "step {step}: {result:?}");
            assert_eq!(bench.snapshot(), found, "step {step} of {number}");
            assert_eq!(bench.records(), 0);
        }
    }
}

#[test]
fn whichever_step_of_an_undo_fails_the_tree_is_as_it_was() {
    for number in 0..6 {
        let (before, after) = numbered(number);
        let bench = Bench::with(&before);
        let made = settle(bench.applier().apply(patches(), changes(&before, &after)));
        bench.prune();
        let found = bench.snapshot();
        for step in 0.. {
            let (applier, steps) = failing_at(&bench, step);
            let result = applier.restore(undo(), &plan_undo(&made));
            if steps.load(Ordering::SeqCst) <= step {
                let _ = settle(result);
                assert_eq!(bench.snapshot_of_files(), before);
                break;
            }
            assert!(matches!(result, Err(ApplyError::Unwritable { .. })), "step {step}: {result:?}");
            assert_eq!(bench.snapshot(), found, "step {step} of {number}");
        }
    }
}

#[test]
fn what_cannot_be_taken_back_is_told_and_left_for_the_next_start() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1"))]));
    let found = bench.snapshot();
    let applier = bench.applier_with(|step| match step {
        "synced" | "put back" => Err(io::Error::other("wanted by the test")),
        _ => Ok(()),
    });
    let both = ["a", "b"].map(|name| change(name, Some("1"), Some("2"))).to_vec();
    let Err(ApplyError::HalfDone { cause, result }) = applier.apply(patches(), both) else {
        panic!("it could not be taken back")
    };
    assert!(matches!(*cause, ApplyError::Unwritable { .. }), "{cause:?}");
    assert_eq!(result.failed.len(), 2);
    for unfinished in bench.journal().unfinished().unwrap().applies {
        assert!(unfinished.roll_back(&bench.root(), &bench.blobs()).unwrap().is_whole());
    }
    assert_eq!(bench.snapshot(), found);
    assert_eq!(bench.records(), 0);
}

#[test]
fn a_file_changed_while_contents_are_prepared_is_a_conflict() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1"))]));
    let theirs = bench.tree().join("b");
    let applier = meanwhile(&bench, "staged", move || fs::write(&theirs, "theirs").unwrap());
    let both = ["a", "b"].map(|name| change(name, Some("1"), Some("2"))).to_vec();
    let result = applier.apply(patches(), both);
    assert!(matches!(&result, Err(ApplyError::Conflict(found)) if found[0].path == path("b")), "{result:?}");
    assert_eq!(bench.snapshot(), files([("a", file("1")), ("b", file("theirs"))]));
    assert_eq!(bench.records(), 0);
}

#[test]
fn a_target_that_became_a_directory_takes_everything_back() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1")), ("c", file("1"))]));
    let place = bench.tree().join("b");
    let applier = meanwhile(&bench, "checked again", move || {
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
    });
    let all = ["a", "b", "c"].map(|name| change(name, Some("1"), Some("2"))).to_vec();
    let result = applier.apply(patches(), all);
    assert!(
        matches!(&result, Err(ApplyError::Unwritable { path, .. }) if path.as_str() == "b"),
        "{result:?}"
    );
    assert_eq!(bench.snapshot(), files([("a", file("1")), ("b/", Entry::Directory), ("c", file("1"))]));
    assert_eq!(bench.records(), 0);
}

#[test]
fn what_somebody_writes_over_our_change_is_left_to_them() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1"))]));
    let place = bench.tree().join("a");
    let applier = bench.applier_with(move |step| match step {
        "committed" => Err(fs::write(&place, "theirs").map(|()| io::Error::other("and it fails")).unwrap()),
        _ => Ok(()),
    });
    let both = ["a", "b"].map(|name| change(name, Some("1"), Some("2"))).to_vec();
    let Err(ApplyError::HalfDone { result, .. }) = applier.apply(patches(), both) else {
        panic!("somebody's change was lost")
    };
    assert_eq!(result.left.len(), 1);
    assert_eq!(bench.snapshot(), files([("a", file("theirs")), ("b", file("1"))]));
    assert_eq!(bench.records(), 0);
}

#[test]
fn a_directory_that_may_not_be_written_stops_everything() {
    let bench = Bench::with(&files([("a", file("1")), ("locked/b", file("1"))]));
    let locked = bench.tree().join("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        // The superuser may write everywhere.
        return;
    }
    let found = bench.snapshot();
    let wanted = vec![change("a", Some("1"), Some("2")), change("locked/b", Some("1"), Some("2"))];
    let result = bench.applier().apply(patches(), wanted);
    assert!(
        matches!(&result, Err(ApplyError::Unwritable { path, .. }) if path.as_str() == "locked/b"),
        "{result:?}"
    );
    assert_eq!(bench.snapshot(), found);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_journal_that_cannot_be_written_stops_everything() {
    let bench = Bench::with(&files([("a", file("1"))]));
    let applier = bench.applier();
    fs::remove_dir_all(bench.base.join("journal")).unwrap();
    let result = applier.apply(patches(), vec![change("a", Some("1"), Some("2"))]);
    assert!(matches!(result, Err(ApplyError::Journal(_))), "{result:?}");
    assert_eq!(bench.snapshot(), files([("a", file("1"))]));
}
