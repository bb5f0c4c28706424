//! Finding definitions by their names.
//!
//! Knows how people abbreviate: the whole name, its beginning, its words, some of its letters, or nearly the name. The
//! better of these count more, and among equals the shorter name does. `Thing::new` and `thing.new` look for `new` in
//! what is called like `thing`.

use loggia_domain::{CodeFinding, CodeQuery, Definition, IndexError, SymbolKind};

use crate::facts::Facts;
use crate::names::letters;
use crate::query::excerpt::{MAX_SNIPPET, shortened, snippet};
use crate::query::filter::PathFilter;
use crate::query::{Search, unavailable};
use crate::words;

mod fit;

use fit::Pattern;

/// How many names are looked up for each finding that is wanted: some of their definitions are not of the right kind.
const NAMES_PER_FINDING: usize = 4;

/// More words than this are no name but a question, whose words are looked for in names.
const MOST_WORDS_OF_A_NAME: usize = 3;

/// How many lines of a definition are shown.
const MAX_SHOWN: u32 = 40;

/// A definition that fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) file: u32,
    pub(crate) place: u32,
    pub(crate) score: f32,
}

impl Search<'_> {
    /// The definitions whose name fits best.
    pub(super) fn symbols(&self, query: &CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        let filter = PathFilter::new(&query.paths)?;
        let (container, name) = parts(&query.text);
        if name.is_empty() {
            return Err(IndexError::BadQuery("it has no name in it".to_owned()));
        }
        let pattern = Pattern::new(name);
        let wanted = |kind: SymbolKind| query.symbols.is_empty() || query.symbols.contains(&kind);
        let is_sentence = query.text.split_whitespace().count() > MOST_WORDS_OF_A_NAME;
        let mut hits = match is_sentence {
            true => self.symbols_by_words(&query.text, &wanted, &filter),
            false => self.hits(&pattern, &wanted, &filter),
        };
        let container = container.filter(|_| !is_sentence);
        // A container is only known from the facts, so more are looked at.
        let room = query.limit.saturating_mul(NAMES_PER_FINDING).max(query.limit);
        self.sort(&mut hits, if container.is_some() { room } else { query.limit });
        let mut findings = Vec::new();
        for hit in hits {
            self.check()?;
            let Some(finding) = self.finding(hit, container)? else { continue };
            findings.push(finding);
        }
        if container.is_some() {
            findings.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        findings.truncate(query.limit);
        Ok(findings)
    }

    /// Every definition that fits at all.
    fn hits(&self, pattern: &Pattern, wanted: &dyn Fn(SymbolKind) -> bool, filter: &PathFilter) -> Vec<Hit> {
        let mut hits = Vec::new();
        let path = |file: u32| self.snapshot.entry(file).map(|entry| &*entry.path);
        let names = &self.snapshot.base.names;
        let mut buffer = String::new();
        for number in 0..names.len() {
            let Some(score) = pattern.fit(names.name(number), names.letters(number), &mut buffer) else {
                continue;
            };
            for defined in names.defined(number).iter().filter(|defined| wanted(defined.kind)) {
                if path(defined.file).is_some_and(|path| filter.is_wanted(path)) {
                    let score = score + weight(defined.kind);
                    hits.push(Hit { file: defined.file, place: defined.place, score });
                }
            }
        }
        for (file, changed) in self.snapshot.changes() {
            if !filter.is_wanted(&changed.entry.path) {
                continue;
            }
            for (place, symbol) in (0..).zip(&changed.facts.symbols) {
                if let Some(score) = pattern
                    .fit(&symbol.name, letters(&symbol.name), &mut buffer)
                    .filter(|_| wanted(symbol.kind))
                {
                    hits.push(Hit { file, place, score: score + weight(symbol.kind) });
                }
            }
        }
        hits
    }

    /// The best first; among equals by path and place.
    pub(super) fn sort(&self, hits: &mut Vec<Hit>, limit: usize) {
        let path = |file: u32| self.snapshot.entry(file).map_or("", |entry| &*entry.path);
        let order = |a: &Hit, b: &Hit| {
            let by_path = || path(a.file).cmp(path(b.file)).then(a.place.cmp(&b.place));
            b.score.total_cmp(&a.score).then_with(by_path)
        };
        if hits.len() > limit && limit > 0 {
            hits.select_nth_unstable_by(limit - 1, order);
        }
        hits.truncate(limit);
        hits.sort_unstable_by(order);
    }

    /// A definition as it is shown. One that is in something else than was asked for counts less.
    pub(super) fn finding(
        &self,
        hit: Hit,
        container: Option<&str>,
    ) -> Result<Option<CodeFinding>, IndexError> {
        let Some(entry) = self.snapshot.entry(hit.file) else { return Ok(None) };
        let facts: Facts = self.snapshot.outline(hit.file).map_err(unavailable)?.unwrap_or_default();
        let Some(symbol) = facts.symbols.get(hit.place as usize) else { return Ok(None) };
        let mut score = hit.score;
        if let Some(container) = container {
            let is_in = words::unique(&symbol.container).contains(&container.to_lowercase());
            score += if is_in { CONTAINER } else { 0.0 };
        }
        let last = symbol.end_line.min(symbol.start_line + MAX_SHOWN);
        let shown = self.text(&entry.path).map(|text| snippet(&text, symbol.start_line, last));
        Ok(Some(CodeFinding {
            path: entry.path.to_string(),
            start_line: symbol.start_line,
            end_line: symbol.end_line,
            symbol: Some(symbol.name.to_string()),
            snippet: shown.unwrap_or_else(|| shortened(&symbol.signature, MAX_SNIPPET).to_owned()),
            score,
            definition: Some(Definition {
                kind: symbol.kind,
                container: (!symbol.container.is_empty()).then(|| symbol.container.to_string()),
                signature: symbol.signature.to_string(),
                doc: symbol.doc.to_string(),
            }),
        }))
    }
}

/// What being in the right thing is worth: less than a better name.
const CONTAINER: f32 = 8.0;

/// What people look for more often counts a little more, within the same fit of the name.
const fn weight(kind: SymbolKind) -> f32 {
    match kind {
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Interface
        | SymbolKind::Trait
        | SymbolKind::Enum => 0.9,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => 0.8,
        SymbolKind::TypeAlias | SymbolKind::Module => 0.7,
        SymbolKind::Constant | SymbolKind::EnumMember => 0.4,
        SymbolKind::Variable | SymbolKind::Field => 0.2,
    }
}

/// What a name is in, if the query says so, and the name.
fn parts(text: &str) -> (Option<&str>, &str) {
    let text = text.trim().trim_end_matches(['(', ')', ';', '!', ':']);
    let split = text.rsplit_once("::").or_else(|| text.rsplit_once(['.', '#']));
    match split {
        Some((before, name)) if !name.is_empty() => {
            let container =
                before.rsplit(|char: char| !words::is_word(char)).next().filter(|word| !word.is_empty());
            (container, name)
        }
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_may_say_what_a_name_is_in() {
        assert_eq!(parts("new"), (None, "new"));
        assert_eq!(parts("Thing::new()"), (Some("Thing"), "new"));
        assert_eq!(parts("a.b.c"), (Some("b"), "c"));
        assert_eq!(parts("Map<K>::get"), (None, "get"));
        assert_eq!(parts("::"), (None, ""));
    }
}
