//! Saying something on a stream.
//!
//! What always holds: a message is written at most once. One that waits for a connection is written to the next;
//! one whose connection is lost while it is on its way is not repeated, because it may have arrived.

use loggia_protocol_agent_server::{
    ApprovalId, ApprovalResponse, Cancel, ClientMessage, CommandResult, ContextUpdate, DialogId,
    DialogResponse, EditorContext, FileChange, FileChanges, MAX_MESSAGE_BYTES, PatchApplyResult, UserMessage,
    WindowClosed, WindowId,
};
use tokio::sync::{mpsc, oneshot};

/// How many messages wait to be written: people and editors say a few at once.
const MAX_UNSENT: usize = 16;

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The stream has ended.
    #[error("the stream has ended")]
    Ended,
    /// The connection was lost while the message was on its way. What the session tells next shows whether it arrived.
    #[error("the connection was lost while the message was on its way; it may have arrived")]
    MayHaveArrived,
    /// It is larger than a server takes.
    #[error("the message is larger than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    /// It contradicts itself.
    #[error("{0}")]
    Invalid(String),
    /// The greeting is the stream's own affair.
    #[error("`client.hello` is said by the stream itself")]
    Hello,
}

/// A message on its way to the connection.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) written: oneshot::Sender<Result<(), NotSent>>,
}

/// Says things to a session.
#[derive(Debug, Clone)]
pub struct Speaker(mpsc::Sender<Said>);

impl Speaker {
    pub(super) fn new() -> (Self, mpsc::Receiver<Said>) {
        let (sender, receiver) = mpsc::channel(MAX_UNSENT);
        (Self(sender), receiver)
    }

    /// Says something. Waits until it is written, for a connection too; dropping the future before takes it back, unless
    /// it is on its way already.
    ///
    /// # Errors
    /// When it was not sent, or perhaps not.
    pub async fn say(&self, message: &ClientMessage) -> Result<(), NotSent> {
        match message {
            ClientMessage::Hello(_) => return Err(NotSent::Hello),
            ClientMessage::ApprovalResponse(response) => {
                response.check().map_err(|field| NotSent::Invalid(field.to_string()))?;
            }
            ClientMessage::DialogResponse(response) => {
                response.check().map_err(|field| NotSent::Invalid(field.to_string()))?;
            }
            _ => {}
        }
        let text = message.encode();
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(NotSent::TooLarge);
        }
        let (written, outcome) = oneshot::channel();
        self.0.send(Said { text, written }).await.map_err(|_| NotSent::Ended)?;
        outcome.await.unwrap_or(Err(NotSent::Ended))
    }

    /// Gives an instruction.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn prompt(&self, message: impl Into<String>) -> Result<(), NotSent> {
        self.prompt_with(message, None).await
    }

    /// Gives an instruction, with what the editor knows.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn prompt_with(
        &self,
        message: impl Into<String>,
        context: Option<EditorContext>,
    ) -> Result<(), NotSent> {
        self.say(&ClientMessage::UserMessage(UserMessage {
            message: message.into(),
            context,
            read_only: false,
        }))
        .await
    }

    /// Answers a question with yes or no. The whole [`ApprovalResponse`] says more.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn decide(&self, question: ApprovalId, approved: bool) -> Result<(), NotSent> {
        self.answer(ApprovalResponse {
            request_id: question,
            approved,
            scope: None,
            file_path: None,
            hunk_index: None,
            hunk_indexes: None,
            hunks: None,
            remember: None,
            comment: None,
        })
        .await
    }

    /// Answers a question.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn answer(&self, response: ApprovalResponse) -> Result<(), NotSent> {
        self.say(&ClientMessage::ApprovalResponse(response)).await
    }

    /// Answers a dialog of an extension, on the stream that belongs to no session.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn answer_dialog(&self, response: DialogResponse) -> Result<(), NotSent> {
        self.say(&ClientMessage::DialogResponse(response)).await
    }

    /// Closes a dialog of an extension without an answer.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn cancel_dialog(&self, dialog: DialogId) -> Result<(), NotSent> {
        let (acknowledged, confirmed, paths) = (None, None, None);
        let cancelled = Some(true);
        self.answer_dialog(DialogResponse { dialog_id: dialog, acknowledged, confirmed, paths, cancelled })
            .await
    }

    /// Tells that somebody closed a window of an extension.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn close_window(&self, window: WindowId) -> Result<(), NotSent> {
        self.say(&ClientMessage::WindowClosed(WindowClosed { window_id: window, reason: None, by: None }))
            .await
    }

    /// Stops the running turn.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn cancel(&self, reason: Option<String>) -> Result<(), NotSent> {
        self.say(&ClientMessage::Cancel(Cancel { reason })).await
    }

    /// Tells what has changed in the editor.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn update_context(&self, updates: EditorContext) -> Result<(), NotSent> {
        self.say(&ClientMessage::ContextUpdate(ContextUpdate { updates })).await
    }

    /// Tells how a patch could be applied.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn report_patch(&self, result: PatchApplyResult) -> Result<(), NotSent> {
        self.say(&ClientMessage::PatchApplyResult(result)).await
    }

    /// Tells how a command ended.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn report_command(&self, result: CommandResult) -> Result<(), NotSent> {
        self.say(&ClientMessage::CommandResult(result)).await
    }

    /// Tells which files have changed.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn report_changes(&self, changes: Vec<FileChange>) -> Result<(), NotSent> {
        self.say(&ClientMessage::FileChanges(FileChanges { changes })).await
    }
}
