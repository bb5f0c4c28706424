//! The models a daemon has: those of providers, or one that plays a script. Where there is none, a search answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::{BoxFuture, ModelAbilities, ModelCatalogue, ModelError, ModelName, Price};
use loggia_models::{
    Effort, EndpointKind, Environment, KeySource, LEAST_CONTEXT, Models, Override, Script, ScriptedCatalogue,
    ScriptedModel, SearchingCatalogue, Service, SystemKeyring,
};

use super::DaemonError;
use crate::config::catalogue::Known;
use crate::config::endpoints::Endpoint;

/// What the name of a model that plays a script begins with.
const SCRIPTED: &str = "scripted:";

/// Whether a name is that of a plugin's agent, which sessions choose like a model.
pub(crate) fn is_agent(name: &str) -> bool {
    ModelName(name.to_owned()).guest().is_some()
}

/// Models, and what they do in the background once the daemon runs.
pub(crate) struct Found {
    pub(crate) models: Arc<dyn ModelCatalogue>,
    pub(crate) look: Option<BoxFuture<'static, ()>>,
}

/// The models there are, with this one as the default; several with commas between them are tried in turn. A key that
/// cannot be found is no reason to have none: the turn that needs it ends, and all else works.
pub(crate) fn find(
    name: Option<&str>,
    endpoints: &[Endpoint],
    catalogue: &[Known],
    environment: Environment,
) -> Result<Found, DaemonError> {
    if let Some(path) = name.and_then(|name| name.strip_prefix(SCRIPTED)).filter(|path| !path.is_empty()) {
        return Ok(Found { models: scripted(name.unwrap_or_default(), Path::new(path))?, look: None });
    }
    if name.is_some_and(is_agent) {
        let reason =
            "a plugin's agent is chosen for a session, with `loggia ask -m`; not every workspace has it";
        return Err(DaemonError::UnknownModel { reason: reason.to_owned(), origin: None });
    }
    let names = name.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    let settings = loggia_models::Settings {
        default: names.map(|name| ModelName(name.to_owned())).collect(),
        endpoints: endpoints.iter().filter_map(settings_of).collect(),
        overrides: catalogue.iter().map(override_of).collect::<Result<_, _>>()?,
        ..loggia_models::Settings::default()
    };
    let models = with_keys(settings, environment);
    // Whoever names a model wants that one, and not a search.
    if let (Some(_), Err(error)) = (name, models.find(None)) {
        return Err(DaemonError::UnknownModel { reason: error.message, origin: None });
    }
    let look = models.look();
    Ok(Found { models: Arc::new(SearchingCatalogue::behind(Arc::new(models))), look: Some(look) })
}

fn with_keys(settings: loggia_models::Settings, environment: Environment) -> Models {
    // Where there is no session bus, nobody is asked.
    let keyring = SystemKeyring::new(&environment);
    match keyring.has_bus() {
        true => Models::with_keyring(settings, environment, Arc::new(keyring)),
        false => Models::new(settings, environment),
    }
}

/// The endpoint of a model that does something else than reply, or why there is none.
pub(crate) fn service(
    name: &ModelName,
    endpoints: &[Endpoint],
    environment: Environment,
) -> Result<Service, String> {
    let endpoints = endpoints.iter().filter_map(settings_of).collect();
    let settings = loggia_models::Settings { endpoints, ..loggia_models::Settings::default() };
    with_keys(settings, environment).service(name).map_err(|error| error.message)
}

/// Whether a model could reply, as far as can be told without asking anybody: its key is looked for, too.
pub(crate) fn check(
    name: &str,
    endpoints: &[Endpoint],
    catalogue: &[Known],
    environment: Environment,
) -> Result<(), DaemonError> {
    let unknown = |error: ModelError| DaemonError::UnknownModel { reason: error.message, origin: None };
    let models = find(Some(name), endpoints, catalogue, environment)?.models;
    let default = models.find(None).map_err(unknown)?.info().name;
    models.find(Some(&default)).map(drop).map_err(unknown)
}

/// An endpoint as the models know it. Its kind was checked when it was read.
fn settings_of(endpoint: &Endpoint) -> Option<loggia_models::Endpoint> {
    let key = match (endpoint.key_variable.as_str(), endpoint.key_file.as_str()) {
        ("", "") => KeySource::Usual,
        ("", file) => KeySource::File(PathBuf::from(file)),
        (variable, _) => KeySource::Variable(variable.to_owned()),
    };
    Some(loggia_models::Endpoint {
        name: endpoint.name.clone(),
        kind: EndpointKind::named(&endpoint.kind)?,
        base_url: Some(endpoint.base_url.clone()).filter(|url| !url.is_empty()),
        key,
        headers: Vec::new(),
    })
}

/// What is known better about a model, as the models know it.
fn override_of(known: &Known) -> Result<(ModelName, Override), DaemonError> {
    let wrong = |what: &str| DaemonError::Catalogue { model: known.model.clone(), what: what.to_owned() };
    if known.context_tokens.is_some_and(|tokens| tokens < LEAST_CONTEXT) {
        return Err(wrong(&format!("a model that looks at fewer than {LEAST_CONTEXT} tokens is of no use")));
    }
    let price = match (known.input_price, known.output_price) {
        (Some(input), Some(output)) => {
            Some(Price { input, cached_input: known.cached_input_price.unwrap_or(input), output })
        }
        (None, None) if known.cached_input_price.is_none() => None,
        _ => return Err(wrong("a price needs both `input_price` and `output_price`")),
    };
    let abilities = known.abilities.as_ref().map(|words| {
        let can = |ability: &str| words.iter().any(|word| word == ability);
        ModelAbilities { tools: can("tools"), images: can("images"), reasoning: can("reasoning") }
    });
    let effort = known.effort.as_deref().and_then(Effort::named);
    let better = Override { context_tokens: known.context_tokens, abilities, price, effort };
    Ok((ModelName(known.model.clone()), better))
}

fn scripted(name: &str, path: &Path) -> Result<Arc<dyn ModelCatalogue>, DaemonError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| DaemonError::ReadScript { path: path.to_owned(), source })?;
    let script =
        Script::parse(&text).map_err(|source| DaemonError::Script { path: path.to_owned(), source })?;
    let model = ScriptedModel::named(ModelName(name.to_owned()), script);
    Ok(Arc::new(ScriptedCatalogue::single(Arc::new(model))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        find(Some(name), &[], &[], Environment::empty())
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_name_leads_to_a_script_or_to_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script.toml");
        std::fs::write(&path, "[[reply]]\nparts = [{ text = \"hello\" }]\n").unwrap();
        let name = format!("scripted:{}", path.display());
        let found = find(Some(&name), &[], &[], Environment::empty()).unwrap().models.find(None).unwrap();
        assert_eq!(found.info().name, ModelName(name));
        assert_eq!(error("nobody:model"), "there is no provider `nobody`");
        assert!(error("plugin:helper").starts_with("a plugin's agent is chosen for a session"));
        assert!(error("opnai:gpt-5").ends_with("did you mean `openai:gpt-5`?"));
        assert!(error("scripted:/absent").starts_with("cannot read the script"));
        std::fs::write(&path, "[[reply]]\nprats = []\n").unwrap();
        assert!(error(&format!("scripted:{}", path.display())).ends_with("cannot be understood"));
    }

    #[test]
    fn a_missing_key_is_no_reason_not_to_start() {
        for name in ["openai:gpt-5", "openai:gpt-5, anthropic:claude-opus-4-5"] {
            let found = find(Some(name), &[], &[], Environment::empty()).unwrap();
            let model = found.models.find(None).unwrap();
            assert_eq!(model.info().name, ModelName("openai:gpt-5".to_owned()));
            let error = check(name, &[], &[], Environment::empty()).unwrap_err().to_string();
            assert!(error.contains("set OPENAI_API_KEY"), "{error}");
            check(name, &[], &[], Environment::from([("OPENAI_API_KEY", "sk-1")])).unwrap();
        }
        let endpoint = Endpoint {
            name: "openai".to_owned(),
            kind: "openai".to_owned(),
            key_file: "/absent/openai".to_owned(),
            ..Endpoint::default()
        };
        assert!(find(Some("openai:gpt-5"), &[endpoint], &[], Environment::empty()).is_ok());
    }

    #[test]
    fn the_sample_can_be_played() {
        find(
            Some(concat!("scripted:", env!("CARGO_MANIFEST_DIR"), "/samples/demo.toml")),
            &[],
            &[],
            Environment::empty(),
        )
        .unwrap();
    }

    #[test]
    fn endpoints_that_are_configured_have_models() {
        let endpoint = Endpoint {
            name: "lab".to_owned(),
            kind: "ollama".to_owned(),
            base_url: "http://127.0.0.1:9".to_owned(),
            ..Endpoint::default()
        };
        let found = find(Some("lab:small"), &[endpoint], &[], Environment::empty()).unwrap();
        assert_eq!(found.models.find(None).unwrap().info().name, ModelName("lab:small".to_owned()));
    }

    #[test]
    fn what_is_known_better_counts_or_is_refused() {
        let environment = || Environment::from([("OPENAI_API_KEY", "sk-1")]);
        let known = Known { model: "openai:new-one".to_owned(), ..Known::default() };
        let info = |known: Known| {
            find(Some("openai:new-one"), &[], &[known], environment())
                .map(|found| found.models.find(None).unwrap().info())
                .map_err(|error| error.to_string())
        };
        let better = Known {
            context_tokens: Some(64_000),
            abilities: Some(vec!["images".to_owned()]),
            input_price: Some(2),
            output_price: Some(3),
            ..known.clone()
        };
        let told = info(better.clone()).unwrap();
        assert_eq!(told.context_tokens, 64_000);
        assert_eq!(told.abilities, ModelAbilities { tools: false, images: true, reasoning: false });
        assert_eq!(told.price, Some(Price { input: 2, cached_input: 2, output: 3 }));
        let half = Known { output_price: None, ..better };
        let price = "`catalogue.\"openai:new-one\"`: a price needs both `input_price` and `output_price`";
        assert_eq!(info(half).unwrap_err(), price);
        assert!(info(Known { context_tokens: Some(0), ..known }).unwrap_err().ends_with("is of no use"));
    }
}
