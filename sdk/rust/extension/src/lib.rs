//! Write Hermes extensions in Rust: say what it has, and hand it to [`run`].
//!
//! ```no_run
//! use loggia_extension_kit::protocol::MessageFormat;
//! use loggia_extension_kit::{Extension, run, set};
//!
//! fn main() -> std::process::ExitCode {
//!     let extension = Extension::new("Shout", "1.0.0").button("shout/name", "Write it large", |host| {
//!         let message = host.get_message(MessageFormat::Hl7)?;
//!         host.patch([set("PID.5.1", message.message.to_uppercase())])?;
//!         host.show_message("Done")
//!     });
//!     run(extension)
//! }
//! ```
//!
//! Knows the conversation: frames, the handshake, requests, events and the end. Refuses to know hosts and what a message is.
//! It blocks and starts two threads at most; an extension that wants a runtime brings its own.
//!
//! What always holds:
//! - nothing is said before the host has said `initialize`, and only `initialize` and `shutdown` are answered;
//! - commands and events run one after another, on the thread that serves; answers are read on another, so that a
//!   command may ask while it runs;
//! - under [`run`] nothing the extension prints reaches the host: standard output is standard error meanwhile;
//! - an extension leaves when the host says `shutdown` or closes its input.

mod error;
mod extension;
mod frame;
mod host;
mod patch;
mod serve;
mod stdio;
mod wire;

pub use error::{HostError, Outcome};
pub use extension::Extension;
pub use host::Host;
pub use loggia_protocol_hermes as protocol;
pub use patch::{clear, create, remove, set};
pub use serve::serve;
pub use stdio::{error, info, run, warn};
