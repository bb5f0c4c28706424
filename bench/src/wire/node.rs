//! `vscode-jsonrpc` on both ends, in two node processes, when node and npm are there.

#![expect(clippy::disallowed_methods, reason = "a chore that runs node and npm to their end")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::payload::Load;

const SCRIPT: &str = include_str!("../../node/vscode-jsonrpc.cjs");
const PACKAGE: &str = "vscode-jsonrpc@8.2.1";

/// A directory in which the package is installed; nothing when node or npm is not there.
pub fn prepare() -> Result<Option<PathBuf>> {
    let present =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !present("node") || !present("npm") {
        return Ok(None);
    }
    let directory = std::env::temp_dir().join("loggia-bench-node");
    std::fs::create_dir_all(&directory)?;
    if !directory.join("node_modules/vscode-jsonrpc").exists() {
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(&directory)
            .arg(PACKAGE)
            .output()?;
        if !npm.status.success() {
            return Ok(None);
        }
    }
    std::fs::write(directory.join("peer.cjs"), SCRIPT)?;
    Ok(Some(directory))
}

/// One measurement; the script times itself, so starting node does not count.
pub fn measure(directory: &PathBuf, load: Load) -> Result<Duration> {
    let text = super::payload::text(load.bytes).text;
    let output = Command::new("node")
        .arg("peer.cjs")
        .args([load.requests.to_string(), load.window.to_string()])
        .arg(serde_json::to_string(&text)?)
        .current_dir(directory)
        .output()?;
    anyhow::ensure!(output.status.success(), "node: {}", String::from_utf8_lossy(&output.stderr));
    let milliseconds: f64 =
        String::from_utf8(output.stdout)?.trim().parse().context("milliseconds from node")?;
    Ok(Duration::from_secs_f64(milliseconds / 1000.0))
}
