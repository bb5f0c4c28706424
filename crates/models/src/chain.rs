//! Models of which the next replies when one cannot.
//!
//! What always holds: another model is tried only before the first piece of a reply; every reply that comes from another
//! than the first says so before everything else. Who has heard that already is for the caller to know: one chain serves
//! many sessions. A conversation that is too long for one model is not sent to the next: shortening
//! it is the answer to that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use loggia_domain::{
    BoxFuture, Model, ModelError, ModelErrorKind, ModelInfo, ModelName, ModelRequest, ReplyPart, ReplyStream,
};
use tokio::time::Instant;

use crate::shelf::{Shelf, not_configured};

/// How long a model that failed is tried last: every step of a turn would wait for it otherwise.
const REST: Duration = Duration::from_secs(60);

/// Models in the order in which they are tried.
#[derive(Debug)]
pub(crate) struct Chain {
    shelf: Arc<Shelf>,
    names: Vec<ModelName>,
    state: Mutex<State>,
}

/// How each of them is.
#[derive(Debug)]
struct State(Vec<Health>);

#[derive(Debug, Clone, Default)]
struct Health {
    /// Until when it rests.
    rests: Option<Instant>,
    /// Why it could not reply the last time it was asked.
    failure: Option<String>,
}

impl Chain {
    /// At least one name is needed.
    pub(crate) fn new(shelf: Arc<Shelf>, names: Vec<ModelName>) -> Self {
        let state = Mutex::new(State(vec![Health::default(); names.len()]));
        Self { shelf, names, state }
    }

    /// Whether any of them is the name of a model; otherwise what is wrong with the first. A key that is missing is told to
    /// whoever asks for a reply.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        let mut wrong = None;
        for name in &self.names {
            match self.shelf.model(name) {
                Ok(_) => return Ok(()),
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        Err(wrong.unwrap_or_else(|| not_configured("the chain of models is empty".to_owned())))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are well in their order, then those that rest.
    fn order(&self) -> Vec<usize> {
        let now = Instant::now();
        let mut state = self.state();
        for health in &mut state.0 {
            health.rests = health.rests.filter(|until| *until > now);
        }
        let (well, resting): (Vec<usize>, Vec<usize>) =
            (0..self.names.len()).partition(|place| state.0[*place].rests.is_none());
        well.into_iter().chain(resting).collect()
    }

    async fn ask(&self, request: ModelRequest) -> Result<ReplyStream, ModelError> {
        let mut failures: Vec<(usize, ModelError)> = Vec::new();
        for place in self.order() {
            let begun = match self.shelf.model(&self.names[place]) {
                Ok(model) => model.reply(request.clone()).await,
                Err(error) => Err(error),
            };
            match begun {
                Ok(reply) => return Ok(self.announce(place, reply)),
                Err(error) if error.kind == ModelErrorKind::TooLong => return Err(error),
                Err(error) => {
                    let (rests, failure) = (Some(Instant::now() + REST), Some(error.message.clone()));
                    self.state().0[place] = Health { rests, failure };
                    failures.push((place, error));
                }
            }
        }
        Err(all_failed(failures))
    }

    /// Tells that another model replies than the first, if so.
    fn announce(&self, place: usize, reply: ReplyStream) -> ReplyStream {
        let mut state = self.state();
        state.0[place] = Health::default();
        if place == 0 {
            return reply;
        }
        // The first was asked before this one, now or when it began to rest.
        let reason = state.0[0].failure.clone().unwrap_or_default();
        let (from, to) = (self.names[0].clone(), self.names[place].clone());
        let switched = ReplyPart::Switched { from, to, reason };
        stream::iter([Ok(switched)]).chain(reply).boxed()
    }
}

/// What to say when nobody replied: what the first one said, unless waiting helps with another.
fn all_failed(failures: Vec<(usize, ModelError)>) -> ModelError {
    let message = failures.iter().map(|(_, error)| error.message.as_str()).collect::<Vec<_>>().join("; ");
    let waits = |error: &ModelError| matches!(error.kind, ModelErrorKind::Transient { .. });
    let worth = failures.iter().find(|(_, error)| waits(error)).or(failures.first());
    match worth {
        Some((_, error)) => ModelError { message, ..error.clone() },
        None => ModelError::new(ModelErrorKind::NotConfigured, message),
    }
}

impl Model for Chain {
    fn info(&self) -> ModelInfo {
        let order: Vec<&ModelName> = self.order().into_iter().map(|place| &self.names[place]).collect();
        let usable = order.iter().find_map(|name| self.shelf.usable(name).ok());
        let model = usable.or_else(|| order.iter().find_map(|name| self.shelf.model(name).ok()));
        let first = self.names.first().cloned().unwrap_or(ModelName(String::new()));
        model.map_or_else(|| ModelInfo::new(first, 0, false), |model| model.info.clone())
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(self.ask(request))
    }
}
