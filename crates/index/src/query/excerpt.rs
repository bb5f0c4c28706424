//! What is shown of a file: some of its lines, cut to a bound.
//!
//! Reads the file as it is now. One that cannot be read any more has nothing to show. What always holds: what is shown is
//! from the very file that the path names, and never from behind a link; whoever asks judges by the path.

use loggia_domain::IndexError;
use loggia_tree::TreePath;

use crate::inspect::MAX_FILE;
use crate::query::Search;

/// How many bytes of a line are shown.
const MAX_LINE: usize = 400;

/// How many bytes of a finding are shown.
pub(super) const MAX_SNIPPET: usize = 6000;

impl Search<'_> {
    /// A file's text as it is now; nothing if it went away, or became something that is not searched.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let path = TreePath::parse(path).ok()?;
        let bytes = self.root.read_plain(&path, MAX_FILE).ok()?.bytes;
        String::from_utf8(bytes).ok()
    }

    /// The same, for whoever makes vectors.
    pub(crate) fn current(&self, path: &str) -> Option<String> {
        self.text(path)
    }

    /// Ends a search that nobody waits for.
    pub(super) fn check(&self) -> Result<(), IndexError> {
        if self.is_stopped() { Err(IndexError::Cancelled) } else { Ok(()) }
    }
}

/// Lines of a text, from the first to the last, counted from 1.
pub(super) fn snippet(text: &str, first: u32, last: u32) -> String {
    let count = (last.saturating_sub(first) + 1) as usize;
    let lines = text.lines().skip(first.saturating_sub(1) as usize).take(count);
    let mut shown = String::new();
    for line in lines {
        let line = shortened(line, MAX_LINE);
        if shown.len() + line.len() > MAX_SNIPPET {
            shown.push('…');
            break;
        }
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown.push_str(line);
    }
    shown
}

/// The start of a text, cut between characters.
pub(super) fn shortened(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
