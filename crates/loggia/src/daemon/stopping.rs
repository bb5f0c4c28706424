//! Ending a daemon from outside.
//!
//! Knows how one is asked to stop and how its end is noticed. What always holds: what another daemon does that was started
//! meanwhile is none of our business; an open message that is not saved goes with it only if that is meant.

use std::time::{Duration, Instant};

use hyper::{Method, StatusCode};
use loggia_domain::Unsaved;
use loggia_protocol_agent_server::MessageList;
use rustix::process::{Pid, Signal, kill_process};

use super::directories::RuntimeDirectory;
use super::lock::{self, Record};
use super::{DaemonError, client};
use crate::config::places::Places;

/// Doors may take five seconds, the engine ten, plugins fifteen and telemetry two; then a little.
const PATIENCE: Duration = Duration::from_secs(35);

/// How often to look whether it has gone: nobody tells.
const LOOK: Duration = Duration::from_millis(20);

/// What it counts that shows that somebody needs it.
const SIGNS: [&str; 3] = ["loggia_clients", "loggia_sessions_running", "loggia_sessions_waiting"];

/// What became of a daemon that was to go if nobody needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Freed {
    /// None ran.
    Absent,
    /// It has gone; the next command starts another.
    Gone,
    /// Somebody needs it, or it was started to stay.
    Stays(Record),
}

/// The daemon that runs, if one does.
pub(crate) fn running(places: &Places) -> Result<Option<Record>, DaemonError> {
    holder(&RuntimeDirectory::of(places))
}

/// Whether the daemon that runs was started without all of these variables. Where the system does not tell, it was not.
pub(crate) fn lacks(places: &Places, names: &[&str]) -> Result<bool, DaemonError> {
    let Some(record) = running(places)? else { return Ok(false) };
    let Ok(environment) = std::fs::read(format!("/proc/{}/environ", record.pid)) else { return Ok(false) };
    let is_set = |name: &&str| {
        let value = |pair: &[u8]| matches!(pair.strip_prefix(name.as_bytes()), Some([b'=', _, ..]));
        environment.split(|byte| *byte == 0).any(value)
    };
    Ok(!names.iter().any(is_set))
}

/// Asks the daemon that runs to stop, and waits until it has. Which one it was.
pub(crate) fn stop(places: &Places, unsaved: Unsaved) -> Result<Option<Record>, DaemonError> {
    let runtime = RuntimeDirectory::of(places);
    let Some(record) = holder(&runtime)? else { return Ok(None) };
    let lost = if unsaved == Unsaved::Keep { unsaved_messages(&runtime) } else { Vec::new() };
    if !lost.is_empty() {
        return Err(DaemonError::UnsavedMessages(lost));
    }
    ask(&runtime, &record)?;
    let deadline = Instant::now() + PATIENCE;
    while let Some(there) = holder(&runtime)?.filter(|there| there.pid == record.pid || there.pid == 0) {
        if Instant::now() > deadline {
            return Err(DaemonError::StillThere(there));
        }
        std::thread::sleep(LOOK);
    }
    Ok(Some(record))
}

/// Lets a daemon go that a command started by itself and that nobody needs now, so that the next one is started with what
/// is set by then.
pub(crate) fn free(places: &Places) -> Result<Freed, DaemonError> {
    let runtime = RuntimeDirectory::of(places);
    let Some(record) = holder(&runtime)? else { return Ok(Freed::Absent) };
    if !record.auto || is_needed(&runtime) {
        return Ok(Freed::Stays(record));
    }
    stop(places, Unsaved::Keep)?;
    Ok(Freed::Gone)
}

/// The messages that are open and not saved, by what people call them. One that does not say has none: an older daemon
/// has no messages.
fn unsaved_messages(runtime: &RuntimeDirectory) -> Vec<String> {
    let Ok(answer) = client::ask(&runtime.http_socket(), Method::GET, "/v1/messages") else {
        return Vec::new();
    };
    let list: MessageList = serde_json::from_slice(&answer.body).unwrap_or_default();
    let unsaved = list.messages.into_iter().filter(|message| message.unsaved);
    unsaved.map(|message| message.file.unwrap_or_else(|| "a message without a file".to_owned())).collect()
}

/// Whether somebody is on a session, a turn runs, a question is open or a message is not saved; one that does not say is
/// left alone.
fn is_needed(runtime: &RuntimeDirectory) -> bool {
    if !unsaved_messages(runtime).is_empty() {
        return true;
    }
    match client::ask(&runtime.http_socket(), Method::GET, "/metrics") {
        Ok(answer) if answer.status == StatusCode::OK => {
            let text = String::from_utf8_lossy(&answer.body);
            SIGNS.iter().any(|name| client::metric(&text, name) != Some(0))
        }
        _ => true,
    }
}

fn holder(runtime: &RuntimeDirectory) -> Result<Option<Record>, DaemonError> {
    if runtime.is_ours() { lock::holder(&runtime.lock_file()) } else { Ok(None) }
}

/// Asks politely; one that cannot hear, by a signal.
fn ask(runtime: &RuntimeDirectory, record: &Record) -> Result<(), DaemonError> {
    match client::ask(&runtime.http_socket(), Method::POST, "/v1/stop") {
        Ok(answer) if answer.status.is_success() => Ok(()),
        Ok(answer) => Err(DaemonError::Refused { status: answer.status.to_string() }),
        Err(error) => {
            tracing::debug!(%error, "no answer; a signal will do");
            let pid = i32::try_from(record.pid).ok().and_then(Pid::from_raw);
            let Some(pid) = pid else { return Err(DaemonError::Silent(record.clone())) };
            // Whoever has gone meanwhile is found gone.
            let _ = kill_process(pid, Signal::TERM);
            Ok(())
        }
    }
}
