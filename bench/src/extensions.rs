//! What an extension costs a host: a command that changes the message, and a hundred that rest.
//!
//! Knows what is measured. The floor is the same child at the end of two pipes, with frames written and read by hand: no
//! keeper, no desk, no order of calls.
//!
//! What always holds: contenders take turns within a round and talk to the same program. A command's round is over when
//! the extension asks again, which it does once it has the answer to its patch.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod child;
mod desk;
mod raw;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use loggia_domain::{ExtensionState, GuestCommands, Timestamp, Workspace, WorkspaceId};
use loggia_extensions::{ExtensionEntry, Extensions, HostSettings, Limits};
use loggia_wire::child::Keeper;

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::process::resident;
use crate::rows::{Row, Rows};
pub use child::serve;
use desk::{Desk, Nobody};
use raw::Raw;

const PART: &str = "Extensions as child processes";

/// Commands of one round, one after another.
const COMMANDS: usize = 500;

/// Extensions that rest, as nobody has them.
const MANY: usize = 100;

const ROUND: Row = Row::free("a command, its patch and the answer", "µs");
const START: Row = Row::free("start to the end of the handshake", "ms");
const MEMORY: Row = Row::limited("100 extensions that rest, memory of the host", "MiB", Limit::AtMost(25.0));

const ROWS: &[Row] = &[ROUND, START, MEMORY];

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut rows = Rows::new(PART, ROWS);
    for round in 0..=rounds {
        eprint!("\r\x1b[Kextensions: round {round} of {rounds}");
        rows.keep = round > 0;
        runtime.block_on(ours(&mut rows))?;
        floor(&mut rows)?;
        rows.ours(&MEMORY, memory()?);
    }
    eprint!("\r\x1b[K");
    rows.figures()
}

/// Through the host.
async fn ours(rows: &mut Rows) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (desk, mut patched) = Desk::new();
    let host = host(directory.path(), 1, desk)?;
    let began = Instant::now();
    started(&host).await?;
    rows.ours(&START, began.elapsed().as_secs_f64() * 1e3);
    let mut spent = Duration::ZERO;
    for _ in 0..COMMANDS {
        let began = Instant::now();
        let given = host.execute(child::COMMAND.to_owned(), None, None);
        let both = async {
            patched.recv().await.context("the first patch")?;
            patched.recv().await.context("the second patch")
        };
        let (done, second) = tokio::join!(given, both);
        spent += second?.duration_since(began);
        ensure!(!done?.still_busy);
    }
    rows.ours(&ROUND, spent.as_secs_f64() * 1e6 / COMMANDS as f64);
    host.stop().await;
    Ok(())
}

/// By hand.
fn floor(rows: &mut Rows) -> Result<()> {
    let began = Instant::now();
    let mut raw = Raw::start()?;
    raw.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#)?;
    raw.hear()?;
    rows.floor(&START, began.elapsed().as_secs_f64() * 1e3);
    let command = format!(
        r#"{{"jsonrpc":"2.0","method":"command/execute","params":{{"command":"{}"}}}}"#,
        child::COMMAND
    );
    let mut spent = Duration::ZERO;
    for number in 0..COMMANDS {
        let began = Instant::now();
        raw.say(&command)?;
        let answer = |id: usize| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"success":true,"patchesApplied":1}}}}"#)
        };
        ensure!(raw.hear()?.contains("PID.5.1"));
        raw.say(&answer(2 * number + 1))?;
        ensure!(raw.hear()?.contains("PID.5.1"));
        spent += began.elapsed();
        raw.say(&answer(2 * number + 2))?;
    }
    rows.floor(&ROUND, spent.as_secs_f64() * 1e6 / COMMANDS as f64);
    Ok(())
}

/// How much a host grows with many extensions, in a process of its own.
fn memory() -> Result<f64> {
    #[expect(clippy::disallowed_methods, reason = "itself, as another process")]
    let output = std::process::Command::new(std::env::current_exe()?).arg("extensions-rest").output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)?.trim().parse().context("a number")
}

/// Starts many extensions, and tells by how many MiB this process has grown when all of them rest.
pub fn rest() -> Result<f64> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let directory = tempfile::tempdir()?;
        let itself = PathBuf::from("/proc/self");
        let (desk, _patched) = Desk::new();
        let host = host(directory.path(), MANY, desk)?;
        let before = resident(&itself)?;
        started(&host).await?;
        let grown = resident(&itself)? - before;
        host.stop().await;
        Ok(grown)
    })
}

async fn started(host: &Extensions) -> Result<()> {
    for one in host.start_all().await {
        ensure!(one.state == ExtensionState::Running, "{}: {:?}", one.name, one.state);
    }
    Ok(())
}

fn host(directory: &Path, count: usize, desk: Arc<Desk>) -> Result<Extensions> {
    let itself = std::env::current_exe()?;
    let entry = ExtensionEntry {
        args: vec!["extension-child".to_owned()],
        ..ExtensionEntry::new(itself.to_string_lossy().into_owned())
    };
    let settings = HostSettings {
        workspace: Workspace {
            id: WorkspaceId::new(),
            name: "bench".to_owned(),
            root: directory.to_owned(),
            created: Timestamp::now(),
        },
        entries: vec![entry; count],
        environment: std::env::vars_os().collect(),
        data_directory: directory.join("data"),
        // The pause after which a command counts as done is not what is measured.
        limits: Limits { quiet: Duration::from_millis(1), ..Limits::default() },
        trust: Arc::new(|| true),
    };
    Ok(Extensions::new(Keeper::new(itself, ["keep"]), settings, desk, Arc::new(Nobody)))
}
