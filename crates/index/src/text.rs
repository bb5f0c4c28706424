//! The text index: which file holds which word, how often, in which field.
//!
//! Knows tantivy, and is the only file that does besides [`crate::base`]. Words come in as words: nothing here splits
//! text, so files, changes in memory and queries agree on what a word is. There are no positions, which make an index
//! four times as large; tantivy's own query parser would turn identifiers into phrases and drop them without a word,
//! so queries are built by hand, from terms.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;
use tantivy::schema::{
    FAST, Field as TextField, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use crate::control::lock;
use crate::fault::{AtFile, Fault};
use crate::fields::{Field, TEXT_FIELDS};
use crate::grams::SegmentGrams;

const TOKENIZER: &str = "lines";

/// The words of one file, for the text index.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct FileWords {
    /// By field: words, one a line.
    lines: [String; TEXT_FIELDS.len()],
    /// By field: how many.
    pub(crate) counts: [u32; TEXT_FIELDS.len()],
}

impl FileWords {
    /// Adds a word. Names of definitions are not for the text index.
    pub(crate) fn push(&mut self, field: Field, word: &str) {
        if let Some(lines) = self.lines.get_mut(field as usize) {
            lines.push_str(word);
            lines.push('\n');
            self.counts[field as usize] += 1;
        }
    }

    /// Every word with its field.
    pub(crate) fn each(&self, mut take: impl FnMut(Field, &str)) {
        for (field, lines) in TEXT_FIELDS.into_iter().zip(&self.lines) {
            lines.split_terminator('\n').for_each(|word| take(field, word));
        }
    }

    /// Forgets the words and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.lines.iter_mut().for_each(String::clear);
        self.counts = [0; TEXT_FIELDS.len()];
    }
}

/// The fields of the text index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextFields {
    pub(crate) key: TextField,
    pub(crate) words: [TextField; TEXT_FIELDS.len()],
}

/// A text index on disk.
#[derive(Debug)]
pub(crate) struct TextIndex {
    index: Index,
    pub(crate) fields: TextFields,
    /// What is known of the words of each part, as long as some state has the part.
    grams: Mutex<HashMap<SegmentId, Weak<SegmentGrams>>>,
}

impl TextIndex {
    /// The name of the field that holds a file's key.
    pub(crate) const KEY: &'static str = "key";

    /// Makes an empty one.
    pub(crate) fn create(directory: &Path) -> Result<Self, Fault> {
        std::fs::create_dir(directory).at(directory)?;
        let (schema, fields) = schema();
        let index = Index::builder().schema(schema).create_in_dir(directory)?;
        Ok(Self::with(index, fields))
    }

    /// Opens one that was made, after looking at every byte of it.
    pub(crate) fn open(directory: &Path) -> Result<Self, Fault> {
        let mapped = MmapDirectory::open(directory).map_err(tantivy::TantivyError::from)?;
        let index = Index::open(mapped)?;
        let (schema, fields) = schema();
        if index.schema() != schema || !index.validate_checksum()?.is_empty() {
            return Err(Fault::Damaged { path: directory.to_owned() });
        }
        Ok(Self::with(index, fields))
    }

    fn with(index: Index, fields: TextFields) -> Self {
        index.tokenizers().register(TOKENIZER, TextAnalyzer::from(Lines));
        Self { index, fields, grams: Mutex::default() }
    }

    /// What is known of the words of a part.
    pub(crate) fn grams(&self, part: SegmentId) -> Arc<SegmentGrams> {
        let mut all = lock(&self.grams);
        all.retain(|_, known| known.strong_count() > 0);
        if let Some(known) = all.get(&part).and_then(Weak::upgrade) {
            return known;
        }
        let unknown = Arc::default();
        all.insert(part, Arc::downgrade(&unknown));
        unknown
    }

    /// What the last commit said of itself.
    pub(crate) fn payload(&self) -> Result<Option<String>, Fault> {
        Ok(self.index.load_metas()?.payload)
    }

    /// The last committed state, for reading.
    pub(crate) fn reader(&self) -> Result<IndexReader, Fault> {
        Ok(self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?)
    }

    /// Begins to write, with so many threads and about so much memory.
    pub(crate) fn writer(&self, threads: usize, memory: usize) -> Result<TextWriter, Fault> {
        let writer = self.index.writer_with_num_threads(threads, memory)?;
        Ok(TextWriter { writer, fields: self.fields })
    }
}

/// Changes to a text index that nobody sees before they are committed.
pub(crate) struct TextWriter {
    writer: IndexWriter,
    fields: TextFields,
}

impl std::fmt::Debug for TextWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextWriter").finish_non_exhaustive()
    }
}

impl TextWriter {
    /// Adds a file.
    pub(crate) fn add(&self, key: u64, words: &FileWords) -> Result<(), Fault> {
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.key, key);
        for (field, lines) in self.fields.words.into_iter().zip(&words.lines) {
            if !lines.is_empty() {
                document.add_text(field, lines);
            }
        }
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove(&self, key: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.key, key));
    }

    /// Makes all of it the current state, with a word about it, and waits for what tidies up behind it.
    pub(crate) fn commit(mut self, payload: &str) -> Result<(), Fault> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(payload);
        prepared.commit()?;
        self.writer.wait_merging_threads()?;
        Ok(())
    }
}

fn schema() -> (Schema, TextFields) {
    let mut builder = Schema::builder();
    // The lengths that ranking needs are in the catalogue, exactly; tantivy's would be rounded.
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let words = || TextOptions::default().set_indexing_options(indexing.clone());
    let key = builder.add_u64_field(TextIndex::KEY, FAST | INDEXED);
    let words = [builder.add_text_field("path", words()), builder.add_text_field("body", words()), {
        builder.add_text_field("comments", words())
    }];
    (builder.build(), TextFields { key, words })
}

/// Gives tantivy the words that it is handed, one a line.
#[derive(Debug, Clone)]
struct Lines;

struct LineStream<'t> {
    rest: &'t str,
    token: Token,
}

impl Tokenizer for Lines {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LineStream<'a> {
        LineStream { rest: text, token: Token::default() }
    }
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(end) = memchr::memchr(b'\n', self.rest.as_bytes()) else { return false };
        self.token.text.clear();
        self.token.text.push_str(&self.rest[..end]);
        self.token.position = self.token.position.wrapping_add(1);
        self.rest = &self.rest[end + 1..];
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
