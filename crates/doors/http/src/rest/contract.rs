//! `GET /v1/openapi.json` and `GET /v1/schemas/{name}`: the contract itself.

use axum::extract::Path;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::contract;
use crate::problem::Problem;

/// Everything there is to ask, as one document.
pub(crate) async fn openapi() -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], contract::openapi()).into_response()
}

/// One message's or body's schema.
pub(crate) async fn schema(Path(name): Path<String>) -> Result<Response, Problem> {
    let Some(schema) = contract::schema(&name) else {
        return Err(Problem::not_found(format!(
            "there is no schema `{name}`; `/v1/openapi.json` names them"
        )));
    };
    let kind = HeaderValue::from_static("application/schema+json");
    Ok(([(CONTENT_TYPE, kind)], schema).into_response())
}
