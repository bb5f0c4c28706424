//! Every endpoint there is, and how to get a model from one.
//!
//! What always holds: an endpoint that is set up wrongly costs only its own models.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loggia_domain::{ModelError, ModelErrorKind, ModelName};

use crate::address::Address;
use crate::keys::Keys;
use crate::provider::{Provider, ProviderModel, Thoughts, USUAL, Usual, Web, names_of, nearest};
use crate::{Endpoint, EndpointKind, Environment, KeySource, Keyring, Settings};

/// The variable that tells Ollama how much a model looks at.
const OLLAMA_CONTEXT_VARIABLE: &str = "OLLAMA_CONTEXT_LENGTH";

/// The least a model may look at: less is taken up by the tools alone.
pub const LEAST_CONTEXT: u64 = 1024;

/// Every endpoint there is.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) entries: Vec<Entry>,
    pub(crate) settings: Settings,
    pub(crate) keys: Arc<Keys>,
    pub(crate) web: Arc<Web>,
}

/// An endpoint, or why it is none.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) provider: Result<Arc<Provider>, String>,
    /// Whether somebody named it; the others are only known to exist.
    pub(crate) wanted: bool,
    pub(crate) usual: Option<&'static Usual>,
}

impl Shelf {
    pub(crate) fn new(
        settings: Settings,
        environment: Environment,
        keyring: Option<Arc<dyn Keyring>>,
    ) -> Self {
        let usual = USUAL.iter().filter(|usual| settings.endpoints.iter().all(|own| own.name != usual.name));
        let own = settings.endpoints.iter().map(|endpoint| Entry::own(endpoint, &environment));
        let entries = own.chain(usual.map(|usual| Entry::usual(usual, &environment))).collect();
        let web = Arc::new(Web::new(environment.clone(), settings.time_outs.connect));
        let keys = Arc::new(Keys::new(environment, keyring));
        Self { entries, settings, keys, web }
    }

    /// The model with this name, if nothing that can be told at once keeps it from replying.
    pub(crate) fn usable(&self, name: &ModelName) -> Result<Arc<ProviderModel>, ModelError> {
        let model = self.model(name)?;
        let provider = &model.provider;
        let wrong = |error| not_configured(format!("`{}`: {error}", provider.name));
        self.keys.check(provider).map_err(wrong)?;
        Ok(model)
    }

    /// The model with this name. Its key is not looked for: a model without one says so when it is to reply.
    pub(crate) fn model(&self, name: &ModelName) -> Result<Arc<ProviderModel>, ModelError> {
        let Some((provider, model)) = name.0.split_once(':').filter(|(a, b)| !a.is_empty() && !b.is_empty())
        else {
            return Err(not_configured(format!(
                "`{}` is not a model's name, which looks like `provider:model`{}",
                name.0,
                self.meant(&name.0)
            )));
        };
        let Some(entry) = self.entries.iter().find(|entry| entry.name == provider) else {
            let names = self.entries.iter().map(|entry| entry.name.as_str());
            let meant = nearest(provider, names).map(|near| format!("; did you mean `{near}:{model}`?"));
            let meant = meant.unwrap_or_else(|| self.meant(&name.0));
            return Err(not_configured(format!("there is no provider `{provider}`{meant}")));
        };
        let provider = entry.provider.as_ref().map_err(|why| not_configured(why.clone()))?;
        Ok(self.model_of(provider, model))
    }

    /// A model of an endpoint. Its key is not looked for.
    pub(crate) fn model_of(&self, provider: &Arc<Provider>, model: &str) -> Arc<ProviderModel> {
        let name = ModelName(format!("{}:{model}", provider.name));
        let better = self.settings.overrides.get(&name);
        Arc::new(ProviderModel {
            provider: Arc::clone(provider),
            model: model.to_owned(),
            info: provider.info(model, better),
            effort: better.and_then(|better| better.effort),
            keys: Arc::clone(&self.keys),
            web: Arc::clone(&self.web),
            time_outs: self.settings.time_outs,
        })
    }

    /// A hint for somebody who left out the provider.
    fn meant(&self, text: &str) -> String {
        let known = |entry: &&Entry| names_of(&entry.name).any(|name| text == name);
        match self.entries.iter().find(known) {
            Some(entry) => format!("; did you mean `{}:{text}`?", entry.name),
            None => String::new(),
        }
    }
}

impl Entry {
    fn own(endpoint: &Endpoint, environment: &Environment) -> Self {
        let usual = USUAL.iter().find(|usual| usual.name == endpoint.name);
        // Without an address it is where its kind usually is, or where the variable says.
        let of_kind = || USUAL.iter().find(|usual| usual.name == endpoint.kind.name());
        let address = match (&endpoint.base_url, usual.or_else(of_kind)) {
            (Some(address), _) => address.clone(),
            (None, Some(usual)) => usual_address(usual, environment).0,
            (None, None) => String::new(),
        };
        // A key goes to the provider it is for: an endpoint elsewhere says itself where its own is.
        let variables = match usual {
            Some(usual) if usual.kind == endpoint.kind => usual.key_variables,
            _ if endpoint.base_url.is_none() => of_kind().map_or(&[] as &[_], |usual| usual.key_variables),
            _ => &[],
        };
        let made =
            make(&endpoint.name, endpoint.kind, &address, endpoint.key.clone(), variables, environment);
        let provider = made.map(|mut provider| {
            provider.headers.clone_from(&endpoint.headers);
            provider.named = true;
            Arc::new(provider)
        });
        Self { name: endpoint.name.clone(), provider, wanted: true, usual }
    }

    fn usual(usual: &'static Usual, environment: &Environment) -> Self {
        let (address, moved) = usual_address(usual, environment);
        let has_key = usual.key_variables.iter().any(|name| environment.get(name).is_some());
        let provider =
            make(usual.name, usual.kind, &address, KeySource::Usual, usual.key_variables, environment);
        let provider = provider.map(Arc::new);
        Self { name: usual.name.to_owned(), provider, wanted: moved || has_key, usual: Some(usual) }
    }
}

/// Where a usual endpoint is, and whether the environment says so.
fn usual_address(usual: &Usual, environment: &Environment) -> (String, bool) {
    match usual.address_variable.and_then(|name| environment.get(name)) {
        Some(address) => (address, true),
        None => (usual.address.to_owned(), false),
    }
}

fn make(
    name: &str,
    kind: EndpointKind,
    address: &str,
    key: KeySource,
    variables: &'static [&'static str],
    environment: &Environment,
) -> Result<Provider, String> {
    let address = Address::parse(kind, address).map_err(|error| format!("`{name}`: {error}"))?;
    // Ollama itself takes 0 for its own default.
    let told = environment.get(OLLAMA_CONTEXT_VARIABLE).and_then(|text| text.trim().parse().ok());
    let ollama_context = told.filter(|tokens| *tokens >= LEAST_CONTEXT);
    let (headers, thoughts) = (Vec::new(), Thoughts::default());
    Ok(Provider {
        name: name.to_owned(),
        named: false,
        kind,
        address,
        key,
        variables,
        headers,
        ollama_context,
        thoughts,
        replies_whole: AtomicBool::new(false),
    })
}

pub(crate) fn not_configured(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::NotConfigured, message)
}
