//! The daemon: one process that holds the engine and opens its doors.
//!
//! Knows in which order a daemon comes up and goes down, and puts the parts together. Refuses to know what is asked of
//! it: that is for the doors.
//!
//! What always holds:
//! - one daemon has a runtime directory, by a lock that goes with its process, and one has a store;
//! - an address is bound, and readiness told, only when requests can be answered;
//! - a first signal lets what is under way finish, in bounded time; a second one ends everything at once;
//! - what others could misuse is made so that only its owner can reach it: directories 0700, sockets and keys 0600.

pub(crate) mod client;
pub(crate) mod detach;
pub(crate) mod directories;
mod error;
mod listeners;
pub(crate) mod lock;
mod models;
mod open;
mod parts;
mod ready;
mod settings;
mod signals;
mod systemd;

use std::time::Duration;

use loggia_engine::Engine;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) use error::DaemonError;
pub(crate) use settings::{Settings, TlsChoice};

use crate::config::places::Places;
use crate::errors::Error;
use directories::RuntimeDirectory;
use listeners::Bound;
use lock::{DaemonLock, Record};
use parts::Prepared;
use ready::Summary;
use signals::Signals;
use systemd::Activated;

/// How long the engine may take to close what runs once the doors are shut: it writes a few events per session.
const ENGINE_DEADLINE: Duration = Duration::from_secs(10);

/// Files a daemon may have open: all connections of its listeners, and as much again. Not more, since commands inherit
/// it and some programs close every file they could have open, one by one.
const OPEN_FILES: u64 = 16 * 1024;

/// Runs a daemon until it is told to stop.
pub(crate) fn run(settings: &Settings, places: &Places) -> Result<(), Error> {
    // Before any thread: it looks at the environment and at descriptors that were handed over.
    let activated = Activated::take();
    let runtime_directory = RuntimeDirectory::of(places);
    directories::make_private(places.data())?;
    directories::make_private(runtime_directory.path())?;
    let mut lock = DaemonLock::take(&runtime_directory.lock_file())?;
    raise_open_files();
    let prepared = Prepared::new(settings, places, &runtime_directory)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| DaemonError::Runtime { source })?;
    let house = House { settings, places, runtime_directory: &runtime_directory, lock: &mut lock };
    let ended = runtime.block_on(house.live(prepared, activated));
    // What did not end in time is not waited for again.
    runtime.shutdown_background();
    ended
}

/// Where a daemon lives.
struct House<'a> {
    settings: &'a Settings,
    places: &'a Places,
    runtime_directory: &'a RuntimeDirectory,
    lock: &'a mut DaemonLock,
}

impl House<'_> {
    async fn live(mut self, prepared: Prepared, activated: Activated) -> Result<(), Error> {
        let mut signals = Signals::listen().map_err(|source| DaemonError::Runtime { source })?;
        let stop = CancellationToken::new();
        let (engine, door) = prepared.start(stop.clone()).await?;
        let workspaces = parts::register(&engine, self.settings, self.places).await?;
        let bound = listeners::bind(self.settings, self.places, self.runtime_directory, activated).await?;
        let Bound { listeners, place } = bound;
        let mut serving = JoinSet::new();
        for listener in listeners {
            let (door, stop) = (door.clone(), stop.clone());
            serving.spawn(async move { door.serve(listener, stop).await });
        }
        let page = self.settings.open.then(|| door.page_address(&place.url)).transpose();
        let page = page.map_err(|source| DaemonError::Runtime { source })?;
        drop(door);
        let summary = Summary::new(self.settings, self.places, place, page, workspaces);
        self.tell(&summary)?;
        let broken = tokio::select! {
            name = signals.next() => {
                tracing::info!(signal = name, "stopping");
                None
            }
            () = stop.cancelled() => None,
            // Only a listener that broke ends before the stop.
            Some(ended) = serving.join_next() => match ended {
                Ok(Ok(())) => None,
                Ok(Err(source)) => Some(source),
                Err(panicked) => Some(panicked.into()),
            },
        };
        systemd::notify("STOPPING=1");
        stop.cancel();
        let ended = tokio::select! {
            () = shut(serving, engine) => Ok(()),
            _ = signals.next() => Err(DaemonError::Cut.into()),
        };
        listeners::leave(self.runtime_directory);
        self.lock.clear();
        match broken {
            Some(source) => Err(DaemonError::Broken { source }.into()),
            None => ended,
        }
    }

    /// Tells everybody who waits for it that requests are answered.
    fn tell(&mut self, summary: &Summary) -> Result<(), Error> {
        self.lock.write(&Record {
            pid: std::process::id(),
            url: Some(summary.url.clone()),
            http_socket: Some(summary.http_socket.display().to_string()),
        })?;
        summary.print(self.settings.json)?;
        systemd::notify(&format!("READY=1\nSTATUS=listening on {}", summary.url));
        if self.settings.detached {
            detach::let_go(self.places)?;
        }
        if let Some(page) = &summary.page {
            open::browser(page);
        }
        Ok(())
    }
}

/// Shuts the doors, then the engine.
async fn shut(mut serving: JoinSet<std::io::Result<()>>, engine: Engine) {
    while let Some(ended) = serving.join_next().await {
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "a listener broke");
        }
    }
    if tokio::time::timeout(ENGINE_DEADLINE, engine.stop()).await.is_err() {
        tracing::warn!("the engine did not stop in time; what ran is closed at the next start");
    }
}

/// Lets the process open as many files as it needs, if the system does: each connection is one.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if limit.current.is_none_or(|current| current >= allowed) {
        return;
    }
    limit.current = Some(allowed);
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays");
    }
}
