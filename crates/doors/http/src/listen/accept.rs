//! The loop that takes connections in.
//!
//! Knows which failures pass. Invariant: there is room for a connection before it is accepted.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpStream, UnixListener, UnixStream};

use super::connection::{self, Arrival};
use super::{Hall, Listener, local_peer};
use crate::Peer;

/// How long to wait when the process has no file or memory left: others have to end first.
const BREATHER: Duration = Duration::from_millis(200);

/// Accepts until the stop.
pub(super) async fn run(hall: &Arc<Hall>, listener: Listener) -> io::Result<()> {
    tokio::select! {
        () = hall.stop.cancelled() => Ok(()),
        broken = accept(hall, listener) => broken,
    }
}

async fn accept(hall: &Arc<Hall>, listener: Listener) -> io::Result<()> {
    loop {
        let Ok(room) = Arc::clone(&hall.room).acquire_owned().await else { return Ok(()) };
        // The place is taken from here on, also while a client's handshake or our look at it takes time.
        let arrival = Arrival::new(hall, room);
        let taken = match &listener {
            Listener::Tcp(listener, tls) => listener.accept().await.map(|(stream, address)| {
                hurry(&stream);
                let tls = tls.as_ref().map(super::Tls::acceptor);
                hall.connections.spawn(connection::run(arrival, stream, tls, Peer::Tcp(address)));
            }),
            Listener::Unix(listener) => {
                listener.accept().await.map(|(stream, _)| meet(hall, arrival, stream))
            }
        };
        if let Err(error) = taken {
            survive(error).await?;
        }
    }
}

/// The next connection of a process of our own user that none of ours started, for doors that speak no HTTP.
///
/// # Errors
/// If the listener itself breaks.
pub async fn accept_local(listener: &UnixListener) -> io::Result<UnixStream> {
    loop {
        match listener.accept().await {
            Ok((stream, _)) if is_welcome(&stream) => return Ok(stream),
            Ok(_) => {}
            Err(error) => survive(error).await?,
        }
    }
}

/// Goes on after a failure to accept, if one can.
async fn survive(error: io::Error) -> io::Result<()> {
    if is_of_one_connection(&error) {
        tracing::debug!(%error, "a connection was gone before it was accepted");
    } else if is_passing(&error) {
        tracing::warn!(%error, "cannot accept connections for now");
        tokio::time::sleep(BREATHER).await;
    } else {
        return Err(error);
    }
    Ok(())
}

/// Serves a local process if it is one of the user's own and none of ours.
fn meet(hall: &Arc<Hall>, arrival: Arrival, stream: UnixStream) {
    if is_welcome(&stream) {
        hall.connections.spawn(connection::run(arrival, stream, None, Peer::SameUser));
    }
}

/// Whether whoever connected to a socket of ours is a process of our own user that none of ours started. One that is not
/// is told in the log.
pub fn is_welcome(stream: &UnixStream) -> bool {
    let checked = local_peer::check(stream);
    if let Err(refusal) = &checked {
        tracing::warn!(%refusal, "a local connection was refused");
    }
    checked.is_ok()
}

/// A token of a reply is a few bytes, and wanted now.
fn hurry(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays unhurried");
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Whether it works again once others have ended.
fn is_passing(error: &io::Error) -> bool {
    let passing = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|error| passing.contains(&error))
}
