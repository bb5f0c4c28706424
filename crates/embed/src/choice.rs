//! Which embedder somebody chose, as one word of a configuration.
//!
//! Knows the words and who is meant by them; where keys and addresses come from is known to whoever asks.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use loggia_domain::Embedder;

use crate::{EmbedError, Endpoint, EndpointSettings, Protocol, Secret};

/// Who makes the vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// A model behind an endpoint.
    Endpoint {
        /// How it is spoken to.
        protocol: Protocol,
        /// The model, as the endpoint calls it.
        model: String,
    },
}

/// A text that names no embedder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no embedder; allowed are `ollama:MODEL` and `openai:MODEL`")]
pub struct NotAChoice(String);

impl FromStr for Choice {
    type Err = NotAChoice;

    fn from_str(text: &str) -> Result<Self, NotAChoice> {
        let wrong = || NotAChoice(text.chars().take(100).collect());
        let (kind, model) = text.trim().split_once(':').ok_or_else(wrong)?;
        let protocol = match kind {
            "ollama" => Protocol::Ollama,
            "openai" => Protocol::OpenAi,
            _ => return Err(wrong()),
        };
        if model.trim().is_empty() {
            return Err(wrong());
        }
        Ok(Self::Endpoint { protocol, model: model.trim().to_owned() })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint { protocol: Protocol::Ollama, model } => write!(f, "ollama:{model}"),
            Self::Endpoint { protocol: Protocol::OpenAi, model } => write!(f, "openai:{model}"),
        }
    }
}

/// What a choice may need beside itself.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Where the endpoint is; the protocol's usual place if nothing is said.
    pub url: Option<String>,
    /// The endpoint's key.
    pub key: Option<Secret>,
}

/// Opens the embedder that was chosen. An endpoint is asked for one vector, which says how long its vectors are.
pub async fn open(choice: Choice, extras: Extras) -> Result<Arc<dyn Embedder>, EmbedError> {
    match choice {
        Choice::Endpoint { protocol, model } => {
            let mut settings = EndpointSettings::new(protocol, model);
            settings.url = extras.url.unwrap_or(settings.url);
            settings.key = extras.key;
            Ok(Arc::new(Endpoint::connect(settings).await?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_kind_and_a_model() {
        for text in ["ollama:nomic-embed-text", "openai:text-embedding-3-small", "ollama:all-minilm:33m"] {
            assert_eq!(text.parse::<Choice>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_choice_is_told_what_is_allowed() {
        for text in ["", "ollama", "ollama:", "openai: ", "other:model"] {
            let told = text.parse::<Choice>().unwrap_err().to_string();
            assert!(told.ends_with("allowed are `ollama:MODEL` and `openai:MODEL`"), "{told}");
        }
    }
}
