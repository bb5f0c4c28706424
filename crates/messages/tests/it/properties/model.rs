//! A message as lists of lists, patched in the simplest way there is.
//!
//! Written from the rules for patches alone: it takes a message apart, changes the lists and puts it together.

use loggia_domain::MessagePatch;

type Component = Vec<String>;
type Repetition = Vec<Component>;
type Field = Vec<Repetition>;

pub(crate) struct Model {
    lines: Vec<Line>,
    ends_separated: bool,
}

enum Line {
    /// A name and fields, of the header from MSH-3 on.
    Segment(String, Vec<Field>),
    Stray(String),
}

struct Place {
    name: String,
    occurrence: usize,
    named_occurrence: bool,
    /// Field, repetition, component, sub-component.
    numbers: [Option<usize>; 4],
}

impl Model {
    /// Reads a message with CR between its lines.
    pub(crate) fn read(text: &str) -> Self {
        let (body, ends_separated) = match text.strip_suffix('\r') {
            Some(body) => (body, true),
            None => (text, false),
        };
        Self { lines: body.split('\r').map(read_line).collect(), ends_separated }
    }

    pub(crate) fn write(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(write_line).collect();
        lines.join("\r") + if self.ends_separated { "\r" } else { "" }
    }

    /// Applies a patch; says whether it did.
    pub(crate) fn apply(&mut self, patch: &MessagePatch) -> bool {
        let Some(place) = read_path(&patch.path) else { return false };
        let value = patch.value.clone().unwrap_or_default();
        let Some(field) = place.numbers[0] else { return self.whole(patch, &place, &value) };
        if place.name == "MSH" && field <= 2 {
            return false;
        }
        if self.find(&place).is_none() && !(patch.create && self.create(&place)) {
            return false;
        }
        let Some(index) = self.find(&place) else { return false };
        let Line::Segment(name, fields) = &mut self.lines[index] else { return false };
        let field = if name == "MSH" { field - 2 } else { field };
        set(fields, field, place.numbers, &escape(&value));
        true
    }

    fn whole(&mut self, patch: &MessagePatch, place: &Place, value: &str) -> bool {
        match (patch.create, patch.remove) {
            (true, _) => value.is_empty() && self.create(place),
            (false, true) => match self.find(place) {
                Some(0) => false,
                Some(index) => {
                    self.lines.remove(index);
                    true
                }
                None => true,
            },
            (false, false) => false,
        }
    }

    fn create(&mut self, place: &Place) -> bool {
        if place.name == "MSH" {
            return false;
        }
        let named = |line: &Line| matches!(line, Line::Segment(name, _) if *name == place.name);
        let there = self.lines.iter().filter(|line| named(line)).count();
        let wanted = if place.named_occurrence { place.occurrence } else { 1 };
        let last = self.lines.iter().rposition(named);
        let last = last.or_else(|| {
            self.lines.iter().rposition(|line| !matches!(line, Line::Stray(text) if text.is_empty()))
        });
        for _ in 0..wanted.saturating_sub(there).max(1) {
            let empty = Line::Segment(place.name.clone(), vec![read_field("")]);
            self.lines.insert(last.unwrap() + 1, empty);
        }
        true
    }

    fn find(&self, place: &Place) -> Option<usize> {
        let named = |line: &Line| matches!(line, Line::Segment(name, _) if *name == place.name);
        let mut found = self.lines.iter().enumerate().filter(|(_, line)| named(line)).map(|(index, _)| index);
        found.nth(place.occurrence - 1)
    }
}

fn read_line(line: &str) -> Line {
    let mut parts = line.split('|');
    let name = parts.next().unwrap();
    let is_name = name.len() == 3 && name.chars().all(|character| character.is_ascii_alphanumeric());
    if !is_name || !line.contains('|') {
        return Line::Stray(line.to_owned());
    }
    if name == "MSH" {
        parts.next();
    }
    Line::Segment(name.to_owned(), parts.map(read_field).collect())
}

fn read_field(text: &str) -> Field {
    let component = |text: &str| text.split('&').map(str::to_owned).collect();
    let repetition = |text: &str| text.split('^').map(component).collect();
    text.split('~').map(repetition).collect()
}

fn write_line(line: &Line) -> String {
    match line {
        Line::Stray(text) => text.clone(),
        Line::Segment(name, fields) => {
            let mut parts = vec![name.clone()];
            if name == "MSH" {
                parts.push("^~\\&".to_owned());
            }
            parts.extend(fields.iter().map(write_field));
            parts.join("|")
        }
    }
}

fn write_field(field: &Field) -> String {
    let repetition =
        |parts: &Repetition| parts.iter().map(|part| part.join("&")).collect::<Vec<_>>().join("^");
    field.iter().map(repetition).collect::<Vec<_>>().join("~")
}

fn set(
    fields: &mut Vec<Field>,
    number: usize,
    [_, repetition, component, subcomponent]: [Option<usize>; 4],
    value: &str,
) {
    let leaf = vec![value.to_owned()];
    let before = fields.clone();
    let field = grown(fields, number, &read_field(""));
    if repetition.is_none() && component.is_none() {
        *field = vec![vec![leaf]];
    } else {
        let part = grown(field, repetition.unwrap_or(1), &vec![vec![String::new()]]);
        match (component, subcomponent) {
            (None, _) => *part = vec![leaf],
            (Some(component), None) => *grown(part, component, &vec![String::new()]) = leaf,
            (Some(component), Some(subcomponent)) => {
                let part = grown(part, component, &vec![String::new()]);
                *grown(part, subcomponent, &String::new()) = value.to_owned();
            }
        }
    }
    // Clearing what is not there makes nothing.
    let size = |fields: &[Field]| {
        let delimiters = |field: &Field| write_field(field).matches(['~', '^', '&']).count();
        fields.len() + fields.iter().map(delimiters).sum::<usize>()
    };
    if value.is_empty() && size(fields) > size(&before) {
        *fields = before;
    }
}

/// The part with this number, from 1, after making what is missing.
fn grown<'p, T: Clone>(parts: &'p mut Vec<T>, number: usize, empty: &T) -> &'p mut T {
    while parts.len() < number {
        parts.push(empty.clone());
    }
    &mut parts[number - 1]
}

fn read_path(path: &str) -> Option<Place> {
    let name =
        path.get(..3).filter(|name| name.chars().all(|character| character.is_ascii_alphanumeric()))?;
    let pieces = path[3..].replace(['-', ' '], ".");
    let mut pieces = pieces.split('.');
    let bracketed = |text: &str| -> Option<(String, Option<usize>)> {
        match text.split_once('[') {
            None => Some((text.to_owned(), None)),
            Some((before, number)) => {
                let number = number.strip_suffix(']')?.parse().ok().filter(|number| *number > 0)?;
                Some((before.to_owned(), Some(number)))
            }
        }
    };
    let (rest, occurrence) = bracketed(pieces.next()?)?;
    if !rest.is_empty() {
        return None;
    }
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let mut numbers = [None; 4];
    if let Some(field) = pieces.next() {
        let (field, repetition) = bracketed(field)?;
        numbers[0] = Some(number(&field)?);
        numbers[1] = repetition;
        for place in [2, 3] {
            if let Some(piece) = pieces.next() {
                numbers[place] = Some(number(piece)?);
            }
        }
    }
    Some(Place {
        name: name.to_owned(),
        occurrence: occurrence.unwrap_or(1),
        named_occurrence: occurrence.is_some(),
        numbers,
    })
}

/// Escapes what is bare. The sequences that stay are those that the tests write.
fn escape(value: &str) -> String {
    let mut escaped = String::new();
    let mut rest = value;
    while let Some(next) = rest.chars().next() {
        let kept = ["\\T\\", "\\.br\\", "\\X0D\\"].iter().find(|sequence| rest.starts_with(**sequence));
        let (length, text) = match (kept, next) {
            (Some(sequence), _) => (sequence.len(), (*sequence).to_owned()),
            (_, '|') => (1, r"\F\".to_owned()),
            (_, '^') => (1, r"\S\".to_owned()),
            (_, '~') => (1, r"\R\".to_owned()),
            (_, '&') => (1, r"\T\".to_owned()),
            (_, '\\') => (1, r"\E\".to_owned()),
            (_, '\r') => (1, r"\X0D\".to_owned()),
            (_, '\n') => (1, r"\X0A\".to_owned()),
            (_, other) => (other.len_utf8(), other.to_string()),
        };
        escaped.push_str(&text);
        rest = &rest[length..];
    }
    escaped
}

/// A message without empty parts at the ends of others. Repetitions stay.
pub(crate) fn trimmed(text: &str) -> String {
    let trim = |text: &str, delimiter: char| text.trim_end_matches(delimiter).to_owned();
    let line = |line: &str| {
        if line.starts_with("MSH") {
            return line.to_owned();
        }
        let repetition = |text: &str| {
            let components: Vec<String> = text.split('^').map(|text| trim(text, '&')).collect();
            trim(&components.join("^"), '^')
        };
        let field = |text: &str| text.split('~').map(repetition).collect::<Vec<_>>().join("~");
        let fields: Vec<String> = line.split('|').map(field).collect();
        // The first delimiter is part of being a segment.
        let whole = trim(&fields.join("|"), '|');
        if whole.contains('|') { whole } else { whole + "|" }
    };
    text.split('\r').map(line).collect::<Vec<_>>().join("\r")
}
