//! Conformance pages: every statement names a test that exists, or says what it waits for.
//!
//! A page holds tables whose last column is `Shown by`. A cell in it has references like `` `package/test` ``,
//! or `not yet (door)`, or both for a statement that is shown in part.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{Fault, Report};
use crate::workspace::Workspace;

/// The tests of each of our packages, by the package's name.
type Tests = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Report> {
    let mut tests = Tests::new();
    for package in &workspace.members {
        let names = tests.entry(package.name.clone()).or_default();
        for file in workspace.files_of(package).filter(|file| file.ends_with(".rs")) {
            names.extend(test_names(&workspace.text(file)?.unwrap_or_default()));
        }
    }
    let mut report = Report::default();
    let is_page = |file: &&String| file.starts_with("docs/conformance/") && file.ends_with(".md");
    for page in workspace.files.iter().filter(is_page) {
        let outcome = check_page(page, &workspace.text(page)?.unwrap_or_default(), &tests);
        report.notes.push(format!("{page}: {}", outcome.counts));
        report.faults.extend(outcome.faults);
    }
    Ok(report)
}

/// How many statements of a page are shown.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    shown: usize,
    in_part: usize,
    not_yet: usize,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} shown, {} shown in part, {} not yet", self.shown, self.in_part, self.not_yet)
    }
}

#[derive(Debug, Default)]
struct PageOutcome {
    counts: Counts,
    faults: Vec<Fault>,
}

fn check_page(page: &str, text: &str, tests: &Tests) -> PageOutcome {
    let mut outcome = PageOutcome::default();
    let mut in_table = false;
    for (index, line) in text.lines().enumerate() {
        let Some(cell) = last_cell(line) else {
            in_table = false;
            continue;
        };
        if cell == "Shown by" {
            in_table = true;
        } else if in_table && !cell.starts_with("---") && !cell.starts_with(":--") {
            check_cell(&cell, tests, &mut outcome.counts, &mut |what, fix| {
                outcome.faults.push(Fault::new(page, index + 1, what, fix));
            });
        }
    }
    outcome
}

fn check_cell(cell: &str, tests: &Tests, counts: &mut Counts, report: &mut impl FnMut(String, String)) {
    let mut references = 0;
    let mut placeholders = 0;
    for span in code_spans(cell) {
        match parse_reference(span) {
            None => {
                placeholders += 1;
                let fix = "write `package/test_name` in backticks, or `not yet (…)` without".to_owned();
                report(format!("`{span}` is not a reference to a test"), fix);
            }
            Some((package, test)) => {
                references += 1;
                match tests.get(package) {
                    None => report(format!("there is no package `{package}`"), "name one of ours".to_owned()),
                    Some(names) if !names.contains(test) => {
                        let fix = "write the test, or name the one that shows the statement".to_owned();
                        report(format!("`{package}` has no test `{test}`"), fix);
                    }
                    Some(_) => {}
                }
            }
        }
    }
    match (references > 0, says_not_yet(cell)) {
        (true, false) => counts.shown += 1,
        (true, true) => counts.in_part += 1,
        (false, true) => counts.not_yet += 1,
        // Told already.
        (false, false) if placeholders > 0 => {}
        (false, false) => {
            let fix = "name a test, or write `not yet (…)` with what it waits for".to_owned();
            report("nothing shows this statement".to_owned(), fix);
        }
    }
}

/// The last cell of a table row; nothing for a line that is none. `\|` does not end a cell.
fn last_cell(line: &str) -> Option<String> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let hidden = row.replace("\\|", "\u{0}");
    hidden.rsplit('|').next().map(|cell| cell.replace('\u{0}', "|").trim().to_owned())
}

/// What stands between backticks.
fn code_spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// `package/test_name` as its two parts.
fn parse_reference(span: &str) -> Option<(&str, &str)> {
    let (package, test) = span.split_once('/')?;
    let is_package = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    let is_test = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
    let fits = !package.is_empty() && !test.is_empty();
    (fits && package.chars().all(is_package) && test.chars().all(is_test)).then_some((package, test))
}

/// Whether the cell says `not yet (…)` with something in the brackets.
fn says_not_yet(cell: &str) -> bool {
    let reason = cell.split_once("not yet (").and_then(|(_, rest)| rest.split_once(')'));
    reason.is_some_and(|(reason, _)| !reason.trim().is_empty())
}

/// The test functions in a Rust file: below a test attribute, or inside `proptest!`.
fn test_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut expected = false;
    let mut proptest_indent = None;
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code.starts_with("proptest! {") {
            proptest_indent = Some(indent);
        } else if code.starts_with('}') && proptest_indent == Some(indent) {
            proptest_indent = None;
        } else if is_test_attribute(code) {
            expected = true;
        }
        // One attribute, one function; in `proptest!` every function outside another is a test.
        if (expected || proptest_indent.is_some_and(|outer| indent == outer + 4))
            && let Some(name) = function_name(code)
        {
            names.insert(name.to_owned());
            expected = false;
        }
    }
    names
}

/// `#[test]`, `#[tokio::test]`, `#[tokio::test(flavor = …)]` and their like.
fn is_test_attribute(code: &str) -> bool {
    let Some(path) = code.strip_prefix("#[") else { return false };
    let path = path.split(['(', ']', ' ']).next().unwrap_or(path);
    path == "test" || path.ends_with("::test")
}

/// The name in a line that begins a function.
fn function_name(code: &str) -> Option<&str> {
    // The attribute and its function may share a line.
    let start = code.strip_prefix("fn ").or_else(|| code.split_once(" fn ").map(|(_, rest)| rest))?;
    let end = start.find(|char: char| !(char.is_alphanumeric() || char == '_'))?;
    (end > 0 && !code.starts_with("//")).then(|| &start[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cell_text(cell: &str) -> (String, Vec<String>) {
        let tests = Tests::from([("loggia-wire".to_owned(), BTreeSet::from(["it_works".to_owned()]))]);
        let page = format!("# P\n\n| # | Statement | Shown by |\n|---|:-:|---|\n| 1 | s | {cell} |\n");
        let outcome = check_page("p.md", &page, &tests);
        (outcome.counts.to_string(), outcome.faults.iter().map(|fault| fault.what.clone()).collect())
    }

    fn fine(cell: &str, counts: &str) {
        assert_eq!(check_cell_text(cell), (counts.to_owned(), Vec::new()), "{cell}");
    }

    fn wrong(cell: &str, fault: &str) {
        assert_eq!(check_cell_text(cell).1, [fault], "{cell}");
    }

    #[test]
    fn rows_are_counted_by_what_they_say() {
        fine("`loggia-wire/it_works`", "1 shown, 0 shown in part, 0 not yet");
        fine("`loggia-wire/it_works`, served: not yet (http door)", "0 shown, 1 shown in part, 0 not yet");
        fine("not yet (http door)", "0 shown, 0 shown in part, 1 not yet");
    }

    #[test]
    fn a_row_that_nothing_shows_is_a_fault() {
        wrong("", "nothing shows this statement");
        wrong("by design", "nothing shows this statement");
        wrong("not yet", "nothing shows this statement");
        wrong("not yet ()", "nothing shows this statement");
    }

    #[test]
    fn references_must_exist() {
        wrong("`loggia-wire/it_breaks`", "`loggia-wire` has no test `it_breaks`");
        wrong("`loggia-air/it_works`", "there is no package `loggia-air`");
    }

    #[test]
    fn a_placeholder_is_a_fault() {
        wrong("`wire: framing`", "`wire: framing` is not a reference to a test");
        wrong("`loggia-wire/it_works` `wire: x`", "`wire: x` is not a reference to a test");
    }

    #[test]
    fn other_tables_and_text_are_left_alone() {
        let page = "| a | b |\n|---|---|\n| x | `y/z` |\n\ntext `a/b`\n";
        let outcome = check_page("p.md", page, &Tests::new());
        assert_eq!((outcome.counts, outcome.faults), (Counts::default(), Vec::new()));
    }

    #[test]
    fn an_escaped_bar_does_not_end_a_cell() {
        assert_eq!(last_cell(r"| 1 | a \| b | c \| d |").as_deref(), Some("c | d"));
        assert_eq!(last_cell("no table"), None);
    }

    #[test]
    fn references_have_a_package_and_a_test() {
        assert_eq!(parse_reference("loggia-wire/it_works"), Some(("loggia-wire", "it_works")));
        for span in ["loggia-wire", "wire: framing", "a/b/c", "/x", "x/", "a b/c", "a/B"] {
            assert_eq!(parse_reference(span), None, "{span}");
        }
    }

    #[test]
    fn tests_are_found_below_their_attribute() {
        let text = r"
            #[test]
            fn plain() {}
            #[tokio::test(flavor = 'x')]
            #[expect(dead_code)]
            async fn waiting() {}
            #[tokio::test(
                start_paused = true
            )]
            async fn paused() {}
            fn helper() {}
            // #[test]
            fn commented() {}
            #[testing]
            fn other() {}
            proptest! {
                #[test]
                fn property(x in 0..9) {
                    fn inner() {}
                }
                fn bare(y in 0..9) {}
            }
            fn after() {}
        ";
        let names: Vec<String> = test_names(text).into_iter().collect();
        assert_eq!(names, ["bare", "paused", "plain", "property", "waiting"]);
    }
}
