//! What the last commits changed: a hint for looking in the index.
//!
//! Git takes some ten milliseconds, which no turn should wait for: what was known a moment ago is told, and git is asked
//! again beside the turn. Only the first turn in a workspace waits, and not long. Where there is no repository, nothing is known.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loggia_domain::{PastChange, Repository, RepositoryError};
use tokio::time::Instant;

use crate::engine::Shared;

/// How many commits are known: what was changed for the same words is rarely farther back, and git tells so many in some
/// ten milliseconds.
const COMMITS: usize = 500;

/// How many are asked for where that takes too long.
const FEW: usize = 10;

/// How long git may take: a hint of a hint is not waited for, and neither is it by an engine that ends.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long what git said is not asked again.
const FRESH: Duration = Duration::from_secs(3);

/// What is known of the last commits of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Commits(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The latest first.
    changes: Arc<[PastChange]>,
    /// When git was last asked.
    asked: Option<Instant>,
}

impl Commits {
    /// What the last commits changed, as far as that is known by now.
    pub(crate) async fn lately(&self, shared: &Shared, repository: Arc<dyn Repository>) -> Arc<[PastChange]> {
        let asked = {
            let mut known = lock(&self.0);
            let asked = known.asked;
            if asked.is_none_or(|asked| asked.elapsed() >= FRESH) {
                known.asked = Some(Instant::now());
                drop(known);
                let asking = shared.tasks.spawn(ask(repository, Arc::clone(&self.0)));
                // What cannot be waited for has ended, and then nothing is known.
                asked.is_none().then_some(asking)
            } else {
                None
            }
        };
        if let Some(asking) = asked {
            drop(asking.await);
        }
        Arc::clone(&lock(&self.0).changes)
    }
}

/// Asks git, and keeps what it says. Where it takes long to tell many, as in a very large repository, it is asked for few.
async fn ask(repository: Arc<dyn Repository>, known: Arc<Mutex<Known>>) {
    for commits in [COMMITS, FEW] {
        match tokio::time::timeout(PATIENCE, repository.lately(commits)).await {
            Ok(Ok(changes)) => lock(&known).changes = changes.into(),
            Ok(Err(RepositoryError::NoRepository(_))) => lock(&known).changes = Arc::default(),
            Ok(Err(error)) => tracing::debug!(%error, "no commits to learn from"),
            Err(_) => {
                tracing::debug!(commits, "git took too long to tell the last commits");
                continue;
            }
        }
        return;
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
