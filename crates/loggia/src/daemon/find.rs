//! Finding the daemon, or starting one.
//!
//! Knows where it is looked for and that one start is enough for all who wait. Refuses to know what is asked of it.
//!
//! What always holds: of many who find none, one starts it and the others wait until it is ready; what a daemon that was
//! killed left behind keeps nobody from starting the next.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loggia_client::{Client, Server};
use loggia_protocol_agent_server::{CONTROL_VERSION, Health};

use super::directories::{self, RuntimeDirectory};
use super::lock::{self, StartLock};
use super::{DaemonError, detach, environment};
use crate::config::places::Places;

/// How long one may take that is coming up or going away without our doing: as long as `loggia stop` waits for one.
const PATIENCE: Duration = Duration::from_secs(35);

/// How often to look at such a one: nobody tells.
const LOOK: Duration = Duration::from_millis(5);

/// How long a daemon may take to say how it is: it costs it nothing.
const ANSWER: Duration = Duration::from_secs(5);

/// How often it is looked for when it goes away right after it was found or started: it may leave at any moment, but not
/// each time.
const TRIES: u32 = 7;

/// How long the second try waits, each further one twice as long: one that is dying still takes connections.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// The socket of a daemon that answers, started if there was none. Waits.
pub(crate) fn or_start(places: &Places, variables: &[String]) -> Result<PathBuf, DaemonError> {
    let runtime = RuntimeDirectory::of(places);
    let socket = runtime.http_socket();
    if runtime.is_ours() && answers(&socket) {
        return Ok(socket);
    }
    directories::make_private(places.data())?;
    directories::make_private(runtime.path())?;
    // Whoever had it before us has started one, or could not.
    let _ours = StartLock::wait(&runtime.start_lock_file())?;
    if !settled(&runtime)? {
        tracing::debug!("no server runs; starting one");
        detach::start_for(environment::for_daemon(variables))?;
    }
    Ok(socket)
}

/// A connection to the rpc door of a daemon, started if there was none. Waits.
pub(crate) fn rpc(places: &Places, variables: &[String]) -> Result<UnixStream, DaemonError> {
    let runtime = RuntimeDirectory::of(places);
    let socket = runtime.rpc_socket();
    if runtime.is_ours()
        && let Ok(stream) = UnixStream::connect(&socket)
    {
        return Ok(stream);
    }
    for _ in 0..TRIES {
        or_start(places, variables)?;
        // If not: it may have been about to leave.
        if let Ok(stream) = UnixStream::connect(&socket) {
            return Ok(stream);
        }
    }
    Err(DaemonError::NoRpc(lock::holder(&runtime.lock_file())?.unwrap_or_default()))
}

/// The same as the first, a client of it that it understands, and how it is.
pub(crate) async fn client(places: &Places, variables: &[String]) -> Result<(Client, Health), DaemonError> {
    let (mut tries, mut pause) = (1, FIRST_PAUSE);
    loop {
        if tries > 1 {
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        let socket = match or_start(places, variables) {
            // Somebody killed it while it came up.
            Err(DaemonError::NotStarted { code: None, .. }) if tries < TRIES => {
                tries += 1;
                continue;
            }
            found => found?,
        };
        let client = Client::new(Server::Unix(socket));
        match tokio::time::timeout(ANSWER, client.health()).await {
            Ok(Ok(health)) => return check(&health).map(|()| (client, health)),
            Ok(Err(error)) if error.problem().is_some() => {
                return Err(DaemonError::Refused { status: error.to_string() });
            }
            // It may have been about to leave.
            Ok(Err(error)) if tries < TRIES => {
                tracing::debug!(%error, "the server went away");
                tries += 1;
            }
            _ => {
                let record = lock::holder(&RuntimeDirectory::of(places).lock_file())?;
                return Err(DaemonError::Silent(record.unwrap_or_default()));
            }
        }
    }
}

/// Whether a daemon is one that we can talk to.
fn check(health: &Health) -> Result<(), DaemonError> {
    let Health { version, control, .. } = health;
    if *control == CONTROL_VERSION {
        return Ok(());
    }
    Err(DaemonError::OtherControl { version: version.clone(), control: *control })
}

/// Waits until a daemon answers or none is there; which of them.
fn settled(runtime: &RuntimeDirectory) -> Result<bool, DaemonError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if answers(&runtime.http_socket()) {
            return Ok(true);
        }
        // One that has the lock and does not answer is coming up or going away.
        let Some(record) = lock::holder(&runtime.lock_file())? else { return Ok(false) };
        if Instant::now() > deadline {
            return Err(DaemonError::Silent(record));
        }
        std::thread::sleep(LOOK);
    }
}

fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(control: u32) -> Health {
        serde_json::from_value(serde_json::json!({
            "status": "ok", "version": "9.9.9", "uptime_ms": 1, "control": control,
            "checks": { "store": "ok", "index": "ok", "model": "ok" },
        }))
        .unwrap()
    }

    #[test]
    fn another_version_works_and_another_control_version_says_who_is_older() {
        check(&health(CONTROL_VERSION)).unwrap();
        let hint = |control| check(&health(control)).unwrap_err().hint().unwrap();
        assert!(hint(0).starts_with("restart the server"), "{}", hint(0));
        assert!(hint(CONTROL_VERSION + 1).starts_with("update this command"));
    }
}
