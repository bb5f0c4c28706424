//! The one way in which everything is asked.
//!
//! What always holds: an answer is read up to a limit and no further; a bad status is a [`Refusal`] when the server
//! explains itself, and strange when it does not.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy;
use loggia_protocol_agent_server::Problem;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Client;
use crate::error::{Error, Refusal};

/// How long an answer may take: undoing a change of thousands of files is the slowest thing that can be asked.
const ANSWER_DEADLINE: Duration = Duration::from_secs(120);

/// How long an answer may take that waits for agents and people: longer than anybody leaves a step alone.
const LONG_DEADLINE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The largest answer: a page of events that each carry a large patch.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// The largest answer with the text of a message: one of 32 MiB, the largest there is, each byte of which may become a line
/// of indented JSON that is escaped once more. An empty repetition is the worst, with seventeen bytes.
const MAX_TEXT_ANSWER_BYTES: usize = 20 * 32 * 1024 * 1024;

/// The largest explanation of a bad status: field by field, it stays far below.
const MAX_PROBLEM_BYTES: usize = 1024 * 1024;

/// The longest time a server can ask us to wait: nobody means more, and time must not overflow.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// How much of something strange is shown.
const MAX_QUOTED_CHARS: usize = 200;

/// Something to ask.
#[derive(Debug)]
pub(crate) struct Ask {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
    queried: bool,
    deadline: Duration,
    largest: usize,
}

impl Ask {
    pub(crate) fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: &[&str]) -> Self {
        Self::new(Method::POST, path)
    }

    pub(crate) fn put(path: &[&str]) -> Self {
        Self::new(Method::PUT, path)
    }

    pub(crate) fn delete(path: &[&str]) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// A path from its segments; whatever is in one stays in it.
    fn new(method: Method, path: &[&str]) -> Self {
        let mut target = String::new();
        for segment in path {
            target.push('/');
            escape(segment, &mut target);
        }
        Self {
            method,
            target,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            queried: false,
            deadline: ANSWER_DEADLINE,
            largest: MAX_ANSWER_BYTES,
        }
    }

    /// With a parameter in the query, if it has a value.
    pub(crate) fn query(mut self, name: &str, value: Option<impl ToString>) -> Self {
        let Some(value) = value else { return self };
        self.target.push(if std::mem::replace(&mut self.queried, true) { '&' } else { '?' });
        self.target.push_str(name);
        self.target.push('=');
        escape(&value.to_string(), &mut self.target);
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// With a JSON body.
    pub(crate) fn json(self, body: &impl Serialize) -> Self {
        let text = serde_json::to_vec(body).expect("the protocol's types hold nothing that JSON cannot");
        self.body(text.into(), "application/json")
    }

    /// With a body of this type.
    pub(crate) fn body(mut self, body: Bytes, content_type: &'static str) -> Self {
        self.body = body;
        self.header(CONTENT_TYPE, HeaderValue::from_static(content_type))
    }
}

/// Everything but letters, digits and four signs as bytes in hexadecimal.
fn escape(text: &str, into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push(char::from(DIGITS[usize::from(byte >> 4)]));
            into.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

impl Client {
    /// Asks for a JSON body.
    pub(crate) async fn ask<B: DeserializeOwned>(&self, ask: Ask) -> Result<B, Error> {
        let (status, body) = self.whole(ask).await?;
        serde_json::from_slice(&body).map_err(|error| Error::Strange {
            status: status.as_u16(),
            reason: format!("{error} in {}", quoted(&body)),
        })
    }

    /// The same, with an answer that may wait for agents and people.
    pub(crate) async fn ask_long<B: DeserializeOwned>(&self, ask: Ask) -> Result<B, Error> {
        self.ask(Ask { deadline: LONG_DEADLINE, ..ask }).await
    }

    /// The same, with an answer that may hold the text of a message.
    pub(crate) async fn ask_large<B: DeserializeOwned>(&self, ask: Ask) -> Result<B, Error> {
        self.ask(Ask { largest: MAX_TEXT_ANSWER_BYTES, ..ask }).await
    }

    /// Asks for text.
    pub(crate) async fn ask_text(&self, ask: Ask) -> Result<String, Error> {
        let (status, body) = self.whole(ask).await?;
        String::from_utf8(body.into())
            .map_err(|error| Error::Strange { status: status.as_u16(), reason: error.to_string() })
    }

    /// Asks for something to be done.
    pub(crate) async fn tell(&self, ask: Ask) -> Result<(), Error> {
        self.whole(ask).await.map(drop)
    }

    async fn whole(&self, ask: Ask) -> Result<(StatusCode, Bytes), Error> {
        let (deadline, largest) = (ask.deadline, ask.largest);
        let answer = async {
            let response = self.open(ask).await?;
            let status = response.status();
            Ok((status, read(response.into_body(), largest).await?))
        };
        in_time(deadline, answer).await
    }

    /// Asks, and leaves the body of a good answer unread.
    pub(crate) async fn open(&self, ask: Ask) -> Result<Response<Incoming>, Error> {
        let response = self.respond(ask).await?;
        if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
    }

    /// Asks, and leaves everything but the header of an answer unread, good or bad.
    pub(crate) async fn respond(&self, ask: Ask) -> Result<Response<Incoming>, Error> {
        let unaskable = |error: &dyn std::fmt::Display| Error::Unaskable(error.to_string());
        let mut request = Request::new(Full::new(ask.body));
        *request.method_mut() = ask.method;
        *request.uri_mut() =
            format!("{}{}", self.server.base(), ask.target).parse().map_err(|error| unaskable(&error))?;
        *request.headers_mut() = ask.headers;
        if let Some(token) = &self.token {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", token.0)).map_err(|error| unaskable(&error))?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        let deadline = ask.deadline;
        in_time(deadline, async { self.http.request(request).await.map_err(|error| self.failed(error)) })
            .await
    }

    /// What a failure below HTTP means.
    fn failed(&self, error: legacy::Error) -> Error {
        if !error.is_connect() {
            return Error::Interrupted(error.into());
        }
        let server = self.server.to_string();
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<io::Error>() {
                let untrusted = found.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
                if let Some(rustls::Error::InvalidCertificate(reason)) = untrusted {
                    return Error::Untrusted { server, reason: of_certificate(reason) };
                }
                let source = io::Error::new(found.kind(), found.to_string());
                return Error::Unreachable { server, source };
            }
            cause = error.source();
        }
        Error::Unreachable { server, source: io::Error::other(error) }
    }
}

/// What is wrong with a certificate, without the library's words around ours.
fn of_certificate(error: &rustls::CertificateError) -> String {
    match error {
        rustls::CertificateError::Other(other) => other.0.to_string(),
        other => other.to_string(),
    }
}

async fn in_time<T>(deadline: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(deadline, work).await.unwrap_or(Err(Error::TimedOut(deadline)))
}

/// What a bad answer says.
pub(crate) async fn refusal(response: Response<Incoming>) -> Error {
    let status = response.status().as_u16();
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let retry_after = seconds.map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER));
    let body = match in_time(ANSWER_DEADLINE, read(response.into_body(), MAX_PROBLEM_BYTES)).await {
        Ok(body) => body,
        Err(error) => return error,
    };
    match serde_json::from_slice::<Problem>(&body) {
        // What the transport says counts: the body may have passed through something that changed the status.
        Ok(problem) => Refusal { problem: Problem { status, ..problem }, retry_after }.into(),
        Err(_) => Error::Strange { status, reason: quoted(&body) },
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// Reads a body whole, up to a limit.
async fn read(mut body: Incoming, limit: usize) -> Result<Bytes, Error> {
    // What it says of itself, before a byte is read.
    if body.size_hint().lower() > limit as u64 {
        return Err(Error::TooLarge { limit });
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Error::Interrupted(error.into()))?;
        let Ok(bytes) = frame.into_data() else { continue };
        if whole.len() + bytes.len() > limit {
            return Err(Error::TooLarge { limit });
        }
        whole.extend_from_slice(&bytes);
    }
    Ok(whole.freeze())
}

/// The beginning of something strange, for people.
fn quoted(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_QUOTED_CHARS * 4)]);
    let start: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    format!("{start:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_a_segment_whatever_is_in_it() {
        let ask = Ask::get(&["v1", "sessions", "../a b?c#d%2f\r\nü"])
            .query("q", Some("x&y=z"))
            .query("n", None::<u8>);
        assert_eq!(ask.target, "/v1/sessions/..%2Fa%20b%3Fc%23d%252f%0D%0A%C3%BC?q=x%26y%3Dz");
        assert_eq!(Ask::get(&["a"]).query("x", Some(1)).query("y", Some(2)).target, "/a?x=1&y=2");
    }
}
