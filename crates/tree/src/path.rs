//! Paths below a root, as text.
//!
//! Knows only the words of a path; whether anything is there, and where links lead, is for the root to say.
//! Invariant: a [`TreePath`] is relative, has no empty, `.` or `..` part, no NUL and no backslash, and is within
//! [`MAX_PATH`] and [`MAX_PART`]. The empty path is the root itself.

use std::fmt;

use thiserror::Error;

/// The longest path in bytes: what Linux takes in one system call, with its closing NUL.
pub const MAX_PATH: usize = 4095;
/// The longest part between two slashes in bytes: what Linux file systems take as a name.
pub const MAX_PART: usize = 255;

/// A path relative to the root, normalised, with `/` between its parts.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

/// Why a text is no path below the root.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    /// It starts at the file system's root, or at a drive.
    #[error("`{path}` is absolute: give a path relative to the workspace root")]
    Absolute {
        /// The text as given, cut short.
        path: String,
    },
    /// It has a `..` part.
    #[error("`{path}` goes up with `..`: give a path relative to the workspace root, without `..`")]
    GoesUp {
        /// The text as given, cut short.
        path: String,
    },
    /// It has a backslash.
    #[error(
        "`{path}` has a backslash: give a path relative to the workspace root, with `/` between its parts"
    )]
    Backslash {
        /// The text as given, cut short.
        path: String,
    },
    /// It has a NUL character, which no file name can have.
    #[error("the path has a NUL character: give a path relative to the workspace root, as plain text")]
    Nul,
    /// It is longer than [`MAX_PATH`].
    #[error("the path is {len} bytes long and at most {MAX_PATH} are possible")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// One part is longer than [`MAX_PART`].
    #[error("a part of the path is {len} bytes long and at most {MAX_PART} are possible")]
    PartTooLong {
        /// The part's length in bytes.
        len: usize,
    },
}

impl TreePath {
    /// The root itself.
    #[must_use]
    pub const fn root() -> TreePath {
        TreePath(String::new())
    }

    /// Reads a path as people and models write it. `./` and doubled or closing slashes are dropped.
    pub fn parse(text: &str) -> Result<TreePath, PathError> {
        if text.len() > MAX_PATH {
            return Err(PathError::TooLong { len: text.len() });
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if text.starts_with('/') || starts_at_drive(text) {
            return Err(PathError::Absolute { path: shortened(text) });
        }
        if text.contains('\\') {
            return Err(PathError::Backslash { path: shortened(text) });
        }
        let mut path = String::with_capacity(text.len());
        for part in text.split('/') {
            match part {
                "" | "." => continue,
                ".." => return Err(PathError::GoesUp { path: shortened(text) }),
                _ if part.len() > MAX_PART => return Err(PathError::PartTooLong { len: part.len() }),
                _ => {}
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(part);
        }
        Ok(TreePath(path))
    }

    /// The path as text: parts with `/` between them, empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory this is in; nothing for the root.
    #[must_use]
    pub fn parent(&self) -> Option<TreePath> {
        self.split().map(|(parent, _)| TreePath(parent.to_owned()))
    }

    /// The last part; nothing for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.split().map(|(_, name)| name)
    }

    /// The parts, first to last.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// The directories this is in, the nearest first and the root last.
    pub fn ancestors(&self) -> impl Iterator<Item = TreePath> {
        std::iter::successors(self.parent(), TreePath::parent)
    }

    /// Whether this is `other` or lies below it. Compares whole parts.
    #[must_use]
    pub fn starts_with(&self, other: &TreePath) -> bool {
        match self.0.strip_prefix(&other.0) {
            Some(rest) => other.is_root() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// This path with another one below it, read as [`TreePath::parse`] does.
    pub fn join(&self, below: &str) -> Result<TreePath, PathError> {
        let below = TreePath::parse(below)?;
        let len = self.0.len() + 1 + below.0.len();
        match (self.is_root(), below.is_root()) {
            (true, _) => Ok(below),
            (_, true) => Ok(self.clone()),
            _ if len > MAX_PATH => Err(PathError::TooLong { len }),
            _ => Ok(TreePath(format!("{}/{}", self.0, below.0))),
        }
    }

    /// The path of a directory entry, if its name can be written as a path.
    pub(crate) fn entry(&self, name: &[u8]) -> Option<TreePath> {
        let name = std::str::from_utf8(name).ok()?;
        let path =
            if self.is_root() { TreePath::parse(name) } else { TreePath::parse(&format!("{self}/{name}")) };
        path.ok().filter(|path| path.name() == Some(name))
    }

    /// The directory and the name in it, as text.
    pub(crate) fn split(&self) -> Option<(&str, &str)> {
        if self.is_root() { None } else { Some(self.0.rsplit_once('/').unwrap_or(("", &self.0))) }
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl AsRef<str> for TreePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for TreePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<TreePath, PathError> {
        TreePath::parse(text)
    }
}

impl PathError {
    /// Whether the path tried to lead outside, as against being merely impossible.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        match self {
            PathError::Absolute { .. }
            | PathError::GoesUp { .. }
            | PathError::Backslash { .. }
            | PathError::Nul => true,
            PathError::TooLong { .. } | PathError::PartTooLong { .. } => false,
        }
    }
}

/// `C:`, `C:/…` and `\\server\…`, as other systems write absolute paths.
fn starts_at_drive(text: &str) -> bool {
    match text.as_bytes() {
        [b'\\', ..] => true,
        [letter, b':'] | [letter, b':', b'/' | b'\\', ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

/// The start of a text, for messages.
fn shortened(text: &str) -> String {
    /// Enough to recognise a path by; a message is no place for four thousand bytes.
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
