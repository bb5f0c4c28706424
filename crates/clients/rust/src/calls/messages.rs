//! Open messages.

use loggia_protocol_agent_server::{
    MessageContent, MessageFormat, MessageId, MessageList, MessagePatch, MessageSchema, MessageValidation,
    MessageValue, OpenMessage, OpenMessageParams, PatchMessageParams, PatchedMessage, SaveMessageParams,
    SetMessageParams, WorkspaceId,
};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// The messages that are open, in a workspace or in all.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn messages(&self, workspace: Option<&WorkspaceId>) -> Result<MessageList, Error> {
        self.ask(Ask::get(&["v1", "messages"]).query("workspace_id", workspace.map(|id| &id.0))).await
    }

    /// Opens a message in the place of the one that is open.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open_message(&self, params: &OpenMessageParams) -> Result<OpenMessage, Error> {
        self.ask(Ask::post(&["v1", "messages"]).json(params)).await
    }

    /// What is known about the segments of messages in a workspace.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn message_schema(&self, workspace: &WorkspaceId) -> Result<MessageSchema, Error> {
        self.ask(Ask::get(&["v1", "messages", "schema"]).query("workspace_id", Some(&workspace.0))).await
    }

    /// A message that is open.
    ///
    /// # Errors
    /// See [`Error`]; one that is not open any more is not found.
    pub async fn message(&self, id: &MessageId) -> Result<OpenMessage, Error> {
        self.ask(Ask::get(&["v1", "messages", &id.0])).await
    }

    /// Closes a message. Changes that are not saved are a reason not to.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn close_message(&self, id: &MessageId) -> Result<(), Error> {
        self.tell(Ask::delete(&["v1", "messages", &id.0])).await
    }

    /// Closes a message with all that is not saved.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn discard_message(&self, id: &MessageId) -> Result<(), Error> {
        self.tell(Ask::delete(&["v1", "messages", &id.0]).query("unsaved", Some("discard"))).await
    }

    /// A whole message; as it is written if no format is named.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn message_text(
        &self,
        id: &MessageId,
        format: Option<&MessageFormat>,
    ) -> Result<MessageContent, Error> {
        let ask = Ask::get(&["v1", "messages", &id.0, "text"]);
        self.ask_large(ask.query("format", format.map(MessageFormat::as_str))).await
    }

    /// Puts another text in a message's place.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_message(&self, id: &MessageId, params: &SetMessageParams) -> Result<OpenMessage, Error> {
        self.ask(Ask::put(&["v1", "messages", &id.0, "text"]).json(params)).await
    }

    /// What stands at a place in a message.
    ///
    /// # Errors
    /// See [`Error`]; a path that leads nowhere is an answer.
    pub async fn message_value(&self, id: &MessageId, path: &str) -> Result<MessageValue, Error> {
        self.ask(Ask::get(&["v1", "messages", &id.0, "value"]).query("path", Some(path))).await
    }

    /// Changes single places, in order.
    ///
    /// # Errors
    /// See [`Error`]; patches that do not apply are in the answer.
    pub async fn patch_message(
        &self,
        id: &MessageId,
        patches: Vec<MessagePatch>,
    ) -> Result<PatchedMessage, Error> {
        let params = PatchMessageParams { patches };
        self.ask(Ask::post(&["v1", "messages", &id.0, "patch"]).json(&params)).await
    }

    /// Takes the last step back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn undo_message(&self, id: &MessageId) -> Result<OpenMessage, Error> {
        self.ask(Ask::post(&["v1", "messages", &id.0, "undo"])).await
    }

    /// Makes the step again that was taken back last.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn redo_message(&self, id: &MessageId) -> Result<OpenMessage, Error> {
        self.ask(Ask::post(&["v1", "messages", &id.0, "redo"])).await
    }

    /// Writes a message to its file, or to another.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn save_message(
        &self,
        id: &MessageId,
        params: &SaveMessageParams,
    ) -> Result<OpenMessage, Error> {
        self.ask(Ask::post(&["v1", "messages", &id.0, "save"]).json(params)).await
    }

    /// What is doubtful about a message.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn validate_message(&self, id: &MessageId) -> Result<MessageValidation, Error> {
        self.ask(Ask::get(&["v1", "messages", &id.0, "validation"])).await
    }
}
