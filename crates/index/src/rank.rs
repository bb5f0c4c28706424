//! How well files fit words: BM25 over several fields.
//!
//! Knows counts, lengths and weights. A word counts the more the fewer files have it, and the less the more often it is
//! already there; a word in a path or a defined name counts more than one in the code. The counts of a file's fields are
//! added up before the second rule is applied, so that a word in two fields is not two words.
//!
//! What always holds: the same files with the same words get the same scores, bit by bit, whether they are on disk or in
//! memory and in whatever order they came. All sums are made in the order of the words and the fields.

use crate::fault::Fault;
use crate::fields::{FIELDS, Field, TEXT_FIELDS};
use crate::snapshot::Snapshot;
use crate::workers;

/// What a ranking pays attention to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    /// By field: how much a word there counts.
    pub(crate) fields: [f32; FIELDS],
    /// By field: how much a long field is held against a file, from not at all to in proportion.
    pub(crate) lengths: [f32; FIELDS],
    /// How soon more of the same word stops to count.
    pub(crate) saturation: f32,
}

/// For a search by words alone.
pub(crate) const TEXT: Weights =
    Weights { fields: [2.0, 1.0, 1.0, 0.0], lengths: [0.3, 0.75, 0.75, 0.0], saturation: 1.2 };

/// A word that is looked for, in one form or several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// The word as it was given.
    pub(crate) word: String,
    /// Other forms of it, each with how much it counts beside the word.
    pub(crate) forms: Vec<(String, f32)>,
    pub(crate) weight: f32,
}

impl Wanted {
    /// A word in this form alone.
    pub(crate) fn plain(word: String) -> Self {
        Self { word, forms: Vec::new(), weight: 1.0 }
    }

    /// Every form with how much it counts.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, f32)> {
        let forms = self.forms.iter().map(|(form, weight)| (form.as_str(), *weight));
        std::iter::once((self.word.as_str(), 1.0)).chain(forms)
    }
}

/// How well files fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scores {
    /// By number of the file; zero for those that have none of the words.
    pub(crate) files: Vec<f32>,
    /// By word: how much it counts, for being rare.
    pub(crate) rarity: Vec<f32>,
    /// How many files have one of the words in their path, code or comments.
    pub(crate) by_text: usize,
    /// How many files define a name with one of the words.
    pub(crate) by_names: usize,
}

impl Scores {
    /// The files that fit, best first; among equals by path.
    pub(crate) fn best(&self, snapshot: &Snapshot, limit: usize) -> Vec<(u32, f32)> {
        let mut found: Vec<(u32, f32)> =
            (0..).zip(self.files.iter().copied()).filter(|(_, score)| *score > 0.0).collect();
        let path = |file: u32| snapshot.entry(file).map_or("", |entry| &entry.path);
        let order =
            |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then_with(|| path(a.0).cmp(path(b.0)));
        if found.len() > limit && limit > 0 {
            found.select_nth_unstable_by(limit - 1, order);
        }
        found.truncate(limit);
        found.sort_unstable_by(order);
        found
    }
}

/// Ranks all files.
pub(crate) fn rank(snapshot: &Snapshot, wanted: &[Wanted], weights: &Weights) -> Result<Scores, Fault> {
    let collection = Collection::of(snapshot);
    let score = |counts: &[f32; FIELDS], lengths: &[u32; FIELDS]| {
        let mut frequency = 0.0;
        for (field, count) in counts.iter().enumerate() {
            let length = lengths[field] as f32 / collection.mean[field];
            let b = weights.lengths[field];
            frequency += weights.fields[field] * count / (1.0 - b + b * length);
        }
        frequency / (weights.saturation + frequency)
    };
    rank_by(snapshot, wanted, &weights.fields, &score)
}

/// Ranks all files by the words of their whole text and nothing else: what ours is measured against.
pub(crate) fn rank_plainly(snapshot: &Snapshot, wanted: &[Wanted]) -> Result<Scores, Fault> {
    const FIELDS_OF_TEXT: [f32; FIELDS] = [0.0, 1.0, 1.0, 0.0];
    let collection = Collection::of(snapshot);
    let mean = collection.mean[Field::Body as usize] + collection.mean[Field::Comments as usize];
    let score = |counts: &[f32; FIELDS], lengths: &[u32; FIELDS]| {
        let sum = |values: [f32; 2]| values[0] + values[1];
        let length = sum([lengths[1] as f32, lengths[2] as f32]) / mean;
        let frequency = sum([counts[1], counts[2]]);
        frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length))
    };
    rank_by(snapshot, wanted, &FIELDS_OF_TEXT, &score)
}

/// Ranks all files by how many of the words they have, and then how often: what a search for words gives.
pub(crate) fn rank_by_counts(snapshot: &Snapshot, wanted: &[Wanted]) -> Result<Scores, Fault> {
    const FIELDS_OF_TEXT: [f32; FIELDS] = [0.0, 1.0, 1.0, 0.0];
    /// One more word is worth more than any number of the same.
    const ONE_WORD: f32 = 1e5;
    let score = |counts: &[f32; FIELDS], _: &[u32; FIELDS]| ONE_WORD + counts[1] + counts[2];
    let mut scores = rank_by(snapshot, wanted, &FIELDS_OF_TEXT, &score)?;
    scores.rarity.fill(1.0);
    Ok(scores)
}

/// How well the files that have a word fit it, whatever the others are.
struct Fits {
    /// The word's place among those that are wanted.
    place: usize,
    files: Vec<Fit>,
}

/// How well one file fits one word.
struct Fit {
    file: u32,
    score: f32,
    /// Whether it has the word in its path, code or comments, and in a defined name.
    has: [bool; 2],
}

/// How many words are counted before what they give is added up: enough for several threads, and few enough for the
/// memory that words of every file take.
const WORDS_AT_ONCE: usize = 16;

/// Each word is counted by itself, on several threads; the sums are made in the order of the words.
fn rank_by(
    snapshot: &Snapshot,
    wanted: &[Wanted],
    fields: &[f32; FIELDS],
    score: &(dyn Fn(&[f32; FIELDS], &[u32; FIELDS]) -> f32 + Sync),
) -> Result<Scores, Fault> {
    let numbers = snapshot.numbers();
    let files = Collection::of(snapshot).files;
    let rarities = Vec::with_capacity(wanted.len());
    let mut scores = Scores { files: vec![0.0; numbers], rarity: rarities, by_text: 0, by_names: 0 };
    let mut seen = vec![[false; 2]; numbers];
    let words: Vec<(usize, &Wanted)> = wanted.iter().enumerate().collect();
    for words in words.chunks(WORDS_AT_ONCE) {
        let count = |tally: &mut Tally, (place, wanted): &(usize, &Wanted)| {
            Ok(vec![Fits { place: *place, files: fits(tally, snapshot, wanted, fields, score)? }])
        };
        let mut counted = workers::gather(words, || Tally::new(numbers), count)?;
        counted.sort_unstable_by_key(|fits| fits.place);
        for Fits { place, files: fits } in counted {
            let rarity = rarity(fits.len(), files) * wanted[place].weight;
            for fit in fits {
                let file = fit.file as usize;
                seen[file].iter_mut().zip(fit.has).for_each(|(seen, has)| *seen |= has);
                scores.files[file] += rarity * fit.score;
            }
            scores.rarity.push(rarity);
        }
    }
    scores.by_text = seen.iter().filter(|[text, _]| *text).count();
    scores.by_names = seen.iter().filter(|[_, names]| *names).count();
    Ok(scores)
}

/// How well the files that have a word fit it.
fn fits(
    tally: &mut Tally,
    snapshot: &Snapshot,
    wanted: &Wanted,
    fields: &[f32; FIELDS],
    score: &dyn Fn(&[f32; FIELDS], &[u32; FIELDS]) -> f32,
) -> Result<Vec<Fit>, Fault> {
    for (form, weight) in wanted.each() {
        tally.count(snapshot, form, fields)?;
        tally.add_up(weight);
    }
    let fit = |(file, counts): (u32, [f32; FIELDS])| Fit {
        file,
        score: score(&counts, snapshot.lengths(file)),
        has: [
            TEXT_FIELDS.iter().any(|field| counts[*field as usize] > 0.0),
            counts[Field::Names as usize] > 0.0,
        ],
    };
    Ok(tally.take().map(fit).collect())
}

/// How much a word counts that so many of all files have.
pub(crate) fn rarity(with: usize, files: u64) -> f32 {
    let (with, files) = (with as f64, files as f64);
    (1.0 + (files - with + 0.5) / (with + 0.5)).ln() as f32
}

/// What is known of all files together.
struct Collection {
    files: u64,
    mean: [f32; FIELDS],
}

impl Collection {
    fn of(snapshot: &Snapshot) -> Self {
        let base = &snapshot.base;
        let mut files = base.entries().len() as u64;
        let mut lengths = base.all_lengths;
        for file in &snapshot.delta.removed {
            let less = base.lengths[*file as usize];
            lengths.iter_mut().zip(less).for_each(|(sum, length)| *sum -= u64::from(length));
            files -= 1;
        }
        for changed in &snapshot.delta.files {
            let more = changed.entry.lengths;
            lengths.iter_mut().zip(more).for_each(|(sum, length)| *sum += u64::from(length));
            files += 1;
        }
        let mean = lengths.map(|sum| (sum as f64 / files.max(1) as f64).max(1.0) as f32);
        Self { files, mean }
    }
}

/// How often one word is in each file.
struct Tally {
    /// In one form.
    counts: Vec<[u32; FIELDS]>,
    touched: Vec<u32>,
    /// In all forms, weighted.
    sums: Vec<[f32; FIELDS]>,
    having: Vec<u32>,
}

impl Tally {
    fn new(files: usize) -> Self {
        // Nothing but zeros: memory that the system has not to write before it is used.
        Self {
            counts: vec![[0; FIELDS]; files],
            touched: Vec::new(),
            sums: vec![[0.0; FIELDS]; files],
            having: Vec::new(),
        }
    }

    /// What was counted; after that nothing is.
    fn take(&mut self) -> impl Iterator<Item = (u32, [f32; FIELDS])> {
        let Self { sums, having, .. } = self;
        having.drain(..).map(|file| (file, std::mem::take(&mut sums[file as usize])))
    }

    fn count(&mut self, snapshot: &Snapshot, word: &str, fields: &[f32; FIELDS]) -> Result<(), Fault> {
        let removed = &snapshot.delta.removed;
        for field in TEXT_FIELDS.into_iter().filter(|field| fields[*field as usize] > 0.0) {
            snapshot.base.each_with(field, word, |file, count| {
                if !removed.contains(&file) {
                    self.add(file, field, count);
                }
            })?;
        }
        if fields[Field::Names as usize] > 0.0 {
            self.count_names(snapshot, word);
        }
        for (file, changed) in snapshot.changes() {
            let counts = changed.count(word);
            for field in TEXT_FIELDS.into_iter().chain([Field::Names]) {
                if counts[field as usize] > 0 && fields[field as usize] > 0.0 {
                    self.add(file, field, counts[field as usize]);
                }
            }
        }
        Ok(())
    }

    /// One form is counted: whole numbers first, so that no order of counting shows in the sums.
    fn add_up(&mut self, weight: f32) {
        for file in self.touched.drain(..) {
            let counts = std::mem::take(&mut self.counts[file as usize]);
            let sums = &mut self.sums[file as usize];
            if *sums == [0.0; FIELDS] {
                self.having.push(file);
            }
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += weight * count as f32);
        }
    }

    fn count_names(&mut self, snapshot: &Snapshot, word: &str) {
        let names = &snapshot.base.names;
        let mut each = names.with_word(word).peekable();
        while let Some(name) = each.next() {
            let mut times = 1;
            while each.next_if_eq(&name).is_some() {
                times += 1;
            }
            for defined in names.defined(name) {
                if !snapshot.delta.removed.contains(&defined.file) {
                    self.add(defined.file, Field::Names, times);
                }
            }
        }
    }

    fn add(&mut self, file: u32, field: Field, count: u32) {
        let counts = &mut self.counts[file as usize];
        if *counts == [0; FIELDS] {
            self.touched.push(file);
        }
        counts[field as usize] += count;
    }
}
