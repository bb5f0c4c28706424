//! The catalogue: every file of a state, indexed or skipped, in one file with a checksum.
//!
//! Knows the layout. It is small beside what it lists, so it is written whole for every state.

use std::fs;
use std::io;
use std::path::Path;

use crate::disk::write_whole;
use crate::entry::{Entry, Place, Skipped, Stamp, is_test};
use crate::fault::{AtFile, Fault};
use crate::language::Language;
use crate::numbers::{Reader, Writer};

const MAGIC: [u8; 8] = *b"lgfiles\x01";

/// Every file of a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Catalogue {
    /// Sorted by path.
    pub(crate) entries: Vec<Entry>,
    /// Sorted by path.
    pub(crate) skipped: Vec<Skipped>,
    /// The next key that was never given.
    pub(crate) next_key: u64,
}

impl Catalogue {
    /// Writes it to disk.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Fault> {
        let mut out = Writer::default();
        out.fixed(MAGIC);
        out.number(self.next_key);
        out.number(self.entries.len() as u64);
        let mut last = "";
        for entry in &self.entries {
            write_path(&mut out, last, &entry.path);
            last = &entry.path;
            write_entry(&mut out, entry);
        }
        out.number(self.skipped.len() as u64);
        for skipped in &self.skipped {
            out.text(&skipped.path);
            out.text(&skipped.reason);
            write_stamp(&mut out, skipped.stamp);
        }
        let sum = crc32fast::hash(&out.bytes);
        out.fixed(sum.to_le_bytes());
        write_whole(path, &out.bytes)
    }

    /// Reads it, whole.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        let bytes = fs::read(path).at(path)?;
        let damaged = || Fault::Damaged { path: path.to_owned() };
        let (body, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(damaged());
        }
        read(&mut Reader::new(body)).map_err(|_| damaged())
    }
}

/// Paths that follow each other begin alike.
fn write_path(out: &mut Writer, last: &str, path: &str) {
    let mut shared = last.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    while !path.is_char_boundary(shared) {
        shared -= 1;
    }
    out.number(shared as u64);
    out.text(&path[shared..]);
}

fn write_entry(out: &mut Writer, entry: &Entry) {
    out.number(entry.key);
    out.fixed(entry.hash.to_le_bytes());
    write_stamp(out, entry.stamp);
    out.byte(entry.language as u8);
    out.number(u64::from(entry.bytes));
    entry.lengths.iter().for_each(|length| out.number(u64::from(*length)));
    out.byte(u8::from(entry.has_long_runs));
    out.number(u64::from(entry.symbols));
    out.number(u64::from(entry.chunks));
    match entry.facts {
        None => out.number(0),
        Some(place) => {
            out.number(u64::from(place.pack) + 1);
            out.number(place.offset);
            out.number(u64::from(place.len));
        }
    }
}

fn write_stamp(out: &mut Writer, stamp: Option<Stamp>) {
    out.byte(u8::from(stamp.is_some()));
    if let Some(stamp) = stamp {
        out.number(stamp.len);
        out.fixed(stamp.modified_ns.to_le_bytes());
        out.fixed(stamp.changed_ns.to_le_bytes());
        out.number(stamp.inode);
    }
}

fn read(reader: &mut Reader<'_>) -> io::Result<Catalogue> {
    if reader.fixed()? != MAGIC {
        return Err(Reader::damage());
    }
    let mut catalogue = Catalogue { next_key: reader.number()?, ..Catalogue::default() };
    let mut last = String::new();
    for _ in 0..reader.count()? {
        let shared = reader.number()?;
        let shared = usize::try_from(shared).ok().filter(|shared| last.is_char_boundary(*shared));
        last.truncate(shared.ok_or_else(Reader::damage)?);
        last.push_str(reader.text()?);
        catalogue.entries.push(read_entry(reader, &last)?);
    }
    for _ in 0..reader.count()? {
        catalogue.skipped.push(Skipped {
            path: reader.text()?.into(),
            reason: reader.text()?.into(),
            stamp: read_stamp(reader)?,
        });
    }
    reader.end()?;
    Ok(catalogue)
}

fn read_entry(reader: &mut Reader<'_>, path: &str) -> io::Result<Entry> {
    Ok(Entry {
        path: path.into(),
        key: reader.number()?,
        hash: u128::from_le_bytes(reader.fixed()?),
        stamp: read_stamp(reader)?,
        language: Language::from_number(reader.byte()?).ok_or_else(Reader::damage)?,
        is_test: is_test(path),
        bytes: reader.small()?,
        lengths: [reader.small()?, reader.small()?, reader.small()?, reader.small()?],
        has_long_runs: reader.byte()? != 0,
        symbols: reader.small()?,
        chunks: reader.small()?,
        facts: match reader.number()? {
            0 => None,
            pack => Some(Place {
                pack: u32::try_from(pack - 1).map_err(|_| Reader::damage())?,
                offset: reader.number()?,
                len: reader.small()?,
            }),
        },
    })
}

fn read_stamp(reader: &mut Reader<'_>) -> io::Result<Option<Stamp>> {
    if reader.byte()? == 0 {
        return Ok(None);
    }
    Ok(Some(Stamp {
        len: reader.number()?,
        modified_ns: i64::from_le_bytes(reader.fixed()?),
        changed_ns: i64::from_le_bytes(reader.fixed()?),
        inode: reader.number()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Catalogue {
        let entry = |path: &str, facts| Entry {
            path: path.into(),
            key: 7,
            hash: u128::MAX - 3,
            stamp: Some(Stamp { len: 9, modified_ns: -4, changed_ns: 5, inode: 6 }),
            language: Language::Go,
            is_test: false,
            bytes: 12,
            lengths: [1, 2, 300, 4],
            has_long_runs: true,
            symbols: 5,
            chunks: 2,
            facts,
        };
        let place = Place { pack: 0, offset: 1 << 40, len: 77 };
        let skipped = Skipped { path: "z".into(), reason: "it is binary".into(), stamp: None };
        let entries = vec![entry("a/größe.go", Some(place)), entry("a/grün.go", None), entry("b", None)];
        Catalogue { entries, skipped: vec![skipped], next_key: 99 }
    }

    #[test]
    fn a_catalogue_comes_back_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("files-1");
        for catalogue in [Catalogue::default(), sample()] {
            catalogue.write(&path).unwrap();
            assert_eq!(Catalogue::read(&path).unwrap(), catalogue);
        }
    }

    #[test]
    fn any_changed_byte_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("files-1");
        sample().write(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            assert!(matches!(Catalogue::read(&path), Err(Fault::Damaged { .. })), "{at}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(Catalogue::read(&path).is_err());
        fs::write(&path, b"").unwrap();
        assert!(Catalogue::read(&path).is_err());
    }
}
