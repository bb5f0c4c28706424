//! An index as somebody sees it who may read only some of the files.
//!
//! What always holds: nothing is told of a file that may not be read, and such files take no place from others, unless
//! they are more than an index finds at once.

use crate::BoxFuture;
use crate::index::{CodeFinding, CodeIndex, CodeQuery, CodeReference, IndexError, ReferenceQuery};

/// How many times as much is asked for where files that may not be read took the room of others.
const MORE: usize = 4;

/// An index, as far as files may be read.
#[derive(Clone, Copy)]
pub struct ReadableCode<'i> {
    index: &'i dyn CodeIndex,
    may_read: &'i (dyn Fn(&str) -> bool + Send + Sync),
}

impl<'i> ReadableCode<'i> {
    /// The index to whoever may read only the files of which this is true, by their paths.
    #[must_use]
    pub fn new(index: &'i dyn CodeIndex, may_read: &'i (dyn Fn(&str) -> bool + Send + Sync)) -> Self {
        Self { index, may_read }
    }

    /// Looks for code.
    pub async fn search(&self, query: CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        let ask = |limit| self.index.search(CodeQuery { limit, ..query.clone() });
        self.readable(query.limit, |found| &found.path, ask).await
    }

    /// Finds where a name is used.
    pub async fn references(&self, query: ReferenceQuery) -> Result<Vec<CodeReference>, IndexError> {
        let ask = |limit| self.index.references(ReferenceQuery { limit, ..query.clone() });
        self.readable(query.limit, |found| &found.path, ask).await
    }

    /// Asks for more and more until there are enough that may be read, or there are no more.
    async fn readable<T>(
        &self,
        limit: usize,
        path: impl Fn(&T) -> &str,
        ask: impl Fn(usize) -> BoxFuture<'i, Result<Vec<T>, IndexError>>,
    ) -> Result<Vec<T>, IndexError> {
        let mut asked = limit;
        loop {
            let mut found = ask(asked).await?;
            let are_all = found.len() < asked || asked >= CodeQuery::MAX_LIMIT;
            found.retain(|found| (self.may_read)(path(found)));
            if are_all || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
            asked = asked.saturating_mul(MORE).min(CodeQuery::MAX_LIMIT);
        }
    }
}

impl std::fmt::Debug for ReadableCode<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadableCode").finish_non_exhaustive()
    }
}
