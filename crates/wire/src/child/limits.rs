//! What a program may use up.
//!
//! The keeper sets these on itself before it starts the program, which inherits them; they bind the keeper too,
//! so none may be smaller than what a keeper needs to start it.

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::codec::{Reader, Writer};

/// What a program may use up. What is not given is as it is for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// How large a core dump may be, in bytes.
    pub core: Option<u64>,
    /// How much address space each of its processes may have, in bytes.
    pub memory: Option<u64>,
    /// How many processes the user it runs as may have, ours included.
    pub processes: Option<u64>,
    /// How early it is killed when memory runs out, from 0 to 1000. Only Linux knows this.
    pub oom_score: Option<u16>,
}

impl Limits {
    /// Sets them on the calling process, which finds itself below `proc`.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "only Linux lists processes there")
    )]
    pub(super) fn apply(&self, proc: &Path) -> std::io::Result<()> {
        let all =
            [(Resource::Core, self.core), (Resource::As, self.memory), (Resource::Nproc, self.processes)];
        for (resource, limit) in all {
            let Some(limit) = limit else { continue };
            // A limit we are under already cannot be widened, and need not be.
            let limit = getrlimit(resource).maximum.map_or(limit, |maximum| limit.min(maximum));
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
        #[cfg(target_os = "linux")]
        if let Some(score) = self.oom_score {
            // Somebody may have made us an earlier victim already; that is not undone.
            let file = proc.join("self/oom_score_adj");
            let now: i32 = std::fs::read_to_string(&file)?.trim().parse().unwrap_or(0);
            if now < i32::from(score) {
                std::fs::write(file, score.to_string())?;
            }
        }
        Ok(())
    }

    pub(super) fn encode(&self, out: &mut Writer) {
        for limit in [self.core, self.memory, self.processes, self.oom_score.map(u64::from)] {
            out.maybe(limit.as_ref(), |out, limit| out.number(*limit));
        }
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Option<Self> {
        let [core, memory, processes, oom_score] = [
            from.maybe(Reader::number)?,
            from.maybe(Reader::number)?,
            from.maybe(Reader::number)?,
            from.maybe(Reader::number)?,
        ];
        let oom_score = oom_score.map(u16::try_from).transpose().ok()?;
        Some(Self { core, memory, processes, oom_score })
    }
}
