//! The model when none was named: one on this machine, else one whose key is set.
//!
//! What always holds: nobody waits for the search but a reply, and the search itself takes no longer than the time-outs
//! for servers on this machine and the limit of the keyring say. What was found is kept until it cannot be reached.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use loggia_domain::{
    BoxFuture, Model, ModelError, ModelErrorKind, ModelInfo, ModelName, ModelRequest, ReplyStream,
};

use crate::listing;
use crate::provider::{ProviderModel, names_of};
use crate::shelf::{Entry, Shelf, not_configured};

/// Its name until one is found.
const NAME: &str = "auto";

/// What is assumed until one is found. More than some have: a conversation that is shortened for nothing is lost, one
/// that is too long is told.
const CONTEXT: u64 = 128_000;

/// Parts of the names of models that are good at this work, the best first.
const PREFERRED: &[&str] =
    &["coder", "devstral", "gpt-oss", "glm", "qwen3", "kimi", "mistral", "llama3", "llama-3"];

/// A search for a model, and its finding.
#[derive(Debug)]
pub(crate) struct Auto {
    shelf: Arc<Shelf>,
    /// Held by whoever searches; the others wait for the finding.
    search: tokio::sync::Mutex<()>,
    found: Mutex<Option<Arc<ProviderModel>>>,
}

impl Auto {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        Self { shelf, search: tokio::sync::Mutex::new(()), found: Mutex::new(None) }
    }

    /// What was found, without searching.
    pub(crate) fn found(&self) -> Option<Arc<ProviderModel>> {
        self.lock().clone()
    }

    /// What was found; searches if nothing was yet.
    pub(crate) async fn find(&self) -> Result<Arc<ProviderModel>, ModelError> {
        let _search = self.search.lock().await;
        if let Some(found) = self.found() {
            return Ok(found);
        }
        let found = search(&self.shelf).await?;
        *self.lock() = Some(Arc::clone(&found));
        Ok(found)
    }

    async fn ask(&self, request: ModelRequest) -> Result<ReplyStream, ModelError> {
        let model = self.find().await?;
        let reply = model.reply(request).await;
        if let Err(ModelError { kind: ModelErrorKind::Transient { .. }, .. }) = &reply
            && model.info.local
        {
            // It may have been stopped; something else may be there by now.
            *self.lock() = None;
        }
        reply
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<ProviderModel>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for Auto {
    fn info(&self) -> ModelInfo {
        let unknown = || ModelInfo::new(ModelName(NAME.to_owned()), CONTEXT, true);
        self.found().map_or_else(unknown, |model| model.info.clone())
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(self.ask(request))
    }
}

/// Looks for a model: servers on this machine at once, then keys.
async fn search(shelf: &Arc<Shelf>) -> Result<Arc<ProviderModel>, ModelError> {
    let local = |entry: &&Entry| entry.provider.as_ref().is_ok_and(|provider| provider.address.is_local());
    let locals: Vec<&Entry> = shelf.entries.iter().filter(local).collect();
    let asked = join_all(locals.iter().map(|entry| first_of(shelf, entry))).await;
    if let Some(found) = asked.into_iter().flatten().next() {
        return Ok(found);
    }
    // A key in the environment is at hand; the keyring is asked for the others only if there is none.
    let (wanted, others): (Vec<&Entry>, Vec<&Entry>) =
        shelf.entries.iter().filter(|entry| !local(entry)).partition(|entry| entry.wanted);
    for entry in wanted.into_iter().chain(others) {
        let Ok(provider) = &entry.provider else { continue };
        if shelf.keys.find(provider).await.is_err() {
            continue;
        }
        let default = entry.usual.and_then(|usual| usual.default_model);
        let own_address = entry.usual.is_none_or(|usual| !usual.is_at(&provider.address));
        let found = match default {
            Some(model) if !own_address => Some(shelf.model_of(provider, model)),
            // Somebody else's server at that address has models of its own.
            _ => first_of(shelf, entry).await,
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(nothing())
}

/// The best model of a server, if it answers.
async fn first_of(shelf: &Arc<Shelf>, entry: &Entry) -> Option<Arc<ProviderModel>> {
    let provider = entry.provider.as_ref().ok()?;
    let time_outs = shelf.settings.time_outs;
    let limit = if provider.address.is_local() { time_outs.probe } else { time_outs.list };
    let names = listing::names(shelf, provider, limit).await.ok()?;
    let can = |name: &&String| provider.info(name, None).abilities.tools;
    let rank = |name: &&String| {
        let lower = name.to_lowercase();
        PREFERRED.iter().position(|part| lower.contains(part)).unwrap_or(PREFERRED.len())
    };
    let best = names.iter().filter(can).min_by_key(rank)?;
    Some(shelf.model_of(provider, best))
}

pub(crate) fn nothing() -> ModelError {
    let example = names_of("anthropic").nth(1).unwrap_or("claude");
    not_configured(format!(
        "no model is set: start Ollama, LM Studio or llama.cpp on this machine; or set ANTHROPIC_API_KEY, \
         OPENAI_API_KEY or GEMINI_API_KEY; or name a model, such as `anthropic:{example}`"
    ))
}
