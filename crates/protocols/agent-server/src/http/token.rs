//! Access: tokens, their scopes, and pairing, which gives a new client one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Secret, Timestamp, TokenId};

/// What a token allows; each scope includes those before it. Closed: a scope we do not know allows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// See sessions, events, listings and search results.
    Read,
    /// Also prompt, decide, cancel and undo.
    Drive,
    /// Also change what the server is: workspaces, policy, models, tokens, and whether it runs.
    Admin,
}

/// `POST /v1/tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreateTokenParams {
    /// Whose it is, for the list.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
}

/// A new token. This answer is the only place where it is ever written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedToken {
    /// The token itself.
    pub token: Secret,
    /// What the list will say about it.
    pub info: TokenInfo,
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenInfo {
    /// Its id, for revoking it.
    pub token_id: TokenId,
    /// Whose it is.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used; absent when never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// When it ends by itself, as a browser's does; absent when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// `GET /v1/tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// All that are not revoked.
    pub tokens: Vec<TokenInfo>,
}

/// `POST /v1/pair/start`: a code to type into the new client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairStartResult {
    /// The code; good once.
    pub code: Secret,
    /// Until when it can be used.
    pub expires_at: Timestamp,
}

/// `POST /v1/pair`: the code, from the new client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairParams {
    /// The code.
    pub code: Secret,
    /// What the token shall be called.
    pub client_name: String,
}

/// The new client's token. This answer is the only place where it is ever written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairResult {
    /// The token itself.
    pub token: Secret,
    /// What it allows.
    pub scope: Scope,
}
