//! Putting another text in a message's place, without losing what that text does not show.
//!
//! A text in HL7 shows everything but the separators of lines, so those come from the old text. The other formats show no
//! empty fields at the end, no lines that are no segments and no difference between escaped and bare escape
//! characters: where they say what the message says already, the message's own bytes stay.

use crate::hl7::Hl7;
use crate::hl7::align::{Compared, align};
use crate::hl7::delimiters::Delimiters;
use crate::hl7::export::segment;
use crate::hl7::field::TooManyParts;
use crate::hl7::import::{self, Built, ImportError, Imported};
use crate::hl7::lines::{Line, split, usual_separator};
use crate::hl7::patch::push_line;
use crate::tree::node::Node;

/// Another text in HL7, with the separators that the lines have here.
pub(crate) fn with_text(old: &Hl7, text: &str) -> String {
    let Ok(lines) = split(text, &Delimiters::USUAL) else {
        // Too many lines, which reading it says in better words.
        return text.to_owned();
    };
    let old_lines: Vec<_> =
        old.lines().iter().map(|line| Compared { text: old.line(line), kind: () }).collect();
    let new_lines: Vec<_> =
        lines.iter().map(|line| Compared { text: &text[line.range()], kind: () }).collect();
    let usual = usual_separator(old.lines().iter().map(|line| line.separator(old.text())));
    let found = align(&old_lines, &new_lines);
    let mut whole = String::with_capacity(text.len());
    for (line, found) in lines.iter().zip(found) {
        let kept = found.map_or("", |found| old.lines()[found].separator(old.text()));
        let separator = match (line.separator(text), kept) {
            ("", _) => "",
            (_, "") => usual,
            (_, kept) => kept,
        };
        push_line(&mut whole, &text[line.range()], separator);
    }
    whole
}

/// A message in another format, over what is here.
pub(crate) fn with_tree(old: &Hl7, tree: &Node) -> Result<String, ImportError> {
    let imported = import::message(tree)?;
    let restored = restore(old, &imported)?;
    let separators = old.lines().iter().map(|line| line.separator(old.text()));
    let usual = usual_separator(separators);
    let ends_separated = old.lines().last().is_some_and(|line| !line.separator(old.text()).is_empty());
    let mut whole = String::with_capacity(old.text().len());
    for (index, line) in restored.iter().enumerate() {
        let is_last = index + 1 == restored.len();
        let separator = match line.separator {
            _ if is_last && !ends_separated => "",
            "" => usual,
            kept => kept,
        };
        push_line(&mut whole, &line.text, separator);
    }
    Ok(whole)
}

/// A line of the new text, with the separator it had.
struct Restored<'o> {
    text: std::borrow::Cow<'o, str>,
    separator: &'o str,
}

fn restore<'o>(old: &'o Hl7, new: &'o Imported) -> Result<Vec<Restored<'o>>, ImportError> {
    let segments: Vec<&Line> = old.lines().iter().filter(|line| line.name.is_some()).collect();
    let same_delimiters = new.delimiters == *old.delimiters();
    let shown: Vec<String> = segments
        .iter()
        .map(|line| if same_delimiters { as_shown(old, line) } else { Ok(old.line(line).to_owned()) })
        .collect::<Result<_, _>>()?;
    let old_lines: Vec<_> =
        segments.iter().zip(&shown).map(|(line, text)| Compared { text, kind: line.name }).collect();
    let new_lines: Vec<_> =
        new.segments.iter().map(|built| Compared { text: &built.line, kind: Some(built.name) }).collect();
    let found = align(&old_lines, &new_lines);
    let mut strays = strays(old);
    let mut restored = Vec::with_capacity(found.len());
    for (built, found) in new.segments.iter().zip(found) {
        let Some(found) = found else {
            restored.push(Restored { text: (&*built.line).into(), separator: "" });
            continue;
        };
        // Lines that are no segments stay behind the segment they were behind, or the last one before it that is left.
        push_strays(old, &mut restored, &mut strays, found);
        let (line, separator) = (old.line(segments[found]), segments[found].separator(old.text()));
        let text = match &shown[found] {
            shown if *shown == *built.line => line.into(),
            shown if same_delimiters => merged(line, shown, built, &new.delimiters).into(),
            _ => (&*built.line).into(),
        };
        restored.push(Restored { text, separator });
        push_strays(old, &mut restored, &mut strays, found + 1);
    }
    push_strays(old, &mut restored, &mut strays, usize::MAX);
    Ok(restored)
}

/// Lines that are no segments, each with how many segments are before it; the last first.
fn strays(old: &Hl7) -> Vec<(usize, &Line)> {
    let mut before = 0;
    let mut strays = Vec::new();
    for line in old.lines() {
        match line.name {
            Some(_) => before += 1,
            None => strays.push((before, line)),
        }
    }
    strays.reverse();
    strays
}

/// Adds the lines that are before this segment and not there yet.
fn push_strays<'o>(
    old: &'o Hl7,
    restored: &mut Vec<Restored<'o>>,
    strays: &mut Vec<(usize, &'o Line)>,
    segment: usize,
) {
    while let Some((_, line)) = strays.pop_if(|(before, _)| *before <= segment) {
        restored.push(Restored { text: old.line(line).into(), separator: line.separator(old.text()) });
    }
}

/// A line as it would be if it were written in another format and read again.
fn as_shown(message: &Hl7, line: &Line) -> Result<String, TooManyParts> {
    let shown = segment(message, line)?;
    // What was written here can be read here.
    Ok(import::segment(&shown, message.delimiters()).map(|built| built.line).unwrap_or_default())
}

/// A changed line: fields that say what they said keep their bytes.
fn merged(line: &str, shown: &str, built: &Built, delimiters: &Delimiters) -> String {
    let delimiter = char::from(delimiters.field);
    let (mut old, mut shown, mut new) =
        (line.split(delimiter), shown.split(delimiter), built.line.split(delimiter));
    let mut fields: Vec<&str> = Vec::new();
    loop {
        let (was, showed, is) = (old.next(), shown.next(), new.next());
        let field = match (was, is) {
            (None, None) => break,
            (Some(was), is) if showed.unwrap_or_default() == is.unwrap_or_default() => was,
            (_, is) => is.unwrap_or_default(),
        };
        fields.push(field);
    }
    fields.join(&delimiter.to_string())
}
