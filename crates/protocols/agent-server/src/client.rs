//! Everything a client says on a stream.

mod files;
mod hello;
mod prompt;
mod reports;

use loggia_jsonrpc::FieldError;
use serde::Serialize;

pub use files::{FileChange, FileChangeKind, FileChanges};
pub use hello::{ClientCapability, ClientHello, ClientInfo};
pub use prompt::{Cancel, ContextUpdate, UserMessage};
pub use reports::{
    ApprovalResponse, ApprovalScope, CommandResult, FileHunks, PatchApplyError, PatchApplyResult,
    PatchFailure, Remember,
};

use crate::decode::{DecodeError, Plainly, ReadFields, read_type, wrong_shape};
use crate::message::Message;
use crate::ui::{DialogResponse, WindowClosed};

/// A message from a client, sorted by its `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ClientMessage {
    /// `client.hello`
    Hello(ClientHello),
    /// `client.user_message`
    UserMessage(UserMessage),
    /// `client.context_update`
    ContextUpdate(ContextUpdate),
    /// `client.approval_response`
    ApprovalResponse(ApprovalResponse),
    /// `client.patch_apply_result`
    PatchApplyResult(PatchApplyResult),
    /// `client.command_result`
    CommandResult(CommandResult),
    /// `client.cancel`
    Cancel(Cancel),
    /// `client.file_changes`
    FileChanges(FileChanges),
    /// `ui.dialog.response`
    DialogResponse(DialogResponse),
    /// `ui.window.closed`
    WindowClosed(WindowClosed),
}

impl ClientMessage {
    /// Reads a message: first its `type`, then the fields of that type.
    ///
    /// # Errors
    /// [`DecodeError`] tells broken text, a missing or unknown `type` and a wrong field apart.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        Self::decode_with(text, &Plainly)
    }

    /// The same with a reader of one's own, which finds its own words for a field that does not fit.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_with(text: &str, reader: &impl ReadFields) -> Result<Self, DecodeError> {
        fn fields<M: Message>(text: &str, reader: &impl ReadFields) -> Result<M, DecodeError> {
            reader.read_fields(text).map_err(wrong_shape::<M>)
        }
        let name = read_type(text)?;
        match name.as_str() {
            ClientHello::TYPE => fields(text, reader).map(Self::Hello),
            UserMessage::TYPE => fields(text, reader).map(Self::UserMessage),
            ContextUpdate::TYPE => fields(text, reader).map(Self::ContextUpdate),
            ApprovalResponse::TYPE => {
                let response: ApprovalResponse = fields(text, reader)?;
                response.check().map_err(wrong_shape::<ApprovalResponse>)?;
                Ok(Self::ApprovalResponse(response))
            }
            PatchApplyResult::TYPE => fields(text, reader).map(Self::PatchApplyResult),
            CommandResult::TYPE => fields(text, reader).map(Self::CommandResult),
            Cancel::TYPE => fields(text, reader).map(Self::Cancel),
            FileChanges::TYPE => fields(text, reader).map(Self::FileChanges),
            DialogResponse::TYPE => {
                let response: DialogResponse = fields(text, reader)?;
                response.check().map_err(wrong_shape::<DialogResponse>)?;
                Ok(Self::DialogResponse(response))
            }
            WindowClosed::TYPE => fields(text, reader).map(Self::WindowClosed),
            _ => Err(DecodeError::UnknownType { name }),
        }
    }

    /// The text on the wire, `type` first.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("the types hold nothing that JSON cannot")
    }
}

impl ApprovalResponse {
    /// The rules between fields, which their types alone cannot state.
    ///
    /// # Errors
    /// When the scope needs a field that is absent, hunks are named in two ways, or hunks are named in an answer that
    /// reaches further: it would allow more than whoever named them meant.
    pub fn check(&self) -> Result<(), FieldError> {
        let missing = |field: &str, scope: &str| {
            Err(FieldError::at(field, format!("`{field}` is needed when the scope is `{scope}`")))
        };
        let beyond = |field: &str| {
            Err(FieldError::at(
                field,
                format!("`{field}` is only for the scope `hunk`; add `\"scope\":\"hunk\"`"),
            ))
        };
        match self.scope {
            Some(ApprovalScope::All | ApprovalScope::File) | None if self.hunk_index.is_some() => {
                beyond("hunk_index")
            }
            Some(ApprovalScope::All | ApprovalScope::File) | None if self.hunk_indexes.is_some() => {
                beyond("hunk_indexes")
            }
            Some(ApprovalScope::All | ApprovalScope::File) | None if self.hunks.is_some() => beyond("hunks"),
            Some(ApprovalScope::File) if self.file_path.is_none() => missing("file_path", "file"),
            Some(ApprovalScope::Hunk) if self.hunks.is_some() => self.check_hunks(),
            Some(ApprovalScope::Hunk) if self.file_path.is_none() => missing("file_path", "hunk"),
            Some(ApprovalScope::Hunk) => match (self.hunk_index, &self.hunk_indexes) {
                (None, None) => missing("hunk_index", "hunk"),
                (Some(_), Some(_)) => {
                    Err(FieldError::at("hunk_indexes", "either this or `hunk_index`, not both"))
                }
                (None, Some(indexes)) if indexes.is_empty() => {
                    Err(FieldError::at("hunk_indexes", "must name a hunk"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Hunks of several files are named in one way, and at least one of each.
    fn check_hunks(&self) -> Result<(), FieldError> {
        let others = [
            ("file_path", self.file_path.is_some()),
            ("hunk_index", self.hunk_index.is_some()),
            ("hunk_indexes", self.hunk_indexes.is_some()),
        ];
        if let Some((field, _)) = others.iter().find(|(_, is_given)| *is_given) {
            return Err(FieldError::at(*field, "either this or `hunks`, not both"));
        }
        let files = self.hunks.as_deref().unwrap_or_default();
        if files.is_empty() || files.iter().any(|file| file.hunk_indexes.is_empty()) {
            return Err(FieldError::at("hunks", "must name a hunk, of every file it names"));
        }
        Ok(())
    }
}
