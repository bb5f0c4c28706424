//! Where lines go: above the line that is edited, or one after the other.
//!
//! What always holds: the line that is edited is not broken, however much is said; what waits to be shown is bounded, and
//! whoever has more is told to wait.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use reedline::ExternalPrinter;

use super::highlight::Palette;
use super::prompt::Prompting;
use crate::Terminal;
use crate::fold::fold;
use crate::paint::width_of;

/// How often what waits is shown. A person sees no difference, and keys are looked at in between.
pub(super) const TICK: Duration = Duration::from_millis(25);

/// How many lines are shown at once.
const BATCH_LINES: usize = 500;

/// How many bytes are shown at once, one line more at most: a terminal takes that between two keys.
const BATCH_BYTES: usize = 64 * 1024;

/// How many bytes may wait.
const WAITING_BYTES: usize = 1024 * 1024;

/// Batches that lie with the editor.
const LENT: usize = 1;

/// Where lines go.
pub(super) enum Face<'t> {
    /// Above the line that is edited.
    Above(Above),
    /// Standard output has what the server says, standard error what we say.
    Plain(&'t mut Terminal),
}

/// The lines above the one that is edited.
pub(super) struct Above {
    editor: SyncSender<String>,
    waiting: VecDeque<String>,
    bytes: usize,
    palette: Arc<Palette>,
    prompting: Arc<Prompting>,
    columns: fn() -> usize,
}

impl Above {
    /// With the printer that the editor has to get.
    pub(super) fn new(
        palette: &Arc<Palette>,
        prompting: &Arc<Prompting>,
        columns: fn() -> usize,
    ) -> (Self, ExternalPrinter<String>) {
        let printer = ExternalPrinter::new(LENT);
        let above = Self {
            editor: printer.sender(),
            waiting: VecDeque::new(),
            bytes: 0,
            palette: Arc::clone(palette),
            prompting: Arc::clone(prompting),
            columns,
        };
        (above, printer)
    }

    fn push(&mut self, line: &str) {
        self.bytes += line.len() + 1;
        // An empty line would not be shown.
        self.waiting.push_back(if line.is_empty() { " ".to_owned() } else { line.to_owned() });
    }

    fn batch(&mut self) -> String {
        let mut batch = String::new();
        for _ in 0..BATCH_LINES {
            let Some(line) = self.waiting.pop_front() else { break };
            batch.push_str(&line);
            batch.push('\n');
            if batch.len() > BATCH_BYTES {
                break;
            }
        }
        self.bytes = if self.waiting.is_empty() { 0 } else { self.bytes.saturating_sub(batch.len()) };
        batch
    }

    /// Lends the editor what waits, if it takes it now.
    fn flush(&mut self) {
        let (line, cursor) = self.palette.drawn();
        if self.waiting.is_empty() || !goes_up_right(&line, cursor, self.prompting.width(), (self.columns)())
        {
            return;
        }
        let batch = self.batch();
        if let Err(TrySendError::Full(batch)) = self.editor.try_send(batch) {
            self.bytes += batch.len();
            for line in batch.lines().rev() {
                self.waiting.push_front(line.to_owned());
            }
        }
    }
}

impl Face<'_> {
    /// What the server says.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Above(above) => above.push(line),
            Self::Plain(terminal) => terminal.out(&format!("{line}\n"))?,
        }
        Ok(())
    }

    /// What we say.
    pub(super) fn aside(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Above(above) => fold(line, (above.columns)()).lines().for_each(|line| above.push(line)),
            Self::Plain(terminal) => {
                let text = terminal.folded(&format!("{line}\n"));
                terminal.err(&text)?;
            }
        }
        Ok(())
    }

    /// Whether more can be taken.
    pub(super) fn has_room(&self) -> bool {
        match self {
            Self::Above(above) => above.bytes < WAITING_BYTES,
            Self::Plain(_) => true,
        }
    }

    /// Whether something waits to be shown.
    pub(super) fn has_more(&self) -> bool {
        matches!(self, Self::Above(above) if !above.waiting.is_empty())
    }

    /// Shows what waits, or some of it.
    pub(super) fn flush(&mut self) {
        if let Self::Above(above) = self {
            above.flush();
        }
    }

    /// The editor is gone: what waits is written where it was.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        use io::Write as _;
        if let Self::Above(above) = self {
            let mut out = io::stdout().lock();
            while !above.waiting.is_empty() {
                out.write_all(above.batch().as_bytes())?;
            }
            out.flush()?;
        }
        Ok(())
    }
}

/// Whether the editor finds the row its line begins on. It reckons with bytes, and with a cursor at the end; where that is
/// wrong it would write over lines above, so nothing is shown until the line is another one.
fn goes_up_right(line: &str, cursor: usize, prompt: usize, columns: usize) -> bool {
    /// What the editor takes a prompt for.
    const RECKONED_PROMPT: usize = 3;
    let columns = columns.max(1);
    let mut reckoned = 0;
    for (index, part) in line.lines().enumerate() {
        reckoned += (part.len() + if index == 0 { RECKONED_PROMPT } else { 0 }) / columns + 1;
    }
    let before = line.get(..cursor).unwrap_or(line);
    let parts: Vec<usize> = before.split('\n').map(width_of).collect();
    let mut rows = 0;
    for (index, width) in parts.iter().enumerate() {
        let width = width + if index == 0 { prompt } else { 2 };
        let is_last = index + 1 == parts.len();
        if is_last && width > 0 && width % columns == 0 {
            // At the margin terminals differ.
            return false;
        }
        rows += if is_last { width / columns } else { width.div_ceil(columns).max(1) };
    }
    reckoned.saturating_sub(1) == rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_shown_in_batches_and_bounded() {
        let (palette, prompting) = (Arc::default(), Arc::default());
        let (mut above, printer) = Above::new(&palette, &prompting, || 80);
        for number in 0..1200 {
            above.push(&format!("line {number}"));
        }
        let mut face = Face::Above(above);
        let mut got = Vec::new();
        while face.has_more() {
            face.flush();
            // Nothing is lost when the editor has not taken the last batch yet.
            face.flush();
            got.push(printer.get_line().unwrap());
        }
        let counts: Vec<usize> = got.iter().map(|batch| batch.lines().count()).collect();
        assert_eq!(counts, [500, 500, 200]);
        let all: Vec<String> = got.concat().lines().map(str::to_owned).collect();
        assert!(all.iter().enumerate().all(|(number, line)| *line == format!("line {number}")));
        for _ in 0..20 {
            assert!(face.has_room());
            face.line(&"x".repeat(WAITING_BYTES / 20)).unwrap();
        }
        face.line(&"x".repeat(WAITING_BYTES / 20)).unwrap();
        assert!(!face.has_room());
    }

    #[test]
    fn nothing_is_written_over_lines_above() {
        let right = |line: &str, cursor| goes_up_right(line, cursor, 2, 20);
        assert!(right("", 0));
        assert!(right("short", 5) && right("short", 0));
        assert!(right(&"x".repeat(25), 25), "a line that goes on in the next row");
        assert!(!right(&"x".repeat(25), 3), "its cursor is in the first row");
        assert!(!right(&"é".repeat(12), 24), "its bytes would take two rows");
        assert!(!right(&"x".repeat(18), 18), "it ends at the margin");
        assert!(right("one\ntwo", 7) && !right("one\ntwo", 1));
    }
}
