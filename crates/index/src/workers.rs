//! Many threads for many files, at low priority.
//!
//! Knows threads and nothing of files. Whatever one task does, the others go on, until one says that all is over.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::control::lock;
use crate::fault::Fault;

/// How much less urgent indexing is than what people wait for, as `nice` counts.
const NICE: i32 = 10;

/// Does a task for each item, on several threads, each with a state of its own. Ends with the first failure.
pub(crate) fn each<T: Sync, S>(
    threads: usize,
    items: &[T],
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, &T) -> Result<(), Fault> + Sync,
) -> Result<(), Fault> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Fault>> = Mutex::new(None);
    let work = || {
        let mut state = state();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(fault) = task(&mut state, item) {
                next.store(items.len(), Ordering::Relaxed);
                lock(&failure).get_or_insert(fault);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for number in 1..threads.clamp(1, items.len().max(1)) {
            let name = format!("index-{number}");
            let spawned = std::thread::Builder::new().name(name).spawn_scoped(scope, || {
                lower_priority();
                work();
            });
            if let Err(error) = spawned {
                // The rest of us does it alone.
                tracing::warn!(%error, "no thread for indexing");
            }
        }
        work();
    });
    failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Threads that work for a query.
const MAX_READERS: usize = 8;

/// Does a task for each item of a query, on several threads, each with a state of its own, and puts together what they
/// give, in no order.
pub(crate) fn gather<T: Sync, R: Send, S>(
    items: &[T],
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, &T) -> Result<Vec<R>, Fault> + Sync,
) -> Result<Vec<R>, Fault> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<R>, Fault> {
        let (mut state, mut found) = (state(), Vec::new());
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(task(&mut state, item)?);
        }
        Ok(found)
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = cores.min(MAX_READERS).min(items.len());
    std::thread::scope(|scope| {
        // Where there is no thread, the rest of us does it alone.
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(spawn).collect();
        let mut found = work()?;
        for other in others {
            found.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(found)
    })
}

/// Makes this thread, and those it starts, less urgent.
pub(crate) fn lower_priority() {
    // On Linux this is about the calling thread alone.
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "the priority of indexing stays as it is");
    }
}
