//! How every bad answer looks: `application/problem+json` as in RFC 9457.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::open_words;

/// What went wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// What kind of problem; switch on this.
    // Renamed because `type` is a Rust keyword.
    #[serde(rename = "type")]
    pub kind: ProblemType,
    /// The kind in words; the same for all problems of it.
    pub title: String,
    /// The HTTP status, again.
    #[schemars(range(min = 400, max = 599))]
    pub status: u16,
    /// This case in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do about it, where the case tells. It may have several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The path that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// What is wrong with the body, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

impl Problem {
    /// A problem with its kind's own title and status.
    pub fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        let (status, title) = kind.status_and_title();
        Self {
            kind,
            title: title.to_owned(),
            status,
            detail: Some(detail.into()),
            hint: None,
            instance: None,
            errors: Vec::new(),
        }
    }
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldProblem {
    /// Where, as an RFC 6901 JSON pointer.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

open_words! {
    /// The kind of a problem. These words are stable.
    pub enum ProblemType {
        /// The text of the body or the query cannot be read at all.
        BadRequest = "bad-request",
        /// No token, or none that we know; both look the same.
        Unauthorized = "unauthorized",
        /// The token does not allow it, or the request came from a foreign page.
        Forbidden = "forbidden",
        /// There is no such thing.
        NotFound = "not-found",
        /// There is, but it cannot be asked like this.
        MethodNotAllowed = "method-not-allowed",
        /// It cannot be done in the present state.
        Conflict = "conflict",
        /// The policy has changed since it was read.
        StaleRevision = "stale-revision",
        /// The body is over the limit.
        TooLarge = "too-large",
        /// The body is not JSON by its own account.
        UnsupportedMediaType = "unsupported-media-type",
        /// The body is JSON of the wrong shape, or asks for something impossible.
        InvalidBody = "invalid-body",
        /// Too many wrong tries.
        RateLimited = "rate-limited",
        /// Our own fault.
        Internal = "internal",
        /// Not now.
        Unavailable = "unavailable",
    }
}

impl ProblemType {
    /// The HTTP status of this kind and its title. A kind we do not know counts as our own fault.
    pub fn status_and_title(&self) -> (u16, &'static str) {
        match self {
            Self::BadRequest => (400, "The request cannot be read"),
            Self::Unauthorized => (401, "A valid token is needed"),
            Self::Forbidden => (403, "Not allowed"),
            Self::NotFound => (404, "Not found"),
            Self::MethodNotAllowed => (405, "Not with this method"),
            Self::Conflict => (409, "Not in the present state"),
            Self::StaleRevision => (412, "The policy has changed since it was read"),
            Self::TooLarge => (413, "The body is too large"),
            Self::UnsupportedMediaType => (415, "The body must be JSON"),
            Self::InvalidBody => (422, "The body does not fit"),
            Self::RateLimited => (429, "Too many wrong tries"),
            Self::Internal | Self::Other(_) => (500, "Internal error"),
            Self::Unavailable => (503, "Not available now"),
        }
    }
}
