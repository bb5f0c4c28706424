//! A file cut into pieces that can be read alone: along the borders of its definitions.
//!
//! Knows lines and definitions. Every line is in exactly one piece, and a piece has at most [`MAX_LINES`] lines. A
//! definition's comment is in its piece.

use loggia_domain::SymbolKind;
use xxhash_rust::xxh3::xxh3_64;

use crate::facts::Facts;

/// The longest piece: what fits on a screen, and into an embedder's window.
pub(crate) const MAX_LINES: u32 = 60;

/// A piece shorter than this is joined with its neighbour, as long as both fit.
const MIN_LINES: u32 = 12;

/// How far back from its end a long piece may be cut at an empty line.
const CUT_ROOM: u32 = 20;

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The first line, counted from 1.
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    /// The first definition that begins in it, by its place in the file's facts.
    pub(crate) symbol: Option<u32>,
    /// What its vector is found by.
    pub(crate) hash: ChunkHash,
}

/// The hash of a piece as it is given to an embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChunkHash(pub(crate) u64);

impl ChunkHash {
    /// Whether it is that of a piece as it is given to an embedder.
    pub(crate) fn is_of(self, said: &str) -> bool {
        xxh3_64(said.as_bytes()) == self.0
    }
}

impl Chunk {
    /// The piece as it is given to an embedder: where it is, what it begins with, and the text.
    pub(crate) fn said(&self, path: &str, text: &str, facts: &Facts) -> String {
        let lines: Vec<&str> = text.lines().collect();
        said(path, &lines, self.start_line, self.end_line, self.symbol, facts)
    }
}

/// Cuts a file.
pub(crate) fn chunks(path: &str, text: &str, facts: &Facts) -> Vec<Chunk> {
    let lines: Vec<&str> = text.lines().collect();
    let Ok(count) = u32::try_from(lines.len()) else { return Vec::new() };
    if count == 0 {
        return Vec::new();
    }
    let mut starts: Vec<u32> = facts
        .symbols
        .iter()
        .filter(|symbol| is_border(symbol.kind))
        .scan(0, |before, symbol| {
            let start = with_comment(&lines, *before, symbol.start_line);
            *before = symbol.start_line;
            Some(start)
        })
        .filter(|start| *start <= count)
        .collect();
    starts.push(1);
    starts.sort_unstable();
    starts.dedup();
    let mut pieces: Vec<(u32, u32)> = Vec::new();
    for (place, start) in starts.iter().enumerate() {
        let end = starts.get(place + 1).map_or(count, |next| next - 1);
        match pieces.last_mut() {
            Some((first, last))
                if (*last - *first + 1 < MIN_LINES || end - start + 1 < MIN_LINES)
                    && end - *first < MAX_LINES =>
            {
                *last = end;
            }
            _ => pieces.push((*start, end)),
        }
    }
    let pieces = pieces.into_iter().flat_map(|(start, end)| cut(&lines, start, end));
    let chunk = |(start_line, end_line)| {
        let symbol = first_symbol(facts, start_line, end_line);
        let hash = xxh3_64(said(path, &lines, start_line, end_line, symbol, facts).as_bytes());
        Chunk { start_line, end_line, symbol, hash: ChunkHash(hash) }
    };
    pieces.map(chunk).collect()
}

fn said(path: &str, lines: &[&str], start: u32, end: u32, symbol: Option<u32>, facts: &Facts) -> String {
    let symbol = symbol.and_then(|symbol| facts.symbols.get(symbol as usize));
    let mut said = match symbol {
        Some(symbol) if !symbol.container.is_empty() => {
            format!("{path} {} {}\n", symbol.container, symbol.name)
        }
        Some(symbol) => format!("{path} {}\n", symbol.name),
        None => format!("{path}\n"),
    };
    for line in lines.iter().skip(start as usize - 1).take((end - start) as usize + 1) {
        said.push_str(line);
        said.push('\n');
    }
    said
}

/// Whether a piece may begin with such a definition.
const fn is_border(kind: SymbolKind) -> bool {
    !matches!(
        kind,
        SymbolKind::Module
            | SymbolKind::Field
            | SymbolKind::EnumMember
            | SymbolKind::Variable
            | SymbolKind::Constant
            | SymbolKind::TypeAlias
    )
}

/// The line where the comment and the attributes above a definition begin: after the line where the definition before it
/// does, so that no line is looked at twice.
pub(crate) fn with_comment(lines: &[&str], before: u32, start: u32) -> u32 {
    let mut start = start;
    while start > before + 1 {
        let above = lines.get(start as usize - 2).map_or("", |line| line.trim_start());
        let belongs = ["//", "#", "/*", "*", "@", "--", "\"\"\""].iter().any(|sign| above.starts_with(sign));
        if !belongs {
            break;
        }
        start -= 1;
    }
    start
}

/// Cuts what is too long, at empty lines where there are some.
fn cut(lines: &[&str], start: u32, end: u32) -> Vec<(u32, u32)> {
    let mut pieces = Vec::new();
    let mut start = start;
    while end - start >= MAX_LINES {
        let full = start + MAX_LINES - 1;
        let is_empty = |line: &u32| lines.get(*line as usize - 1).is_none_or(|text| text.trim().is_empty());
        let last = (full - CUT_ROOM..=full).rev().find(is_empty).unwrap_or(full);
        pieces.push((start, last));
        start = last + 1;
    }
    pieces.push((start, end));
    pieces
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a file has fewer definitions than bytes, and those are bounded"
)]
fn first_symbol(facts: &Facts, start: u32, end: u32) -> Option<u32> {
    let within = |line: u32| (start..=end).contains(&line);
    let found = facts.symbols.iter().position(|symbol| within(symbol.start_line) && is_border(symbol.kind));
    let found = found.or_else(|| facts.symbols.iter().position(|symbol| within(symbol.start_line)));
    found.map(|place| place as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::parse::Parser;

    fn cut_up(text: &str) -> Vec<(u32, u32, Option<String>)> {
        let facts = Parser::default().facts(Language::Rust, text);
        let name = |chunk: &Chunk| chunk.symbol.map(|symbol| facts.symbols[symbol as usize].name.to_string());
        chunks("a.rs", text, &facts)
            .iter()
            .map(|chunk| (chunk.start_line, chunk.end_line, name(chunk)))
            .collect()
    }

    #[test]
    fn a_comment_begins_after_the_definition_before_it() {
        // What looks like a comment may be a definition, in a language where `#` begins one.
        let lines = ["#define A 1", "#define B 2", "// Of C.", "#define C 3"];
        assert_eq!(with_comment(&lines, 0, 1), 1);
        assert_eq!(with_comment(&lines, 1, 2), 2);
        assert_eq!(with_comment(&lines, 2, 4), 3);
        assert_eq!(with_comment(&lines, 4, 4), 4);
    }

    #[cfg(feature = "rust")]
    #[test]
    fn pieces_begin_with_definitions_and_their_comments() {
        let function = |name: &str, lines: usize| {
            format!("/// Does.\nfn {name}() {{\n{}}}\n\n", "    work();\n".repeat(lines))
        };
        let text =
            format!("use a;\n\n{}{}{}", function("one", 30), function("two", 30), function("three", 2));
        assert_eq!(cut_up(&text), vec![(1, 36, Some("one".to_owned())), (37, 76, Some("two".to_owned()))]);
    }

    #[test]
    fn every_line_is_in_one_piece_and_no_piece_is_too_long() {
        let text = "x\n".repeat(500) + "\n\ny\n" + &"z\n".repeat(123);
        let pieces = cut_up(&text);
        let mut next = 1;
        for (start, end, _) in &pieces {
            assert_eq!(*start, next);
            assert!(end - start < MAX_LINES);
            next = end + 1;
        }
        assert_eq!(next - 1, 626);
        assert_eq!(cut_up(""), vec![]);
        assert_eq!(cut_up("one line"), vec![(1, 1, None)]);
    }
}
