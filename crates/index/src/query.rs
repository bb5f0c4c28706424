//! Queries: what is asked, answered from one snapshot.
//!
//! Knows the ways of looking, each in a file of its own. Queries only read. The order of an answer depends on the files
//! and the query alone, so an index that was brought up to date answers as one that was built anew.

mod excerpt;
mod filter;
mod fused;
mod history;
mod lines;
mod literals;
mod question;
mod retrieve;
mod sought;
mod symbols;
mod together;
mod uses;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};

use loggia_domain::{CodeFinding, CodeQuery, IndexError, QueryKind, TextMatch};
use loggia_tree::Root;

use crate::fault::Fault;
use crate::query::filter::PathFilter;
use crate::snapshot::Snapshot;
use crate::vectors::Similar;

/// How long a query may be.
pub(crate) const MAX_QUERY: usize = 8 * 1024;

/// Somebody looking at a state.
#[derive(Debug)]
pub(crate) struct Search<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) root: &'s Root,
    /// Set when nobody waits any more.
    pub(crate) stop: &'s AtomicBool,
}

impl Search<'_> {
    /// Answers a query. What is similar to it comes from whoever has vectors; nothing if nobody has.
    pub(crate) fn find(
        &self,
        query: &CodeQuery,
        similar: Option<&[Similar]>,
    ) -> Result<Vec<CodeFinding>, IndexError> {
        let query = checked(query)?;
        match (query.kind, query.matching) {
            (QueryKind::Symbols, _) => self.symbols(&query),
            (QueryKind::Text, TextMatch::Words) => self.words(&query),
            (QueryKind::Text, TextMatch::Phrase | TextMatch::Regex) => self.lines(&query),
            (QueryKind::Vectors, _) => match similar {
                Some(similar) => self.pieces(&query, similar),
                None => Err(no_vectors()),
            },
            (QueryKind::Fused, _) => self.together(&query, similar.unwrap_or(&[])),
        }
    }

    /// Which files have one of these paths, as a query names them.
    pub(crate) fn wanted_files(&self, paths: &[String]) -> Result<impl Fn(u32) -> bool, IndexError> {
        let filter = PathFilter::new(paths)?;
        Ok(move |file| self.is_wanted(file, &filter))
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A query within bounds.
pub(crate) fn checked(query: &CodeQuery) -> Result<CodeQuery, IndexError> {
    if query.text.trim().is_empty() {
        return Err(IndexError::BadQuery("it is empty".to_owned()));
    }
    if query.text.len() > MAX_QUERY {
        return Err(IndexError::BadQuery(format!("it has over {MAX_QUERY} bytes")));
    }
    Ok(CodeQuery { limit: query.limit.min(CodeQuery::MAX_LIMIT), ..query.clone() })
}

/// What is said where there is no embedder.
pub(crate) fn no_vectors() -> IndexError {
    IndexError::NoVectors("no embedder is set up; text and symbols are searched without".to_owned())
}

fn unavailable(fault: Fault) -> IndexError {
    IndexError::Unavailable(fault.to_string())
}
