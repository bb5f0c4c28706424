//! The engine: durable sessions, turns, tools under a policy, approvals, patches, commands, undo.
//!
//! Knows what an agent server decides. Refuses to know wire protocols, and how models, stores, tools and runners
//! work inside: they fill the domain's traits and are named only by whoever wires them together.
//!
//! What always holds:
//! - a session's journal is the only truth about it; its state is a pure fold over the journal;
//! - what a client was told is stored, and survives `kill -9`;
//! - files change only here, under the policy, all or none, and can be put back as they were;
//! - a question waits until it is answered, across restarts; the first answer holds.

mod agents;
pub mod changes;
mod counts;
mod desks;
pub mod dialogs;
mod engine;
mod error;
pub mod observe;
mod parts;
mod policies;
pub mod policy;
pub mod secrets;
mod session;
pub mod tasks;
pub mod trust;
mod turn;
mod workspace;

pub use agents::AgentError;
pub use counts::Counts;
pub use desks::MessageAccess;
pub use dialogs::DialogBoard;
pub use engine::{
    Activity, Arrivals, Engine, LookError, MAX_IMAGE_NAME, MAX_IMAGES, MAX_IMAGES_BYTES, Mask, NewSession,
    SearchError, chosen_model,
};
pub use error::{EngineError, IntentError};
pub use parts::{
    DeskToolMaker, DeskTools, Desks, IndexFinder, MessageDeskFinder, NoGuests, Parts, RepositoryFinder,
    Settings, SourceMaker, ToolMaker,
};
pub use session::{
    Batch, CallStage, FeedClosed, History, HistoryItem, MAX_APPLIED, OnLeave, OpenCall, OpenTurn, Opened,
    Orphans, Pending, Queued, ReplyPiece, Said, Seat, StandIn, State, Status, Subscription, Told, UndoStack,
    Undoable, can_remember,
};
pub use tasks::{NoRepository, Tasks, task_line};
