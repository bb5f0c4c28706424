//! What a session is doing and how many are on it, to be looked at without asking its task.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::session::state::Status;

/// Written by the session's task alone.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    status: AtomicU8,
    clients: AtomicUsize,
}

impl Presence {
    pub(super) fn set_status(&self, status: Status) {
        let number = match status {
            Status::Idle => 0,
            Status::Running => 1,
            Status::Waiting => 2,
            Status::Closed => 3,
        };
        self.status.store(number, Ordering::Relaxed);
    }

    pub(super) fn set_clients(&self, clients: usize) {
        self.clients.store(clients, Ordering::Relaxed);
    }

    pub(crate) fn status(&self) -> Status {
        match self.status.load(Ordering::Relaxed) {
            1 => Status::Running,
            2 => Status::Waiting,
            3 => Status::Closed,
            _ => Status::Idle,
        }
    }

    pub(crate) fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }
}
