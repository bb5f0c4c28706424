//! A manifest as bytes.
//!
//! A fixed start with the version, the root, numbers as LEB128 (signed ones zigzag first), paths without what
//! they share with the one before, and the SHA-256 of everything at the end. Reading checks the sum first and
//! still trusts no length.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use loggia_domain::ContentHash;

use super::{Entry, Ignored, Manifest, Rest, Stat};

/// The first bytes. The number rises when the form changes; an older or newer one is built anew.
const START: &[u8] = b"loggia mirror 1\n";

const IS_LINK: u8 = 1;
const IS_RACY: u8 = 2;
const HAS_HASH: u8 = 4;

impl Manifest {
    /// The bytes to write.
    pub(in crate::observe) fn encode(&self, root: &Path) -> Vec<u8> {
        let mut out = START.to_vec();
        put_bytes(&mut out, root.as_os_str().as_bytes());
        put_signed(&mut out, self.started_ns);
        put_number(&mut out, self.rest.count.into());
        out.extend(self.rest.sum.to_le_bytes());
        put_number(&mut out, self.entries.len() as u128);
        let mut previous = "";
        for entry in &self.entries {
            put_path(&mut out, previous, &entry.path);
            put_entry(&mut out, entry);
            previous = &entry.path;
        }
        out.push(self.ignored.is_cut.into());
        put_paths(&mut out, &self.ignored.files);
        put_paths(&mut out, &self.ignored.directories);
        let hash = ContentHash::of(&out);
        out.extend(hash.0);
        out
    }

    /// What was written for the same root; nothing if it was another root or is damaged.
    pub(in crate::observe) fn decode(bytes: &[u8], root: &Path) -> Option<Self> {
        let (body, hash) = bytes.split_last_chunk::<32>()?;
        let mut input = Input(body.strip_prefix(START)?);
        if ContentHash::of(body).0 != *hash || input.bytes()? != root.as_os_str().as_bytes() {
            return None;
        }
        let started_ns = input.signed()?;
        let rest = Rest { count: input.number()?, sum: u128::from_le_bytes(*input.chunk()?) };
        let entries = input.entries()?;
        let is_cut = input.byte()? != 0;
        let (files, directories) = (input.paths()?, input.paths()?);
        let sorted = entries.is_sorted_by(|a, b| a.path < b.path);
        (input.0.is_empty() && sorted).then_some(Self {
            started_ns,
            entries,
            ignored: Ignored { files, directories, is_cut },
            rest,
        })
    }
}

/// One file's path and `stat`, to be summed.
pub(super) fn encode_one(path: &str, stat: &Stat) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + 64);
    put_bytes(&mut out, path.as_bytes());
    out.push(stat.is_link.into());
    put_stat(&mut out, stat);
    out
}

fn put_entry(out: &mut Vec<u8>, entry: &Entry) {
    let flag = |is_set, bit| if is_set { bit } else { 0 };
    out.push(
        flag(entry.stat.is_link, IS_LINK)
            | flag(entry.is_racy, IS_RACY)
            | flag(entry.hash.is_some(), HAS_HASH),
    );
    put_stat(out, &entry.stat);
    if let Some(hash) = entry.hash {
        out.extend(hash.0);
    }
}

fn put_stat(out: &mut Vec<u8>, stat: &Stat) {
    put_number(out, stat.len.into());
    put_number(out, stat.mode.into());
    put_number(out, stat.inode.into());
    put_signed(out, stat.modified_ns);
    // Mostly the same moment, or soon after.
    put_signed(out, stat.changed_ns.wrapping_sub(stat.modified_ns));
}

fn put_paths(out: &mut Vec<u8>, paths: &HashSet<Arc<str>>) {
    let mut paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
    paths.sort_unstable();
    put_number(out, paths.len() as u128);
    let mut previous = "";
    for path in paths {
        put_path(out, previous, path);
        previous = path;
    }
}

fn put_path(out: &mut Vec<u8>, previous: &str, path: &str) {
    let shared = previous.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    put_number(out, shared as u128);
    put_bytes(out, &path.as_bytes()[shared..]);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u128);
    out.extend(bytes);
}

fn put_signed(out: &mut Vec<u8>, number: i128) {
    put_number(out, ((number << 1) ^ (number >> 127)).cast_unsigned());
}

fn put_number(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What is left to read. Every step says nothing at the first thing that does not fit.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn entries(&mut self) -> Option<Vec<Entry>> {
        let count: usize = self.number()?;
        // A count is believed only as far as there are bytes for it.
        let mut entries = Vec::with_capacity(count.min(self.0.len()));
        let mut previous = Vec::new();
        for _ in 0..count {
            let path = self.path(&mut previous)?;
            let flags = self.byte()?;
            let stat = self.stat(flags & IS_LINK != 0)?;
            let hash = match flags & HAS_HASH != 0 {
                true => Some(ContentHash(*self.chunk()?)),
                false => None,
            };
            entries.push(Entry { path, stat, hash, is_racy: flags & IS_RACY != 0 });
        }
        Some(entries)
    }

    fn paths(&mut self) -> Option<HashSet<Arc<str>>> {
        let count: usize = self.number()?;
        let mut previous = Vec::new();
        (0..count).map(|_| self.path(&mut previous)).collect()
    }

    fn path(&mut self, previous: &mut Vec<u8>) -> Option<Arc<str>> {
        let shared: usize = self.number()?;
        let end = self.bytes()?;
        if shared > previous.len() {
            return None;
        }
        previous.truncate(shared);
        previous.extend(end);
        Some(Arc::from(str::from_utf8(previous).ok()?))
    }

    fn stat(&mut self, is_link: bool) -> Option<Stat> {
        let (len, mode, inode) = (self.number()?, self.number()?, self.number()?);
        let modified_ns = self.signed()?;
        let changed_ns = modified_ns.wrapping_add(self.signed()?);
        Some(Stat { is_link, len, mode, inode, modified_ns, changed_ns })
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn chunk<const LEN: usize>(&mut self) -> Option<&'a [u8; LEN]> {
        let (chunk, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(chunk)
    }

    fn signed(&mut self) -> Option<i128> {
        let number: u128 = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn number<T: TryFrom<u128>>(&mut self) -> Option<T> {
        let mut number = 0_u128;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return T::try_from(number).ok();
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        self.chunk::<1>().map(|[byte]| *byte)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_stat() -> impl Strategy<Value = Stat> {
        (any::<bool>(), any::<u64>(), any::<u32>(), any::<u64>(), any::<i128>(), any::<i128>()).prop_map(
            |(is_link, len, mode, inode, modified_ns, changed_ns)| Stat {
                is_link,
                len,
                mode,
                inode,
                modified_ns,
                changed_ns,
            },
        )
    }

    fn any_manifest() -> impl Strategy<Value = Manifest> {
        let entry = ("[a-cé/]{0,6}", any_stat(), any::<Option<[u8; 32]>>(), any::<bool>()).prop_map(
            |(path, stat, hash, is_racy)| Entry {
                path: path.into(),
                stat,
                hash: hash.map(ContentHash),
                is_racy,
            },
        );
        let paths = || {
            proptest::collection::hash_set("[a-cé/]{0,6}", 0..5)
                .prop_map(|paths| paths.into_iter().map(Arc::from).collect())
        };
        let ignored = (paths(), paths(), any::<bool>()).prop_map(|(files, directories, is_cut)| Ignored {
            files,
            directories,
            is_cut,
        });
        (any::<i128>(), any::<(u64, u128)>(), proptest::collection::vec(entry, 0..12), ignored).prop_map(
            |(started_ns, (count, sum), entries, ignored)| {
                let mut manifest =
                    Manifest { started_ns, ignored, rest: Rest { count, sum }, ..Manifest::default() };
                manifest.set_entries(entries);
                manifest
            },
        )
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(manifest in any_manifest()) {
            let bytes = manifest.encode(Path::new("/a"));
            prop_assert_eq!(Manifest::decode(&bytes, Path::new("/a")), Some(manifest));
            prop_assert_eq!(Manifest::decode(&bytes, Path::new("/b")), None);
        }

        #[test]
        fn one_wrong_byte_is_noticed(manifest in any_manifest(), at in any::<prop::sample::Index>(), by in 1_u8..) {
            let mut bytes = manifest.encode(Path::new("/a"));
            let at = at.index(bytes.len());
            bytes[at] ^= by;
            prop_assert_eq!(Manifest::decode(&bytes, Path::new("/a")), None);
        }

        #[test]
        fn a_cut_end_is_noticed(manifest in any_manifest(), len in any::<prop::sample::Index>()) {
            let bytes = manifest.encode(Path::new("/a"));
            prop_assert_eq!(Manifest::decode(&bytes[..len.index(bytes.len())], Path::new("/a")), None);
        }

        /// A right sum over a wrong body: whoever can write the file can also sum it.
        #[test]
        fn a_body_that_does_not_fit_never_panics(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = START.to_vec();
            put_bytes(&mut bytes, b"/a");
            bytes.extend(body);
            bytes.extend(ContentHash::of(&bytes).0);
            let _ = Manifest::decode(&bytes, Path::new("/a"));
        }
    }
}
