//! What an extension said, and what happened to it: the last hundred entries.
//!
//! Invariant: the log belongs to the entry of the settings, not to a process, so it outlives restarts.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::{ExtensionLogEntry, ExtensionLogLevel, Timestamp};
use loggia_protocol_hermes::limits::LOG_RING_ENTRIES;

/// Words that a line begins with to say how serious it is, between brackets or before a colon.
const WORDS: [(&str, ExtensionLogLevel); 4] = [
    ("error", ExtensionLogLevel::Error),
    ("warning", ExtensionLogLevel::Warning),
    ("warn", ExtensionLogLevel::Warning),
    ("info", ExtensionLogLevel::Info),
];

/// The last entries.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<ExtensionLogEntry>,
    /// How many there ever were.
    total: u64,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a line of the extension's stderr.
    pub(crate) fn hear(&self, line: &str) {
        let (level, text) = sort(line);
        self.note(level, text);
    }

    /// Keeps something that happened.
    pub(crate) fn note(&self, level: ExtensionLogLevel, text: impl Into<String>) {
        let mut ring = self.lock();
        if ring.entries.len() == LOG_RING_ENTRIES {
            ring.entries.pop_front();
        }
        ring.entries.push_back(ExtensionLogEntry { at: Timestamp::now(), level, text: text.into() });
        ring.total += 1;
    }

    /// All that is kept, oldest first.
    pub(crate) fn entries(&self) -> Vec<ExtensionLogEntry> {
        self.lock().entries.iter().cloned().collect()
    }

    /// How many entries there ever were.
    pub(crate) fn total(&self) -> u64 {
        self.lock().total
    }

    /// What came after there were so many, as far as it is kept.
    pub(crate) fn since(&self, total: u64) -> Vec<ExtensionLogEntry> {
        let ring = self.lock();
        let new = usize::try_from(ring.total.saturating_sub(total)).unwrap_or(usize::MAX);
        let skipped = ring.entries.len().saturating_sub(new);
        ring.entries.iter().skip(skipped).cloned().collect()
    }
}

/// How serious a line is, and the line without the word that said so.
fn sort(line: &str) -> (ExtensionLogLevel, &str) {
    let trimmed = line.trim();
    for (word, level) in WORDS {
        for word in [word.to_owned(), word.to_uppercase()] {
            let rest = trimmed
                .strip_prefix(&format!("[{word}]"))
                .or_else(|| trimmed.strip_prefix(&format!("{word}:")));
            if let Some(rest) = rest {
                return (level, rest.trim_start());
            }
        }
    }
    (ExtensionLogLevel::Info, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_word_says_how_serious_a_line_is() {
        use ExtensionLogLevel::{Error, Info, Warning};
        let check = |line: &str, level, text: &str| assert_eq!(sort(line), (level, text), "{line}");
        check("[ERROR] no file", Error, "no file");
        check("  [warn] slow\r", Warning, "slow");
        check("[WARNING]slow", Warning, "slow");
        check("ERROR: bad", Error, "bad");
        check("warning: careful", Warning, "careful");
        check("INFO: started", Info, "started");
        check("[info]", Info, "");
        check("[echo-test] pong", Info, "[echo-test] pong");
        check("Error: mixed case", Info, "Error: mixed case");
        check("errors: 3", Info, "errors: 3");
        check("an [ERROR] inside", Info, "an [ERROR] inside");
        check("", Info, "");
    }

    #[test]
    fn the_last_hundred_entries_are_kept() {
        let log = Log::default();
        for number in 0..130 {
            log.hear(&format!("line {number}"));
        }
        let entries = log.entries();
        assert_eq!((entries.len(), log.total()), (100, 130));
        assert_eq!((entries[0].text.as_str(), entries[99].text.as_str()), ("line 30", "line 129"));
        assert_eq!(
            log.since(128).iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>(),
            ["line 128", "line 129"]
        );
        assert_eq!(log.since(0).len(), 100);
        assert!(log.since(130).is_empty());
    }
}
