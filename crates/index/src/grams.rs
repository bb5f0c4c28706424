//! Which stretches of a sorted list of words may hold a word with a given part.
//!
//! Knows words as bytes. The list is cut into stretches, and of each it is known which groups of three letters occur in
//! it, as a set of bits that may say too much and never too little. A part of a word is looked for only in stretches that
//! have all of its groups: of a large tree's words that is one in some hundreds.

use std::sync::OnceLock;

use tantivy::termdict::TermDictionary;

use crate::fault::Fault;
use crate::fields::Field;

/// The fields whose words are looked at for a part of a word.
pub(crate) const SEARCHED: [Field; 2] = [Field::Body, Field::Comments];

/// The groups of letters in the words of a part of the text index, by field; looked for when they are first asked for.
pub(crate) type SegmentGrams = [OnceLock<Grams>; SEARCHED.len()];

/// How many words make a stretch.
const WORDS: u32 = 128;

/// How many bits a stretch has: about four times as many as different groups occur in it.
const BITS: u32 = 2048;

/// How many stretches are looked at as one: enough work for a thread, and not all of it.
const MAX_RUN: usize = 64;

/// The groups of letters in a list of words.
#[derive(Debug, Default)]
pub(crate) struct Grams {
    stretches: Vec<Stretch>,
}

#[derive(Debug)]
struct Stretch {
    /// The first word.
    from: Box<[u8]>,
    bits: [u64; (BITS / u64::BITS) as usize],
}

/// Stretches one after the other: where they begin, and the first word that is not in them.
pub(crate) type Run<'g> = (&'g [u8], Option<&'g [u8]>);

impl Grams {
    /// Looks at all words.
    pub(crate) fn of(words: &TermDictionary) -> Result<Self, Fault> {
        let mut made = Self::default();
        let mut stream = words.stream().map_err(tantivy::TantivyError::from)?;
        let mut room = 0;
        while stream.advance() {
            if room == 0 {
                let stretch = Stretch { from: stream.key().into(), bits: Default::default() };
                made.stretches.push(stretch);
                room = WORDS;
            }
            room -= 1;
            if let Some(stretch) = made.stretches.last_mut() {
                bits(stream.key()).for_each(|(place, bit)| stretch.bits[place] |= bit);
            }
        }
        made.stretches.shrink_to_fit();
        Ok(made)
    }

    /// Where words may be that contain a part.
    pub(crate) fn runs(&self, part: &str) -> Vec<Run<'_>> {
        let wanted: Vec<(usize, u64)> = bits(part.as_bytes()).collect();
        let may_have = |stretch: &Stretch| wanted.iter().all(|(place, bit)| stretch.bits[*place] & bit != 0);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (place, _) in self.stretches.iter().enumerate().filter(|(_, stretch)| may_have(stretch)) {
            match runs.last_mut().filter(|(from, to)| *to == place && to - from < MAX_RUN) {
                Some((_, to)) => *to = place + 1,
                None => runs.push((place, place + 1)),
            }
        }
        let from = |place: usize| self.stretches.get(place).map(|stretch| &*stretch.from);
        runs.into_iter().map(|(first, end)| (from(first).unwrap_or_default(), from(end))).collect()
    }
}

/// The bits of a word's groups of three letters: the place in a stretch's array, and the bit there.
fn bits(word: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    word.windows(3).map(|group| {
        let number = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        let bit = number.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS.ilog2());
        ((bit / u64::BITS) as usize, 1 << (bit % u64::BITS))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(words: &[String]) -> Grams {
        let mut stretches: Vec<Stretch> = Vec::new();
        for words in words.chunks(WORDS as usize) {
            let mut stretch = Stretch { from: words[0].as_bytes().into(), bits: Default::default() };
            for word in words {
                bits(word.as_bytes()).for_each(|(place, bit)| stretch.bits[place] |= bit);
            }
            stretches.push(stretch);
        }
        Grams { stretches }
    }

    #[test]
    fn a_part_is_looked_for_where_its_word_is_and_in_few_other_places() {
        let mut words: Vec<String> = (0..40_000_u64)
            .map(|number| format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .chain(["has_orchard_inside".to_owned()])
            .collect();
        words.sort();
        let grams = grams(&words);
        let runs = grams.runs("orchard");
        let word = "has_orchard_inside".as_bytes();
        let is_in = |(from, to): &Run<'_>| *from <= word && to.is_none_or(|to| word < to);
        assert_eq!(runs.iter().filter(|run| is_in(run)).count(), 1);
        assert!(runs.len() < 5, "{}", runs.len());
        for word in &words {
            let part = &word[1..word.len().min(6)];
            let word = word.as_bytes();
            let is_in = |(from, to): &Run<'_>| *from <= word && to.is_none_or(|to| word < to);
            assert!(grams.runs(part).iter().any(is_in), "{part}");
        }
        // A part without a group may be anywhere.
        assert_eq!(grams.runs("ab").len(), grams.stretches.len().div_ceil(MAX_RUN));
    }
}
