//! The connection, which is made again when it was lost.
//!
//! What always holds: what the server says comes out in order; of attempts that fail in the same way one is told; a server
//! that does not fit is told once, and nothing follows; a server that does not keep us is not asked in a hurry.

use std::path::PathBuf;
use std::time::Duration;

use loggia_endermux_io::client::{Backoff, Options};
use loggia_endermux_io::{Client, ConnectError, Disconnect, Event, Events};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::watch::Watch;

/// What may wait to be shown; the connection itself has room for more.
const WAITING: usize = 64;

/// A session that lasted so long was one, and the next attempt comes at once. A server that lets us in and closes is tried
/// again as rarely as one that is not there.
const WELL_AFTER: Duration = Duration::from_secs(1);

/// What becomes of the connection.
#[derive(Debug)]
pub(super) enum Happening {
    /// There is one.
    Attached(Client),
    /// The server says something.
    Said(Event),
    /// It has ended; another one is tried.
    Lost(Disconnect),
    /// Nobody is there yet; somebody is waited for.
    Absent(ConnectError),
    /// The two do not fit.
    Refused(ConnectError),
}

/// Whoever looks after the connection. It ends with this.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) happenings: mpsc::Receiver<Happening>,
    task: JoinHandle<()>,
}

impl Keeper {
    pub(super) fn start(path: PathBuf, options: Options) -> Self {
        let (sender, happenings) = mpsc::channel(WAITING);
        let work = Work { watch: Watch::new(&path), path, options, sender, backoff: Backoff::default() };
        Self { happenings, task: tokio::spawn(work.run()) }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Work {
    path: PathBuf,
    options: Options,
    watch: Watch,
    backoff: Backoff,
    sender: mpsc::Sender<Happening>,
}

impl Work {
    async fn run(mut self) {
        let mut is_told = false;
        loop {
            let file = self.watch.identity();
            let happened = match Client::connect(&self.path, &self.options).await {
                Ok((client, events)) => {
                    is_told = false;
                    self.options.fitted = Some(client.selected().epoch);
                    let began = Instant::now();
                    let Some(why) = self.serve(client, events).await else { return };
                    if began.elapsed() >= WELL_AFTER {
                        self.backoff.reset();
                    }
                    Some(Happening::Lost(why))
                }
                Err(error) if error.is_final() => {
                    // Whoever listened may have gone.
                    let _ = self.sender.send(Happening::Refused(error)).await;
                    return;
                }
                Err(error) => (!is_told).then_some(Happening::Absent(error)),
            };
            if let Some(happened) = happened {
                // Whoever knows that it was lost knows that nobody is there.
                is_told = true;
                if self.sender.send(happened).await.is_err() {
                    return;
                }
            }
            let now = self.watch.identity();
            if now.is_none() {
                self.watch.until_not(None).await;
                self.backoff.reset();
            } else if now == file {
                // Another file under that name is another server.
                let _ = tokio::time::timeout(self.backoff.wait(), self.watch.until_not(now)).await;
            }
        }
    }

    /// Passes on what the server says until the end, and tells why it ended; nothing if nobody listens any more.
    async fn serve(&mut self, client: Client, mut events: Events) -> Option<Disconnect> {
        self.sender.send(Happening::Attached(client.clone())).await.ok()?;
        // A server without logs, or a connection that is gone already: the events tell.
        let _ = client.subscribe().await;
        while let Some(event) = events.next().await {
            match event {
                Event::Closed(why) => return Some(why),
                event => self.sender.send(Happening::Said(event)).await.ok()?,
            }
        }
        Some(Disconnect::ByServer)
    }
}

#[cfg(test)]
mod tests {
    use loggia_endermux_io::server::Socket;
    use loggia_endermux_io::{Host, Server};
    use loggia_protocol_endermux::ColorLevel;

    use super::*;

    struct Nobody;

    impl Host for Nobody {}

    #[tokio::test]
    async fn a_server_that_closes_at_once_is_tried_again_after_a_pause() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        let server = Server::new(Nobody);
        let console = server.console().clone();
        let socket = Socket::bind(&path).await.unwrap();
        let listening = tokio::spawn({
            let server = server.clone();
            async move { server.listen(socket).await }
        });
        let mut there = console.presence();
        let closing = tokio::spawn(async move {
            while let Ok(all) = there.wait_for(|all| !all.is_empty()).await.map(|all| all.clone()) {
                for client in all {
                    console.disconnect(client.id);
                }
            }
        });
        let mut keeper = Keeper::start(path, Options::new(ColorLevel::None));
        let mut lost = Vec::new();
        while lost.len() < 3 {
            if let Happening::Lost(_) = keeper.happenings.recv().await.unwrap() {
                lost.push(Instant::now());
            }
        }
        // The first time it may have been chance.
        assert!(lost[1] - lost[0] < WELL_AFTER, "{:?}", lost[1] - lost[0]);
        assert!(lost[2] - lost[1] >= WELL_AFTER, "{:?}", lost[2] - lost[1]);
        closing.abort();
        drop(keeper);
        server.stop().await;
        listening.await.unwrap();
    }
}
