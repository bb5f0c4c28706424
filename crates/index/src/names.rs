//! The names of all definitions, each once, with where it is defined: what symbols are found by.
//!
//! Knows names, their words and numbers of files; what else is known of a definition is in the packs. It is in memory,
//! some forty bytes a name, because a fuzzy query looks at all of them.

use std::collections::HashMap;

use loggia_domain::SymbolKind;
use xxhash_rust::xxh3::xxh3_64;

use crate::facts::{NameHash, Symbol};
use crate::words::{self, Words};

/// A definition, by the file's number in its state and its place in the file's facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defined {
    pub(crate) file: u32,
    pub(crate) place: u32,
    pub(crate) kind: SymbolKind,
    /// What it is in.
    pub(crate) container: Container,
}

impl Defined {
    pub(crate) fn of(file: u32, place: u32, symbol: &Symbol) -> Self {
        Self { file, place, kind: symbol.kind, container: Container::of(&symbol.container) }
    }
}

/// The name of what a definition is in, without its own container and parameters, in whatever case: as a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Container(NameHash);

impl Container {
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim_end();
        let without = text.find('<').filter(|_| text.ends_with('>')).map_or(text, |at| &text[..at]);
        let name = without.rsplit(|char: char| !words::is_word(char)).find(|name| !name.is_empty());
        Self(NameHash::of(name.unwrap_or_default().to_lowercase().as_bytes()))
    }
}

/// All names of a state.
#[derive(Debug, Default)]
pub(crate) struct Names {
    text: String,
    ends: Vec<u32>,
    /// Which letters a name has: most names are ruled out by this alone.
    letters: Vec<u64>,
    defined: Vec<Defined>,
    defined_ends: Vec<u32>,
    /// Every name by its hash. Sorted.
    hashes: Vec<(NameHash, u32)>,
    words: ByWord,
}

/// The names that have a word.
#[derive(Debug, Default)]
struct ByWord {
    /// The hash of each word. Sorted, and long enough that no two words share one.
    hashes: Vec<u64>,
    /// Where the names of each end.
    ends: Vec<u32>,
    /// Names, each as often as it has the word.
    names: Vec<u32>,
}

impl ByWord {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "words of names number less than the bytes of all files"
    )]
    fn new(mut pairs: Vec<(u64, u32)>) -> Self {
        pairs.sort_unstable();
        let mut made = Self { names: Vec::with_capacity(pairs.len()), ..Self::default() };
        for (hash, name) in pairs {
            if made.hashes.last() != Some(&hash) {
                made.hashes.push(hash);
                made.ends.push(0);
            }
            made.names.push(name);
            made.ends.last_mut().into_iter().for_each(|end| *end = made.names.len() as u32);
        }
        made.hashes.shrink_to_fit();
        made.ends.shrink_to_fit();
        made
    }

    fn of(&self, word: &str) -> &[u32] {
        let Ok(place) = self.hashes.binary_search(&xxh3_64(word.as_bytes())) else { return &[] };
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.names[start..self.ends[place] as usize]
    }
}

impl Names {
    /// Puts names in order.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "names and definitions number less than the bytes of all files"
    )]
    pub(crate) fn new<'n>(all: impl IntoIterator<Item = (&'n str, Defined)>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<&str> = Vec::new();
        let mut pairs: Vec<(u32, Defined)> = Vec::new();
        for (name, defined) in all {
            let number = *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            });
            pairs.push((number, defined));
        }
        drop(numbers);
        pairs.sort_by_key(|(number, _)| *number);
        let mut made = Self::default();
        let mut words = Words::default();
        let mut by_word: Vec<(u64, u32)> = Vec::new();
        let mut ahead = pairs.into_iter().peekable();
        for (number, name) in names.iter().enumerate() {
            let number = number as u32;
            made.text.push_str(name);
            made.ends.push(made.text.len() as u32);
            made.letters.push(letters(name));
            made.hashes.push((NameHash::of(name.as_bytes()), number));
            words.split(name, |word| by_word.push((xxh3_64(word.as_bytes()), number)));
            while let Some((_, defined)) = ahead.next_if(|(of, _)| *of == number) {
                made.defined.push(defined);
            }
            made.defined_ends.push(made.defined.len() as u32);
        }
        made.hashes.sort_unstable();
        made.words = ByWord::new(by_word);
        made
    }

    /// How many different names there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A name by its number.
    pub(crate) fn name(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[number] as usize]
    }

    /// Which letters a name has.
    pub(crate) fn letters(&self, number: usize) -> u64 {
        self.letters[number]
    }

    /// The names with these letters and no others, apart from `_`.
    pub(crate) fn spelled(&self, has: u64) -> impl Iterator<Item = usize> {
        self.letters
            .iter()
            .enumerate()
            .filter(move |(_, of)| same_letters(**of, has))
            .map(|(number, _)| number)
    }

    /// Where a name is defined.
    pub(crate) fn defined(&self, number: usize) -> &[Defined] {
        let start = number.checked_sub(1).map_or(0, |before| self.defined_ends[before] as usize);
        &self.defined[start..self.defined_ends[number] as usize]
    }

    /// Where this very name is defined.
    pub(crate) fn defined_as(&self, name: &str) -> &[Defined] {
        let hash = NameHash::of(name.as_bytes());
        let from = self.hashes.partition_point(|(other, _)| *other < hash);
        let mut same = self.hashes[from..].iter().take_while(|(other, _)| *other == hash);
        let number = same.find(|(_, number)| self.name(*number as usize) == name);
        number.map_or(&[], |(_, number)| self.defined(*number as usize))
    }

    /// The names that have a word, each as often as it has it, one after the other.
    pub(crate) fn with_word(&self, word: &str) -> impl Iterator<Item = usize> + use<'_> {
        self.words.of(word).iter().map(|name| *name as usize)
    }

    /// Every definition with its name.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, Defined)> {
        (0..self.len()).flat_map(move |number| {
            self.defined(number).iter().map(move |defined| (self.name(number), *defined))
        })
    }
}

/// The bit for `_`.
const UNDERSCORE: u8 = 36;

/// Whether two names have the same letters and digits, apart from `_`.
pub(crate) fn same_letters(one: u64, other: u64) -> bool {
    (one ^ other) & !(1 << UNDERSCORE) == 0
}

/// Which letters and digits a name has, as bits; others share those that are left.
pub(crate) fn letters(name: &str) -> u64 {
    let bit = |byte: u8| match byte {
        b'a'..=b'z' => byte - b'a',
        b'A'..=b'Z' => byte - b'A',
        b'0'..=b'9' => 26 + (byte - b'0'),
        b'_' => UNDERSCORE,
        other => 37 + other % 27,
    };
    name.bytes().fold(0, |bits, byte| bits | 1 << bit(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_once_with_all_their_definitions() {
        let defined =
            |file, place| Defined { file, place, kind: SymbolKind::Function, container: Container::of("") };
        let names = Names::new([
            ("readFile", defined(0, 0)),
            ("write_file", defined(0, 1)),
            ("readFile", defined(3, 7)),
        ]);
        assert_eq!(names.len(), 2);
        assert_eq!((names.name(0), names.name(1)), ("readFile", "write_file"));
        assert_eq!(names.defined(0), [defined(0, 0), defined(3, 7)]);
        assert_eq!(names.defined(1), [defined(0, 1)]);
        assert_eq!(names.with_word("file").collect::<Vec<_>>(), [0, 1]);
        assert_eq!(names.with_word("readfile").collect::<Vec<_>>(), [0]);
        assert_eq!(names.with_word("none").count(), 0);
        assert_eq!(names.defined_as("readFile"), [defined(0, 0), defined(3, 7)]);
        assert_eq!(names.defined_as("readfile"), []);
        assert_eq!(names.each().count(), 3);
        let again = Names::new(names.each());
        assert_eq!(again.each().count(), 3);
    }
}
