//! Sessions on disk: journals, listings and the tail of running replies in SQLite, blobs in files beside it.
//!
//! Fills [`loggia_domain::Store`]. Knows rows, transactions and files; refuses to know what events mean beyond what
//! a listing shows of them. One process owns a store at a time, by a lock that goes with the process.
//!
//! What always holds:
//! - an event is acknowledged only after the transaction that holds it is on disk;
//! - events appended together are all there or none; so is a journal that is imported or forked;
//! - one thread writes; appends that arrive while it commits go into its next commit together;
//! - a database that is damaged, newer than this program or not ours is refused and left as it is.

mod blobs;
mod lines;
mod lock;
mod open;
mod read;
mod rows;
mod schema;
mod sqlite;
mod write;

pub use open::OpenError;
pub use sqlite::SqliteStore;
