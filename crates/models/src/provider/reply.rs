//! A provider's reply as it comes in.
//!
//! What always holds: a reply that ends without the provider's word that it is over is an error; nobody waits longer
//! than the time-outs say; a reply is at most [`MAX_REPLY_BYTES`]; nothing comes after an error. Dropping it closes
//! the connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use genai::chat::{ChatStreamEvent, MessageContent, StreamEnd};
use loggia_domain::{
    ModelError, ModelErrorKind, ModelRequest, ModelTrouble, Price, ReplyPart, ReplyStream, Usage,
};
use tokio::time::Instant;

use super::calls::Calls;
use super::depth::Depth;
use super::failure::{Blame, transient};
use super::ollama::{self, Wanted};
use super::quiet::Quiet;
use super::thoughts::is_thought;
use super::watch::Watch;
use super::{ProviderModel, request, whole};
use crate::keys::Found;
use crate::{EndpointKind, TimeOuts};

/// One reply with everything in it: far above what any model writes, far below what would hurt.
const MAX_REPLY_BYTES: usize = 16 * 1024 * 1024;

/// What Anthropic takes on top of the price of input for what it is to keep, in hundredths.
const CACHE_WRITE_SURCHARGE: u64 = 25;

/// Longer than any daemon runs.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// Asks for a reply, and waits for its first piece: a provider that refuses does so before it. One that does not stream is asked
/// once more, for a whole reply, and from then on at once.
pub(super) async fn begin(
    model: &ProviderModel,
    key: Option<Found>,
    asked: ModelRequest,
) -> Result<ReplyStream, ModelError> {
    let blamed = Arc::new(Blamed { provider: Arc::clone(&model.provider), model: model.model.clone(), key });
    let replies_whole = &model.provider.replies_whole;
    if !replies_whole.load(Relaxed) {
        let mut coming = ask(model, &blamed, &asked, false).await?;
        match coming.next().await {
            Err(_) if coming.is_unstreamed => {}
            first => return Ok(told(first?, coming)),
        }
    }
    let mut coming = ask(model, &blamed, &asked, true).await?;
    let first = coming.next().await?;
    replies_whole.store(true, Relaxed);
    Ok(told(first, coming))
}

/// A reply whose first piece was waited for.
fn told(first: Option<ReplyPart>, coming: Coming) -> ReplyStream {
    let first = stream::iter(first.map(Ok));
    let rest = stream::try_unfold(coming, |mut coming| async move {
        Ok(coming.next().await?.map(|part| (part, coming)))
    });
    first.chain(rest).boxed()
}

/// Asks for a reply, as a stream or whole.
async fn ask(
    model: &ProviderModel,
    blamed: &Arc<Blamed>,
    asked: &ModelRequest,
    whole: bool,
) -> Result<Coming, ModelError> {
    let blame = blamed.blame();
    let kind = model.provider.kind;
    let thoughts = &model.provider.thoughts;
    let may_think = kind != EndpointKind::Anthropic || request::may_think(thoughts, asked);
    let depth = Depth::of(&model.info, model.effort, asked.thinking).filter(|_| may_think);
    let chat = request::chat(kind, model.info.abilities, thoughts, asked).map_err(|error| {
        ModelError::new(ModelErrorKind::Permanent, format!("a tool's description cannot be sent: {error}"))
    })?;
    let watch = Arc::new(Watch::default());
    let stream = match kind {
        EndpointKind::Ollama => {
            let wanted = Wanted { context: model.info.context_tokens, most: asked.max_output, depth };
            let body = ollama::body(&model.model, chat, wanted);
            ollama::open(Arc::clone(&model.web), Arc::clone(blamed), body)
        }
        EndpointKind::OpenAi | EndpointKind::Anthropic | EndpointKind::Gemini => {
            let options = request::options(kind, model.info.abilities, depth, asked)
                .with_raw_frame_sink_arc(Arc::clone(&watch) as _);
            let target = model.provider.target(&model.model, blamed.key.as_ref());
            let client = model.web.replies(&model.provider.address).map_err(|error| blame.of_web(&error))?;
            if whole {
                let (blamed, watch) = (Arc::clone(blamed), Arc::clone(&watch));
                whole::open(client.clone(), target, chat, options, blamed, watch)
            } else {
                let opened = client.exec_chat_stream(target, chat, Some(&options)).await;
                let stream = Quiet::new(opened.map_err(|error| blame.of_library(&error))?.stream);
                let blamed = Arc::clone(blamed);
                stream.map(move |event| event.map_err(|error| blamed.blame().of_library(&error))).boxed()
            }
        }
    };
    Ok(Coming {
        stream,
        watch,
        calls: Calls::new(kind),
        blamed: Arc::clone(blamed),
        price: model.info.price,
        time_outs: model.time_outs,
        started: Instant::now(),
        last_part: None,
        bytes: 0,
        ready: VecDeque::new(),
        over: false,
        is_unstreamed: false,
    })
}

/// Whom to blame, for as long as the reply lives.
#[derive(Debug)]
pub(super) struct Blamed {
    pub(super) provider: Arc<super::Provider>,
    pub(super) model: String,
    pub(super) key: Option<Found>,
}

impl Blamed {
    pub(super) fn blame(&self) -> Blame<'_> {
        Blame { provider: &self.provider, model: Some(&self.model), key: self.key.as_ref() }
    }
}

struct Coming {
    stream: BoxStream<'static, Result<ChatStreamEvent, ModelError>>,
    watch: Arc<Watch>,
    calls: Calls,
    blamed: Arc<Blamed>,
    price: Option<Price>,
    time_outs: TimeOuts,
    started: Instant,
    /// When the last piece of the reply came.
    last_part: Option<Instant>,
    bytes: usize,
    ready: VecDeque<ReplyPart>,
    over: bool,
    /// Whether it ended without anything that belongs into a stream.
    is_unstreamed: bool,
}

impl Coming {
    /// The next piece; none when the reply is over.
    async fn next(&mut self) -> Result<Option<ReplyPart>, ModelError> {
        let mut last_sign = self.last_part.unwrap_or(self.started);
        loop {
            if let Some(part) = self.ready.pop_front() {
                self.last_part = Some(Instant::now());
                return Ok(Some(part));
            }
            if self.over {
                return Ok(None);
            }
            let (deadline, waited) = self.deadline(last_sign);
            let Ok(event) = tokio::time::timeout_at(deadline, self.stream.next()).await else {
                return Err(self.silent(waited));
            };
            last_sign = Instant::now();
            match event {
                Some(Ok(event)) => self.take(event)?,
                Some(Err(error)) => return Err(error),
                None => self.close()?,
            }
        }
    }

    /// Until when to wait. Signs of life keep a reply that has begun alive, but not forever.
    fn deadline(&self, last_sign: Instant) -> (Instant, Duration) {
        let TimeOuts { first_token, between_tokens, .. } = self.time_outs;
        match self.last_part {
            None => (after(self.started, first_token), first_token),
            Some(part) => {
                let patience = after(part, first_token.max(between_tokens));
                (after(last_sign, between_tokens).min(patience), between_tokens)
            }
        }
    }

    fn take(&mut self, event: ChatStreamEvent) -> Result<(), ModelError> {
        match event {
            ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ThoughtSignatureChunk(_) => {}
            ChatStreamEvent::Chunk(chunk) => {
                self.grow(chunk.content.len())?;
                if !chunk.content.is_empty() {
                    self.ready.push_back(ReplyPart::Text(chunk.content));
                }
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.grow(chunk.content.len())?;
                if !chunk.content.is_empty() {
                    self.ready.push_back(ReplyPart::Thought(chunk.content));
                }
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                let piece = self.watch.next_piece();
                let grown = self.calls.take(chunk.tool_call, piece);
                self.grow(grown.map_err(|error| self.blamed.blame().permanent(&error.to_string()))?)?;
                // Arguments are a reply as much as text is, though they are told when they are whole.
                self.last_part = Some(Instant::now());
            }
            ChatStreamEvent::End(end) => {
                // The library ends what was cut here as if it were whole.
                if self.blamed.provider.kind == EndpointKind::Gemini && end.captured_stop_reason.is_none() {
                    return Err(self.cut());
                }
                self.finish(Some(end));
            }
        }
        Ok(())
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_REPLY_BYTES {
            let error = format!("sends a reply of over {MAX_REPLY_BYTES} bytes");
            return Err(self.blamed.blame().permanent(&error));
        }
        Ok(())
    }

    /// The connection ended without the provider's last word. Some compatible servers never say it, but do say why
    /// the model stopped.
    fn close(&mut self) -> Result<(), ModelError> {
        if self.blamed.provider.kind == EndpointKind::OpenAi && self.watch.is_finished() {
            self.finish(None);
            return Ok(());
        }
        self.is_unstreamed = self.blamed.provider.kind == EndpointKind::OpenAi && self.watch.is_blank();
        Err(self.cut())
    }

    fn finish(&mut self, end: Option<StreamEnd>) {
        self.over = true;
        self.ready.extend(self.calls.finish());
        let Some(end) = end else { return };
        // Everything else was told already.
        if let Some(ReplyPart::Call { provider_id: Some(call), .. }) = self.ready.front() {
            let parts = end.captured_content.map(MessageContent::into_parts).unwrap_or_default();
            let thoughts = parts.into_iter().filter(is_thought).collect();
            self.blamed.provider.thoughts.keep(call, thoughts);
        }
        if let Some(used) = end.captured_usage {
            self.ready.push_back(ReplyPart::Usage(usage(&used, self.price)));
        }
    }

    fn cut(&self) -> ModelError {
        match self.watch.error() {
            Some(said) => self.blamed.blame().of_words(&said),
            None => self.blamed.blame().transient("cut its reply off").with(ModelTrouble::Network),
        }
    }

    fn silent(&self, waited: Duration) -> ModelError {
        let what = if self.last_part.is_none() { "nothing came" } else { "the reply stopped" };
        transient(format!("`{}`: {what} for {} seconds", self.blamed.provider.name, waited.as_secs_f32()))
            .with(ModelTrouble::TimedOut)
    }
}

/// A moment later. One beyond the end of time is as good as never.
fn after(moment: Instant, wait: Duration) -> Instant {
    moment.checked_add(wait).unwrap_or_else(|| moment + NEVER)
}

/// What a reply used, and what that costs.
fn usage(used: &genai::chat::Usage, price: Option<Price>) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
    let details = used.prompt_tokens_details.as_ref();
    let written = count(details.and_then(|details| details.cache_creation_tokens));
    let mut usage = Usage {
        input: count(used.prompt_tokens),
        cached: count(details.and_then(|details| details.cached_tokens)),
        output: count(used.completion_tokens),
        micro_dollars: None,
    };
    usage.micro_dollars = price.map(|price| {
        let surcharge = Usage { input: written * CACHE_WRITE_SURCHARGE / 100, ..Usage::default() };
        price.cost(&usage).saturating_add(price.cost(&surcharge))
    });
    usage
}

#[cfg(test)]
mod tests {
    use genai::chat::PromptTokensDetails;

    use super::*;

    #[test]
    fn what_is_to_be_kept_costs_a_quarter_more() {
        let details = PromptTokensDetails {
            cache_creation_tokens: Some(1000),
            cached_tokens: Some(500),
            ..PromptTokensDetails::default()
        };
        let used = genai::chat::Usage {
            prompt_tokens: Some(2000),
            prompt_tokens_details: Some(details),
            completion_tokens: Some(10),
            ..genai::chat::Usage::default()
        };
        let price = Price { input: 4_000_000, cached_input: 400_000, output: 10_000_000 };
        let told = usage(&used, Some(price));
        assert_eq!((told.input, told.cached, told.output), (2000, 500, 10));
        assert_eq!(told.micro_dollars, Some(1500 * 4 + 200 + 100 + 250 * 4));
        assert_eq!(usage(&used, None).micro_dollars, None);
        // A provider that counts below zero has counted nothing.
        let odd = genai::chat::Usage { prompt_tokens: Some(-4), ..genai::chat::Usage::default() };
        assert_eq!(usage(&odd, None).input, 0);
    }
}
