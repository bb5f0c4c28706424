//! A model that replays a script.
//!
//! A script is TOML: replies in the order in which they are asked for, whoever asks. What a reply says comes in
//! `parts`. `expect` is a text that must be in what the model is sent since its last reply, so that a test sees what
//! the model was told.
//!
//! ```
//! use loggia_models::Script;
//!
//! let script = Script::parse(r#"
//!     context_tokens = 8000
//!
//!     [[reply]]
//!     parts = [
//!         { thought = "I should look first." },
//!         { text = "Let me look. " },
//!         { wait_ms = 20 },
//!         { call = { tool = "read_file", arguments = { path = "a.txt" } } },
//!     ]
//!     usage = { input = 120, output = 14 }
//!
//!     [[reply]]
//!     expect = "hello"
//!     delay_ms = 100
//!     parts = [{ text = "It says hello." }]
//!
//!     [[reply]]
//!     repeat = 2
//!     parts = [{ error = { kind = "transient", message = "overloaded", retry_after_ms = 10 } }]
//! "#)?;
//!
//! let error = Script::parse("[[reply]]\nprats = []").unwrap_err();
//! assert_eq!(error.to_string(), "line 2: there is no `prats` in a reply; did you mean `parts`?");
//! # Ok::<(), loggia_models::ScriptError>(())
//! ```
//!
//! The parts:
//!
//! | part | what it does |
//! |---|---|
//! | `{ text = "…" }` | says something |
//! | `{ thought = "…" }` | thinks aloud |
//! | `{ call = { tool = "…", arguments = { … } } }` | calls a tool; `id` is the provider's id of the call |
//! | `{ call = { tool = "…", raw_arguments = "not json" } }` | the same, as models do it at times |
//! | `{ tokens = { count = 5000, text = "tok " } }` | says the same many times, as fast as it is heard |
//! | `{ wait_ms = 50 }` | waits |
//! | `{ hang = true }` | never goes on |
//! | `{ error = { kind = "transient", message = "…", retry_after_ms = 10 } }` | fails; also `too_long` and `permanent` |
//! | `{ switched = { from = "…", to = "…", reason = "…" } }` | says that another model replies |
//!
//! A script that begins with `images = true` is that of a model that can look at images, one that begins with
//! `thinks = true` that of a model that can be told how much to think.
//!
//! A reply with `repeat = 3` serves three requests, one with `repeat = true` all that come.
//!
//! What always holds: a request beyond the end of the script, or one that does not hold what its reply expects, is a
//! permanent error that says so.

mod fields;
mod play;
mod script;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{
    BoxFuture, Model, ModelAbilities, ModelCatalogue, ModelError, ModelErrorKind, ModelInfo, ModelListing,
    ModelMessage, ModelName, ModelRequest, ReplyStream, ThinkingControl,
};

pub use fields::ScriptError;
pub use script::Script;

use crate::scripted::script::Reply;

/// How many requests are kept for looking at: more than any test makes, and bounded for benchmarks.
const KEPT_REQUESTS: usize = 256;

/// How much an error quotes of what was sent instead of what was expected: enough to see what it was about.
const MAX_QUOTED_CHARS: usize = 2000;

/// The fewest tokens a model that thinks can be told to think with: as with providers there are too few.
const LEAST_THINKING: u32 = 1024;

/// A model that replays a script.
#[derive(Debug)]
pub struct ScriptedModel {
    name: ModelName,
    context_tokens: u64,
    abilities: ModelAbilities,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    /// What is still to come, each with how many requests it serves.
    left: VecDeque<(Arc<Reply>, u64)>,
    requests: VecDeque<ModelRequest>,
}

impl ScriptedModel {
    /// A model with this script, named `scripted:model`.
    pub fn new(script: Script) -> Self {
        Self::named(ModelName("scripted:model".to_owned()), script)
    }

    /// A model with this name and script.
    pub fn named(name: ModelName, script: Script) -> Self {
        let Script { context_tokens, images, thinks, replies } = script;
        let abilities = ModelAbilities { images, reasoning: thinks, ..ModelAbilities::default() };
        let left = replies.into_iter().map(|reply| {
            let times = reply.repeat;
            (Arc::new(reply), times)
        });
        let progress = Progress { left: left.collect(), requests: VecDeque::new() };
        Self { name, context_tokens, abilities, progress: Mutex::new(progress) }
    }

    /// What it has been asked so far; the newest ones, if there were very many.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.progress().requests.iter().cloned().collect()
    }

    /// Whether every reply has been asked for, each as often as it can be.
    pub fn is_over(&self) -> bool {
        self.progress().left.is_empty()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reply to a request.
    fn next(&self, request: ModelRequest) -> Result<Arc<Reply>, ModelError> {
        let mut progress = self.progress();
        let Progress { left, requests } = &mut *progress;
        if requests.len() == KEPT_REQUESTS {
            requests.pop_front();
        }
        requests.push_back(request);
        let Some((reply, times)) = left.front_mut() else { return Err(permanent("the script is over")) };
        let reply = Arc::clone(reply);
        *times = times.saturating_sub(1);
        if *times == 0 {
            left.pop_front();
        }
        if let (Some(expected), Some(request)) = (&reply.expect, requests.back()) {
            check(expected, request)?;
        }
        Ok(reply)
    }
}

fn check(expected: &str, request: &ModelRequest) -> Result<(), ModelError> {
    let told = newest(&request.messages);
    if told.iter().any(|message| spoken(message).contains(expected)) {
        return Ok(());
    }
    let told: Vec<&str> = told.iter().map(spoken).collect();
    let quoted: String = told.join("\n").chars().take(MAX_QUOTED_CHARS).collect();
    Err(permanent(&format!("the script expects `{expected}` in what it is sent, which was: {quoted}")))
}

/// The messages since the model's last reply; the last one, if that is its own.
fn newest(messages: &[ModelMessage]) -> &[ModelMessage] {
    let own = |message: &ModelMessage| matches!(message, ModelMessage::Assistant { .. });
    let start = messages.iter().rposition(own).map_or(0, |own| own + 1);
    &messages[start.min(messages.len().saturating_sub(1))..]
}

/// What a message says.
fn spoken(message: &ModelMessage) -> &str {
    match message {
        ModelMessage::System(text) | ModelMessage::User(text) => text,
        ModelMessage::Shown { text, .. } | ModelMessage::Assistant { text, .. } => text,
        ModelMessage::ToolResult { output, .. } => output,
    }
}

fn permanent(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Permanent, message)
}

impl Model for ScriptedModel {
    fn info(&self) -> ModelInfo {
        let info = ModelInfo::new(self.name.clone(), self.context_tokens, true);
        let thinks = self.abilities.reasoning;
        let least_tokens = thinks.then_some(LEAST_THINKING);
        let thinking = ThinkingControl { off: thinks, extended: thinks, least_tokens };
        ModelInfo { abilities: self.abilities, thinking, ..info }
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let reply = self.next(request);
        Box::pin(async move { Ok(play::play(reply?)) })
    }
}

/// Scripted models by name.
#[derive(Debug)]
pub struct ScriptedCatalogue {
    default: Arc<ScriptedModel>,
    others: BTreeMap<String, Arc<ScriptedModel>>,
}

impl ScriptedCatalogue {
    /// Only this model; it is also the default.
    pub fn single(model: Arc<ScriptedModel>) -> Self {
        Self { default: model, others: BTreeMap::new() }
    }

    /// With another model.
    #[must_use]
    pub fn with(mut self, model: Arc<ScriptedModel>) -> Self {
        self.others.insert(model.name.0.clone(), model);
        self
    }
}

impl ModelCatalogue for ScriptedCatalogue {
    fn find(&self, name: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        let Some(name) = name.filter(|name| **name != self.default.name) else {
            return Ok(Arc::clone(&self.default) as Arc<dyn Model>);
        };
        let found = self.others.get(&name.0).ok_or_else(|| {
            ModelError::new(ModelErrorKind::NotConfigured, format!("there is no model `{}`", name.0))
        })?;
        Ok(Arc::clone(found) as Arc<dyn Model>)
    }
    fn list(&self) -> BoxFuture<'_, ModelListing> {
        let models = std::iter::once(&self.default).chain(self.others.values()).map(|model| model.info());
        let listing = ModelListing { models: models.collect(), errors: Vec::new() };
        Box::pin(std::future::ready(listing))
    }
}
