//! `cargo xtask bench index` and `cargo xtask bench retrieval`: how quick the index is, and how well it finds.

mod child;
mod documentation;
mod history;
mod open;
mod retrieval;
mod speed;
mod table;
mod tools;
mod tune;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(about = "Benchmarks of the code index")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Builds, updates and queries, beside ctags, ripgrep and codesearch.
    Index {
        /// The tree; without one, the sources of packages that cargo has fetched.
        #[arg(long)]
        tree: Option<PathBuf>,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Questions from a history: which files does a commit's subject lead to, at the commit before it?
    Retrieval {
        /// The repository; without one, this one.
        #[arg(long)]
        repository: Option<PathBuf>,
        /// Take the questions from a tree's documentation instead: its first lines, taken out of the files.
        #[arg(long, conflicts_with = "repository")]
        documentation: Option<PathBuf>,
        /// Make vectors with the model whose files are in this directory, as `loggia index pull` puts them there. Of each
        /// question only the pieces that fit best by their words get one, so that a run takes minutes. Needs the feature
        /// `minilm`.
        #[arg(long, value_name = "DIR")]
        vectors: Option<PathBuf>,
        /// How many pairs of a question and its files.
        #[arg(long, default_value_t = 200)]
        pairs: usize,
        /// Which pairs are drawn.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Try so many other weights, on the older half of the pairs, and show the best on the newer half.
        #[arg(long, default_value_t = 0)]
        tune: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Words and questions alone, on an index that is there: for whoever looks with a profiler.
    #[command(hide = true)]
    Queries {
        /// What was indexed.
        tree: PathBuf,
        /// Where the index is.
        data: PathBuf,
    },
    /// One build in a process of its own; started by the benchmark itself.
    #[command(hide = true)]
    Build {
        /// What is indexed.
        tree: PathBuf,
        /// Where the index is.
        data: PathBuf,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().what {
        What::Index { tree, json } => speed::run(tree, json),
        What::Retrieval { repository, documentation, vectors, pairs, seed, tune, json } => {
            retrieval::run(&retrieval::Plan { repository, documentation, vectors, pairs, seed, tune }, json)
        }
        What::Queries { tree, data } => speed::queries(&tree, &data),
        What::Build { tree, data } => child::build(&tree, &data),
    }
}
