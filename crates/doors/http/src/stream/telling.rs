//! What a client is told, as fast as it reads.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use loggia_domain::EventBody;
use loggia_engine::{FeedClosed, Subscription, Told};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::door::Inner;
use crate::from_wire::Heard;
use crate::stream::socket::{End, Outgoing};
use crate::to_wire::{Teller, snapshot};

/// How much is told before it is looked at whether something else is to be done.
const BURST: usize = 64;

/// The telling side of a stream.
pub(super) struct Telling<'a> {
    teller: Teller,
    subscription: Subscription,
    answers: mpsc::Receiver<String>,
    heard: &'a Mutex<Heard>,
    stop: &'a CancellationToken,
    pings: Interval,
}

/// Everything that makes a stream say something.
enum News {
    Stop,
    Answer(String),
    Told(Result<Told, FeedClosed>),
    Ping,
}

impl<'a> Telling<'a> {
    pub(super) fn new(
        teller: Teller,
        subscription: Subscription,
        answers: mpsc::Receiver<String>,
        heard: &'a Mutex<Heard>,
        inner: &'a Inner,
    ) -> Self {
        let ping = inner.streams.timing().ping;
        let mut pings = interval_at(Instant::now() + ping, ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { teller, subscription, answers, heard, stop: &inner.parts.stop, pings }
    }

    /// Tells until there is nothing more to tell or nobody to tell it to.
    pub(super) async fn run(&mut self, outgoing: &mut Outgoing<'_>) -> Result<Infallible, End> {
        loop {
            match self.news().await {
                News::Stop => return self.last(outgoing, End::STOPPING).await,
                News::Answer(text) => outgoing.write(text).await?,
                News::Told(Ok(told)) => self.burst(told, outgoing).await?,
                News::Told(Err(why)) => {
                    if let FeedClosed::Store(error) = &why {
                        tracing::error!(%error, "a stream ends because of the journal");
                    }
                    return self.last(outgoing, End::of_feed(&why)).await;
                }
                News::Ping => outgoing.ping().await?,
            }
            outgoing.flush().await?;
        }
    }

    async fn news(&mut self) -> News {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => News::Stop,
            Some(text) = self.answers.recv() => News::Answer(text),
            // Before what is told: one who is told much for long must still be asked whether it is there.
            _ = self.pings.tick() => News::Ping,
            told = self.subscription.next() => News::Told(told),
        }
    }

    /// Tells something, and what else is there already, as one piece of writing.
    async fn burst(&mut self, mut told: Told, outgoing: &mut Outgoing<'_>) -> Result<(), End> {
        for _ in 1..BURST {
            self.tell(&told, outgoing).await?;
            let Some(next) = self.subscription.try_next() else { return Ok(()) };
            told = next;
        }
        self.tell(&told, outgoing).await
    }

    async fn tell(&mut self, told: &Told, outgoing: &mut Outgoing<'_>) -> Result<(), End> {
        for text in self.teller.tell(told) {
            outgoing.write(text).await?;
        }
        let Told::Event(event) = told else { return Ok(()) };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).note(&event.body);
        if matches!(event.body, EventBody::SessionClosed { .. }) {
            outgoing.flush().await?;
            return Err(End::ENDED);
        }
        Ok(())
    }

    /// The last word of a stream.
    async fn last(&mut self, outgoing: &mut Outgoing<'_>, end: End) -> Result<Infallible, End> {
        outgoing.say(&snapshot(self.teller.past().state())).await?;
        outgoing.flush().await?;
        Err(end)
    }
}
