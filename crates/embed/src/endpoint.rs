//! An embedding endpoint over HTTP.
//!
//! Knows two protocols: OpenAI's, which most providers and local servers speak, and Ollama's own. What always holds:
//! nothing is followed elsewhere, since a redirect would carry the key along; an answer has a limit in size and in time;
//! what is handed on has as many vectors as there were texts, each as long as the first ever made and all of them finite;
//! texts are said to be refused only by an endpoint that still takes another one.

use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use loggia_domain::{BoxFuture, Embedder, EmbedderError};
use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url, redirect};
use serde::Deserialize;

use crate::{EmbedError, MAX_BATCH, Secret};

/// Eight vectors of some thousand numbers are less than one megabyte of text.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// Longer than any model's; an answer with more numbers is not a vector.
const MAX_DIMENSIONS: usize = 16 * 1024;

/// A text is cut off here. Eight thousand tokens are what models of providers take, and what asks for more is refused with
/// all that came along; a token has a byte at least. A piece of some forty lines is rarely as long as a third of this.
const MAX_TEXT_BYTES: usize = 8000;

/// What is left of a text that was refused alone, for one more try. Models on one's own machine often take 512 tokens, and
/// not every server cuts off by itself what is more; code has two bytes in a token or more, and says what it is at its
/// beginning.
const SHORT_TEXT_BYTES: usize = 1000;

/// A local server may have to load the model first.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Who does not take a connection by then is not there.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How often a busy endpoint is asked again.
const RETRIES: u32 = 3;

/// The first pause when an endpoint does not say how long to wait; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Who wants a longer pause than this has refused: the index asks again later by itself.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How much of a refusal people are shown.
const MAX_WORDS: usize = 300;

/// What is embedded at opening, to learn how long the vectors are, and again when other texts fail, to learn whether it is
/// the texts.
const PROBE: &str = "loggia";

/// How an endpoint is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `POST {base}/embeddings`.
    OpenAi,
    /// `POST {base}/api/embed`.
    Ollama,
}

/// Where an endpoint is and how it is spoken to.
#[derive(Debug, Clone)]
pub struct EndpointSettings {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// What the paths of its services are added to.
    pub url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<Secret>,
    /// How long one answer may take.
    pub limit: Duration,
}

impl EndpointSettings {
    /// The protocol's usual place, without a key.
    pub fn new(protocol: Protocol, model: impl Into<String>) -> Self {
        let url = match protocol {
            Protocol::OpenAi => "https://api.openai.com/v1",
            Protocol::Ollama => "http://127.0.0.1:11434",
        };
        Self { protocol, url: url.to_owned(), model: model.into(), key: None, limit: ANSWER_LIMIT }
    }
}

/// A model behind an endpoint.
#[derive(Debug)]
pub struct Endpoint {
    settings: EndpointSettings,
    service: Url,
    /// The address as people read it: a query may hold what nobody should see.
    shown: String,
    client: reqwest::Client,
    dimensions: usize,
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

/// An answer that is no success.
enum Failed {
    /// Worth another try after this time, or after one of our own choice.
    Busy(Option<Duration>, EmbedError),
    Final(EmbedError),
}

impl Endpoint {
    /// Asks the endpoint for one vector, which says how long its vectors are.
    pub async fn connect(settings: EndpointSettings) -> Result<Self, EmbedError> {
        let service = service(&settings)?;
        let mut plain = service.clone();
        plain.set_query(None);
        let client = client(&service)?;
        let mut endpoint = Self { settings, service, shown: plain.into(), client, dimensions: 0 };
        let probe = endpoint.batch(&[PROBE]).await?;
        endpoint.dimensions = probe.first().map_or(0, Vec::len);
        Ok(endpoint)
    }

    /// The vectors of at most [`MAX_BATCH`] texts, as much of them as is looked at.
    async fn made(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let error = match self.batch(&cut(texts, MAX_TEXT_BYTES)).await {
            Ok(vectors) => return Ok(vectors),
            Err(error) if may_be_the_texts(&error) => error,
            Err(error) => return Err(error.into()),
        };
        if let [text] = texts
            && text.len() > SHORT_TEXT_BYTES
            && let Ok(vectors) = self.batch(&cut(texts, SHORT_TEXT_BYTES)).await
        {
            return Ok(vectors);
        }
        match self.batch(&[PROBE]).await {
            Ok(_) => Err(EmbedderError::Refused(error.to_string())),
            Err(_) => Err(error.into()),
        }
    }

    /// The vectors of these texts. A busy endpoint is asked again.
    async fn batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let body = serde_json::json!({ "model": self.settings.model, "input": texts }).to_string();
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            let asked = tokio::time::timeout(self.settings.limit, self.ask(body.clone())).await;
            match asked.unwrap_or_else(|_| Err(Failed::Final(EmbedError::Silent(self.shown.clone())))) {
                Ok(answer) => return self.read(&answer, texts.len()),
                Err(Failed::Final(error)) => return Err(error),
                Err(Failed::Busy(wanted, error)) => {
                    let wait = wanted.unwrap_or(pause);
                    if tries == RETRIES || wait > LONGEST_PAUSE {
                        return Err(error);
                    }
                    tokio::time::sleep(wait).await;
                    (tries, pause) = (tries + 1, pause * 2);
                }
            }
        }
    }

    async fn ask(&self, body: String) -> Result<Vec<u8>, Failed> {
        let mut request =
            self.client.post(self.service.clone()).header("content-type", "application/json").body(body);
        if let Some(key) = &self.settings.key {
            request = request.bearer_auth(key.expose());
        }
        let lost = |error: reqwest::Error| {
            let words = self.words(&innermost(&error.without_url()));
            Failed::Final(EmbedError::Unreachable(self.shown.clone(), words))
        };
        let response = request.send().await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut answer = Vec::new();
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(lost)?;
            if answer.len() + piece.len() > MAX_ANSWER_BYTES {
                let what = format!("more than {MAX_ANSWER_BYTES} bytes");
                return Err(Failed::Final(self.bad(&what)));
            }
            answer.extend_from_slice(&piece);
        }
        if status.is_success() {
            return Ok(answer);
        }
        let words = self.words(&String::from_utf8_lossy(&answer));
        let error = EmbedError::Refused { address: self.shown.clone(), status: status.as_u16(), words };
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Failed::Busy(retry_after(&headers), error)
            }
            _ => Failed::Final(error),
        })
    }

    /// The vectors of an answer, in the order of the texts.
    fn read(&self, answer: &[u8], count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let broken = |error: serde_json::Error| self.bad(&error.to_string());
        let vectors = match self.settings.protocol {
            Protocol::Ollama => serde_json::from_slice::<OllamaAnswer>(answer).map_err(broken)?.embeddings,
            Protocol::OpenAi => {
                let mut data = serde_json::from_slice::<OpenAiAnswer>(answer).map_err(broken)?.data;
                data.sort_by_key(|vector| vector.index);
                if data.iter().enumerate().any(|(place, vector)| vector.index != place) {
                    return Err(self.bad("their numbers are not those of the texts"));
                }
                data.into_iter().map(|vector| vector.embedding).collect()
            }
        };
        if vectors.len() != count {
            return Err(self.bad(&format!("{} for {count} texts", vectors.len())));
        }
        for vector in &vectors {
            let expected = if self.dimensions == 0 { vectors[0].len() } else { self.dimensions };
            if vector.len() != expected || vector.is_empty() || vector.len() > MAX_DIMENSIONS {
                return Err(self.bad(&format!("one has {} numbers, not {expected}", vector.len())));
            }
            if vector.iter().any(|number| !number.is_finite()) {
                return Err(self.bad("one holds what is no number"));
            }
        }
        Ok(vectors)
    }

    fn bad(&self, what: &str) -> EmbedError {
        EmbedError::BadAnswer(self.shown.clone(), self.words(what))
    }

    /// What people are shown of a text: the beginning, without the key.
    fn words(&self, text: &str) -> String {
        let text = self.settings.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        text.trim().chars().take(MAX_WORDS).collect()
    }
}

impl Embedder for Endpoint {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn identity(&self) -> String {
        let protocol = match self.settings.protocol {
            Protocol::OpenAi => "openai",
            Protocol::Ollama => "ollama",
        };
        format!("{protocol}:{}:{}", self.settings.model, self.dimensions)
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedderError>> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(MAX_BATCH) {
                vectors.extend(self.made(batch).await?);
            }
            Ok(vectors)
        })
    }
}

/// The beginnings of texts.
fn cut(texts: &[String], bytes: usize) -> Vec<&str> {
    texts.iter().map(|text| &text[..text.floor_char_boundary(bytes)]).collect()
}

/// Whether an endpoint may have failed because of what it was sent. Servers that people run themselves say 500 where a
/// text is too long or leads to numbers that are none; a filter in front of one says 403.
fn may_be_the_texts(error: &EmbedError) -> bool {
    match error {
        EmbedError::BadAnswer(..) => true,
        // A key or a name that is wrong, a moment that is, or somebody in between.
        EmbedError::Refused { status, .. } => {
            (400..=500).contains(status) && !matches!(status, 401 | 404 | 408 | 429)
        }
        _ => false,
    }
}

/// The address that is asked.
fn service(settings: &EndpointSettings) -> Result<Url, EmbedError> {
    // An address that names a user is not repeated: the password is in it.
    let wrong = || EmbedError::Address(settings.url.rsplit('@').next().unwrap_or_default().to_owned());
    let mut url = Url::parse(settings.url.trim()).map_err(|_| wrong())?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
    if !is_plain || !matches!(url.scheme(), "http" | "https") {
        return Err(wrong());
    }
    let path = match settings.protocol {
        Protocol::OpenAi => "embeddings",
        Protocol::Ollama => "api/embed",
    };
    url.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
    Ok(url)
}

fn client(service: &Url) -> Result<reqwest::Client, EmbedError> {
    // Somebody else may have chosen one already; then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("loggia/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_LIMIT)
        .tcp_nodelay(true);
    let host = service.host_str().unwrap_or_default();
    if service.scheme() == "http" && matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
        // A server on this machine needs neither a proxy nor certificates, which take a while to read.
        builder = builder.no_proxy().tls_certs_only([]);
    }
    builder.build().map_err(|error| EmbedError::SetUp(error.to_string()))
}

/// How long to wait, as the headers say it: seconds or a moment.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?.trim();
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let moment = httpdate::parse_http_date(text).ok()?;
            Some(moment.duration_since(SystemTime::now()).unwrap_or_default())
        }
    }
}

/// The first cause of an error, which is what people can do something about.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests;
