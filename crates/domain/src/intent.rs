//! What clients ask of a session.

use crate::{
    ApprovalAnswer, ApprovalId, CallId, CommandExit, ContentHash, Instruction, JsonText, ModelName,
    OwnInstructions, PatchId, Seq, Thinking, TurnId,
};

/// What a client asks of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Begin a turn.
    Prompt {
        /// What is asked of the agent.
        instruction: Instruction,
        /// What to do while another turn runs.
        when_busy: WhenBusy,
    },
    /// More about the client's surroundings, for the next step of the running turn.
    UpdateContext {
        /// As in an instruction.
        context: JsonText,
    },
    /// End the running turn.
    Cancel {
        /// Why, for the journal.
        reason: Option<String>,
    },
    /// Answer a question.
    Decide {
        /// Which.
        approval: ApprovalId,
        /// The answer.
        answer: ApprovalAnswer,
    },
    /// Answer the question about a call: yes, but with other arguments. What the policy denies stays denied; where it
    /// would ask, this is the answer.
    DecideInstead {
        /// Which.
        approval: ApprovalId,
        /// With what the call is to be made.
        arguments: JsonText,
    },
    /// Let a turn that is taken step by step go on after a step, or end it there.
    DecideStep {
        /// Which step, counted from 1.
        step: u32,
        /// Whether the turn ends.
        stop: bool,
    },
    /// What became of a patch this client was to apply.
    ReportPatch {
        /// Which.
        patch: PatchId,
        /// What became of it.
        report: PatchReport,
    },
    /// What became of a command this client was to run.
    ReportCommand {
        /// The call.
        call: CallId,
        /// What became of it.
        report: CommandReport,
    },
    /// Go on with a turn that was cut.
    Continue,
    /// Give the session a name.
    Rename {
        /// The name.
        title: String,
    },
    /// Use another model from the next step on.
    SetModel {
        /// Which.
        model: ModelName,
    },
    /// Tell the model something of the session's own from the next step on.
    SetInstructions {
        /// What; nothing leaves it with what every model is told.
        instructions: OwnInstructions,
    },
    /// Have the model think more, or less, from the next step on.
    SetThinking {
        /// How much; nothing to leave it to the model.
        thinking: Option<Thinking>,
    },
    /// Take back the last changes, and the conversation with them.
    Undo {
        /// How many turns that changed something.
        steps: usize,
    },
    /// Take back undoing.
    Redo {
        /// How many.
        steps: usize,
    },
    /// End the session for good.
    Close,
}

/// What to do with a prompt while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// Refuse it.
    Refuse,
    /// Keep it for the next turn.
    Queue,
}

/// What became of a patch a client was to apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchReport {
    /// It is in the file.
    Applied {
        /// What the file holds now, if the client said.
        hash: Option<ContentHash>,
    },
    /// The file was not what the patch was made for.
    Conflict,
    /// It could not be written.
    Failed {
        /// What the client said.
        message: String,
    },
}

/// What became of a command a client was to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReport {
    /// How it ended.
    pub exit: CommandExit,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

/// What an intent led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted {
    /// The last event it caused; where there was none, the session's last one.
    pub seq: Seq,
    /// The turn it began or continues.
    pub turn: Option<TurnId>,
}
