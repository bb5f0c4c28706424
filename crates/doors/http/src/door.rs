//! The door itself: what all requests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use loggia_domain::{BoxFuture, Finding, ModelCatalogue, PluginDesk};
use loggia_engine::{Engine, IndexFinder};
use tokio_util::sync::CancellationToken;

use crate::auth::Auth;
use crate::auth::tokens::{TokenError, Tokens};
use crate::metrics::Metrics;
use crate::pages::Marks;
use crate::rest::index::Builds;
use crate::rest::listed::Listed;
use crate::stream::Streams;

/// Looks at things when it is asked to, and tells what it found.
pub type Examine = Arc<dyn Fn() -> BoxFuture<'static, Vec<Finding>> + Send + Sync>;

/// Looks at nothing.
pub fn examine_nothing() -> Examine {
    Arc::new(|| Box::pin(std::future::ready(Vec::new())))
}

/// What a door is put together from.
#[derive(Clone)]
pub struct Parts {
    /// Sessions, policy and all that is decided.
    pub engine: Engine,
    /// The models there are: the same the engine uses.
    pub models: Arc<dyn ModelCatalogue>,
    /// Finds the index of a workspace: the same the engine uses.
    pub index: IndexFinder,
    /// Looks after plugins.
    pub plugins: Arc<dyn PluginDesk>,
    /// Looks at what only whoever started the daemon knows: directories, the sandbox, programs.
    pub examine: Examine,
    /// Ends every stream with a last word; cancelled by whoever stops the daemon, or by `POST /v1/stop`.
    pub stop: CancellationToken,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

/// What whoever starts a door decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where tokens are kept.
    pub data: PathBuf,
    /// The product's version, as clients see it.
    pub version: String,
    /// Names beside those of the loopback under which the server may be asked.
    pub hosts: Vec<String>,
    /// Origins beside our own whose pages may ask.
    pub origins: Vec<String>,
}

/// A door, shared by all its listeners and requests.
#[derive(Debug, Clone)]
pub struct Door(pub(crate) Arc<Inner>);

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) auth: Auth,
    pub(crate) metrics: Metrics,
    pub(crate) streams: Streams,
    pub(crate) marks: Marks,
    pub(crate) builds: Builds,
    pub(crate) listed: Listed,
    pub(crate) started: Instant,
    /// Whether a client asked for the stop, which is meant to last, and no signal.
    pub(crate) told_to_stop: AtomicBool,
}

/// Whether anybody comes through a door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Streams that are open.
    pub streams: u64,
    /// Requests that were answered since the start.
    pub answers: u64,
}

/// Why there can be no door.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Its tokens cannot be used.
    #[error("nobody could be let in")]
    Tokens(#[from] TokenError),
}

impl Door {
    /// The first token of the door that keeps its data there, made if there is none: for the engine, which masks
    /// it. Touches a disk.
    ///
    /// # Errors
    /// If it cannot be read or made.
    pub fn first_token(data: &Path) -> Result<Option<String>, DoorError> {
        Ok(Tokens::first(data)?)
    }

    /// A door in front of an engine. Makes the first token if there is none; touches a disk.
    ///
    /// # Errors
    /// If the tokens cannot be read or made.
    pub fn new(parts: Parts, settings: Settings) -> Result<Self, DoorError> {
        let auth = Auth::open(&settings.data)?;
        let (metrics, streams) = (Metrics::default(), Streams::default());
        let (marks, builds, listed) = (Marks::default(), Builds::default(), Listed::default());
        let (started, told_to_stop) = (Instant::now(), AtomicBool::new(false));
        let inner =
            Inner { parts, settings, auth, metrics, streams, marks, builds, listed, started, told_to_stop };
        Ok(Self(Arc::new(inner)))
    }

    /// Whether anybody comes through.
    pub fn traffic(&self) -> Traffic {
        let Metrics { sockets, answers, .. } = &self.0.metrics;
        Traffic {
            streams: sockets.load(Ordering::Relaxed),
            answers: answers.iter().map(|count| count.load(Ordering::Relaxed)).sum(),
        }
    }
}
