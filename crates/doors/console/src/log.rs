//! The daemon's own log on its way to the consoles.
//!
//! Knows how much is wanted and what waits. Refuses to know who reads it. What always holds:
//! - whoever logs never waits: what does not fit is dropped, oldest first, and counted;
//! - what consoles themselves say in the log is not told on them, so that telling cannot go on for ever;
//! - what is not wanted costs what it costs without consoles: the level is part of the log's own filter.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::Timestamp;
use tokio::sync::Notify;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, Filter};

pub(crate) use tracing::Level;

use crate::paint::{Painted, Style, brief};

/// Entries that may wait. They are told at once unless the machine is very busy.
const ROOM: usize = 1024;

/// How much of an entry is told; the daemon's own log has it all.
const MOST: usize = 4096;

/// Those who say nothing on consoles: the ones who serve them, and what the door says better from events.
const SILENT: [&str; 3] = ["loggia_endermux_io", "loggia_console", "loggia_engine::session::chronicle"];

/// The words for how much is logged, from nothing to everything.
pub(crate) const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// Where `info` is in that list: what people expect to see.
const USUAL: u8 = 3;

/// What was logged and is to be told; cheap to clone.
#[derive(Debug, Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// A place in [`LEVELS`].
    level: AtomicU8,
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: VecDeque<Painted>,
    dropped: u64,
}

/// How much of what somebody says is wanted at a level; libraries may be less welcome than we are.
pub type Limit = fn(&Metadata<'_>, LevelFilter) -> LevelFilter;

/// The layer of the log that takes entries down.
#[derive(Debug)]
struct Recorder(Journal);

/// What it takes down.
#[derive(Debug)]
struct Wanted {
    journal: Journal,
    limit: Limit,
}

impl Default for Journal {
    fn default() -> Self {
        Self::new()
    }
}

impl Journal {
    /// An empty one, which takes down what people expect to see.
    pub fn new() -> Self {
        let shared = Shared { level: AtomicU8::new(USUAL), waiting: Mutex::default(), more: Notify::new() };
        Self { shared: Arc::new(shared) }
    }

    /// The layer that fills it.
    pub fn layer<S>(&self, limit: Limit) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        Recorder(self.clone()).with_filter(Wanted { journal: self.clone(), limit }).boxed()
    }

    /// How much is told.
    pub(crate) fn level(&self) -> (&'static str, LevelFilter) {
        LEVELS[usize::from(self.shared.level.load(Ordering::Relaxed)).min(LEVELS.len() - 1)]
    }

    /// Tells another amount from now on; nothing if there is no such word.
    pub(crate) fn set_level(&self, word: &str) -> Option<()> {
        let place = LEVELS.iter().position(|(known, _)| *known == word)?;
        self.shared.level.store(u8::try_from(place).unwrap_or(USUAL), Ordering::Relaxed);
        // The log remembers who is never heard.
        tracing::callsite::rebuild_interest_cache();
        Some(())
    }

    /// Whether something of a level is told.
    pub(crate) fn wants(&self, level: Level) -> bool {
        level <= self.level().1
    }

    /// The next entry, as a line.
    pub(crate) async fn next(&self) -> Painted {
        loop {
            if let Some(entry) = self.take() {
                return entry;
            }
            self.shared.more.notified().await;
        }
    }

    fn take(&self) -> Option<Painted> {
        let mut waiting = self.waiting();
        match std::mem::take(&mut waiting.dropped) {
            0 => waiting.entries.pop_front(),
            dropped => {
                Some(Painted::of(Style::Aside, format!("… {dropped} lines of the log skipped")).line())
            }
        }
    }

    fn add(&self, entry: Painted) {
        let mut waiting = self.waiting();
        if waiting.entries.len() == ROOM {
            waiting.entries.pop_front();
            waiting.dropped += 1;
        }
        waiting.entries.push_back(entry);
        drop(waiting);
        self.shared.more.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = Said::default();
        event.record(&mut said);
        let mut text = Painted::new().plain(brief(&said.message, MOST));
        if !said.fields.is_empty() {
            text.put(Style::Aside, format!(" {}", brief(&said.fields, MOST)));
        }
        self.0.add(stamped(Timestamp::now(), *event.metadata().level(), text));
    }
}

impl<S> Filter<S> for Wanted {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.takes(metadata)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.takes(metadata) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.journal.level().1)
    }
}

impl Wanted {
    fn takes(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() <= (self.limit)(metadata, self.journal.level().1)
            && !SILENT.iter().any(|silent| metadata.target().starts_with(silent))
    }
}

/// An event's words and what else it holds.
#[derive(Default)]
struct Said {
    message: String,
    fields: String,
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

/// A line with its time and level before it, in the form other consoles of this protocol use.
pub(crate) fn stamped(at: Timestamp, level: Level, text: Painted) -> Painted {
    let time = at.to_string();
    // The date is the same for hours, and the time is the world's.
    let time = time.get(11..19).unwrap_or(&time);
    let style = match level {
        Level::ERROR => Style::Bad,
        Level::WARN => Style::Warning,
        _ => Style::Aside,
    };
    let mut line = Painted::of(style, format!("[{time} {level}]")).plain(": ");
    line.append(text);
    line.line()
}

#[cfg(test)]
mod tests {
    use loggia_protocol_endermux::ColorLevel;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    fn all(_: &Metadata<'_>, level: LevelFilter) -> LevelFilter {
        level
    }

    /// What waits, without its times.
    fn told(journal: &Journal) -> String {
        let mut text = String::new();
        while let Some(entry) = journal.take() {
            let line = entry.render(ColorLevel::None);
            text.push_str(line.split_once(' ').map_or(line.as_str(), |(_, rest)| rest));
        }
        text
    }

    #[test]
    fn what_is_logged_is_told_at_the_wanted_level() {
        let journal = Journal::new();
        let subscriber = tracing_subscriber::registry().with(vec![journal.layer(all)]);
        tracing::subscriber::with_default(subscriber, || {
            let log = || {
                tracing::info!(target: "loggia", name = "x\u{1b}[2J", "started\nhere");
                tracing::debug!(target: "loggia", "details");
                tracing::error!(target: "loggia_endermux_io::server", "about a console");
                tracing::info!(target: "loggia_engine::session::chronicle", "told better elsewhere");
            };
            log();
            assert_eq!(told(&journal), "INFO]: started… name=x\n");
            journal.set_level("debug").unwrap();
            log();
            assert_eq!(told(&journal), "INFO]: started… name=x\nDEBUG]: details\n");
            journal.set_level("off").unwrap();
            log();
            assert_eq!(told(&journal), "");
        });
        assert_eq!(journal.set_level("loud"), None);
    }

    #[test]
    fn what_nobody_takes_is_bounded_and_the_gap_is_told() {
        let journal = Journal::new();
        (0..ROOM + 3).for_each(|number| journal.add(Painted::of(Style::Plain, number.to_string()).line()));
        let first = journal.take().unwrap().render(ColorLevel::None);
        assert_eq!(first, "… 3 lines of the log skipped\n");
        assert_eq!(journal.take().unwrap().render(ColorLevel::None), "3\n");
        assert_eq!(journal.waiting().entries.len(), ROOM - 1);
    }
}
