//! Questions and their files, from a history: a commit's subject, and what it changed.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use loggia_domain::PastChange;

use crate::tools::{git, output};

/// How many files a commit may change and still be about something.
const MAX_FILES: usize = 12;

/// How many words a subject must have to be a question.
const MIN_WORDS: usize = 3;

/// How many commits back a file counts as changed lately: as in the engine.
const LATELY: usize = 10;

/// A commit that changed more files than this is not known: as it is for git's asker.
const MAX_KNOWN: usize = 50;

/// How many commits are known: as in the engine.
const KNOWN: usize = 500;

/// A question and the files it is about.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) question: String,
    /// The commit before the change, if the question is from a history.
    pub(crate) parent: Option<String>,
    pub(crate) files: Vec<String>,
    /// Files that changed in the commits before, the latest first.
    pub(crate) recent: Vec<String>,
    /// The commits before, the latest first.
    pub(crate) history: Arc<[PastChange]>,
}

struct Commit {
    parent: String,
    subject: String,
    /// Files that were there before and changed.
    files: Vec<String>,
    /// Files that changed and were there after.
    left: Vec<String>,
}

/// The pairs of a repository, oldest first: so many of them, drawn by a seed.
pub(crate) fn pairs(repository: &Path, count: usize, seed: u64) -> Result<Vec<Pair>> {
    let commits = commits(repository)?;
    let mut pairs = Vec::new();
    for (place, commit) in commits.iter().enumerate() {
        let is_one = commit.subject.split_whitespace().count() >= MIN_WORDS
            && (1..=MAX_FILES).contains(&commit.files.len())
            && !commit.parent.is_empty();
        if !is_one {
            continue;
        }
        let mut recent: Vec<String> = Vec::new();
        for before in commits[..place].iter().rev().take(LATELY) {
            for file in before.left.iter().filter(|_| before.left.len() <= MAX_KNOWN) {
                if !recent.contains(file) {
                    recent.push(file.clone());
                }
            }
        }
        let known = commits[..place].iter().rev().take(KNOWN).filter(|commit| commit.left.len() <= MAX_KNOWN);
        let known =
            known.map(|commit| PastChange { subject: commit.subject.clone(), files: commit.left.clone() });
        pairs.push(Pair {
            question: commit.subject.clone(),
            parent: Some(commit.parent.clone()),
            files: commit.files.clone(),
            recent,
            history: known.collect(),
        });
    }
    // Drawn without replacement; the order of the history is kept, so that each state is near the one before.
    let mut state = seed;
    while pairs.len() > count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pairs.remove((state >> 33) as usize % pairs.len());
    }
    Ok(pairs)
}

/// Commits without merges, oldest first.
fn commits(repository: &Path) -> Result<Vec<Commit>> {
    let log = output(git(repository).args([
        "log",
        "--reverse",
        "--topo-order",
        "--no-merges",
        "--no-renames",
        "--name-status",
        "--format=%x01%P%x02%s",
    ]))?;
    let mut commits = Vec::new();
    for text in log.split('\u{1}').skip(1) {
        let mut lines = text.lines();
        let Some((parents, subject)) = lines.next().and_then(|line| line.split_once('\u{2}')) else {
            continue;
        };
        let all: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('\t')).collect();
        let without = |status: &str| {
            let files = all.iter().filter(|(other, _)| *other != status);
            files.map(|(_, path)| (*path).to_owned()).collect()
        };
        commits.push(Commit {
            parent: parents.split(' ').next().unwrap_or_default().to_owned(),
            subject: subject.to_owned(),
            files: without("A"),
            left: without("D"),
        });
    }
    Ok(commits)
}
