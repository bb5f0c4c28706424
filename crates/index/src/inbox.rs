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
    /// The whole tree is to be looked at, for changes that nobody told one by one.
    LookAgain {
        answers: Vec<ChangeAnswer>,
    },
    /// The time that was waited until has come.
    Due,
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
    /// What is under way and takes its time.
    running: Option<Running>,
    /// Whether files may have changed that nobody named, since the running build looked at them or at all.
    look_again: bool,
    stop: bool,
}

/// What is under way.
#[derive(Debug, Clone, Copy)]
enum Running {
    /// A build, which newcomers join.
    Build(IndexBuild),
    /// A look at the tree, which leaves what a build was to do undone.
    Looking,
}

impl Waiting {
    fn add(&mut self, paths: Vec<String>) {
        if self.paths.len() + paths.len() > MAX_PATHS {
            self.paths.clear();
            self.look_again = true;
        } else {
            self.paths.extend(paths);
        }
    }
}

impl Inbox {
    /// Adds changed paths. The answer comes when they can be searched; while the whole tree is worked on, at once.
    pub(crate) fn changed(&self, paths: Vec<String>) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        waiting.add(paths);
        match waiting.running {
            Some(_) => drop(answer.send(())),
            None => waiting.change_answers.push(answer),
        }
        self.bell.notify_all();
        answered
    }

    /// The same for whoever would rather wait for work on the whole tree than not find what changed, and has patience of their
    /// own.
    pub(crate) fn behind(&self, paths: Vec<String>) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        waiting.add(paths);
        waiting.change_answers.push(answer);
        self.bell.notify_all();
        answered
    }

    /// Asks for a build. One that runs, or waits, and does at least as much is joined; since one that runs may have looked
    /// at the files already, they are looked at once more after it.
    pub(crate) fn build(&self, how: IndexBuild, answer: BuildAnswer) {
        let mut waiting = lock(&self.waiting);
        let does = |other: IndexBuild| other == IndexBuild::Rebuild || other == how;
        if matches!(waiting.running, Some(Running::Build(running)) if does(running)) {
            waiting.look_again = true;
        } else if !waiting.build.is_some_and(does) {
            waiting.build = Some(how);
        }
        waiting.build_answers.push(answer);
        self.bell.notify_all();
    }

    /// Says that files may have changed that nobody can name. A build that runs does not answer for that.
    pub(crate) fn look_again(&self) {
        lock(&self.waiting).look_again = true;
        self.bell.notify_all();
    }

    /// The whole tree is being looked at.
    pub(crate) fn looking(&self) {
        lock(&self.waiting).running = Some(Running::Looking);
    }

    /// Forgets a build that has not begun. Whoever waits for it is told.
    pub(crate) fn cancel(&self) {
        let mut waiting = lock(&self.waiting);
        if waiting.build.take().is_some() {
            // Whoever asked may have gone.
            waiting.build_answers.drain(..).for_each(|answer| drop(answer.send(Err(IndexError::Cancelled))));
        }
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

    /// What was running is over. Gives whoever joined it.
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
                waiting.running = Some(Running::Build(how));
                // What changed is taken in after it, and nobody is to wait for that.
                waiting.change_answers.drain(..).for_each(|answer| _ = answer.send(()));
                let answers = std::mem::take(&mut waiting.build_answers);
                return Task::Build { how, answers };
            }
            if waiting.look_again {
                // Who named a file is answered for with it.
                (waiting.look_again, waiting.running) = (false, Some(Running::Looking));
                waiting.paths.clear();
                return Task::LookAgain { answers: std::mem::take(&mut waiting.change_answers) };
            }
            if !waiting.paths.is_empty() || !waiting.change_answers.is_empty() {
                let paths = std::mem::take(&mut waiting.paths);
                return Task::Changed { paths, answers: std::mem::take(&mut waiting.change_answers) };
            }
            waiting = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(rest) if rest.is_zero() => return Task::Due,
                Some(rest) => self.bell.wait_timeout(waiting, rest).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}
