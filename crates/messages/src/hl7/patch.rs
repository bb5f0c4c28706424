//! Patches of an HL7 message: single places, in order, each on the result of the one before.
//!
//! Invariant: a patch that is refused changes nothing, and one that applies leaves every byte outside its place as it was.
//! A message never gets longer than messages may be.

use std::borrow::Cow;

use loggia_domain::MessagePatch;
use thiserror::Error;

use crate::hl7::delimiters::Delimiters;
use crate::hl7::escape::escape;
use crate::hl7::field::{self, TooManyParts};
use crate::hl7::lines::{Name, shown, usual_separator};
use crate::hl7::path::{FieldPlace, SegmentPath, SegmentPathError};
use crate::hl7::{HEADER, Hl7};
use crate::limits::{MAX_LINES, MAX_MESSAGE};

/// A message that is being patched.
#[derive(Debug)]
pub(crate) struct Patching<'t> {
    pieces: Vec<Piece<'t>>,
    delimiters: Delimiters,
    /// What separates new lines from others.
    separator: &'static str,
    /// How long the text is.
    bytes: usize,
    /// Where a segment was found last: lists of patches mostly go from one to the next.
    last_found: Option<Found>,
}

/// Where a segment is.
#[derive(Debug, Clone, Copy)]
struct Found {
    name: Name,
    /// From 0.
    occurrence: usize,
    index: usize,
}

/// A line and what separates it from the next.
#[derive(Debug)]
struct Piece<'t> {
    text: Cow<'t, str>,
    separator: &'t str,
    name: Option<Name>,
}

/// Why a patch does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Path(#[from] SegmentPathError),
    #[error("segment {0} is not in the message")]
    NoSegment(String),
    #[error("a whole segment can only be created or removed: name a field, as in `{0}.1`")]
    NoField(String),
    #[error("a segment itself has no value: name a field, as in `{0}.1`")]
    SegmentValue(String),
    #[error(
        "the delimiters in MSH-1 and MSH-2 cannot be changed by a patch: put another text in the message's place"
    )]
    Delimiters,
    #[error("the message's first segment cannot be removed, and there is only one MSH")]
    Header,
    #[error(transparent)]
    Parts(#[from] TooManyParts),
    #[error("the message would have more than {MAX_MESSAGE} bytes")]
    TooLong,
    #[error("the message would have more than {MAX_LINES} lines")]
    TooManyLines,
}

impl<'t> Patching<'t> {
    pub(crate) fn new(message: &'t Hl7) -> Self {
        let text = message.text();
        let piece = |line: &crate::hl7::lines::Line| Piece {
            text: Cow::Borrowed(message.line(line)),
            separator: line.separator(text),
            name: line.name,
        };
        Self {
            pieces: message.lines().iter().map(piece).collect(),
            delimiters: *message.delimiters(),
            separator: usual_separator(message.lines().iter().map(|line| line.separator(text))),
            bytes: text.len(),
            last_found: None,
        }
    }

    /// The text as it is now.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.bytes);
        for piece in &self.pieces {
            push_line(&mut text, &piece.text, piece.separator);
        }
        text
    }

    /// Applies one patch.
    pub(crate) fn apply(&mut self, patch: &MessagePatch) -> Result<(), Refusal> {
        let path = SegmentPath::parse(&patch.path)?;
        let value = patch.value.as_deref().unwrap_or_default();
        match (&path.field, patch.create, patch.remove) {
            (None, true, _) if !value.is_empty() => Err(Refusal::SegmentValue(path.segment_shown())),
            (None, true, _) => self.create(&path),
            (None, false, true) => self.remove(&path),
            (None, false, false) => Err(Refusal::NoField(path.segment_shown())),
            (Some(place), create, _) => self.set(&path, place, value, create),
        }
    }

    fn set(
        &mut self,
        path: &SegmentPath,
        place: &FieldPlace,
        value: &str,
        create: bool,
    ) -> Result<(), Refusal> {
        if is_header(path.segment) && place.field <= 2 {
            return Err(Refusal::Delimiters);
        }
        let found = self.find(path);
        let index = match found {
            Some(index) => index,
            None if create => {
                self.create(path)?;
                self.find(path).ok_or_else(|| Refusal::NoSegment(path.segment_shown()))?
            }
            None => return Err(Refusal::NoSegment(path.segment_shown())),
        };
        let escaped = escape(value, &self.delimiters);
        let Some(line) = field::put(&self.pieces[index].text, place, &escaped, &self.delimiters)? else {
            return Ok(());
        };
        let bytes = self.bytes - self.pieces[index].text.len() + line.len();
        if bytes > MAX_MESSAGE {
            return Err(Refusal::TooLong);
        }
        self.bytes = bytes;
        self.pieces[index].text = Cow::Owned(line);
        Ok(())
    }

    /// Adds as many empty segments as it takes to have the one that is named, and at least one.
    fn create(&mut self, path: &SegmentPath) -> Result<(), Refusal> {
        if is_header(path.segment) {
            return Err(Refusal::Header);
        }
        let there = self.pieces.iter().filter(|piece| piece.name == Some(path.segment)).count();
        let missing = usize::from(path.occurrence.unwrap_or(1)).saturating_sub(there).max(1);
        let line = format!("{}{}", shown(path.segment), char::from(self.delimiters.field));
        // No separator is longer than two characters.
        let bytes = self.bytes + missing * (line.len() + 2);
        if bytes > MAX_MESSAGE {
            return Err(Refusal::TooLong);
        }
        if self.pieces.len() + missing > MAX_LINES {
            return Err(Refusal::TooManyLines);
        }
        let last = self.pieces.iter().rposition(|piece| piece.name == Some(path.segment));
        // At the end, but not behind empty lines.
        let last = last.or_else(|| self.pieces.iter().rposition(|piece| !piece.text.is_empty()));
        let place = last.map_or(0, |last| last + 1);
        let separator = self.separate(place);
        let piece = || Piece { text: Cow::Owned(line.clone()), separator, name: Some(path.segment) };
        self.last_found = None;
        self.pieces.splice(place..place, std::iter::repeat_with(piece).take(missing));
        if separator.is_empty() {
            // They are at the end now, and only the last of them ends there.
            let end = self.pieces.len() - 1;
            for piece in &mut self.pieces[place..end] {
                piece.separator = self.separator;
            }
        }
        self.bytes = self.pieces.iter().map(Piece::bytes).sum();
        Ok(())
    }

    /// Sees to it that there is a separator before this place, and says what follows a line that is put there.
    fn separate(&mut self, place: usize) -> &'t str {
        let Some(before) = place.checked_sub(1).and_then(|before| self.pieces.get_mut(before)) else {
            return "";
        };
        let kept = before.separator;
        if kept.is_empty() {
            before.separator = self.separator;
        }
        kept
    }

    fn remove(&mut self, path: &SegmentPath) -> Result<(), Refusal> {
        let Some(index) = self.find(path) else { return Ok(()) };
        if index == 0 {
            return Err(Refusal::Header);
        }
        self.last_found = None;
        let removed = self.pieces.remove(index);
        if removed.separator.is_empty() {
            // It was the last line and nothing followed it: now the one before it is.
            self.pieces[index - 1].separator = "";
        }
        self.bytes = self.pieces.iter().map(Piece::bytes).sum();
        Ok(())
    }

    fn find(&mut self, path: &SegmentPath) -> Option<usize> {
        let occurrence = path.occurrence_index();
        let known =
            self.last_found.filter(|found| found.name == path.segment && found.occurrence <= occurrence);
        let (passed, start) = known.map_or((0, 0), |found| (found.occurrence, found.index));
        let from_there = self.pieces.iter().enumerate().skip(start);
        let named = from_there.filter(|(_, piece)| piece.name == Some(path.segment));
        let index = named.map(|(index, _)| index).nth(occurrence - passed)?;
        self.last_found = Some(Found { name: path.segment, occurrence, index });
        Some(index)
    }
}

impl Piece<'_> {
    fn bytes(&self) -> usize {
        self.text.len() + self.separator.len()
    }
}

fn is_header(name: Name) -> bool {
    name == HEADER.as_bytes()
}

/// Adds a line. An empty one never becomes part of the separator before it.
pub(crate) fn push_line(text: &mut String, line: &str, separator: &str) {
    text.push_str(line);
    let joins = line.is_empty() && separator == "\n" && text.ends_with('\r');
    text.push_str(if joins { "\r" } else { separator });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str, patches: &[MessagePatch]) -> (String, Vec<String>) {
        let message = Hl7::read(text.to_owned()).unwrap();
        let mut patching = Patching::new(&message);
        let refused =
            patches.iter().filter_map(|patch| patching.apply(patch).err().map(|why| why.to_string()));
        let refused = refused.collect();
        let text = patching.text();
        assert_eq!(text.len(), patching.bytes);
        (text, refused)
    }

    fn patch(path: &str) -> MessagePatch {
        MessagePatch { path: path.to_owned(), ..MessagePatch::default() }
    }

    fn set(path: &str, value: &str) -> MessagePatch {
        MessagePatch { value: Some(value.to_owned()), ..patch(path) }
    }

    fn create(path: &str) -> MessagePatch {
        MessagePatch { create: true, ..patch(path) }
    }

    fn remove(path: &str) -> MessagePatch {
        MessagePatch { remove: true, ..patch(path) }
    }

    /// The header stays before all of these.
    fn check(lines: &str, patches: &[MessagePatch], expected: &str) {
        let (text, refused) = patched(&format!("MSH|^~\\&|A\r{lines}"), patches);
        assert_eq!(text.strip_prefix("MSH|^~\\&|A\r"), Some(expected), "{lines:?} {patches:?}");
        assert_eq!(refused, Vec::<String>::new(), "{lines:?} {patches:?}");
    }

    fn check_refused(lines: &str, refused: &MessagePatch, why: &str) {
        let text = format!("MSH|^~\\&|A\r{lines}");
        assert_eq!(patched(&text, std::slice::from_ref(refused)), (text, vec![why.to_owned()]));
    }

    #[test]
    fn an_existing_field_or_component_is_replaced() {
        check("PID|1||77", &[set("PID.3", "x")], "PID|1||x");
        check("PID|A^B", &[set("PID.1.2", "x")], "PID|A^x");
    }

    #[test]
    fn a_field_beyond_the_end_is_padded() {
        check("PID|1", &[set("PID.5", "x")], "PID|1||||x");
    }

    #[test]
    fn no_value_or_an_empty_one_clears_and_keeps_delimiters() {
        check("PID|A^B|C", &[patch("PID.1.2")], "PID|A^|C");
        check("PID|A^B|C", &[set("PID.1.2", "")], "PID|A^|C");
        check("PID|A^B|C", &[patch("PID.2")], "PID|A^B|");
        check("PID|A", &[patch("PID.9")], "PID|A");
    }

    #[test]
    fn delimiters_in_a_value_become_text_and_escapes_stay() {
        check("PID|1", &[set("PID.1", "A^B")], r"PID|A\S\B");
        check("PID|1", &[set("PID.1.2", r"x\T\y\.br\&|~")], r"PID|1^x\T\y\.br\\T\\F\\R\");
        check("PID|1", &[set("PID.1", "a\rb\nc\\é")], r"PID|a\X0D\b\X0A\c\E\é");
    }

    #[test]
    fn a_component_beyond_a_plain_field_keeps_it() {
        check("PID|V", &[set("PID.1.4", "M")], "PID|V^^^M");
        check("PID|", &[set("PID.5.1", "a"), set("PID.5.2", "b"), set("PID.5.4", "d")], "PID|||||a^b^^d");
    }

    #[test]
    fn a_sub_component_of_a_plain_component_keeps_it() {
        check("PID|A^B", &[set("PID.1.2.2", "x")], "PID|A^B&x");
    }

    #[test]
    fn a_repetition_alone_is_replaced_and_padded() {
        check("PID|A~B^C~D", &[set("PID.1[2]", "x")], "PID|A~x~D");
        check("PID|A", &[set("PID.1[3]", "x")], "PID|A~~x");
        check("PID|A", &[set("PID.1[3].2", "x")], "PID|A~~^x");
    }

    #[test]
    fn other_text_stays_to_the_byte() {
        let rest = "NTE|1|\\T\\ \\E\\ \\X0D\\ \\lone &é\r\rNK1\rjunk\nOBX|1|\r\n";
        check(&format!("PID|1\r{rest}"), &[set("PID.1", "x")], &format!("PID|x\r{rest}"));
    }

    #[test]
    fn a_missing_segment_is_an_error_of_that_patch() {
        check_refused("PID|1", &set("ZZ9.1", "x"), "segment ZZ9 is not in the message");
        check_refused("PID|1", &set("PID[2].1", "x"), "segment PID[2] is not in the message");
    }

    #[test]
    fn a_created_segment_is_behind_the_last_of_its_name_or_at_the_end_and_can_be_filled() {
        check("OBX|1\rNTE|1", &[create("OBX")], "OBX|1\rOBX|\rNTE|1");
        check("PID|1\rNTE|1", &[create("NK1")], "PID|1\rNTE|1\rNK1|");
        check("PID|1\rNTE|1\r", &[create("NK1")], "PID|1\rNTE|1\rNK1|\r");
        check("PID|1\r\r\n", &[create("NK1")], "PID|1\rNK1|\r\r\n");
        check(
            "PID|1\rOBX|1\rNTE|x",
            &[create("OBX"), set("OBX[2].1", "2"), set("OBX[2].5", "v")],
            "PID|1\rOBX|1\rOBX|2||||v\rNTE|x",
        );
    }

    #[test]
    fn creating_the_nth_segment_pads_with_empty_ones_and_adds_one_at_least() {
        check("OBX|1", &[create("OBX[3]")], "OBX|1\rOBX|\rOBX|");
        check("OBX|1\rOBX|2", &[create("OBX[1]")], "OBX|1\rOBX|2\rOBX|");
        check("PID|1", &[create("OBX[2]")], "PID|1\rOBX|\rOBX|");
    }

    #[test]
    fn a_field_with_create_makes_its_segment_if_it_is_missing() {
        let made = |path, value| MessagePatch { create: true, ..set(path, value) };
        check("PID|1", &[made("NK1.2", "x")], "PID|1\rNK1||x");
        check("PID|1", &[made("PID.2", "x")], "PID|1|x");
        check("PID|1", &[made("OBX[2].1", "x")], "PID|1\rOBX|\rOBX|x");
    }

    #[test]
    fn removing_a_segment_takes_the_first_or_the_one_that_is_named() {
        check("OBX|1\rOBX|2\rOBX|3", &[remove("OBX")], "OBX|2\rOBX|3");
        check("OBX|1\rOBX|2\rOBX|3", &[remove("OBX[2]")], "OBX|1\rOBX|3");
        check("OBX|1\nOBX|2\rOBX|3", &[remove("OBX[3]")], "OBX|1\nOBX|2");
        check("OBX|1\rOBX|2\r", &[remove("OBX[2]")], "OBX|1\r");
    }

    #[test]
    fn removing_a_missing_segment_succeeds() {
        check("PID|1", &[remove("OBX"), remove("PID[2]")], "PID|1");
    }

    #[test]
    fn the_header_cannot_be_removed_or_made() {
        let why = "the message's first segment cannot be removed, and there is only one MSH";
        check_refused("PID|1", &remove("MSH"), why);
        check_refused("PID|1", &create("MSH"), why);
    }

    #[test]
    fn removing_a_field_clears_it_or_sets_its_value() {
        check("PID|A^B|C", &[remove("PID.1")], "PID||C");
        check("PID|A^B|C", &[MessagePatch { remove: true, ..set("PID.1.2", "x") }], "PID|A^x|C");
    }

    #[test]
    fn create_wins_over_remove() {
        check("OBX|1", &[MessagePatch { remove: true, ..create("OBX") }], "OBX|1\rOBX|");
    }

    #[test]
    fn a_segment_without_a_field_needs_create_or_remove() {
        let why = "a whole segment can only be created or removed: name a field, as in `PID.1`";
        check_refused("PID|1", &set("PID", "x"), why);
        check_refused("PID|1", &patch("PID"), why);
        let why = "a segment itself has no value: name a field, as in `PID.1`";
        check_refused("PID|1", &MessagePatch { create: true, ..set("PID", "x") }, why);
    }

    #[test]
    fn the_delimiters_cannot_be_patched() {
        let why = "the delimiters in MSH-1 and MSH-2 cannot be changed by a patch: put another text in the message's place";
        check_refused("PID|1", &set("MSH.1", "#"), why);
        check_refused("PID|1", &set("MSH.2.1", "#"), why);
        let (text, refused) = patched("MSH|^~\\&|A|B", &[set("MSH.3", "x")]);
        assert_eq!((text.as_str(), refused.len()), ("MSH|^~\\&|x|B", 0));
    }

    #[test]
    fn what_is_refused_keeps_nothing_else_out() {
        let (text, refused) =
            patched("MSH|^~\\&|A\rPID|1", &[set("ZZ9.1", "x"), set("PID.1", "2"), set("PID.0", "x")]);
        assert_eq!((text.as_str(), refused.len()), ("MSH|^~\\&|A\rPID|2", 2));
    }

    #[test]
    fn new_lines_are_separated_as_the_others_are() {
        let (text, _) = patched("MSH|^~\\&|A\r\nPID|1\r\nNTE|1", &[create("NTE"), create("OBX[2]")]);
        assert_eq!(text, "MSH|^~\\&|A\r\nPID|1\r\nNTE|1\r\nNTE|\r\nOBX|\r\nOBX|");
        let (text, _) = patched("MSH|^~\\&|A", &[create("PID")]);
        assert_eq!(text, "MSH|^~\\&|A\rPID|");
    }

    #[test]
    fn an_empty_line_never_joins_the_separator_before_it() {
        let (text, _) = patched("MSH|^~\\&|A\rPID|1\n\nNTE|1", &[remove("PID")]);
        assert_eq!(text, "MSH|^~\\&|A\r\rNTE|1");
    }

    #[test]
    fn custom_delimiters_are_used_and_escaped() {
        let (text, refused) = patched(
            "MSH#!*?+#A\rPID#1!2*3+4",
            &[set("PID.1.2", "a|b#c?d"), set("PID.1[2].1.2", "é"), set("PID.3", "x")],
        );
        assert_eq!((text.as_str(), refused.len()), ("MSH#!*?+#A\rPID#1!a|b?F?c?E?d*3+é##x", 0));
    }

    #[test]
    fn a_message_never_gets_too_long() {
        let long = "x".repeat(MAX_MESSAGE - 40);
        let patches = [set("PID.1", &long), set("PID.2", &long), create("OBX[9999]"), set("PID.2", "y")];
        let (text, refused) = patched("MSH|^~\\&|A\rPID|1", &patches);
        assert_eq!(refused, [Refusal::TooLong.to_string(), Refusal::TooLong.to_string()]);
        assert!(text.ends_with("x|y"));
    }
}
