//! Everything the server says on a stream.

mod hello;
mod notice;
mod patch;
mod progress;
mod reply;
mod stamp;
mod state;
mod tool;

use serde::Serialize;

pub use hello::{ModelCapability, ModelInfo, ServerCapability, ServerHello, ServerInfo, UnknownCapability};
pub use notice::{NoticeKind, SessionNotice};
pub use patch::{Hunk, PatchProposed};
pub use progress::{Phase, Plan, PlanStep, RetrievalStage, RetrieveStatus, Thinking};
pub use reply::{ClientEcho, MessageFinal, ReplyMetadata, Token};
pub use stamp::Stamp;
pub use state::{Decided, DoorName, SessionState, SessionStateUpdate, TokenUsage};
pub use tool::{
    CommandRequestApproval, OutputStream, ToolExecute, ToolOutput, ToolRequestApproval, ToolStatus,
};

use crate::decode::{DecodeError, read_fields, read_type};
use crate::error::ServerError;
use crate::message::Message;
use crate::ui::{DialogClosed, DialogRequest, WindowClosed, WindowOpened};

/// A message from the server, sorted by its `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ServerMessage {
    /// `server.hello`
    Hello(ServerHello),
    /// `assistant.thinking`
    Thinking(Thinking),
    /// `agent.plan`
    Plan(Plan),
    /// `agent.retrieve.status`
    RetrieveStatus(RetrieveStatus),
    /// `tool.execute`
    ToolExecute(ToolExecute),
    /// `patch.proposed`
    PatchProposed(PatchProposed),
    /// `tool.request_approval`
    ToolRequestApproval(ToolRequestApproval),
    /// `command.request_approval`
    CommandRequestApproval(CommandRequestApproval),
    /// `assistant.token`
    Token(Token),
    /// `assistant.message_final`
    MessageFinal(MessageFinal),
    /// `server.error`
    Error(ServerError),
    /// `session.state`
    SessionState(SessionStateUpdate),
    /// `tool.output`
    ToolOutput(ToolOutput),
    /// `client.echo`
    ClientEcho(ClientEcho),
    /// `session.notice`
    SessionNotice(SessionNotice),
    /// `ui.dialog.request`
    DialogRequest(DialogRequest),
    /// `ui.dialog.closed`
    DialogClosed(DialogClosed),
    /// `ui.window.opened`
    WindowOpened(WindowOpened),
    /// `ui.window.closed`
    WindowClosed(WindowClosed),
}

impl ServerMessage {
    /// Reads a message: first its `type`, then the fields of that type.
    ///
    /// # Errors
    /// [`DecodeError`] tells broken text, a missing or unknown `type` and a wrong field apart.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let name = read_type(text)?;
        match name.as_str() {
            ServerHello::TYPE => read_fields(text).map(Self::Hello),
            Thinking::TYPE => read_fields(text).map(Self::Thinking),
            Plan::TYPE => read_fields(text).map(Self::Plan),
            RetrieveStatus::TYPE => read_fields(text).map(Self::RetrieveStatus),
            ToolExecute::TYPE => read_fields(text).map(Self::ToolExecute),
            PatchProposed::TYPE => read_fields(text).map(Self::PatchProposed),
            ToolRequestApproval::TYPE => read_fields(text).map(Self::ToolRequestApproval),
            CommandRequestApproval::TYPE => read_fields(text).map(Self::CommandRequestApproval),
            Token::TYPE => read_fields(text).map(Self::Token),
            MessageFinal::TYPE => read_fields(text).map(Self::MessageFinal),
            ServerError::TYPE => read_fields(text).map(Self::Error),
            SessionStateUpdate::TYPE => read_fields(text).map(Self::SessionState),
            ToolOutput::TYPE => read_fields(text).map(Self::ToolOutput),
            ClientEcho::TYPE => read_fields(text).map(Self::ClientEcho),
            SessionNotice::TYPE => read_fields(text).map(Self::SessionNotice),
            DialogRequest::TYPE => read_fields(text).map(Self::DialogRequest),
            DialogClosed::TYPE => read_fields(text).map(Self::DialogClosed),
            WindowOpened::TYPE => read_fields(text).map(Self::WindowOpened),
            WindowClosed::TYPE => read_fields(text).map(Self::WindowClosed),
            _ => Err(DecodeError::UnknownType { name }),
        }
    }

    /// The text on the wire, `type` first.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("the types hold nothing that JSON cannot")
    }
}
