//! One reply, of a model or of a plugin's agent: streamed to everybody as it comes, kept every tenth of a second.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use loggia_domain::{
    AssistantMessage, BoxFuture, CallId, EventBody, MessageId, Model, ModelError, ModelErrorKind, ModelName,
    ModelRequest, Passing, ReplyPart, SessionId, Store, StoreError, ToolCall, TurnId, Usage,
};
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::secrets::{Masker, PieceMask};
use crate::session::{Feed, State};
use crate::turn::{Stop, Turn};

/// How often a model that failed for a passing reason is asked again: with the waits below, within 16 seconds.
pub(super) const RETRIES: u32 = 5;

/// The first wait; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The longest wait, also when a provider names a longer one: people look at the screen meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How often the running reply is kept. A crash loses no more than this and the time of one write.
const KEEP_EVERY: Duration = Duration::from_millis(100);

/// So many parts are taken at once from a model that never pauses; then its tail is kept, if it is time, and those
/// who listen hear them.
const IN_A_ROW: usize = 32;

/// More calls in one reply than any task needs; a model that loops is stopped here.
const MAX_CALLS: usize = 128;

/// The longest reply, calls and thoughts included: a model that does not stop is stopped here. It is one event, and
/// less than the longest prompt; the longest replies that providers allow have a quarter of it.
const MAX_REPLY: usize = 2 << 20;

/// How much is kept of why a model was replaced: a provider may send a page.
const MAX_REASON: usize = 2 << 10;

/// A reply that came to its end.
pub(super) struct Replied {
    pub(super) message: AssistantMessage,
    pub(super) usage: Usage,
}

/// A reply that did not.
pub(super) struct Broken {
    pub(super) error: ModelError,
    /// What had arrived, as an event; nothing if nothing had.
    pub(super) partial: Option<EventBody>,
}

impl Turn {
    /// Asks the model and streams its reply.
    pub(super) async fn reply(
        &self,
        state: &State,
        model: &Arc<dyn Model>,
        request: ModelRequest,
    ) -> Result<Result<Replied, Broken>, Stop> {
        match model.reply(request).await {
            Ok(mut stream) => self.hear(state, &model.info().name, &mut stream).await,
            Err(error) => Ok(Err(Broken { error, partial: None })),
        }
    }

    /// Streams what somebody replies.
    pub(super) async fn hear(
        &self,
        state: &State,
        replier: &ModelName,
        stream: &mut (impl Stream<Item = Result<ReplyPart, ModelError>> + Unpin),
    ) -> Result<Result<Replied, Broken>, Stop> {
        let Some(turn) = state.turn.as_ref().map(|turn| turn.id) else { return Err(Stop::Halt) };
        let mut coming = Coming::new(&self.feed, turn, &self.shared.masker);
        let mut tail = Tail::new(Arc::clone(&self.shared.parts.store), Arc::clone(&self.feed), self.session);
        let mut in_a_row = 0;
        let mut replier_known = false;
        loop {
            let part = poll_fn(|context| {
                let part = stream.poll_next_unpin(context);
                if part.is_pending() {
                    // Only now: looking at a clock for every token would cost more than the token.
                    in_a_row = 0;
                    tail.go_on(context);
                }
                part
            })
            .await;
            match part {
                Some(Ok(ReplyPart::Switched { from, to, reason })) => {
                    replier_known = true;
                    if !state.has_heard_of(&from, &to) {
                        let event = switched(&self.shared.masker, from, to, &reason);
                        self.link.record(vec![event]).await?;
                    }
                }
                Some(Ok(part)) => {
                    if !std::mem::replace(&mut replier_known, true)
                        && let Some(event) = back(state, replier)
                    {
                        self.link.record(vec![event]).await?;
                    }
                    coming.take(part);
                    if coming.length > MAX_REPLY {
                        let message = format!("the reply is longer than {MAX_REPLY} bytes");
                        let error = ModelError::new(ModelErrorKind::Permanent, message);
                        return Ok(Err(Broken { error, partial: coming.partial() }));
                    }
                    in_a_row += 1;
                    if in_a_row == IN_A_ROW {
                        poll_fn(|context| {
                            tail.go_on(context);
                            Poll::Ready(())
                        })
                        .await;
                        tokio::task::yield_now().await;
                        in_a_row = 0;
                    }
                }
                Some(Err(error)) => return Ok(Err(Broken { error, partial: coming.partial() })),
                None => return Ok(Ok(coming.whole())),
            }
        }
    }
}

/// That another model replies, as everybody is told.
pub(super) fn switched(masker: &Masker, from: ModelName, to: ModelName, reason: &str) -> EventBody {
    tracing::warn!(from = from.0, to = to.0, "another model replies");
    let mut reason = masker.mask(reason).into_owned();
    reason.truncate(reason.floor_char_boundary(MAX_REASON));
    EventBody::ModelSwitched { from, to, reason }
}

/// That a model replies again which another stood in for, if so.
fn back(state: &State, model: &ModelName) -> Option<EventBody> {
    let stand_in = state.stand_in.as_ref().filter(|stand_in| stand_in.instead_of == *model)?;
    let (from, to) = (stand_in.model.clone(), model.clone());
    Some(EventBody::ModelSwitched { from, to, reason: "it replies again".to_owned() })
}

/// Waits before the model is asked again, and says so.
pub(super) async fn wait(
    feed: &Feed,
    masker: &Masker,
    error: &ModelError,
    failures: u32,
    retry_after: Option<Duration>,
) {
    let doubled = FIRST_WAIT.saturating_mul(1 << failures.saturating_sub(1).min(10));
    let wait = retry_after.unwrap_or(doubled).min(LONGEST_WAIT);
    let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    feed.pass(Passing::Retrying {
        message: masker.mask(&error.message).into_owned(),
        attempt: failures + 1,
        wait: milliseconds,
    });
    tokio::time::sleep(wait).await;
}

/// A reply as it comes in.
struct Coming<'a> {
    feed: &'a Feed,
    turn: TurnId,
    begun: bool,
    length: usize,
    /// What was told, with secrets masked.
    message: AssistantMessage,
    text: PieceMask,
    thought: PieceMask,
    usage: Usage,
}

impl<'a> Coming<'a> {
    fn new(feed: &'a Feed, turn: TurnId, masker: &Masker) -> Self {
        let message =
            AssistantMessage { id: MessageId::new(), text: String::new(), thought: None, calls: Vec::new() };
        let (text, thought) = (masker.pieces(), masker.pieces());
        Self { feed, turn, begun: false, length: 0, message, text, thought, usage: Usage::default() }
    }

    fn take(&mut self, part: ReplyPart) {
        if !self.begun && !matches!(part, ReplyPart::Usage(_) | ReplyPart::Switched { .. }) {
            self.begun = true;
            self.feed.begin_reply(self.turn, self.message.id);
        }
        match part {
            ReplyPart::Text(piece) => {
                self.length += piece.len();
                let piece = self.text.push(&self.message.text, &piece);
                self.feed.add_text(&piece);
                self.message.text.push_str(&piece);
            }
            ReplyPart::Thought(piece) => {
                self.length += piece.len();
                let thought = self.message.thought.get_or_insert_default();
                let piece = self.thought.push(thought, &piece);
                self.feed.add_thought(&piece);
                thought.push_str(&piece);
            }
            ReplyPart::Call { provider_id, tool, arguments } => {
                self.length += tool.len() + arguments.0.len();
                if self.message.calls.len() < MAX_CALLS {
                    let id = CallId::new();
                    self.message.calls.push(ToolCall { id, provider_id, tool, arguments });
                }
            }
            ReplyPart::Usage(usage) => self.usage = usage,
            // Recorded before it is taken.
            ReplyPart::Switched { .. } => {}
        }
    }

    /// Tells what was held back: nothing makes a secret of it any more.
    fn finish(&mut self) {
        let (text, thought) = (self.text.finish(), self.thought.finish());
        if !text.is_empty() {
            self.feed.add_text(&text);
            self.message.text.push_str(&text);
        }
        if !thought.is_empty() {
            self.feed.add_thought(&thought);
            self.message.thought.get_or_insert_default().push_str(&thought);
        }
    }

    fn whole(mut self) -> Replied {
        self.finish();
        Replied { message: self.message, usage: self.usage }
    }

    /// What is left of a reply that broke: its text. Calls that came before the break are not made: the model
    /// may have wanted to say more about them.
    fn partial(mut self) -> Option<EventBody> {
        self.finish();
        self.message.calls.clear();
        let usage = self.usage;
        self.begun.then_some(EventBody::MessageEnded { message: self.message, cut: true, usage })
    }
}

/// Keeps what has arrived of the running reply, one write at a time.
struct Tail {
    store: Arc<dyn Store>,
    feed: Arc<Feed>,
    session: SessionId,
    tick: Interval,
    kept: usize,
    writing: Option<BoxFuture<'static, Result<(), StoreError>>>,
}

impl Tail {
    fn new(store: Arc<dyn Store>, feed: Arc<Feed>, session: SessionId) -> Self {
        let mut tick = tokio::time::interval_at(Instant::now() + KEEP_EVERY, KEEP_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { store, feed, session, tick, kept: 0, writing: None }
    }

    /// Goes on with keeping as far as that takes no waiting; the task is woken when there is more to do.
    fn go_on(&mut self, context: &mut Context<'_>) {
        while pin!(self.keep()).poll(context).is_ready() {}
    }

    /// Keeps what there is when it is time. Losing the future loses nothing: what is under way stays with the tail.
    async fn keep(&mut self) {
        if let Some(writing) = &mut self.writing {
            if let Err(error) = writing.await {
                // The reply goes on; only a crash now would cost more of it.
                tracing::warn!(session = %self.session, %error, "the running reply could not be kept");
            }
            self.writing = None;
        }
        self.tick.tick().await;
        let length = self.feed.reply_length();
        if length == self.kept {
            return;
        }
        if let Some(reply) = self.feed.running_reply() {
            self.kept = length;
            let (store, session) = (Arc::clone(&self.store), self.session);
            self.writing = Some(Box::pin(async move { store.keep_reply(session, reply).await }));
        }
    }
}
