//! `cargo xtask bench`: benchmarks, compared with a floor and with what people use instead, in one run.
//!
//! Knows only which programs of the `loggia-bench` package make up a suite.

use clap::{Args, ValueEnum};

use crate::shell;

/// What the bench chore can be told.
#[derive(Args)]
pub(crate) struct BenchArguments {
    /// Which suite to run
    #[arg(value_name = "SUITE", default_value = "wire")]
    suite: Suite,
    /// Print JSON Lines for a program instead of tables for people
    #[arg(long)]
    json: bool,
    /// For `index` and `retrieval`: what they take besides, as in `-- --tree PATH` or `-- --repository PATH`
    #[arg(last = true, value_name = "MORE")]
    more: Vec<String>,
}

/// The suites there are.
#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// Framing, the JSON-RPC peer, memory under a flood, allocations
    Wire,
    /// Durable events, turns, streamed tokens, long journals, changes of many files, memory
    Engine,
    /// Requests, streams to many clients, idle sockets, and whole turns of the daemon
    Http,
    /// The command line: its start, its first word, a long reply into a pipe, memory
    Ask,
    /// The rpc door as editors start it: its first answer, turns, a long stream, memory, how it leaves
    Rpc,
    /// A console's lines to many terminals, completion under that load, a terminal that does not read, `loggia attach`
    Console,
    /// Calls to plugins and streams of them beside raw pipes to the same child, and fifty plugins found and listed
    Plugins,
    /// A long message on the desk: getting, patching and setting, beside the parser alone
    Messages,
    /// The code index: builds, updates and queries beside ctags, ripgrep and codesearch
    Index,
    /// How well the code index finds: subjects of commits, and the files they changed
    Retrieval,
}

/// Runs a suite.
pub(crate) fn run(arguments: &BenchArguments) -> anyhow::Result<()> {
    let suite = match arguments.suite {
        Suite::Wire => "wire",
        Suite::Engine => "engine",
        Suite::Http => "http",
        Suite::Ask => "ask",
        Suite::Rpc => "rpc",
        Suite::Console => "console",
        Suite::Plugins => "plugins",
        Suite::Messages => "messages",
        Suite::Index => "index",
        Suite::Retrieval => "retrieval",
    };
    let json = arguments.json.then_some("--json");
    if let Suite::Index | Suite::Retrieval = arguments.suite {
        let more = arguments.more.iter().map(String::as_str);
        // The model takes minutes to build, so it is there only for whoever asks for its vectors.
        let with_model = arguments.more.iter().any(|word| word.starts_with("--vectors"));
        let features: &[&str] = if with_model { &["--features", "loggia-bench-index/minilm"] } else { &[] };
        let words = [suite].into_iter().chain(json).chain(more);
        return program("loggia-bench-index", "loggia-bench-index", features, words);
    }
    if let Suite::Http | Suite::Ask | Suite::Rpc | Suite::Console = arguments.suite {
        // The benchmark starts the program that lies beside it.
        shell::run(&mut shell::cargo([
            "build",
            "--quiet",
            "--profile",
            "bench",
            "--locked",
            "-p",
            "loggia",
        ]))?;
        return program("loggia-bench", "loggia-bench", &[], [suite].into_iter().chain(json));
    }
    program("loggia-bench", "loggia-bench", &[], [suite].into_iter().chain(json))?;
    match arguments.suite {
        Suite::Plugins => return Ok(()),
        // What works on messages: the same suite for people, a part of its own for the benchmark.
        Suite::Messages => {
            return program("loggia-bench", "loggia-bench", &[], ["extensions"].into_iter().chain(json));
        }
        _ => {}
    }
    // Counting slows every allocation down, so it has a program of its own.
    program("loggia-bench", "count-allocations", &[], [suite].into_iter().chain(json))
}

fn program<'a>(
    package: &str,
    name: &str,
    features: &[&str],
    arguments: impl IntoIterator<Item = &'a str>,
) -> anyhow::Result<()> {
    let mut command = shell::cargo(["run", "--quiet", "--profile", "bench", "--locked", "-p"]);
    command.args([package, "--bin", name]).args(features).arg("--").args(arguments);
    shell::run(&mut command)
}
