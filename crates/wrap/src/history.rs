//! Lines that were sent, in memory and in a file.
//!
//! Invariants: no more than [`MAX_LINES`] lines are kept, the newest; the file can be read by its owner alone and grows no
//! further than [`MAX_FILE`] before it is written anew.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// How many lines are kept. More than anybody goes through.
const MAX_LINES: usize = 1000;

/// The longest line that is kept. What is longer was not typed.
const MAX_LENGTH: usize = 1024;

/// How large the file may be when it is opened; a larger one is written anew with what is kept of it.
const MAX_FILE: u64 = 1024 * 1024;

/// What was sent is its owner's business.
const PRIVATE: u32 = 0o600;

/// Lines that were sent, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    lines: VecDeque<String>,
    file: Option<File>,
}

impl History {
    /// The lines of a file, to which those will be added that come.
    ///
    /// # Errors
    /// When it can be neither read nor made, or not be closed to others.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(PRIVATE).open(path)?;
        let about = file.metadata()?;
        // One that was there may be open to others. What is no file, as `/dev/null`, is everybody's.
        if about.is_file() {
            file.set_permissions(Permissions::from_mode(PRIVATE))?;
        }
        let length = about.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_FILE)))?;
        let mut bytes = Vec::new();
        (&file).take(MAX_FILE).read_to_end(&mut bytes)?;
        let mut history = Self::default();
        // A line whose start was not read is none.
        let cut = usize::from(length > MAX_FILE);
        for line in String::from_utf8_lossy(&bytes).lines().skip(cut) {
            history.keep(line);
        }
        if length > MAX_FILE {
            file.set_len(0)?;
            file.write_all(
                history.lines.iter().flat_map(|line| [line, "\n"]).collect::<String>().as_bytes(),
            )?;
        }
        history.file = Some(file);
        Ok(history)
    }

    /// Adds a line, unless it is the last one again.
    ///
    /// # Errors
    /// When the file does not take it; it is kept in memory then, and the file is not tried again.
    pub(crate) fn add(&mut self, line: &str) -> io::Result<()> {
        if !self.keep(line) {
            return Ok(());
        }
        let written = self.file.as_mut().map(|file| file.write_all(format!("{line}\n").as_bytes()));
        written.unwrap_or(Ok(())).inspect_err(|_| self.file = None)
    }

    /// The lines, newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().rev().map(String::as_str)
    }

    fn keep(&mut self, line: &str) -> bool {
        if line.trim().is_empty()
            || line.len() > MAX_LENGTH
            || self.lines.back().is_some_and(|last| last == line)
        {
            return false;
        }
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line.to_owned());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(history: &History) -> Vec<&str> {
        history.newest_first().collect()
    }

    #[test]
    fn what_was_sent_is_there_the_next_time_and_nobody_elses() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        let mut history = History::open(&path).unwrap();
        for line in ["list", "list", " ", "say hi"] {
            history.add(line).unwrap();
        }
        assert_eq!(lines(&history), ["say hi", "list"]);
        assert_eq!(lines(&History::open(&path).unwrap()), ["say hi", "list"]);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_others_could_read_is_closed_to_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        std::fs::write(&path, "list\n").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(lines(&History::open(&path).unwrap()), ["list"]);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, PRIVATE);
    }

    #[test]
    fn only_the_newest_are_kept_and_the_file_stays_small() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        let old: String = (0..200_000).map(|number| format!("line {number}\n")).collect();
        std::fs::write(&path, old).unwrap();
        let history = History::open(&path).unwrap();
        assert_eq!(lines(&history).len(), MAX_LINES);
        assert_eq!(lines(&history)[0], "line 199999");
        assert!(path.metadata().unwrap().len() < 20_000);
    }
}
