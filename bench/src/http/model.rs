//! A model that speaks at a steady pace and puts the time into every token.
//!
//! `pace COUNT MICROSECONDS` replies with so many tokens, each the moment it was spoken; `plain COUNT MICROSECONDS` with
//! the same word over and over. A thread of its own keeps the pace: the timers of the runtime are too coarse.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::{StreamExt, stream};
use loggia_domain::{
    BoxFuture, Model, ModelCatalogue, ModelError, ModelErrorKind, ModelInfo, ModelMessage, ModelName,
    ModelRequest, ReplyPart, ReplyStream,
};
use tokio::sync::mpsc;

use super::clock::now;

/// What it says when the time does not matter; as long as a usual token.
pub(super) const WORD: &str = "tok ";

/// What to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Speech {
    stamped: bool,
    count: u64,
    pace: Duration,
}

impl Speech {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut words = text.split(' ');
        let stamped = words.next().context("an instruction")? == "pace";
        let count = words.next().context("a count")?.parse()?;
        let pace = Duration::from_micros(words.next().context("a pace")?.parse()?);
        Ok(Self { stamped, count, pace })
    }

    /// The tokens, as they are spoken.
    pub(super) fn speak(self) -> mpsc::UnboundedReceiver<String> {
        let (sender, receiver) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let mut next = Instant::now();
            for _ in 0..self.count {
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
                next += self.pace;
                let token = if self.stamped { format!("{:016x} ", now()) } else { WORD.to_owned() };
                if sender.send(token).is_err() {
                    return;
                }
            }
        });
        receiver
    }
}

/// The only model there is.
#[derive(Debug)]
pub(super) struct OnlyPacer;

#[derive(Debug)]
struct Pacer;

impl ModelCatalogue for OnlyPacer {
    fn find(&self, _: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Pacer))
    }
}

impl Model for Pacer {
    fn info(&self) -> ModelInfo {
        // No window that is filled by accident.
        ModelInfo::new(ModelName("bench:pacer".to_owned()), 100_000_000, true)
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let speech = match request.messages.last() {
            Some(ModelMessage::User(text)) => Speech::parse(text),
            _ => Err(anyhow::anyhow!("nothing was asked")),
        };
        let stream =
            speech.map(reply).map_err(|error| ModelError::new(ModelErrorKind::Permanent, error.to_string()));
        Box::pin(async move { stream })
    }
}

fn reply(speech: Speech) -> ReplyStream {
    let tokens = stream::unfold(speech.speak(), |mut tokens| async move {
        let token = tokens.recv().await?;
        Some((Ok(ReplyPart::Text(token)), tokens))
    });
    tokens.boxed()
}
