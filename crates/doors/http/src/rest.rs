//! The endpoints, by resource.
//!
//! Each handler reads what was asked, calls the engine, and writes the answer; what an error means is decided in
//! `problem`. Nothing here decides what a session does.

pub(crate) mod contract;
mod disk;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod extensions;
pub(crate) mod health;
pub(crate) mod index;
pub(crate) mod intents;
pub(crate) mod listed;
mod message_body;
pub(crate) mod messages;
pub(crate) mod metrics;
pub(crate) mod models;
pub(crate) mod page;
pub(crate) mod pairing;
pub(crate) mod plugins;
pub(crate) mod policy;
pub(crate) mod search;
mod session_body;
pub(crate) mod sessions;
pub(crate) mod stop;
pub(crate) mod task_body;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod transfer;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod workspaces;

use std::sync::Arc;

use axum::extract::State;
use loggia_domain::{Abilities, Client, ClientId, Door};

use crate::door::Inner;
use crate::identity::Identity;
use crate::problem::Problem;

/// What all requests share, as handlers get it.
type Shared = State<Arc<Inner>>;

/// A good answer, or what went wrong.
type Answer<T> = Result<T, Problem>;

/// Who asks, as a session knows them: there for one request, able to do nothing for the session.
fn client(identity: &Identity) -> Client {
    Client {
        id: ClientId::new(),
        name: identity.name.clone(),
        door: Door::Http,
        role: identity.role(),
        abilities: Abilities::default(),
    }
}

/// How long a name or title may be, in bytes: the engine's bound for titles.
const MAX_NAME_BYTES: usize = 1 << 10;

/// Refuses what cannot be shown in a list.
fn check_name(pointer: &str, name: &str) -> Answer<()> {
    if name.trim().is_empty() {
        return Err(Problem::field(pointer, "must not be empty"));
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(Problem::field(pointer, format!("has at most {MAX_NAME_BYTES} bytes")));
    }
    if name.chars().any(char::is_control) {
        return Err(Problem::field(pointer, "holds a control character"));
    }
    Ok(())
}

/// Does what may block where that disturbs nobody.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "a request's work was cut off");
        Problem::of(loggia_protocol_agent_server::ProblemType::Internal, "the request's work was cut off")
    })
}
