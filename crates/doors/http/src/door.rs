//! The door itself: what all requests share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use loggia_domain::ModelCatalogue;
use loggia_engine::{Engine, IndexFinder};
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// What a door is put together from.
#[derive(Clone)]
pub struct Parts {
    /// Sessions, policy and all that is decided.
    pub engine: Engine,
    /// The models there are: the same the engine uses.
    pub models: Arc<dyn ModelCatalogue>,
    /// Finds the index of a workspace: the same the engine uses.
    pub index: IndexFinder,
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
    pub(crate) metrics: Metrics,
    pub(crate) streams: crate::stream::Streams,
    pub(crate) started: Instant,
}

impl Door {
    /// A door in front of an engine.
    pub fn new(parts: Parts, settings: Settings) -> Self {
        let (metrics, streams) = (Metrics::default(), crate::stream::Streams::default());
        Self(Arc::new(Inner { parts, settings, metrics, streams, started: Instant::now() }))
    }
}
