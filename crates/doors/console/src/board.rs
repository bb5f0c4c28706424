//! The questions that wait, of all sessions in memory, and the last ones that were answered.
//!
//! A list of ids to find a question's session by; what a question is about and whether it still waits, its session knows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::{ApprovalId, SessionId};

use crate::ids::{self, Meant};

/// Answered questions that can still be named: whoever answers late is told that somebody was first.
const ANSWERED: usize = 128;

/// The questions that wait, and the last ones that were answered.
#[derive(Debug, Default)]
pub(crate) struct Board {
    questions: Mutex<Questions>,
}

#[derive(Debug, Default)]
struct Questions {
    waiting: BTreeMap<ApprovalId, (SessionId, String)>,
    answered: VecDeque<(ApprovalId, SessionId)>,
}

impl Board {
    /// A question was asked; what it is about in a few words.
    pub(crate) fn asked(&self, approval: ApprovalId, session: SessionId, about: String) {
        self.lock().waiting.insert(approval, (session, about));
    }

    /// It waits no more.
    pub(crate) fn decided(&self, approval: ApprovalId) {
        let mut questions = self.lock();
        if let Some((session, _)) = questions.waiting.remove(&approval) {
            questions.remember(approval, session);
        }
    }

    /// Nothing of a session waits any more.
    pub(crate) fn settled(&self, session: SessionId) {
        let mut questions = self.lock();
        let gone: Vec<_> =
            questions.waiting.iter().filter(|(_, (of, _))| *of == session).map(|(id, _)| *id).collect();
        for approval in gone {
            questions.waiting.remove(&approval);
            questions.remember(approval, session);
        }
    }

    /// What waits, oldest first.
    pub(crate) fn waiting(&self) -> Vec<(ApprovalId, SessionId, String)> {
        let of = |(id, (session, about)): (&ApprovalId, &(SessionId, String))| (*id, *session, about.clone());
        self.lock().waiting.iter().map(of).collect()
    }

    /// Which question is meant, and whose it is. One that waits counts before those that were answered.
    pub(crate) fn meant(&self, typed: &str) -> Meant<(ApprovalId, SessionId)> {
        let questions = self.lock();
        let found = match ids::meant(typed, questions.waiting.keys().copied()) {
            Meant::None => ids::meant(typed, questions.answered.iter().map(|(id, _)| *id)),
            found => found,
        };
        let session = |id: &ApprovalId| {
            let waiting = questions.waiting.get(id).map(|(session, _)| *session);
            waiting.or_else(|| {
                questions.answered.iter().find(|(known, _)| known == id).map(|(_, session)| *session)
            })
        };
        match found {
            Meant::One(id) => session(&id).map_or(Meant::None, |session| Meant::One((id, session))),
            Meant::None => Meant::None,
            Meant::Several(count) => Meant::Several(count),
            Meant::TooShort => Meant::TooShort,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Questions {
    fn remember(&mut self, approval: ApprovalId, session: SessionId) {
        self.answered.push_back((approval, session));
        if self.answered.len() > ANSWERED {
            self.answered.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answered_question_can_still_be_named_for_a_while() {
        let board = Board::default();
        let (approval, session) = (ApprovalId::new(), SessionId::new());
        board.asked(approval, session, "x".to_owned());
        let typed = ids::short(&approval);
        assert_eq!(board.meant(&typed), Meant::One((approval, session)));
        board.decided(approval);
        assert_eq!(board.waiting(), []);
        assert_eq!(board.meant(&typed), Meant::One((approval, session)));
        for _ in 0..ANSWERED {
            let approval = ApprovalId::new();
            board.asked(approval, session, String::new());
            board.settled(session);
        }
        assert_eq!(board.meant(&approval.to_string()), Meant::None);
    }
}
