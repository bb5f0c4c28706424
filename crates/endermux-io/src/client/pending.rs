//! Which answer is whose.
//!
//! Invariant: a request ends once: with its answer, or when it is forgotten. An answer nobody waits for is nobody's.

use std::collections::HashMap;

use loggia_protocol_endermux::RequestId;

/// Requests that wait, each with whatever waits for it.
#[derive(Debug)]
pub(super) struct Pending<T> {
    next: u64,
    waiting: HashMap<RequestId, T>,
}

impl<T> Pending<T> {
    pub(super) fn new() -> Self {
        Self { next: 1, waiting: HashMap::new() }
    }

    /// Adds a request and gives it an id.
    pub(super) fn add(&mut self, waiter: T) -> RequestId {
        let id = RequestId(self.next.to_string());
        self.next += 1;
        self.waiting.insert(id.clone(), waiter);
        id
    }

    /// Whoever waits for this answer, to be told more than once.
    pub(super) fn get(&self, id: &RequestId) -> Option<&T> {
        self.waiting.get(id)
    }

    /// Whoever waits for this answer.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<T> {
        self.waiting.remove(id)
    }

    /// Nobody waits any more.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_goes_to_its_request_once() {
        let mut pending = Pending::new();
        let first = pending.add("first");
        let second = pending.add("second");
        assert_ne!(first, second);
        assert_eq!(pending.take(&second), Some("second"));
        assert_eq!(pending.take(&second), None);
        assert_eq!(pending.get(&first), Some(&"first"));
        pending.clear();
        assert_eq!(pending.take(&first), None);
        assert_eq!(pending.take(&"unknown".into()), None);
    }
}
