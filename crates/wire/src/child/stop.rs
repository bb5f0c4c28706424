//! Stopping a program politely, and then less so.
//!
//! A protocol's way of stopping is a list of steps, each with its own deadline. Steps are taken in turn until the
//! program has ended; the last is always the kill.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::FusedFuture;

use super::process::{Child, Exit};

/// One step of stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopStep {
    /// Ask in the protocol's own words. The step ends when the answer is there.
    Ask,
    /// Give a program that has agreed to go the time to do so; skipped if it did not answer.
    Wait,
    /// Close its stdin.
    CloseInput,
    /// Send SIGINT to its group.
    Interrupt,
    /// Send SIGTERM to its group.
    Terminate,
    /// Send SIGKILL to its group.
    Kill,
}

/// The steps and how long each may take.
#[derive(Debug, Clone)]
pub struct StopPlan(Vec<(StopStep, Duration)>);

/// After SIGKILL a process ends as soon as the system gets to it.
const AFTER_KILL: Duration = Duration::from_secs(5);

impl StopPlan {
    /// A plan of these steps, with the kill added at the end.
    pub fn new(steps: impl IntoIterator<Item = (StopStep, Duration)>) -> Self {
        let mut steps: Vec<_> = steps.into_iter().collect();
        if steps.last().is_none_or(|(step, _)| *step != StopStep::Kill) {
            steps.push((StopStep::Kill, AFTER_KILL));
        }
        Self(steps)
    }

    /// Kill at once.
    pub fn kill() -> Self {
        Self::new([])
    }
}

/// What the steps need from whoever speaks the protocol.
pub struct StopActions<'a> {
    /// Asks, and is done when answered.
    pub ask: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    /// Closes the program's stdin, wherever that is now.
    pub close_input: Box<dyn FnOnce() + Send + 'a>,
}

impl StopActions<'_> {
    /// For a program nobody talks to.
    pub fn none() -> Self {
        Self { ask: Box::pin(std::future::ready(())), close_input: Box::new(|| {}) }
    }
}

impl fmt::Debug for StopActions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopActions").finish_non_exhaustive()
    }
}

/// How stopping went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// How the program ended; nothing if it did not even after the kill.
    pub exit: Option<Exit>,
    /// The step that did it; nothing if it had ended before.
    pub step: Option<StopStep>,
}

impl Child {
    /// Takes the steps of a plan until the program has ended.
    pub async fn stop(&mut self, plan: &StopPlan, actions: StopActions<'_>) -> Stopped {
        let StopActions { ask, close_input } = actions;
        let mut ask = ask.fuse();
        let mut close_input = Some(close_input);
        let mut answered = false;
        if let Some(exit) = self.try_exit() {
            return Stopped { exit: Some(exit), step: None };
        }
        for (step, limit) in plan.0.iter().copied() {
            match step {
                StopStep::Ask => {
                    tokio::select! {
                        exit = self.exited() => return Stopped { exit: Some(exit), step: Some(step) },
                        () = &mut ask, if !ask.is_terminated() => answered = true,
                        () = tokio::time::sleep(limit) => {
                            tracing::warn!(child = self.name(), ?limit, "did not answer the request to stop");
                        }
                    }
                    continue;
                }
                StopStep::Wait if !answered => continue,
                StopStep::Wait => {}
                StopStep::CloseInput => {
                    self.close_input();
                    if let Some(close) = close_input.take() {
                        close();
                    }
                }
                StopStep::Interrupt => self.interrupt().await,
                StopStep::Terminate => self.terminate().await,
                StopStep::Kill => self.kill().await,
            }
            if let Ok(exit) = tokio::time::timeout(limit, self.exited()).await {
                return Stopped { exit: Some(exit), step: Some(step) };
            }
        }
        tracing::error!(child = self.name(), "still there after being killed");
        Stopped { exit: None, step: None }
    }
}
