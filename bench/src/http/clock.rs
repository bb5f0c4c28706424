//! Clocks that several processes share, and what processes used.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the clock that all processes of a machine share.
pub(super) fn now() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// The CPU time of this process in nanoseconds, all threads together.
pub(super) fn cpu() -> u64 {
    nanoseconds(ClockId::ProcessCPUTime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let time = Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0));
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The value that so many of a hundred stay under.
pub(super) fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values
        .get((values.len() * percent / 100).min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}
