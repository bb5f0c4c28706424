//! Every endpoint as a method of [`Client`], by subject.
//!
//! The page for browsers at `/` has none. The two streams are in [`stream`](crate::stream).

mod access;
mod daemon;
mod extensions;
mod index;
mod messages;
mod models;
mod plugins;
mod sessions;
mod tasks;
mod transfer;
mod workspaces;

pub use index::Search;
pub use tasks::Browse;
pub use transfer::Export;

/// Which part of a long listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// At most so many; the server's choice otherwise.
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before; the first page otherwise.
    pub cursor: Option<String>,
}

#[cfg(doc)]
use crate::Client;
