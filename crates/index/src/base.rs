//! A finished state as it is on disk, open for reading.
//!
//! Knows the files of the state, their words by way of the text index, their symbols by way of the packs. It never
//! changes: a new state is a new value, and whoever reads the old one goes on reading it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use crate::chunks::{Chunk, ChunkHash};
use crate::disk::catalogue::Catalogue;
use crate::disk::packs::Packs;
use crate::entry::Entry;
use crate::facts::Facts;
use crate::fault::Fault;
use crate::fields::{FIELDS, Field};
use crate::grams::{Grams, Run, SEARCHED, SegmentGrams};
use crate::names::{Defined, Names};
use crate::text::{TextFields, TextIndex};
use crate::workers;

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
    /// How many words each file has, by field: close together, since a ranking asks for those of many files.
    pub(crate) lengths: Vec<[u32; FIELDS]>,
    /// How many words all files have, by field.
    pub(crate) all_lengths: [u64; FIELDS],
}

/// A part of the text index.
struct Segment {
    reader: SegmentReader,
    /// By the number of a document: the number of its file, or [`NO_FILE`].
    files: Vec<u32>,
    /// Shared with other states that have this part.
    grams: Arc<SegmentGrams>,
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

/// What is known of a state's files before it is opened, from another state and what changed. What the other files
/// define is read from the packs.
#[derive(Debug, Default)]
pub(crate) struct Known<'a> {
    /// The files, by their keys.
    pub(crate) files: HashSet<u64>,
    /// What they define.
    pub(crate) names: Vec<(&'a str, Defined)>,
    pub(crate) chunks: Vec<Piece>,
}

impl Base {
    /// Opens the committed state of a build that is listed in a catalogue.
    pub(crate) fn open(
        build: &Path,
        text: Arc<TextIndex>,
        catalogue: Catalogue,
        known: Known<'_>,
    ) -> Result<Self, Fault> {
        let reader = text.reader()?;
        let by_key: std::collections::HashMap<u64, u32> =
            (0..).zip(&catalogue.entries).map(|(file, entry)| (entry.key, file)).collect();
        let mut segments: Vec<Segment> = Vec::new();
        let mut found = 0;
        for reader in reader.searcher().segment_readers() {
            let keys = reader.fast_fields().u64(TextIndex::KEY)?;
            let file_of = |document| {
                let key = keys.first(document).filter(|_| !reader.is_deleted(document));
                key.and_then(|key| by_key.get(&key)).copied().unwrap_or(NO_FILE)
            };
            let files: Vec<u32> = (0..reader.max_doc()).map(file_of).collect();
            found += files.iter().filter(|file| **file != NO_FILE).count();
            segments.push(Segment { reader: reader.clone(), files, grams: text.grams(reader.segment_id()) });
        }
        if found != catalogue.entries.len() {
            return Err(Fault::Damaged { path: build.to_owned() });
        }
        let packs = Packs::open(build, &catalogue.entries)?;
        let (names, chunks) = names_and_pieces(&catalogue, &packs, known)?;
        let fields = text.fields;
        let lengths: Vec<[u32; FIELDS]> = catalogue.entries.iter().map(|entry| entry.lengths).collect();
        let mut all_lengths = [0; FIELDS];
        for of_file in &lengths {
            all_lengths.iter_mut().zip(of_file).for_each(|(sum, length)| *sum += u64::from(*length));
        }
        Ok(Self {
            build: build.to_owned(),
            text,
            catalogue,
            segments,
            fields,
            packs,
            names,
            chunks,
            lengths,
            all_lengths,
        })
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
    pub(crate) fn containing(&self, part: &str) -> Result<Vec<u32>, Fault> {
        let lists: Vec<WordList<'_>> = self.segments.iter().flat_map(|segment| self.lists(segment)).collect();
        let grams = workers::gather(&lists, || (), |(), list| Ok(vec![(*list, list.grams()?)]))?;
        let mut tasks: Vec<(WordList<'_>, Run<'_>)> = Vec::new();
        for (list, grams) in grams {
            tasks.extend(grams.runs(part).into_iter().map(|run| (list, run)));
        }
        let finder = memchr::memmem::Finder::new(part);
        workers::gather(&tasks, || (), |(), (list, run)| list.containing(*run, &finder))
    }

    /// The words of the code and the comments of a segment.
    fn lists<'s>(&self, segment: &'s Segment) -> impl Iterator<Item = WordList<'s>> + use<'s> {
        let fields = self.fields.words;
        let lists = segment.grams.iter().zip(SEARCHED);
        lists.map(move |(grams, field)| WordList { segment, field: fields[field as usize], grams })
    }
}

/// The words of one field of a part of the text index.
#[derive(Clone, Copy)]
struct WordList<'s> {
    segment: &'s Segment,
    field: tantivy::schema::Field,
    grams: &'s OnceLock<Grams>,
}

impl<'s> WordList<'s> {
    /// The groups of letters in the words: looked for when they are first asked for.
    fn grams(&self) -> Result<&'s Grams, Fault> {
        if let Some(known) = self.grams.get() {
            return Ok(known);
        }
        let made = Grams::of(self.segment.reader.inverted_index(self.field)?.terms())?;
        Ok(self.grams.get_or_init(|| made))
    }

    /// The files that have a word of a run which contains a text.
    fn containing(
        &self,
        (from, to): Run<'_>,
        finder: &memchr::memmem::Finder<'_>,
    ) -> Result<Vec<u32>, Fault> {
        let words = self.segment.reader.inverted_index(self.field)?;
        let range = words.terms().range().ge(from);
        let range = match to {
            Some(to) => range.lt(to),
            None => range,
        };
        let mut stream = range.into_stream().map_err(tantivy::TantivyError::from)?;
        let mut files = Vec::new();
        while stream.advance() {
            if finder.find(stream.key()).is_none() {
                continue;
            }
            let postings = words.read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic);
            let mut postings = postings.map_err(tantivy::TantivyError::from)?;
            while postings.doc() != TERMINATED {
                let file = self.segment.files[postings.doc() as usize];
                files.extend(Some(file).filter(|file| *file != NO_FILE));
                postings.advance();
            }
        }
        Ok(files)
    }
}

/// What all files define, and their pieces, in order.
fn names_and_pieces(
    catalogue: &Catalogue,
    packs: &Packs,
    known: Known<'_>,
) -> Result<(Names, Vec<Piece>), Fault> {
    let Known { files, names, mut chunks } = known;
    let mut read: Vec<(Box<str>, Defined)> = Vec::new();
    for (file, entry) in (0..).zip(&catalogue.entries) {
        let Some(place) = entry.facts.filter(|_| !files.contains(&entry.key)) else { continue };
        let facts = packs.read_outline(place)?;
        for (place, symbol) in (0..).zip(facts.symbols) {
            let defined = Defined::of(file, place, &symbol);
            read.push((symbol.name, defined));
        }
        chunks.extend((0..).zip(facts.chunks).map(|(place, chunk)| Piece { hash: chunk.hash, file, place }));
    }
    chunks.sort_unstable();
    let read = read.iter().map(|(name, defined)| (&**name, *defined));
    Ok((Names::new(names.into_iter().chain(read)), chunks))
}
