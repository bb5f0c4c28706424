//! A finished state as it is on disk, open for reading.
//!
//! Knows the files of the state, their words by way of the text index, their symbols by way of the packs. It never
//! changes: a new state is a new value, and whoever reads the old one goes on reading it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use crate::chunks::{Chunk, ChunkHash};
use crate::disk::catalogue::Catalogue;
use crate::disk::packs::Packs;
use crate::entry::Entry;
use crate::facts::Facts;
use crate::fault::Fault;
use crate::fields::{FIELDS, Field, TEXT_FIELDS};
use crate::names::{Defined, Names};
use crate::text::{TextFields, TextIndex};

/// A state on disk.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) build: PathBuf,
    pub(crate) text: Arc<TextIndex>,
    pub(crate) catalogue: Catalogue,
    segments: Vec<Segment>,
    fields: TextFields,
    pub(crate) packs: Packs,
    pub(crate) names: Names,
    /// Which piece of which file has which hash. Sorted.
    pub(crate) chunks: Vec<Piece>,
    /// How many words all files have, by field.
    pub(crate) lengths: [u64; FIELDS],
}

/// A part of the text index.
struct Segment {
    reader: SegmentReader,
    /// By the number of a document: the number of its file, or [`NO_FILE`].
    files: Vec<u32>,
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment").field("documents", &self.files.len()).finish_non_exhaustive()
    }
}

/// A piece of a file, by the hash that its vector is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece {
    pub(crate) hash: ChunkHash,
    pub(crate) file: u32,
    /// Its place among the file's pieces.
    pub(crate) place: u32,
}

/// A document that belongs to no file of this state.
const NO_FILE: u32 = u32::MAX;

/// Where the names of a state come from.
pub(crate) enum NameSource<'a> {
    /// From the packs.
    Packs,
    /// From another state and what changed: definitions and pieces of files of this state.
    Known(Vec<(&'a str, Defined)>, Vec<Piece>),
}

impl Base {
    /// Opens the committed state of a build that is listed in a catalogue.
    pub(crate) fn open(
        build: &Path,
        text: Arc<TextIndex>,
        catalogue: Catalogue,
        names: NameSource<'_>,
    ) -> Result<Self, Fault> {
        let reader = text.reader()?;
        let by_key: std::collections::HashMap<u64, u32> =
            (0..).zip(&catalogue.entries).map(|(file, entry)| (entry.key, file)).collect();
        let mut segments = Vec::new();
        let mut found = 0;
        for reader in reader.searcher().segment_readers() {
            let keys = reader.fast_fields().u64(TextIndex::KEY)?;
            let file_of = |document| {
                let key = keys.first(document).filter(|_| !reader.is_deleted(document));
                key.and_then(|key| by_key.get(&key)).copied().unwrap_or(NO_FILE)
            };
            let files: Vec<u32> = (0..reader.max_doc()).map(file_of).collect();
            found += files.iter().filter(|file| **file != NO_FILE).count();
            segments.push(Segment { reader: reader.clone(), files });
        }
        if found != catalogue.entries.len() {
            return Err(Fault::Damaged { path: build.to_owned() });
        }
        let packs = Packs::open(build, &catalogue.entries)?;
        let (names, mut chunks) = match names {
            NameSource::Known(names, chunks) => (Names::new(names), chunks),
            NameSource::Packs => read_packs(&catalogue, &packs)?,
        };
        chunks.sort_unstable();
        let fields = text.fields;
        let mut lengths = [0; FIELDS];
        for entry in &catalogue.entries {
            lengths.iter_mut().zip(entry.lengths).for_each(|(sum, length)| *sum += u64::from(length));
        }
        Ok(Self { build: build.to_owned(), text, catalogue, segments, fields, packs, names, chunks, lengths })
    }

    /// The files, by their number.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.catalogue.entries
    }

    /// The number of the file with a path.
    #[expect(clippy::cast_possible_truncation, reason = "a walk finds fewer files than that")]
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        let found = self.entries().binary_search_by(|entry| (*entry.path).cmp(path));
        found.ok().map(|file| file as u32)
    }

    /// The symbols and uses of a file; nothing if they were not looked for yet.
    pub(crate) fn facts(&self, file: u32) -> Result<Option<Facts>, Fault> {
        let place = self.entries().get(file as usize).and_then(|entry| entry.facts);
        place.map(|place| self.packs.read(place)).transpose()
    }

    /// The symbols and the pieces of a file; nothing if they were not looked for yet.
    pub(crate) fn outline(&self, file: u32) -> Result<Option<Facts>, Fault> {
        let place = self.entries().get(file as usize).and_then(|entry| entry.facts);
        place.map(|place| self.packs.read_outline(place)).transpose()
    }

    /// The pieces of a file; nothing if they were not looked for yet.
    pub(crate) fn pieces(&self, file: u32) -> Result<Option<Vec<Chunk>>, Fault> {
        let place = self.entries().get(file as usize).and_then(|entry| entry.facts);
        place.map(|place| self.packs.read_pieces(place)).transpose()
    }

    /// Gives every file that has a word in a field of the text index, and how often.
    pub(crate) fn each_with(
        &self,
        field: Field,
        word: &str,
        mut take: impl FnMut(u32, u32),
    ) -> Result<(), Fault> {
        let Some(field) = self.fields.words.get(field as usize) else { return Ok(()) };
        let term = Term::from_field_text(*field, word);
        for segment in &self.segments {
            let words = segment.reader.inverted_index(*field)?;
            let postings = words.read_postings(&term, IndexRecordOption::WithFreqs);
            let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else { continue };
            while postings.doc() != TERMINATED {
                let file = segment.files[postings.doc() as usize];
                if file != NO_FILE {
                    take(file, postings.term_freq());
                }
                postings.advance();
            }
        }
        Ok(())
    }

    /// The files that have a word which contains a text, in the code or the comments. Some come more than once.
    ///
    /// All words are looked at: on several threads, each with the words that begin with some letters.
    pub(crate) fn containing(&self, part: &str) -> Result<Vec<u32>, Fault> {
        let fields = &self.fields.words[Field::Body as usize..TEXT_FIELDS.len()];
        let shares = || BOUNDS.windows(2).map(|pair| (pair[0], pair[1]));
        let each = self.segments.iter().flat_map(|segment| fields.iter().map(move |field| (segment, *field)));
        let tasks: Vec<_> = each.flat_map(|of| shares().map(move |share| (of, share))).collect();
        let is_small = self.entries().len() < FEW_FILES;
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_READERS);
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<u32>, Fault> {
            let finder = memchr::memmem::Finder::new(part);
            let mut files = Vec::new();
            while let Some(((segment, field), share)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                segment.containing(*field, *share, &finder, &mut files)?;
            }
            Ok(files)
        };
        if is_small || threads == 1 {
            return work();
        }
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut files = work()?;
            for other in others {
                files.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(files)
        })
    }
}

/// Words are shared out by their first letters: between each two of these.
const BOUNDS: [&str; 10] = ["", "a", "c", "e", "h", "l", "o", "s", "u", "\u{10ffff}"];

/// Threads that look at words.
const MAX_READERS: usize = 8;

/// So few files have so few words that one thread is quickest.
const FEW_FILES: usize = 1000;

impl Segment {
    /// Adds the files that have a word of a share which contains a text.
    fn containing(
        &self,
        field: tantivy::schema::Field,
        (from, to): (&str, &str),
        finder: &memchr::memmem::Finder<'_>,
        files: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        let words = self.reader.inverted_index(field)?;
        let stream = words.terms().range().ge(from).lt(to).into_stream();
        let mut stream = stream.map_err(tantivy::TantivyError::from)?;
        while stream.advance() {
            if finder.find(stream.key()).is_none() {
                continue;
            }
            let postings = words.read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic);
            let mut postings = postings.map_err(tantivy::TantivyError::from)?;
            while postings.doc() != TERMINATED {
                files.extend(Some(self.files[postings.doc() as usize]).filter(|file| *file != NO_FILE));
                postings.advance();
            }
        }
        Ok(())
    }
}

fn read_packs(catalogue: &Catalogue, packs: &Packs) -> Result<(Names, Vec<Piece>), Fault> {
    let mut names: Vec<(Box<str>, Defined)> = Vec::new();
    let mut chunks = Vec::new();
    for (file, entry) in (0..).zip(&catalogue.entries) {
        let Some(place) = entry.facts else { continue };
        let facts = packs.read_outline(place)?;
        for (place, symbol) in (0..).zip(facts.symbols) {
            names.push((symbol.name, Defined { file, place, kind: symbol.kind }));
        }
        chunks.extend((0..).zip(facts.chunks).map(|(place, chunk)| Piece { hash: chunk.hash, file, place }));
    }
    Ok((Names::new(names.iter().map(|(name, defined)| (&**name, *defined))), chunks))
}
