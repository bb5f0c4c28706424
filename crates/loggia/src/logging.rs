//! The log of this process: to stderr, at one level, for people or for programs.
//!
//! Lines for people at a terminal carry no time: they are read as they appear. What is kept in a file, and what
//! programs read, does. The level is that of our own parts; libraries are heard only when they warn.

use std::io::IsTerminal as _;

use anstream::ColorChoice;
use loggia_console::Journal;
use tracing::Metadata;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::telemetry::Telemetry;

/// What the targets of our own parts begin with: the names of our crates, and what our children say.
const OURS: [&str; 2] = ["loggia", "child"];

/// The crate of the program itself.
const PROGRAM: &str = "loggia";

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines for people who watch.
    Text,
    /// Lines for people who look later.
    TimedText,
    /// One JSON object a line.
    Json,
}

/// Who is heard below a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// All our parts.
    Everybody,
    /// Only the program itself, and not what works inside it: so what sessions are about is not told, nor their ids.
    Program,
}

/// Starts the log, and telemetry and a journal for consoles where they are wanted. A second call changes nothing.
pub(crate) fn start(
    level: LevelFilter,
    format: Format,
    heard: Heard,
    telemetry: Option<&Telemetry>,
    journal: Option<&Journal>,
) {
    let mut layers = vec![log(level, format, heard)];
    layers
        .extend(journal.map(|journal| {
            journal.layer(|metadata, level| most(metadata.target(), level, Heard::Everybody))
        }));
    layers.extend(telemetry.map(Telemetry::layer));
    if tracing_subscriber::registry().with(layers).try_init().is_ok() {
        tracing::debug!(%level, terminal = std::io::stderr().is_terminal(), "log started");
    }
}

fn log(level: LevelFilter, format: Format, heard: Heard) -> Box<dyn Layer<Registry> + Send + Sync> {
    // Which part speaks matters to those who look for a fault.
    let with_target = level > LevelFilter::INFO;
    let log = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(anstream::AutoStream::choice(&std::io::stderr()) != ColorChoice::Never)
        .with_target(with_target);
    // Spans are for telemetry: what a line is about stands in the line.
    let filter = move |metadata: &Metadata<'_>| {
        metadata.is_event() && *metadata.level() <= most(metadata.target(), level, heard)
    };
    let filter = filter_fn(filter).with_max_level_hint(level);
    match format {
        Format::Text => log.without_time().with_filter(filter).boxed(),
        Format::TimedText => log.with_ansi(false).with_filter(filter).boxed(),
        Format::Json => log.json().with_target(true).with_filter(filter).boxed(),
    }
}

/// How much whoever speaks may say.
fn most(target: &str, level: LevelFilter, heard: Heard) -> LevelFilter {
    let is_heard = match heard {
        Heard::Everybody => OURS.iter().any(|ours| target.starts_with(ours)),
        Heard::Program => target.split("::").next() == Some(PROGRAM),
    };
    if is_heard { level } else { level.min(LevelFilter::WARN) }
}

/// A checked value of `log.format`.
pub(crate) fn format(word: &str) -> Format {
    match word {
        "json" => Format::Json,
        _ => Format::Text,
    }
}

/// A checked value of `log.level` as a filter.
pub(crate) fn level(word: &str) -> LevelFilter {
    match word {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => LevelFilter::INFO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::LOG_LEVELS;

    #[test]
    fn only_the_program_itself_is_heard_where_sessions_are_nobodys_affair() {
        let most = |target, heard| most(target, LevelFilter::DEBUG, heard);
        assert_eq!(most("loggia_engine::session", Heard::Everybody), LevelFilter::DEBUG);
        assert_eq!(most("loggia::rpc::pump", Heard::Program), LevelFilter::DEBUG);
        for target in ["loggia_engine::session", "loggia_rpc::door", "child", "hyper"] {
            assert_eq!(most(target, Heard::Program), LevelFilter::WARN, "{target}");
        }
    }

    #[test]
    fn every_level_word_has_its_own_filter() {
        let filters: Vec<_> = LOG_LEVELS.iter().map(|word| level(word)).collect();
        assert!(filters.is_sorted_by(|quiet, loud| quiet < loud), "{filters:?}");
    }
}
