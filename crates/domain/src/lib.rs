//! Loggia's words as plain types.
//!
//! Knows what a session, an event, an approval and a patch are, and what the engine needs of a store. Refuses to know how anything is stored, sent or shown: no type here derives serde, and no wire
//! protocol's field name appears. Uses nothing of ours.
//!
//! What always holds:
//! - ids are the same text on every door: a prefix that says what they name, then a UUIDv7;
//! - an event is an immutable fact with a sequence number that only rises; what is not worth keeping is a
//!   [`Passing`] and has none;
//! - free-form JSON (tool arguments) stays text in [`JsonText`] and is parsed by whoever owns it.

mod approval;
mod client;
mod event;
mod id;
mod json;
mod message;
mod patch;
mod plan;
mod session;
mod store;
mod time;
mod tool;
mod turn;
mod workspace;

pub use approval::{ApprovalAnswer, ApprovalScope, Question, Remember, Risk};
pub use client::{Actor, Client, Door, Role};
pub use event::{Event, EventBody, NewEvent, Passing};
pub use id::{
    ApprovalId, BatchId, CallId, CheckpointId, ClientId, IdError, MessageId, PatchId, SessionId, TurnId,
    WorkspaceId,
};
pub use json::JsonText;
pub use message::{AssistantMessage, ToolCall};
pub use patch::{ContentHash, FileChange, FileChangeKind, Hunk, Patch, PatchFailure};
pub use plan::{Plan, PlanStep};
pub use session::{Budget, Seq, SessionSummary};
pub use store::{BlobError, BoxFuture, Page, RunningReply, SessionQuery, Store, StoreError};
pub use time::Timestamp;
pub use tool::{Executor, OutputStream, ToolOutcome};
pub use turn::{Instruction, ModelName, RetrievalStage, TurnEnd, TurnFailure, Usage};
pub use workspace::{Preset, Workspace};
