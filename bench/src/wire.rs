//! The wire crate: pipelined requests over memory and over pipes to a child, small and large.

pub mod async_lsp_peer;
pub mod flood;
pub mod floor;
pub mod lsp_server_peer;
pub mod node;
pub mod ours;
pub mod payload;
pub mod run;

/// The largest body anybody here sends is far below.
pub const CAP: usize = 16 * 1024 * 1024;
