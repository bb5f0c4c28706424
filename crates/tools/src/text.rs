//! File contents as text for a model: what is text at all, how lines end, what is cut.
//!
//! Knows bytes; refuses to know paths and tools. What always holds: nothing here grows beyond the bound it is given.

use std::borrow::Cow;

/// How far into a file we look for a NUL, as git and grep do: text has none, nearly everything else has one early.
const BINARY_PROBE: usize = 8 * 1024;

/// Whether these are the bytes of something other than text.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_PROBE).any(|byte| *byte == 0)
}

/// What kind of binary file begins like this.
pub(crate) fn binary_kind(bytes: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 14] = [
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"RIFF", "RIFF media"),
        (b"%PDF-", "PDF document"),
        (b"PK\x03\x04", "ZIP archive"),
        (b"\x1f\x8b", "gzip data"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"\x7fELF", "ELF program"),
        (b"\0asm", "WebAssembly module"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
    ];
    let known = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic));
    known.map_or("binary data", |(_, kind)| kind)
}

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// There is no line end.
    None,
    /// LF alone, everywhere.
    Lf,
    /// CR and LF, everywhere.
    Crlf,
    /// Both kinds.
    Mixed,
}

impl LineEnds {
    /// How the lines of `text` end.
    pub(crate) fn of(text: &[u8]) -> Self {
        let (mut plain, mut crlf) = (false, false);
        for position in memchr::memchr_iter(b'\n', text) {
            if position > 0 && text[position - 1] == b'\r' { crlf = true } else { plain = true }
        }
        match (plain, crlf) {
            (false, false) => Self::None,
            (true, false) => Self::Lf,
            (false, true) => Self::Crlf,
            (true, true) => Self::Mixed,
        }
    }
}

/// `text` with LF for every CR LF.
pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// A line without its end.
pub(crate) fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// At most `limit` characters of a line, with a note of how many were left out.
pub(crate) fn cut(line: &str, limit: usize) -> Cow<'_, str> {
    // As many bytes are never more characters.
    if line.len() <= limit {
        return Cow::Borrowed(line);
    }
    match line.char_indices().nth(limit) {
        None => Cow::Borrowed(line),
        Some((end, _)) => {
            let left_out = counted(line[end..].chars().count(), "more character");
            Cow::Owned(format!("{}… [{left_out}]", &line[..end]))
        }
    }
}

/// A count with its noun: `1 line`, `3 lines`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Lines for a model, up to a number of bytes.
pub(crate) struct Lines {
    text: String,
    limit: usize,
}

impl Lines {
    /// Room for `limit` bytes.
    pub(crate) fn within(limit: usize) -> Self {
        Self { text: String::new(), limit }
    }

    /// Adds a line if there is room for it; says whether there was.
    pub(crate) fn push(&mut self, line: &str) -> bool {
        if self.text.len() + line.len() + 1 > self.limit {
            return false;
        }
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    /// Adds a remark of ours, for which there is always room.
    pub(crate) fn note(&mut self, note: &str) {
        self.text.push('[');
        self.text.push_str(note);
        self.text.push_str("]\n");
    }

    /// Everything, without the last line end.
    pub(crate) fn finish(mut self) -> String {
        if self.text.ends_with('\n') {
            self.text.pop();
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_early_on_makes_a_file_binary() {
        assert!(is_binary(b"a\0b"));
        assert!(!is_binary("äöü\n".as_bytes()));
        assert!(!is_binary(b""));
        let mut late = vec![b'a'; BINARY_PROBE];
        late.push(0);
        assert!(!is_binary(&late));
    }

    #[test]
    fn line_ends_are_told_apart() {
        assert_eq!(LineEnds::of(b""), LineEnds::None);
        assert_eq!(LineEnds::of(b"a\r"), LineEnds::None);
        assert_eq!(LineEnds::of(b"\n"), LineEnds::Lf);
        assert_eq!(LineEnds::of(b"a\r\nb\r\n"), LineEnds::Crlf);
        assert_eq!(LineEnds::of(b"a\r\nb\n"), LineEnds::Mixed);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö… [1 more character]");
    }

    #[test]
    fn lines_stay_within_their_bound_and_notes_always_fit() {
        let mut lines = Lines::within(4);
        assert!(lines.push("abc"));
        assert!(!lines.push(""));
        lines.note("more");
        assert_eq!(lines.finish(), "abc\n[more]");
    }
}
