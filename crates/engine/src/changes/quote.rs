//! File names in the headers of diffs, as git writes and reads them.
//!
//! The rules are those of `core.quotePath=false`: letters beyond ASCII stay readable, and only what would break a
//! header line is escaped. Every git reads both forms. Invariant: a written name holds no line break.

use std::fmt::Write;

/// A name with its `a/` or `b/`, in quotes if it needs them.
pub(crate) fn quoted(prefix: &str, path: &str) -> String {
    let plain = format!("{prefix}{path}");
    if !plain.bytes().any(needs_escape) {
        return plain;
    }
    let mut text = String::with_capacity(plain.len() + 8);
    text.push('"');
    for letter in plain.chars() {
        match escape(letter) {
            Some(short) => text.extend(['\\', short]),
            None if letter.is_ascii_control() => {
                write!(text, "\\{:03o}", u32::from(letter)).expect("a string takes every text");
            }
            None => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// The same for the lines that begin with `---` and `+++`: there a name with a space ends with a tab, so that readers
/// that look for a date after the name find the end of the name.
pub(super) fn label(prefix: &str, path: &str) -> String {
    let mut text = quoted(prefix, path);
    if text.contains(' ') {
        text.push('\t');
    }
    text
}

fn needs_escape(byte: u8) -> bool {
    byte.is_ascii_control() || matches!(byte, b'"' | b'\\')
}

fn escape(letter: char) -> Option<char> {
    Some(match letter {
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '"' => '"',
        '\\' => '\\',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_break_a_header_is_escaped() {
        let check = |path: &str, expected: &str| assert_eq!(label("a/", path), expected);
        check("src/main.rs", "a/src/main.rs");
        check("naïve/файл.md", "a/naïve/файл.md");
        check("my file", "a/my file\t");
        check("a\"b", r#""a/a\"b""#);
        check("a\\b", r#""a/a\\b""#);
        check("tab\there", r#""a/tab\there""#);
        check("two\nlines ", "\"a/two\\nlines \"\t");
        check("\x01\x1f\x7f", r#""a/\001\037\177""#);
    }
}
