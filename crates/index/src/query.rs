//! Queries: what is asked, answered from one snapshot.
//!
//! Knows the ways of looking, each in a file of its own. Queries only read. The order of an answer depends on the files
//! and the query alone, so an index that was brought up to date answers as one that was built anew.

mod excerpt;
mod filter;
mod lines;
mod literals;
mod symbols;
mod uses;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};

use loggia_domain::{CodeFinding, CodeQuery, IndexError, QueryKind, TextMatch};
use loggia_tree::Root;

use crate::fault::Fault;
use crate::snapshot::Snapshot;

/// How long a query may be.
const MAX_QUERY: usize = 8 * 1024;

/// How many findings a query may ask for.
const MAX_LIMIT: usize = 1000;

/// Somebody looking at a state.
#[derive(Debug)]
pub(crate) struct Search<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) root: &'s Root,
    /// Set when nobody waits any more.
    pub(crate) stop: &'s AtomicBool,
}

impl Search<'_> {
    /// Answers a query.
    pub(crate) fn find(&self, query: &CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        if query.text.trim().is_empty() {
            return Err(IndexError::BadQuery("it is empty".to_owned()));
        }
        if query.text.len() > MAX_QUERY {
            return Err(IndexError::BadQuery(format!("it has over {MAX_QUERY} bytes")));
        }
        let query = CodeQuery { limit: query.limit.min(MAX_LIMIT), ..query.clone() };
        match (query.kind, query.matching) {
            (QueryKind::Symbols, _) => self.symbols(&query),
            (QueryKind::Text, TextMatch::Words) => self.words(&query),
            (QueryKind::Text, TextMatch::Phrase | TextMatch::Regex) => self.lines(&query),
            (QueryKind::Vectors, _) => Err(IndexError::NoVectors(
                "no embedder is set up; text and symbols are searched without".to_owned(),
            )),
            (QueryKind::Fused, _) => self.words(&query),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn unavailable(fault: Fault) -> IndexError {
    IndexError::Unavailable(fault.to_string())
}
