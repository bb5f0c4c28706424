//! The daemon: one process that holds the engine and opens its doors.
//!
//! Knows in which order a daemon comes up and goes down, and puts the parts together. Refuses to know what is asked of
//! it: that is for the doors.
//!
//! What always holds:
//! - one daemon has a runtime directory, by a lock that goes with its process, and one has a store;
//! - an address is bound, and readiness told, only when requests can be answered;
//! - a first signal lets what is under way finish and plugins and extensions leave, in bounded time; a second one ends everything at once;
//! - what others could misuse is made so that only its owner can reach it: directories 0700, sockets and keys 0600.

pub(crate) mod client;
pub(crate) mod detach;
pub(crate) mod directories;
mod doctor;
pub(crate) mod embedder;
mod environment;
pub(crate) mod ephemeral;
mod error;
mod extensions;
pub(crate) mod find;
mod idle;
pub(crate) mod indexes;
mod listeners;
pub(crate) mod lock;
pub(crate) mod models;
pub(crate) mod open;
mod parts;
mod plugins;
mod ready;
mod rpc;
mod settings;
pub(crate) mod signals;
pub(crate) mod stopping;
mod systemd;

use std::io;
use std::time::Duration;

use loggia_console::Journal;
use loggia_engine::Engine;
use loggia_http::Door;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) use error::DaemonError;
pub(crate) use settings::{Settings, TlsChoice};

use crate::config::places::Places;
use crate::errors::Error;
use crate::telemetry::Telemetry;
use detach::Release;
use directories::RuntimeDirectory;
use extensions::ExtensionHosts;
use idle::Signs;
use indexes::Indexes;
use listeners::Bound;
use lock::{DaemonLock, Record};
use parts::{Prepared, Started};
use plugins::PluginHosts;
use ready::Summary;
use rpc::RpcDoor;
use signals::Signals;
use systemd::Activated;

/// How long the engine may take to close what runs once the doors are shut: it writes a few events per session.
const ENGINE_DEADLINE: Duration = Duration::from_secs(10);

/// How long streams may take to say their last message: as long as their connections may.
const STREAMS_DEADLINE: Duration = Duration::from_secs(5);

/// Files a daemon may have open: all connections of its listeners, and as much again. Not more, since commands inherit
/// it and some programs close every file they could have open, one by one.
const OPEN_FILES: u64 = 16 * 1024;

/// Runs a daemon until it is told to stop.
pub(crate) fn run(
    settings: &Settings,
    places: &Places,
    telemetry: Option<Telemetry>,
    journal: Journal,
) -> Result<(), Error> {
    // Before any thread: it looks at the environment and at descriptors that were handed over.
    let activated = Activated::take();
    let runtime_directory = RuntimeDirectory::of(places);
    directories::make_private(places.data())?;
    directories::make_private(runtime_directory.path())?;
    let lock = DaemonLock::take(&runtime_directory.lock_file())?;
    raise_open_files();
    let prepared = Prepared::new(settings, places, &runtime_directory)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| DaemonError::Runtime { source })?;
    if let Some(telemetry) = &telemetry {
        telemetry.begin(runtime.handle().clone());
    }
    let house = House { settings, places, runtime_directory, lock, has_socket: false };
    let ended = runtime.block_on(house.live(prepared, activated, telemetry, journal));
    // What did not end in time is not waited for again.
    runtime.shutdown_background();
    ended
}

/// Where a daemon lives.
struct House<'a> {
    settings: &'a Settings,
    places: &'a Places,
    runtime_directory: RuntimeDirectory,
    lock: DaemonLock,
    /// Whether the socket in the runtime directory is ours.
    has_socket: bool,
}

/// What stands in front of the engine.
struct Doors {
    http: Door,
    rpc: RpcDoor,
    console: loggia_console::Door,
}

/// Programs of other people.
struct Guests {
    plugins: PluginHosts,
    extensions: ExtensionHosts,
    indexes: Option<Indexes>,
}

/// The listeners that are served.
type Serving = JoinSet<io::Result<()>>;

impl House<'_> {
    async fn live(
        mut self,
        mut prepared: Prepared,
        activated: Activated,
        telemetry: Option<Telemetry>,
        journal: Journal,
    ) -> Result<(), Error> {
        let mut signals = Signals::listen().map_err(|source| DaemonError::Runtime { source })?;
        let stop = CancellationToken::new();
        let look = prepared.take_look();
        let Started { engine, http, rpc, plugins, extensions, indexes } =
            prepared.start(stop.clone()).await?;
        let console = parts::console(&rpc, parts::finder(indexes.as_ref()), &plugins, journal, stop.clone());
        let doors = Doors { http, rpc: RpcDoor::new(rpc), console };
        let mut serving = Serving::new();
        // Whatever goes wrong from here on, what runs is stopped in order.
        let lived = match self.open(&engine, &doors, activated, &stop, &mut serving).await {
            Ok(()) => {
                // Not before: it competes with a start, and a start that fails has only that to tell.
                look.map(tokio::spawn);
                let unused = self.until_unused(&engine, &doors, &extensions);
                until_stopped(&mut signals, &stop, &mut serving, unused).await
            }
            Err(error) => Err(error),
        };
        systemd::notify("STOPPING=1");
        stop.cancel();
        let ended = tokio::select! {
            () = shut(serving, doors.http, engine, Guests { plugins, extensions, indexes }, telemetry) => Ok(()),
            _ = signals.next() => Err(DaemonError::Cut.into()),
        };
        if self.has_socket {
            listeners::leave(&self.runtime_directory);
            open::tidy(self.runtime_directory.path(), &[]);
        }
        self.lock.leave();
        let ended = lived.and(ended);
        if ended.is_ok() {
            tracing::info!("stopped");
        }
        ended
    }

    /// Opens the doors and tells where they are.
    async fn open(
        &mut self,
        engine: &Engine,
        doors: &Doors,
        activated: Activated,
        stop: &CancellationToken,
        serving: &mut Serving,
    ) -> Result<(), Error> {
        let workspaces = parts::register(engine, self.settings, self.places).await?;
        let bound = listeners::bind(self.settings, self.places, &self.runtime_directory, activated).await?;
        self.has_socket = true;
        let Bound { listeners, rpc: rpc_listener, console: console_socket, place } = bound;
        let Doors { http: door, rpc, console } = doors;
        for listener in listeners {
            let (door, stop) = (door.clone(), stop.clone());
            serving.spawn(async move { door.serve(listener, stop).await });
        }
        serving.spawn(rpc.clone().serve(rpc_listener, workspaces.first().cloned(), stop.clone()));
        let serve_console = console.clone().serve(console_socket, workspaces.first().cloned());
        serving.spawn(async move {
            serve_console.await;
            Ok(())
        });
        tokio::spawn(open::tend(self.runtime_directory.path().to_owned(), door.clone(), stop.clone()));
        let code = self.settings.open.then(|| door.page_code()).transpose();
        let code = code.map_err(|source| DaemonError::Runtime { source })?;
        // Without an address of its own there is no page either.
        let page = code.as_ref().zip(place.url.as_ref()).map(|(code, url)| open::address(url, code));
        let summary = Summary::new(self.settings, self.places, place, page, workspaces);
        self.tell(&summary)?;
        if let Some((code, url)) = code.as_ref().zip(summary.url.as_ref()) {
            open::browser_aside(&self.runtime_directory, url, code);
        }
        Ok(())
    }

    /// Waits until nobody has needed us for long enough; for ever, if we are not to leave by ourselves.
    async fn until_unused(&self, engine: &Engine, doors: &Doors, extensions: &ExtensionHosts) {
        let Some(patience) = self.settings.idle_exit.filter(|_| self.settings.auto) else {
            return std::future::pending().await;
        };
        let look = || {
            let (activity, traffic) = (engine.activity(), doors.http.traffic());
            let there = activity.running + activity.waiting + activity.clients;
            let connected = doors.rpc.connections() + doors.console.clients();
            let busy = there > 0 || traffic.streams > 0 || connected > 0 || extensions.is_needed();
            Signs { busy, answers: traffic.answers }
        };
        idle::until_unused(patience, look).await;
    }

    /// Tells everybody who waits for it that requests are answered.
    fn tell(&mut self, summary: &Summary) -> Result<(), Error> {
        // A starter that goes must hear of trouble while it is there.
        let release = self.settings.detached.then(|| Release::prepare(self.places)).transpose()?;
        self.lock.write(&Record {
            pid: std::process::id(),
            url: summary.url.clone(),
            http_socket: Some(summary.http_socket.display().to_string()),
            rpc_socket: Some(summary.rpc_socket.display().to_string()),
            console_socket: Some(summary.console_socket.display().to_string()),
            auto: self.settings.auto,
        })?;
        summary.print(self.settings.json)?;
        let socket = summary.http_socket.display();
        let place = summary.url.clone().unwrap_or_else(|| socket.to_string());
        systemd::notify(&format!("READY=1\nSTATUS=listening on {place}"));
        if let Some(release) = release {
            release.let_go()?;
            tokio::spawn(detach::tend_log(detach::log_file(self.places)));
        }
        match &summary.url {
            Some(url) => tracing::info!(%url, %socket, "started"),
            None => tracing::info!(%socket, "started"),
        }
        Ok(())
    }
}

/// Waits for a signal, for a client that stops us, for a listener that breaks, or until nobody needs us.
async fn until_stopped(
    signals: &mut Signals,
    stop: &CancellationToken,
    serving: &mut Serving,
    unused: impl Future<Output = ()>,
) -> Result<(), Error> {
    let source = tokio::select! {
        () = unused => {
            tracing::info!("leaving: nobody has been here for a while");
            return Ok(());
        }
        name = signals.next() => {
            tracing::info!(signal = name, "stopping");
            return Ok(());
        }
        () = stop.cancelled() => return Ok(()),
        // Only a listener that broke ends before the stop.
        Some(ended) = serving.join_next() => match ended {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(source)) => source,
            Err(panicked) => panicked.into(),
        },
    };
    Err(DaemonError::Broken { source }.into())
}

/// Shuts the doors, then the engine, then lets plugins and extensions leave; then what is left to tell of it is told.
async fn shut(
    mut serving: Serving,
    door: Door,
    engine: Engine,
    guests: Guests,
    telemetry: Option<Telemetry>,
) {
    // While connections end: a stream's last message is said by a task of its own.
    let streams = tokio::time::timeout(STREAMS_DEADLINE, door.streams_ended());
    let listeners = async {
        while let Some(ended) = serving.join_next().await {
            if let Ok(Err(error)) = ended {
                tracing::warn!(%error, "a listener broke");
            }
        }
    };
    if tokio::join!(streams, listeners).0.is_err() {
        tracing::info!("not every stream ended in time");
    }
    if tokio::time::timeout(ENGINE_DEADLINE, engine.stop()).await.is_err() {
        tracing::warn!("the engine did not stop in time; what ran is closed at the next start");
    }
    // Not before: what a turn still asks of them would fail instead of being interrupted.
    let indexes = async {
        if let Some(indexes) = guests.indexes {
            indexes.stop().await;
        }
    };
    tokio::join!(guests.plugins.stop(), guests.extensions.stop(), indexes);
    if let Some(telemetry) = telemetry {
        telemetry.end().await;
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
