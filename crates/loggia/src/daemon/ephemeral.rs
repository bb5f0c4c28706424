//! An engine in the process of a command, of which nothing stays.
//!
//! Knows how to put the parts of a daemon together for one command: a store and a socket in a directory of their own, which
//! goes with them. Invariant: it changes nothing that a daemon keeps, and reads no more of it than whether its workspace is
//! trusted and which plugins are on there; its end takes well under a second, and what it started, plugins too, ends with
//! the process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_engine::Engine;
use loggia_http::{Door, Listener};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::directories::{self, RuntimeDirectory};
use super::parts::{Prepared, Started};
use super::{DaemonError, Settings, listeners};
use crate::config::places::Places;
use crate::config::trust::{self, Trust};

/// How long connections may take to end: both ends are here, and one has gone already.
const DOOR_DEADLINE: Duration = Duration::from_millis(200);

/// How long the engine may take to close what runs: nobody will read what it writes.
const ENGINE_DEADLINE: Duration = Duration::from_millis(300);

/// Threads that work at once: the command's own and one beside it.
const THREADS: usize = 2;

/// A running engine that goes with its command.
#[derive(Debug)]
pub(crate) struct Ephemeral {
    directory: TempDir,
    runtime_directory: RuntimeDirectory,
    engine: Engine,
    rpc: loggia_rpc::Parts,
    stop: CancellationToken,
    serving: TaskTracker,
}

/// The workspace, if it is trusted. The engine's own list is elsewhere, and new.
fn trusted(places: &Places) -> Option<PathBuf> {
    let root = places.workspace.as_ref()?;
    // A list that cannot be read trusts nobody; whoever read the configuration has told of it.
    let trust = places.trust.or_else(|| trust::of(root, &places.trust_file()).ok());
    (trust == Some(Trust::Full)).then(|| root.clone())
}

impl Ephemeral {
    /// What it runs on.
    pub(crate) fn runtime() -> Result<Runtime, DaemonError> {
        let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        runtime.map_err(|source| DaemonError::Runtime { source })
    }

    /// Starts one.
    pub(crate) async fn start(settings: &Settings, places: &Places) -> Result<Self, DaemonError> {
        let base = std::env::temp_dir();
        let directory = tempfile::Builder::new().prefix("loggia-").tempdir_in(&base);
        let directory = directory.map_err(|source| DaemonError::Directory { path: base, source })?;
        let trusted = trusted(places);
        let places = places.elsewhere(directory.path());
        let runtime_directory = RuntimeDirectory::of(&places);
        directories::make_private(places.data())?;
        directories::make_private(runtime_directory.path())?;
        let stop = CancellationToken::new();
        let mut prepared = Prepared::new(settings, &places, &runtime_directory)?;
        let look = prepared.take_look();
        let Started { engine, http, rpc, plugins: _, extensions: _, indexes: _ } =
            prepared.start(stop.clone()).await?;
        let house = Self { directory, runtime_directory, engine, rpc, stop, serving: TaskTracker::new() };
        house.open(http)?;
        trusted.map(|root| house.trust(&root)).transpose()?;
        look.map(tokio::spawn);
        Ok(house)
    }

    fn open(&self, door: Door) -> Result<(), DaemonError> {
        let listener = Listener::Unix(listeners::bind_unix(&self.socket())?);
        let stop = self.stop.clone();
        self.serving.spawn(async move {
            if let Err(error) = door.serve(listener, stop).await {
                tracing::warn!(%error, "the listener broke");
            }
        });
        Ok(())
    }

    /// Trusts a workspace, as long as this lives.
    pub(crate) fn trust(&self, root: &Path) -> Result<(), DaemonError> {
        self.engine.set_trusted(root, true).map_err(|source| DaemonError::Engine { source })
    }

    /// Where it is asked.
    pub(crate) fn socket(&self) -> PathBuf {
        self.runtime_directory.http_socket()
    }

    /// What serves clients of the rpc door.
    pub(crate) fn rpc(&self) -> loggia_rpc::Parts {
        self.rpc.clone()
    }

    /// Ends it, and removes what it kept.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.serving.close();
        let doors = tokio::time::timeout(DOOR_DEADLINE, self.serving.wait());
        let engine = tokio::time::timeout(ENGINE_DEADLINE, self.engine.stop());
        let ended = tokio::join!(doors, engine);
        if ended.0.is_err() || ended.1.is_err() {
            tracing::debug!("not everything ended in time");
        }
        if !self.runtime_directory.path().starts_with(self.directory.path())
            && let Err(error) = std::fs::remove_dir_all(self.runtime_directory.path())
        {
            tracing::debug!(%error, "the directory of the socket stays");
        }
        if let Err(error) = self.directory.close() {
            tracing::debug!(%error, "the directory of the data stays");
        }
    }
}
