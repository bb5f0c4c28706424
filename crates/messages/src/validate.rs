//! What is doubtful about a message under a schema.
//!
//! An entry for a whole field looks at the first component of each repetition. Values such as `{now}` are filled in
//! later and `""` says that there is none on purpose: both are left alone. Nothing here keeps a message from being
//! changed or saved.

use std::collections::HashMap;

use loggia_domain::{MessageFinding, MessageSchema, SchemaField, SchemaMoment};
use regex::{Regex, RegexBuilder};

use crate::hl7::Hl7;
use crate::hl7::delimiters::Delimiters;
use crate::hl7::escape::unescape;
use crate::hl7::field;
use crate::hl7::lines::{Name, shown};
use crate::limits::{MAX_FINDINGS, MAX_PATTERN};

/// What is doubtful, in the order of the message; no more than [`MAX_FINDINGS`].
pub(crate) fn validate(message: &Hl7, schema: &MessageSchema) -> Vec<MessageFinding> {
    let mut look = Look { findings: Vec::new(), patterns: HashMap::new(), delimiters: message.delimiters() };
    if message.is_empty() {
        look.tell(String::new(), true, "the message is empty".to_owned());
    }
    let mut counts: HashMap<Name, usize> = HashMap::new();
    for (index, line) in message.lines().iter().enumerate() {
        let text = message.line(line);
        let Some(name) = line.name else {
            if !text.is_empty() {
                look.tell(
                    String::new(),
                    false,
                    format!("line {} is no segment and stays as it is", index + 1),
                );
            }
            continue;
        };
        let count = counts.entry(name).or_default();
        *count += 1;
        let Some(fields) = schema.segments.get(&shown(name)) else { continue };
        let segment = if *count == 1 { shown(name) } else { format!("{}[{count}]", shown(name)) };
        for field in fields {
            look.at(text, &segment, field);
        }
        if look.findings.len() == MAX_FINDINGS {
            break;
        }
    }
    look.findings
}

/// What is found so far.
struct Look<'s> {
    findings: Vec<MessageFinding>,
    /// Patterns by their text; nothing for those that are none.
    patterns: HashMap<&'s str, Option<Regex>>,
    delimiters: &'s Delimiters,
}

impl<'s> Look<'s> {
    fn tell(&mut self, path: String, wrong: bool, what: String) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(MessageFinding { path, wrong, what });
        }
    }

    /// Looks at one entry of the schema in one segment.
    fn at(&mut self, line: &str, segment: &str, entry: &'s SchemaField) {
        let text =
            field::range_in(line, entry.field.into(), self.delimiters).map_or("", |range| &line[range]);
        let repetitions: Vec<&str> = if field::is_delimiters(line, entry.field.into()) {
            vec![text]
        } else {
            let component = usize::from(entry.component.unwrap_or(1)) - 1;
            let (repetition, inner) = (self.delimiters.repetition, char::from(self.delimiters.component));
            let repetitions = text.split(char::from(repetition));
            repetitions.map(|repetition| repetition.split(inner).nth(component).unwrap_or_default()).collect()
        };
        for (index, value) in repetitions.iter().enumerate() {
            let path = path(segment, entry, (repetitions.len() > 1).then_some(index + 1));
            let is_empty = if entry.component.is_none() { text.is_empty() } else { value.is_empty() };
            if is_empty && entry.required == Some(true) {
                self.tell(path, true, format!("{} must not be empty", called(entry)));
            } else if !value.is_empty() && !is_left_alone(value) {
                self.value(&unescape(value, self.delimiters), &path, entry);
            }
        }
    }

    fn value(&mut self, value: &str, path: &str, entry: &'s SchemaField) {
        let length = value.chars().count() as u64;
        if let Some(shortest) = entry.shortest.filter(|shortest| length < *shortest) {
            let what = format!("{} has {length} characters, and {shortest} are the fewest", called(entry));
            self.tell(path.to_owned(), false, what);
        }
        if let Some(longest) = entry.longest.filter(|longest| length > *longest) {
            let what = format!("{} has {length} characters, and {longest} are the most", called(entry));
            self.tell(path.to_owned(), false, what);
        }
        if let Some(pattern) = &entry.pattern {
            if self.pattern(pattern).is_some_and(|compiled| !compiled.is_match(value)) {
                let what = format!("{} is `{}`, which does not fit `{pattern}`", called(entry), cut(value));
                self.tell(path.to_owned(), false, what);
            }
        } else if let Some(values) = entry.values.as_ref().filter(|values| !values.contains_key(value)) {
            let known: Vec<&str> = values.keys().map(String::as_str).collect();
            let what =
                format!("{} is `{}`, which is none of {}", called(entry), cut(value), cut(&known.join(", ")));
            self.tell(path.to_owned(), false, what);
        }
        let (fits, wanted) = match entry.moment {
            None => return,
            Some(SchemaMoment::Date) => (is_date(value), "a day, as in 20240131"),
            Some(SchemaMoment::DateTime) => (is_date_time(value), "a moment, as in 20240131235959+0100"),
        };
        if !fits {
            let what = format!("{} is `{}`, which is not {wanted}", called(entry), cut(value));
            self.tell(path.to_owned(), false, what);
        }
    }

    /// A pattern for whole values; nothing if it is no regular expression, or too large.
    fn pattern(&mut self, pattern: &'s str) -> Option<&Regex> {
        let compile =
            || RegexBuilder::new(&format!("\\A(?:{pattern})\\z")).size_limit(MAX_PATTERN).build().ok();
        self.patterns.entry(pattern).or_insert_with(compile).as_ref()
    }
}

/// What is filled in later, or empty on purpose.
fn is_left_alone(value: &str) -> bool {
    value == "\"\"" || (value.starts_with('{') && value.ends_with('}'))
}

fn path(segment: &str, entry: &SchemaField, repetition: Option<usize>) -> String {
    let mut path = format!("{segment}.{}", entry.field);
    if let Some(repetition) = repetition {
        path.push_str(&format!("[{repetition}]"));
    }
    if let Some(component) = entry.component {
        path.push_str(&format!(".{component}"));
    }
    path
}

fn called(entry: &SchemaField) -> &str {
    if entry.name.is_empty() { "the value" } else { &entry.name }
}

fn cut(text: &str) -> String {
    crate::hl7::path::cut(text)
}

/// Whether a text is a day: `YYYYMMDD`.
fn is_date(text: &str) -> bool {
    let Some(digits) = digits(text, 8) else { return false };
    let number = |range: std::ops::Range<usize>| digits[range].parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(0..4), number(4..6), number(6..8));
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    text.len() == 8 && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// Whether a text is a moment: `YYYYMMDDHHMMSS`, a fraction of a second, an offset.
fn is_date_time(text: &str) -> bool {
    let Some(digits) = digits(text, 14) else { return false };
    let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
    let time = number(&digits[8..10]) < 24 && number(&digits[10..12]) < 60 && number(&digits[12..14]) < 60;
    let rest = &text[14..];
    let (fraction, offset) = rest.split_at(rest.find(['+', '-']).unwrap_or(rest.len()));
    let fraction_fits = fraction.is_empty()
        || fraction.strip_prefix('.').is_some_and(|digits| !digits.is_empty() && all_digits(digits));
    let offset_fits = offset.is_empty() || (offset.len() == 5 && all_digits(&offset[1..]));
    is_date(&digits[..8]) && time && fraction_fits && offset_fits
}

fn digits(text: &str, count: usize) -> Option<&str> {
    text.get(..count).filter(|digits| all_digits(digits))
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_told_from_others() {
        for (text, day, moment) in [
            ("20240229", true, false),
            ("20230229", false, false),
            ("20241301", false, false),
            ("2024", false, false),
            ("20240131235959", false, true),
            ("20240131235959.1234+0100", false, true),
            ("20240131235959-0500", false, true),
            ("20240131245959", false, false),
            ("20240131235959.", false, false),
            ("20240131235959+1", false, false),
            ("２０２４０１３１", false, false),
        ] {
            assert_eq!((is_date(text), is_date_time(text)), (day, moment), "{text}");
        }
    }
}
