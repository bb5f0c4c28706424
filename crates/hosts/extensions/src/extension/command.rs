//! Running a command of an extension.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{CommandDone, ExtensionState, GuestError};
use loggia_protocol_hermes::CommandId;
use tokio::time::Instant;

use super::Extension;
use crate::guest::Guest;
use crate::mailbox::{Ordered, PostError};

impl Extension {
    /// Runs one of its commands to where it has come to rest, or to the limit.
    ///
    /// # Errors
    /// [`GuestError`] if it does not run, has not begun within the limit, or ends meanwhile.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        command: &str,
        limit: Option<Duration>,
    ) -> Result<CommandDone, GuestError> {
        let Some((guest, _)) = self.running() else { return Err(self.gone(command)) };
        // A limit that lies beyond what the clock knows is none.
        let limit = limit.and_then(|limit| Instant::now().checked_add(limit));
        let ordered = guest.mailbox.order(CommandId(command.to_owned())).map_err(|error| match error {
            PostError::Closed => None,
            PostError::Full => {
                let words = format!("extension `{}`, `{command}`: too many commands wait for it", self.name);
                Some(GuestError::Refused(words))
            }
        });
        let Ordered { begun, done } = match ordered {
            Ok(ordered) => ordered,
            Err(Some(refused)) => return Err(refused),
            Err(None) => return Err(self.left(&guest, command).await),
        };
        // What is said from the first moment on belongs to it, so the mark is set before it begins.
        let mark = self.log.total();
        match within(limit, begun).await {
            Some(Ok(())) => {}
            Some(Err(_)) => return Err(self.left(&guest, command).await),
            None => {
                let words = format!(
                    "extension `{}`, `{command}`: it is still busy with something else and has not begun",
                    self.name
                );
                return Err(GuestError::TimedOut(words));
            }
        }
        let still_busy = match within(limit, done).await {
            Some(Ok(())) => false,
            Some(Err(_)) => return Err(self.left(&guest, command).await),
            None => true,
        };
        Ok(CommandDone { extension: self.name.clone(), still_busy, said: self.log.since(mark) })
    }

    /// Why a command cannot go on whose extension was there a moment ago. That its pipe is closed is known before how
    /// it ended.
    async fn left(&self, guest: &Guest, command: &str) -> GuestError {
        if self.state() == ExtensionState::Running {
            guest.gone.cancelled().await;
        }
        self.gone(command)
    }

    /// Why a command cannot go on, with what the extension said last.
    pub(crate) fn gone(&self, command: &str) -> GuestError {
        use ExtensionState as State;

        let name = &self.name;
        let why = match self.state() {
            State::Failed(why) => format!("{why}; it is started again when somebody restarts it"),
            State::Stopped | State::ShuttingDown => {
                "it was stopped; it is started again when somebody restarts it".to_owned()
            }
            State::Disabled | State::Untrusted => match self.may_run() {
                Err(error) if self.is_trusted() => return GuestError::Refused(error.to_string()),
                Err(error) => return GuestError::Untrusted(error.to_string()),
                Ok(()) => "it does not run".to_owned(),
            },
            State::Idle | State::Starting | State::Initializing | State::Running => "it ended".to_owned(),
        };
        GuestError::Gone(format!("extension `{name}`, `{command}`: {why}"))
    }
}

/// Waits until a moment at most.
async fn within<F: Future>(limit: Option<Instant>, work: F) -> Option<F::Output> {
    match limit {
        Some(limit) => tokio::time::timeout_at(limit, work).await.ok(),
        None => Some(work.await),
    }
}
