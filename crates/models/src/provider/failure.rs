//! What a provider's failure means: try again, shorten, or give up, and what to do about it.
//!
//! Knows the shapes in which providers refuse. What always holds: a message holds no key, no address with a query, and
//! at most [`MAX_SAID_CHARS`] of the provider's own words.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use loggia_domain::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::web::WebError;
use super::{Provider, names_of, nearest};
use crate::keys::{Found, KEYRING};
use crate::{EndpointKind, KeySource};

/// How much of a provider's own words is told.
const MAX_SAID_CHARS: usize = 300;

/// Nobody waits longer than this for a retry, whatever a provider says.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60 * 60);

/// What providers say, in small letters, when a conversation is too long.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length exceeded",
    "context limit",
    "context window",
    "available context size",
    "when context the overflows",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input length exceeds",
    "input token count",
    "exceeds the maximum number of tokens",
    "too many tokens",
    "reduce the length",
    "larger than the maximum",
    "request_too_large",
];

/// What providers say, in small letters, when there is no money left: waiting does not help.
const NO_MONEY: &[&str] = &["insufficient_quota", "credit balance", "billing", "insufficient balance"];

/// Whom a failure is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blame<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) model: Option<&'a str>,
    pub(crate) key: Option<&'a Found>,
}

pub(super) fn transient(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Transient { retry_after: None }, message)
}

impl Blame<'_> {
    /// Trying again may help. Here and below, `what` is said of the provider, whose name goes before it: "cannot be
    /// reached".
    pub(crate) fn transient(&self, what: &str) -> ModelError {
        transient(self.message(what))
    }

    /// Trying again does not help.
    pub(crate) fn permanent(&self, what: &str) -> ModelError {
        ModelError::new(ModelErrorKind::Permanent, self.message(what))
    }

    /// What went wrong with a page.
    pub(crate) fn of_web(&self, error: &WebError) -> ModelError {
        match error {
            WebError::Http(error) => self.of_http(error),
            WebError::Silent => self.transient(&error.to_string()).with(ModelTrouble::TimedOut),
            WebError::TooLong => self.transient(&error.to_string()),
            WebError::SetUp(_) => self.permanent(&error.to_string()),
        }
    }

    /// What the library says.
    pub(super) fn of_library(&self, error: &genai::Error) -> ModelError {
        use genai::Error as E;
        match error {
            E::HttpError { status, body, headers, .. } => self.of_status(*status, headers, body),
            E::WebStream { error, .. } => {
                if let Some(inner) = error.downcast_ref::<genai::Error>() {
                    return self.of_library(inner);
                }
                match error.downcast_ref::<reqwest::Error>() {
                    Some(error) => self.of_http(error),
                    None => self.transient("sent something that is not text"),
                }
            }
            E::WebModelCall { webc_error, .. } => self.of_whole(webc_error),
            E::ChatResponse { body, .. } => self.of_value(body),
            E::StreamParse { .. }
            | E::JsonValueExt(_)
            | E::SerdeJson(_)
            | E::ChatResponseGeneration { .. }
            | E::InvalidJsonResponseElement { .. } => self.transient("sent something that is not a reply"),
            // What is left are requests that the library does not make. Its words may quote the whole request.
            other => {
                let words: String = other.to_string().lines().next().unwrap_or_default().into();
                self.permanent(&format!("cannot be asked: {}", self.plain(&words)))
            }
        }
    }

    /// What the library says of a reply that was asked for whole.
    fn of_whole(&self, error: &genai::webc::Error) -> ModelError {
        use genai::webc::Error as E;
        match error {
            E::ResponseFailedStatus { status, body, headers } => self.of_status(*status, headers, body),
            E::Reqwest(error) => self.of_http(error),
            E::ResponseFailedNotJson { .. } | E::ResponseFailedInvalidJson { .. } | E::JsonValueExt(_) => {
                self.transient("sent something that is not a reply")
            }
        }
    }

    /// A refusal.
    pub(crate) fn of_status(&self, status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
        let said = self.said(body);
        let lower = body.to_lowercase();
        let code = status.as_u16();
        let holds = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if matches!(code, 400 | 413 | 422 | 500) && holds(TOO_LONG) || code == 413 {
            let message = self.message(&format!("finds the conversation too long ({code}){said}"));
            return ModelError::new(ModelErrorKind::TooLong, message);
        }
        let refused = match code {
            402 => self.permanent(&format!("wants to be paid first ({code}){said}")),
            429 if holds(NO_MONEY) => {
                self.permanent(&format!("has no credit left for this key ({code}){said}"))
            }
            401 | 403 => self.permanent(&format!("refuses the key ({code}){said}; {}", self.key_hint())),
            404 => self.permanent(&format!("{} ({code}){said}{}", self.no_model(), self.model_hint())),
            408 | 409 | 425 | 429 | 500.. => {
                let retry_after = retry_after(headers).or_else(|| retry_delay(body));
                let what = if code == 429 { "is asked too often" } else { "is not well" };
                let message = self.message(&format!("{what} ({code}){said}"));
                ModelError::new(ModelErrorKind::Transient { retry_after }, message)
            }
            300..=399 => self.permanent(&format!("points elsewhere ({code}); is its address right?")),
            _ => self.permanent(&format!("refuses the request ({code}){said}")),
        };
        let trouble = match code {
            402 => ModelTrouble::Payment,
            429 if holds(NO_MONEY) => ModelTrouble::Payment,
            401 | 403 => ModelTrouble::Key,
            404 => ModelTrouble::NoModel,
            408 => ModelTrouble::TimedOut,
            429 => ModelTrouble::TooOften,
            409 | 425 | 500.. => ModelTrouble::Server,
            _ => ModelTrouble::Unknown,
        };
        refused.with(trouble)
    }

    /// An error in the middle of a reply, as text.
    pub(super) fn of_words(&self, text: &str) -> ModelError {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        self.of_value(&value)
    }

    /// An error in the middle of a reply.
    fn of_value(&self, value: &Value) -> ModelError {
        let text = value.to_string();
        let inner = value.get("error").unwrap_or(value);
        let number = |field: &str| inner.get(field).and_then(Value::as_u64);
        let numbered = number("code").or_else(|| number("status")).and_then(|code| u16::try_from(code).ok());
        let named = inner.get("type").and_then(Value::as_str).unwrap_or_default();
        let status = numbered.filter(|code| (400..600).contains(code)).unwrap_or(match named {
            "authentication_error" => 401,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "invalid_request_error" => 400,
            "rate_limit_error" | "rate_limit_exceeded" | "tokens" => 429,
            "overloaded_error" => 529,
            _ => 500,
        });
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.of_status(status, &HeaderMap::new(), &text)
    }

    fn of_http(&self, error: &reqwest::Error) -> ModelError {
        let address = self.provider.address.shown();
        let mut cause = error.source();
        // The innermost cause says most, and does not repeat the address.
        while let Some(deeper) = cause.and_then(std::error::Error::source) {
            cause = Some(deeper);
        }
        let cause = cause.map(|cause| format!(": {}", self.plain(&cause.to_string()))).unwrap_or_default();
        if error.is_builder() || error.is_redirect() {
            return self.permanent(&format!("cannot be asked at {address}{cause}"));
        }
        if error.is_connect() || error.is_timeout() {
            let hint = if self.provider.address.is_local() { "; is it running?" } else { "" };
            let trouble = if error.is_timeout() { ModelTrouble::TimedOut } else { ModelTrouble::Network };
            return self.transient(&format!("cannot be reached at {address}{cause}{hint}")).with(trouble);
        }
        self.transient(&format!("broke the connection off{cause}")).with(ModelTrouble::Network)
    }

    fn key_hint(&self) -> String {
        if self.key.is_some_and(|found| found.place == KEYRING) {
            return "is the key in the keyring right?".to_owned();
        }
        match (&self.provider.key, self.provider.variables.first()) {
            (KeySource::Variable(name), _) => format!("is {name} right?"),
            (KeySource::File(path), _) => format!("is the key in `{}` right?", path.display()),
            (KeySource::Usual, Some(name)) if self.key.is_some() => format!("is {name} right?"),
            (KeySource::Usual, Some(name)) => format!("set {name}"),
            _ if self.key.is_some() => "is the key right?".to_owned(),
            _ => "say in the settings where its key is".to_owned(),
        }
    }

    fn no_model(&self) -> String {
        match self.model {
            Some(model) => format!("has no model `{model}`"),
            None => "has nothing there".to_owned(),
        }
    }

    fn model_hint(&self) -> String {
        let Some(model) = self.model else { return "; is its address right?".to_owned() };
        if self.provider.kind == EndpointKind::Ollama {
            return format!("; get it with `ollama pull {model}`");
        }
        match nearest(model, names_of(&self.provider.name)) {
            Some(name) => format!("; did you mean `{}:{name}`?", self.provider.name),
            None => String::new(),
        }
    }

    /// The provider's own words, ready to follow ours.
    fn said(&self, body: &str) -> String {
        let value: Option<Value> = serde_json::from_str(body).ok();
        let words = value.as_ref().and_then(words);
        // A page for browsers says nothing.
        let words =
            words.or_else(|| (value.is_none() && !body.trim_start().starts_with('<')).then_some(body));
        match words.map(|words| self.plain(words)) {
            Some(words) if !words.is_empty() => format!(": {words}"),
            _ => String::new(),
        }
    }

    /// Somebody else's words on one line, without the key.
    fn plain(&self, words: &str) -> String {
        // The key goes first: cutting could leave a part of it.
        let words = self.scrub(words);
        let mut plain: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
        plain.retain(|letter| !letter.is_control());
        if let Some((end, _)) = plain.char_indices().nth(MAX_SAID_CHARS) {
            plain.truncate(end);
            plain.push('…');
        }
        plain
    }

    fn scrub(&self, text: &str) -> String {
        let headers = self.provider.headers.iter().map(|(_, value)| value);
        let secrets = self.key.map(|found| &found.key).into_iter().chain(headers);
        secrets.fold(text.to_owned(), |text, secret| secret.scrub(&text).into_owned())
    }

    fn message(&self, what: &str) -> String {
        self.scrub(&format!("`{}` {what}", self.provider.name))
    }
}

/// The words in an error, in the shapes providers use.
fn words(value: &Value) -> Option<&str> {
    // Gemini wraps what it sends to some clients in a list.
    let value = value.get(0).unwrap_or(value);
    let inner = value.get("error").unwrap_or(value);
    let fields = ["message", "detail", "error"];
    inner.as_str().or_else(|| fields.iter().find_map(|field| inner.get(field).and_then(Value::as_str)))
}

/// How long to wait, as the headers say it: milliseconds, seconds or a moment.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let read = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    let milliseconds = read("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let wait = milliseconds.and_then(|number| seconds(number / 1000.0)).or_else(|| {
        let text = read("retry-after")?;
        match text.parse::<f64>() {
            Ok(number) => seconds(number),
            Err(_) => httpdate::parse_http_date(text)
                .ok()
                .map(|moment| moment.duration_since(SystemTime::now()).unwrap_or_default()),
        }
    });
    wait.map(|wait| wait.min(MAX_RETRY_AFTER))
}

/// How long to wait, as Gemini says it.
fn retry_delay(body: &str) -> Option<Duration> {
    let value: Value = serde_json::from_str(body).ok()?;
    let details = value.get("error")?.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests;
