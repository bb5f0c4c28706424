//! A file, or the part of it that matters, as a piece for a model.

use std::ops::RangeInclusive;

use loggia_domain::Spot;

use crate::turn::excerpt::Excerpt;
use crate::turn::gather::language::Language;
use crate::turn::gather::patience::Patience;
use crate::turn::gather::scope;

/// A file up to this size is told whole.
const WHOLE: usize = 24 << 10;

/// How many lines of a larger file are told around a place in it, besides the function there.
const AROUND: usize = 60;

/// A file; of a large one what is around the spot, or its beginning.
pub(super) fn file(
    path: &str,
    text: &str,
    spot: Option<Spot>,
    role: Option<&'static str>,
    patience: &Patience,
) -> Excerpt {
    let count = text.lines().count().max(1);
    let lines = match spot {
        Some(spot) if text.len() > WHOLE => {
            let (first, last) = match spot {
                Spot::Selected { first, last } | Spot::Visible { first, last } => {
                    (first as usize, last as usize)
                }
                Spot::Named { line } | Spot::Cursor { line } => {
                    let scope = scope::around(text, line as usize, Language::of(path), patience).lines;
                    (*scope.start(), *scope.end())
                }
            };
            first.saturating_sub(AROUND)..=last.saturating_add(AROUND)
        }
        _ => 1..=count,
    };
    part(path, text, lines, role)
}

/// Some lines of a file, as far as it has them.
pub(super) fn part(
    path: &str,
    text: &str,
    lines: RangeInclusive<usize>,
    role: Option<&'static str>,
) -> Excerpt {
    let count = text.lines().count().max(1);
    let first = (*lines.start()).clamp(1, count);
    let last = (*lines.end()).clamp(first, count);
    let told: Vec<&str> = text.lines().skip(first - 1).take(last + 1 - first).collect();
    Excerpt { place: path.to_owned(), lines: Some((first, last)), role, text: told.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_told_around_the_place_in_question() {
        let body = |number: usize| format!("fn f{number}() {{\n    let word = {number};\n}}\n\n");
        let text: String = (0..2000).map(body).collect();
        let file = |text: &str, spot| file("a.rs", text, spot, None, &Patience::endless());
        let told = file(&text, Some(Spot::Cursor { line: 4002 }));
        assert_eq!(told.lines, Some((3941, 4063)));
        assert!(told.text.contains("fn f1000()"), "{}", told.text);
        assert_eq!(file(&text, None).lines, Some((1, 8000)));
        assert_eq!(file("a\nb\n", Some(Spot::Cursor { line: 2 })).lines, Some((1, 2)));
    }

    #[test]
    fn lines_a_file_does_not_have_are_not_told() {
        let told = |lines| part("a", "1\n2\n3\n", lines, None);
        assert_eq!((told(2..=9).lines, told(2..=9).text.as_str()), (Some((2, 3)), "2\n3"));
        assert_eq!((told(0..=1).lines, told(0..=1).text.as_str()), (Some((1, 1)), "1"));
        assert_eq!((told(7..=9).lines, told(7..=9).text.as_str()), (Some((3, 3)), "3"));
        #[expect(clippy::reversed_empty_ranges, reason = "a client may say anything")]
        let reversed = told(3..=2);
        assert_eq!((reversed.lines, reversed.text.as_str()), (Some((3, 3)), "3"));
    }
}
