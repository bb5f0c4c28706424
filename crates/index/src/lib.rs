//! A code index: symbols, text and vectors of one workspace, built once, kept fresh, ranked together.
//!
//! Fills [`loggia_domain::CodeIndex`]. Knows files, words, definitions and vectors; has never heard of sessions, turns or
//! models. Reads the workspace through its handle ([`loggia_tree::Root`]) and writes in one directory of its own, which
//! is handed to it. No server is needed, and nothing leaves the machine except what an embedder that was set up is given.
//!
//! # How it is made
//!
//! - **A file** becomes words and facts. `inspect` reads it and says whether it is a text that people search; what is
//!   skipped has a reason. `words` cuts it into words that know code, `fields` tells code from comments without a
//!   grammar. `parse` walks a syntax tree once and finds definitions and uses of names, by the tables of `grammar`.
//! - **A state** (`base`) is all files at one time, on disk: words in an inverted index (`text`), facts in packs, and
//!   a catalogue that lists both (`disk`). It is written beside the last one and takes its place with one rename.
//! - **A change** does not make a new state at once. The file is analysed and kept in memory, beside the state, and both
//!   are searched as one (`snapshot`). When changes are many, or no more come, they are written.
//! - **One thread** (`keeper`) makes changes and states; others only read. A build has workers at low priority, can be
//!   held up and ended, and tells how far it is (`control`).
//! - **A query** (`query`) sees one snapshot. What was changed before for the same words counts, if whoever asks tells it. Scores are computed here and not by the inverted index, from counts of the
//!   files that are really there: an index that was brought up to date answers as one that was built anew, to the bit.
//!
//! # What always holds
//!
//! - Readers never wait for a build, and see the last finished state until there is a new one.
//! - A crash at any time leaves the last finished state, or none if there never was one.
//! - One process owns an index. One that is damaged, or of another version, is built anew, and why is told.
//! - One bad file never fails a build.
//! - No change is lost: what came behind a build that had looked already, what failed, and what the file system had no room
//!   to tell is looked for again, the whole tree through, later each time it fails.
//! - A content hash decides whether a file changed. Times only say which files need not be read again, and only if they
//!   are old enough to prove anything.
//! - What is bounded: the size of a file and the time it is parsed, the words of a query, the changes in memory
//!   (`keeper::MAX_DELTA`), the memory of a build, the packs on disk. What grows with the workspace: the catalogue
//!   (some hundred and twenty bytes a file) and the names of definitions (about forty bytes a name), both in memory, and, once a
//!   phrase was looked for, what is known of the words of the text (about three bytes a word).

mod analyse;
mod base;
mod chunks;
mod control;
mod disk;
mod entry;
mod facts;
mod fault;
mod fields;
mod grammar;
mod grams;
mod inbox;
mod index;
mod inspect;
mod keeper;
mod language;
mod names;
mod numbers;
mod parse;
mod query;
mod rank;
mod settings;
mod snapshot;
mod survey;
mod text;
mod tuning;
mod vectors;
mod watch;
mod words;
mod workers;

pub use fault::OpenError;
pub use index::FileIndex;
pub use settings::IndexSettings;
pub use tuning::{Tuning, Way};
pub use vectors::Making;
pub use watch::{Watch, WatchError};
