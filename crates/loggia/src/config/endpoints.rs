//! `[models.NAME]`: endpoints of models that people name themselves.
//!
//! Knows what was written, and nothing of models. Invariant: an endpoint is here only if somebody who may set it did.

use super::layers::Origin;
use super::value::Value;
use super::{Config, Setting, keys};

/// What their keys begin with.
const TABLE: &str = "models.";

/// An endpoint, as it was written; what is empty was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// What it is called: what stands before the colon of its models' names.
    pub(crate) name: String,
    /// Which protocol it speaks.
    pub(crate) kind: String,
    /// Its address; the usual one of its kind otherwise.
    pub(crate) base_url: String,
    /// The variable that has its key.
    pub(crate) key_variable: String,
    /// The file that has its key.
    pub(crate) key_file: String,
}

impl Config {
    /// The endpoints that are configured, by name.
    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        endpoints_in(&self.settings)
    }

    /// Those among them that no workspace had a part in.
    pub(crate) fn endpoints_everywhere(&self) -> Vec<Endpoint> {
        endpoints_in(&self.everywhere)
    }

    /// The variables that a server gets which a command starts: those that have keys of endpoints, and those that plugins
    /// need.
    pub(crate) fn variables_for_server(&self) -> Vec<String> {
        let keys = self.endpoints().into_iter().map(|endpoint| endpoint.key_variable);
        keys.filter(|name| !name.is_empty()).chain(self.plugin_variables()).collect()
    }
}

fn endpoints_in(settings: &[Setting]) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    let set = settings.iter().filter(|setting| setting.origin != Origin::Default);
    for setting in set {
        if !setting.key.path.starts_with(TABLE) {
            continue;
        }
        let Some(name) = setting.key.name_in(&setting.path) else { continue };
        if endpoints.last().is_none_or(|last| last.name != name) {
            let kind = keys::ENDPOINT_KIND.default.text().to_owned();
            endpoints.push(Endpoint { name: name.to_owned(), kind, ..Endpoint::default() });
        }
        if let Some(endpoint) = endpoints.last_mut() {
            endpoint.take(setting);
        }
    }
    endpoints
}

impl Endpoint {
    fn take(&mut self, setting: &Setting) {
        let places = [
            (&keys::ENDPOINT_KIND, &mut self.kind),
            (&keys::ENDPOINT_BASE_URL, &mut self.base_url),
            (&keys::ENDPOINT_KEY_VARIABLE, &mut self.key_variable),
            (&keys::ENDPOINT_KEY_FILE, &mut self.key_file),
        ];
        for (key, place) in places {
            if key.path == setting.key.path {
                *place = setting.value.text().to_owned();
            }
        }
    }
}

impl Value {
    /// Its text, if it is one.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Count(_) | Self::Decimal(_) | Self::Switch(_) | Self::Object(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::GlobalFlags;

    #[test]
    fn endpoints_are_put_together_from_their_keys() {
        let set = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        let flags = GlobalFlags {
            set: vec![
                set("models.lab.kind", "ollama"),
                set("models.corp.key_variable", "CORP_KEY"),
                set("models.corp.base_url", "http://10.0.0.1"),
            ],
            ..GlobalFlags::default()
        };
        let config = Config::of_flags(&flags);
        let text = |text: &str| text.to_owned();
        let corp = Endpoint {
            name: text("corp"),
            kind: text("openai"),
            base_url: text("http://10.0.0.1"),
            key_variable: text("CORP_KEY"),
            ..Endpoint::default()
        };
        let lab = Endpoint { name: text("lab"), kind: text("ollama"), ..Endpoint::default() };
        assert_eq!(config.endpoints(), [corp, lab]);
        assert_eq!(config.variables_for_server(), ["CORP_KEY"]);
    }
}
