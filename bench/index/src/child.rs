//! One build in a process of its own: what each step took, and how much memory there was at most.

#![expect(clippy::print_stdout, reason = "the parent reads the figures")]

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use loggia_domain::{CodeIndex, IndexBuild, IndexStep};
use nix::sys::resource::UsageWho;

use crate::open::{open, runtime};
use crate::tools::{command, cpu, output};

/// How often it is looked which step the build is at.
const LOOK: Duration = Duration::from_millis(2);

/// What a build took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Built {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
    pub(crate) symbols_wall: f64,
    pub(crate) symbols_cpu: f64,
    /// To the state in which text can be searched.
    pub(crate) text_wall: f64,
    pub(crate) text_cpu: f64,
    /// Kilobytes.
    pub(crate) peak: f64,
    pub(crate) files: f64,
    pub(crate) symbols: f64,
    pub(crate) bytes: f64,
}

/// Builds, and says what it took.
pub(crate) fn build(tree: &Path, data: &Path) -> Result<()> {
    let index = open(tree, data)?;
    let runtime = runtime()?;
    let built = runtime.block_on(async {
        index.loaded().await;
        let began = Instant::now();
        let cpu_before = cpu(UsageWho::RUSAGE_SELF)?;
        let mut built = Built::default();
        let mut build = std::pin::pin!(index.build(IndexBuild::Rebuild));
        let mut last = None;
        loop {
            let step = index.details().progress.map(|progress| progress.step);
            if step != last {
                let (wall, used) = (began.elapsed().as_secs_f64(), cpu(UsageWho::RUSAGE_SELF)? - cpu_before);
                match (last, step) {
                    (_, Some(IndexStep::Symbols)) => (built.text_wall, built.text_cpu) = (wall, used),
                    (Some(IndexStep::Symbols), _) => {
                        built.symbols_wall = wall - built.text_wall;
                        built.symbols_cpu = used - built.text_cpu;
                    }
                    _ => {}
                }
                last = step;
            }
            if let Ok(status) = tokio::time::timeout(LOOK, &mut build).await {
                let status = status?;
                built.wall = began.elapsed().as_secs_f64();
                built.cpu = cpu(UsageWho::RUSAGE_SELF)? - cpu_before;
                built.files = status.files as f64;
                built.symbols = status.symbols as f64;
                built.bytes = status.bytes as f64;
                break;
            }
        }
        built.peak = peak();
        anyhow::Ok(built)
    })?;
    let Built { wall, cpu, symbols_wall, symbols_cpu, text_wall, text_cpu, peak, files, symbols, bytes } =
        built;
    println!(
        "{wall} {cpu} {symbols_wall} {symbols_cpu} {text_wall} {text_cpu} {peak} {files} {symbols} {bytes}"
    );
    Ok(())
}

/// Lets a child build.
pub(crate) fn built_by_child(tree: &Path, data: &Path) -> Result<Built> {
    let said = output(command(std::env::current_exe()?).arg("build").arg(tree).arg(data))?;
    let values: Vec<f64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [wall, cpu, symbols_wall, symbols_cpu, text_wall, text_cpu, peak, files, symbols, bytes] = values[..]
    else {
        anyhow::bail!("a build said {said:?}");
    };
    Ok(Built { wall, cpu, symbols_wall, symbols_cpu, text_wall, text_cpu, peak, files, symbols, bytes })
}

/// The most memory this process had, in kilobytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok()).unwrap_or(f64::NAN)
}
