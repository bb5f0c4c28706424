//! One file as the index knows it.
//!
//! Knows paths, hashes and counts; the words and the symbols themselves are elsewhere. An entry is never changed: a file
//! that changes gets a new one, with a new key.

use loggia_tree::Meta;

use crate::fields::FIELDS;
use crate::language::Language;

/// A file that is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: Box<str>,
    /// Its number in the text index, never given twice.
    pub(crate) key: u64,
    pub(crate) hash: u128,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) language: Language,
    /// Whether its path says that it is a test.
    pub(crate) is_test: bool,
    /// How many bytes it has.
    pub(crate) bytes: u32,
    /// How many words each field has.
    pub(crate) lengths: [u32; FIELDS],
    /// Whether it has runs of word characters that are in no field, so that it must be read to know what is in it.
    pub(crate) has_long_runs: bool,
    /// How many definitions it has.
    pub(crate) symbols: u32,
    /// How many pieces it is cut into.
    pub(crate) chunks: u32,
    /// Where its symbols and uses are; nothing if they were not looked for yet.
    pub(crate) facts: Option<Place>,
}

/// Whether a file with this path is a test, or belongs to one.
pub(crate) fn is_test(path: &str) -> bool {
    const NAMES: [&str; 8] =
        ["test", "tests", "spec", "specs", "testdata", "fixtures", "__tests__", "golden"];
    let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
    let starts = |part: &str, with: &str| part.get(..with.len()).is_some_and(|start| is(start, with));
    let ends = |part: &str, with: &str| {
        part.len().checked_sub(with.len()).and_then(|at| part.get(at..)).is_some_and(|end| is(end, with))
    };
    path.split('/').any(|part| {
        let mut words = part.split('.');
        let stem = words.next().unwrap_or_default();
        // The last word is the ending, as in `app.spec.ts`.
        let mut inner = words.rev().skip(1);
        NAMES.iter().any(|name| is(stem, name))
            || starts(stem, "test_")
            || ends(stem, "_test")
            || ends(stem, "_tests")
            || inner.any(|word| is(word, "test") || is(word, "spec"))
    })
}

/// Where something is in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) pack: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// By what a file is believed to be unchanged without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) len: u64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
    pub(crate) inode: u64,
}

/// How old a file's last change must be for its times to prove anything: file systems and clocks are coarse.
const SETTLED_NS: i64 = 2_000_000_000;

impl Stamp {
    /// The stamp of a file that was just read, unless it changed so lately that its times prove nothing.
    pub(crate) fn of(meta: &Meta, now_ns: i64) -> Option<Self> {
        let stamp = Self::unproven(meta)?;
        let last = stamp.modified_ns.max(stamp.changed_ns);
        (now_ns.saturating_sub(last) > SETTLED_NS).then_some(stamp)
    }

    /// What a file's times are, to be compared with a stamp.
    pub(crate) fn unproven(meta: &Meta) -> Option<Self> {
        Some(Self {
            len: meta.len,
            modified_ns: i64::try_from(meta.modified_ns).ok()?,
            changed_ns: i64::try_from(meta.changed_ns).ok()?,
            inode: meta.inode,
        })
    }
}

/// The time now, as files have it.
pub(crate) fn now_ns() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// A file that is not indexed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) path: Box<str>,
    pub(crate) reason: Box<str>,
    pub(crate) stamp: Option<Stamp>,
}

#[cfg(test)]
mod tests {
    use super::is_test;

    #[test]
    fn tests_are_known_by_their_path() {
        for path in ["tests/it/a.rs", "src/a_test.go", "a/test_b.py", "x/app.spec.ts", "crates/a/tests/x.rs"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/testing.rs", "src/contest.rs", "latest/a.rs", "src/attest.py"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
