//! One reply of a model: streamed to everybody as it comes, kept every tenth of a second.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use loggia_domain::{
    AssistantMessage, BoxFuture, CallId, EventBody, MessageId, Model, ModelError, ModelErrorKind,
    ModelRequest, Passing, ReplyPart, SessionId, Store, StoreError, ToolCall, TurnId, Usage,
};
use tokio::time::{Instant, Interval, MissedTickBehavior};

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

/// More calls in one reply than any task needs; a model that loops is stopped here.
const MAX_CALLS: usize = 128;

/// The longest reply, calls and thoughts included: a model that does not stop is stopped here. It is one event, and
/// less than the longest prompt; the longest replies that providers allow have a quarter of it.
const MAX_REPLY: usize = 2 << 20;

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
        let Some(turn) = state.turn.as_ref().map(|turn| turn.id) else { return Err(Stop::Halt) };
        let mut stream = match model.reply(request).await {
            Ok(stream) => stream,
            Err(error) => return Ok(Err(Broken { error, partial: None })),
        };
        let mut coming = Coming::new(&self.feed, turn);
        let mut tail = Tail::new(Arc::clone(&self.shared.parts.store), Arc::clone(&self.feed), self.session);
        loop {
            // In no fixed order: a model that never pauses must not keep its tail from being kept.
            let part = tokio::select! {
                part = stream.next() => part,
                () = tail.keep() => continue,
            };
            match part {
                Some(Ok(part)) => {
                    coming.take(part);
                    if coming.length > MAX_REPLY {
                        let message = format!("the model's reply is longer than {MAX_REPLY} bytes");
                        let error = ModelError { kind: ModelErrorKind::Permanent, message };
                        return Ok(Err(Broken { error, partial: coming.partial() }));
                    }
                    // Nor those who listen from hearing it.
                    tokio::task::coop::consume_budget().await;
                }
                Some(Err(error)) => return Ok(Err(Broken { error, partial: coming.partial() })),
                None => return Ok(Ok(coming.whole())),
            }
        }
    }
}

/// Waits before the model is asked again, and says so.
pub(super) async fn wait(feed: &Feed, error: &ModelError, failures: u32, retry_after: Option<Duration>) {
    let doubled = FIRST_WAIT.saturating_mul(1 << failures.saturating_sub(1).min(10));
    let wait = retry_after.unwrap_or(doubled).min(LONGEST_WAIT);
    let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    feed.pass(Passing::Retrying {
        message: error.message.clone(),
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
    message: AssistantMessage,
    usage: Usage,
}

impl<'a> Coming<'a> {
    fn new(feed: &'a Feed, turn: TurnId) -> Self {
        let message =
            AssistantMessage { id: MessageId::new(), text: String::new(), thought: None, calls: Vec::new() };
        Self { feed, turn, begun: false, length: 0, message, usage: Usage::default() }
    }

    fn take(&mut self, part: ReplyPart) {
        if !self.begun && !matches!(part, ReplyPart::Usage(_)) {
            self.begun = true;
            self.feed.begin_reply(self.turn, self.message.id);
        }
        match part {
            ReplyPart::Text(piece) => {
                self.length += piece.len();
                self.feed.add_text(&piece);
                self.message.text.push_str(&piece);
            }
            ReplyPart::Thought(piece) => {
                self.length += piece.len();
                self.feed.add_thought(&piece);
                self.message.thought.get_or_insert_default().push_str(&piece);
            }
            ReplyPart::Call { provider_id, tool, arguments } => {
                self.length += tool.len() + arguments.0.len();
                if self.message.calls.len() < MAX_CALLS {
                    let id = CallId::new();
                    self.message.calls.push(ToolCall { id, provider_id, tool, arguments });
                }
            }
            ReplyPart::Usage(usage) => self.usage = usage,
        }
    }

    fn whole(self) -> Replied {
        Replied { message: self.message, usage: self.usage }
    }

    /// What is left of a reply that broke: its text. Calls that came before the break are not made: the model
    /// may have wanted to say more about them.
    fn partial(mut self) -> Option<EventBody> {
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

    /// Goes on with keeping. Losing the future loses nothing: what is under way stays with the tail.
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
