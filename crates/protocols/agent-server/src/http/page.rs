//! The page for browsers: how one gets in, and as whom.
//!
//! A browser is not given a token to keep: it trades a code for a cookie, which its scripts cannot read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::Scope;
use crate::ids::{Secret, Timestamp};

/// `POST /v1/page/code`: what the page that is invited may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PageCodeParams {
    /// What its cookie will allow; `drive` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// A code for one browser, to be opened as `/#code=…`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageCode {
    /// The code; good once.
    pub code: Secret,
    /// Until when it can be used.
    pub expires_at: Timestamp,
}

/// `POST /v1/page/session`, from the page itself: a code for a cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageSessionParams {
    /// A code for a page, or a pairing code that somebody typed.
    pub code: Secret,
    /// What the browser shall be called in the list of tokens; `page` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
}

/// Who is asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageSession {
    /// What they are called.
    pub name: String,
    /// What they may do.
    pub scope: Scope,
    /// Until when; absent when there is no end to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
