//! A directory tree that is reached only through a handle on its root.
//!
//! Knows files, directories, links and ignore rules. Has never heard of sessions, tools or policies, and reads nothing
//! from the environment. Everything is synchronous: callers that must not block use a thread for it.
//!
//! What always holds:
//!
//! - Nothing outside the root is opened, read, changed or removed, whatever the path says and whatever somebody does
//!   to the directories meanwhile. Links are followed by us, one name at a time, and never by the kernel.
//! - What changes the tree never goes through a link: a link is replaced or removed itself. A caller that means the
//!   file behind a link asks [`Root::real_path_of`] first, checks its policy against the answer, and uses the answer.
//! - A file is replaced whole or not at all.
//! - Fifos, sockets and devices are never opened.

mod directory;
mod error;
mod handle;
mod ignoring;
mod made;
mod meta;
mod path;
mod read;
mod remove;
mod resolve;
mod root;
mod rules;
mod stage;
mod sweep;
mod temporary;
mod unsafe_root;
mod walk;

pub use directory::{Listed, MAX_ENTRIES};
pub use error::TreeError;
pub use ignoring::Ignoring;
pub use meta::{Kind, Meta};
pub use path::{MAX_PART, MAX_PATH, PathError, TreePath};
pub use read::FileBytes;
pub use root::{HardLinkRule, Root, RootSettings};
pub use stage::{Content, Staged};
pub use sweep::{MAX_SWEPT_DIRECTORIES, Swept};
pub use unsafe_root::RootError;
pub use walk::{Found, IgnoreRules, MAX_FOUND, Walk, WalkOptions};
