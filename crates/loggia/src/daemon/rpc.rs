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

use loggia_rpc::{Launch, Parts};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::rpc::farewell::Farewell;
use arrival::{Arrival, Source};

/// Connections at once. Each is an editor or a script that runs; more wait until one of them ends.
const MAX_CONNECTIONS: usize = 256;

/// How long connections may take to end after the stop: each ends by itself in less than a second.
const DRAIN: Duration = Duration::from_secs(2);

/// How long a farewell may wait for whoever does not read.
const LAST_WORD: Duration = Duration::from_millis(100);

/// The door, and how many are in it.
#[derive(Debug, Clone)]
pub(crate) struct RpcDoor {
    parts: Parts,
    room: Arc<Semaphore>,
    connections: TaskTracker,
}

impl RpcDoor {
    pub(crate) fn new(parts: Parts) -> Self {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Self { parts, room, connections: TaskTracker::new() }
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
            let Ok(place) = Arc::clone(&self.room).acquire_owned().await else { return Ok(()) };
            let stream = loggia_http::accept_local(listener).await?;
            let (parts, home, stop) = (self.parts.clone(), Arc::clone(home), stop.clone());
            self.connections.spawn(async move {
                meet(parts, stream, &home, stop).await;
                drop(place);
            });
        }
    }
}

/// Serves one connection.
async fn meet(parts: Parts, stream: UnixStream, home: &Path, stop: CancellationToken) {
    let (mut reader, writer) = stream.into_split();
    let arrival = tokio::select! {
        () = stop.cancelled() => return,
        arrival = Arrival::read(&mut reader) => arrival,
    };
    let launch = match &arrival.preamble {
        Ok(Some(preamble)) => {
            tracing::debug!(client = preamble.client, "an rpc client has come");
            preamble.launch(home)
        }
        Ok(None) => Ok(Launch::new(home)),
        Err(error) => Err(error.clone()),
    };
    let (kept, returned) = loggia_rpc::keep(writer);
    let exit = loggia_rpc::serve(parts, launch, Source::new(arrival, reader), kept, stop).await;
    let farewell = Farewell::from(exit).line();
    let say = async {
        if let Some(mut writer) = returned.writer().await {
            writer.write_all(&farewell).await?;
            writer.shutdown().await?;
        }
        Ok::<(), io::Error>(())
    };
    if !matches!(tokio::time::timeout(LAST_WORD, say).await, Ok(Ok(()))) {
        tracing::debug!("an rpc client has gone before it was told how to end");
    }
}
