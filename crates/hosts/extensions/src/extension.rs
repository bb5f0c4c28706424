//! One entry of the settings: what is known of it, and its process while there is one.
//!
//! Invariant: starting, stopping and restarting happen one after another, and each is carried through even if whoever
//! asked for it goes away. A crash is noticed by the supervisor alone, which also clears up after it.

mod command;
mod start;
mod supervise;

pub(crate) use start::located;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{
    ExtensionDeskError, ExtensionLogEntry, ExtensionLogLevel, ExtensionState, ExtensionSummary, SchemaOverlay,
};
use loggia_protocol_hermes::ShutdownReason;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::entry::ExtensionEntry;
use crate::guest::Guest;
use crate::log::Log;
use crate::offer::Offer;

/// One entry of the settings.
#[derive(Debug)]
pub(crate) struct Extension {
    name: String,
    entry: ExtensionEntry,
    context: Arc<Context>,
    log: Arc<Log>,
    shown: Mutex<Shown>,
    /// Held while it is started or stopped.
    life: tokio::sync::Mutex<Option<Life>>,
}

/// What is known of it.
#[derive(Debug)]
struct Shown {
    state: ExtensionState,
    process: Option<i32>,
    /// Set while it runs, and while it is told to leave.
    guest: Option<Arc<Guest>>,
    /// What it said when it started last; kept for those who ask what it was.
    offer: Option<Arc<Offer>>,
}

/// A process that somebody supervises.
#[derive(Debug)]
struct Life {
    /// Tells it to leave.
    leave: oneshot::Sender<ShutdownReason>,
    /// Nothing is left of it.
    gone: CancellationToken,
}

impl Extension {
    /// One that was never started. `log` is what is known of an earlier one of its name.
    pub(crate) fn new(
        name: String,
        entry: ExtensionEntry,
        context: Arc<Context>,
        log: Option<Arc<Log>>,
    ) -> Arc<Self> {
        let shown = Shown { state: ExtensionState::Idle, process: None, guest: None, offer: None };
        Arc::new(Self {
            name,
            entry,
            context,
            log: log.unwrap_or_default(),
            shown: Mutex::new(shown),
            life: tokio::sync::Mutex::default(),
        })
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn entry(&self) -> &ExtensionEntry {
        &self.entry
    }

    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub(crate) fn entries(&self) -> Vec<ExtensionLogEntry> {
        self.log.entries()
    }

    /// It and what it said, while it can be used.
    pub(crate) fn running(&self) -> Option<(Arc<Guest>, Arc<Offer>)> {
        let shown = self.shown();
        match shown.state {
            ExtensionState::Running => shown.guest.clone().zip(shown.offer.clone()),
            _ => None,
        }
    }

    /// What it lays over the schema, while it can be used.
    pub(crate) fn overlay(&self) -> Option<SchemaOverlay> {
        self.running().and_then(|(_, offer)| offer.overlay.clone())
    }

    /// Whether it may run, and what lets it if it may not.
    pub(crate) fn may_run(&self) -> Result<(), ExtensionDeskError> {
        let name = &self.name;
        if !self.entry.enabled {
            let words =
                format!("the extension `{name}` is disabled; `enabled = true` in its settings turns it on");
            return Err(ExtensionDeskError::NotAllowed(words));
        }
        if !self.is_trusted() {
            let words = format!(
                "the extension `{name}` is of this workspace, which is not trusted; `loggia trust` shows what would run, and lets it"
            );
            return Err(ExtensionDeskError::NotAllowed(words));
        }
        Ok(())
    }

    pub(crate) fn is_trusted(&self) -> bool {
        !self.entry.of_workspace || (self.context.trust)()
    }

    /// How it is.
    pub(crate) fn state(&self) -> ExtensionState {
        let state = self.shown().state.clone();
        let is_there = matches!(
            state,
            ExtensionState::Starting
                | ExtensionState::Initializing
                | ExtensionState::Running
                | ExtensionState::ShuttingDown
        );
        match state {
            state if is_there => state,
            _ if !self.entry.enabled => ExtensionState::Disabled,
            _ if !self.is_trusted() => ExtensionState::Untrusted,
            state => state,
        }
    }

    /// It as people see it.
    pub(crate) fn summary(&self) -> ExtensionSummary {
        let state = self.state();
        let shown = self.shown();
        let offer = shown.offer.as_deref();
        let running = offer.filter(|_| state == ExtensionState::Running);
        ExtensionSummary {
            name: self.name.clone(),
            command: self.entry.shown_command(),
            of_workspace: self.entry.of_workspace,
            about: offer.map(|offer| offer.about.clone()),
            commands: running.map(|offer| offer.commands.clone()).unwrap_or_default(),
            events: running.map(Offer::events).unwrap_or_default(),
            has_schema: running.is_some_and(|offer| offer.overlay.is_some()),
            process: shown.process,
            state,
        }
    }

    /// Keeps what happens to it.
    fn note(&self, level: ExtensionLogLevel, text: impl Into<String>) {
        let text = text.into();
        match level {
            ExtensionLogLevel::Info => tracing::debug!(extension = %self.name, "{text}"),
            ExtensionLogLevel::Warning | ExtensionLogLevel::Error => {
                tracing::warn!(extension = %self.name, "{text}");
            }
        }
        self.log.note(level, text);
    }

    fn set_state(&self, state: ExtensionState) {
        self.shown().state = state;
    }

    /// Starts it if it was never started, or whatever became of it if that is meant.
    ///
    /// # Errors
    /// [`ExtensionDeskError`] if it may not run or does not start. That is also kept as its state.
    pub(crate) async fn start(self: &Arc<Self>, meant: Start) -> Result<(), ExtensionDeskError> {
        let this = self.clone();
        self.carry_through(async move {
            let mut life = this.life.lock().await;
            this.start_within(&mut life, meant).await
        })
        .await
    }

    /// Stops it if it runs.
    pub(crate) async fn stop(self: &Arc<Self>, reason: ShutdownReason) {
        let this = self.clone();
        let stopped = self.carry_through(async move {
            let mut life = this.life.lock().await;
            this.stop_within(&mut life, reason).await;
            Ok(())
        });
        if let Err(error) = stopped.await {
            tracing::warn!(extension = %self.name, %error, "stopping was cut off");
        }
    }

    /// Stops it if it runs, and starts it.
    ///
    /// # Errors
    /// As [`Extension::start`].
    pub(crate) async fn restart(self: &Arc<Self>) -> Result<(), ExtensionDeskError> {
        let this = self.clone();
        self.carry_through(async move {
            let mut life = this.life.lock().await;
            this.may_run()?;
            this.stop_within(&mut life, ShutdownReason::Reload).await;
            this.start_within(&mut life, Start::Whatever).await
        })
        .await
    }

    /// After trust was taken back: it may be started again when it is given.
    pub(crate) fn forget_stop(&self) {
        let mut shown = self.shown();
        if shown.state == ExtensionState::Stopped {
            shown.state = ExtensionState::Idle;
        }
    }

    /// Does something to its end, whoever waits for it.
    async fn carry_through(
        &self,
        work: impl Future<Output = Result<(), ExtensionDeskError>> + Send + 'static,
    ) -> Result<(), ExtensionDeskError> {
        match self.context.tasks.spawn(work).await {
            Ok(done) => done,
            Err(error) => Err(ExtensionDeskError::Failed(format!("the work was cut off: {error}"))),
        }
    }

    async fn stop_within(&self, life: &mut Option<Life>, reason: ShutdownReason) {
        if let Some(Life { leave, gone }) = life.take() {
            // A supervisor that is past hearing this has ended the process already.
            let _ = leave.send(reason);
            gone.cancelled().await;
        }
        let mut shown = self.shown();
        if shown.state == ExtensionState::Idle {
            shown.state = ExtensionState::Stopped;
        }
    }
}

/// What a start is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Only one that was never started, or never stopped since.
    IfIdle,
    /// Whatever became of it.
    Whatever,
}
