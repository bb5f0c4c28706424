//! Questions a client has heard of, by all their names.
//!
//! A question about a command goes by the command, one about changes also by each of them. The session knows those
//! names only while the question is open; an answer that comes too late is still about something.

use std::collections::VecDeque;

use loggia_domain::{ApprovalId, CallId, EventBody, PatchId, Question};
use loggia_engine::State;

use crate::to_wire::COMMAND_PREFIX;

/// How many questions are remembered: far more than can be on the way when another client decides.
const MOST: usize = 256;

/// What an answer can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Request(ApprovalId),
    Command(CallId),
    Patch(PatchId),
}

impl Name {
    /// Reads a name; nothing if it is none of ours.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix(COMMAND_PREFIX) {
            return format!("{}{digits}", CallId::PREFIX).parse().ok().map(Self::Command);
        }
        let request = text.parse().ok().map(Self::Request);
        request.or_else(|| text.parse().ok().map(Self::Patch))
    }

    /// Whether a question goes by this name.
    pub(super) fn fits(self, approval: ApprovalId, call: Option<CallId>, question: &Question) -> bool {
        match (self, question) {
            (Self::Request(id), _) => id == approval,
            (Self::Command(id), Question::Command { .. }) => Some(id) == call,
            (Self::Patch(id), Question::Patches { patches, .. }) => patches.contains(&id),
            (Self::Command(_) | Self::Patch(_), _) => false,
        }
    }
}

/// A question's names.
#[derive(Debug)]
struct Names {
    approval: ApprovalId,
    command: Option<CallId>,
    patches: Vec<PatchId>,
}

/// The last questions a client has heard of.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    questions: VecDeque<Names>,
}

impl Heard {
    /// What is open in a state.
    pub(crate) fn of(state: &State) -> Self {
        let mut heard = Self::default();
        for (approval, pending) in &state.pending {
            heard.add(*approval, pending.call, &pending.question);
        }
        heard
    }

    /// Takes an event in.
    pub(crate) fn note(&mut self, body: &EventBody) {
        if let EventBody::ApprovalAsked { approval, call, question, .. } = body {
            self.add(*approval, *call, question);
        }
    }

    fn add(&mut self, approval: ApprovalId, call: Option<CallId>, question: &Question) {
        if self.questions.len() == MOST {
            self.questions.pop_front();
        }
        let (command, patches) = match question {
            Question::Command { .. } => (call, Vec::new()),
            Question::Patches { patches, .. } => (None, patches.clone()),
            Question::Tool { .. } => (None, Vec::new()),
        };
        self.questions.push_back(Names { approval, command, patches });
    }

    /// The question with a name.
    pub(super) fn find(&self, name: Name) -> Option<ApprovalId> {
        let fits = |names: &&Names| match name {
            Name::Request(id) => id == names.approval,
            Name::Command(id) => Some(id) == names.command,
            Name::Patch(id) => names.patches.contains(&id),
        };
        self.questions.iter().rev().find(fits).map(|names| names.approval)
    }
}
