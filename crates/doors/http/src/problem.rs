//! How a bad answer looks: `application/problem+json`.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why a request is not answered as it wants.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    slug: &'static str,
    title: &'static str,
    detail: String,
}

impl Problem {
    /// A problem: what kind, the kind in words, and this case in words.
    pub(crate) fn new(status: StatusCode, slug: &'static str, title: &'static str, detail: String) -> Self {
        Self { status, slug, title, detail }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, slug, title, detail } = self;
        let body = json!({"type": slug, "title": title, "status": status.as_u16(), "detail": detail});
        (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
    }
}
