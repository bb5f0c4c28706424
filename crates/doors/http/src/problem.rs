//! How every bad answer is made.
//!
//! Knows problems and their headers. What an engine's error means for a client is decided in one place, `engine`.
//!
//! What always holds: a bad answer is `application/problem+json`, and its text tells the asker what to change without
//! telling anybody what they may not see.

mod engine;
mod task;

use std::num::NonZeroU64;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use loggia_protocol_agent_server::{self as wire, FieldProblem, ProblemType};

/// The media type of RFC 9457.
pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// A bad answer. Boxed, since most results carry none.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Answer>);

#[derive(Debug, Clone)]
struct Answer {
    problem: wire::Problem,
    retry_after: Option<NonZeroU64>,
}

impl Problem {
    /// A problem whose kind has no status and title of its own.
    pub(crate) fn new(status: StatusCode, slug: &'static str, title: &'static str, detail: String) -> Self {
        let problem = wire::Problem {
            kind: ProblemType::from(slug.to_owned()),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: Some(detail),
            hint: None,
            instance: None,
            errors: Vec::new(),
        };
        Self(Box::new(Answer { problem, retry_after: None }))
    }

    /// A problem with its kind's own status and title.
    pub(crate) fn of(kind: ProblemType, detail: impl Into<String>) -> Self {
        Self(Box::new(Answer { problem: wire::Problem::new(kind, detail), retry_after: None }))
    }

    /// A request whose text cannot be read.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::of(ProblemType::BadRequest, detail)
    }

    /// There is no such thing.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::of(ProblemType::NotFound, detail)
    }

    /// A body with a field that does not fit.
    pub(crate) fn field(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let (pointer, message) = (pointer.into(), message.into());
        let detail = if pointer.is_empty() { message.clone() } else { format!("{pointer}: {message}") };
        let mut problem = Self::of(ProblemType::InvalidBody, detail);
        problem.0.problem.errors.push(FieldProblem { pointer, message });
        problem
    }

    /// The problem a status stands for, when whoever answered said no more.
    pub(crate) fn bare(status: StatusCode, detail: &str) -> Self {
        let kind = match status {
            StatusCode::UNAUTHORIZED => ProblemType::Unauthorized,
            StatusCode::FORBIDDEN => ProblemType::Forbidden,
            StatusCode::NOT_FOUND => ProblemType::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => ProblemType::MethodNotAllowed,
            StatusCode::PAYLOAD_TOO_LARGE => ProblemType::TooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ProblemType::UnsupportedMediaType,
            StatusCode::SERVICE_UNAVAILABLE => ProblemType::Unavailable,
            status if status.is_server_error() => ProblemType::Internal,
            status => {
                let title = status.canonical_reason().unwrap_or("The request cannot be read");
                return Self::new(status, "bad-request", title, detail.to_owned());
            }
        };
        Self::of(kind, detail)
    }

    /// What to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: Option<String>) -> Self {
        self.0.problem.hint = hint;
        self
    }

    /// When to try again.
    #[must_use]
    pub(crate) fn retry_after(mut self, seconds: NonZeroU64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Which path was asked.
    #[must_use]
    pub(crate) fn about(mut self, path: &str) -> Self {
        self.0.problem.instance = Some(path.to_owned());
        self
    }

    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let text = serde_json::to_string(&self.0.problem).expect("a problem holds nothing that JSON cannot");
        let mut response = (status, text).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, PROBLEM_JSON);
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"loggia\""));
        }
        if let Some(seconds) = self.0.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.get()));
        }
        // For the last layer, which knows the path.
        response.extensions_mut().insert(self);
        response
    }
}
