//! What a client is told of what happens in its session.
//!
//! Pure: what the engine tells goes in with the moment it is told at, notifications come out in the order clients
//! count on. Knows the session's state by folding its events, as everybody does. Refuses to know connections, time
//! and disks.
//!
//! What always holds:
//! - every `turnStart` has one `turnEnd`, every `messageStart` one `messageEnd`, every `toolStart` one `toolEnd`,
//!   and messages do not overlap; deltas of a message joined are its `content`;
//! - the last `messageEnd` of a turn, its `turnEnd` and the marker are given together, so that they can be one write;
//! - the status is idle before the end of a turn is given out;
//! - a tool is told as started only once it may run; one that is refused is not told as started or ended;
//! - every turn has a message, and one that is cut ends with one: an empty one if the model was not speaking;
//! - a notification fits into [a client's line](wire::limits::CLIENT_LINE_BYTES), but for whole messages and files.

mod batch;
pub(crate) mod fit;
mod message;
pub(crate) mod moment;
pub(crate) mod names;
mod question;
mod said;
mod step;
#[cfg(test)]
mod tests;
mod tool;
mod turn;

use std::collections::BTreeSet;

use loggia_domain::{
    ApprovalId, ClientId, Event, EventBody, Passing, SessionId, Thinking, ThinkingControl, Timestamp, TurnId,
};
use loggia_engine::{Mask, Said as Spoken, State, Told};
use loggia_protocol_autohand::{self as wire, AgentStatus};
use tokio::time::Instant;

pub(crate) use said::{Said, notice};
pub(crate) use turn::end_of_turn;

use crate::approvals::Approvals;
use crate::launch::EndOfTurn;
use crate::preview::{Offer, Outcome};
use crate::state::Place;
use turn::Turn;

/// What is known of the model that replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelFacts {
    /// Its name, for people and for choosing it again.
    pub(crate) name: String,
    /// How many tokens it can look at.
    pub(crate) window: u64,
    /// Whether it can look at images.
    pub(crate) sees: bool,
    /// What it can be told about its thinking.
    pub(crate) thinking: ThinkingControl,
}

/// The circumstances in which something is told.
#[derive(Debug, Clone)]
pub(crate) struct Ear {
    /// Now, for what has no time of its own.
    pub(crate) now: Timestamp,
    /// Now, for what lasts a while.
    pub(crate) instant: Instant,
    /// How much the client wants to be asked.
    pub(crate) approvals: Approvals,
}

/// Who is told what of which session.
#[derive(Debug)]
pub(crate) struct Teller {
    session: SessionId,
    listener: ClientId,
    end_of_turn: EndOfTurn,
    /// The session as of the last event.
    pub(crate) state: State,
    /// The model that replies.
    pub(crate) model: ModelFacts,
    /// The one place for a turn.
    pub(crate) place: Place,
    /// What is wrong with the next prompt's images, to be told when its turn begins.
    pub(crate) preface: Vec<wire::ErrorParams>,
    /// The turn as the client knows it.
    turn: Option<Turn>,
    /// A batch that waits for its decision.
    pub(crate) offer: Option<Offer>,
    /// What became of the batch that was decided about last.
    pub(crate) outcome: Option<Outcome>,
    /// The turn that ended last, if it was aborted.
    pub(crate) aborted: Option<TurnId>,
    /// Tokens of the last exchange with the model.
    used: Option<u64>,
    /// Nothing more is told.
    quiet: bool,
    /// Hides secrets in what calls are told to be made with.
    mask: Mask,
}

impl Teller {
    /// For a client that has just come to a session that is in this state.
    pub(crate) fn new(
        session: SessionId,
        listener: ClientId,
        end_of_turn: EndOfTurn,
        state: State,
        model: ModelFacts,
        mask: Mask,
    ) -> Self {
        Self {
            session,
            listener,
            end_of_turn,
            state,
            model,
            place: Place::default(),
            preface: Vec::new(),
            turn: None,
            offer: None,
            outcome: None,
            aborted: None,
            used: None,
            quiet: false,
            mask,
        }
    }

    /// How much the model is told to think; nothing if that is left to it, or it cannot be told.
    pub(crate) fn thinking(&self) -> Option<Thinking> {
        self.state.thinking.filter(|thinking| self.model.thinking.takes(*thinking))
    }

    /// Tells one thing.
    pub(crate) fn tell(&mut self, told: &Told, ear: &Ear, said: &mut Said) {
        if self.quiet {
            if let Told::Event(event) = told {
                self.state.apply(event);
            }
            return;
        }
        match told {
            Told::Event(event) => {
                self.event(event, ear, said);
                self.state.apply(event);
                self.step_done(event.at, said);
            }
            Told::Reply(piece) => self.piece(piece, ear.now, said),
            Told::Passing(passing) => match &**passing {
                Passing::MessageStarted { message } => self.message_started(*message, ear.now, said),
                Passing::ToolOutput { call, stream, chunk } => {
                    self.tool_output(*call, *stream, chunk, ear.now, said);
                }
                Passing::ClientJoined { .. } | Passing::ClientLeft { .. } | Passing::Retrying { .. } => {}
            },
        }
    }

    /// What is under way when the client comes.
    pub(crate) fn arrive(&mut self, ear: &Ear, said: &mut Said) {
        let Some(open) = self.state.turn.clone() else { return };
        // Decided about as a whole by whoever was shown it; here it only keeps the next prompt waiting.
        if self.waits_for_batch() {
            return;
        }
        self.begin_turn(open.id, &open.instruction, &open.by, ear.now, said);
        for call in &open.calls {
            self.tool_requested(&call.call);
            if matches!(call.stage, loggia_engine::CallStage::Started(_)) {
                self.start_tool(call.call.id, ear.now, said);
            }
        }
        let pending: Vec<_> = self.state.pending.iter().map(|(id, pending)| (*id, pending.clone())).collect();
        for (approval, pending) in pending {
            if let Some(call) = pending.call {
                self.asked(approval, call, &pending.question, (pending.at, ear), said);
            }
        }
        self.step_done(ear.now, said);
    }

    fn event(&mut self, event: &Event, ear: &Ear, said: &mut Said) {
        let at = event.at;
        match &event.body {
            EventBody::TurnStarted { instruction, by, .. } => {
                if let Some(turn) = event.turn {
                    self.begin_turn(turn, instruction, by, at, said);
                }
            }
            EventBody::TurnContinued { by } => {
                let cut = self.state.cut.as_ref().map(|(cut, _)| (cut.id, cut.instruction.clone()));
                if let Some((turn, instruction)) = cut {
                    self.begin_turn(turn, &instruction, by, at, said);
                }
            }
            EventBody::MessageEnded { message, cut, usage } => {
                self.message_ended(message, *cut, usage, at, said);
            }
            EventBody::ToolRequested { call } => self.tool_requested(call),
            EventBody::ApprovalAsked { approval, call: Some(call), question, .. } => {
                self.asked(*approval, *call, question, (at, ear), said);
            }
            EventBody::ApprovalAsked { approval, call: None, .. } => self.offered(*approval, at, said),
            EventBody::ApprovalDecided { approval, answer, .. } => self.decided(*approval, answer),
            EventBody::ToolStarted { call, .. } => self.start_tool(*call, at, said),
            EventBody::CallChanged { call, arguments, .. } => self.call_changed(*call, arguments),
            EventBody::ToolEnded { call, outcome, files, command, milliseconds } => {
                let ended = tool::Ended { outcome, files, is_command: command.is_some(), milliseconds };
                self.tool_ended(*call, &ended, at, said);
            }
            EventBody::ChangeCollected { patch, .. } => self.collected(*patch, at, said),
            EventBody::PatchApplied { patch, change, .. } => {
                self.applied(*patch, change.as_ref(), at, said);
            }
            EventBody::PatchDropped { patch, failure } => self.dropped(*patch, failure),
            EventBody::TurnEnded { end, usage, .. } => self.turn_ended(event.turn, end, *usage, at, said),
            EventBody::SessionOpened { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::ModelChanged { .. }
            | EventBody::ModelSwitched { .. }
            | EventBody::InstructionsChanged { .. }
            | EventBody::ThinkingChanged { .. }
            | EventBody::SessionClosed { .. }
            | EventBody::InstructionQueued { .. }
            | EventBody::ContextUpdated { .. }
            | EventBody::Retrieved { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::PatchProposed { .. }
            | EventBody::FilesChanged { .. }
            | EventBody::BatchStarted { .. }
            | EventBody::BatchEnded { .. }
            | EventBody::CheckpointTaken { .. }
            | EventBody::Undone { .. }
            | EventBody::Redone { .. }
            | EventBody::HistoryCompacted { .. }
            | EventBody::Task(_) => {}
        }
    }

    /// What the agent is doing.
    pub(crate) fn status(&self) -> AgentStatus {
        let asked = self.turn.as_ref().is_some_and(|turn| !turn.questions.is_empty());
        self.place.status(asked)
    }

    /// The turn that is being told, as clients call it.
    pub(crate) fn turn_id(&self) -> Option<wire::TurnId> {
        self.turn.as_ref().map(|turn| wire::TurnId(turn.id.to_string()))
    }

    /// Whether a turn is over but for the decision about what it collected.
    pub(crate) fn waits_for_batch(&self) -> bool {
        self.batch_question().is_some()
    }

    /// The question about what a turn collected.
    pub(crate) fn batch_question(&self) -> Option<ApprovalId> {
        self.state.pending.iter().find(|(_, pending)| pending.call.is_none()).map(|(id, _)| *id)
    }

    /// Questions about calls that nobody has answered.
    pub(crate) fn questions(&self) -> BTreeSet<ApprovalId> {
        let pending = self.state.pending.iter();
        pending.filter(|(_, pending)| pending.call.is_some()).map(|(id, _)| *id).collect()
    }

    /// The share of the model's window that is left, in percent.
    pub(crate) fn context_percent(&self) -> u64 {
        let used = self.tokens_used().saturating_mul(100).checked_div(self.model.window).unwrap_or(0);
        100_u64.saturating_sub(used)
    }

    /// How many tokens the conversation takes: as the model said, else as a guess.
    pub(crate) fn tokens_used(&self) -> u64 {
        self.used.unwrap_or_else(|| {
            let bytes: usize = self.state.history.items().iter().map(|item| length(&item.said)).sum();
            bytes as u64 / BYTES_PER_TOKEN
        })
    }

    /// Ends what is being told, and tells nothing after it.
    pub(crate) fn fall_silent(&mut self, now: Timestamp, said: &mut Said) {
        if self.turn.is_some() {
            let usage = self.state.turn.as_ref().map(|turn| turn.usage).unwrap_or_default();
            self.close_turn(&turn::Closing::aborted(usage), now, said);
        }
        self.quiet = true;
    }
}

/// What tokenizers come to on code and English, within a fifth or so.
const BYTES_PER_TOKEN: u64 = 4;

/// Providers charge up to some 1,600 tokens for an image.
const BYTES_PER_IMAGE: usize = 6400;

/// How long something is that was said, in bytes.
fn length(said: &Spoken) -> usize {
    match said {
        Spoken::User { instruction, .. } => {
            let context = instruction.context.as_ref().map_or(0, |context| context.0.len());
            instruction.text.len() + context + instruction.images.len() * BYTES_PER_IMAGE
        }
        Spoken::Context(context) => context.0.len(),
        Spoken::Assistant { message, .. } => {
            message.text.len() + message.calls.iter().map(|call| call.arguments.0.len()).sum::<usize>()
        }
        Spoken::Tool { outcome, .. } => crate::messages::outcome_text(outcome).len(),
        Spoken::Notice(text) | Spoken::Summary(text) => text.len(),
    }
}
