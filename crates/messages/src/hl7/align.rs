//! Which line of a new text is which line of the old one.
//!
//! Knows only whether lines are equal and of one kind. It takes time that grows with the lines, not with their pairs, so
//! it may miss what a patient reader finds. Invariant: what it finds is in order, and no old line is found twice.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// A line to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compared<'l, K> {
    pub(crate) text: &'l str,
    /// Lines that differ are only taken for one another if they are of one kind.
    pub(crate) kind: K,
}

/// For every new line the old one it was, if it was one.
pub(crate) fn align<K: Eq + Hash + Copy>(
    old: &[Compared<'_, K>],
    new: &[Compared<'_, K>],
) -> Vec<Option<usize>> {
    let mut found = vec![None; new.len()];
    let (old_rest, new_rest) = trim(old, new, 0..old.len(), 0..new.len(), &mut found);
    let (mut old_from, mut new_from) = (old_rest.start, new_rest.start);
    for (old_anchor, new_anchor) in anchors(old, new, old_rest.clone(), new_rest.clone()) {
        found[new_anchor] = Some(old_anchor);
        gap(old, new, old_from..old_anchor, new_from..new_anchor, &mut found);
        (old_from, new_from) = (old_anchor + 1, new_anchor + 1);
    }
    gap(old, new, old_from..old_rest.end, new_from..new_rest.end, &mut found);
    found
}

/// Finds equal lines at both ends, and says what is left between them.
fn trim<K: Eq + Copy>(
    old: &[Compared<'_, K>],
    new: &[Compared<'_, K>],
    mut old_range: Range<usize>,
    mut new_range: Range<usize>,
    found: &mut [Option<usize>],
) -> (Range<usize>, Range<usize>) {
    while !old_range.is_empty() && !new_range.is_empty() && old[old_range.start] == new[new_range.start] {
        found[new_range.start] = Some(old_range.start);
        old_range.start += 1;
        new_range.start += 1;
    }
    while !old_range.is_empty() && !new_range.is_empty() && old[old_range.end - 1] == new[new_range.end - 1] {
        old_range.end -= 1;
        new_range.end -= 1;
        found[new_range.end] = Some(old_range.end);
    }
    (old_range, new_range)
}

/// Lines that are there once in both, as many of them as are in the same order.
fn anchors<K: Eq + Hash + Copy>(
    old: &[Compared<'_, K>],
    new: &[Compared<'_, K>],
    old_range: Range<usize>,
    new_range: Range<usize>,
) -> Vec<(usize, usize)> {
    let old_places = once(old, old_range);
    let new_places = once(new, new_range.clone());
    let mut both = Vec::new();
    for place in new_range {
        let key = (new[place].text, new[place].kind);
        if let (Some(Some(old_place)), Some(Some(_))) = (old_places.get(&key), new_places.get(&key)) {
            both.push((*old_place, place));
        }
    }
    longest_rising(&both)
}

/// Where each line is that is there once.
fn once<'l, K: Eq + Hash + Copy>(
    lines: &[Compared<'l, K>],
    range: Range<usize>,
) -> HashMap<(&'l str, K), Option<usize>> {
    let mut places = HashMap::new();
    for place in range {
        let key = (lines[place].text, lines[place].kind);
        places.entry(key).and_modify(|place| *place = None).or_insert(Some(place));
    }
    places
}

/// The longest part of pairs in which the first numbers rise; the second ones do already.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Of every length, the pair with the lowest number that ends such a part.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (index, (number, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < *number);
        before[index] = length.checked_sub(1).map(|last| ends[last]);
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut rising: Vec<_> = std::iter::successors(ends.last().copied(), |index| before[*index])
        .map(|index| pairs[index])
        .collect();
    rising.reverse();
    rising
}

/// What is between two anchors: equal ends, and then lines of one kind in order.
fn gap<K: Eq + Copy>(
    old: &[Compared<'_, K>],
    new: &[Compared<'_, K>],
    old_range: Range<usize>,
    new_range: Range<usize>,
    found: &mut [Option<usize>],
) {
    let (mut old_range, new_range) = trim(old, new, old_range, new_range, found);
    for place in new_range {
        let Some(front) = old.get(old_range.start).filter(|_| !old_range.is_empty()) else { return };
        if front.kind == new[place].kind {
            found[place] = Some(old_range.start);
            old_range.start += 1;
        } else if old_range.len() > 1 && old[old_range.start + 1].kind == new[place].kind {
            // One line went away.
            found[place] = Some(old_range.start + 1);
            old_range.start += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are words; their first letter is their kind.
    fn check(old: &str, new: &str, expected: &[i32]) {
        let lines = |text: &'static str| -> Vec<Compared<'static, u8>> {
            text.split_whitespace().map(|text| Compared { text, kind: text.as_bytes()[0] }).collect()
        };
        let (old, new) = (old.to_owned().leak(), new.to_owned().leak());
        let found: Vec<_> = align(&lines(old), &lines(new))
            .into_iter()
            .map(|place| place.map_or(-1, |place| place as i32))
            .collect();
        assert_eq!(found, expected, "{old} / {new}");
    }

    #[test]
    fn equal_ends_and_lines_that_are_there_once_are_found() {
        check("a b c", "a b c", &[0, 1, 2]);
        check("a b c", "a x b c", &[0, -1, 1, 2]);
        check("a b c d", "a c d", &[0, 2, 3]);
        check("m1 o1 o2 o3 n1", "m1 o2 n1", &[0, 2, 4]);
        check("m o1 o2 n o3 p", "m o2 n o1 p", &[0, 2, 3, 4, 5]);
    }

    #[test]
    fn changed_lines_of_one_kind_are_found_in_order() {
        check("m p1 o1 o2", "m p2 o3 o4", &[0, 1, 2, 3]);
        check("m p1 o1", "m o2", &[0, 2]);
        check("m", "m o1 o2", &[0, -1, -1]);
        check("", "m", &[-1]);
        check("m", "", &[]);
    }
}
