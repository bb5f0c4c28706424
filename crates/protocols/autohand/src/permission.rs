//! Questions before a tool runs, and their answers.
//!
//! Clients answer in several dialects: a boolean, another boolean's name, or one of nine words. All of them
//! become one [`Decision`] here, so nobody else needs to know that there was a choice.

use loggia_jsonrpc::{FieldError, Json, Method, Notification, Order};
use serde::{Deserialize, Serialize};

use crate::{PermissionRequestId, SuccessResult, Timestamp};

/// Answers a question.
#[derive(Debug)]
pub struct PermissionResponse;

impl Method for PermissionResponse {
    const NAME: &'static str = "autohand.permissionResponse";
    const ORDER: Order = Order::Urgent;
    type Params = PermissionResponseParams;
    type Result = PermissionResponseResult;
}

/// Whether an answer was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionResponseResult {
    /// Whether it was. If not, the question is unknown, expired or answered already; or it is still open, and why is in
    /// `error`.
    pub success: bool,
    /// Why an alternative cannot be taken. The question waits for another answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What holds, if that is less than was asked for: an answer that cannot be remembered holds once. Beyond the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionName>,
}

/// An answer as clients write it; [`PermissionResponseParams::resolve`] says what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionResponseParams {
    /// The question.
    pub request_id: PermissionRequestId,
    /// The specification's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// Another name for `allowed`, used by one desktop client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// The client libraries' answer, in one word; kept as text because an unknown word still is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// What to run or write instead, with the decision `alternative`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<String>,
    /// Whether an answer that names no scope holds for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<bool>,
}

impl PermissionResponseParams {
    /// The plain answer of the specification.
    pub fn new(request_id: PermissionRequestId, allowed: bool) -> Self {
        Self {
            request_id,
            allowed: Some(allowed),
            approved: None,
            decision: None,
            alternative: None,
            remember: None,
        }
    }

    /// What the answer means. `decision` beats `allowed`, which beats `approved`; an unknown word means no.
    ///
    /// # Errors
    /// [`FieldError`] when there is no answer at all, or an alternative without the text of it.
    pub fn resolve(&self) -> Result<Decision, FieldError> {
        let Some(word) = &self.decision else {
            let allowed = self
                .allowed
                .or(self.approved)
                .ok_or_else(|| FieldError::at("allowed", "either `allowed` or `decision` is needed"))?;
            return Ok(self.plain(allowed));
        };
        match word.as_str() {
            "allow" => Ok(self.plain(true)),
            "deny" => Ok(self.plain(false)),
            "alternative" => self.alternative(),
            word => Ok(DecisionName::from_word(word)
                .and_then(DecisionName::scoped)
                .unwrap_or(Decision::DENY_ONCE)),
        }
    }

    /// A yes or no that names no scope of its own.
    fn plain(&self, allowed: bool) -> Decision {
        let scope = if self.remember == Some(true) { Scope::Session } else { Scope::Once };
        if allowed { Decision::Allow(scope) } else { Decision::Deny(scope) }
    }

    fn alternative(&self) -> Result<Decision, FieldError> {
        match &self.alternative {
            Some(text) if !text.is_empty() => Ok(Decision::Alternative(text.clone())),
            _ => Err(FieldError::at("alternative", "the decision `alternative` needs a text")),
        }
    }
}

/// What the user decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Allow(Scope),
    /// No.
    Deny(Scope),
    /// Not this, but that: a command or path that is checked like any other before it is used.
    Alternative(String),
}

impl Decision {
    /// What silence and unknown words mean.
    pub const DENY_ONCE: Self = Self::Deny(Scope::Once);
}

/// How long a decision holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For this question.
    Once,
    /// Until the session ends.
    Session,
    /// In this project, from now on.
    Project,
    /// For this user, from now on.
    User,
}

/// The nine words a client may be offered and may answer with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionName {
    /// Yes, this time.
    AllowOnce,
    /// No, this time.
    DenyOnce,
    /// Yes, for the session.
    AllowSession,
    /// No, for the session.
    DenySession,
    /// Yes, always in this project.
    AllowAlwaysProject,
    /// Yes, always for this user.
    AllowAlwaysUser,
    /// No, never in this project.
    DenyAlwaysProject,
    /// No, never for this user.
    DenyAlwaysUser,
    /// Something else instead.
    Alternative,
}

impl DecisionName {
    /// All of them, in the order clients show them.
    pub const ALL: [Self; 9] = [
        Self::AllowOnce,
        Self::DenyOnce,
        Self::AllowSession,
        Self::DenySession,
        Self::AllowAlwaysProject,
        Self::AllowAlwaysUser,
        Self::DenyAlwaysProject,
        Self::DenyAlwaysUser,
        Self::Alternative,
    ];

    fn from_word(word: &str) -> Option<Self> {
        let word = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word);
        Self::deserialize(word).ok()
    }

    /// The decision a word stands for by itself; `alternative` needs a text as well.
    pub fn scoped(self) -> Option<Decision> {
        Some(match self {
            Self::AllowOnce => Decision::Allow(Scope::Once),
            Self::DenyOnce => Decision::Deny(Scope::Once),
            Self::AllowSession => Decision::Allow(Scope::Session),
            Self::DenySession => Decision::Deny(Scope::Session),
            Self::AllowAlwaysProject => Decision::Allow(Scope::Project),
            Self::AllowAlwaysUser => Decision::Allow(Scope::User),
            Self::DenyAlwaysProject => Decision::Deny(Scope::Project),
            Self::DenyAlwaysUser => Decision::Deny(Scope::User),
            Self::Alternative => return None,
        })
    }
}

/// Tells the agent that a question has reached the user, who may take their time.
#[derive(Debug)]
pub struct PermissionAcknowledged;

impl Method for PermissionAcknowledged {
    const NAME: &'static str = "autohand.permissionAcknowledged";
    const ORDER: Order = Order::Urgent;
    type Params = PermissionAcknowledgedParams;
    type Result = SuccessResult;
}

/// Which question was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAcknowledgedParams {
    /// The question.
    pub request_id: PermissionRequestId,
}

/// Asks the user.
#[derive(Debug)]
pub struct PermissionRequest;

impl Notification for PermissionRequest {
    const NAME: &'static str = "autohand.permissionRequest";
    type Params = PermissionRequestParams;
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequestParams {
    /// To be named in the answer.
    pub request_id: PermissionRequestId,
    /// The tool that wants to run.
    pub tool: String,
    /// The question in words.
    pub description: String,
    /// What it is about. Optional in the specification, but some clients count on it, if only as `{}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PermissionContext>,
    /// The answers on offer, for client libraries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<DecisionName>>,
    /// The tool once more, under the name one desktop client reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The path once more, under the name one desktop client reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// When it was asked.
    pub timestamp: Timestamp,
}

impl PermissionRequestParams {
    /// A question that every known client understands, with every answer on offer.
    pub fn new(
        request_id: PermissionRequestId,
        tool: impl Into<String>,
        description: impl Into<String>,
        context: PermissionContext,
        timestamp: Timestamp,
    ) -> Self {
        let tool = tool.into();
        Self {
            request_id,
            tool_name: Some(tool.clone()),
            tool,
            description: description.into(),
            file_path: context.path.clone(),
            context: Some(context),
            options: Some(DecisionName::ALL.to_vec()),
            timestamp,
        }
    }
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionContext {
    /// The path to be touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The command to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The tool's arguments, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
}
