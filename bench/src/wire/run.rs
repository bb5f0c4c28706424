//! Running the contenders in turns and telling how they did.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use loggia_wire::child::{Child, ChildSpec, Keeper, spawn};
use loggia_wire::framing::{ContentLength, Lines};
use loggia_wire::peer::{Router, connect};
use serde::Serialize;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::payload::{LARGE, Load, SMALL};
use super::{CAP, async_lsp_peer, flood, floor, lsp_server_peer, node, ours};
use crate::measure::{median, rate};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// Codec and serde_json alone, `Content-Length` framing.
    Floor,
    /// Our peer, `Content-Length` framing.
    Loggia,
    /// Codec and serde_json alone, lines.
    FloorLines,
    /// Our peer, lines.
    LoggiaLines,
    /// The async-lsp crate.
    AsyncLsp,
    /// The lsp-server crate.
    LspServer,
    /// vscode-jsonrpc on node.
    VscodeJsonrpc,
}

/// How the two ends are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joint {
    /// A duplex in memory.
    Memory,
    /// Pipes to a child process.
    Pipes,
}

/// One row of the outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    joint: Joint,
    load: &'static str,
    contender: Contender,
    requests_per_second: f64,
    /// Our rate divided by this one's; for ours, our share of the floor with the same framing.
    ratio: f64,
}

const IN_MEMORY: [Contender; 5] =
    [Contender::Floor, Contender::Loggia, Contender::FloorLines, Contender::LoggiaLines, Contender::AsyncLsp];
const OVER_PIPES: [Contender; 7] = [
    Contender::Floor,
    Contender::Loggia,
    Contender::FloorLines,
    Contender::LoggiaLines,
    Contender::AsyncLsp,
    Contender::LspServer,
    Contender::VscodeJsonrpc,
];

/// Measures everything; `rounds` is odd so that the median is a measured value.
pub async fn all(rounds: usize) -> Result<Vec<Row>> {
    let node = node::prepare()?;
    let mut rows = Vec::new();
    for joint in [Joint::Memory, Joint::Pipes] {
        for load in [SMALL, LARGE] {
            rows.extend(table(joint, load, rounds, node.as_ref()).await?);
        }
    }
    Ok(rows)
}

async fn table(joint: Joint, load: Load, rounds: usize, node: Option<&PathBuf>) -> Result<Vec<Row>> {
    let contenders: Vec<Contender> = match joint {
        Joint::Memory => IN_MEMORY.to_vec(),
        Joint::Pipes => OVER_PIPES
            .iter()
            .copied()
            .filter(|who| *who != Contender::VscodeJsonrpc || node.is_some())
            .collect(),
    };
    let mut rates = vec![Vec::new(); contenders.len()];
    // The first round warms caches and allocators and does not count.
    for round in 0..=rounds {
        for (contender, rates) in contenders.iter().zip(&mut rates) {
            eprint!("\r\x1b[K{} {joint:?}: round {round} of {rounds}, {contender:?}", load.name);
            let took =
                measure(*contender, joint, load, node).await.with_context(|| format!("{contender:?}"))?;
            if round > 0 {
                rates.push(rate(load.requests, took));
            }
        }
    }
    eprint!("\r\x1b[K");
    let medians: Vec<f64> = rates.iter_mut().map(|rates| median(rates)).collect();
    let of = |who: Contender| {
        contenders.iter().position(|other| *other == who).map_or(f64::NAN, |place| medians[place])
    };
    let rows = contenders.iter().zip(&medians).map(|(contender, measured)| Row {
        joint,
        load: load.name,
        contender: *contender,
        requests_per_second: *measured,
        ratio: match contender {
            Contender::Floor | Contender::FloorLines => 1.0,
            Contender::Loggia => measured / of(Contender::Floor),
            Contender::LoggiaLines => measured / of(Contender::FloorLines),
            _ => of(Contender::Loggia) / measured,
        },
    });
    Ok(rows.collect())
}

async fn measure(contender: Contender, joint: Joint, load: Load, node: Option<&PathBuf>) -> Result<Duration> {
    match (joint, contender) {
        (Joint::Memory, Contender::Floor) => floor::in_memory(ContentLength::new(CAP), load).await,
        (Joint::Memory, Contender::Loggia) => ours::in_memory(ContentLength::new(CAP), load).await,
        (Joint::Memory, Contender::FloorLines) => floor::in_memory(Lines::new(CAP), load).await,
        (Joint::Memory, Contender::LoggiaLines) => ours::in_memory(Lines::new(CAP), load).await,
        (Joint::Memory, Contender::AsyncLsp) => async_lsp_peer::in_memory(load).await,
        (Joint::Memory, other) => anyhow::bail!("{other:?} moves no bytes in memory"),
        (Joint::Pipes, Contender::VscodeJsonrpc) => {
            let directory = node.context("node was looked for before")?.clone();
            tokio::task::spawn_blocking(move || node::measure(&directory, load)).await?
        }
        (Joint::Pipes, Contender::LspServer) => {
            #[expect(clippy::disallowed_methods, reason = "blocking pipes, as that library wants them")]
            let mut child = std::process::Command::new(std::env::current_exe()?)
                .args(["serve", "lsp-server"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let (stdin, stdout) =
                (child.stdin.take().context("stdin")?, child.stdout.take().context("stdout")?);
            let took =
                tokio::task::spawn_blocking(move || lsp_server_peer::drive(stdout, stdin, load)).await??;
            child.kill()?;
            child.wait()?;
            Ok(took)
        }
        (Joint::Pipes, contender) => over_pipes(contender, load).await,
    }
}

async fn over_pipes(contender: Contender, load: Load) -> Result<Duration> {
    let (child, stdout, stdin) = start(match contender {
        Contender::Floor => "floor",
        Contender::FloorLines => "floor-lines",
        Contender::Loggia => "loggia",
        Contender::LoggiaLines => "loggia-lines",
        _ => "async-lsp",
    })
    .await?;
    let took = match contender {
        Contender::Floor => {
            tokio::spawn(floor::drive(stdout, stdin, ContentLength::new(CAP), load)).await??
        }
        Contender::FloorLines => tokio::spawn(floor::drive(stdout, stdin, Lines::new(CAP), load)).await??,
        Contender::Loggia => {
            let (peer, connection) =
                connect(stdout, stdin, ContentLength::new(CAP), ours::settings("child"), Router::new());
            tokio::spawn(connection.run());
            tokio::spawn(ours::drive(peer, load)).await??
        }
        Contender::LoggiaLines => {
            let (peer, connection) =
                connect(stdout, stdin, Lines::new(CAP), ours::settings("child"), Router::new());
            tokio::spawn(connection.run());
            tokio::spawn(ours::drive(peer, load)).await??
        }
        _ => async_lsp_peer::drive(stdout, stdin, Load { window: async_lsp_window(load), ..load }).await?,
    };
    drop(child);
    Ok(took)
}

/// async-lsp does not read while it writes: with more in flight than two pipes hold, its ends wait for each other
/// for ever. So it gets one large request at a time.
fn async_lsp_window(load: Load) -> usize {
    const PIPE: usize = 64 * 1024;
    (PIPE / load.bytes).clamp(1, load.window)
}

/// Starts the other end as the product starts its guests: through a keeper, with the pipes it makes.
async fn start(contender: &str) -> Result<(Child, Receiver, Sender)> {
    let itself = std::env::current_exe()?;
    let spec = ChildSpec::new(contender, &itself).args(["serve", contender]);
    let mut child = spawn(&Keeper::new(&itself, ["keep"]), spec).await?;
    let (stdout, stdin) = child.take_streams().context("a new child has its streams")?;
    Ok((child, stdout, stdin))
}

/// The other end of the pipes.
pub async fn serve(contender: &str) -> Result<()> {
    if contender == "lsp-server" {
        return tokio::task::spawn_blocking(lsp_server_peer::serve_stdio).await?;
    }
    let (input, output) = loggia_wire::stdio::take()?;
    match contender {
        "floor" => floor::serve(input, output, ContentLength::new(CAP)).await,
        "floor-lines" => floor::serve(input, output, Lines::new(CAP)).await,
        "loggia" => {
            ours::serve(input, output, ContentLength::new(CAP)).await;
            Ok(())
        }
        "loggia-lines" => {
            ours::serve(input, output, Lines::new(CAP)).await;
            Ok(())
        }
        "async-lsp" => {
            async_lsp_peer::serve(input, output).await;
            Ok(())
        }
        other => anyhow::bail!("nobody is called `{other}`"),
    }
}

/// Runs one contender for a few seconds.
pub async fn profile(large: bool, floor: bool, pipes: bool) -> Result<()> {
    let load = if large { LARGE } else { SMALL };
    let contender = if floor { Contender::Floor } else { Contender::Loggia };
    let joint = if pipes { Joint::Pipes } else { Joint::Memory };
    for _ in 0..10 {
        measure(contender, joint, load, None).await?;
    }
    Ok(())
}

/// The rows as people read them.
pub fn render(rows: &[Row]) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let mut heading = None;
    for row in rows {
        if heading != Some((row.joint, row.load)) {
            heading = Some((row.joint, row.load));
            let joint = match row.joint {
                Joint::Memory => "in memory",
                Joint::Pipes => "over pipes to a child",
            };
            let _ = writeln!(text, "\n{} parameters, {joint}", row.load);
        }
        let name = format!("{:?}", row.contender);
        let meaning = match row.contender {
            Contender::Floor | Contender::FloorLines => String::new(),
            Contender::Loggia | Contender::LoggiaLines => format!("{:.2} of the floor", row.ratio),
            Contender::AsyncLsp if row.joint == Joint::Pipes && row.load == LARGE.name => {
                format!("Loggia is {:.2}x as fast (one request at a time: with more it stalls)", row.ratio)
            }
            _ => format!("Loggia is {:.2}x as fast", row.ratio),
        };
        let _ = writeln!(text, "  {name:<14} {:>10.0} requests/s   {meaning}", row.requests_per_second);
    }
    text
}

/// The flood rows as people read them.
pub fn render_flood(name: &str, seconds: u64, flooded: &flood::Flooded) -> String {
    format!(
        "  {name:<26} {:>10} frames in {seconds} s   RSS {:.1} MiB before, {:.1} MiB at most",
        flooded.frames,
        flooded.before as f64 / 1024.0,
        flooded.peak as f64 / 1024.0
    )
}
