//! What can be set about models: plain data.
//!
//! Refuses to know where it comes from: whoever reads files, flags and the environment fills it in.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{ModelAbilities, ModelName, Price};

use crate::Secret;

/// Long enough for a slow network, short enough to try another model.
const CONNECT: Duration = Duration::from_secs(10);

/// A local server may have to load the model first, and a model that thinks may say nothing for minutes.
const FIRST_TOKEN: Duration = Duration::from_secs(300);

/// A reply that has begun does not pause for longer, unless it is dead.
const BETWEEN_TOKENS: Duration = Duration::from_secs(120);

/// Asking for names, not for a reply.
const LIST: Duration = Duration::from_secs(10);

/// A server on this machine answers at once or is not there.
const PROBE: Duration = Duration::from_millis(800);

/// What can be set about models.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Endpoints besides the usual ones. One with a usual name replaces it.
    pub endpoints: Vec<Endpoint>,
    /// The default model, then those to fall back to. Without any, one is looked for.
    pub default: Vec<ModelName>,
    /// What is known better than the catalogue knows it, by the model's whole name.
    pub overrides: HashMap<ModelName, Override>,
    /// How long to wait for what.
    pub time_outs: TimeOuts,
}

/// Where models are.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its name: what stands before the colon of its models' names.
    pub name: String,
    /// Which protocol it speaks.
    pub kind: EndpointKind,
    /// Its address; the kind's own without.
    pub base_url: Option<String>,
    /// Where its key is.
    pub key: KeySource,
    /// Headers to send with every request.
    pub headers: Vec<(String, Secret)>,
}

/// Which protocol an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointKind {
    /// OpenAI's chat completions, which most servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

impl EndpointKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Its name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Where a key is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeySource {
    /// In the variable that the provider's own tools read, if it has one; else in the keyring, under the endpoint's
    /// name.
    #[default]
    Usual,
    /// Nowhere: none is needed.
    None,
    /// In this variable.
    Variable(String),
    /// In this file, which nobody else may read.
    File(PathBuf),
    /// Here.
    Given(Secret),
}

/// What is known better about one model than the catalogue knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Override {
    /// How many tokens it can look at.
    pub context_tokens: Option<u64>,
    /// What it can do.
    pub abilities: Option<ModelAbilities>,
    /// What it costs.
    pub price: Option<Price>,
    /// How hard it thinks before it replies; without, as its provider sees fit.
    pub effort: Option<Effort>,
}

/// How hard a model thinks before it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A little.
    Low,
    /// As much as most questions need.
    Medium,
    /// As much as it can.
    High,
}

impl Effort {
    /// The effort with this name in settings.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            _ => None,
        }
    }
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOuts {
    /// For a connection.
    pub connect: Duration,
    /// For the first piece of a reply.
    pub first_token: Duration,
    /// For the next piece of a reply.
    pub between_tokens: Duration,
    /// For the names of an endpoint's models.
    pub list: Duration,
    /// For a sign of a server on this machine.
    pub probe: Duration,
}

impl Default for TimeOuts {
    fn default() -> Self {
        Self {
            connect: CONNECT,
            first_token: FIRST_TOKEN,
            between_tokens: BETWEEN_TOKENS,
            list: LIST,
            probe: PROBE,
        }
    }
}

/// The environment's variables, as whoever starts us sees them.
#[derive(Clone)]
pub struct Environment(Arc<Read>);

type Read = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// Variables that a function tells.
    pub fn from_fn(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// No variables.
    pub fn empty() -> Self {
        Self::from_fn(|_| None)
    }

    /// A variable that is set and not blank.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        let pairs: BTreeMap<String, String> =
            pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self::from_fn(move |name| pairs.get(name).cloned())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment(…)")
    }
}
