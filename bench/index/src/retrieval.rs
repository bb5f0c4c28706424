//! How well the index finds: for questions whose files are known, which of them are among the first ones.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use loggia_domain::{CodeContext, CodeIndex, CodeQuestion, IndexBuild};
use loggia_index::{FileIndex, Tuning, Way};

use crate::documentation;
use crate::history::{Pair, pairs};
use crate::open::{open, runtime};
use crate::tools::{git, output};
use crate::tune;

/// What is measured.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) repository: Option<PathBuf>,
    pub(crate) documentation: Option<PathBuf>,
    pub(crate) vectors: Option<PathBuf>,
    pub(crate) pairs: usize,
    pub(crate) seed: u64,
    pub(crate) tune: usize,
}

/// How deep a ranking is looked at: about as many as a turn asks for, since so many are looked at closely.
const DEPTH: usize = 10;

/// Files of which pieces get vectors for a question: those that words lead to.
const SHORTLIST: usize = 20;

const WAYS: [(&str, Way); 6] = [
    ("word counts, as a search gives", Way::Counts),
    ("plain BM25 over whole files", Way::Plain),
    ("text only", Way::Text),
    ("symbols only", Way::Symbols),
    ("vectors only", Way::Vectors),
    ("fused", Way::Fused),
];

/// What is known besides the question and the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knows {
    Nothing,
    /// Which files changed lately.
    Recent,
    /// And what was changed before, and why: as a turn knows it.
    History,
}

const MORE: [(&str, Knows); 2] = [
    ("fused, knowing what changed lately", Knows::Recent),
    ("fused, knowing the last commits, as a turn does", Knows::History),
];

/// How well one way did, summed over questions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Score {
    pub(crate) questions: f64,
    pub(crate) recall: [f64; 3],
    pub(crate) reciprocal: f64,
}

impl Score {
    /// Adds a question, whose files were found in this order.
    pub(crate) fn add(&mut self, wanted: &[&String], found: &[String]) {
        self.questions += 1.0;
        for (recall, depth) in self.recall.iter_mut().zip([1, 5, 10]) {
            let hits =
                wanted.iter().filter(|file| found.iter().take(depth).any(|other| other == **file)).count();
            // With one place there is room for one file only.
            *recall += hits as f64 / wanted.len().min(depth) as f64;
        }
        let first = found.iter().position(|file| wanted.contains(&file));
        self.reciprocal += first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0));
    }

    fn row(&self) -> [f64; 4] {
        let [one, five, ten] = self.recall.map(|sum| sum / self.questions);
        [one, five, ten, self.reciprocal / self.questions]
    }

    /// The recall at ten.
    pub(crate) fn at_ten(&self) -> f64 {
        self.row()[2]
    }

    /// What weights are chosen by.
    pub(crate) fn worth(&self) -> f64 {
        let [one, five, ten, reciprocal] = self.row();
        0.1 * one + 0.2 * five + 0.5 * ten + 0.2 * reciprocal
    }
}

/// Runs all of it.
pub(crate) fn run(plan: &Plan, json: bool) -> Result<()> {
    let work = tempfile::tempdir()?;
    let tree = work.path().join("tree");
    let data = work.path().join("index");
    let runtime = runtime()?;
    let (source, pairs, index) = match &plan.documentation {
        Some(source) => {
            let (pairs, index) = runtime.block_on(documentation::pairs(source, &tree, &data, plan))?;
            (source.clone(), pairs, index)
        }
        None => {
            let repository = match &plan.repository {
                Some(repository) => repository.clone(),
                None => {
                    PathBuf::from(output(git(".".as_ref()).args(["rev-parse", "--show-toplevel"]))?.trim())
                }
            };
            let pairs = pairs(&repository, plan.pairs, plan.seed)?;
            let clone = ["clone", "--quiet", "--shared", "--no-checkout"];
            output(git(work.path()).args(clone).arg(&repository).arg(&tree))
                .context("cannot clone the repository")?;
            (repository, pairs, open(&tree, &data)?)
        }
    };
    anyhow::ensure!(!pairs.is_empty(), "there is nothing that makes a question");
    if let Some(weights) = &plan.vectors {
        runtime.block_on(make_vectors(&index, weights))?;
    }
    let mut tuner = tune::Tuner::new(plan.tune, pairs.len());
    let mut scores = vec![Score::default(); WAYS.len() + MORE.len()];
    let has_vectors = index.details().vectors.is_some();
    runtime.block_on(async {
        for (place, pair) in pairs.iter().enumerate() {
            if let Some(parent) = &pair.parent {
                output(git(&tree).args(["checkout", "--quiet", "--force", "--detach", parent]))?;
                index.build(IndexBuild::Refresh).await?;
            }
            let wanted: Vec<&String> = pair.files.iter().filter(|file| tree.join(file).is_file()).collect();
            if wanted.is_empty() {
                continue;
            }
            if plan.vectors.is_some() {
                index.embed_for(question(pair, Knows::Nothing), SHORTLIST).await?;
            }
            for ((_, way), score) in WAYS.iter().zip(&mut scores) {
                score.add(&wanted, &ranked(&index, pair, *way, Tuning::default(), Knows::Nothing).await?);
            }
            for ((_, knows), score) in MORE.iter().zip(&mut scores[WAYS.len()..]) {
                score.add(&wanted, &ranked(&index, pair, Way::Fused, Tuning::default(), *knows).await?);
            }
            tuner.add(&index, place, pair, &wanted).await?;
        }
        anyhow::Ok(())
    })?;
    let names = WAYS.iter().map(|(name, _)| *name).chain(MORE.iter().map(|(name, _)| *name));
    let plain = scores[1].at_ten();
    if !json {
        println!("{} questions from {}", scores[0].questions, source.display());
        println!("| ranking | recall@1 | recall@5 | recall@10 | MRR | recall@10 over plain BM25 |");
        println!("|---|---|---|---|---|---|");
    }
    for (name, score) in names.zip(&scores) {
        let [one, five, ten, reciprocal] = score.row();
        if name == "vectors only" && !has_vectors {
            println!(
                "{}",
                if json { String::new() } else { format!("| {name} | left out: no embedder | | | | |") }
            );
        } else if json {
            println!(
                "{}",
                serde_json::json!({ "ranking": name, "recall": [one, five, ten], "mrr": reciprocal })
            );
        } else {
            println!("| {name} | {one:.3} | {five:.3} | {ten:.3} | {reciprocal:.3} | {:.2} |", ten / plain);
        }
    }
    tuner.tell(json);
    Ok(())
}

/// Has vectors made of what is asked for.
#[cfg(feature = "minilm")]
async fn make_vectors(index: &FileIndex, weights: &Path) -> Result<()> {
    let embedder = loggia_embed::open(loggia_embed::Choice::MiniLm(weights.to_owned())).await?;
    Ok(index.embed_with(embedder, loggia_index::Making::OnRequest)?)
}

#[cfg(not(feature = "minilm"))]
async fn make_vectors(_: &FileIndex, _: &Path) -> Result<()> {
    anyhow::bail!("this benchmark was built without a model: `--features minilm` builds one in")
}

/// Files in the order one way gives.
pub(crate) async fn ranked(
    index: &FileIndex,
    pair: &Pair,
    way: Way,
    tuning: Tuning,
    knows: Knows,
) -> Result<Vec<String>> {
    Ok(index.ranked_files(question(pair, knows), way, tuning).await?)
}

fn question(pair: &Pair, knows: Knows) -> CodeQuestion {
    let recent = if knows == Knows::Nothing { Vec::new() } else { pair.recent.clone() };
    let history = if knows == Knows::History { Arc::clone(&pair.history) } else { Arc::default() };
    let context = CodeContext { recent, ..CodeContext::default() };
    CodeQuestion { text: pair.question.clone(), context, history, limit: DEPTH, budget: 0 }
}
