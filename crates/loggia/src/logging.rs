//! The log of this process: to stderr, at one level, for people or for programs.
//!
//! Lines for people at a terminal carry no time: they are read as they appear. What is kept in a file, and what
//! programs read, does. The level is that of our own parts; libraries are heard only when they warn.

use std::io::IsTerminal as _;

use anstream::ColorChoice;
use tracing::Metadata;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::telemetry::Telemetry;

/// What the targets of our own parts begin with: the names of our crates, and what our children say.
const OURS: [&str; 2] = ["loggia", "child"];

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

/// Starts the log, and telemetry if it was asked for. A second call changes nothing.
pub(crate) fn start(level: LevelFilter, format: Format, telemetry: Option<&Telemetry>) {
    let mut layers = vec![log(level, format)];
    layers.extend(telemetry.map(Telemetry::layer));
    if tracing_subscriber::registry().with(layers).try_init().is_ok() {
        tracing::debug!(%level, terminal = std::io::stderr().is_terminal(), "log started");
    }
}

fn log(level: LevelFilter, format: Format) -> Box<dyn Layer<Registry> + Send + Sync> {
    // Which part speaks matters to those who look for a fault.
    let with_target = level > LevelFilter::INFO;
    let log = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(anstream::AutoStream::choice(&std::io::stderr()) != ColorChoice::Never)
        .with_target(with_target);
    // Spans are for telemetry: what a line is about stands in the line.
    let filter = filter_fn(move |metadata| metadata.is_event() && *metadata.level() <= most(metadata, level))
        .with_max_level_hint(level);
    match format {
        Format::Text => log.without_time().with_filter(filter).boxed(),
        Format::TimedText => log.with_ansi(false).with_filter(filter).boxed(),
        Format::Json => log.json().with_target(true).with_filter(filter).boxed(),
    }
}

/// How much whoever speaks may say.
fn most(metadata: &Metadata<'_>, level: LevelFilter) -> LevelFilter {
    let is_ours = OURS.iter().any(|ours| metadata.target().starts_with(ours));
    if is_ours { level } else { level.min(LevelFilter::WARN) }
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
    fn every_level_word_has_its_own_filter() {
        let filters: Vec<_> = LOG_LEVELS.iter().map(|word| level(word)).collect();
        assert!(filters.is_sorted_by(|quiet, loud| quiet < loud), "{filters:?}");
    }
}
