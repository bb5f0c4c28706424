//! What was found, what works, and what to do about the rest: plain data for whoever shows it.

use std::time::Duration;

use futures_util::future::join_all;
use loggia_domain::{Finding, FindingLevel, ModelError, ModelName, Usage};

use crate::shelf::{Entry, Shelf};
use crate::{EndpointKind, KeyringError, auto, listing};

/// How much a test's reply may be: some models refuse less.
pub(crate) const TEST_TOKENS: u64 = 16;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The default model and those to fall back to; empty if there is none.
    pub defaults: Vec<ModelName>,
    /// Whether somebody configured them; otherwise they were found.
    pub configured: bool,
    /// Every endpoint that was named, has a key or answers.
    pub providers: Vec<ProviderState>,
    /// The keyring.
    pub keyring: KeyringState,
    /// What to do, the most useful first; empty if all is well.
    pub hints: Vec<String>,
}

/// What is known about an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderState {
    /// Its name.
    pub name: String,
    /// Which protocol it speaks; none if it is set up wrongly.
    pub kind: Option<EndpointKind>,
    /// Where it is.
    pub address: String,
    /// Whether it is on this machine.
    pub local: bool,
    /// Its key.
    pub key: KeyState,
    /// Whether it answers.
    pub reach: Reach,
}

/// What is known about a key. Never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// None is needed.
    NotNeeded,
    /// It was found.
    Found {
        /// Where.
        place: String,
    },
    /// It was not found, or may not be used.
    Missing {
        /// Why, and what to do.
        hint: String,
    },
}

/// What is known about the keyring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyringState {
    /// There is none to ask.
    None,
    /// It was not needed, or answered.
    Answers,
    /// It could not be asked, or not for a key. Keys are then in variables and files.
    Fails(KeyringError),
}

/// Whether an endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// It listed its models.
    Answers {
        /// How many.
        models: usize,
    },
    /// It did not.
    Fails(ModelError),
    /// It was not asked: it would refuse.
    NotAsked,
}

/// How a test call went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Which model replied.
    pub model: ModelName,
    /// How long its first piece took.
    pub first_piece: Duration,
    /// What it used, if the provider said so.
    pub usage: Option<Usage>,
}

impl Diagnosis {
    /// The same as findings: one for the default model, one for every endpoint, and one for the keyring if there is one
    /// to ask.
    pub fn findings(self) -> Vec<Finding> {
        let finding = |about: String, level, message: String, hint: Option<String>| Finding {
            about,
            level,
            message,
            hint,
        };
        let mut hints = self.hints.into_iter();
        let names: Vec<&str> = self.defaults.iter().map(|name| name.0.as_str()).collect();
        let default = match names.as_slice() {
            [] => {
                finding("model".to_owned(), FindingLevel::Absent, "no model is set".to_owned(), hints.next())
            }
            names => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let origin = if self.configured { "as configured" } else { "which was found" };
                let told = format!("{}, {origin}", names.join(", then "));
                finding("model".to_owned(), FindingLevel::Ok, told, None)
            }
        };
        let providers = self.providers.into_iter().map(|provider| {
            let about = format!("provider {}", provider.name);
            match (provider.key, provider.reach) {
                (KeyState::Missing { hint }, _) => {
                    finding(about, FindingLevel::Warning, "it has no key".to_owned(), Some(hint))
                }
                (_, Reach::Fails(error)) => finding(about, FindingLevel::Warning, error.message, None),
                (_, Reach::Answers { models: 0 }) => {
                    finding(about, FindingLevel::Warning, "it answers, but has no model yet".to_owned(), None)
                }
                (_, Reach::Answers { models }) => {
                    let models = if models == 1 { "1 model".to_owned() } else { format!("{models} models") };
                    finding(about, FindingLevel::Ok, format!("{} has {models}", provider.address), None)
                }
                (_, Reach::NotAsked) => {
                    finding(about, FindingLevel::Absent, format!("{} was not asked", provider.address), None)
                }
            }
        });
        let about = "keyring".to_owned();
        let keyring = match self.keyring {
            KeyringState::None => None,
            KeyringState::Answers => Some(finding(about, FindingLevel::Ok, "it answers".to_owned(), None)),
            // Most machines without a desktop have none, which is no fault.
            KeyringState::Fails(error @ KeyringError::Absent { .. }) => {
                Some(finding(about, FindingLevel::Absent, error.to_string(), None))
            }
            KeyringState::Fails(error) => {
                let hint = "keys in variables and files are found without it".to_owned();
                Some(finding(about, FindingLevel::Warning, error.to_string(), Some(hint)))
            }
        };
        std::iter::once(default).chain(providers).chain(keyring).collect()
    }
}

pub(crate) async fn examine(shelf: &Shelf, defaults: Vec<ModelName>) -> Diagnosis {
    let states = join_all(shelf.entries.iter().map(|entry| state(shelf, entry))).await;
    let shown = |(entry, state): &(&Entry, ProviderState)| {
        entry.wanted
            || matches!(state.reach, Reach::Answers { .. })
            || matches!(state.key, KeyState::Found { .. })
    };
    let providers: Vec<ProviderState> =
        shelf.entries.iter().zip(states).filter(shown).map(|(_, state)| state).collect();
    let keyring = match shelf.keys.keyring() {
        None => KeyringState::None,
        Some(Ok(())) => KeyringState::Answers,
        Some(Err(error)) => KeyringState::Fails(error),
    };
    let mut hints = Vec::new();
    for name in &shelf.settings.default {
        if let Err(error) = shelf.usable(name) {
            hints.push(error.message);
        }
    }
    if defaults.is_empty() {
        hints.push(auto::nothing().message);
    }
    for provider in &providers {
        match (&provider.key, &provider.reach) {
            (KeyState::Missing { hint }, _) => hints.push(format!("`{}`: {hint}", provider.name)),
            (_, Reach::Fails(error)) => hints.push(error.message.clone()),
            (_, Reach::Answers { models: 0 }) => {
                hints.push(format!("`{}` answers, but has no model yet", provider.name));
            }
            _ => {}
        }
    }
    hints.dedup();
    let configured = !shelf.settings.default.is_empty();
    Diagnosis { defaults, configured, providers, keyring, hints }
}

async fn state(shelf: &Shelf, entry: &Entry) -> ProviderState {
    let provider = match &entry.provider {
        Ok(provider) => provider,
        Err(why) => {
            let error = crate::shelf::not_configured(why.clone());
            return ProviderState {
                name: entry.name.clone(),
                kind: None,
                address: String::new(),
                local: false,
                key: KeyState::NotNeeded,
                reach: Reach::Fails(error),
            };
        }
    };
    let key = match shelf.keys.find(provider).await {
        Ok(None) => KeyState::NotNeeded,
        Ok(Some(found)) => KeyState::Found { place: found.place },
        Err(error) => KeyState::Missing { hint: error.to_string() },
    };
    let local = provider.address.is_local();
    let limit = if local { shelf.settings.time_outs.probe } else { shelf.settings.time_outs.list };
    let reach = if matches!(key, KeyState::Missing { .. }) {
        Reach::NotAsked
    } else {
        match listing::names(shelf, provider, limit).await {
            Ok(names) => Reach::Answers { models: names.len() },
            Err(error) => Reach::Fails(error),
        }
    };
    let (name, address) = (provider.name.clone(), provider.address.shown());
    ProviderState { name, kind: Some(provider.kind), address, local, key, reach }
}
