//! Places in a segment: finding one, and putting something there.
//!
//! Fields are found by their delimiter; what is inside one is told by the parser, as ranges of bytes.
//! Invariant: putting something in one place leaves every byte outside it as it was; delimiters are only added where
//! the place was not there.

use std::ops::Range;

use hl7_parser::message::Field;
use hl7_parser::parser::parse_field_with_separators;
use memchr::memchr_iter;
use thiserror::Error;

use crate::hl7::HEADER;
use crate::hl7::delimiters::Delimiters;
use crate::hl7::path::FieldPlace;
use crate::limits::MAX_PARTS;

/// A field has more parts than are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the field has more than {MAX_PARTS} parts")]
pub(crate) struct TooManyParts;

/// Whether a field of this line is one of the two that name the delimiters.
pub(crate) fn is_delimiters(line: &str, field: u16) -> bool {
    field <= 2 && line.starts_with(HEADER)
}

/// Where a field is in its line; nothing if the line ends before.
pub(crate) fn range_in(line: &str, field: u16, delimiters: &Delimiters) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let is_header = line.starts_with(HEADER);
    if is_header && field == 1 {
        return Some(3..4);
    }
    // Of the header, the first delimiter is the first field.
    let before = usize::from(field) - 1 - usize::from(is_header);
    let mut places = memchr_iter(delimiters.field, bytes);
    let start = places.nth(before)? + 1;
    Some(start..places.next().unwrap_or(bytes.len()))
}

/// How many fields a line has.
pub(crate) fn count(line: &str, delimiters: &Delimiters) -> usize {
    memchr_iter(delimiters.field, line.as_bytes()).count() + usize::from(line.starts_with(HEADER))
}

/// A field's parts, with their places.
pub(crate) fn parse<'f>(field: &'f str, delimiters: &Delimiters) -> Result<Field<'f>, TooManyParts> {
    let inner = [delimiters.repetition, delimiters.component, delimiters.subcomponent];
    if field.len() > MAX_PARTS {
        let parts = inner.iter().map(|delimiter| memchr_iter(*delimiter, field.as_bytes()).count());
        if parts.sum::<usize>() > MAX_PARTS {
            return Err(TooManyParts);
        }
    }
    // A field is a list of lists of text: there is nothing in it that could not be read.
    parse_field_with_separators(field, delimiters.separators()).map_err(|_| TooManyParts)
}

/// Where a place is in its field; nothing if it is not there.
pub(crate) fn find(
    field: &str,
    place: &FieldPlace,
    delimiters: &Delimiters,
) -> Result<Option<Range<usize>>, TooManyParts> {
    let (repetition, component) = (place.repetition, place.component);
    if repetition.is_none() && component.is_none() {
        return Ok(Some(0..field.len()));
    }
    let parsed = parse(field, delimiters)?;
    let found = parsed.repeats.get(index(repetition.unwrap_or(1))).and_then(|repeat| {
        let Some(component) = component else { return Some(repeat.range.clone()) };
        let component = repeat.components.get(index(component))?;
        let Some(subcomponent) = place.subcomponent else { return Some(component.range.clone()) };
        Some(component.subcomponents.get(index(subcomponent))?.range.clone())
    });
    Ok(found)
}

/// The line with a value in a place, which is made if it is not there. The value is escaped already.
///
/// Nothing if an empty value is to stand where nothing is.
pub(crate) fn put(
    line: &str,
    place: &FieldPlace,
    value: &str,
    delimiters: &Delimiters,
) -> Result<Option<String>, TooManyParts> {
    let found = range_in(line, place.field, delimiters);
    let (before, field, after) = match &found {
        Some(range) => (&line[..range.start], &line[range.clone()], &line[range.end..]),
        None => (line, "", ""),
    };
    if value.is_empty() && (found.is_none() || find(field, place, delimiters)?.is_none()) {
        return Ok(None);
    }
    let mut whole = String::with_capacity(line.len() + value.len() + 8);
    whole.push_str(before);
    if found.is_none() {
        let missing = usize::from(place.field) - count(line, delimiters);
        push_times(&mut whole, delimiters.field, missing);
    }
    put_in_field(&mut whole, field, place, value, delimiters)?;
    whole.push_str(after);
    Ok(Some(whole))
}

/// Writes a field with a value in a place of it.
fn put_in_field(
    out: &mut String,
    field: &str,
    place: &FieldPlace,
    value: &str,
    delimiters: &Delimiters,
) -> Result<(), TooManyParts> {
    if place.repetition.is_none() && place.component.is_none() {
        out.push_str(value);
        return Ok(());
    }
    let parsed = parse(field, delimiters)?;
    let repetitions: Vec<_> = parsed.repeats.iter().map(|part| part.range.clone()).collect();
    let number = index(place.repetition.unwrap_or(1));
    put_part(out, field, &repetitions, number, delimiters.repetition, |out, text| {
        let Some(component) = place.component else { return out.push_str(value) };
        let repeat = parsed.repeats.get(number);
        let components = repeat.map(|repeat| repeat.components.as_slice()).unwrap_or_default();
        let start = repeat.map_or(0, |repeat| repeat.range.start);
        let ranges: Vec<_> = components.iter().map(|part| shifted(&part.range, start)).collect();
        let number = index(component);
        put_part(out, text, &ranges, number, delimiters.component, |out, text| {
            let Some(subcomponent) = place.subcomponent else { return out.push_str(value) };
            let parts = components.get(number);
            let start = parts.map_or(0, |part| part.range.start);
            let parts = parts.map(|part| part.subcomponents.as_slice()).unwrap_or_default();
            let ranges: Vec<_> = parts.iter().map(|part| shifted(&part.range, start)).collect();
            put_part(out, text, &ranges, index(subcomponent), delimiters.subcomponent, |out, _| {
                out.push_str(value);
            });
        });
    });
    Ok(())
}

/// Writes a text of which one part is written by somebody else; it is made if it is not there.
fn put_part(
    out: &mut String,
    text: &str,
    parts: &[Range<usize>],
    number: usize,
    delimiter: u8,
    write: impl FnOnce(&mut String, &str),
) {
    match parts.get(number) {
        Some(range) => {
            out.push_str(&text[..range.start]);
            write(out, &text[range.clone()]);
            out.push_str(&text[range.end..]);
        }
        None => {
            out.push_str(text);
            // A text without parts is its own first one.
            push_times(out, delimiter, number + 1 - parts.len().max(1));
            write(out, "");
        }
    }
}

fn push_times(out: &mut String, delimiter: u8, times: usize) {
    out.extend(std::iter::repeat_n(char::from(delimiter), times));
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start - by..range.end - by
}

fn index(number: u16) -> usize {
    usize::from(number) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hl7::path::SegmentPath;

    fn check(line: &str, path: &str, value: &str, expected: Option<&str>) {
        let place = SegmentPath::parse(path).unwrap().field.unwrap();
        let put = put(line, &place, value, &Delimiters::USUAL).unwrap();
        assert_eq!(put.as_deref(), expected, "{line} {path}={value}");
    }

    #[test]
    fn a_place_that_is_there_is_replaced() {
        check("PID|1|2|3", "PID.2", "x", Some("PID|1|x|3"));
        check("PID|A^B^C", "PID.1.2", "x", Some("PID|A^x^C"));
        check("PID|A^B&C^D", "PID.1.2.1", "x", Some("PID|A^x&C^D"));
        check("PID|A~B^é~C", "PID.1[2].2", "x", Some("PID|A~B^x~C"));
        check("PID|A~B~C", "PID.1[2]", "x", Some("PID|A~x~C"));
        check("PID|A^B", "PID.1.2", "", Some("PID|A^"));
        check("PID|A^B~C", "PID.1", "x", Some("PID|x"));
    }

    #[test]
    fn a_place_that_is_not_there_is_made_and_keeps_what_is() {
        check("PID|1", "PID.4", "x", Some("PID|1|||x"));
        check("PID|", "PID.1", "x", Some("PID|x"));
        check("PID|V", "PID.1.4", "M", Some("PID|V^^^M"));
        check("PID|V", "PID.1.1.3", "M", Some("PID|V&&M"));
        check("PID|V", "PID.1.2.2", "M", Some("PID|V^&M"));
        check("PID|V^W", "PID.1[3].2", "M", Some("PID|V^W~~^M"));
        check("PID|1", "PID.3[2].2.2", "x", Some("PID|1||~^&x"));
    }

    #[test]
    fn nothing_to_clear_is_no_change() {
        check("PID|1", "PID.4", "", None);
        check("PID|V", "PID.1.2", "", None);
        check("PID|V", "PID.1[2]", "", None);
        check("PID|V", "PID.1.1", "", Some("PID|"));
    }

    #[test]
    fn fields_of_the_header_count_from_its_delimiter() {
        let field = |number| {
            range_in(r"MSH|^~\&|A|B", number, &Delimiters::USUAL).map(|range| &r"MSH|^~\&|A|B"[range])
        };
        assert_eq!(
            [field(1), field(2), field(3), field(4), field(5)],
            [Some("|"), Some(r"^~\&"), Some("A"), Some("B"), None]
        );
        check(r"MSH|^~\&|A", "MSH.4", "x", Some(r"MSH|^~\&|A|x"));
        check(r"MSH|^~\&", "MSH.4", "x", Some(r"MSH|^~\&||x"));
    }

    #[test]
    fn a_field_of_countless_parts_is_refused() {
        let field = "&".repeat(MAX_PARTS + 1);
        assert_eq!(parse(&field, &Delimiters::USUAL).unwrap_err(), TooManyParts);
    }
}
