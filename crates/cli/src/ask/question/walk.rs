//! The way through the hunks of a change: a yes or a no to each, then one answer about all of them.

use loggia_protocol_agent_server::{FileHunks, Hunk, PatchProposed};

use crate::Key;

/// What was said so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk(Vec<bool>);

/// What a key does on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The hunk was answered, and there is another one.
    Next { taken: bool },
    /// All hunks were answered.
    Arrived(Taken),
    /// Back to the question as a whole.
    Back,
    /// Nothing.
    Nothing,
}

/// How much was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Taken {
    Everything,
    Nothing,
    Part(Part),
}

/// Some hunks, of all there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ask) struct Part {
    pub(in crate::ask) files: Vec<FileHunks>,
    pub(in crate::ask) taken: usize,
    pub(in crate::ask) of: usize,
}

impl Walk {
    /// The place of the hunk that is asked about.
    pub(super) fn place(&self) -> usize {
        self.0.len()
    }

    pub(super) fn press(&mut self, key: Key, patches: &[PatchProposed]) -> Step {
        let count = hunks(patches).count();
        let taken = match key {
            Key::Char('y' | 'Y') => true,
            Key::Char('n' | 'N') => false,
            Key::Char(rest @ ('a' | 'A' | 'd' | 'D')) => {
                self.0.resize(count, matches!(rest, 'a' | 'A'));
                return Step::Arrived(self.taken(patches));
            }
            Key::Char('q' | 'Q') | Key::Escape => return Step::Back,
            _ => return Step::Nothing,
        };
        self.0.push(taken);
        if self.0.len() < count { Step::Next { taken } } else { Step::Arrived(self.taken(patches)) }
    }

    fn taken(&self, patches: &[PatchProposed]) -> Taken {
        let (of, taken) = (self.0.len(), self.0.iter().filter(|taken| **taken).count());
        if taken == 0 {
            return Taken::Nothing;
        }
        if taken == of {
            return Taken::Everything;
        }
        let mut files: Vec<FileHunks> = Vec::new();
        for (path, index, _) in hunks(patches).zip(&self.0).filter(|(_, taken)| **taken).map(|(hunk, _)| hunk)
        {
            match files.last_mut().filter(|file| file.file_path == path) {
                Some(file) => file.hunk_indexes.push(index),
                None => files.push(FileHunks { file_path: path.to_owned(), hunk_indexes: vec![index] }),
            }
        }
        Taken::Part(Part { files, taken, of })
    }
}

/// The hunks of changes, in order: path, number in its file and content.
pub(super) fn hunks(patches: &[PatchProposed]) -> impl Iterator<Item = (&str, u32, &Hunk)> {
    patches.iter().flat_map(|patch| {
        let path = patch.file_path.as_str();
        (0..).zip(&patch.hunks).map(move |(index, hunk)| (path, index, hunk))
    })
}
