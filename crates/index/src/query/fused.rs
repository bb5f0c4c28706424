//! All signs put together: which files fit a question.
//!
//! Words decide most; names that were typed, what a file is, who asks, how many others use it, and meaning decide the
//! rest. How much each counts is in [`Tuning`]. The scores of words are brought to the scale of the best one first, so
//! that the other signs mean the same in every question.

use loggia_domain::{CodeContext, CodeQuestion};

use crate::chunks::{self, Chunk};
use crate::entry::Entry;
use crate::facts::Facts;
use crate::fault::Fault;
use crate::fields::{FIELDS, Field};
use crate::language::Language;
use crate::query::Search;
use crate::query::filter::PathFilter;
use crate::query::question::Parsed;
use crate::query::sought::Sought;
use crate::rank::{self, Scores, Weights};
use crate::snapshot::Snapshot;
use crate::tuning::Tuning;
use crate::vectors::Similar;

/// How many files are looked at closely: the right one is among them, or the words do not lead to it. With forty, no more
/// questions of the benchmark were answered.
const CLOSE: usize = 24;

/// How many of the best are asked who uses them.
const CENTRAL: usize = 12;

/// How many bytes are read for that, so that large files do not make a query slow.
const CLOSE_BYTES: usize = 1024 * 1024;

/// Threads that look closely.
const MAX_READERS: usize = 4;

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
    /// By word of the question: how much it counts.
    pub(crate) rarity: Vec<f32>,
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

/// What whoever looks at a file closely has to know.
struct Asked<'q> {
    sought: Sought<'q>,
    scores: &'q Scores,
    tuning: &'q Tuning,
    similar: &'q [Similar],
}

impl Search<'_> {
    /// The files that fit a question, best first.
    pub(super) fn ranked(
        &self,
        parsed: &Parsed,
        question: &CodeQuestion,
        filter: &PathFilter,
        tuning: &Tuning,
        similar: &[Similar],
    ) -> Result<Ranking, Fault> {
        let weights =
            Weights { fields: tuning.fields, lengths: tuning.lengths, saturation: tuning.saturation };
        let mut scores = rank::rank(self.snapshot, &parsed.wanted, &weights)?;
        self.add_names(&mut scores, parsed, tuning);
        self.add_history(&mut scores, parsed, &question.history, tuning.history);
        self.add_context(&mut scores, parsed, &question.context, tuning);
        // Before the best are chosen, so that none is crowded out by what is not wanted.
        self.keep(&mut scores, filter);
        let factors = Factors::new(parsed, tuning);
        for (file, score) in (0..).zip(&mut scores.files).filter(|(_, score)| **score > 0.0) {
            *score *= self.snapshot.entry(file).map_or(0.0, |entry| factors.of(entry));
        }
        let best = scores.files.iter().copied().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        scores.files.iter_mut().for_each(|score| *score /= best);
        for found in best_of_each(similar).into_iter().filter(|found| self.is_wanted(found.file, filter)) {
            scores.files[found.file as usize] += tuning.vectors * found.likeness;
        }
        let mut ranked: Vec<Ranked> = scores
            .best(self.snapshot, CLOSE.max(similar.len()).max(question.limit))
            .into_iter()
            .map(|(file, score)| Ranked { file, score, close: None })
            .collect();
        let close = ranked.len().min(CLOSE.max(question.limit));
        self.look_closely(&mut ranked[..close], parsed, &scores, tuning, similar)?;
        let path = |file: u32| self.snapshot.entry(file).map_or("", |entry| &*entry.path);
        let order =
            |a: &Ranked, b: &Ranked| b.score.total_cmp(&a.score).then_with(|| path(a.file).cmp(path(b.file)));
        ranked.sort_by(order);
        if tuning.central > 0.0 {
            // It decides between files that fit as well; farther down there is nothing to decide.
            let files = self.snapshot.numbers() - self.snapshot.delta.removed.len();
            let most = tuning.central * (files as f32).ln_1p();
            for place in close_ones(&ranked, CENTRAL, most) {
                ranked[place].score += tuning.central * self.central(ranked[place].file)?;
            }
            ranked.sort_by(order);
        }
        let [by_text, by_names] = [scores.by_text, scores.by_names].map(|count| count.min(STAGE));
        Ok(Ranking { files: ranked, by_text, by_names, rarity: scores.rarity })
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
        let lists = [
            (&context.open_files, open, false),
            (&context.diagnostics, complaint, false),
            // Something always changed last: that alone makes it no answer.
            (&context.recent, recent, true),
        ];
        for (list, worth, must_fit) in lists {
            for (place, path) in list.iter().enumerate() {
                let Some(file) = self.snapshot.find(path) else { continue };
                let score = &mut scores.files[file as usize];
                if *score > 0.0 || !must_fit {
                    // The first of a list counts most.
                    *score += worth * best / (1.0 + place as f32 * 0.1);
                }
            }
        }
        let mut mentions: Vec<&String> = context.mentions.iter().chain(&parsed.paths).collect();
        mentions.sort_unstable();
        mentions.dedup();
        for mentioned in mentions {
            let ends = |path: &str| {
                path.strip_suffix(mentioned.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            if let Some(file) = self.snapshot.find(mentioned) {
                // The whole path means this file, whatever others have of its words.
                scores.files[file as usize] += (1.0 + mention) * best;
                continue;
            }
            let entries = self.snapshot.entries().filter(|(_, entry)| ends(&entry.path));
            let mut files: Vec<u32> = entries.map(|(file, _)| file).collect();
            if files.is_empty() {
                files = definers(self.snapshot, mentioned);
            }
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
        let mut close: Vec<&mut Ranked> = Vec::new();
        for ranked in ranked.iter_mut() {
            let bytes = self.snapshot.entry(ranked.file).map_or(usize::MAX, |entry| entry.bytes as usize);
            if bytes <= room {
                room -= bytes;
                close.push(ranked);
            }
        }
        let question = Asked { sought: Sought::new(&parsed.wanted), scores, tuning, similar };
        let readers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_READERS);
        if close.len() < readers * 2 || readers == 1 {
            return close.into_iter().try_for_each(|ranked| self.look_at(ranked, &question));
        }
        let share = close.len().div_ceil(readers);
        std::thread::scope(|scope| {
            let work = |share: &mut [&mut Ranked]| {
                share.iter_mut().try_for_each(|ranked| self.look_at(ranked, &question))
            };
            let (first, rest) = close.split_at_mut(share);
            let others: Vec<_> =
                rest.chunks_mut(share).map(|share| scope.spawn(move || work(share))).collect();
            let done = work(first);
            let mut all = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            all.try_fold((), |(), done| done).and(done)
        })
    }

    /// Reads a file and looks for the piece of it that fits.
    fn look_at(&self, ranked: &mut Ranked, asked: &Asked<'_>) -> Result<(), Fault> {
        let Asked { sought, scores, tuning, similar } = asked;
        let Some(entry) = self.snapshot.entry(ranked.file) else { return Ok(()) };
        let Some(text) = self.text(&entry.path) else { return Ok(()) };
        // Whose symbols were not looked for yet is cut up by its lines alone.
        let by_lines = || chunks::chunks(&entry.path, &text, &Facts::default());
        let chunks = self.snapshot.pieces(ranked.file)?.unwrap_or_else(by_lines);
        let ideal: f32 = scores.rarity.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let mut pieces = sought.pieces(&text, &chunks, &scores.rarity);
        pieces.iter_mut().for_each(|(_, score)| *score /= ideal);
        // What the file means is counted already; here it says which piece of it is meant.
        let best = pieces.iter().map(|(_, score)| *score).fold(0.0, f32::max);
        ranked.score += tuning.piece * best;
        for found in similar.iter().filter(|found| found.file == ranked.file) {
            if let Some((_, score)) = pieces.get_mut(found.place as usize) {
                *score += tuning.vectors * found.likeness;
            }
        }
        ranked.close = Some(Close { text, pieces });
        Ok(())
    }

    /// How much others use what a file of the state defines.
    pub(crate) fn central(&self, file: u32) -> Result<f32, Fault> {
        match self.snapshot.outline(file)? {
            Some(facts) => self.centrality(file, &facts),
            None => Ok(0.0),
        }
    }

    /// How much others use what a file defines: the logarithm of how many files do, of each name that few others define.
    fn centrality(&self, file: u32, facts: &Facts) -> Result<f32, Fault> {
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

/// The places of the first files that have one beside them whose score is so near.
fn close_ones(ranked: &[Ranked], first: usize, near: f32) -> Vec<usize> {
    let is_near = |place: usize| ranked[place].score - ranked[place + 1].score <= near;
    let has_near = |place: &usize| {
        place.checked_sub(1).is_some_and(is_near) || place + 1 < ranked.len() && is_near(*place)
    };
    (0..ranked.len().min(first)).filter(has_near).collect()
}

/// The piece of each file that is most like what was asked for, by how much more it is so than the least of all: what
/// any two pieces of code have in common says nothing.
fn best_of_each(similar: &[Similar]) -> Vec<Similar> {
    let least = similar.iter().map(|found| found.likeness).fold(f32::INFINITY, f32::min).max(0.0);
    let mut best: Vec<Similar> = Vec::new();
    for found in similar {
        let likeness = (found.likeness - least).max(0.0);
        match best.iter_mut().find(|other| other.file == found.file) {
            Some(other) => other.likeness = other.likeness.max(likeness),
            None => best.push(Similar { likeness, ..*found }),
        }
    }
    best
}

/// The files that define a name, each once.
pub(super) fn definers(snapshot: &Snapshot, name: &str) -> Vec<u32> {
    let defined = snapshot.base.names.defined_as(name).iter().map(|defined| defined.file);
    let mut files: Vec<u32> = defined.filter(|file| !snapshot.delta.removed.contains(file)).collect();
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
            _ if entry.is_test => self.test,
            Language::Prose => self.prose,
            Language::Data => self.data,
            _ => 1.0,
        }
    }
}

/// A ranking by some fields alone.
pub(super) fn only(fields: [f32; FIELDS], tuning: &Tuning) -> Weights {
    Weights { fields, lengths: tuning.lengths, saturation: tuning.saturation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_a_near_one_beside_them_are_told_apart() {
        let ranked = |scores: &[f32]| -> Vec<Ranked> {
            (0..).zip(scores).map(|(file, score)| Ranked { file, score: *score, close: None }).collect()
        };
        let check = |scores: &[f32], first, expected: &[usize]| {
            assert_eq!(close_ones(&ranked(scores), first, 0.01), expected, "{scores:?}");
        };
        check(&[], 9, &[]);
        check(&[1.0], 9, &[]);
        check(&[1.0, 0.5, 0.495, 0.2], 9, &[1, 2]);
        check(&[1.0, 1.0, 0.992, 0.985], 9, &[0, 1, 2, 3]);
        // The last one that may move is near to one that may not.
        check(&[1.0, 0.5, 0.495], 2, &[1]);
    }
}
