//! One file, read and judged: is it a text that people search?
//!
//! Knows bytes, sizes and what generated files look like. Reads through the workspace's handle only, and never through a
//! link. A file that is not taken has a reason that can be told; no file fails a build.

use std::fmt;

use loggia_tree::{Kind, Meta, Root, TreeError, TreePath};
use xxhash_rust::xxh3::xxh3_128;

/// How large a file may be. What people write is smaller; what is larger is data, and costs more than it finds.
pub(crate) const MAX_FILE: u64 = 1024 * 1024;

/// How much of a file is looked at for zero bytes, as git does.
const BINARY_HEAD: usize = 8000;

/// The mean length of lines beyond which nobody wrote them. Of prose only lines over [`LONG_LINE`] count.
const MEAN_LINE: usize = 500;

/// A line that no editor shows whole.
const LONG_LINE: usize = 5000;

/// How large a file must be for its lines to be held against it: short files are quickly indexed.
const MINIFIED_FROM: usize = 8 * 1024;

/// How many bytes at the start of a file are searched for the words of generators.
const GENERATED_HEAD: usize = 2048;

/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;

/// A file that is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) hash: u128,
    pub(crate) meta: Meta,
}

/// Why a file is not indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Skip {
    TooLarge {
        len: u64,
    },
    Binary,
    NotUtf8,
    Minified,
    Generated,
    Link,
    HardLink,
    Unreadable {
        reason: String,
    },
    /// It was there a moment ago.
    Gone,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { len } => write!(f, "it has {len} bytes and at most {MAX_FILE} are indexed"),
            Self::Binary => f.write_str("it is binary"),
            Self::NotUtf8 => f.write_str("it is not UTF-8"),
            Self::Minified => f.write_str("its lines are too long for a person to have written them"),
            Self::Generated => f.write_str("it says that it was generated"),
            Self::Link => f.write_str("it is a link; files are indexed where they lie"),
            Self::HardLink => f.write_str("it has several hard links and may lie outside the workspace"),
            Self::Unreadable { reason } => write!(f, "it cannot be read: {reason}"),
            Self::Gone => f.write_str("it went away while it was read"),
        }
    }
}

/// Reads a file and judges it.
pub(crate) fn inspect(root: &Root, path: &TreePath) -> Result<Text, Skip> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let file = root.read_plain(path, MAX_FILE).map_err(sorted)?;
        let after = root.stat(path).map_err(sorted)?.ok_or(Skip::Gone)?;
        let is_same = (after.len, after.modified_ns) == (file.meta.len, file.meta.modified_ns)
            && file.bytes.len() as u64 == file.meta.len;
        // Whoever keeps writing will be heard of again; what was read last is as good as anything.
        if is_same || attempt == ATTEMPTS {
            return judge(file.bytes, file.meta);
        }
    }
}

/// Reads a file that was taken before: its text, if it still has this hash. Whatever else happened to it does not matter.
pub(crate) fn read_again(root: &Root, path: &TreePath, known: u128) -> Option<String> {
    let bytes = root.read_plain(path, MAX_FILE).ok()?.bytes;
    if hash(&bytes) == known { String::from_utf8(bytes).ok() } else { None }
}

/// The hash that says whether two contents are the same.
pub(crate) fn hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Why an entry is skipped without being read.
pub(crate) fn by_meta(meta: &Meta) -> Option<Skip> {
    match meta.kind {
        Kind::Link => Some(Skip::Link),
        Kind::File if meta.len > MAX_FILE => Some(Skip::TooLarge { len: meta.len }),
        Kind::File | Kind::Directory | Kind::Other => None,
    }
}

fn sorted(error: TreeError) -> Skip {
    match error {
        TreeError::NotFound { .. } | TreeError::NotADirectory { .. } => Skip::Gone,
        TreeError::TooLarge { len, .. } => Skip::TooLarge { len },
        TreeError::HardLinked { .. } => Skip::HardLink,
        TreeError::ThroughLink { .. } => Skip::Link,
        TreeError::Io { source, .. } => Skip::Unreadable { reason: source.to_string() },
        other => Skip::Unreadable { reason: other.to_string() },
    }
}

fn judge(bytes: Vec<u8>, meta: Meta) -> Result<Text, Skip> {
    if memchr::memchr(0, &bytes[..bytes.len().min(BINARY_HEAD)]).is_some() {
        return Err(Skip::Binary);
    }
    let hash = hash(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| Skip::NotUtf8)?;
    if is_minified(&text) {
        return Err(Skip::Minified);
    }
    if is_generated(&text) {
        return Err(Skip::Generated);
    }
    Ok(Text { text, hash, meta })
}

fn is_minified(text: &str) -> bool {
    if text.len() < MINIFIED_FROM {
        return false;
    }
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count().max(1);
    text.len() / lines > MEAN_LINE && text.lines().any(|line| line.len() > LONG_LINE)
}

/// Whether the head says what generators say of their work. Code that merely speaks of generating does not.
fn is_generated(text: &str) -> bool {
    let mut end = text.len().min(GENERATED_HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].lines().any(|line| {
        // The sign of Go's tools, of protobuf, of Facebook's and of many others, each alone in a comment.
        let words = line.trim_start_matches(['/', '#', '*', '-', ';', '<', '!', ' ', '\t', '"']);
        (words.starts_with("Code generated ") && words.contains("DO NOT EDIT"))
            || words.starts_with("@generated")
            || words.starts_with("Generated by the protocol buffer compiler.  DO NOT EDIT")
            || words.starts_with("<auto-generated")
            || words.starts_with("auto-generated>")
    })
}

#[cfg(test)]
mod tests {
    use loggia_tree::RootSettings;

    use super::*;

    fn judged(name: &str, bytes: &[u8]) -> String {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(name), bytes).unwrap();
        let root = Root::open(directory.path(), RootSettings::default()).unwrap();
        match inspect(&root, &TreePath::parse(name).unwrap()) {
            Ok(text) => format!("{} bytes", text.text.len()),
            Err(skip) => skip.to_string(),
        }
    }

    #[test]
    fn what_is_no_text_of_people_is_skipped_with_a_reason() {
        assert_eq!(judged("a.rs", b"fn main() {}"), "12 bytes");
        assert_eq!(judged("a.rs", b""), "0 bytes");
        assert_eq!(judged("a.rs", b"ab\0cd"), "it is binary");
        assert_eq!(judged("a.rs", b"ab\xffcd"), "it is not UTF-8");
        assert_eq!(
            judged("a.go", b"// Code generated by x. DO NOT EDIT.\n"),
            "it says that it was generated"
        );
        assert_eq!(judged("a.rs", b"//! Says of what is @generated that it is.\n"), "43 bytes");
        assert_eq!(
            judged("a.js", "x=1;".repeat(4000).as_bytes()),
            "its lines are too long for a person to have written them"
        );
        assert_eq!(
            judged("a", &vec![b'x'; MAX_FILE as usize + 1]),
            "it has 1048577 bytes and at most 1048576 are indexed"
        );
    }
}
