//! The rpc door: clients of the Autohand protocol drive sessions over any byte stream.
//!
//! Knows the protocol's calls and notifications, the order in which clients count on them, and how such a client is
//! started. Refuses to know what a session decides: every call becomes one of the engine, every event a
//! notification, and the translation of events is pure. Refuses to know where bytes come from: whoever
//! accepts a connection or owns the standard streams hands over a reader and a writer.
//!
//! What always holds:
//! - `agentStart` is the first line and `agentEnd` the last; between them every `turnStart` has one `turnEnd`;
//! - a prompt is answered before its turn is told, and the status is idle by the time its `turnEnd` can be read;
//! - `abort`, `getState` and answers to questions never wait behind another call;
//! - the first decision about a question holds, whichever door it came through; later ones are told so;
//! - a client that does not read, or sends nonsense, takes a bounded amount of memory and disturbs nobody else;
//! - end of input or a request to stop ends everything within [`EXIT_BUDGET`](loggia_protocol_autohand::limits::EXIT_BUDGET).

mod approvals;
mod calls;
mod commands;
mod door;
mod framing;
mod images;
mod kept;
mod launch;
mod life;
mod messages;
mod pending;
mod place;
mod preview;
mod prompt;
mod pump;
mod serve;
mod state;
mod tell;
mod thinking;

pub use approvals::{Approvals, Yolo, YoloError};
pub use door::Parts;
pub use kept::{Kept, Returned, keep};
pub use launch::{EndOfTurn, Launch, LaunchError, PermissionTimers, Remark, StartWith};
pub use serve::{Exit, refuse, serve};
pub use thinking::Level;
