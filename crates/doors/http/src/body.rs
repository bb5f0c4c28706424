//! Bodies that clients send.
//!
//! Knows sizes, media types and JSON; refuses to know what a body is for.
//!
//! What always holds:
//! - no more than a body's limit is ever held in memory, whatever the headers say;
//! - a compressed body is refused unread: a few bytes could become gigabytes;
//! - no key comes twice in an object, and nothing nests deeper than [`MAX_JSON_DEPTH`];
//! - text that cannot be read is a 400, JSON of the wrong shape a 422 with a pointer;
//! - a key that its type does not know is such a shape: somebody mistyped it, and passing it over would do something
//!   else than was asked.

mod fault;
mod read;
mod strict;

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use loggia_jsonrpc::{decode, exceeds_depth};
use loggia_protocol_agent_server::{MAX_BODY_BYTES, MAX_JSON_DEPTH, ProblemType};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::body::read::Strangers;
use crate::body::strict::Strict;
use crate::problem::Problem;

pub(crate) use crate::body::fault::Fault;

/// How long a body may take to arrive: eight megabytes over a slow line, not a connection held open on purpose.
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body, or none at all.
pub(crate) struct MaybeBody<T>(pub(crate) T);

/// JSON Lines, as text.
pub(crate) struct Lines(pub(crate) String);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        read_json(request, MAX_BODY_BYTES).await.map(Self)
    }
}

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for MaybeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let declared = request.headers().contains_key(CONTENT_TYPE).then(|| request.headers().clone());
        let text = read_text(request, MAX_BODY_BYTES).await?;
        if text.is_empty() {
            return Ok(Self(T::default()));
        }
        check_type(&declared.unwrap_or_default(), &JSON_TYPES)?;
        parse(&text).map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for Lines {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_type(request.headers(), &LINES_TYPES)?;
        read_text(request, MAX_BODY_BYTES).await.map(Self)
    }
}

/// Reads a JSON body of at most so many bytes.
pub(crate) async fn read_json<T: DeserializeOwned>(request: Request, limit: usize) -> Result<T, Problem> {
    check_type(request.headers(), &JSON_TYPES)?;
    parse(&read_text(request, limit).await?)
}

/// Refuses what must not be unpacked.
pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let plain = |value: &axum::http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().all(plain) {
        return Ok(());
    }
    Err(Problem::of(ProblemType::UnsupportedMediaType, "compressed bodies are not read; send it as it is"))
}

const JSON_TYPES: [&str; 1] = ["application/json"];
const LINES_TYPES: [&str; 3] = ["application/x-ndjson", "application/jsonl", "application/json-lines"];

fn check_type(headers: &HeaderMap, known: &[&str]) -> Result<(), Problem> {
    let refused = |what: String| {
        let detail = format!("{what}; send `content-type: {}` in UTF-8", known[0]);
        Err(Problem::of(ProblemType::UnsupportedMediaType, detail))
    };
    let Some(value) = headers.get(CONTENT_TYPE) else { return refused("the body has no type".to_owned()) };
    let Ok(value) = value.to_str() else { return refused("the body's type is no text".to_owned()) };
    let (essence, parameters) = value.split_once(';').unwrap_or((value, ""));
    if !known.iter().any(|known| essence.trim().eq_ignore_ascii_case(known)) {
        return refused(format!("`{}` is not read here", essence.trim()));
    }
    let charset = parameters.split(';').filter_map(|parameter| parameter.split_once('='));
    let mut charset = charset.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    if charset.any(|(_, value)| !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")) {
        return refused("the body is in another character set".to_owned());
    }
    Ok(())
}

async fn read_text(request: Request, limit: usize) -> Result<String, Problem> {
    let body = Limited::new(request.into_body(), limit).collect();
    let body = tokio::time::timeout(BODY_DEADLINE, body).await.map_err(|_| {
        let detail = format!("the body did not arrive within {} s", BODY_DEADLINE.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, "bad-request", "The body came too slowly", detail)
    })?;
    let bytes = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => too_large(limit),
        None => Problem::bad_request(format!("the body broke off: {error}")),
    })?;
    String::from_utf8(bytes.to_bytes().into()).map_err(|_| Problem::bad_request("the body is not UTF-8"))
}

/// More than is read.
pub(crate) fn too_large(limit: usize) -> Problem {
    Problem::of(ProblemType::TooLarge, format!("a body has at most {limit} bytes here"))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    // Before the reader, which does not count levels while it skips fields.
    if exceeds_depth(text, MAX_JSON_DEPTH) {
        let detail = format!("the body nests deeper than {MAX_JSON_DEPTH} levels");
        return Err(Problem::bad_request(detail));
    }
    if let Err(error) = serde_json::from_str::<Strict>(text) {
        return Err(match (error.classify(), decode::<Strict>(text)) {
            (Category::Data, Err(field)) => Problem::field(field.pointer(), field.message()),
            _ => Problem::bad_request(format!("the body is not JSON: {}", why_not_json(&error))),
        });
    }
    read::read(text, Strangers::Refused).map_err(|fault| Problem::field(fault.pointer(), fault.message()))
}

/// Reads the fields of a message of a stream, whose text is known to be JSON. What its type does not know is passed
/// over.
pub(crate) fn read_message<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    read::read(text, Strangers::PassedOver)
}

/// Where a text stops being JSON.
pub(crate) fn why_not_json(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "it ends too early".to_owned(),
        _ => format!("look at line {}, column {}", error.line(), error.column()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn typed(value: &'static str) -> bool {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]);
        check_type(&headers, &JSON_TYPES).is_ok()
    }

    #[test]
    fn only_json_in_utf_8_is_read() {
        for value in
            ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=\"UTF-8\""]
        {
            assert!(typed(value), "{value}");
        }
        for value in ["text/plain", "", "application/json; charset=latin1", "application/jsonx"] {
            assert!(!typed(value), "{value}");
        }
        assert!(check_type(&HeaderMap::new(), &JSON_TYPES).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let endless =
            axum::body::Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
        let request = Request::builder().header(CONTENT_TYPE, "application/json").body(endless).unwrap();
        let problem = read_json::<serde_json::Value>(request, 100).await.unwrap_err();
        assert!(format!("{problem:?}").contains("408"), "{problem:?}");
    }

    #[test]
    fn only_plain_bodies_are_read() {
        let encoded = |value| HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(value))]);
        assert!(check_encoding(&HeaderMap::new()).is_ok() && check_encoding(&encoded("identity")).is_ok());
        for value in ["gzip", "br", "identity, gzip", "zstd"] {
            assert!(check_encoding(&encoded(value)).is_err(), "{value}");
        }
    }
}
