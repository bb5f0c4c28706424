//! A console that many terminals share: server and client of the Endermux protocol, transport epochs 15, 16 and 17.
//!
//! Knows connections: the handshake with its time limit, what a connection has negotiated, who is there, what waits to
//! be written to whom. Refuses to know what a command does: a [`Host`] answers, and what it answers about is none of
//! this crate's business. Messages and the order of checks are `loggia-protocol-endermux`'s, frames are
//! `loggia-wire`'s.
//!
//! # How it is built
//!
//! Decisions are made by values that do no I/O: [`server`]'s `session` (bytes in, what to do out), `queue` (what is
//! written next and what is dropped) and `pieces` (how long text is cut), [`client`]'s `attempts` (which epoch is tried
//! next), `pending` (which answer is whose) and `inbox` (what waits to be read). Around them are thin loops over a
//! stream.
//!
//! # What always holds
//!
//! - One socket serves all three epochs. The first frame shows which; answers, a refusal included, are in its framing.
//! - Requests of one client are handled one after another, and answered in that order. Clients do not wait for each other.
//! - What waits for a client is bounded. Logs are dropped, oldest first, and the gap is told in their place; answers are
//!   never dropped: a client that does not take them is not read from.
//! - Log text is rendered once for each colour level and framed once for each framing, however many clients there are;
//!   the bytes are shared.
//! - A fault of a frame ends its connection. Anything else a client says wrongly in a session is answered with `ERROR`.
//! - Nobody's slowness delays another client, whoever logs, or the stop.
//!
//! # Beyond the specification
//!
//! Two capabilities of our own are offered beside the six, in [`extras`]. A peer that does not know them never notices.

pub mod client;
pub mod extras;
pub mod limits;
pub mod server;
pub mod terminal;
pub mod words;

mod frame;

pub use client::{Client, ConnectError, Disconnect, Event, Events, RequestError};
pub use server::{Console, Host, HostError, Log, Server};
