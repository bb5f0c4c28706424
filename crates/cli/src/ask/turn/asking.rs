//! What the agent asks during a turn, and who answers it.
//!
//! What always holds: one question is shown at a time, and one that somebody else has answered goes. What a turn asks that
//! is not ours is answered by a key or not at all.

use loggia_protocol_agent_server::SessionStateUpdate;

use super::super::Approvals;
use super::super::question::{Decision, Pressed, Question};
use super::super::view::View;
use super::{Said, Turn};
use crate::CliError;

/// Why a question was answered without a key.
const NOBODY_THERE: &str = ": there is no keyboard to ask at";

impl Turn<'_, '_> {
    /// A question came.
    pub(super) fn put(&mut self, question: Question) -> Result<(), CliError> {
        if self.interrupted {
            return Ok(());
        }
        match self.approvals {
            Approvals::Yes => self.answer_unasked(question, Decision::yes(), ""),
            Approvals::ReadOnly => self.answer_unasked(question, Decision::no(), ": nothing may be changed"),
            Approvals::Elsewhere => {
                self.face.person(|view| view.asked_elsewhere(&question))?;
                self.questions.push_back(question);
                Ok(())
            }
            Approvals::Ask if self.face.can_ask() && self.keys.are_there() => {
                self.questions.push_back(question);
                self.ask(false)
            }
            Approvals::Ask if !self.is_ours() => Err(CliError::UnderWay),
            Approvals::Ask => self.answer_unasked(question, Decision::no(), NOBODY_THERE),
        }
    }

    fn answer_unasked(&mut self, question: Question, decision: Decision, why: &str) -> Result<(), CliError> {
        self.face.decided(Some(&question), &decision, why)?;
        self.answer(question, &decision);
        Ok(())
    }

    /// Asks the first question, if it is not asked already.
    pub(super) fn ask(&mut self, again: bool) -> Result<(), CliError> {
        if self.approvals != Approvals::Ask || self.is_shown && !again {
            return Ok(());
        }
        if self.questions.is_empty() {
            self.keys.rest();
            return Ok(());
        }
        if !self.keys.listen().map_err(CliError::Keyboard)? {
            if !self.is_ours() {
                return Err(CliError::UnderWay);
            }
            let all = std::mem::take(&mut self.questions);
            return all
                .into_iter()
                .try_for_each(|question| self.answer_unasked(question, Decision::no(), NOBODY_THERE));
        }
        if let Some(question) = self.questions.front() {
            let first = !self.is_shown;
            self.is_shown = true;
            self.face.person(|view| view.ask(question, first))?;
        }
        Ok(())
    }

    pub(super) fn press(&mut self, key: crate::Key) -> Result<(), CliError> {
        let Some(question) = self.questions.front_mut() else { return Ok(()) };
        match question.press(key) {
            Pressed::Decided(decision) => {
                self.is_shown = false;
                self.left_out += decision.hunks_left_out();
                if let Some(question) = self.questions.pop_front() {
                    self.face.decided(None, &decision, "")?;
                    self.answer(question, &decision);
                }
                self.ask(false)
            }
            Pressed::Show => self.face.person(|view| view.show(question)),
            Pressed::Hunk { taken } => self.face.person(|view| view.show_hunk(question, taken)),
            Pressed::Back => self.face.person(|view| {
                view.unask()?;
                view.ask(question, false)
            }),
            Pressed::Nothing => Ok(()),
        }
    }

    fn answer(&mut self, question: Question, decision: &Decision) {
        let speaker = self.stream.speaker().clone();
        let response = decision.response(&question.id);
        self.says.spawn(async move {
            let sent = speaker.answer(response).await;
            Said::Answer(Box::new(question), sent)
        });
    }

    /// Takes away the questions that somebody else has answered, and says who.
    pub(super) fn settle(&mut self, update: &SessionStateUpdate) -> Result<(), CliError> {
        let is_open = |question: &Question| update.state.pending_approvals.contains(&question.id);
        self.answered.retain(|(_, question)| is_open(question));
        if self.questions.iter().all(is_open) {
            return Ok(());
        }
        if self.questions.front().is_some_and(|question| !is_open(question)) {
            self.is_shown = false;
            self.face.person(View::unask)?;
        }
        let decided = update.decided.as_ref();
        let decided = decided.filter(|by| self.questions.iter().any(|question| question.id == by.request_id));
        if let Some(by) = decided {
            self.face.person(|view| view.decided_by(&by.decided_by, by.approved, by.in_part))?;
        }
        self.questions.retain(is_open);
        self.ask(false)
    }
}
