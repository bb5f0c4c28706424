//! Running targets: the samples first, then broken ones, until the time is up or something does not hold.
//!
//! Knows seeds, time, panics and where a bad input is kept. Refuses to know any target.
//!
//! A panic is caught. A stack overflow or an abort ends the program and cannot be; a [careful](Plan::careful) run with
//! the same seed keeps each input before it is tried, so the last one is there afterwards.

mod panics;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::random::hash;
use crate::targets::Target;
use crate::{Mutator, Random};

/// What a tokio worker has. Readers run there, so what is too deep for it must be found here.
const STACK: usize = 2 * 1024 * 1024;

/// One input may take this long; the slowest takes some milliseconds.
const STUCK_AFTER: Duration = Duration::from_secs(30);

/// How often progress is told.
const TICK: Duration = Duration::from_millis(250);

/// How long shrinking an input may take.
const SHRINK_TIME: Duration = Duration::from_secs(5);

/// What to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where the numbers begin.
    pub seed: u64,
    /// When to stop.
    pub budget: Budget,
    /// Keep each input in this file before it is tried.
    pub careful: Option<PathBuf>,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub enum Budget {
    /// After so much time.
    Time(Duration),
    /// After so many broken inputs.
    Inputs(u64),
}

/// How a target fared.
#[derive(Debug)]
pub struct Report {
    /// Its name.
    pub target: &'static str,
    /// How many inputs it got.
    pub inputs: u64,
    /// How long they took.
    pub elapsed: Duration,
    /// What did not hold, if anything.
    pub failure: Option<Failure>,
}

/// Something that does not hold.
#[derive(Debug)]
pub struct Failure {
    /// What the target said, and where.
    pub message: String,
    /// The input that shows it, as short as it could be made.
    pub input: Vec<u8>,
}

impl Report {
    /// Inputs a second.
    pub fn rate(&self) -> f64 {
        self.inputs as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

impl Failure {
    /// Writes the input to `directory` under a name that depends on the target and the input only.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, directory: &Path, target: &str) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(directory)?;
        let path = directory.join(format!("{target}-{:016x}", hash(&self.input)));
        std::fs::write(&path, &self.input)?;
        Ok(path)
    }
}

/// Tries one input; what did not hold, if anything.
pub fn try_one(target: &Target, input: &[u8]) -> Option<String> {
    panics::caught(|| (target.run)(input))
}

/// Runs a target in a thread of its own, with the stack readers have. `progress` hears the number of inputs so far.
///
/// # Errors
/// When the samples cannot be read, or the file of a careful run cannot be written.
pub fn run(target: &'static Target, plan: &Plan, mut progress: impl FnMut(u64)) -> std::io::Result<Report> {
    let samples = Arc::new((target.samples)()?);
    let count = Arc::new(AtomicU64::new(0));
    let (done, result) = mpsc::channel();
    let worker = {
        let (samples, count, plan) = (samples.clone(), count.clone(), plan.clone());
        move || {
            // Nobody waits any more if the input took too long.
            let _ = done.send(work(target, &samples, &plan, &count));
        }
    };
    let started = Instant::now();
    std::thread::Builder::new().name(target.name.to_owned()).stack_size(STACK).spawn(worker)?;
    let mut last = (0, started);
    loop {
        match result.recv_timeout(TICK) {
            Ok(failure) => {
                let inputs = count.load(Relaxed);
                return Ok(Report {
                    target: target.name,
                    inputs,
                    elapsed: started.elapsed(),
                    failure: failure?,
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(std::io::Error::other(format!("the thread of `{}` is gone", target.name)));
            }
        }
        let inputs = count.load(Relaxed);
        progress(inputs);
        if inputs != last.0 {
            last = (inputs, Instant::now());
        } else if last.1.elapsed() > STUCK_AFTER {
            let mut input = Vec::new();
            nth_input(target, &samples, plan.seed, inputs, &mut input);
            let failure = Failure { message: format!("takes longer than {STUCK_AFTER:?}"), input };
            let elapsed = started.elapsed();
            return Ok(Report { target: target.name, inputs, elapsed, failure: Some(failure) });
        }
    }
}

/// Tries input after input; what did not hold, if anything.
fn work(
    target: &'static Target,
    samples: &[Vec<u8>],
    plan: &Plan,
    count: &AtomicU64,
) -> std::io::Result<Option<Failure>> {
    let started = Instant::now();
    let mut input = Vec::new();
    for number in 0.. {
        let is_sample = number < samples.len() as u64;
        let spent = match plan.budget {
            Budget::Time(time) => started.elapsed() >= time,
            Budget::Inputs(inputs) => number >= inputs.saturating_add(samples.len() as u64),
        };
        // However short the time, the samples are tried.
        if spent && !is_sample {
            break;
        }
        nth_input(target, samples, plan.seed, number, &mut input);
        if let Some(file) = &plan.careful {
            std::fs::write(file, &input)?;
        }
        if let Some(message) = try_one(target, &input) {
            return Ok(Some(shrink(target, input, message)));
        }
        count.store(number + 1, Relaxed);
    }
    Ok(None)
}

/// The samples come first as they are, then broken ones without end.
fn nth_input(target: &Target, samples: &[Vec<u8>], seed: u64, number: u64, input: &mut Vec<u8>) {
    match usize::try_from(number).ok().and_then(|number| samples.get(number)) {
        Some(sample) => input.clone_from(sample),
        None => Mutator::new(samples).fill(&mut Random::for_input(seed, target.name, number), input),
    }
}

/// Leaves out of an input whatever can go while something still does not hold.
fn shrink(target: &Target, mut input: Vec<u8>, mut message: String) -> Failure {
    let started = Instant::now();
    let mut size = input.len().next_power_of_two() / 2;
    while size > 0 {
        let mut start = 0;
        while start < input.len() && started.elapsed() < SHRINK_TIME {
            let end = (start + size).min(input.len());
            let shorter = [&input[..start], &input[end..]].concat();
            match try_one(target, &shorter) {
                Some(still) => (input, message) = (shorter, still),
                None => start = end,
            }
        }
        size /= 2;
    }
    Failure { message, input }
}
