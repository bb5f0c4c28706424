//! Rounds, medians and tables.

use std::time::Duration;

/// The middle of the measured values.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

/// Requests per second.
pub fn rate(requests: usize, took: Duration) -> f64 {
    requests as f64 / took.as_secs_f64()
}

/// Resident memory of this process in KiB, page by page. Exact, where [`memory`] reads counters that lag behind by
/// some hundred KiB on every core; takes longer.
pub fn resident() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = rollup.lines().find(|line| line.starts_with("Rss:"));
    line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// Resident memory of this process in KiB, and the most it ever was.
pub fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    (field("VmRSS:").unwrap_or(0), field("VmHWM:").unwrap_or(0))
}
