//! A program's bytes cut into lines of text.
//!
//! Refuses to know where they come from and what becomes of them. Invariants: no more than [`MAX_LINE`] bytes are held
//! back; nothing is lost but what the program itself wrote over with a carriage return, as a terminal would show it; bytes
//! that are no UTF-8 are spelt out.

use loggia_endermux_io::limits::LOG_PIECE;
use loggia_endermux_io::terminal::harmless;

/// The longest line; a longer one becomes several. What the library puts into one message.
const MAX_LINE: usize = LOG_PIECE;

/// Cuts lines.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    held: Vec<u8>,
    /// The start of the line that is held was given away already, so its end is no line of its own.
    continued: bool,
}

impl Cutter {
    /// Whether a line has begun that was not given away.
    pub(crate) fn holds_some(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes bytes and gives the lines that end in them, without their ends.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.take(&rest[..end], &mut lines);
            let is_rest_of_shown = std::mem::take(&mut self.continued) && self.held.is_empty();
            if !is_rest_of_shown {
                lines.push(self.shown(self.held.len()));
            }
            rest = &rest[end + 1..];
        }
        self.take(rest, &mut lines);
        lines
    }

    /// What has come of a line that does not go on: a prompt, mostly. A character that is cut waits for its other half.
    pub(crate) fn pause(&mut self) -> Option<String> {
        let whole = whole_characters(&self.held);
        if whole == 0 {
            return None;
        }
        self.continued = true;
        Some(self.shown(whole)).filter(|text| !text.is_empty())
    }

    /// What is left when nothing more comes.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.holds_some().then(|| self.shown(self.held.len()))
    }

    /// Holds a part of a line back, and gives away what is too long.
    fn take(&mut self, mut part: &[u8], lines: &mut Vec<String>) {
        while self.held.len() + part.len() > MAX_LINE {
            let (now, later) = part.split_at(MAX_LINE - self.held.len());
            self.held.extend_from_slice(now);
            part = later;
            let whole = whole_characters(&self.held);
            lines.push(self.shown(if whole == 0 { self.held.len() } else { whole }));
            self.continued = true;
        }
        self.held.extend_from_slice(part);
    }

    /// The first bytes of what is held as text that can be shown; they are held no longer.
    fn shown(&mut self, length: usize) -> String {
        let rest = self.held.split_off(length);
        let line = std::mem::replace(&mut self.held, rest);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        let start = line.iter().rposition(|byte| *byte == b'\r').map_or(0, |at| at + 1);
        harmless(&spelt_out(&line[start..])).into_owned()
    }
}

/// How many bytes there are without a character at the end that is not all there.
fn whole_characters(bytes: &[u8]) -> usize {
    let is_cut = |at: &usize| {
        let tail = std::str::from_utf8(&bytes[*at..]);
        tail.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    // No character has more than four bytes, and three of them are not all.
    (bytes.len().saturating_sub(3)..bytes.len()).find(is_cut).unwrap_or(bytes.len())
}

fn spelt_out(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(parts: &[&[u8]]) -> Vec<String> {
        let mut cutter = Cutter::default();
        let mut lines: Vec<String> = parts.iter().flat_map(|part| cutter.push(part)).collect();
        lines.extend(cutter.finish());
        lines
    }

    #[test]
    fn lines_are_whole_however_the_bytes_come() {
        assert_eq!(cut(&[b"one\ntw", b"o\r\n\nthree"]), ["one", "two", "", "three"]);
        assert_eq!(cut(&[b"\xc3", b"\xa9\n"]), ["é"]);
    }

    #[test]
    fn a_prompt_is_shown_and_its_line_end_is_no_line() {
        let mut cutter = Cutter::default();
        assert!(cutter.push(b">>> ").is_empty());
        assert_eq!(cutter.pause().as_deref(), Some(">>> "));
        assert_eq!(cutter.pause(), None);
        assert_eq!(cutter.push(b"\nnext\n"), ["next"]);
        cutter.push(b"load");
        cutter.pause();
        assert_eq!(cutter.push(b"ing\n\n"), ["ing", ""]);
    }

    #[test]
    fn half_a_character_waits_for_the_other_half() {
        let mut cutter = Cutter::default();
        cutter.push(b"caf\xc3");
        assert_eq!(cutter.pause().as_deref(), Some("caf"));
        assert_eq!(cutter.pause(), None);
        assert_eq!(cutter.push(b"\xa9\n"), ["é"]);
    }

    #[test]
    fn what_is_no_text_is_spelt_out_and_what_drives_a_terminal_goes() {
        assert_eq!(cut(&[b"a\xff\xfe\x1b[2Jb\x07\n"]), ["a\\xff\\xfeb"]);
        assert_eq!(cut(&[b"\x1b[31mred\x1b[m\n"]), ["\x1b[31mred\x1b[m"]);
    }

    #[test]
    fn a_line_written_over_is_shown_as_it_ended() {
        assert_eq!(cut(&[b"10%\r50%\r100%\r\n"]), ["100%"]);
    }

    #[test]
    fn a_huge_line_becomes_several() {
        let mut cutter = Cutter::default();
        let line =
            [vec![b'x'; MAX_LINE - 1], "é".as_bytes().to_vec(), vec![b'y'; 10], b"\n".to_vec()].concat();
        let lines = cutter.push(&line);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE - 1, 12]);
        assert_eq!(cut(&[&vec![0xff; 3 * MAX_LINE]]).len(), 3);
    }

    proptest! {
        #[test]
        fn however_they_come_the_same_lines_leave(text in "[aé😀\n]{0,60}", at in 0usize..200) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(cut(&[first, second]), cut(&[bytes]));
        }
    }
}
