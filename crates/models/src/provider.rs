//! One endpoint and the models behind it.
//!
//! Knows how a request gets to a provider and how its reply comes back. Refuses to know which model is wanted, and
//! what to do when one is down. What always holds: the key goes to the endpoint's own address and nowhere else.

mod calls;
mod depth;
mod failure;
mod hosted;
mod known;
mod lines;
mod ollama;
mod quiet;
mod reply;
mod request;
mod thoughts;
mod usual;
mod watch;
mod web;
mod whole;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use genai::adapter::AdapterKind;
use genai::resolver::AuthData;
use genai::{Headers, ModelIden, ServiceTarget};
use loggia_domain::{
    BoxFuture, Model, ModelError, ModelErrorKind, ModelInfo, ModelName, ModelRequest, ModelTrouble,
    ReplyStream,
};

use crate::address::Address;
use crate::keys::{Found, KeyError, Keys};
use crate::{Effort, EndpointKind, KeySource, Override, Secret, TimeOuts};

pub use hosted::Hosted;

pub(crate) use failure::Blame;
pub(crate) use known::{names_of, nearest};
pub(crate) use thoughts::Thoughts;
pub(crate) use usual::{USUAL, Usual};
pub(crate) use web::Web;

/// Which version of Anthropic's protocol we speak.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// What a model on a server is taken to look at when nothing is known: enough to work, and a provider that has less
/// says so.
const HOSTED_CONTEXT: u64 = 128_000;

/// The same for a server on one's own machine.
const LOCAL_CONTEXT: u64 = 32_768;

/// What Ollama is told to look at: its own default is too little to work with on most machines, and what a model could
/// look at at most takes more memory than most machines have.
const OLLAMA_CONTEXT: u64 = 16_384;

/// An endpoint, ready to be asked.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) name: String,
    /// Whether somebody named it; the others need not be.
    pub(crate) named: bool,
    pub(crate) kind: EndpointKind,
    pub(crate) address: Address,
    pub(crate) key: KeySource,
    /// The variables its own tools read its key from.
    pub(crate) variables: &'static [&'static str],
    pub(crate) headers: Vec<(String, Secret)>,
    /// How much Ollama was told to look at.
    pub(crate) ollama_context: Option<u64>,
    /// What its models thought, where it wants that back.
    pub(crate) thoughts: Thoughts,
    /// Whether it was found not to stream: then it is asked for whole replies.
    pub(crate) replies_whole: AtomicBool,
}

impl Provider {
    /// Whether a keyring is worth asking: where nobody said where the key is, and there may be one.
    pub(crate) fn may_be_in_keyring(&self) -> bool {
        self.key == KeySource::Usual && (self.named || !self.variables.is_empty())
    }

    /// Whether it is somebody's own server, at another address than the provider's.
    pub(crate) fn is_own(&self) -> bool {
        let usual = USUAL.iter().find(|usual| usual.name == self.name);
        self.address.is_local() || usual.is_some_and(|usual| !usual.is_at(&self.address))
    }

    /// What is known about one of its models.
    pub(crate) fn info(&self, model: &str, better: Option<&Override>) -> ModelInfo {
        let local = self.address.is_local();
        let mut info = ModelInfo::new(ModelName(format!("{}:{model}", self.name)), HOSTED_CONTEXT, local);
        if let Some(known) = known::find(model) {
            info.context_tokens = known.context_tokens;
            info.abilities = known.abilities;
            info.price = known.price;
        } else if local {
            info.context_tokens = LOCAL_CONTEXT;
        }
        if self.kind == EndpointKind::Ollama {
            let most = known::find(model).map_or(u64::MAX, |known| known.context_tokens);
            info.context_tokens = self.ollama_context.unwrap_or_else(|| OLLAMA_CONTEXT.min(most));
        }
        if local {
            info.price = Some(loggia_domain::Price::FREE);
        }
        if let Some(better) = better {
            info.context_tokens = better.context_tokens.unwrap_or(info.context_tokens);
            info.abilities = better.abilities.unwrap_or(info.abilities);
            info.price = better.price.or(info.price);
        }
        if info.abilities.reasoning {
            info.thinking = depth::control(self.kind);
        }
        info
    }

    /// The headers of every request.
    pub(crate) fn headers(&self, key: Option<&Found>) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        if let Some(key) = key.map(|found| found.key.expose()) {
            headers.push(match self.kind {
                EndpointKind::OpenAi | EndpointKind::Ollama => {
                    ("authorization".to_owned(), format!("Bearer {key}"))
                }
                EndpointKind::Anthropic => ("x-api-key".to_owned(), key.to_owned()),
                EndpointKind::Gemini => ("x-goog-api-key".to_owned(), key.to_owned()),
            });
        }
        if self.kind == EndpointKind::Anthropic {
            headers.push(("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned()));
        }
        headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
        headers
    }

    /// Where a reply is asked for. Everything about the request's head is said here, so that the key goes nowhere else.
    fn target(&self, model: &str, key: Option<&Found>) -> ServiceTarget {
        let (adapter, service) = match self.kind {
            // It does not count thoughts among the tokens out; the library does it then.
            EndpointKind::OpenAi if self.name == "xai" => (AdapterKind::Xai, "chat/completions".to_owned()),
            EndpointKind::OpenAi => (AdapterKind::OpenAI, "chat/completions".to_owned()),
            EndpointKind::Anthropic => (AdapterKind::Anthropic, "messages".to_owned()),
            EndpointKind::Gemini => (AdapterKind::Gemini, format!("models/{model}:streamGenerateContent")),
            // Asked without the library.
            EndpointKind::Ollama => (AdapterKind::Ollama, "api/chat".to_owned()),
        };
        let mut url = self.address.join(&service);
        if self.kind == EndpointKind::Gemini {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        let headers = Headers::from(self.headers(key));
        let endpoint = genai::resolver::Endpoint::from_owned(format!("{}/", self.address.shown()));
        let auth = AuthData::RequestOverride { url: url.into(), headers };
        ServiceTarget { endpoint, auth, model: ModelIden::new(adapter, model.to_owned()) }
    }
}

/// A model of an endpoint.
#[derive(Debug)]
pub(crate) struct ProviderModel {
    pub(crate) provider: Arc<Provider>,
    pub(crate) model: String,
    pub(crate) info: ModelInfo,
    pub(crate) effort: Option<Effort>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) web: Arc<Web>,
    pub(crate) time_outs: TimeOuts,
}

impl ProviderModel {
    /// Its key, if it needs one.
    pub(crate) async fn key(&self) -> Result<Option<Found>, ModelError> {
        let found = self.keys.find(&self.provider).await;
        // It was looked up without it: it is the default, or a keyring could still have had it. Whoever named this model is
        // told, and not answered by another.
        let message = |error: KeyError| format!("`{}`: {error}", self.provider.name);
        let missing =
            |error| ModelError::new(ModelErrorKind::Permanent, message(error)).with(ModelTrouble::Key);
        found.map_err(missing)
    }
}

impl Model for ProviderModel {
    fn info(&self) -> ModelInfo {
        self.info.clone()
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(async move { reply::begin(self, self.key().await?, request).await })
    }
}
