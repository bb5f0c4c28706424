//! A change of many files, made by a turn, taken back and made again; beside a loop that writes the same files.
//!
//! The loop is what an editor does at least: each file written and synced. It keeps nothing for undoing and leaves
//! half of the files changed when it is cut.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use loggia_domain::Intent;

use super::progress;
use super::report::Figure;
use super::world::{NEVER, World, scratch, store, take_turn, threads};
use crate::measure::median;

const PART: &str = "A change of 500 files";

const DIRECTORIES: usize = 10;

const FILES_EACH: usize = 50;

/// Lines of a file beside the one that changes: about a kibibyte.
const LINES: usize = 30;

/// More rounds than these would take longer than everything else.
const MOST_ROUNDS: usize = 5;

/// Measures making the change, taking it back and making it again.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    threads()?.block_on(changes(rounds.min(MOST_ROUNDS)))
}

async fn changes(rounds: usize) -> Result<Vec<Figure>> {
    let directory = scratch()?;
    let (work, plain) = (directory.path().join("work"), directory.path().join("plain"));
    write_all(&work, 0, false)?;
    write_all(&plain, 0, false)?;
    let world = World::start(directory.path(), store(directory.path())?, NEVER).await?;
    let (seat, mut subscription) = world.play().await?;
    let (mut applying, mut undoing, mut redoing, mut writing) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        progress(&format!("a change of many files: round {round} of {rounds}"));
        // Contents nobody has seen before, on both sides of the change.
        let (from, to) = (2 * round, 2 * round + 1);
        write_all(&work, from, false)?;
        let start = Instant::now();
        take_turn(&seat, &mut subscription, format!("change {from} {to}")).await?;
        let applied = start.elapsed();
        check(&work, to)?;
        let start = Instant::now();
        write_all(&plain, to, true)?;
        let wrote = start.elapsed();
        let start = Instant::now();
        seat.intend(Intent::Undo { steps: 1 }).await?;
        let undid = start.elapsed();
        check(&work, from)?;
        let start = Instant::now();
        seat.intend(Intent::Redo { steps: 1 }).await?;
        let redid = start.elapsed();
        check(&work, to)?;
        // The first warms up.
        if round > 0 {
            for (took, of) in [
                (applied, &mut applying),
                (undid, &mut undoing),
                (redid, &mut redoing),
                (wrote, &mut writing),
            ] {
                of.push(took.as_secs_f64() * 1000.0);
            }
        }
    }
    world.engine.stop().await;
    let floor = median(&mut writing);
    let figure = |what, times: &mut Vec<f64>| Figure::new(PART, what, median(times), "ms").beside(floor);
    Ok(vec![
        figure("made by a turn, kept for undoing", &mut applying),
        figure("undone", &mut undoing),
        figure("made again", &mut redoing),
    ])
}

fn paths() -> impl Iterator<Item = String> {
    (0..DIRECTORIES * FILES_EACH).map(|number| format!("part{}/file{number}.txt", number % DIRECTORIES))
}

/// What a file holds in a version; no two files are the same.
fn content(path: &str, version: usize) -> String {
    let mut text = format!("{path} version {version}\n");
    for line in 0..LINES {
        let _ = writeln!(text, "line {line} of a file that changes");
    }
    text
}

fn write_all(root: &Path, version: usize, synced: bool) -> Result<()> {
    for path in paths() {
        let place = root.join(&path);
        fs::create_dir_all(place.parent().unwrap_or(root))?;
        let mut file = File::create(place)?;
        file.write_all(content(&path, version).as_bytes())?;
        if synced {
            file.sync_all()?;
        }
    }
    Ok(())
}

fn check(root: &Path, version: usize) -> Result<()> {
    for path in paths() {
        let found = fs::read_to_string(root.join(&path))?;
        ensure!(found == content(&path, version), "`{path}` is not in version {version}");
    }
    Ok(())
}

/// The patch from one version of all files to another.
pub(super) fn diff(from: u64, to: u64) -> String {
    let mut diff = String::new();
    for path in paths() {
        let _ = write!(
            diff,
            "--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-{path} version {from}\n+{path} version {to}\n \
             line 0 of a file that changes\n"
        );
    }
    diff
}
