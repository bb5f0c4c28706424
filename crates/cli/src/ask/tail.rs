//! The end of what a command prints.

use std::collections::VecDeque;

/// How many lines are shown of a command's output: enough to see how it ended.
const LINES: usize = 8;

/// How much of one line is kept: more does not fit on a screen.
const MAX_LINE_BYTES: usize = 1024;

/// The last lines.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    /// The line that is being written.
    open: String,
    left_out: u64,
}

impl Tail {
    pub(super) fn push(&mut self, chunk: &str) {
        for piece in chunk.split_inclusive('\n') {
            let (text, ended) = match piece.strip_suffix('\n') {
                Some(text) => (text, true),
                None => (piece, false),
            };
            // What goes back to the line's beginning writes over it.
            let text = match text.trim_end_matches('\r').rsplit_once('\r') {
                Some((_, last)) => {
                    self.open.clear();
                    last
                }
                None => text.trim_end_matches('\r'),
            };
            let room = MAX_LINE_BYTES.saturating_sub(self.open.len());
            self.open.push_str(&text[..text.floor_char_boundary(room)]);
            if ended {
                self.lines.push_back(std::mem::take(&mut self.open));
                if self.lines.len() > LINES {
                    self.lines.pop_front();
                    self.left_out += 1;
                }
            }
        }
    }

    /// The last line that says something.
    pub(super) fn last(&self) -> Option<&str> {
        let lines = self.lines.iter().map(String::as_str);
        lines.chain([self.open.as_str()]).rfind(|line| !line.trim().is_empty())
    }

    /// How many lines are not kept, and those that are.
    pub(super) fn lines(&self) -> (u64, impl Iterator<Item = &str>) {
        let open = Some(self.open.as_str()).filter(|open| !open.is_empty());
        (self.left_out, self.lines.iter().map(String::as_str).chain(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(chunks: &[&str]) -> String {
        let mut tail = Tail::default();
        chunks.iter().for_each(|chunk| tail.push(chunk));
        let (left_out, lines) = tail.lines();
        let lines: Vec<&str> = lines.collect();
        format!("{left_out}:{}", lines.join("|"))
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let many: String = (1..=10).map(|number| format!("{number}\n")).collect();
        assert_eq!(shown(&[&many]), "2:3|4|5|6|7|8|9|10");
        assert_eq!(shown(&["a", "b\nc"]), "0:ab|c");
        assert_eq!(shown(&["10%\r20%\r100%\n"]), "0:100%");
        assert_eq!(shown(&["dos\r\n"]), "0:dos");
        assert_eq!(shown(&[&"é".repeat(2000)]).chars().count(), 2 + 512);
    }
}
