//! `$'…'`: quotes with the escapes of C.
//!
//! Knows bash's escapes. What is no character comes out as a [`HOLE`].

use super::word::HOLE;

/// A quoted text, and what follows it.
pub(super) struct Quoted<'a> {
    pub(super) text: String,
    pub(super) rest: &'a str,
    pub(super) closed: bool,
}

/// Reads what stands after `$'`, with the closing quote.
pub(super) fn decode(rest: &str) -> Quoted<'_> {
    let mut quoted = Quoted { text: String::new(), rest, closed: false };
    while let Some(c) = quoted.next() {
        match c {
            '\'' => {
                quoted.closed = true;
                break;
            }
            '\\' => quoted.escape(),
            _ => quoted.text.push(c),
        }
    }
    quoted
}

impl Quoted<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn escape(&mut self) {
        if self.rest.starts_with(|c: char| c.is_digit(8)) {
            let decoded = self.digits(8, 3);
            self.text.push(decoded);
            return;
        }
        let Some(c) = self.next() else { return };
        let decoded = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '?' => c,
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            'c' => {
                self.next().and_then(|c| u8::try_from(c).ok()).map_or(HOLE, |byte| char::from(byte & 0x1f))
            }
            _ => {
                self.text.push('\\');
                c
            }
        };
        self.text.push(decoded);
    }

    /// A character by its number, of so many digits at most.
    fn digits(&mut self, radix: u32, most: usize) -> char {
        let ends = self.rest.bytes().take(most).take_while(|&byte| char::from(byte).is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at(ends);
        self.rest = rest;
        u32::from_str_radix(digits, radix).ok().and_then(char::from_u32).unwrap_or(HOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_c_are_decoded() {
        for (raw, text) in [
            (r"rm'", "rm"),
            (r"\x72\155'", "rm"),
            (r"\u0072\U0000006d'", "rm"),
            (r"a\'b\\c\n'", "a'b\\c\n"),
            (r"\q'", r"\q"),
            (r"\cA'", "\u{1}"),
            (r"\xZZ'", "\0ZZ"),
            (r"\UFFFFFFFF'", "\0"),
        ] {
            let quoted = decode(raw);
            assert_eq!((quoted.text.as_str(), quoted.closed), (text, true), "{raw}");
        }
        assert!(!decode(r"a\'").closed);
        assert_eq!(decode("a'; rm").rest, "; rm");
    }
}
