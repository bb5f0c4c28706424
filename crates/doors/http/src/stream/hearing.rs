//! What a client says, one message after the other.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use loggia_domain::{CodeIndex, Intent, Role};
use loggia_engine::{IntentError, Seat};
use loggia_protocol_agent_server::{
    ApprovalResponse, ClientMessage, EditorContext, ErrorBody, ErrorCode, FileChanges, UserMessage,
};
use tokio::sync::mpsc;

use crate::door::Inner;
use crate::from_wire::{
    Buffer, Greeting, Heard, answer, changed_paths, command_report, message, patch_report, prompt, update,
};
use crate::stream::changes::Changes;
use crate::stream::disk;
use crate::stream::socket::{End, Incoming, complaint};
use crate::to_wire::{fault, invalid, refusal};

/// The hearing side of a stream.
pub(super) struct Hearing<'a> {
    seat: &'a Seat,
    greeting: &'a Greeting,
    root: PathBuf,
    changes: Option<Changes>,
    heard: &'a Mutex<Heard>,
    inner: &'a Inner,
    answers: mpsc::Sender<String>,
}

impl<'a> Hearing<'a> {
    pub(super) fn new(
        seat: &'a Seat,
        greeting: &'a Greeting,
        root: PathBuf,
        index: Option<Arc<dyn CodeIndex>>,
        heard: &'a Mutex<Heard>,
        inner: &'a Inner,
        answers: mpsc::Sender<String>,
    ) -> Self {
        let changes = index.map(|index| Changes::new(index, &answers));
        Self { seat, greeting, root, changes, heard, inner, answers }
    }

    /// Hears until the client has gone.
    pub(super) async fn run(&self, incoming: &mut Incoming<'_>) -> Result<Infallible, End> {
        loop {
            let text = incoming.next().await?;
            if let Err(error) = self.take(&text).await {
                // The other side of this stream has ended if it does not take it, and so does this one.
                self.answers.send(complaint(error)).await.map_err(|_| End::Gone)?;
            }
        }
    }

    async fn take(&self, text: &str) -> Result<(), ErrorBody> {
        let message = message(text)?;
        if let ClientMessage::Hello(_) = message {
            return Err(invalid("/type", "anything but `client.hello`, which has been said"));
        }
        if self.greeting.client.role < Role::Drive {
            let message = "this token may only watch";
            return Err(fault(ErrorCode::Forbidden, message, None, false));
        }
        match message {
            ClientMessage::Hello(_) => Ok(()),
            ClientMessage::UserMessage(message) => {
                check_words(&message)?;
                let unsaved = self.unsaved(message.context.as_ref()).await;
                self.intend(prompt(message, unsaved.as_ref(), self.greeting.when_busy)).await
            }
            ClientMessage::ContextUpdate(news) => {
                let unsaved = self.unsaved(Some(&news.updates)).await;
                match update(&news, unsaved.as_ref()) {
                    Some(intent) => self.intend(intent).await,
                    None => Ok(()),
                }
            }
            ClientMessage::ApprovalResponse(response) => self.decide(&response).await,
            ClientMessage::PatchApplyResult(result) => self.intend(patch_report(result)?).await,
            ClientMessage::CommandResult(result) => self.intend(command_report(result)?).await,
            ClientMessage::Cancel(cancel) => self.intend(Intent::Cancel { reason: cancel.reason }).await,
            ClientMessage::FileChanges(changes) => {
                self.files(changes);
                Ok(())
            }
            ClientMessage::DialogResponse(_) | ClientMessage::WindowClosed(_) => {
                Err(invalid("/type", "what is about this session: dialogs and windows are for `/v1/stream`"))
            }
        }
    }

    async fn intend(&self, intent: Intent) -> Result<(), ErrorBody> {
        self.seat.intend(intent).await.map(drop).map_err(|error| refusal(&error))
    }

    async fn decide(&self, response: &ApprovalResponse) -> Result<(), ErrorBody> {
        let state = self.seat.state().await.map_err(|error| refusal(&error))?;
        let intents = {
            let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            answer(response, &state, &heard)?
        };
        drop(state);
        let mut intents = intents.into_iter();
        if let Some(named) = intents.next() {
            self.intend(named).await?;
        }
        for other in intents {
            match self.seat.intend(other).await {
                // Somebody was quicker with one that was not even named.
                Ok(_) | Err(IntentError::AlreadyDecided { .. } | IntentError::UnknownApproval(_)) => {}
                Err(error) => return Err(refusal(&error)),
            }
        }
        Ok(())
    }

    /// The editor's file, if the disk holds something else.
    async fn unsaved(&self, context: Option<&EditorContext>) -> Option<Buffer> {
        let buffer = Buffer::of(context?)?;
        disk::differs(self.root.clone(), buffer).await
    }

    /// Hands changed files over to the index. Without one they are dropped, and counted.
    fn files(&self, changes: FileChanges) {
        let metrics = &self.inner.metrics;
        let (paths, dropped) = changed_paths(changes);
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        metrics.file_changes_dropped.fetch_add(count(dropped), Ordering::Relaxed);
        let Some(changes) = &self.changes else {
            metrics.file_changes_dropped.fetch_add(count(paths.len()), Ordering::Relaxed);
            return;
        };
        metrics.file_changes.fetch_add(count(paths.len()), Ordering::Relaxed);
        changes.hand_over(self.inner, paths);
    }
}

/// Nothing comes of an instruction without a word.
fn check_words(message: &UserMessage) -> Result<(), ErrorBody> {
    let command = message.context.as_ref().and_then(|context| context.command.as_ref());
    let is_said = |text: &str| !text.trim().is_empty();
    match is_said(&message.message) || command.is_some_and(|command| is_said(command.as_str())) {
        true => Ok(()),
        false => Err(invalid("/message", "an instruction, or a slash command in `context.command`")),
    }
}
