//! Which lines are shown.
//!
//! What always holds: a line that does not tell how important it is belongs to the line before it, so that a stack trace
//! stays with its error.

use regex::Regex;

use super::lines::plain;

/// How many words of a line may come before its level: a time, a thread, a name.
const LEVEL_WITHIN: usize = 12;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Trace,
    /// For whoever looks for a fault.
    Debug,
    /// What happens.
    Info,
    /// Something to look at.
    Warn,
    /// Something that failed.
    Error,
}

/// Which lines are wanted. All, if it says nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those that match.
    pub grep: Option<Regex>,
    /// Those that are at least so important.
    pub level: Option<Level>,
}

/// A filter at work.
#[derive(Debug)]
pub(super) struct Sieve {
    filter: Filter,
    /// Of the last line that told.
    level: Option<Level>,
    /// How many lines were kept back.
    pub(super) hidden: u64,
}

impl Level {
    /// As it is written to programs.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }

    /// The level that a line tells, as most loggers write it: a word in capitals near its beginning.
    pub(super) fn of(line: &str) -> Option<Self> {
        let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.take(LEVEL_WITHIN).find_map(|word| match word {
            "TRACE" | "FINEST" | "FINER" => Some(Self::Trace),
            "DEBUG" | "FINE" => Some(Self::Debug),
            "INFO" | "NOTICE" => Some(Self::Info),
            "WARN" | "WARNING" => Some(Self::Warn),
            "ERROR" | "SEVERE" | "FATAL" | "CRITICAL" => Some(Self::Error),
            _ => None,
        })
    }
}

impl Sieve {
    pub(super) fn new(filter: Filter) -> Self {
        Self { filter, level: None, hidden: 0 }
    }

    /// Whether a line is shown.
    pub(super) fn passes(&mut self, line: &str) -> bool {
        let line = plain(line);
        self.level = Level::of(&line).or(self.level);
        let important = match (self.filter.level, self.level) {
            (Some(least), Some(level)) => level >= least,
            // Nothing is known of it: better shown than lost.
            _ => true,
        };
        let passes = important && self.filter.grep.as_ref().is_none_or(|regex| regex.is_match(&line));
        self.hidden += u64::from(!passes);
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(grep: Option<&str>, level: Option<Level>, text: &str) -> Vec<String> {
        let mut sieve = Sieve::new(Filter { grep: grep.map(|text| Regex::new(text).unwrap()), level });
        let kept: Vec<String> = text.lines().filter(|line| sieve.passes(line)).map(str::to_owned).collect();
        assert_eq!(usize::try_from(sieve.hidden).unwrap(), text.lines().count() - kept.len());
        kept
    }

    const LOG: &str = "begins\n[12:00:00 INFO]: Done\n[12:00:01] [Server thread/WARN]: slow\n\u{1b}[31;1m[12:00:02 ERROR]: \
                       broke\u{1b}[m\n  at Main\n2026-01-01T00:00:00Z DEBUG x: INFO about it";

    #[test]
    fn lines_are_kept_by_level_and_what_belongs_to_them() {
        let kept = kept(None, Some(Level::Warn), LOG);
        let ends: Vec<&str> = kept.iter().map(|line| &line[line.len() - 4..]).collect();
        assert_eq!(ends, ["gins", "slow", "e\u{1b}[m", "Main"]);
    }

    #[test]
    fn lines_are_kept_by_what_is_seen_of_them() {
        assert_eq!(kept(Some("(?i)done|Main$"), None, LOG), ["[12:00:00 INFO]: Done", "  at Main"]);
        assert_eq!(kept(Some("31;1m"), None, LOG), [""; 0]);
        assert_eq!(kept(None, None, LOG).len(), LOG.lines().count());
        assert_eq!(kept(Some("broke"), Some(Level::Error), LOG).len(), 1);
    }
}
