//! What was found, for people: places that can be clicked on, and lines in which it stands.

use std::path::Path;

use loggia_protocol_agent_server::{HitKind, Reference, SearchHit};

use super::mark::Marks;
use super::{Found, Search, SearchWay};
use crate::Terminal;
use crate::paint::{ASIDE, CODE, Paint, SUBJECT, printable};

/// How many lines of a finding are shown.
const MAX_LINES: usize = 6;

/// How many lines are shown before the first one that matters.
const BEFORE: usize = 1;

/// Everything that was found; nothing if that is nothing.
pub(super) fn text(found: &Found, options: &Search, terminal: &Terminal) -> String {
    let paint = terminal.paint_out();
    // Only where colours are: whoever switched them off wants plain text.
    let root = (terminal.stdout_is_terminal() && paint.color).then_some(options.of.workspace.as_path());
    let face = Face { paint, root };
    match found {
        Found::Places(found) => {
            let show = |hit| face.hit(hit, &options.query, options.way);
            found.results.iter().map(show).collect()
        }
        Found::Uses(found) => {
            let marks = Marks::new(&options.query, options.way, None);
            found.references.iter().map(|reference| face.reference(reference, &marks)).collect()
        }
    }
}

/// How things are shown.
struct Face<'r> {
    paint: Paint,
    /// The workspace's directory, if places can be clicked on.
    root: Option<&'r Path>,
}

impl Face<'_> {
    fn hit(&self, hit: &SearchHit, query: &str, way: SearchWay) -> String {
        let marks = Marks::new(query, way, hit.name.as_deref());
        let mut text = self.place(&hit.file_path, hit.start_line);
        if let Some(name) = &hit.name {
            text.push_str(&format!("  {}", self.paint.foreign(CODE, name)));
            text.push_str(&self.paint.text(ASIDE, belongs(hit)));
        }
        text.push('\n');
        match hit.signature.as_deref().filter(|_| hit.kind == HitKind::Symbol && way == SearchWay::Symbols) {
            Some(signature) => text.push_str(&self.definition(hit, signature, &marks)),
            None => {
                // What was looked for may stand far below the name.
                let wanted = Marks::new(query, way, None);
                let first = hit.snippet.lines().position(|line| wanted.are_in(line)).unwrap_or(0);
                text.push_str(&self.lines(hit, &marks, first));
            }
        }
        text.push('\n');
        text
    }

    /// The head of a definition and what is said about it.
    fn definition(&self, hit: &SearchHit, signature: &str, marks: &Marks) -> String {
        let mut text = format!("       {}\n", marks.paint(signature, self.paint));
        if let Some(doc) = &hit.doc {
            text.push_str(&format!("       {}\n", self.paint.foreign(ASIDE, doc)));
        }
        text
    }

    /// The first lines of a finding; of one in which the first match stands far below, those around it.
    fn lines(&self, hit: &SearchHit, marks: &Marks, first: usize) -> String {
        let lines: Vec<&str> = hit.snippet.lines().collect();
        let from = if first < MAX_LINES { 0 } else { first - BEFORE };
        let more = |count: usize| {
            let lines = if count == 1 { "line" } else { "lines" };
            format!("{}\n", self.paint.text(ASIDE, format!("       … {count} more {lines}")))
        };
        let mut text = if from > 0 { more(from) } else { String::new() };
        for (number, line) in (hit.start_line..).zip(&lines).skip(from).take(MAX_LINES) {
            text.push_str(&self.paint.text(ASIDE, format!("{number:>6} ")));
            text.push_str(&marks.paint(line, self.paint));
            text.push('\n');
        }
        let left = lines.len().saturating_sub(from + MAX_LINES);
        if left > 0 {
            text.push_str(&more(left));
        }
        text
    }

    fn reference(&self, reference: &Reference, marks: &Marks) -> String {
        let kind = self.paint.foreign(ASIDE, reference.kind.as_str());
        let place = self.place(&reference.file_path, reference.line);
        format!("{place}  {kind}  {}\n", marks.paint(reference.text.trim(), self.paint))
    }

    /// A place, which can be clicked on where that is possible.
    fn place(&self, file: &str, line: u32) -> String {
        let painted = self.paint.text(SUBJECT, format!("{}:{line}", printable(file)));
        match self.root.and_then(Path::to_str) {
            Some(root) => {
                let (root, file) = (encoded(root), encoded(file));
                format!("\u{1b}]8;;file://{root}/{file}\u{1b}\\{painted}\u{1b}]8;;\u{1b}\\")
            }
            None => painted.into_owned(),
        }
    }
}

/// What a definition is, and what it is in.
fn belongs(hit: &SearchHit) -> String {
    let of = |word: &str| printable(word).into_owned();
    match (&hit.symbol_kind, &hit.container) {
        (Some(kind), Some(container)) => format!("  {} in {}", of(kind), of(container)),
        (Some(kind), None) => format!("  {}", of(kind)),
        (None, Some(container)) => format!("  in {}", of(container)),
        (None, None) => String::new(),
    }
}

/// A path as a part of an address.
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::ReferenceKind;

    use super::*;

    const PLAIN: Face<'_> = Face { paint: Paint { color: false }, root: None };

    fn hit(snippet: &str) -> SearchHit {
        SearchHit {
            kind: HitKind::Text,
            file_path: "src/a b.rs".to_owned(),
            start_line: 10,
            end_line: 11,
            name: None,
            snippet: snippet.to_owned(),
            score: 1.0,
            symbol_kind: None,
            container: None,
            signature: None,
            doc: None,
        }
    }

    #[test]
    fn lines_have_their_numbers_and_long_findings_are_cut() {
        let text = PLAIN.hit(&hit("1\n2\n3\n4\n5\n6\n7\n"), "3", SearchWay::Phrase);
        assert_eq!(
            text,
            "src/a b.rs:10\n    10 1\n    11 2\n    12 3\n    13 4\n    14 5\n    15 6\n       … 1 more line\n\n"
        );
    }

    #[test]
    fn of_a_match_far_below_the_lines_around_it_are_shown() {
        let snippet: String = (0..20).map(|number| format!("line_{number:02}\n")).collect();
        let text = PLAIN.hit(&hit(&snippet), "line_12", SearchWay::Words);
        assert!(
            text.starts_with("src/a b.rs:10\n       … 11 more lines\n    21 line_11\n    22 line_12\n"),
            "{text}"
        );
        let named = SearchHit { name: Some("line_00".to_owned()), ..hit(&snippet) };
        let named = PLAIN.hit(&named, "line_12", SearchWay::All);
        assert!(named.contains("\n    22 line_12\n"), "{named}");
        assert!(text.ends_with("    26 line_16\n       … 3 more lines\n\n"), "{text}");
    }

    #[test]
    fn a_definition_shows_its_kind_its_container_and_its_head() {
        let definition = SearchHit {
            kind: HitKind::Symbol,
            name: Some("sort".to_owned()),
            symbol_kind: Some("method".to_owned()),
            container: Some("List".to_owned()),
            signature: Some("fn sort(&mut self)".to_owned()),
            doc: Some("Sorts\u{7} it.".to_owned()),
            ..hit("fn sort(&mut self) {}\n")
        };
        assert_eq!(
            PLAIN.hit(&definition, "sort", SearchWay::Symbols),
            "src/a b.rs:10  sort  method in List\n       fn sort(&mut self)\n       Sorts\\u{7} it.\n\n"
        );
        assert_eq!(
            PLAIN.hit(&definition, "sort", SearchWay::All),
            "src/a b.rs:10  sort  method in List\n    10 fn sort(&mut self) {}\n\n"
        );
    }

    #[test]
    fn a_use_is_one_line() {
        let reference = Reference {
            file_path: "a.rs".to_owned(),
            line: 3,
            kind: ReferenceKind::Call,
            text: "    sort();".to_owned(),
        };
        let marks = Marks::new("sort", SearchWay::References, None);
        assert_eq!(PLAIN.reference(&reference, &marks), "a.rs:3  call  sort();\n");
    }

    #[test]
    fn places_can_be_clicked_on_where_there_are_colours() {
        let face = Face { paint: Paint { color: true }, root: Some(Path::new("/w/ü")) };
        assert_eq!(
            face.place("a b%.rs", 3),
            "\u{1b}]8;;file:///w/%C3%BC/a%20b%25.rs\u{1b}\\\u{1b}[1ma b%.rs:3\u{1b}[0m\u{1b}]8;;\u{1b}\\"
        );
        assert_eq!(Face { root: None, ..face }.place("a.rs", 3), "\u{1b}[1ma.rs:3\u{1b}[0m");
    }
}
