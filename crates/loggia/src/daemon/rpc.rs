//! The rpc door's socket: whoever connects is served as if they had started an agent of their own.
//!
//! Knows how connections come in and how many there may be, and what is said on them that is none of the protocol: a
//! preamble before it and a farewell after it. Refuses to know the protocol: that is for the door.
//!
//! What always holds: only processes of our own user that none of ours started are let in; after the stop nothing is
//! accepted, and what is under way ends within [`DRAIN`].

mod arrival;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loggia_rpc::{Exit, Launch, LaunchError, Parts};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::rpc::farewell::Farewell;
use arrival::{Arrival, Source};

/// Connections at once. Each is an editor or a script that runs; more are refused.
const MAX_CONNECTIONS: usize = 256;

/// Connections that are refused at once; each takes a moment, and more wait for that.
const MAX_REFUSED: usize = 64;

/// How long connections may take to end after the stop: each ends by itself in less than a second.
const DRAIN: Duration = Duration::from_secs(2);

/// How long a farewell may wait for whoever does not read.
const LAST_WORD: Duration = Duration::from_millis(100);

/// The door, and how many are in it.
#[derive(Debug, Clone)]
pub(crate) struct RpcDoor {
    parts: Parts,
    room: Arc<Semaphore>,
    /// For those who find none.
    vestibule: Arc<Semaphore>,
    connections: TaskTracker,
}

impl RpcDoor {
    pub(crate) fn new(parts: Parts) -> Self {
        let (room, vestibule) = (Semaphore::new(MAX_CONNECTIONS), Semaphore::new(MAX_REFUSED));
        Self { parts, room: room.into(), vestibule: vestibule.into(), connections: TaskTracker::new() }
    }

    /// How many are connected.
    pub(crate) fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Serves a listener until the stop, and then until the connections have ended. Who does not say where it works
    /// does so in `home`, else where the daemon stands.
    pub(crate) async fn serve(
        self,
        listener: UnixListener,
        home: Option<PathBuf>,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let home: Arc<Path> = home.map_or_else(std::env::current_dir, Ok)?.into();
        let accepted = tokio::select! {
            () = stop.cancelled() => Ok(()),
            broken = self.accept(&listener, &home, &stop) => broken,
        };
        // Nobody knocks in vain from here on.
        drop(listener);
        self.connections.close();
        if tokio::time::timeout(DRAIN, self.connections.wait()).await.is_err() {
            tracing::info!(connections = self.connections.len(), "rpc connections did not end in time");
        }
        accepted
    }

    async fn accept(
        &self,
        listener: &UnixListener,
        home: &Arc<Path>,
        stop: &CancellationToken,
    ) -> io::Result<()> {
        loop {
            let stream = loggia_http::accept_local(listener).await?;
            let (room, is_full) = match Arc::clone(&self.room).try_acquire_owned() {
                Ok(room) => (room, false),
                Err(_) => match Arc::clone(&self.vestibule).acquire_owned().await {
                    Ok(room) => (room, true),
                    Err(_) => return Ok(()),
                },
            };
            let (parts, home, stop) = (self.parts.clone(), Arc::clone(home), stop.clone());
            self.connections.spawn(async move {
                meet(parts, stream, &home, is_full, stop).await;
                drop(room);
            });
        }
    }
}

/// Serves one connection, or says that there is no room for it.
async fn meet(parts: Parts, stream: UnixStream, home: &Path, is_full: bool, stop: CancellationToken) {
    let (mut reader, mut writer) = stream.into_split();
    let arrival = tokio::select! {
        () = stop.cancelled() => return say_farewell(&mut writer, Exit { code: 0, reason: None }).await,
        arrival = Arrival::read(&mut reader) => arrival,
    };
    let launch = if is_full { Err(full()) } else { launch(&arrival, home) };
    let (kept, returned) = loggia_rpc::keep(writer);
    let exit = loggia_rpc::serve(parts, launch, Source::new(arrival, reader), kept, stop).await;
    if let Ok(Some(mut writer)) = tokio::time::timeout(LAST_WORD, returned.writer()).await {
        say_farewell(&mut writer, exit).await;
    }
}

/// What a connection asks for.
fn launch(arrival: &Arrival, home: &Path) -> Result<Launch, LaunchError> {
    let preamble = arrival.preamble.as_ref().map_err(Clone::clone)?;
    let (launch, says_where) = match preamble {
        Some(preamble) => {
            tracing::debug!(client = preamble.client, "an rpc client has come");
            (preamble.launch(home)?, preamble.cwd.is_some())
        }
        None => (Launch::new(home), false),
    };
    // A server that was started for nobody in particular stands there.
    if !says_where && launch.workspace == Path::new("/") {
        let reason = "the server does not know where to work: say it first, with `{\"loggia\":1,\"cwd\":\"DIR\"}` and a line end";
        return Err(LaunchError::Refused(reason.to_owned()));
    }
    Ok(launch)
}

fn full() -> LaunchError {
    LaunchError::Refused(format!(
        "the server serves {MAX_CONNECTIONS} clients already; end one of them, or start the agent with `--ephemeral`"
    ))
}

/// Tells the other end how to end.
async fn say_farewell(writer: &mut (impl AsyncWrite + Unpin), exit: Exit) {
    let farewell = Farewell::from(exit).line();
    let say = async {
        writer.write_all(&farewell).await?;
        writer.shutdown().await
    };
    if !matches!(tokio::time::timeout(LAST_WORD, say).await, Ok(Ok(()))) {
        tracing::debug!("an rpc client has gone before it was told how to end");
    }
}
