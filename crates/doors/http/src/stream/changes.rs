//! Changed files on their way from a client to the index of its workspace.
//!
//! Knows paths. Whoever hands some over never waits: an index that is busy would keep a client's answers and its stop
//! from being heard. What always holds: the index is told of one lot of a client's at a time; what comes meanwhile waits
//! as a set of at most [`MAX_PATHS`], beyond which the index looks at all files instead, so nothing is lost; what was
//! handed over is told to the index also when the client has gone, until the stop.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{CodeIndex, IndexError};
use loggia_protocol_agent_server::ErrorCode;
use tokio::sync::mpsc;

use crate::door::Inner;
use crate::stream::socket::complaint;
use crate::to_wire::fault;

/// How many changed files wait by name: as many as an index keeps so itself.
const MAX_PATHS: usize = 10_000;

/// The path that stands for all files there are.
const EVERYTHING: &str = "";

/// The changes of one client.
#[derive(Clone)]
pub(super) struct Changes(Arc<Shared>);

struct Shared {
    index: Arc<dyn CodeIndex>,
    waiting: Mutex<Waiting>,
    answers: mpsc::WeakSender<String>,
}

#[derive(Debug, Default)]
struct Waiting {
    paths: BTreeSet<String>,
    /// Whether somebody tells the index, and will look here when that is done.
    is_told: bool,
}

impl Changes {
    /// Changes for an index. What goes wrong is told as an answer, while the client is there.
    pub(super) fn new(index: Arc<dyn CodeIndex>, answers: &mpsc::Sender<String>) -> Self {
        Self(Arc::new(Shared { index, waiting: Mutex::default(), answers: answers.downgrade() }))
    }

    /// Hands changed files over.
    pub(super) fn hand_over(&self, inner: &Inner, paths: Vec<String>) {
        let is_told = {
            let mut waiting = self.0.waiting();
            waiting.add(paths);
            std::mem::replace(&mut waiting.is_told, true)
        };
        if !is_told {
            let (changes, stop) = (self.clone(), inner.parts.stop.clone());
            inner.streams.spawn(async move {
                stop.run_until_cancelled(changes.tell()).await;
            });
        }
    }

    /// Tells the index until nothing waits any more.
    async fn tell(self) {
        while let Some(paths) = self.0.take() {
            if let Err(error) = self.0.index.changed(paths).await {
                self.0.complain(&error);
            }
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the index is told next. When there is nothing, whoever hands over next has it told.
    fn take(&self) -> Option<Vec<String>> {
        let mut waiting = self.waiting();
        waiting.is_told = !waiting.paths.is_empty();
        waiting.is_told.then(|| std::mem::take(&mut waiting.paths).into_iter().collect())
    }

    /// Tells the client. One with many answers to read hears of the next failure.
    fn complain(&self, error: &IndexError) {
        tracing::debug!(%error, "an index did not take changed files");
        let text = || complaint(fault(ErrorCode::RetrievalFailed, error.to_string(), None, true));
        if let Some(answers) = self.answers.upgrade() {
            let _ = answers.try_send(text());
        }
    }
}

impl Waiting {
    fn add(&mut self, paths: Vec<String>) {
        self.paths.extend(paths);
        if self.paths.len() > MAX_PATHS {
            self.paths = BTreeSet::from([EVERYTHING.to_owned()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_a_bounded_set() {
        let mut waiting = Waiting::default();
        waiting.add(vec!["b".to_owned(), "a".to_owned(), "b".to_owned()]);
        assert!(waiting.paths.iter().eq(["a", "b"]));
        waiting.add((2..MAX_PATHS).map(|number| number.to_string()).collect());
        assert_eq!(waiting.paths.len(), MAX_PATHS);
        waiting.add(vec!["one more".to_owned()]);
        assert!(waiting.paths.iter().eq([EVERYTHING]));
        waiting.add(vec!["c".to_owned()]);
        assert!(waiting.paths.iter().eq([EVERYTHING, "c"]));
    }
}
