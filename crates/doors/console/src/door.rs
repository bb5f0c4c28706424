//! The door: the server of consoles, and everything its commands need.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use loggia_domain::{ModelCatalogue, PluginDesk};
use loggia_endermux_io::server::Socket;
use loggia_endermux_io::{Console, Server};
use loggia_engine::{Engine, IndexFinder};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::board::Board;
use crate::guest::Guests;
use crate::host::Desk;
use crate::log::Journal;
use crate::watch;

/// Whether to talk to whoever connected.
pub type Admits = Arc<dyn Fn(&UnixStream) -> bool + Send + Sync>;

/// What a door is made of.
#[derive(Clone)]
pub struct Parts {
    /// All sessions and workspaces.
    pub engine: Engine,
    /// The models there are; those the engine uses.
    pub models: Arc<dyn ModelCatalogue>,
    /// Finds the index of a workspace: the same the engine uses.
    pub index: IndexFinder,
    /// Looks after plugins.
    pub plugins: Arc<dyn PluginDesk>,
    /// What the daemon logs.
    pub journal: Journal,
    /// Whom to let in.
    pub admits: Admits,
    /// The root of the workspace that a directory is in, if something there says so.
    pub root_of: fn(&Path) -> Option<PathBuf>,
    /// The daemon's version.
    pub version: String,
    /// Ends the daemon, which a command may ask for, and by that the door.
    pub stop: CancellationToken,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("engine", &self.engine).finish_non_exhaustive()
    }
}

/// A door; cheap to clone.
#[derive(Debug, Clone)]
pub struct Door {
    inner: Arc<Inner>,
    server: Server<Desk>,
}

/// What all commands share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) guests: Guests,
    pub(crate) board: Board,
    /// Where somebody works who does not say where.
    pub(crate) home: OnceLock<PathBuf>,
    /// What goes on behind a command, and behind the door.
    pub(crate) tasks: TaskTracker,
    console: OnceLock<Console>,
}

impl Inner {
    pub(crate) fn console(&self) -> &Console {
        self.console.get().expect("it is set before anything runs")
    }

    /// Does something in the background until the stop.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.parts.stop.clone();
        self.tasks.spawn(async move { stop.run_until_cancelled(work).await });
    }
}

impl Door {
    /// A door that nobody has come to yet.
    pub fn new(parts: Parts) -> Self {
        let inner = Arc::new(Inner {
            parts,
            guests: Guests::default(),
            board: Board::default(),
            home: OnceLock::new(),
            tasks: TaskTracker::new(),
            console: OnceLock::new(),
        });
        let server = Server::new(Desk::new(Arc::clone(&inner)));
        // Nobody else has it yet.
        let _ = inner.console.set(server.console().clone());
        Self { inner, server }
    }

    /// How many terminals are connected.
    pub fn clients(&self) -> usize {
        self.server.console().clients().len()
    }

    /// Serves a socket until the stop, and then until its connections have ended, which takes little time. Whoever
    /// begins a session and does not say where does so in `home`.
    pub async fn serve(self, socket: Socket, home: Option<PathBuf>) {
        let Self { inner, server } = self;
        if let Some(home) = home {
            // One door serves one socket.
            let _ = inner.home.set(home);
        }
        let stop = inner.parts.stop.clone();
        inner.spawn(watch::sessions(Arc::clone(&inner)));
        inner.spawn(watch::log(Arc::clone(&inner)));
        inner.spawn(watch::presence(Arc::clone(&inner)));
        inner.spawn(watch::dialogs(Arc::clone(&inner)));
        server.console().set_interactive(true);
        let end = async {
            stop.cancelled().await;
            server.console().set_interactive(false);
            server.stop().await;
        };
        tokio::join!(server.listen(socket), end);
        // Places on sessions go before the engine does.
        inner.guests.keep(&[]);
    }
}
