//! Where in a line that stands which was looked for.

use regex::{Regex, RegexBuilder};

use super::SearchWay;
use crate::paint::{MATCH, Paint, printable};

/// Words that are shorter stand everywhere.
const SHORTEST: usize = 2;

/// How large an expression may become; what is larger is not marked.
const MAX_EXPRESSION: usize = 1 << 20;

/// Finds what was looked for.
#[derive(Debug)]
pub(super) struct Marks(Option<Regex>);

impl Marks {
    /// For what was looked for in this way, and the name of what was found by it, if it has one.
    pub(super) fn new(query: &str, way: SearchWay, name: Option<&str>) -> Self {
        let (expression, ignores_case) = match way {
            SearchWay::Regex => (query.to_owned(), is_small(query)),
            SearchWay::Phrase => (regex::escape(query), is_small(query)),
            SearchWay::References => (format!(r"\b{}\b", regex::escape(query.trim())), false),
            SearchWay::All | SearchWay::Symbols | SearchWay::Words | SearchWay::Vectors => {
                (any_of(query, name), true)
            }
        };
        if expression.is_empty() {
            return Self(None);
        }
        let mut builder = RegexBuilder::new(&expression);
        // What the server understood and we do not is shown without marks.
        Self(builder.case_insensitive(ignores_case).size_limit(MAX_EXPRESSION).build().ok())
    }

    /// Whether something of it stands in a line.
    pub(super) fn are_in(&self, line: &str) -> bool {
        self.0.as_ref().is_some_and(|marks| marks.is_match(line))
    }

    /// A line from outside, printable, with what was looked for marked.
    pub(super) fn paint(&self, line: &str, paint: Paint) -> String {
        let Some(marks) = self.0.as_ref().filter(|_| paint.color) else {
            return printable(line).into_owned();
        };
        let (mut text, mut from) = (String::new(), 0);
        for found in marks.find_iter(line).filter(|found| !found.is_empty()) {
            text.push_str(&printable(&line[from..found.start()]));
            text.push_str(&paint.foreign(MATCH, found.as_str()));
            from = found.end();
        }
        text.push_str(&printable(&line[from..]));
        text
    }
}

/// Any of the words, the longest first, so that of two that begin alike the longer one is marked.
fn any_of(query: &str, name: Option<&str>) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words: Vec<&str> = query
        .split(|c| !is_part(c))
        .filter(|word| word.chars().count() >= SHORTEST)
        .chain(name.filter(|name| !name.is_empty()))
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.dedup();
    words.into_iter().map(regex::escape).collect::<Vec<_>>().join("|")
}

/// Whether there is no capital letter in an expression: then case does not matter to the server either. What stands after
/// a backslash is no letter.
fn is_small(expression: &str) -> bool {
    let mut is_escaped = false;
    !expression.chars().any(|c| {
        let counts = !is_escaped && c.is_uppercase();
        is_escaped = !is_escaped && c == '\\';
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line with marks in brackets.
    fn marked(query: &str, way: SearchWay, name: Option<&str>, line: &str) -> String {
        let text = Marks::new(query, way, name).paint(line, Paint { color: true });
        text.replace(&format!("{MATCH}"), "[").replace(&format!("{MATCH:#}"), "]")
    }

    #[test]
    fn words_are_marked_whatever_their_case() {
        let line = "/// Sorts a LIST of lists.";
        assert_eq!(marked("sorts a list", SearchWay::All, None, line), "/// [Sorts] a [LIST] of [list]s.");
        assert_eq!(marked("list lists", SearchWay::Words, None, "two lists"), "two [lists]");
        assert_eq!(marked("?? a", SearchWay::Words, None, "a ??"), "a ??", "there are no words in it");
    }

    #[test]
    fn a_definition_is_marked_by_its_name() {
        let line = "pub fn quick_sort(list: &mut [u32])";
        let expected = "pub fn [quick_sort](list: &mut [u32])";
        assert_eq!(marked("quicksort", SearchWay::Symbols, Some("quick_sort"), line), expected);
    }

    #[test]
    fn expressions_and_phrases_are_marked_as_the_server_reads_them() {
        assert_eq!(marked(r"fn \w+\(", SearchWay::Regex, None, "FN main() {}"), "[FN main(]) {}");
        assert_eq!(marked(r"Fn \w+", SearchWay::Regex, None, "fn main() {}"), "fn main() {}");
        assert_eq!(marked(r"\W+", SearchWay::Regex, None, "a..b"), "a[..]b");
        assert_eq!(marked("x*", SearchWay::Regex, None, "axb"), "a[x]b");
        assert_eq!(marked("(", SearchWay::Regex, None, "a(b"), "a(b", "it is no expression");
        assert_eq!(marked("a.b", SearchWay::Phrase, None, "a.b axb A.B"), "[a.b] axb [A.B]");
        assert_eq!(marked("main", SearchWay::References, None, "main(Main, mains)"), "[main](Main, mains)");
    }

    #[test]
    fn lines_cannot_steer_the_terminal_and_without_colours_nothing_is_marked() {
        assert_eq!(marked("b", SearchWay::Regex, None, "a\u{1b}[2Jb\tc"), "a\\u{1b}[2J[b]    c");
        let marks = Marks::new("word", SearchWay::Words, None);
        assert_eq!(marks.paint("a word\u{7}", Paint { color: false }), "a word\\u{7}");
        assert!(marks.are_in("a Word") && !marks.are_in("none"));
    }
}
