//! How well a name fits what was typed.
//!
//! Knows two texts and nothing else. Scores are in bands, so that a better way of fitting always wins: the name itself,
//! its beginning, whole words of it, a part of it, its initials or other letters in order, and a mistyped name.

use crate::names::letters;

/// Something that names are compared with.
#[derive(Debug)]
pub(super) struct Pattern {
    typed: String,
    lower: String,
    /// The same without `_`.
    bare: String,
    /// The words, if there are several.
    words: Vec<String>,
    letters: u64,
}

/// Mistakes that are forgiven in a text of this length.
fn forgiven(len: usize) -> usize {
    match len {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

impl Pattern {
    pub(super) fn new(typed: &str) -> Self {
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let typed: String = typed.split_whitespace().collect();
        let lower = typed.to_lowercase();
        Self {
            letters: letters(&lower),
            bare: lower.replace('_', ""),
            typed,
            lower,
            words: if words.len() > 1 { words } else { Vec::new() },
        }
    }

    /// How well a name with these letters fits; nothing if it does not.
    ///
    /// `buffer` is for the name in lower case: most names of a large tree are looked at, so none is made for each.
    pub(super) fn fit(&self, name: &str, has: u64, buffer: &mut String) -> Option<f32> {
        let missing = (self.letters & !has).count_ones() as usize;
        let forgiven = forgiven(self.lower.len());
        if missing > forgiven {
            return None;
        }
        if self.cannot_fit(name, missing, forgiven) {
            return None;
        }
        lower_into(name, buffer);
        let lower = buffer.as_str();
        let extra = (name.len().saturating_sub(self.typed.len()) as f32).min(60.0) / 100.0;
        let band = if name == self.typed {
            100.0
        } else if lower == self.lower.as_str() {
            95.0
        } else if missing > 0 {
            return self.mistyped(lower, forgiven).map(|score| score - extra);
        } else if is_without(lower, &self.bare) {
            90.0
        } else if lower.starts_with(self.lower.as_str()) {
            80.0
        } else if let Some(at) = lower.find(self.lower.as_str()) {
            if is_start(name, at) { 70.0 } else { 60.0 }
        } else if !self.words.is_empty() && self.words.iter().all(|word| lower.contains(word.as_str())) {
            65.0
        } else if let Some(score) = in_order(&self.lower, name) {
            30.0 + score * 20.0
        } else {
            return self.mistyped(lower, forgiven).map(|score| score - extra);
        };
        Some(band - extra)
    }

    /// What lengths alone rule out: a name with letters missing is at most mistyped, and then about as long.
    fn cannot_fit(&self, name: &str, missing: usize, forgiven: usize) -> bool {
        // Lower case may have other lengths in other scripts.
        missing > 0 && name.is_ascii() && name.len().abs_diff(self.lower.len()) > forgiven
    }

    fn mistyped(&self, lower: &str, forgiven: usize) -> Option<f32> {
        if forgiven == 0 || lower.len().abs_diff(self.lower.len()) > forgiven {
            return None;
        }
        let mistakes = distance(lower.as_bytes(), self.lower.as_bytes(), forgiven)?;
        Some(20.0 - mistakes as f32 * 5.0)
    }
}

/// Whether a name is this one but for `_`.
fn is_without(name: &str, bare: &str) -> bool {
    name.len() >= bare.len() && name.bytes().filter(|byte| *byte != b'_').eq(bare.bytes())
}

/// Puts a name in lower case into a buffer.
fn lower_into(name: &str, buffer: &mut String) {
    buffer.clear();
    if name.is_ascii() {
        buffer.push_str(name);
        buffer.make_ascii_lowercase();
    } else {
        buffer.push_str(&name.to_lowercase());
    }
}

/// Whether a word of the name starts here.
fn is_start(name: &str, at: usize) -> bool {
    let bytes = name.as_bytes();
    let (Some(here), Some(before)) = (bytes.get(at), at.checked_sub(1).and_then(|at| bytes.get(at))) else {
        return true;
    };
    *before == b'_'
        || here.is_ascii_uppercase() && !before.is_ascii_uppercase()
        || here.is_ascii_digit() != before.is_ascii_digit()
}

/// How well letters fit that are all there, in order: best if each starts a word or follows the one before.
fn in_order(letters: &str, name: &str) -> Option<f32> {
    let bytes = name.as_bytes();
    let mut at = 0;
    let mut good = 0;
    let mut last = None;
    for letter in letters.bytes() {
        let rest = bytes.get(at..)?;
        let is = |byte: &u8| byte.eq_ignore_ascii_case(&letter);
        // A start of a word further on is meant more often than the next letter that happens to be there.
        let start = rest.iter().enumerate().position(|(step, byte)| is(byte) && is_start(name, at + step));
        let next = rest.iter().position(is)?;
        let follows = last.is_some_and(|last| last + 1 == at + next);
        let step = if follows { next } else { start.unwrap_or(next) };
        if follows || Some(step) == start {
            good += 1;
        }
        last = Some(at + step);
        at += step + 1;
    }
    let share = good as f32 / letters.len().max(1) as f32;
    // Letters strewn about in a long name are there by chance.
    (share > 0.6).then_some(share)
}

/// How many letters must be changed, added, left out or swapped, if it is no more than a limit.
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        if row.iter().min().is_none_or(|least| *least > limit) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|mistakes| *mistakes <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that fit, best first.
    fn check(typed: &str, names: &[&str], expected: &str) {
        let pattern = Pattern::new(typed);
        let mut fits: Vec<(f32, &str)> = names
            .iter()
            .filter_map(|name| Some((pattern.fit(name, letters(name), &mut String::new())?, *name)))
            .collect();
        fits.sort_by(|a, b| b.0.total_cmp(&a.0));
        let fits: Vec<&str> = fits.into_iter().map(|(_, name)| name).collect();
        assert_eq!(fits.join(" "), expected, "{typed}");
    }

    #[test]
    fn better_ways_of_fitting_win() {
        check(
            "readFile",
            &["unrelated", "thread_file_handle", "ReadFile", "read_file", "readFileSync", "readFile"],
            "readFile ReadFile read_file readFileSync thread_file_handle",
        );
        check("gun", &["getUserName", "gun", "begun", "grand_union"], "gun begun getUserName grand_union");
        check("retreive", &["retrieve", "retry"], "retrieve");
        check("read file", &["read_file", "file_reader", "write_file"], "read_file file_reader");
        check("xyz", &["abc"], "");
    }

    #[test]
    fn distances_count_swapped_letters_once() {
        let check =
            |a: &str, b: &str, expected| assert_eq!(distance(a.as_bytes(), b.as_bytes(), 2), expected);
        check("abc", "abc", Some(0));
        check("abc", "acb", Some(1));
        check("abc", "abd", Some(1));
        check("abc", "xyz", None);
        check("", "ab", Some(2));
    }
}
