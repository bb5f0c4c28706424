//! Proposed changes to files.

use sha2::{Digest, Sha256};

use crate::{CallId, PatchId};

/// The SHA-256 of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A hash as it is written: 64 hexadecimal digits, in small letters, so that each has one spelling.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        if text.len() != 2 * hash.len() {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(hash))
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// A proposed change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Its id.
    pub id: PatchId,
    /// The call that proposes it.
    pub call: CallId,
    /// The file, relative to the root, with `/` between its parts.
    pub path: String,
    /// What the change is.
    pub kind: FileChangeKind,
    /// What the file must hold for the change to fit; nothing if it must not exist.
    pub base: Option<ContentHash>,
    /// The change as a git-style unified diff.
    pub diff: String,
    /// Its hunks, in order.
    pub hunks: Vec<Hunk>,
    /// Why; never empty.
    pub rationale: String,
    /// How to tell that it is right.
    pub acceptance_criteria: Vec<String>,
}

/// One connected piece of a change. Line numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old file.
    pub old_start: u32,
    /// How many lines of it.
    pub old_lines: u32,
    /// First line in the new file.
    pub new_start: u32,
    /// How many lines of it.
    pub new_lines: u32,
    /// The lines, each with its leading space, plus or minus.
    pub content: String,
}

/// What happened to a file. The bytes of both sides are kept as blobs, so that it can be undone and redone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, relative to the root.
    pub path: String,
    /// What it was; nothing if it was not there.
    pub before: Option<FileState>,
    /// What it is now; nothing if it is gone.
    pub after: Option<FileState>,
}

impl FileChange {
    /// What the change was.
    pub fn kind(&self) -> FileChangeKind {
        match (&self.before, &self.after) {
            (None, _) => FileChangeKind::Created,
            (Some(_), Some(_)) => FileChangeKind::Modified,
            (Some(_), None) => FileChangeKind::Deleted,
        }
    }
}

/// What a file is, as far as undoing needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileState {
    /// What it holds, or where a symbolic link points, as the hash of those bytes.
    pub hash: ContentHash,
    /// Its permission bits.
    pub mode: u32,
    /// Whether it is a symbolic link.
    pub is_link: bool,
}

/// What somebody other than us did to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedChange {
    /// What happened.
    pub change: FileChange,
    /// The change as a git-style unified diff; empty for a file that is not text or is too large to show.
    pub diff: String,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileChangeKind {
    /// It is made.
    Created,
    /// Its content changes.
    Modified,
    /// It goes.
    Deleted,
}

/// Why a patch was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchFailure {
    /// Somebody refused it.
    Refused,
    /// The file is not what the change was made for.
    Conflict {
        /// What it holds; nothing if it is not there.
        found: Option<ContentHash>,
    },
    /// Another change took its place: a later one to the same file, or the one that was wanted instead.
    Superseded,
    /// The turn ended first.
    Withdrawn,
    /// It could not be written.
    Unwritable {
        /// What the system or the client said.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = ContentHash::of(b"abc");
        let text = hash.to_string();
        assert_eq!(ContentHash::from_hex(&text), Some(hash));
        for wrong in ["", &text[1..], &text.to_uppercase(), &format!("+{}", &text[1..]), &"é".repeat(32)] {
            assert_eq!(ContentHash::from_hex(wrong), None, "{wrong}");
        }
    }
}
