//! `loggia-fuzz`: feeds the readers with broken input, on the stable toolchain.
//!
//! Divides its time among the targets. What does not hold is kept as a file and told with the command that repeats
//! it. Results go to standard output, progress to standard error when that is a terminal.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use clap::Parser;
use loggia_fuzz::runner::{self, Budget, Plan, Report};
use loggia_fuzz::targets::{self, TARGETS, Target};

/// Feeds Loggia's readers with broken input
#[derive(Parser)]
#[command(name = "loggia-fuzz")]
struct Arguments {
    /// For how many seconds in all; divided among the targets
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Repeat the run that printed this seed
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Print the targets and what they are about
    #[arg(long)]
    list: bool,
    /// Try this one input on one target
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Keep each input as a file before it is tried: slow, but survives a stack overflow
    #[arg(long)]
    careful: bool,
    /// Write the samples to `fuzz/corpus`, where `cargo fuzz` starts from
    #[arg(long)]
    write_corpus: bool,
    /// Only these targets; all of them otherwise
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let targets = chosen(&arguments.targets)?;
    if arguments.list {
        for target in targets {
            println!("{:16} {}", target.name, target.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.write_corpus {
        return write_corpus(&targets).map(|()| ExitCode::SUCCESS);
    }
    match &arguments.input {
        Some(file) => replay(&targets, file),
        None => fuzz(arguments, &targets),
    }
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Target>> {
    if names.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    let find = |name: &String| {
        targets::find(name).with_context(|| format!("there is no target `{name}`; `--list` shows them all"))
    };
    names.iter().map(find).collect()
}

fn fuzz(arguments: &Arguments, targets: &[&'static Target]) -> anyhow::Result<ExitCode> {
    let seed = arguments.seed.unwrap_or_else(seed_of_the_moment);
    let each = Duration::from_secs(arguments.seconds) / u32::try_from(targets.len())?;
    println!("seed {seed}; should the program die without a word, add `--seed {seed} --careful` and repeat");
    let mut reports = Vec::new();
    for target in targets {
        let careful = if arguments.careful {
            std::fs::create_dir_all(artifacts())?;
            Some(artifacts().join(format!("{}-last", target.name)))
        } else {
            None
        };
        let plan = Plan { seed, budget: Budget::Time(each), careful };
        let report = runner::run(target, &plan, |inputs| show_progress(target.name, inputs))?;
        clear_progress();
        tell(&report)?;
        reports.push(report);
    }
    let inputs: u64 = reports.iter().map(|report| report.inputs).sum();
    let failures = reports.iter().filter(|report| report.failure.is_some()).count();
    println!("{inputs} inputs for {} targets, {failures} failures (seed {seed})", reports.len());
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tell(report: &Report) -> anyhow::Result<()> {
    println!("{:16} {:>10} inputs {:>9.0}/s", report.target, report.inputs, report.rate());
    if let Some(failure) = &report.failure {
        let path = failure.keep(&artifacts(), report.target).context("cannot keep the input")?;
        println!("  does not hold: {}", failure.message.replace('\n', "\n  "));
        println!(
            "  repeat: cargo run -p loggia-fuzz -- --input {} {}",
            relative(&path).display(),
            report.target
        );
    }
    Ok(())
}

fn replay(targets: &[&'static Target], file: &Path) -> anyhow::Result<ExitCode> {
    let [target] = targets else { bail!("`--input` needs exactly one target") };
    let input = std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    println!("{} bytes: {}", input.len(), input.escape_ascii());
    Ok(match runner::try_one(target, &input) {
        None => {
            println!("{} holds", target.name);
            ExitCode::SUCCESS
        }
        Some(message) => {
            println!("{} does not hold: {message}", target.name);
            ExitCode::FAILURE
        }
    })
}

fn write_corpus(targets: &[&'static Target]) -> anyhow::Result<()> {
    for target in targets {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        std::fs::create_dir_all(&directory)?;
        let samples = (target.samples)()?;
        for (number, sample) in samples.iter().enumerate() {
            std::fs::write(directory.join(format!("sample-{number:04}")), sample)?;
        }
        println!("{:16} {:>5} samples", target.name, samples.len());
    }
    Ok(())
}

/// A new run looks elsewhere than the last.
fn seed_of_the_moment() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Short enough to be copied by hand.
    since.as_millis() as u64 % 1_000_000_000
}

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts")
}

/// As seen from where the program was started, if it is below.
fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}

fn show_progress(target: &str, inputs: u64) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{target:16} {inputs:>10} inputs");
    }
}

fn clear_progress() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}
