//! Processes that end in the middle of a change, at every point there is.
//!
//! The test starts itself again as the process that ends, so that nothing is cleaned up on the way out. The next
//! start then finds the record and puts every file back.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::scenario::{changes, numbered};
use super::support::{Bench, Snapshot, patches, settle, undo};
use crate::changes::seam::Seam;
use crate::changes::{UnfinishedApply, plan_undo};

/// What the process is to do: where, which scenario, what, and at which step it ends.
const ORDER: &str = "LOGGIA_TEST_CRASH";

/// How a process says that it was stopped.
const STOPPED: i32 = 17;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Apply,
    Undo,
    RollBack,
}

fn stop_at(step: usize) -> impl Fn(&str) -> std::io::Result<()> {
    let steps = AtomicUsize::new(0);
    move |_| {
        if steps.fetch_add(1, Ordering::SeqCst) == step {
            // Nothing is dropped, as when the machine takes the process away.
            std::process::exit(STOPPED);
        }
        Ok(())
    }
}

fn unfinished(bench: &Bench) -> Vec<UnfinishedApply> {
    let leftovers = bench.journal().unfinished().unwrap();
    assert!(leftovers.damaged.is_empty(), "{leftovers:?}");
    leftovers.applies
}

/// Whether the process was stopped, or was done before it came to the step.
#[expect(clippy::disallowed_methods, reason = "the process is waited for here")]
fn is_stopped(bench: &Bench, number: u8, work: Work, step: usize) -> bool {
    let (_, module) = module_path!().split_once("::").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::process_that_is_stopped"), "--test-threads=1", "-q"])
        .env(ORDER, format!("{number} {work:?} {step} {}", bench.base.display()))
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    match status.code() {
        Some(0) => false,
        Some(STOPPED) => true,
        _ => panic!("{work:?} of {number} at {step}: {status}"),
    }
}

/// What the other tests start as a process of its own. Started without an order it has nothing to do.
#[test]
fn process_that_is_stopped() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let [number, work, step, base] = *order.splitn(4, ' ').collect::<Vec<_>>() else { panic!("{order}") };
    let bench = Bench::visit(Path::new(base));
    let (before, after) = numbered(number.parse().unwrap());
    let hook = stop_at(step.parse().unwrap());
    match work {
        "Apply" => drop(bench.applier_with(hook).apply(patches(), changes(&before, &after)).unwrap()),
        "Undo" => {
            // The changes are what applying told; a fresh tree tells the same.
            let made = settle(Bench::with(&before).applier().apply(patches(), changes(&before, &after)));
            drop(bench.applier_with(hook).restore(undo(), &plan_undo(&made)).unwrap());
        }
        "RollBack" => {
            let seam = Seam { hook: Some(std::sync::Arc::new(hook)) };
            for unfinished in unfinished(&bench) {
                let result = unfinished.roll_back_at(&bench.root(), &bench.blobs(), &seam).unwrap();
                assert!(result.is_whole(), "{result:?}");
            }
        }
        _ => panic!("{work}"),
    }
}

/// What a start does that finds no event for a change.
fn start_again(bench: &Bench, expected: &Snapshot, context: &str) {
    for unfinished in unfinished(bench) {
        let result = unfinished.roll_back(&bench.root(), &bench.blobs()).unwrap();
        assert!(result.is_whole(), "{context}: {result:?}");
    }
    assert_eq!(&bench.snapshot(), expected, "{context}");
    assert_eq!(bench.records(), 0, "{context}");
}

fn prepare(number: u8, work: Work) -> Bench {
    let (before, after) = numbered(number);
    let bench = Bench::with(&before);
    if work == Work::Undo {
        settle(bench.applier().apply(patches(), changes(&before, &after)));
        bench.prune();
    }
    bench
}

#[test]
fn a_change_that_was_stopped_anywhere_is_put_back() {
    for (number, work) in
        [(0, Work::Apply), (1, Work::Apply), (2, Work::Apply), (3, Work::Undo), (4, Work::Undo)]
    {
        let bench = prepare(number, work);
        let expected = bench.snapshot();
        for step in 0.. {
            let stopped = is_stopped(&bench, number, work, step);
            start_again(&bench, &expected, &format!("{work:?} of {number}, stopped at {step}"));
            if !stopped {
                assert!(step > 8, "a change of four files has more steps");
                break;
            }
        }
    }
}

#[test]
fn putting_back_can_be_stopped_anywhere_too() {
    for (number, work, at) in [(5, Work::Apply, 9), (6, Work::Undo, 9)] {
        let bench = prepare(number, work);
        let expected = bench.snapshot();
        for step in 0.. {
            assert!(is_stopped(&bench, number, work, at));
            let stopped = is_stopped(&bench, number, Work::RollBack, step);
            start_again(&bench, &expected, &format!("{work:?} of {number}, rolled back until {step}"));
            if !stopped {
                assert!(step > 2, "putting back has more steps");
                break;
            }
        }
    }
}
