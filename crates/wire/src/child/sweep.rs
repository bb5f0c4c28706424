//! Finding processes again: our descendants, and those a former life of ours may have left.
//!
//! A process id alone is not an identity: the system gives it to somebody else one day. Together with the
//! start time it is.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// One process, told apart from others that had or will have its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessMark {
    /// The process id.
    pub pid: i32,
    /// When it started, in the system's clock ticks since boot.
    pub start_time: u64,
}

impl ProcessMark {
    /// The mark of a running process; nothing where the system does not tell start times.
    pub fn of(pid: i32) -> Option<Self> {
        let start_time = read_stat(pid)?.start_time;
        Some(Self { pid, start_time })
    }

    /// Kills this process, its group and everything below it, if it still is the same process; whether it was.
    pub fn kill_family(&self) -> bool {
        if Self::of(self.pid) != Some(*self) {
            return false;
        }
        // Listed before the first dies: an orphan's parent is somebody else.
        let below = Pid::from_raw(self.pid).map(descendants_of).unwrap_or_default();
        let killed = self.kill_group();
        for descendant in below {
            let _ = kill_process(descendant, Signal::KILL);
        }
        killed
    }

    /// Kills the process group this process leads, if it still is the same process; whether it was.
    ///
    /// This is the second net, for a daemon that starts and finds in its records a group whose keeper was killed.
    pub fn kill_group(&self) -> bool {
        if Self::of(self.pid) != Some(*self) {
            return false;
        }
        match Pid::from_raw(self.pid) {
            Some(pid) => kill_process_group(pid, Signal::KILL).is_ok(),
            None => false,
        }
    }
}

struct Stat {
    parent: i32,
    start_time: u64,
}

/// Reads `/proc/<pid>/stat`. The second field is the program's name in parentheses and may hold anything, so
/// counting begins after the last of them.
fn read_stat(pid: i32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&text)
}

fn parse_stat(text: &str) -> Option<Stat> {
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let start_time = fields.nth(17)?.parse().ok()?;
    Some(Stat { parent, start_time })
}

/// Whether the system lists its processes.
pub(super) fn can_list() -> bool {
    std::path::Path::new("/proc/self/stat").exists()
}

/// Every process below this one, children before grandchildren.
pub(super) fn descendants_of(ancestor: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let processes: Vec<(i32, i32)> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, read_stat(pid)?.parent)))
        .collect();
    let mut found = vec![ancestor.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(processes.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_read_past_any_program_name() {
        let text = "42 (a) b) S) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 1 2 3";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.parent, stat.start_time), (7, 123_456));
        assert!(parse_stat("42 (cut").is_none());
    }

    #[test]
    fn a_mark_is_only_that_process() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mark = ProcessMark::of(own).unwrap();
        assert_eq!(ProcessMark::of(own), Some(mark));
        let stranger = ProcessMark { start_time: mark.start_time + 1, ..mark };
        assert!(!stranger.kill_group(), "a process that started at another time is another process");
    }
}
