//! Facts about a session.
//!
//! Durable events are stored before anybody is told of them and have a sequence number. Passing ones tell of work
//! under way; the durable event that ends that work carries the whole of it.

use crate::{
    Actor, ApprovalAnswer, ApprovalId, AssistantMessage, BatchId, Budget, CallId, CheckpointId, Client,
    CommandSummary, Executor, FileChange, Instruction, JsonText, MessageId, ModelName, ObservedChange,
    OutputStream, OwnInstructions, Patch, PatchFailure, PatchId, Plan, Preset, Question, RetrievalStage,
    Risk, Seq, SessionId, TaskEvent, Thinking, Timestamp, ToolCall, ToolOutcome, TurnEnd, TurnId, Usage,
    WorkspaceId,
};

/// One stored fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place in the journal.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// The turn it belongs to, if any.
    pub turn: Option<TurnId>,
    /// What happened.
    pub body: EventBody,
}

/// A fact that is about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened.
    pub at: Timestamp,
    /// The turn it belongs to, if any.
    pub turn: Option<TurnId>,
    /// What happened.
    pub body: EventBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventBody {
    /// The session began. Always the first event.
    SessionOpened {
        /// Where it works.
        workspace: WorkspaceId,
        /// Its name, if it was given one.
        title: Option<String>,
        /// Its model, if one was chosen.
        model: Option<ModelName>,
        /// Its preset, if not the workspace's.
        preset: Option<Preset>,
        /// What it may use up.
        budget: Budget,
        /// The session and event it was split from, if it was.
        forked_from: Option<(SessionId, Seq)>,
        /// Who opened it.
        by: Actor,
    },
    /// It got another name.
    SessionRenamed {
        /// The new one.
        title: String,
        /// Who named it.
        by: Actor,
    },
    /// It got another model.
    ModelChanged {
        /// The new one.
        model: ModelName,
        /// Why, when nobody asked for it: a fallback.
        reason: Option<String>,
        /// Who changed it.
        by: Actor,
    },
    /// Another model replies than the session's, because that one does not. The session's model stays what it is.
    ModelSwitched {
        /// The model that would have replied.
        from: ModelName,
        /// The model that replies.
        to: ModelName,
        /// Why.
        reason: String,
    },
    /// Its model is told something of the session's own.
    InstructionsChanged {
        /// What.
        instructions: OwnInstructions,
        /// Who changed it.
        by: Actor,
    },
    /// Its model is to think more, or less.
    ThinkingChanged {
        /// How much; nothing if that is left to the model.
        thinking: Option<Thinking>,
        /// Who changed it.
        by: Actor,
    },
    /// It ended for good.
    SessionClosed {
        /// Who closed it.
        by: Actor,
    },
    /// An instruction waits for the running turn to end.
    InstructionQueued {
        /// The instruction.
        instruction: Instruction,
        /// Who gave it.
        by: Actor,
    },
    /// A turn began.
    TurnStarted {
        /// With this instruction.
        instruction: Instruction,
        /// Who gave it.
        by: Actor,
        /// The event with which it was queued, if it was.
        queued: Option<Seq>,
    },
    /// A client told more about its surroundings while a turn ran.
    ContextUpdated {
        /// As in an instruction.
        context: JsonText,
        /// Who told it.
        by: Actor,
    },
    /// A turn that was cut goes on.
    TurnContinued {
        /// Who asked for it.
        by: Actor,
    },
    /// Relevant code was looked for.
    Retrieved {
        /// Where.
        stage: RetrievalStage,
        /// How many findings.
        results: u32,
    },
    /// The agent said what it is going to do.
    PlanChanged {
        /// The plan as it is now.
        plan: Plan,
    },
    /// A model's reply is complete, or as complete as it will get.
    MessageEnded {
        /// The reply.
        message: AssistantMessage,
        /// Whether it was cut before its end.
        cut: bool,
        /// What it used.
        usage: Usage,
    },
    /// A tool is to be called.
    ToolRequested {
        /// The call.
        call: ToolCall,
    },
    /// A change is proposed.
    PatchProposed {
        /// The change.
        patch: Patch,
    },
    /// People are asked.
    ApprovalAsked {
        /// The question's id.
        approval: ApprovalId,
        /// The call that needs it; nothing if a collection of changes is asked about.
        call: Option<CallId>,
        /// What is asked.
        question: Question,
        /// How much can go wrong.
        risk: Risk,
        /// When the policy stops waiting, if it does.
        expires: Option<Timestamp>,
    },
    /// The first answer came in.
    ApprovalDecided {
        /// The question.
        approval: ApprovalId,
        /// The answer.
        answer: ApprovalAnswer,
        /// Whose.
        by: Actor,
    },
    /// Somebody who was asked about a call wants it made with other arguments. The answer, a yes, comes with it, after
    /// it; what follows of the call is about these arguments.
    CallChanged {
        /// The call.
        call: CallId,
        /// With what it is made.
        arguments: JsonText,
        /// Who changed it.
        by: Actor,
    },
    /// A tool began to run.
    ToolStarted {
        /// The call.
        call: CallId,
        /// Who runs it.
        executor: Executor,
    },
    /// A tool has run, or will not.
    ToolEnded {
        /// The call.
        call: CallId,
        /// How it ended.
        outcome: ToolOutcome,
        /// The files it changed.
        files: Vec<FileChange>,
        /// How the command ended, if it ran one.
        command: Option<CommandSummary>,
        /// How long it took, in milliseconds.
        milliseconds: u64,
    },
    /// A command changed files. They are covered by the turn's checkpoint.
    FilesChanged {
        /// The call.
        call: CallId,
        /// Each of them.
        changes: Vec<ObservedChange>,
        /// How many more changed than are listed, or could not be kept for undoing.
        beyond_undo: u64,
        /// Whether commands of other sessions ran in the workspace at the same time: some of it may be theirs.
        shared: bool,
    },
    /// A change is in its file.
    PatchApplied {
        /// The change.
        patch: PatchId,
        /// Which of its hunks; nothing if all of them.
        hunks: Option<Vec<usize>>,
        /// Who wrote it.
        executor: Executor,
        /// What happened to the file; nothing if a client wrote it and the disk does not show it.
        change: Option<FileChange>,
    },
    /// A change is not in its file and will not be.
    PatchDropped {
        /// The change.
        patch: PatchId,
        /// Why.
        failure: PatchFailure,
    },
    /// Changes are collected from here on.
    BatchStarted {
        /// The collection.
        batch: BatchId,
    },
    /// A change was collected.
    ChangeCollected {
        /// The collection.
        batch: BatchId,
        /// The change.
        patch: PatchId,
    },
    /// The collection is complete.
    BatchEnded {
        /// The collection.
        batch: BatchId,
    },
    /// Files were kept as they are before the turn's first write.
    CheckpointTaken {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// Files and conversation went back to before a checkpoint.
    Undone {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The files that changed by it.
        files: Vec<FileChange>,
        /// Who asked for it.
        by: Actor,
    },
    /// An undo was taken back.
    Redone {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The files that changed by it.
        files: Vec<FileChange>,
        /// Who asked for it.
        by: Actor,
    },
    /// Old history was replaced by a summary for the model.
    HistoryCompacted {
        /// The last event the summary covers.
        through: Seq,
        /// The summary.
        summary: String,
        /// What the model used to write it.
        usage: Usage,
    },
    /// A turn ended.
    TurnEnded {
        /// How.
        end: TurnEnd,
        /// What it used in all.
        usage: Usage,
        /// Who ended it, if somebody did: by cancelling it, by closing the session, or by leaving.
        by: Option<Actor>,
    },
    /// Something happened to the task that the session is there for.
    Task(TaskEvent),
}

/// What is told and not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passing {
    /// Somebody came.
    ClientJoined {
        /// Who.
        client: Client,
    },
    /// Somebody went.
    ClientLeft {
        /// Who.
        client: Client,
    },
    /// The model is asked again after an error.
    Retrying {
        /// What went wrong.
        message: String,
        /// Which attempt comes next; the first was 1.
        attempt: u32,
        /// How long until then, in milliseconds.
        wait: u64,
    },
    /// A model began to reply.
    MessageStarted {
        /// The reply.
        message: MessageId,
    },
    /// A command wrote something.
    ToolOutput {
        /// The call.
        call: CallId,
        /// Where to.
        stream: OutputStream,
        /// What.
        chunk: String,
    },
}
