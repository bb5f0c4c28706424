//! The log of this process: to stderr, at one level, for people or for programs.
//!
//! Lines for people at a terminal carry no time: they are read as they appear. What is kept in a file, and what
//! programs read, does.

use std::io::IsTerminal as _;

use anstream::ColorChoice;
use tracing::level_filters::LevelFilter;

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

/// Starts the log. A second call changes nothing.
pub(crate) fn start(level: LevelFilter, format: Format) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(anstream::AutoStream::choice(&std::io::stderr()) != ColorChoice::Never)
        .with_max_level(level);
    let started = match format {
        Format::Text => log.without_time().try_init(),
        Format::TimedText => log.with_ansi(false).try_init(),
        Format::Json => log.json().try_init(),
    };
    if started.is_ok() {
        tracing::debug!(%level, terminal = std::io::stderr().is_terminal(), "log started");
    }
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
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => LevelFilter::WARN,
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
