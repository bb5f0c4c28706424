//! What waits to be done: changes, a build, the end.
//!
//! Knows paths and wishes. It is bounded by being a set: the same path waits once, and beyond [`MAX_PATHS`] the whole
//! tree is looked at instead, which is quicker.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use loggia_domain::{IndexBuild, IndexError, IndexStatus};
use tokio::sync::oneshot;

use crate::control::lock;

/// How many changed paths wait by name.
const MAX_PATHS: usize = 10_000;

/// Whoever waits for the end of a build.
pub(crate) type BuildAnswer = oneshot::Sender<Result<IndexStatus, IndexError>>;
/// Whoever waits until changes can be searched.
pub(crate) type ChangeAnswer = oneshot::Sender<()>;

/// The next thing to do.
#[derive(Debug)]
pub(crate) enum Task {
    Changed {
        paths: BTreeSet<String>,
        answers: Vec<ChangeAnswer>,
    },
    Build {
        how: IndexBuild,
        answers: Vec<BuildAnswer>,
    },
    /// The time that was waited until has come.
    Settled,
    Stop,
}

/// What waits.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    paths: BTreeSet<String>,
    change_answers: Vec<ChangeAnswer>,
    build: Option<IndexBuild>,
    build_answers: Vec<BuildAnswer>,
    /// Whether a build is under way, which newcomers join.
    running: Option<IndexBuild>,
    stop: bool,
}

impl Inbox {
    /// Adds changed paths. The answer comes when they can be searched; while a build runs, at once.
    pub(crate) fn changed(&self, paths: Vec<String>) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        if waiting.paths.len() + paths.len() > MAX_PATHS {
            waiting.paths.clear();
            waiting.build.get_or_insert(IndexBuild::Refresh);
        } else {
            waiting.paths.extend(paths);
        }
        match waiting.running {
            Some(_) => drop(answer.send(())),
            None => waiting.change_answers.push(answer),
        }
        self.bell.notify_all();
        answered
    }

    /// Asks for a build. One that runs, or waits, and does at least as much is joined.
    pub(crate) fn build(&self, how: IndexBuild, answer: BuildAnswer) {
        let mut waiting = lock(&self.waiting);
        let does = |other: Option<IndexBuild>| other == Some(IndexBuild::Rebuild) || other == Some(how);
        if !does(waiting.running) && !does(waiting.build) {
            waiting.build = Some(how);
        }
        waiting.build_answers.push(answer);
        self.bell.notify_all();
    }

    /// Asks for the end.
    pub(crate) fn stop(&self) {
        lock(&self.waiting).stop = true;
        self.bell.notify_all();
    }

    /// Whether the end was asked for.
    pub(crate) fn is_stopping(&self) -> bool {
        lock(&self.waiting).stop
    }

    /// Whoever joined the build that was running.
    pub(crate) fn built(&self) -> Vec<BuildAnswer> {
        let mut waiting = lock(&self.waiting);
        waiting.running = None;
        // Those who wait for another build go on waiting.
        if waiting.build.is_some() { Vec::new() } else { std::mem::take(&mut waiting.build_answers) }
    }

    /// Waits for something to do, at most until a time.
    pub(crate) fn next(&self, until: Option<Instant>) -> Task {
        let mut waiting = lock(&self.waiting);
        loop {
            if waiting.stop {
                return Task::Stop;
            }
            if let Some(how) = waiting.build.take() {
                waiting.running = Some(how);
                let answers = std::mem::take(&mut waiting.build_answers);
                return Task::Build { how, answers };
            }
            if !waiting.paths.is_empty() || !waiting.change_answers.is_empty() {
                let paths = std::mem::take(&mut waiting.paths);
                return Task::Changed { paths, answers: std::mem::take(&mut waiting.change_answers) };
            }
            waiting = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(rest) if rest.is_zero() => return Task::Settled,
                Some(rest) => self.bell.wait_timeout(waiting, rest).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}
