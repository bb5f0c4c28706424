//! Real servers in processes of their own: the daemon as people start it, and the floor.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use loggia_client::{Client, Server as Place};
use loggia_protocol_agent_server::{CommandMode, PolicyPreset, RegisterWorkspaceParams};
use serde::Deserialize;
use tempfile::TempDir;

use super::process;
use crate::engine::world::scratch;

/// A server that runs, and is killed with this.
#[derive(Debug)]
pub(super) struct Running {
    process: Child,
    pub(super) address: SocketAddr,
    pub(super) token: String,
    /// When it was started.
    pub(super) started: Instant,
    /// Where it lives, if it is the daemon.
    home: Option<TempDir>,
}

/// The line the daemon tells when it is ready.
#[derive(Debug, Deserialize)]
struct Ready {
    url: String,
    token_file: String,
}

/// Starts the daemon that lies beside this program, with a script for its model, in a new home.
pub(super) fn start(script: &str) -> Result<Running> {
    let home = scratch()?;
    std::fs::write(home.path().join("script.toml"), script)?;
    std::fs::create_dir(home.path().join("work"))?;
    let program = std::env::current_exe()?.with_file_name("loggia");
    ensure!(program.exists(), "there is no {}; build it with the same profile", program.display());
    let mut command = command(&program, home.path());
    let model = format!("scripted:{}", home.path().join("script.toml").display());
    let started = Instant::now();
    let mut process =
        command.args(["--quiet", "serve", "--addr", "127.0.0.1:0", "--json", "--model", &model]).spawn()?;
    let line = first_line(&mut process)?;
    let ready: Ready = serde_json::from_str(&line).with_context(|| format!("the daemon says {line:?}"))?;
    let address = ready.url.strip_prefix("http://").unwrap_or(&ready.url).trim_end_matches('/').parse()?;
    let token = std::fs::read_to_string(ready.token_file)?.trim().to_owned();
    Ok(Running { process, address, token, started, home: Some(home) })
}

/// How long the program takes to start and say its version: what no daemon can be faster than.
pub(super) fn bare_start() -> Result<f64> {
    let home = scratch()?;
    let program = std::env::current_exe()?.with_file_name("loggia");
    let started = Instant::now();
    let status = command(&program, home.path()).arg("--version").status()?;
    ensure!(status.success(), "`loggia --version` ended with {status}");
    Ok(started.elapsed().as_secs_f64() * 1000.0)
}

#[expect(clippy::disallowed_methods, reason = "the daemon, as people start it")]
fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(home)
        .env("LOGGIA_DATA_DIR", home.join("data"))
        .env("LOGGIA_CONFIG_DIR", home.join("config"))
        .env("LOGGIA_RUNTIME_DIR", home.join("runtime"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Starts the floor.
pub(super) fn start_bare() -> Result<Running> {
    let started = Instant::now();
    let mut process = process::start(&["bare"])?;
    let address = first_line(&mut process)?.trim().parse()?;
    Ok(Running { process, address, token: String::new(), started, home: None })
}

fn first_line(process: &mut Child) -> Result<String> {
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().context("a pipe")?).read_line(&mut line)?;
    Ok(line)
}

impl Running {
    /// Whether it is the floor.
    pub(super) fn is_bare(&self) -> bool {
        self.home.is_none()
    }

    /// The body of a request for a session in which everything is allowed. The floor needs none.
    pub(super) async fn prepare(&self) -> Result<String> {
        let Some(home) = &self.home else { return Ok("{}".to_owned()) };
        let place = Place::Tcp { host: self.address.ip().to_string(), port: self.address.port() };
        let client = Client::new(place).with_token(self.token.clone());
        let root_path = home.path().join("work").to_str().context("a path of plain text")?.to_owned();
        let workspace = client.register_workspace(&RegisterWorkspaceParams { root_path, name: None }).await?;
        let id = workspace.workspace_id;
        let mut policy = client.policy(&id).await?;
        policy.preset = PolicyPreset::Full;
        policy.command_mode = CommandMode::ServerRunner;
        client.put_policy(&id, &policy).await?;
        Ok(serde_json::json!({ "workspace_id": id, "policy_preset": "full" }).to_string())
    }

    /// Resident memory in MiB, page by page.
    pub(super) fn resident(&self) -> Result<f64> {
        let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.process.id()))?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:")).context("its memory")?;
        let kib: f64 = line.split_ascii_whitespace().next().context("a number")?.parse()?;
        Ok(kib / 1024.0)
    }

    /// CPU time in seconds, all threads together.
    pub(super) fn cpu(&self) -> Result<f64> {
        crate::process::cpu(&crate::process::place(&self.process))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its home is removed with it; there is nothing to save, and nothing to be done if it is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
