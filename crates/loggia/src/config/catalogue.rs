//! `[catalogue."provider:model"]`: what people know better about a model than we do.
//!
//! Knows what was written, and nothing of models. Invariant: something is here only if somebody who may set it did.

use super::layers::Origin;
use super::value::{Value, millionths};
use super::{Config, Setting, keys};

/// What their keys begin with.
const TABLE: &str = "catalogue.";

/// What is known better about a model; nothing where nobody said so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// The model's whole name.
    pub(crate) model: String,
    /// How many tokens it can look at.
    pub(crate) context_tokens: Option<u64>,
    /// The words for all that it can do.
    pub(crate) abilities: Option<Vec<String>>,
    /// The word for how hard it thinks.
    pub(crate) effort: Option<String>,
    /// What a million tokens in cost, in millionths of a dollar.
    pub(crate) input_price: Option<u64>,
    /// The same for tokens that the provider had kept.
    pub(crate) cached_input_price: Option<u64>,
    /// The same for tokens out.
    pub(crate) output_price: Option<u64>,
}

impl Config {
    /// What is known better about models, by their names.
    pub(crate) fn catalogue(&self) -> Vec<Known> {
        let mut catalogue: Vec<Known> = Vec::new();
        let set = self.settings.iter().filter(|setting| setting.origin != Origin::Default);
        for setting in set.filter(|setting| setting.key.path.starts_with(TABLE)) {
            let Some(model) = setting.key.name_in(&setting.path) else { continue };
            // A name with a dot is written in another way than one without, and both may lead here.
            let place = catalogue.iter().position(|known| known.model == model).unwrap_or_else(|| {
                catalogue.push(Known { model: model.to_owned(), ..Known::default() });
                catalogue.len() - 1
            });
            catalogue[place].take(setting);
        }
        catalogue
    }
}

impl Known {
    fn take(&mut self, setting: &Setting) {
        let value = &setting.value;
        let is = |key: &keys::Key| key.path == setting.key.path;
        let word = || Some(value.text().to_owned());
        if is(&keys::KNOWN_CONTEXT_TOKENS) {
            self.context_tokens = value.count();
        } else if is(&keys::KNOWN_ABILITIES) {
            let words = value.text().split(',').map(|word| word.trim().to_owned());
            self.abilities = Some(words.filter(|word| keys::ABILITIES.contains(&word.as_str())).collect());
        } else if is(&keys::KNOWN_EFFORT) {
            self.effort = word().filter(|effort| *effort != keys::KNOWN_EFFORT.default.text());
        } else if is(&keys::KNOWN_INPUT_PRICE) {
            self.input_price = value.price();
        } else if is(&keys::KNOWN_CACHED_INPUT_PRICE) {
            self.cached_input_price = value.price();
        } else if is(&keys::KNOWN_OUTPUT_PRICE) {
            self.output_price = value.price();
        }
    }
}

impl Value {
    /// Its number, if it is a whole one.
    fn count(&self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(*count),
            Self::Text(_) | Self::Decimal(_) | Self::Switch(_) | Self::Object(_) => None,
        }
    }

    /// Its number in millionths, if it is one.
    fn price(&self) -> Option<u64> {
        match self {
            Self::Decimal(price) => Some(*price),
            Self::Count(count) => millionths(&count.to_string()),
            Self::Text(_) | Self::Switch(_) | Self::Object(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::GlobalFlags;

    #[test]
    fn what_is_known_better_is_put_together_from_its_keys() {
        let set = |path: &str, value: &str| (format!("catalogue.{path}"), value.to_owned());
        let flags = GlobalFlags {
            set: vec![
                set("openai:gpt-5.context_tokens", "200000"),
                set("openai:gpt-5.effort", "high"),
                set("openai:gpt-5.input_price", "1.25"),
                set("openai:gpt-5.output_price", "10"),
                set("\"ollama:qwen2.5:7b\".abilities", "tools, images"),
                set("\"ollama:qwen2.5:7b\".effort", "usual"),
                set("lab:x.abilities", "none"),
                set("lab:x.context_tokens", "none"),
            ],
            ..GlobalFlags::default()
        };
        let known = |model: &str| Known { model: model.to_owned(), ..Known::default() };
        let mut catalogue = Config::of_flags(&flags).catalogue();
        catalogue.sort_by(|left, right| left.model.cmp(&right.model));
        let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(
            catalogue,
            [
                Known { abilities: words(&[]), ..known("lab:x") },
                Known { abilities: words(&["tools", "images"]), ..known("ollama:qwen2.5:7b") },
                Known {
                    context_tokens: Some(200_000),
                    effort: Some("high".to_owned()),
                    input_price: Some(1_250_000),
                    output_price: Some(10_000_000),
                    ..known("openai:gpt-5")
                },
            ]
        );
    }
}
