//! The same work on many things, on a few threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::bounds::READERS;

/// Fewer things than this are done at once, without threads: starting one costs as much as reading some files.
const FEW: usize = 16;

/// Does `work` on each thing, until `stop` or the first error. Gives what was done, each with its index, in no
/// order, and the error.
pub(super) fn for_each<T: Sync, R: Send, E: Send>(
    things: &[T],
    stop: &AtomicBool,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> (Vec<(usize, R)>, Option<E>) {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let run = || {
        let mut done = Vec::new();
        while !stop.load(Ordering::Relaxed) && !has_failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(index) else { break };
            match work(thing) {
                Ok(result) => done.push((index, result)),
                Err(error) => {
                    has_failed.store(true, Ordering::Relaxed);
                    return (done, Some(error));
                }
            }
        }
        (done, None)
    };
    if things.len() < FEW {
        return run();
    }
    let readers = thread::available_parallelism().map_or(1, |count| count.get().min(READERS));
    thread::scope(|scope| {
        let others: Vec<_> = (1..readers).map(|_| scope.spawn(run)).collect();
        let (mut done, mut first) = run();
        for other in others {
            let (more, error) = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            done.extend(more);
            first = first.or(error);
        }
        (done, first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once() {
        for count in [0, 1, FEW, 1000] {
            let things: Vec<usize> = (0..count).collect();
            let (mut done, error) =
                for_each(&things, &AtomicBool::new(false), |thing| Ok::<_, ()>(thing * 2));
            done.sort_unstable();
            assert_eq!(done, things.iter().map(|thing| (*thing, thing * 2)).collect::<Vec<_>>());
            assert_eq!(error, None);
        }
    }

    #[test]
    fn a_stop_keeps_what_was_done() {
        let stop = AtomicBool::new(false);
        let (done, error) = for_each(&[0, 1, 2, 3], &stop, |thing| {
            stop.store(*thing == 1, Ordering::Relaxed);
            Ok::<_, ()>(*thing)
        });
        assert_eq!((done, error), (vec![(0, 0), (1, 1)], None));
    }

    #[test]
    fn the_first_error_ends_it_and_keeps_what_was_done() {
        let work = |thing: &usize| if *thing == 2 { Err("two") } else { Ok(*thing) };
        let (done, error) = for_each(&[0, 1, 2, 3], &AtomicBool::new(false), work);
        assert_eq!((done, error), (vec![(0, 0), (1, 1)], Some("two")));
        let things: Vec<usize> = (0..1000).collect();
        let (done, error) = for_each(&things, &AtomicBool::new(false), work);
        assert!(done.len() < things.len());
        assert_eq!(error, Some("two"));
    }
}
