//! Pieces of text for a model: each with its place, all together in no more than so much room.
//!
//! Knows how a piece is told and cut. Refuses to know where pieces come from. What always holds: what is told is cut at
//! the end of a line and says so, no text ends its own quotation, and the whole fits.

use std::fmt::Write;

use loggia_domain::CodeFinding;

/// Less than this of a piece says nothing: then only its place is named.
const LEAST: usize = 200;

/// What the frame of a piece takes besides its place: quotation marks, line numbers, the word that it was cut.
const FRAME: usize = 80;

/// How many places are named of which there was no room for the text.
const MOST_NAMED: usize = 20;

/// A piece of text and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// A path, or what else the text is.
    pub(super) place: String,
    /// Its first and its last line, if it is of a file.
    pub(super) lines: Option<(usize, usize)>,
    /// What it is to the instruction.
    pub(super) role: Option<&'static str>,
    /// The text.
    pub(super) text: String,
}

impl From<CodeFinding> for Excerpt {
    fn from(found: CodeFinding) -> Self {
        let lines = (found.start_line as usize, found.end_line as usize);
        Self { place: found.path, lines: Some(lines), role: None, text: found.snippet }
    }
}

/// Pieces under a heading, the most important first, in no more than so many bytes. A piece takes at most half of the
/// room that is left while others wait.
pub(super) fn tell(heading: &str, excerpts: &[Excerpt], most: usize) -> String {
    let mut text = format!("{heading}\n");
    let mut unshown = Vec::new();
    let whole =
        excerpts.iter().map(|excerpt| excerpt.place.len() + excerpt.text.len() + FRAME).sum::<usize>();
    let all_fit = text.len() + whole <= most;
    for (number, excerpt) in excerpts.iter().enumerate() {
        let room = most.saturating_sub(text.len() + excerpt.place.len() + FRAME);
        let is_last = number + 1 == excerpts.len();
        // Half of very little would be too little for anybody.
        let room = if all_fit || is_last || room < 4 * LEAST { room } else { room / 2 };
        match excerpt.within(room) {
            Some(told) => text.push_str(&told),
            None => unshown.push(excerpt.place.as_str()),
        }
    }
    if !unshown.is_empty() {
        let named = unshown.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
        let note = format!("\nNo room was left for: {named}\n");
        if text.len() + note.len() <= most {
            text.push_str(&note);
        }
    }
    text
}

impl Excerpt {
    /// The piece, with as much of its text as there is room for.
    fn within(&self, room: usize) -> Option<String> {
        let text = self.text.trim_end_matches('\n');
        let (part, is_cut) = match text.len() > room {
            true => (&text[..text.floor_char_boundary(room)], true),
            false => (text, false),
        };
        // Whole lines, unless there is only one.
        let part = match (is_cut, part.rfind('\n')) {
            (true, Some(end)) => &part[..end],
            _ => part,
        };
        if part.is_empty() || (is_cut && part.len() < LEAST) {
            return None;
        }
        let mut told = format!("\n{}", self.place);
        if let Some((first, last)) = self.lines {
            let _ = write!(told, ", lines {first} to {last}");
        }
        if let Some(role) = self.role {
            let _ = write!(told, " ({role})");
        }
        let fence = fence(part);
        let _ = write!(told, ":\n{fence}\n{part}\n");
        match self.lines {
            Some((first, _)) if is_cut => {
                let _ = writeln!(told, "[… cut after line {}]", first + part.matches('\n').count());
            }
            _ if is_cut => told.push_str("[… cut]\n"),
            _ => {}
        }
        let _ = writeln!(told, "{fence}");
        Some(told)
    }
}

/// More backticks than the text has in a row, and at least three.
fn fence(text: &str) -> String {
    let (mut longest, mut row) = (2, 0);
    for byte in text.bytes() {
        row = if byte == b'`' { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    "`".repeat(longest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(place: &str, text: &str) -> Excerpt {
        let lines = Some((1, text.lines().count()));
        Excerpt { place: place.to_owned(), lines, role: None, text: text.to_owned() }
    }

    #[test]
    fn pieces_are_told_with_their_places() {
        let test = Excerpt { role: Some("a test of it"), ..excerpt("b.rs", "two\nthree\n") };
        let output = Excerpt { lines: None, ..excerpt("what `make` printed", "no") };
        insta::assert_snapshot!(tell("Here:", &[excerpt("a.rs", "one"), test, output], 1000), @r"
        Here:

        a.rs, lines 1 to 1:
        ```
        one
        ```

        b.rs, lines 1 to 2 (a test of it):
        ```
        two
        three
        ```

        what `make` printed:
        ```
        no
        ```
        ");
    }

    #[test]
    fn what_does_not_fit_is_cut_at_a_line_or_only_named() {
        let long = "a line of twenty ch\n".repeat(100);
        let told =
            tell("Here:", &[excerpt("a.rs", &long), excerpt("b.rs", &long), excerpt("c.rs", &long)], 1000);
        assert!(told.len() <= 1000, "{}", told.len());
        assert!(told.contains("a.rs, lines 1 to 100:"), "{told}");
        assert!(told.contains("a line of twenty ch\n[… cut after line 22]\n```"), "{told}");
        assert!(told.contains("b.rs, lines 1 to 100:"), "{told}");
        for room in 0..3000 {
            let told = tell("H", &[excerpt("a.rs", &long), excerpt("b.rs", &long)], room);
            assert!(told.len() <= room.max(2), "{} of {room}", told.len());
        }
        let told = tell("Here:", &[excerpt("a.rs", &long), excerpt("b.rs", &long)], 500);
        assert!(told.ends_with("\nNo room was left for: b.rs\n"), "{told}");
    }

    #[test]
    fn no_text_ends_its_own_quotation() {
        let told = tell("Here:", &[excerpt("a.md", "```\ncode\n````\nmore")], 1000);
        assert!(told.contains("\n`````\n```\ncode\n````\nmore\n`````\n"), "{told}");
    }

    #[test]
    fn half_a_character_is_not_told() {
        let told = tell("Here:", &[excerpt("a.txt", &"ä".repeat(2000))], 601);
        assert!(told.len() <= 601 && told.contains('ä'), "{told}");
    }
}
