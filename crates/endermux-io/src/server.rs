//! The server: accepts connections, keeps their number down, and ends them in time.
//!
//! [`Server`] is what accepts; [`Console`] is what everybody else holds: it logs, opens and closes the console for
//! commands, and tells who is there. What clients ask is answered by a [`Host`].

mod answers;
mod connection;
mod console;
mod host;
mod log;
mod outbox;
mod output;
mod pieces;
mod queue;
mod session;
mod shared;
mod socket;

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use connection::Ended;
pub use console::Console;
pub use host::{ClientId, Host, HostError, Presence};
pub use log::Log;
pub use outbox::Gone;
pub use output::Output;
pub use socket::{BindError, Socket};

use crate::limits::{ACCEPT_PAUSE, DRAIN, MAX_CONNECTIONS};
use shared::Shared;

/// A server of consoles; cheap to clone.
#[derive(Debug)]
pub struct Server<H> {
    shared: Arc<Shared<H>>,
}

impl<H> Clone for Server<H> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<H: Host> Server<H> {
    /// A server for at most [`MAX_CONNECTIONS`] clients. Commands cannot be given until the console says so.
    pub fn new(host: H) -> Self {
        Self::with_room_for(host, MAX_CONNECTIONS)
    }

    /// A server for at most so many clients, counted from the moment they connect.
    pub fn with_room_for(host: H, connections: usize) -> Self {
        let shared = Shared {
            host: Arc::new(host),
            console: Console::new(),
            room: Arc::new(Semaphore::new(connections)),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            cut: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What logs, and what opens the console for commands.
    pub fn console(&self) -> &Console {
        &self.shared.console
    }

    /// The host.
    pub fn host(&self) -> &Arc<H> {
        &self.shared.host
    }

    /// Accepts and serves until [`Self::stop`]; the socket's file is gone when this returns.
    pub async fn listen(&self, socket: Socket) {
        while let Some(accepted) = self.shared.stop.run_until_cancelled(socket.listener.accept()).await {
            match accepted {
                Ok((stream, _)) => self.accept(stream),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept another connection to the console");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Serves a connection that somebody else accepted, in a task of its own. It is closed without a word if there is no
    /// room or the host does not want it: that is how existing servers do it, and clients then try again later.
    pub fn accept(&self, stream: UnixStream) {
        let Some(permit) = self.seat() else {
            tracing::debug!("a connection to the console is closed: there are too many");
            return;
        };
        match self.shared.host.admits(&stream) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::debug!(%error, "a connection to the console is closed: nobody knows whose it is");
                return;
            }
        }
        let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
        let server = self.clone();
        self.shared.tasks.spawn(async move {
            let ended = server.serve_seated(stream, process, permit).await;
            tracing::debug!(%ended, "a connection to the console ended");
        });
    }

    /// Serves whoever is at the other end of a stream, until one side ends it. A panic of the host goes on to the caller.
    pub async fn serve<S: AsyncRead + AsyncWrite + Send>(&self, stream: S) -> Ended {
        match self.seat() {
            Some(permit) => self.serve_seated(stream, None, permit).await,
            None => Ended::Full,
        }
    }

    /// Ends every connection: those who read get what was said to them, others are cut after [`DRAIN`]; commands that
    /// still run are dropped. New connections are closed from now on.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        // Twice: a connection may only begin to drain once its command is cut.
        let _ = timeout(DRAIN, self.shared.tasks.wait()).await;
        self.shared.cut.cancel();
        let _ = timeout(DRAIN * 2, self.shared.tasks.wait()).await;
    }

    fn seat(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.shared.room).try_acquire_owned().ok()
    }

    async fn serve_seated<S>(&self, stream: S, process: Option<i32>, permit: OwnedSemaphorePermit) -> Ended
    where
        S: AsyncRead + AsyncWrite + Send,
    {
        let ended = connection::serve(&self.shared, stream, process).await;
        drop(permit);
        ended
    }
}
