//! What a model said.

use crate::{CallId, JsonText, MessageId};

/// One reply of a model, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssistantMessage {
    /// Its id.
    pub id: MessageId,
    /// Its text.
    pub text: String,
    /// What the model thought aloud, if it did.
    pub thought: Option<String>,
    /// The tools it wants called.
    pub calls: Vec<ToolCall>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Our id of it.
    pub id: CallId,
    /// The provider's id of it, which the result must carry back.
    pub provider_id: Option<String>,
    /// Which tool.
    pub tool: String,
    /// With what.
    pub arguments: JsonText,
}
