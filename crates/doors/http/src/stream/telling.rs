//! What a client is told, as fast as it reads.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use loggia_domain::EventBody;
use loggia_engine::{FeedClosed, Seat, Subscription, Told};
use loggia_protocol_agent_server::SessionState;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::door::Inner;
use crate::from_wire::Heard;
use crate::stream::presence::Watch;
use crate::stream::socket::{End, Outgoing};
use crate::to_wire::{Teller, snapshot};

/// How much is told before it is looked at whether something else is to be done.
const BURST: usize = 64;

/// The telling side of a stream.
pub(super) struct Telling<'a> {
    sources: Sources,
    seat: &'a Seat,
    heard: &'a Mutex<Heard>,
    inner: &'a Inner,
    pings: Interval,
}

/// Where what is told comes from.
pub(super) struct Sources {
    pub(super) teller: Teller,
    /// The state that was shown when the client came.
    pub(super) shown: SessionState,
    pub(super) subscription: Subscription,
    pub(super) answers: mpsc::Receiver<String>,
    /// Who else is there.
    pub(super) others: Watch,
}

/// Everything that makes a stream say something.
enum News {
    Stop,
    Text(String),
    Told(Result<Told, FeedClosed>),
    Ping,
}

impl<'a> Telling<'a> {
    pub(super) fn new(sources: Sources, seat: &'a Seat, heard: &'a Mutex<Heard>, inner: &'a Inner) -> Self {
        let ping = inner.streams.timing().ping;
        let mut pings = interval_at(Instant::now() + ping, ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { sources, seat, heard, inner, pings }
    }

    /// Tells until there is nothing more to tell or nobody to tell it to.
    pub(super) async fn run(&mut self, outgoing: &mut Outgoing<'_>) -> Result<Infallible, End> {
        self.inherit(outgoing).await?;
        outgoing.flush().await?;
        loop {
            match self.news().await {
                News::Stop => return self.last(outgoing, End::STOPPING).await,
                News::Text(text) => outgoing.write(text).await?,
                News::Told(Ok(told)) => {
                    self.burst(told, outgoing).await?;
                    self.inherit(outgoing).await?;
                }
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
        let Sources { teller, subscription, answers, others, .. } = &mut self.sources;
        tokio::select! {
            biased;
            () = self.inner.parts.stop.cancelled() => News::Stop,
            Some(text) = answers.recv() => News::Text(text),
            // Before what is told: one who is told much for long must still be asked whether it is there.
            _ = self.pings.tick() => News::Ping,
            // The past comes first.
            text = others.next(), if teller.is_past_arrival() => News::Text(text),
            told = subscription.next() => News::Told(told),
        }
    }

    /// Hands over what a client of the same name was given to do and has gone without. Whoever goes is told of as
    /// something that passes, or something else is told; so it is enough to look whenever something was told.
    async fn inherit(&mut self, outgoing: &mut Outgoing<'_>) -> Result<(), End> {
        if !self.sources.teller.may_inherit() {
            return Ok(());
        }
        // A session that has gone says so itself.
        let Ok(orphans) = self.seat.orphans().await else { return Ok(()) };
        for text in self.sources.teller.inherit(&orphans) {
            outgoing.write(text).await?;
        }
        Ok(())
    }

    /// Tells something, and what else is there already, as one piece of writing.
    async fn burst(&mut self, mut told: Told, outgoing: &mut Outgoing<'_>) -> Result<(), End> {
        for _ in 1..BURST {
            self.tell(&told, outgoing).await?;
            let Some(next) = self.sources.subscription.try_next() else { return Ok(()) };
            told = next;
        }
        self.tell(&told, outgoing).await
    }

    async fn tell(&mut self, told: &Told, outgoing: &mut Outgoing<'_>) -> Result<(), End> {
        for text in self.sources.teller.tell(told) {
            outgoing.write(text).await?;
        }
        let Told::Event(event) = told else { return Ok(()) };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).note(&event.body);
        match event.body {
            // A good place to begin for whoever comes again: little is open then.
            EventBody::TurnEnded { .. } => {
                self.inner.marks.keep(self.seat.session(), event.seq, self.sources.teller.past());
                Ok(())
            }
            EventBody::SessionClosed { .. } => {
                outgoing.flush().await?;
                Err(End::ENDED)
            }
            _ => Ok(()),
        }
    }

    /// The last word of a stream.
    async fn last(&mut self, outgoing: &mut Outgoing<'_>, end: End) -> Result<Infallible, End> {
        let Sources { teller, shown, .. } = &self.sources;
        // One who has not been told all of the past knows a newer state already.
        let state = if teller.is_past_arrival() { teller.past().state() } else { shown.clone() };
        outgoing.say(&snapshot(state)).await?;
        outgoing.flush().await?;
        Err(end)
    }
}
