//! Finding definitions by their names.
//!
//! Knows how people abbreviate: the whole name, its beginning, its words, some of its letters, or nearly the name. The
//! better of these count more, and among equals the shorter name does. `Thing::new` and `thing.new` look for `new` in
//! what is called like `thing`.

use loggia_domain::{CodeFinding, CodeQuery, Definition, IndexError, SymbolKind};

use crate::facts::Facts;
use crate::fault::Fault;
use crate::names::{Container, Defined, letters, same_letters};
use crate::query::excerpt::{MAX_SNIPPET, shortened, snippet};
use crate::query::filter::PathFilter;
use crate::query::{Search, unavailable};
use crate::words;
use crate::workers;

mod fit;

use fit::Pattern;

/// How many names a thread looks at before it takes more.
const SHARE: usize = 1 << 15;

/// More words than this are no name but a question, whose words are looked for in names.
const MOST_WORDS_OF_A_NAME: usize = 3;

/// How many lines of a definition are shown.
pub(super) const MAX_SHOWN: u32 = 40;

/// What definitions are looked for.
struct Sought<'q> {
    pattern: Pattern,
    /// What they are in, if the query says so.
    container: Option<Container>,
    kinds: &'q [SymbolKind],
    filter: &'q PathFilter,
}

impl Sought<'_> {
    fn is_kind(&self, kind: SymbolKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// A definition whose name fits so well, if it is of a kind that is wanted.
    fn hit(&self, defined: Defined, fit: f32) -> Option<Hit> {
        let is_in = self.container.is_some_and(|container| container == defined.container);
        let score = fit + weight(defined.kind) + if is_in { CONTAINER } else { 0.0 };
        self.is_kind(defined.kind).then_some(Hit { file: defined.file, place: defined.place, score })
    }
}

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
        let sought = Sought {
            pattern: Pattern::new(name),
            container: container.map(Container::of),
            kinds: &query.symbols,
            filter: &filter,
        };
        let is_sentence = query.text.split_whitespace().count() > MOST_WORDS_OF_A_NAME;
        let mut hits = match is_sentence {
            true => self.symbols_by_words(&query.text, &|kind| sought.is_kind(kind), &filter),
            false => self.hits(&sought).map_err(unavailable)?,
        };
        if let Some((container, name)) = spaced(&query.text) {
            // `Thing new` may be one name of two words, or a name and what it is in.
            let sought =
                Sought { pattern: Pattern::new(name), container: Some(Container::of(container)), ..sought };
            let mut inside = self.hits(&sought).map_err(unavailable)?;
            inside.retain(|hit| hit.score > INSIDE);
            let is_inside =
                |hit: &Hit| inside.iter().any(|other| (other.file, other.place) == (hit.file, hit.place));
            hits.retain(|hit| !is_inside(hit));
            hits.extend(inside);
        }
        self.sort(&mut hits, query.limit);
        self.findings(hits)
    }

    /// The definitions whose name is the query, whatever its case, its `_` and the spaces between its words; none if it is no
    /// name. At most half of what is wanted.
    pub(super) fn exactly(&self, query: &CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        let (container, name) = parts(&query.text);
        let is_word = |char: char| words::is_word(char) || char.is_whitespace();
        if name.is_empty()
            || !name.chars().all(is_word)
            || name.split_whitespace().count() > MOST_WORDS_OF_A_NAME
        {
            return Ok(Vec::new());
        }
        let filter = PathFilter::new(&query.paths)?;
        let pattern = Pattern::new(name);
        let container = container.map(Container::of);
        let sought = Sought { pattern, container, kinds: &query.symbols, filter: &filter };
        let least = if container.is_some() { SAME_NAME + CONTAINER } else { SAME_LETTERS };
        let mut hits = match name.is_ascii() {
            true => self.hits_spelled(&sought, name),
            // Other scripts have cases that are less simple.
            false => self.hits(&sought).map_err(unavailable)?,
        };
        hits.retain(|hit| hit.score >= least);
        self.sort(&mut hits, query.limit.div_ceil(2));
        self.findings(hits)
    }

    /// The definitions that fit and whose names have the letters of a text and no others: what all names have is compared
    /// much sooner than the names are.
    fn hits_spelled(&self, sought: &Sought<'_>, text: &str) -> Vec<Hit> {
        let has = text.split_whitespace().fold(0, |has, word| has | letters(word));
        let mut hits = self.hits_among(sought, self.snapshot.base.names.spelled(has));
        hits.extend(self.hits_in_changes(sought, |other| same_letters(other, has)));
        hits
    }

    fn findings(&self, hits: Vec<Hit>) -> Result<Vec<CodeFinding>, IndexError> {
        let mut findings = Vec::new();
        for hit in hits {
            self.check()?;
            findings.extend(self.finding(hit)?);
        }
        Ok(findings)
    }

    /// Every definition that fits at all. All names are looked at, on several threads.
    fn hits(&self, sought: &Sought<'_>) -> Result<Vec<Hit>, Fault> {
        let names = &self.snapshot.base.names;
        let shares: Vec<usize> = (0..names.len()).step_by(SHARE).collect();
        let mut hits = workers::gather(
            &shares,
            || (),
            |(), from| {
                let share = *from..names.len().min(from + SHARE);
                Ok(self.hits_among(sought, share))
            },
        )?;
        hits.extend(self.hits_in_changes(sought, |_| true));
        Ok(hits)
    }

    /// The definitions in files that changed that fit, of those whose letters are wanted.
    fn hits_in_changes(&self, sought: &Sought<'_>, is_wanted: impl Fn(u64) -> bool) -> Vec<Hit> {
        let (mut hits, mut buffer) = (Vec::new(), String::new());
        for (file, changed) in self.snapshot.changes() {
            if !sought.filter.is_wanted(&changed.entry.path) {
                continue;
            }
            for (place, symbol) in (0..).zip(&changed.facts.symbols) {
                let has = letters(&symbol.name);
                if !is_wanted(has) {
                    continue;
                }
                let fit = sought.pattern.fit(&symbol.name, has, &mut buffer);
                hits.extend(fit.and_then(|fit| sought.hit(Defined::of(file, place, symbol), fit)));
            }
        }
        hits
    }

    /// The definitions of some names that fit.
    fn hits_among(&self, sought: &Sought<'_>, numbers: impl IntoIterator<Item = usize>) -> Vec<Hit> {
        let names = &self.snapshot.base.names;
        let (mut hits, mut buffer) = (Vec::new(), String::new());
        for number in numbers {
            let Some(fit) = sought.pattern.fit(names.name(number), names.letters(number), &mut buffer) else {
                continue;
            };
            for hit in names.defined(number).iter().filter_map(|defined| sought.hit(*defined, fit)) {
                if self.snapshot.entry(hit.file).is_some_and(|entry| sought.filter.is_wanted(&entry.path)) {
                    hits.push(hit);
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

    /// A definition as it is shown.
    pub(super) fn finding(&self, hit: Hit) -> Result<Option<CodeFinding>, IndexError> {
        let Some(entry) = self.snapshot.entry(hit.file) else { return Ok(None) };
        let facts: Facts = self.snapshot.outline(hit.file).map_err(unavailable)?.unwrap_or_default();
        let Some(symbol) = facts.symbols.get(hit.place as usize) else { return Ok(None) };
        let last = symbol.end_line.min(symbol.start_line + MAX_SHOWN);
        let shown = self.text(&entry.path).map(|text| snippet(&text, symbol.start_line, last));
        Ok(Some(CodeFinding {
            path: entry.path.to_string(),
            start_line: symbol.start_line,
            end_line: symbol.end_line,
            symbol: Some(symbol.name.to_string()),
            snippet: shown.unwrap_or_else(|| shortened(&symbol.signature, MAX_SNIPPET).to_owned()),
            score: hit.score,
            definition: Some(Definition::from(symbol)),
        }))
    }
}

/// What being in the right thing is worth: less than a better name.
const CONTAINER: f32 = 8.0;

/// A name that is the one that was typed, apart from its case, has at least this.
const SAME_NAME: f32 = 95.0;

/// A name that is the one that was typed, apart from its case and its `_`, has at least this, and no other has.
const SAME_LETTERS: f32 = 89.0;

/// A name that is the one that was typed, or begins with it, and is in the right thing has more than this.
const INSIDE: f32 = 80.0 + CONTAINER;

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
pub(super) fn parts(text: &str) -> (Option<&str>, &str) {
    let text = text.trim().trim_end_matches(['(', ')', ';', '!', ':']);
    let split = text.rsplit_once("::").or_else(|| text.rsplit_once(['.', '#']));
    match split {
        Some((before, name)) if !name.is_empty() => (Some(before).filter(|before| !before.is_empty()), name),
        _ => (None, text),
    }
}

/// Two words, of which the first may be what the second is in.
fn spaced(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split_whitespace();
    let pair = (words.next()?, words.next()?);
    let are_names =
        words.next().is_none() && [pair.0, pair.1].iter().all(|word| word.chars().all(words::is_word));
    are_names.then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_may_say_what_a_name_is_in() {
        assert_eq!(parts("new"), (None, "new"));
        assert_eq!(parts("Thing::new()"), (Some("Thing"), "new"));
        assert_eq!(parts("a.b.c"), (Some("a.b"), "c"));
        assert_eq!(parts("Map<K>::get"), (Some("Map<K>"), "get"));
        assert_eq!(parts("::"), (None, ""));
        for (text, name) in [("Map<K, V>", "map"), ("a::B<C>::D", "d"), ("a.b", "b"), ("impl Thing", "THING")]
        {
            assert_eq!(Container::of(text), Container::of(name), "{text}");
        }
    }
}
