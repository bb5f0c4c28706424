//! Whether the other end is still there, and what to do to find out.

use loggia_protocol_agent_server::{HELLO_DEADLINE, PING_INTERVAL, SILENCE_DEADLINE};
use tokio::time::Instant;

/// When something was last heard.
#[derive(Debug)]
pub(super) struct Pulse {
    heard: Instant,
    asked: Option<Instant>,
    greeted: bool,
}

/// What to do when nothing happened for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Ask whether it is there.
    Ping,
    /// It is not.
    Dead,
}

impl Pulse {
    pub(super) fn new() -> Self {
        Self { heard: Instant::now(), asked: None, greeted: false }
    }

    /// Something came, or we have just begun to read again.
    pub(super) fn beat(&mut self) {
        self.heard = Instant::now();
        self.asked = None;
    }

    /// The server has said hello.
    pub(super) fn greeted(&mut self) {
        self.greeted = true;
    }

    /// When to look again, if nothing comes.
    pub(super) fn next_look(&self) -> Instant {
        match (self.greeted, self.asked) {
            (false, _) => self.heard + HELLO_DEADLINE,
            (true, None) => self.heard + PING_INTERVAL,
            (true, Some(asked)) => (self.heard + SILENCE_DEADLINE).min(asked + PING_INTERVAL),
        }
    }

    /// That moment has come.
    pub(super) fn look(&mut self) -> Check {
        if !self.greeted || self.heard.elapsed() >= SILENCE_DEADLINE {
            return Check::Dead;
        }
        self.asked = Some(Instant::now());
        Check::Ping
    }
}
