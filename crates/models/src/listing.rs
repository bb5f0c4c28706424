//! The names of an endpoint's models.

use futures_util::future::join_all;
use loggia_domain::{ModelError, ModelInfo, ModelListing, ModelName};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

use crate::EndpointKind;
use crate::provider::{Blame, Provider, Usual};
use crate::shelf::{Entry, Shelf, not_configured};

/// More than any endpoint has; what is beyond is not listed.
const MAX_MODELS: usize = 2000;

/// Parts of names of models that do not converse.
const NOT_FOR_TALKING: &[&str] = &[
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "transcribe",
    "realtime",
    "gpt-image",
    "gpt-audio",
    "babbage",
    "davinci",
    "sora",
    "imagen",
    "veo-",
    "rerank",
    "bge-",
    "minilm",
];

/// Everything that can be used, the defaults first.
pub(crate) async fn list(shelf: &Shelf, defaults: &[ModelName]) -> ModelListing {
    let asked = join_all(shelf.entries.iter().map(|entry| list_entry(shelf, entry))).await;
    let mut listing = ModelListing::default();
    for (entry, found) in shelf.entries.iter().zip(asked) {
        match found {
            Ok(models) => listing.models.extend(models),
            // Nobody asked for it, so nobody misses it.
            Err(_) if !entry.wanted => {}
            Err(error) => listing.errors.push((entry.name.clone(), error)),
        }
    }
    for name in defaults.iter().rev() {
        let place = listing.models.iter().position(|info| info.name == *name);
        let info = match place {
            Some(place) => listing.models.remove(place),
            // A server need not list what it serves.
            None => match shelf.usable(name) {
                Ok(model) => model.info.clone(),
                Err(error) => {
                    // The endpoint may have said so itself; of one that nobody set up nothing was told yet.
                    let provider = name.0.split(':').next().unwrap_or_default();
                    if listing.errors.iter().all(|(told, _)| told != provider) {
                        listing.errors.insert(0, (provider.to_owned(), error));
                    }
                    continue;
                }
            },
        };
        listing.models.insert(0, info);
    }
    listing
}

async fn list_entry(shelf: &Shelf, entry: &Entry) -> Result<Vec<ModelInfo>, ModelError> {
    let provider = entry.provider.as_ref().map_err(|why| not_configured(why.clone()))?;
    // What nobody named and is on this machine is there at once or not at all.
    let local = entry.usual.is_some_and(Usual::is_local) && !entry.wanted;
    let limit = if local { shelf.settings.time_outs.probe } else { shelf.settings.time_outs.list };
    let names = names(shelf, provider, limit).await?;
    let better = |model: &str| {
        let name = ModelName(format!("{}:{model}", provider.name));
        provider.info(model, shelf.settings.overrides.get(&name))
    };
    Ok(names.iter().map(|model| better(model)).collect())
}

/// Asks an endpoint for its models' names.
pub(crate) async fn names(
    shelf: &Shelf,
    provider: &Arc<Provider>,
    limit: Duration,
) -> Result<Vec<String>, ModelError> {
    let wrong = |error| not_configured(format!("`{}`: {error}", provider.name));
    let key = shelf.keys.find(provider).await.map_err(wrong)?;
    let blame = Blame { provider, model: None, key: key.as_ref() };
    let mut url = provider.address.join(match provider.kind {
        EndpointKind::Ollama => "api/tags",
        EndpointKind::OpenAi | EndpointKind::Anthropic | EndpointKind::Gemini => "models",
    });
    match provider.kind {
        EndpointKind::Anthropic => drop(url.query_pairs_mut().append_pair("limit", "1000")),
        EndpointKind::Gemini => drop(url.query_pairs_mut().append_pair("pageSize", "1000")),
        EndpointKind::OpenAi | EndpointKind::Ollama => {}
    }
    let headers = provider.headers(key.as_ref());
    let answer = shelf.web.get(url, headers, limit).await.map_err(|error| blame.of_web(&error))?;
    if !answer.status.is_success() {
        let body = String::from_utf8_lossy(&answer.body);
        return Err(blame.of_status(answer.status, &answer.headers, &body));
    }
    let page: Page = serde_json::from_slice(&answer.body)
        .map_err(|_| blame.transient("answers with something that is not a list of models"))?;
    let rows = match page {
        Page::Bare(rows) => rows,
        Page::Named { data, models } => data.or(models).unwrap_or_default(),
    };
    let named = rows.into_iter().filter(Row::converses).filter_map(|row| row.id.or(row.name));
    let mut names: Vec<String> = named
        .map(|name| name.strip_prefix("models/").map(str::to_owned).unwrap_or(name))
        .filter(|name| NOT_FOR_TALKING.iter().all(|part| !name.to_lowercase().contains(part)))
        .take(MAX_MODELS)
        .collect();
    if provider.kind == EndpointKind::OpenAi {
        names.sort();
        names.dedup();
    }
    Ok(names)
}

/// A list of models, in the shapes of all four protocols, and bare as some servers send it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Page {
    Bare(Vec<Row>),
    Named {
        #[serde(default)]
        data: Option<Vec<Row>>,
        #[serde(default)]
        models: Option<Vec<Row>>,
    },
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    /// Gemini's: what can be asked of it.
    #[serde(default, rename = "supportedGenerationMethods")]
    methods: Option<Vec<String>>,
}

impl Row {
    fn converses(&self) -> bool {
        self.methods.as_ref().is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    }
}
