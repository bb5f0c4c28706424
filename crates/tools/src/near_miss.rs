//! Why a text was not found in a file, as far as one can tell.
//!
//! Knows two texts; refuses to know files. Every hint is checked against the file before it is given; none changes
//! what counts as a match.

use crate::text::{LineEnds, cut, with_lf, without_end};

/// How many characters of a line a hint shows: enough to see the difference, not a file's worth.
const MAX_SHOWN: usize = 200;

/// How many lines a hint shows.
const MAX_SHOWN_LINES: usize = 12;

/// How many lines a text may have to be looked for in other forms: the search takes so many times the file's length.
const MAX_WANTED_LINES: usize = 200;

/// Says what `wanted` nearly matches in `text`, if anything. `name` is what the model calls it.
pub(crate) fn hint(text: &str, wanted: &str, name: &str) -> Option<String> {
    if wanted.lines().nth(MAX_WANTED_LINES).is_some() {
        return None;
    }
    numbered(text, wanted, name)
        .or_else(|| line_ends(text, wanted, name))
        .or_else(|| white_space(text, wanted))
        .or_else(|| letter_case(text, wanted))
        .or_else(|| first_line(text, wanted, name))
}

/// The line numbers that `read_file` puts in front were copied along.
fn numbered(text: &str, wanted: &str, name: &str) -> Option<String> {
    let stripped: Option<Vec<&str>> = wanted
        .lines()
        .map(|line| {
            let (number, rest) = line.split_once('\t')?;
            let is_number =
                !number.trim().is_empty() && number.trim().bytes().all(|byte| byte.is_ascii_digit());
            is_number.then_some(rest)
        })
        .collect();
    let found = with_lf(text).contains(&stripped?.join("\n"));
    found.then(|| format!("{name} holds the line numbers that read_file shows; leave them out"))
}

fn line_ends(text: &str, wanted: &str, name: &str) -> Option<String> {
    if !with_lf(text).contains(with_lf(wanted).as_ref()) {
        return None;
    }
    Some(match LineEnds::of(text.as_bytes()) {
        LineEnds::Lf => format!("{name} has CRLF line ends where the file has LF"),
        LineEnds::Crlf => format!("the file's lines end in CRLF (\\r\\n) and those of {name} do not"),
        LineEnds::Mixed | LineEnds::None => {
            format!("some of the file's lines end in CRLF (\\r\\n), some in LF, and {name} differs in that")
        }
    })
}

/// The lines are there, but spaces or tabs differ.
fn white_space(text: &str, wanted: &str) -> Option<String> {
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = wanted.lines().map(squeezed).collect();
    let wanted: Vec<&str> = trimmed(&wanted);
    if wanted.iter().all(|line| line.is_empty()) {
        return None;
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let held: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
    let start = held.windows(wanted.len()).position(|window| window == wanted)?;
    let place = place(start, wanted.len());
    Some(format!(
        "{place} in white space only; the file has there:\n{}",
        shown(&lines[start..start + wanted.len()])
    ))
}

fn letter_case(text: &str, wanted: &str) -> Option<String> {
    let text = text.to_lowercase();
    let position = text.find(&wanted.to_lowercase())?;
    let line = text[..position].matches('\n').count();
    Some(format!("{} in upper and lower case only", place(line, wanted.lines().count())))
}

/// The first line is there, but what follows is not what was expected.
fn first_line(text: &str, wanted: &str, name: &str) -> Option<String> {
    let mut wanted = wanted.lines().map(str::trim).skip_while(|line| line.is_empty()).peekable();
    let first = *wanted.peek()?;
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.trim() == first)?;
    let (offset, expected) = wanted
        .enumerate()
        .find(|(offset, expected)| lines.get(start + offset).is_none_or(|line| line.trim() != *expected))?;
    Some(match lines.get(start + offset) {
        Some(found) => format!(
            "its first line is line {}, but line {} is\n{}\nwhere {name} has\n{}",
            start + 1,
            start + offset + 1,
            cut(found, MAX_SHOWN),
            cut(expected, MAX_SHOWN),
        ),
        None => format!("its first line is line {}, but the file ends before {name} does", start + 1),
    })
}

/// Without the empty lines at both ends.
fn trimmed(lines: &[String]) -> Vec<&str> {
    let start = lines.iter().take_while(|line| line.is_empty()).count();
    let end = lines.len() - lines.iter().rev().take_while(|line| line.is_empty()).count();
    lines.get(start..end).unwrap_or_default().iter().map(String::as_str).collect()
}

fn place(start: usize, count: usize) -> String {
    match count {
        0 | 1 => format!("line {} differs", start + 1),
        _ => format!("lines {}-{} differ", start + 1, start + count),
    }
}

fn shown(lines: &[&str]) -> String {
    let mut shown: Vec<String> = lines
        .iter()
        .take(MAX_SHOWN_LINES)
        .map(|line| cut(without_end(line), MAX_SHOWN).into_owned())
        .collect();
    if lines.len() > MAX_SHOWN_LINES {
        shown.push(format!("… [{} more lines]", lines.len() - MAX_SHOWN_LINES));
    }
    shown.join("\n")
}
