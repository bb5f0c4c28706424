//! All signs put together: which files fit a question.
//!
//! Words decide most; names that were typed, what a file is, who asks, how many others use it, and meaning decide the
//! rest. How much each counts is in [`Tuning`]. The scores of words are brought to the scale of the best one first, so
//! that the other signs mean the same in every question.

use loggia_domain::CodeContext;

use crate::chunks::Chunk;
use crate::entry::Entry;
use crate::fault::Fault;
use crate::fields::{FIELDS, Field};
use crate::language::Language;
use crate::query::Search;
use crate::query::question::Parsed;
use crate::query::sought::Sought;
use crate::rank::{self, Scores, Weights};
use crate::snapshot::Snapshot;
use crate::tuning::Tuning;
use crate::vectors::Similar;

/// How many files are looked at closely: the right one is among them, or the words do not lead to it.
const CLOSE: usize = 40;

/// How many bytes are read for that, so that large files do not make a query slow.
const CLOSE_BYTES: usize = 1024 * 1024;

/// Files that a name may be defined in and still say something about one of them.
const MAX_DEFINERS: usize = 5;

/// Names of a file that are asked for who uses them.
const MAX_ASKED: usize = 12;

/// How many files of a ranking by one sign count as found.
const STAGE: usize = 50;

/// The files that fit, and how many each sign led to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranking {
    /// Best first.
    pub(crate) files: Vec<Ranked>,
    /// Files by their path, code and comments.
    pub(crate) by_text: usize,
    /// Files by the names they define.
    pub(crate) by_names: usize,
}

/// A file that fits.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub(crate) file: u32,
    pub(crate) score: f32,
    /// Its text and its pieces with their scores, if it was looked at closely.
    pub(crate) close: Option<Close>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Close {
    pub(crate) text: String,
    pub(crate) pieces: Vec<(Chunk, f32)>,
}

impl Search<'_> {
    /// The files that fit a question, best first.
    pub(crate) fn ranked(
        &self,
        parsed: &Parsed,
        context: &CodeContext,
        tuning: &Tuning,
        similar: &[Similar],
    ) -> Result<Ranking, Fault> {
        let weights =
            Weights { fields: tuning.fields, lengths: tuning.lengths, saturation: tuning.saturation };
        let mut scores = rank::rank(self.snapshot, &parsed.wanted, &weights)?;
        self.add_names(&mut scores, parsed, tuning);
        self.add_context(&mut scores, parsed, context, tuning);
        let factors = Factors::new(parsed, tuning);
        for (file, entry) in self.snapshot.entries() {
            let score = &mut scores.files[file as usize];
            if *score > 0.0 {
                *score *= factors.of(entry);
            }
        }
        let best = scores.files.iter().copied().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        scores.files.iter_mut().for_each(|score| *score /= best);
        for found in similar {
            scores.files[found.file as usize] += tuning.vectors * found.likeness.max(0.0);
        }
        let mut ranked: Vec<Ranked> = scores
            .best(self.snapshot, CLOSE.max(similar.len()))
            .into_iter()
            .map(|(file, score)| Ranked { file, score, close: None })
            .collect();
        self.look_closely(&mut ranked, parsed, &scores, tuning, similar)?;
        let path = |file: u32| self.snapshot.entry(file).map_or("", |entry| &*entry.path);
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| path(a.file).cmp(path(b.file))));
        let [by_text, by_names] = [scores.by_text, scores.by_names].map(|count| count.min(STAGE));
        Ok(Ranking { files: ranked, by_text, by_names })
    }

    /// A file that defines what was typed is meant.
    fn add_names(&self, scores: &mut Scores, parsed: &Parsed, tuning: &Tuning) {
        if tuning.typed_name <= 0.0 {
            return;
        }
        let best = scores.files.iter().copied().fold(0.0, f32::max);
        for name in &parsed.names {
            let files = definers(self.snapshot, name);
            let share = tuning.typed_name * best / (files.len().max(1) as f32).sqrt();
            files.into_iter().for_each(|file| scores.files[file as usize] += share);
        }
    }

    fn add_context(&self, scores: &mut Scores, parsed: &Parsed, context: &CodeContext, tuning: &Tuning) {
        let best = scores.files.iter().copied().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        let [open, mention, complaint, recent] = tuning.context;
        let mut add = |path: &str, worth: f32| {
            if let Some(file) = self.snapshot.find(path) {
                scores.files[file as usize] += worth * best;
            }
        };
        for (lists, worth) in
            [(&context.open_files, open), (&context.diagnostics, complaint), (&context.recent, recent)]
        {
            for (place, path) in lists.iter().enumerate() {
                // The first of a list counts most.
                add(path, worth / (1.0 + place as f32 * 0.1));
            }
        }
        for mentioned in context.mentions.iter().chain(&parsed.paths) {
            let ends = |path: &str| {
                path.strip_suffix(mentioned.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            let files: Vec<u32> = self
                .snapshot
                .entries()
                .filter(|(_, entry)| ends(&entry.path))
                .map(|(file, _)| file)
                .collect();
            let share = mention * best / (files.len().max(1) as f32).sqrt();
            files.into_iter().for_each(|file| scores.files[file as usize] += share);
        }
    }

    /// Reads the best files and looks for the piece of each that fits.
    fn look_closely(
        &self,
        ranked: &mut [Ranked],
        parsed: &Parsed,
        scores: &Scores,
        tuning: &Tuning,
        similar: &[Similar],
    ) -> Result<(), Fault> {
        let mut room = CLOSE_BYTES;
        let sought = Sought::new(&parsed.wanted);
        let ideal: f32 = scores.rarity.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        for ranked in ranked.iter_mut().take(CLOSE) {
            let Some(entry) = self.snapshot.entry(ranked.file) else { continue };
            if entry.bytes as usize > room {
                continue;
            }
            room -= entry.bytes as usize;
            let (Some(text), Some(facts)) = (self.text(&entry.path), self.snapshot.facts(ranked.file)?)
            else {
                continue;
            };
            let mut pieces = sought.pieces(&text, &facts.chunks, &scores.rarity);
            for (place, (_, score)) in (0..).zip(&mut pieces) {
                *score /= ideal;
                let found = similar.iter().find(|found| found.file == ranked.file && found.place == place);
                *score += found.map_or(0.0, |found| tuning.vectors * found.likeness.max(0.0));
            }
            let best = pieces.iter().map(|(_, score)| *score).fold(0.0, f32::max);
            ranked.score += tuning.piece * best;
            if tuning.central > 0.0 {
                ranked.score += tuning.central * self.centrality(ranked.file, &facts)?;
            }
            ranked.close = Some(Close { text, pieces });
        }
        Ok(())
    }

    /// How much others use what a file of the state defines.
    pub(crate) fn central(&self, file: u32) -> Result<f32, Fault> {
        match self.snapshot.facts(file)? {
            Some(facts) => self.centrality(file, &facts),
            None => Ok(0.0),
        }
    }

    /// How much others use what a file defines: the logarithm of how many files do, of each name that few others define.
    fn centrality(&self, file: u32, facts: &crate::facts::Facts) -> Result<f32, Fault> {
        let mut most: f32 = 0.0;
        let mut seen: Vec<&str> = Vec::new();
        for symbol in &facts.symbols {
            if seen.len() >= MAX_ASKED {
                break;
            }
            let is_own = symbol.name.len() > 3 && symbol.container.is_empty();
            if !is_own || seen.contains(&&*symbol.name) {
                continue;
            }
            seen.push(&symbol.name);
            if definers(self.snapshot, &symbol.name).len() > MAX_DEFINERS {
                continue;
            }
            let mut users = 0_u32;
            let word = symbol.name.to_lowercase();
            let removed = &self.snapshot.delta.removed;
            self.snapshot.base.each_with(Field::Body, &word, |user, _| {
                users += u32::from(user != file && !removed.contains(&user));
            })?;
            for (user, changed) in self.snapshot.changes() {
                users += u32::from(user != file && changed.count(&word)[Field::Body as usize] > 0);
            }
            most = most.max((users as f32).ln_1p());
        }
        Ok(most)
    }
}

/// The files that define a name, each once.
pub(super) fn definers(snapshot: &Snapshot, name: &str) -> Vec<u32> {
    let names = &snapshot.base.names;
    let lower = name.to_lowercase();
    let mut files: Vec<u32> = Vec::new();
    for number in names.with_word(&lower).filter(|number| names.name(*number) == name) {
        let defined = names.defined(number).iter().map(|defined| defined.file);
        files.extend(defined.filter(|file| !snapshot.delta.removed.contains(file)));
    }
    for (file, changed) in snapshot.changes() {
        if changed.facts.symbols.iter().any(|symbol| &*symbol.name == name) {
            files.push(file);
        }
    }
    files.sort_unstable();
    files.dedup();
    files
}

/// What is left of the score of a file for what it is.
struct Factors {
    test: f32,
    prose: f32,
    data: f32,
}

impl Factors {
    fn new(parsed: &Parsed, tuning: &Tuning) -> Self {
        let asks = |words: &[&str]| {
            parsed.wanted.iter().any(|wanted| words.iter().any(|word| wanted.word.starts_with(word)))
        };
        Self {
            test: if asks(&["test"]) { 1.0 } else { tuning.tests },
            prose: if asks(&["doc", "readme", "changelog"]) { 1.0 } else { tuning.prose },
            data: tuning.data,
        }
    }

    fn of(&self, entry: &Entry) -> f32 {
        match entry.language {
            _ if self.test < 1.0 && is_test(&entry.path) => self.test,
            Language::Prose => self.prose,
            Language::Data => self.data,
            _ => 1.0,
        }
    }
}

fn is_test(path: &str) -> bool {
    const NAMES: [&str; 8] =
        ["test", "tests", "spec", "specs", "testdata", "fixtures", "__tests__", "golden"];
    let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
    let starts = |part: &str, with: &str| part.get(..with.len()).is_some_and(|start| is(start, with));
    let ends = |part: &str, with: &str| {
        part.len().checked_sub(with.len()).and_then(|at| part.get(at..)).is_some_and(|end| is(end, with))
    };
    path.split('/').any(|part| {
        let mut words = part.split('.');
        let stem = words.next().unwrap_or_default();
        // The last word is the ending, as in `app.spec.ts`.
        let mut inner = words.rev().skip(1);
        NAMES.iter().any(|name| is(stem, name))
            || starts(stem, "test_")
            || ends(stem, "_test")
            || ends(stem, "_tests")
            || inner.any(|word| is(word, "test") || is(word, "spec"))
    })
}

/// A ranking by some fields alone.
pub(super) fn only(fields: [f32; FIELDS], tuning: &Tuning) -> Weights {
    Weights { fields, lengths: tuning.lengths, saturation: tuning.saturation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_path() {
        for path in ["tests/it/a.rs", "src/a_test.go", "a/test_b.py", "x/app.spec.ts", "crates/a/tests/x.rs"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/testing.rs", "src/contest.rs", "latest/a.rs", "src/attest.py"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
