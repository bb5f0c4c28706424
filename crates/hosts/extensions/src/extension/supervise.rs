//! Whoever holds an extension's process: notices its end, stops it politely, and clears up after it.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{ExtensionLogLevel, ExtensionState};
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_hermes::{Shutdown, ShutdownParams, ShutdownReason, WindowCloseReason, WindowClosed};
use loggia_protocol_hermes::{ShutdownResult, WindowClosedParams};
use loggia_wire::child::{Child, StopActions, StopPlan};
use loggia_wire::peer::{CallError, CloseReason, Peer};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Extension;
use crate::error::Fault;
use crate::guest::Guest;

/// How long an extension that closed its output may take to end. Most end at once; this one may be stuck.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// How long answers that are still due may take before an extension is told to leave: it may drop what it reads while
/// it waits for one.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Holds a process.
pub(super) struct Supervisor {
    pub(super) extension: Arc<Extension>,
    pub(super) child: Child,
    pub(super) peer: Peer,
    pub(super) guest: Arc<Guest>,
}

/// What ended the time in which it could be used.
enum End {
    Told(ShutdownReason),
    Failed(Fault),
    Dropped,
}

impl Supervisor {
    /// Looks after it until nothing is left of it.
    pub(super) async fn run(mut self, leave: oneshot::Receiver<ShutdownReason>) {
        let state = match self.wait(leave).await {
            End::Told(reason) => {
                self.ask_to_leave(reason).await;
                ExtensionState::Stopped
            }
            End::Failed(fault) => {
                let words = fault.to_string();
                self.extension.note(ExtensionLogLevel::Error, words.clone());
                ExtensionState::Failed(words)
            }
            End::Dropped => ExtensionState::Stopped,
        };
        self.clear_up(state).await;
    }

    async fn wait(&mut self, leave: oneshot::Receiver<ShutdownReason>) -> End {
        let told = async {
            match leave.await {
                Ok(reason) => reason,
                // Nobody can tell it any more: whoever held the host let go of it.
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            reason = told => End::Told(reason),
            exit = self.child.exited() => End::Failed(Fault::Ended(exit.to_string())),
            why = self.guest.trouble() => End::Failed(Fault::GivenUp(why)),
            reason = self.peer.closed() => End::Failed(explain_end(&mut self.child, &reason).await),
            () = self.extension.context.dropped.cancelled() => End::Dropped,
        }
    }

    /// The protocol's own way: its windows first, then the request, then a moment, then the kill. What it asks meanwhile
    /// is served.
    async fn ask_to_leave(&mut self, reason: ShutdownReason) {
        let limits = self.extension.context.limits;
        self.extension.set_state(ExtensionState::ShuttingDown);
        self.extension.context.lay_over();
        // Dialogs that people have not answered are answered for them.
        self.guest.leaving.cancel();
        self.guest.mailbox.close();
        let answered = timeout(LAST_ANSWERS, self.guest.traffic.idle()).await;
        if answered.is_err() {
            tracing::debug!(
                extension = self.extension.name(),
                "told to leave before all its requests were answered"
            );
        }
        self.tell_windows().await;
        let called =
            self.peer.call_within::<Shutdown>(limits.shutdown, &ShutdownParams { reason: Some(reason) });
        let answer = tokio::select! {
            biased;
            answer = called => answer,
            _ = self.child.exited() => Ok(ShutdownResult { success: true }),
        };
        let agreed = match answer {
            Ok(ShutdownResult { success: true }) => true,
            Ok(ShutdownResult { success: false }) => {
                self.extension.note(ExtensionLogLevel::Warning, "it could not stop in good order");
                true
            }
            Err(error) => {
                self.extension.note(ExtensionLogLevel::Warning, unwilling(&error));
                // One whose connection is closed is leaving.
                matches!(error, CallError::Closed { .. })
            }
        };
        if agreed && timeout(limits.leave, self.child.exited()).await.is_err() {
            let words = format!("it did not leave within {} s and was killed", limits.leave.as_secs_f32());
            self.extension.note(ExtensionLogLevel::Warning, words);
        }
    }

    /// Closes its windows and tells it so.
    async fn tell_windows(&self) {
        for window_id in self.guest.windows.close_all() {
            let params = WindowClosedParams { window_id, reason: Some(WindowCloseReason::Shutdown) };
            // One that does not read is killed soon anyway.
            let told = timeout(LAST_ANSWERS, self.peer.notify::<WindowClosed>(&params)).await;
            if !matches!(told, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Leaves nothing of it.
    async fn clear_up(mut self, state: ExtensionState) {
        self.guest.end();
        let stopped = self.child.stop(&StopPlan::kill(), StopActions::none()).await;
        let ended = timeout(LAST_BREATH, self.child.ended()).await;
        self.child.gone().await;
        self.peer.close();
        let how = match (stopped.exit, ended) {
            (_, Ok(ended)) => format!("ended with {}", ended.exit),
            (Some(exit), Err(_)) => format!("ended with {exit}"),
            (None, Err(_)) => "did not end even after it was killed".to_owned(),
        };
        self.extension.note(ExtensionLogLevel::Info, format!("process {} {how}", self.child.pid()));
        {
            let mut shown = self.extension.shown();
            (shown.state, shown.process, shown.guest) = (state, None, None);
        }
        self.extension.context.lay_over();
        self.guest.gone.cancel();
    }
}

/// Why a connection is no more.
pub(super) async fn explain_end(child: &mut Child, reason: &CloseReason) -> Fault {
    if let Some(fault) = Fault::of_connection(reason) {
        return fault;
    }
    match timeout(LAST_BREATH, child.exited()).await {
        Ok(exit) => Fault::Ended(exit.to_string()),
        Err(_) => Fault::Ended("its output closed, and was killed".to_owned()),
    }
}

fn unwilling(error: &CallError) -> String {
    match error {
        CallError::Answered(ErrorObject { message, code, .. }) => {
            format!("it refused to stop ({code}: {message}) and was killed")
        }
        CallError::TimedOut { limit, .. } => {
            format!("it did not answer `shutdown` within {} s and was killed", limit.as_secs_f32())
        }
        CallError::Closed { .. } => "it left without an answer to `shutdown`".to_owned(),
        other => format!("it cannot be asked to stop ({other}) and was killed"),
    }
}
