//! `loggia status`: whether a server runs, and how it is.
//!
//! The server is asked over its Unix socket, with the same requests any client can make. What it does not tell is left
//! out; only its health must be known.

use hyper::{Method, StatusCode};
use loggia_protocol_agent_server::{CurrentModel, Health, HealthChecks, Workspace, WorkspacePage};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::StatusArguments;
use crate::color::{ASIDE, SUBJECT};
use crate::config::places::Places;
use crate::daemon::directories::RuntimeDirectory;
use crate::daemon::lock::{self, Record};
use crate::daemon::{DaemonError, client};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// Workspaces that are listed; beyond that nobody reads them.
const WORKSPACES: usize = 200;

/// What is printed as JSON. Everything but `running` is absent when no server runs.
#[derive(Debug, Default, Serialize)]
struct Shown {
    running: bool,
    #[serde(flatten)]
    running_one: Option<Running>,
}

/// A server that runs. What it does not tell is `null`.
#[derive(Debug, Serialize)]
struct Running {
    #[serde(flatten)]
    record: Record,
    #[serde(flatten)]
    health: Health,
    /// The model of new sessions.
    model: Option<String>,
    sessions: Option<Sessions>,
    /// How many are on sessions, one that is on two counted twice.
    clients: Option<u64>,
    workspaces: Option<Vec<Place>>,
    /// Memory it holds, in bytes, where the system tells.
    rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Sessions {
    /// In memory.
    loaded: u64,
    /// With a turn that runs.
    running: u64,
    /// With a turn that waits for an answer.
    waiting: u64,
}

#[derive(Debug, Serialize)]
struct Place {
    workspace_id: String,
    name: String,
    root_path: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Error> {
    let runtime = RuntimeDirectory::of(&Places::find()?);
    let holder = if runtime.is_ours() { lock::holder(&runtime.lock_file())? } else { None };
    let Some(record) = holder else {
        show(arguments.json, &Shown::default(), &["no server runs".to_owned()])?;
        return Ok(ExitCode::Unavailable);
    };
    let running = look(&runtime, record)?;
    let lines = lines(&running);
    show(arguments.json, &Shown { running: true, running_one: Some(running) }, &lines)?;
    Ok(ExitCode::Success)
}

fn look(runtime: &RuntimeDirectory, record: Record) -> Result<Running, DaemonError> {
    let health = health(runtime, &record)?;
    let model: Option<CurrentModel> = tell(runtime, "/v1/models/current");
    let page: Option<WorkspacePage> = tell(runtime, &format!("/v1/workspaces?limit={WORKSPACES}"));
    let metrics = ask(runtime, "/metrics").map(|body| String::from_utf8_lossy(&body).into_owned());
    let number = |name: &str| metrics.as_deref().and_then(|text| client::metric(text, name));
    let sessions = (
        number("loggia_sessions_loaded"),
        number("loggia_sessions_running"),
        number("loggia_sessions_waiting"),
    );
    Ok(Running {
        model: model.map(|model| format!("{}:{}", model.provider, model.model_name)),
        sessions: match sessions {
            (Some(loaded), Some(running), Some(waiting)) => Some(Sessions { loaded, running, waiting }),
            _ => None,
        },
        clients: number("loggia_clients"),
        workspaces: page.map(|page| page.workspaces.into_iter().map(Place::from).collect()),
        rss_bytes: memory(record.pid),
        record,
        health,
    })
}

impl From<Workspace> for Place {
    fn from(workspace: Workspace) -> Self {
        let Workspace { workspace_id, name, root_path, .. } = workspace;
        Self { workspace_id: workspace_id.0, name, root_path }
    }
}

fn health(runtime: &RuntimeDirectory, record: &Record) -> Result<Health, DaemonError> {
    let silent = || DaemonError::Silent(record.clone());
    let answer = client::ask(&runtime.http_socket(), Method::GET, "/v1/health").map_err(|error| {
        tracing::debug!(%error, "no answer");
        silent()
    })?;
    // A server that is not well says so in the same form.
    if answer.status != StatusCode::OK && answer.status != StatusCode::SERVICE_UNAVAILABLE {
        return Err(DaemonError::Refused { status: answer.status.to_string() });
    }
    serde_json::from_slice(&answer.body).map_err(|_| silent())
}

/// What a server says to a request, if it does.
fn ask(runtime: &RuntimeDirectory, path: &str) -> Option<hyper::body::Bytes> {
    let answer = client::ask(&runtime.http_socket(), Method::GET, path).ok()?;
    (answer.status == StatusCode::OK).then_some(answer.body)
}

fn tell<T: DeserializeOwned>(runtime: &RuntimeDirectory, path: &str) -> Option<T> {
    serde_json::from_slice(&ask(runtime, path)?).ok()
}

/// The memory a process holds, where the system tells.
fn memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn show(json: bool, shown: &Shown, lines: &[String]) -> Result<(), Error> {
    let mut printer = Printer::new();
    if json {
        let text = serde_json::to_string(shown).expect("texts and numbers can always be written");
        printer.line(text)?;
    } else {
        lines.iter().try_for_each(|line| printer.line(line))?;
    }
    printer.finish()
}

fn lines(running: &Running) -> Vec<String> {
    let Running { record, health, model, sessions, clients, workspaces, rss_bytes } = running;
    let place = record.place().unwrap_or("not ready yet");
    let mut lines = vec![format!("{SUBJECT}running{SUBJECT:#} at {}", printable(place))];
    let mut fact = |name: &str, text: &str| {
        lines.push(format!("  {ASIDE}{name:<9}{ASIDE:#} {}", printable(text)));
    };
    fact("process", &record.pid.to_string());
    fact("version", &health.version);
    fact("up", &time(health.uptime_ms));
    if let Some(bytes) = rss_bytes {
        fact("memory", &format!("{} MiB", bytes.div_ceil(1 << 20)));
    }
    if record.auto {
        fact("leaves", "when nobody has needed it for a while");
    }
    if let Some(socket) = &record.http_socket {
        fact("socket", socket);
    }
    if let Some(socket) = &record.rpc_socket {
        fact("rpc", socket);
    }
    if let Some(socket) = &record.console_socket {
        fact("console", socket);
    }
    fact("model", model.as_deref().unwrap_or("none"));
    if let Some(Sessions { loaded, running, waiting }) = sessions {
        fact("sessions", &format!("{loaded} in memory, {running} running, {waiting} waiting for an answer"));
    }
    if let Some(clients) = clients {
        fact("clients", &clients.to_string());
    }
    for place in workspaces.iter().flatten() {
        fact("workspace", &place.root_path);
    }
    let HealthChecks { store, index, model } = &health.checks;
    fact("health", &format!("{}: store {store}, index {index}, model {model}", health.status));
    lines
}

/// A time in its two largest units.
fn time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_two_units() {
        let told: Vec<_> = [900, 59_000, 61_000, 3_700_000, 90_000_000].map(time).into();
        assert_eq!(told, ["0 s", "59 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
    }
}
