//! A plugin's process while somebody speaks to it.

use std::time::Duration;

use loggia_wire::child::{Restarts, Verdict};
use loggia_wire::peer::CloseReason;
use tokio::sync::OwnedMutexGuard;

use super::{Plugin, Told};
use crate::error::{Fault, PluginError};
use crate::process::{CallFault, Process};

/// Where a plugin's process is kept between calls.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(super) process: Option<Process>,
    restarts: Restarts,
    given_up: Option<GivenUp>,
}

/// Why a plugin is not started any more.
#[derive(Debug, Clone)]
struct GivenUp {
    ends: u32,
    last: String,
    stderr: Vec<String>,
}

impl Slot {
    pub(super) fn new(restarts: Restarts) -> Self {
        Self { process: None, restarts, given_up: None }
    }

    pub(super) fn revive(&mut self) {
        self.restarts.reset();
        self.given_up = None;
    }
}

/// A process that nobody else speaks to. Dropped before it is released, it is killed.
#[derive(Debug)]
pub(crate) struct Held {
    plugin: Plugin,
    slot: OwnedMutexGuard<Slot>,
    /// Whether the process may stay when this goes.
    released: bool,
}

impl Plugin {
    /// Waits for its turn, and starts the plugin if it does not run.
    pub(crate) async fn hold(&self, method: &'static str) -> Result<Held, PluginError> {
        let closing = self.closing();
        let stopping = || self.fail(method, Fault::Stopping, Vec::new());
        let slot = tokio::select! {
            biased;
            () = closing.cancelled() => return Err(stopping()),
            slot = self.inner.slot.clone().lock_owned() => slot,
        };
        let mut held = Held { plugin: self.clone(), slot, released: false };
        if !self.is_trusted() {
            // It may run since a time when it was. Held is dropped with it, and that kills it.
            return Err(self.fail(method, Fault::Untrusted, Vec::new()));
        }
        if held.slot.process.as_ref().is_some_and(|process| !process.is_alive()) {
            held.note_quiet_end().await;
        }
        if let Some(GivenUp { ends, last, stderr }) = held.slot.given_up.clone() {
            return Err(self.fail(method, Fault::GivenUp { ends, last }, stderr));
        }
        if held.slot.process.is_none() {
            let (process, told) = match self.begin(method, &[]).await {
                Ok(started) => started,
                Err(error) => {
                    if is_crash(&error.fault) {
                        held.note_end(Duration::ZERO, &error);
                    }
                    return Err(error);
                }
            };
            held.keep(process, told);
            if !self.is_trusted() {
                // That was taken back while it began.
                return Err(self.fail(method, Fault::Untrusted, Vec::new()));
            }
        }
        Ok(held)
    }
}

impl Held {
    pub(crate) fn process(&self) -> Option<&Process> {
        self.slot.process.as_ref()
    }

    /// Takes the process away for good.
    pub(crate) fn take(&mut self) -> Option<Process> {
        self.plugin.known().sketch.pid = None;
        self.slot.process.take()
    }

    /// Gives the process back, to be used again.
    pub(crate) fn release(mut self) {
        if let Some(process) = &self.slot.process {
            self.plugin.known().sketch.stray_lines = process.stray_lines();
        }
        self.released = true;
    }

    /// Gives the process back after it has answered something that matters.
    pub(crate) fn answered(mut self) {
        self.slot.restarts.reset();
        self.release();
    }

    /// Puts a failed call into words. The process is given back if it is well.
    pub(crate) async fn failed(mut self, method: &'static str, fault: CallFault) -> PluginError {
        let plugin = self.plugin.clone();
        let Some(process) = self.slot.process.take() else {
            return plugin.fail(method, Fault::Stopping, Vec::new());
        };
        if matches!(fault, CallFault::Stopping) {
            plugin.known().sketch.pid = None;
            return plugin.let_go(method, process);
        }
        let (lived, stray) = (process.lived(), process.stray_lines());
        let (fault, stderr, kept) = process.explain(fault).await;
        let fault = plugin.judge(method, fault);
        let error = plugin.fail(method, fault, stderr);
        plugin.known().sketch.stray_lines = stray;
        match kept {
            Some(process) => {
                self.slot.restarts.reset();
                self.slot.process = Some(process);
                self.released = true;
            }
            None => {
                plugin.known().sketch.pid = None;
                if is_crash(&error.fault) {
                    self.note_end(lived, &error);
                }
            }
        }
        error
    }

    fn keep(&mut self, process: Process, told: Told) {
        let mut known = self.plugin.known();
        known.told = Some(told);
        known.stderr = process.stderr().clone();
        known.sketch.pid = Some(process.pid());
        known.sketch.stray_lines = process.stray_lines();
        drop(known);
        self.slot.process = Some(process);
    }

    /// It ended while nobody spoke to it.
    async fn note_quiet_end(&mut self) {
        let Some(process) = self.take() else { return };
        let lived = process.lived();
        let (fault, stderr, _) = process.explain(CallFault::Closed(CloseReason::EndOfStream)).await;
        let error = self.plugin.fail("idle", fault, stderr);
        tracing::debug!(%error, "a plugin ended while nothing was asked of it");
        self.note_end(lived, &error);
    }

    fn note_end(&mut self, lived: Duration, error: &PluginError) {
        tracing::warn!(plugin = self.plugin.name(), method = error.method, fault = %error.fault, "a plugin failed");
        if let Verdict::GiveUp { ends } = self.slot.restarts.ended(lived) {
            let last = format!("`{}`: {}", error.method, error.fault);
            self.plugin.known().sketch.given_up = Some(last.clone());
            self.slot.given_up = Some(GivenUp { ends, last, stderr: error.stderr.clone() });
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.released && self.slot.process.take().is_some() {
            tracing::debug!(plugin = self.plugin.name(), "stopped in the middle of a call");
            self.plugin.known().sketch.pid = None;
        }
    }
}

/// Whether the plugin is at fault, and would probably be again.
fn is_crash(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::TimedOut(_)
            | Fault::Ended(_)
            | Fault::LineTooLong(_)
            | Fault::StrayLines(_)
            | Fault::TooMuch(_)
    )
}
