//! What belongs to a question: pieces of code, packed into a budget, each with where it is from.
//!
//! The best pieces of the best files, without those that say what another one said. Every stage tells how much it found.

use std::collections::HashSet;

use loggia_domain::{
    CodeFinding, CodeQuery, CodeQuestion, Definition, IndexError, RetrievalStage, Retrieved, StageCount,
};

use crate::chunks::Chunk;
use crate::fields::FIELDS;
use crate::query::excerpt::snippet;
use crate::query::filter::PathFilter;
use crate::query::fused::{self, Ranked, Ranking};
use crate::query::question::{self, Parsed};
use crate::query::symbols::Hit;
use crate::query::{Search, unavailable};
use crate::rank;
use crate::tuning::{Tuning, Way};
use crate::vectors::Similar;
use crate::words::Words;

/// Bytes that make about one token of code.
const BYTES_PER_TOKEN: usize = 4;

/// Tokens of what is said around a piece: where it is from.
const TOKENS_AROUND: usize = 16;

/// Pieces of one file: more of it are better read by opening it.
const MAX_PER_FILE: usize = 3;

/// A piece counts if it has at least this much of the best piece of its file.
const WORTH_SHOWING: f32 = 0.5;

/// Two pieces that share more than this of their words say the same.
const SAME: f32 = 0.8;

impl Search<'_> {
    /// Answers a question.
    pub(crate) fn retrieve(
        &self,
        question: &CodeQuestion,
        tuning: &Tuning,
        similar: Option<&[Similar]>,
    ) -> Result<Retrieved, IndexError> {
        let parsed = question::parse(&question.text, tuning.forms);
        let ranked = self
            .ranked(&parsed, question, &PathFilter::all(), tuning, similar.unwrap_or(&[]))
            .map_err(unavailable)?;
        self.check()?;
        let mut retrieved = self.pack(&ranked.files, question)?;
        retrieved.stages = stages(&ranked, similar);
        Ok(retrieved)
    }

    /// The pieces that mean what was asked for.
    pub(super) fn pieces(
        &self,
        query: &CodeQuery,
        similar: &[Similar],
    ) -> Result<Vec<CodeFinding>, IndexError> {
        let filter = PathFilter::new(&query.paths)?;
        let mut findings = Vec::new();
        for found in similar {
            self.check()?;
            let Some(entry) = self.snapshot.entry(found.file).filter(|entry| filter.is_wanted(&entry.path))
            else {
                continue;
            };
            let facts = self.snapshot.outline(found.file).map_err(unavailable)?.unwrap_or_default();
            let (Some(chunk), Some(text)) = (facts.chunks.get(found.place as usize), self.text(&entry.path))
            else {
                continue;
            };
            let candidate = Candidate {
                file: found.file,
                path: &entry.path,
                text: &text,
                start_line: chunk.start_line,
                end_line: chunk.end_line,
                symbol: chunk.symbol,
                score: found.likeness,
            };
            findings.push(self.shown(&candidate, candidate.snippet())?);
        }
        findings.truncate(query.limit);
        Ok(findings)
    }

    /// The definitions whose names have the words of a question.
    pub(super) fn symbols_by_words(
        &self,
        text: &str,
        wanted: &dyn Fn(loggia_domain::SymbolKind) -> bool,
        filter: &PathFilter,
    ) -> Vec<Hit> {
        let tuning = Tuning::default();
        let parsed = question::parse(text, tuning.forms);
        self.named(&parsed, wanted, filter)
    }

    /// Definitions by the words of their names, each with how much of what is wanted it has.
    fn named(
        &self,
        parsed: &Parsed,
        wanted: &dyn Fn(loggia_domain::SymbolKind) -> bool,
        filter: &PathFilter,
    ) -> Vec<Hit> {
        let names = &self.snapshot.base.names;
        let mut words = Words::default();
        // How much of the name was asked for, and how much of what was asked for it has.
        let mut fit = |name: &str| {
            let (mut has, mut count) = (vec![false; parsed.wanted.len()], 0.0);
            words.split(name, |word| {
                count += 1.0;
                let place =
                    parsed.wanted.iter().position(|wanted| wanted.each().any(|(form, _)| form == word));
                if let Some(place) = place {
                    has[place] = true;
                }
            });
            let matched = has.iter().filter(|has| **has).count() as f32;
            if matched > 0.0 { Some(matched + matched / f32::max(count, 1.0)) } else { None }
        };
        let mut numbers: Vec<usize> = parsed
            .wanted
            .iter()
            .flat_map(|wanted| wanted.each().map(|(form, _)| form.to_owned()).collect::<Vec<_>>())
            .flat_map(|form| names.with_word(&form).collect::<Vec<_>>())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut hits = Vec::new();
        let is_wanted = |file: u32| self.is_wanted(file, filter);
        for number in numbers {
            let Some(score) = fit(names.name(number)) else { continue };
            for defined in names.defined(number) {
                if wanted(defined.kind) && is_wanted(defined.file) {
                    hits.push(Hit { file: defined.file, place: defined.place, score });
                }
            }
        }
        for (file, changed) in self.snapshot.changes().filter(|(file, _)| is_wanted(*file)) {
            for (place, symbol) in (0..).zip(&changed.facts.symbols) {
                if let Some(score) = fit(&symbol.name).filter(|_| wanted(symbol.kind)) {
                    hits.push(Hit { file, place, score });
                }
            }
        }
        hits
    }

    /// Chooses pieces until the budget is spent.
    pub(super) fn pack(&self, ranked: &[Ranked], question: &CodeQuestion) -> Result<Retrieved, IndexError> {
        let mut candidates: Vec<Candidate<'_>> =
            ranked.iter().flat_map(|ranked| self.candidates_of(ranked)).collect();
        candidates.sort_by(|a, b| {
            let by_place = || (a.path, a.start_line).cmp(&(b.path, b.start_line));
            b.score.total_cmp(&a.score).then_with(by_place)
        });
        let mut retrieved = Retrieved::default();
        let mut shown: Vec<HashSet<u64>> = Vec::new();
        for candidate in candidates {
            self.check()?;
            if retrieved.findings.len() >= question.limit {
                retrieved.left_out += 1;
                continue;
            }
            let snippet = candidate.snippet();
            let tokens = snippet.len().div_ceil(BYTES_PER_TOKEN) + TOKENS_AROUND;
            if retrieved.tokens + tokens > question.budget {
                retrieved.left_out += 1;
                continue;
            }
            let words = shingles(&snippet);
            if shown.iter().any(|other| are_alike(other, &words)) {
                continue;
            }
            shown.push(words);
            retrieved.tokens += tokens;
            retrieved.findings.push(self.shown(&candidate, snippet)?);
        }
        Ok(retrieved)
    }

    /// The pieces of a file that may be shown.
    fn candidates_of<'r>(&'r self, ranked: &'r Ranked) -> Vec<Candidate<'r>> {
        let (Some(entry), Some(close)) = (self.snapshot.entry(ranked.file), &ranked.close) else {
            return Vec::new();
        };
        let best = close.pieces.iter().map(|(_, score)| *score).fold(0.0, f32::max);
        let mut pieces: Vec<_> =
            close.pieces.iter().filter(|(_, score)| *score >= best * WORTH_SHOWING).collect();
        pieces.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.start_line.cmp(&b.0.start_line)));
        let candidate = |(chunk, score): &(Chunk, f32)| Candidate {
            file: ranked.file,
            path: &entry.path,
            text: &close.text,
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            symbol: chunk.symbol,
            // A second piece of a good file is worth less than the first.
            score: ranked.score * if best > 0.0 { 0.5 + 0.5 * score / best } else { 1.0 },
        };
        pieces.into_iter().take(MAX_PER_FILE).map(candidate).collect()
    }

    fn shown(&self, candidate: &Candidate<'_>, snippet: String) -> Result<CodeFinding, IndexError> {
        let facts = self.snapshot.outline(candidate.file).map_err(unavailable)?.unwrap_or_default();
        let symbol = candidate.symbol.and_then(|symbol| facts.symbols.get(symbol as usize));
        Ok(CodeFinding {
            path: candidate.path.to_owned(),
            start_line: candidate.start_line,
            end_line: candidate.end_line,
            symbol: symbol.map(|symbol| symbol.name.to_string()),
            snippet,
            score: candidate.score,
            definition: symbol.map(Definition::from),
        })
    }

    /// The pieces of the files that fit a question best by their words: those whose meaning is worth to be compared.
    pub(crate) fn shortlist(
        &self,
        question: &CodeQuestion,
        files: usize,
    ) -> Result<Vec<(u32, Chunk)>, IndexError> {
        let tuning = Tuning::default();
        let parsed = question::parse(&question.text, tuning.forms);
        let ranked = self.ranked(&parsed, question, &PathFilter::all(), &tuning, &[]).map_err(unavailable)?;
        let mut pieces = Vec::new();
        for ranked in ranked.files.iter().take(files) {
            let Some(close) = &ranked.close else { continue };
            let mut best: Vec<&(Chunk, f32)> = close.pieces.iter().collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.start_line.cmp(&b.0.start_line)));
            pieces.extend(best.into_iter().take(MAX_PER_FILE).map(|(chunk, _)| (ranked.file, *chunk)));
        }
        Ok(pieces)
    }

    /// Files in the order that one way of looking puts them in.
    pub(crate) fn files(
        &self,
        question: &CodeQuestion,
        way: Way,
        tuning: &Tuning,
        similar: &[Similar],
    ) -> Result<Vec<String>, IndexError> {
        let parsed = question::parse(&question.text, tuning.forms);
        let plain = question::parse(&question.text, 0.0);
        let by =
            |fields: [f32; FIELDS]| rank::rank(self.snapshot, &parsed.wanted, &fused::only(fields, tuning));
        let [path, body, comments, names] = tuning.fields;
        let scores = match way {
            Way::Text => by([path, body, comments, 0.0]),
            Way::Symbols => by([0.0, 0.0, 0.0, names]),
            Way::Plain => rank::rank_plainly(self.snapshot, &plain.wanted),
            Way::Counts => rank::rank_by_counts(self.snapshot, &plain.wanted),
            Way::Vectors => {
                let mut found: Vec<&Similar> = similar.iter().collect();
                found.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
                let mut paths: Vec<String> = Vec::new();
                for entry in found.iter().filter_map(|found| self.snapshot.entry(found.file)) {
                    if !paths.iter().any(|path| **path == *entry.path) {
                        paths.push(entry.path.to_string());
                    }
                }
                paths.truncate(question.limit);
                return Ok(paths);
            }
            Way::Fused => {
                let ranked = self
                    .ranked(&parsed, question, &PathFilter::all(), tuning, similar)
                    .map_err(unavailable)?;
                let entries = ranked.files.iter().filter_map(|ranked| self.snapshot.entry(ranked.file));
                return Ok(entries.take(question.limit).map(|entry| entry.path.to_string()).collect());
            }
        };
        let best = scores.map_err(unavailable)?.best(self.snapshot, question.limit);
        let entries = best.iter().filter_map(|(file, _)| self.snapshot.entry(*file));
        Ok(entries.map(|entry| entry.path.to_string()).collect())
    }
}

/// How much each sign led to.
fn stages(ranked: &Ranking, similar: Option<&[Similar]>) -> Vec<StageCount> {
    let count =
        |stage, results: usize| StageCount { stage, results: u32::try_from(results).unwrap_or(u32::MAX) };
    let mut stages =
        vec![count(RetrievalStage::Symbols, ranked.by_names), count(RetrievalStage::Text, ranked.by_text)];
    stages.extend(similar.map(|similar| count(RetrievalStage::Vectors, similar.len())));
    stages.push(count(RetrievalStage::Ranking, ranked.files.len()));
    stages
}

/// A piece that may be shown.
struct Candidate<'r> {
    file: u32,
    path: &'r str,
    text: &'r str,
    start_line: u32,
    end_line: u32,
    symbol: Option<u32>,
    score: f32,
}

impl Candidate<'_> {
    fn snippet(&self) -> String {
        snippet(self.text, self.start_line, self.end_line)
    }
}

/// A text as hashes of its words, three in a row.
fn shingles(text: &str) -> HashSet<u64> {
    let words: Vec<&str> =
        text.split(|char: char| !crate::words::is_word(char)).filter(|word| !word.is_empty()).collect();
    let hash = |words: &[&str]| {
        let mut hasher = xxhash_rust::xxh3::Xxh3Default::new();
        words.iter().for_each(|word| {
            hasher.update(word.as_bytes());
            hasher.update(b" ");
        });
        hasher.digest()
    };
    words.windows(3).map(hash).collect()
}

fn are_alike(a: &HashSet<u64>, b: &HashSet<u64>) -> bool {
    let smaller = a.len().min(b.len());
    if smaller == 0 {
        return a.len() == b.len();
    }
    let shared = a.intersection(b).count();
    shared as f32 >= SAME * smaller as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_most_of_their_words_are_alike() {
        let text = "fn read(path: &str) -> Result<String, Error> { let text = open(path)?; Ok(text) }";
        let other = "fn write(path: &str, text: &str) -> Result<(), Error> { save(path, text) }";
        let alike = |a: &str, b: &str| are_alike(&shingles(a), &shingles(b));
        assert!(alike(text, text));
        assert!(alike(text, &format!("{text}\n// More.")));
        assert!(!alike(text, other));
        assert!(alike("", ""));
    }
}
