//! A turn: the agent loop.
//!
//! Gather context, ask the model, or let a plugin's agent work, run the tools it calls, each under the policy, until it
//! has nothing more to call. Knows the order of these things. Refuses to know what events mean for the state, and never changes a file
//! itself: it asks its session.
//!
//! What always holds:
//! - each round begins by looking at the state, so a turn that waited for an answer while the daemon was down goes
//!   on at that very step;
//! - it can be dropped at any pause, and its session then closes what was open;
//! - a reply without calls and the end of its turn are stored together.

mod batch;
mod called;
mod calls;
mod commands;
mod compact;
mod context;
mod edits;
mod excerpt;
mod extension;
mod gather;
mod guest;
mod images;
mod output;
mod reply;
mod retrieve;
mod spans;

pub(crate) use batch::{collected, question_about_collected};
pub(crate) use calls::question_about;
pub(crate) use edits::{Chosen, applied_events, wanted};
pub(crate) use guest::own_tools;

use std::sync::Arc;

use loggia_domain::{
    EventBody, Model, ModelError, ModelErrorKind, ModelInfo, ModelName, ModelRequest, Policy, SessionId,
    ToolCall, TurnEnd, TurnFailure,
};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, Span};

use crate::engine::Shared;
use crate::error::EngineError;
use crate::session::{Batch, Feed, Halt, Link, RunningTurn, Said, State};
use crate::turn::guest::Run;
use crate::turn::reply::{Broken, Replied};
use crate::workspace::OpenWorkspace;

/// A turn asks one thing at a time; parallel calls of one reply may ask together.
const ASKS: usize = 16;

/// Starts a turn's task on whatever the session's state says is next.
pub(crate) fn spawn(
    shared: Arc<Shared>,
    workspace: Arc<OpenWorkspace>,
    feed: Arc<Feed>,
    session: SessionId,
    span: Span,
) -> RunningTurn {
    let (asks, receiver) = mpsc::channel(ASKS);
    let link = Link(asks);
    let turn = Turn {
        shared,
        workspace,
        feed,
        session,
        link,
        failures: 0,
        shortened: false,
        gathered: None,
        went_on: 0,
    };
    let task = AbortOnDropHandle::new(tokio::spawn(turn.run().instrument(span)));
    RunningTurn { task, asks: receiver, command: None, handed_out: None }
}

pub(crate) struct Turn {
    shared: Arc<Shared>,
    workspace: Arc<OpenWorkspace>,
    feed: Arc<Feed>,
    session: SessionId,
    link: Link,
    /// How often the model has failed in a row.
    failures: u32,
    /// Whether the history was shortened since the model last replied.
    shortened: bool,
    /// What was looked up for the instruction; nothing until it has been.
    gathered: Option<Arc<str>>,
    /// The last step after which somebody was asked whether the turn goes on.
    went_on: u32,
}

/// Why a turn stops before its own end.
enum Stop {
    /// Its session is gone.
    Halt,
    /// It ends like this, and its session is to record that.
    End(TurnEnd),
}

impl From<EngineError> for Stop {
    /// The workspace's rules cannot be read: nothing may be done without them.
    fn from(error: EngineError) -> Self {
        Self::End(TurnEnd::Failed(TurnFailure::Policy { message: error.to_string() }))
    }
}

impl From<Halt> for Stop {
    fn from(Halt: Halt) -> Self {
        Self::Halt
    }
}

impl Turn {
    async fn run(mut self) -> TurnEnd {
        match self.rounds().await {
            Ok(()) => TurnEnd::Done,
            Err(Stop::End(end)) => end,
            Err(Stop::Halt) => {
                let message = "the session could not record what happened".to_owned();
                TurnEnd::Failed(TurnFailure::Internal { message })
            }
        }
    }

    /// Round after round, until the turn's end is recorded.
    async fn rounds(&mut self) -> Result<(), Stop> {
        // A plugin's agent that is at work and waits for what its calls come to.
        let mut run = None;
        loop {
            let state = self.link.state().await?;
            let Some(turn) = &state.turn else { return Ok(()) };
            if !turn.calls.is_empty() {
                self.calls(&state).await?;
            } else if state.batch.as_ref().is_some_and(|batch| batch.complete) {
                self.decide_batch(&state).await?;
            } else if guest::is_over(&state) {
                self.link.record(self.finish(&state, turn.usage).await).await?;
            } else {
                let policy = self.workspace.policy(&self.shared).await?;
                let end = match limit(&state, &policy) {
                    None if self.is_stopped(&state).await? => Some(TurnEnd::StepLimit),
                    end => end,
                };
                match (end, collection(&state)) {
                    (None, _) => self.step(&state, &mut run).await?,
                    (Some(end), None) => return Err(Stop::End(end)),
                    // What was collected is there to be decided about, whoever stopped collecting.
                    (Some(_), Some(batch)) => {
                        let expires = self.expiry().await;
                        self.link.record(batch::complete(&state, batch, expires)).await?;
                    }
                }
            }
        }
    }

    /// Whether whoever takes the turn step by step ends it here. Waits for the word, once for each step.
    async fn is_stopped(&mut self, state: &State) -> Result<bool, Stop> {
        match state.step_done() {
            Some(step) if step > self.went_on => {
                self.went_on = step;
                Ok(self.link.stops_after(step).await?)
            }
            _ => Ok(false),
        }
    }

    /// Asks the model once, or lets an agent go on, and records what it said.
    async fn step(&mut self, state: &State, run: &mut Option<Run>) -> Result<(), Stop> {
        if let Some(agent) = state.model.as_ref().and_then(ModelName::guest) {
            return self.guest_step(state, agent, run).await;
        }
        // Somebody chose a model for the rest of a turn that an agent had begun.
        *run = None;
        let (models, name) = (&self.shared.parts.models, state.model.as_ref());
        let model = match is_step_of_task(state) {
            // What a search finds is no plan, no change and no review.
            true => models.find_for_work(name).await,
            false => models.find(name),
        };
        let model = model.map_err(|error| failed(&error))?;
        let info = model.info();
        if self.compact_if_nearly_full(state, &model, &info).await? {
            return Ok(());
        }
        let request = self.informed_request(state, &info).await?;
        let span = spans::model_call(&info.name);
        let replied = self.reply(state, &model, request).instrument(span.clone()).await;
        spans::model_replied(&span, &replied);
        drop(span);
        match replied? {
            Ok(replied) => self.replied(state, replied).await,
            Err(broken) => self.broke(state, &model, broken).await,
        }
    }

    /// Everything the model is told now, with what belongs to the instruction.
    async fn informed_request(&mut self, state: &State, info: &ModelInfo) -> Result<ModelRequest, Stop> {
        if self.gathered.is_none() {
            self.gathered = Some(self.gather(state, info).await?.into());
        }
        let found = self.retrieve(state).await?;
        self.request(state, found, info).await
    }

    async fn replied(&mut self, state: &State, replied: Replied) -> Result<(), Stop> {
        self.failures = 0;
        self.shortened = false;
        let Replied { mut message, usage } = replied;
        if let std::borrow::Cow::Owned(masked) = self.shared.masker.mask(&message.text) {
            message.text = masked;
        }
        let calls: Vec<ToolCall> = message.calls.clone();
        let used = state.turn.as_ref().map(|turn| turn.usage.plus(usage)).unwrap_or(usage);
        let mut events = vec![EventBody::MessageEnded { message, cut: false, usage }];
        if calls.is_empty() {
            events.extend(self.finish(state, used).await);
        }
        events.extend(calls.into_iter().map(|call| EventBody::ToolRequested { call }));
        Ok(self.link.record(events).await?)
    }

    /// What a turn with nothing more to call ends with: a question about what it collected, or its end.
    async fn finish(&self, state: &State, usage: loggia_domain::Usage) -> Vec<EventBody> {
        match collection(state) {
            Some(batch) => batch::complete(state, batch, self.expiry().await),
            None => vec![EventBody::TurnEnded { end: TurnEnd::Done, usage, by: None }],
        }
    }

    /// The model failed: wait and try again, shorten the conversation, or end the turn.
    async fn broke(&mut self, state: &State, model: &Arc<dyn Model>, broken: Broken) -> Result<(), Stop> {
        let Broken { error, partial } = broken;
        if let Some(event) = partial {
            self.link.record(vec![event]).await?;
        }
        match error.kind {
            ModelErrorKind::Transient { retry_after } if self.failures < reply::RETRIES => {
                self.failures += 1;
                reply::wait(&self.feed, &self.shared.masker, &error, self.failures, retry_after).await;
                Ok(())
            }
            // What was only looked up gives way to what was said.
            ModelErrorKind::TooLong if self.gathered.as_ref().is_some_and(|text| !text.is_empty()) => {
                self.gathered = Some("".into());
                Ok(())
            }
            ModelErrorKind::TooLong if !self.shortened => {
                self.shortened = true;
                self.compact(state, model, &model.info()).await
            }
            _ => Err(failed(&error)),
        }
    }
}

/// Whether the turn does the work of a task's step.
fn is_step_of_task(state: &State) -> bool {
    let open = state.task.as_ref().and_then(|task| task.open.as_ref());
    let step = open.and_then(|open| open.turn.as_ref()).map(|turn| turn.id);
    step.is_some() && step == state.turn.as_ref().map(|turn| turn.id)
}

/// A model's error as the end of a turn.
fn failed(error: &ModelError) -> Stop {
    let retry_helps = matches!(error.kind, ModelErrorKind::Transient { .. });
    Stop::End(TurnEnd::Failed(TurnFailure::Model {
        message: error.message.clone(),
        retry_helps,
        trouble: error.trouble,
    }))
}

/// What is collected, if anything is.
fn collection(state: &State) -> Option<&Batch> {
    state.batch.as_ref().filter(|batch| !batch.patches.is_empty())
}

/// The limit a turn has reached. Steps, tokens and cost are limited; at least one reply is always heard.
fn limit(state: &State, policy: &Policy) -> Option<TurnEnd> {
    let turn = state.turn.as_ref()?;
    if turn.steps >= policy.limits.max_steps {
        return Some(TurnEnd::StepLimit);
    }
    let tokens = |usage: &loggia_domain::Usage| usage.input.saturating_add(usage.output);
    let budget = &state.opened.budget;
    let spent = budget.tokens.is_some_and(|limit| tokens(&state.usage) >= limit)
        || budget.micro_dollars.is_some_and(|limit| state.spent >= limit)
        || policy.limits.max_tokens.is_some_and(|limit| tokens(&turn.usage) >= limit);
    spent.then_some(TurnEnd::BudgetLimit)
}

/// How a turn ends whose collection has been decided about: done, if the model had nothing more to call; else at the
/// limit that stopped it.
fn end_after_batch(state: &State, policy: Option<&Policy>) -> TurnEnd {
    if guest::is_over(state) {
        return TurnEnd::Done;
    }
    let said = state.history.items().iter().rev();
    let last = said.map(|item| &item.said).find(|said| matches!(said, Said::Assistant { .. }));
    match last {
        Some(Said::Assistant { message, cut }) if *cut || !message.calls.is_empty() => {
            // A limit that has been lifted meanwhile is the one that counted then.
            policy.and_then(|policy| limit(state, policy)).unwrap_or(TurnEnd::StepLimit)
        }
        _ => TurnEnd::Done,
    }
}
