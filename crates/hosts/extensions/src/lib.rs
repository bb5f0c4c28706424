//! Hosts Hermes extensions: starts them, speaks to them, serves what they ask and offers their commands.
//!
//! Knows the processes of extensions, the protocol's order of things and what existing extensions cannot cope with.
//! Refuses to know what a message is and who the people are: the open message is a [`loggia_domain::MessageDesk`], people
//! are a [`loggia_domain::Dialogs`], and settings, directories and the answer to "is this workspace trusted?" arrive as
//! values.
//!
//! What always holds:
//! - making a host and listing its extensions starts none. An extension runs only if it is enabled and, where a
//!   workspace brought it, trusted at that moment. One that failed or was stopped starts again only when somebody says so;
//! - every request of an extension gets one answer, also while it is being stopped. Calls that read or change the
//!   message apply in the order in which they came; the others wait for nobody;
//! - an extension whose request about the message is not answered yet is told nothing else meanwhile, and no command
//!   begins before the one before it has come to rest: published extensions lose what reaches them in between;
//! - what waits for an extension is bounded. One that does not read is given up, and disturbs no other;
//! - nothing is left of an extension that ended or was stopped: no process, no window, nothing laid over the schema.

mod check;
mod context;
mod entry;
mod error;
mod events;
mod extension;
mod extensions;
mod guest;
mod limits;
mod log;
mod mailbox;
mod offer;
mod overlay;
mod serve;
mod starters;
mod traffic;
mod turns;
mod windows;
mod words;

pub use check::{Case, CheckOptions, Outcome, Report, USUAL_MESSAGE, check};
pub use context::TrustQuestion;
pub use entry::{EntryError, ExtensionEntry};
pub use extensions::{Extensions, HostSettings};
pub use limits::Limits;
pub use starters::{Language, Starter, StarterError, StarterFile};
