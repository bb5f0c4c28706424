//! Finding files by words, and the lines in them that have most of the words.
//!
//! The ranking says which files; the files themselves say which lines, so what is shown is really there.

use std::collections::HashMap;

use loggia_domain::{CodeFinding, CodeQuery, IndexError};

use crate::query::excerpt::snippet;
use crate::query::filter::PathFilter;
use crate::query::{Search, unavailable};
use crate::rank::{self, Scores, Wanted};
use crate::words::{self, Words};

/// How many words of a query count: a page of prose has no more that matter.
pub(super) const MAX_WORDS: usize = 64;

/// How many lines are shown for a file.
pub(super) const WINDOW: u32 = 5;

impl Search<'_> {
    /// The files that fit the words of a query best.
    pub(super) fn words(&self, query: &CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        let filter = PathFilter::new(&query.paths)?;
        let wanted = wanted(&query.text);
        let mut scores = rank::rank(self.snapshot, &wanted, &rank::TEXT).map_err(unavailable)?;
        self.keep(&mut scores, &filter);
        let mut findings = Vec::new();
        // Some may have gone since.
        for (file, score) in scores.best(self.snapshot, query.limit.saturating_mul(2)) {
            if findings.len() >= query.limit {
                break;
            }
            self.check()?;
            let Some(entry) = self.snapshot.entry(file) else { continue };
            let Some(text) = self.text(&entry.path) else { continue };
            let window = window(&text, &wanted, &scores.rarity);
            let (start_line, end_line) = window.unwrap_or_else(|| first_lines(&text));
            findings.push(CodeFinding {
                path: entry.path.to_string(),
                start_line,
                end_line,
                symbol: None,
                snippet: snippet(&text, start_line, end_line),
                score,
                definition: None,
            });
        }
        Ok(findings)
    }

    /// Forgets the scores of files that are not wanted.
    pub(super) fn keep(&self, scores: &mut Scores, filter: &PathFilter) {
        if filter.wants_all() {
            return;
        }
        for (file, score) in (0..).zip(&mut scores.files) {
            if *score > 0.0 && !self.is_wanted(file, filter) {
                *score = 0.0;
            }
        }
    }

    /// Whether a file is there and wanted.
    pub(super) fn is_wanted(&self, file: u32, filter: &PathFilter) -> bool {
        self.snapshot.entry(file).is_some_and(|entry| filter.is_wanted(&entry.path))
    }
}

/// The words of a text that are looked for.
pub(super) fn wanted(text: &str) -> Vec<Wanted> {
    let words = words::unique(text).into_iter().take(MAX_WORDS);
    words.map(Wanted::plain).collect()
}

/// The few lines of a text that have the most of the words, by how much those count; nothing if none has any.
pub(super) fn window(text: &str, wanted: &[Wanted], rarity: &[f32]) -> Option<(u32, u32)> {
    let worth: HashMap<&str, (usize, f32)> = wanted
        .iter()
        .zip(rarity)
        .enumerate()
        .flat_map(|(place, (wanted, rarity))| wanted.each().map(move |(form, _)| (form, (place, *rarity))))
        .collect();
    let mut words = Words::default();
    // By line: which of the words it has.
    let mut lines: Vec<u64> = Vec::new();
    for line in text.lines() {
        let mut has = 0;
        words.split(line, |word| {
            if let Some((place, _)) = worth.get(word) {
                has |= 1 << (place % 64);
            }
        });
        lines.push(has);
    }
    let value = |has: u64| -> f32 {
        (0..rarity.len().min(64)).filter(|place| has >> place & 1 == 1).map(|place| rarity[place]).sum()
    };
    let mut best = (0.0, 0);
    for start in 0..lines.len() {
        if lines[start] == 0 {
            continue;
        }
        let has =
            lines[start..(start + WINDOW as usize).min(lines.len())].iter().fold(0, |all, has| all | has);
        let here = value(has);
        if here > best.0 {
            best = (here, start);
        }
    }
    let last = (best.1 + WINDOW as usize).min(lines.len());
    let end = (best.1..last).rev().find(|line| lines[*line] != 0)?;
    let line = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
    Some((line(best.1), line(end)))
}

/// The first lines of a text.
fn first_lines(text: &str) -> (u32, u32) {
    (1, u32::try_from(text.lines().take(WINDOW as usize).count().max(1)).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_most_of_the_words_are_shown() {
        let text = "alpha\nx\nx\nx\nx\nx\nbeta\nalpha gamma\nx\nbeta\nx\n";
        let wanted = wanted("alpha beta gamma");
        assert_eq!(window(text, &wanted, &[1.0, 1.0, 1.0]), Some((7, 10)));
        assert_eq!(window("none\nhere\n", &wanted, &[1.0, 1.0, 1.0]), None);
        assert_eq!(window("", &wanted, &[1.0, 1.0, 1.0]), None);
        assert_eq!((first_lines("none\nhere\n"), first_lines("")), ((1, 2), (1, 1)));
    }
}
