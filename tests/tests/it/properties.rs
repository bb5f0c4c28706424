//! What holds whatever happens: runs of a whole engine in which people, models, files and crashes do as they like.
//!
//! Every run is drawn from a fixed seed, so that a failure comes again.

mod found;
mod fuse;
mod heard;
mod journal;
mod life;
mod puppet;
mod readers;
mod stage;
mod steps;
mod tree;

use std::cell::RefCell;
use std::collections::BTreeMap;

use loggia_domain::{Event, EventBody, TurnEnd};
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::properties::stage::play;
use crate::properties::steps::case;

fn runner(cases: u32, seed: u64) -> TestRunner {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    TestRunner::new(Config {
        cases: setting("LOGGIA_PROPERTY_CASES").unwrap_or(cases),
        rng_seed: RngSeed::Fixed(setting("LOGGIA_PROPERTY_SEED").map_or(seed, u64::from)),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    })
}

/// How often what happened: runs in which nothing happens show nothing.
#[derive(Debug, Default)]
struct Tally(RefCell<BTreeMap<&'static str, usize>>);

impl Tally {
    fn count(&self, events: &[Event]) {
        let mut tally = self.0.borrow_mut();
        for event in events {
            let what = match &event.body {
                EventBody::PatchApplied { hunks: Some(_), .. } => "hunks applied",
                EventBody::PatchApplied { .. } => "changes applied",
                EventBody::PatchDropped { .. } => "changes dropped",
                EventBody::FilesChanged { .. } => "files changed by commands",
                EventBody::Undone { .. } => "undone",
                EventBody::Redone { .. } => "redone",
                EventBody::BatchEnded { .. } => "collections",
                EventBody::HistoryCompacted { .. } => "compacted",
                EventBody::TurnContinued { .. } => "continued",
                EventBody::ApprovalAsked { .. } => "asked",
                EventBody::TurnEnded { end: TurnEnd::Cancelled, .. } => "cancelled",
                EventBody::TurnEnded { end: TurnEnd::Interrupted, .. } => "interrupted",
                EventBody::TurnEnded { end: TurnEnd::Failed(_), .. } => "failed",
                EventBody::TurnEnded { .. } => "done",
                EventBody::TurnStarted { queued: Some(_), .. } => "from the queue",
                _ => "others",
            };
            *tally.entry(what).or_default() += 1;
        }
    }

    fn has(&self, wanted: &[&str]) {
        let tally = self.0.borrow();
        let missing: Vec<&&str> = wanted.iter().filter(|what| !tally.contains_key(**what)).collect();
        assert!(missing.is_empty(), "these never happened: {missing:?}; {tally:?}");
    }
}

#[test]
fn the_fold_of_the_journal_is_the_live_state() {
    let tally = Tally::default();
    let ran = runner(32, 20_261_116).run(&case(25, 0), |case| {
        tally.count(&play(&case));
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    tally.has(&[
        "asked",
        "cancelled",
        "interrupted",
        "failed",
        "done",
        "from the queue",
        "continued",
        "collections",
    ]);
}

#[test]
fn files_follow_the_journal() {
    let tally = Tally::default();
    let ran = runner(24, 3_199).run(&case(25, 4), |case| {
        tally.count(&play(&case));
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    tally.has(&[
        "changes applied",
        "hunks applied",
        "changes dropped",
        "files changed by commands",
        "undone",
        "redone",
    ]);
}

#[test]
fn any_subscriber_hears_everything_once() {
    let ran = runner(32, 512).run(&readers::reading(), |reading| {
        readers::play(&reading);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}
