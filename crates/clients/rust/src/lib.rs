//! A typed client of the http door, over TCP, TLS with a pinned certificate, or a Unix socket.
//!
//! Knows every endpoint of the agent server as a method, and a session's stream as a [`SessionStream`] that outlives its
//! connections. Refuses to know the engine, terminals and configuration: whoever uses it says where the server is and
//! hands over the token.
//!
//! ```no_run
//! use loggia_client::{Client, Heard, Server};
//! use loggia_protocol_agent_server::{CreateSessionParams, RegisterWorkspaceParams, ServerMessage};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Server::parse("http://127.0.0.1:3199")?).with_token(std::env::var("LOGGIA_TOKEN")?);
//! let root = RegisterWorkspaceParams { root_path: "/home/me/project".to_owned(), name: None };
//! let workspace = client.register_workspace(&root).await?;
//! let params = CreateSessionParams {
//!     workspace_id: workspace.workspace_id,
//!     title: None,
//!     model: None,
//!     policy_preset: None,
//!     budget: None,
//! };
//! let session = client.create_session(&params).await?;
//! let mut stream = client.follow(&session.session_id).open().await?;
//! stream.speaker().prompt("What does this project do?").await?;
//! while let Some(heard) = stream.next().await {
//!     if let Heard::Message(ServerMessage::MessageFinal(reply)) = heard? {
//!         println!("{}", reply.message);
//!         break;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What always holds:
//! - an answer, a message and what waits to be heard are bounded before they are read into memory;
//! - a stream gives each event once and in order, across any number of lost connections;
//! - nothing is sent twice: what may have arrived before a connection was lost is not repeated;
//! - over TLS no byte is sent to a server whose certificate is not the pinned one.

mod calls;
mod client;
mod error;
mod server;
mod stream;

pub use calls::{Browse, Export, Page, Search};
pub use client::Client;
pub use error::{Error, Refusal, StreamError};
pub use server::{Fingerprint, NotAServer, Server};
pub use stream::{Follow, Heard, Lost, NotSent, SessionStream, Speaker};
