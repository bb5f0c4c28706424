//! `cargo xtask bench`: what to measure, and the other ends of what is measured.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Result;
use clap::{Parser, Subcommand};
use loggia_bench::wire::{flood, run};
use loggia_bench::{ask, console, engine, extensions, http, messages, plugins, rpc};

#[derive(Debug, Parser)]
#[command(about = "Loggia's benchmarks: ratios and medians, measured side by side in one run")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Framing and the JSON-RPC peer.
    Wire {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// How long the floods last.
        #[arg(long, default_value_t = 10)]
        flood_seconds: u64,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Sessions, turns, streams, journals and changes.
    Engine {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// The http door, and the whole daemon behind it.
    Http {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// One part of the http door's suite, for a profiler to look at, or because it needs a process of its own.
    #[command(hide = true)]
    HttpPart {
        /// Which.
        part: http::Part,
        /// Rounds after the warm-up.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// The command line, with a daemon that runs and one that it has to start.
    Ask {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// The rpc door, as the process that editors start.
    Rpc {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// A console that logs to many terminals.
    Console {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Plugins as child processes: calls, streams, and looking for many.
    Plugins {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// A long message on the desk.
    Messages {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Extensions as child processes: commands that change the message, and a hundred that rest.
    Extensions {
        /// Rounds after the warm-up; the figures are medians over them.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// An extension that patches twice; started by the benchmark itself.
    #[command(hide = true)]
    ExtensionChild,
    /// A hundred of them at rest; tells the memory that the host took for them, in MiB.
    #[command(hide = true)]
    ExtensionsRest,
    /// A plugin that does nothing; started by the benchmark itself.
    #[command(hide = true)]
    PluginChild {
        /// Which.
        child: plugins::Child,
    },
    /// A server of such a console, told on standard input how many lines to log.
    #[command(hide = true)]
    ConsoleServe {
        /// Where terminals connect.
        socket: std::path::PathBuf,
        /// The floor instead of our library.
        #[arg(long)]
        bare: bool,
    },
    /// A process that says every line again.
    #[command(hide = true)]
    Echo,
    /// Clients of a server, told on standard input what to do.
    #[command(hide = true)]
    Listen,
    /// A server that does what the daemon does, and nothing that makes it one.
    #[command(hide = true)]
    Bare,
    /// One part of the engine's suite, for a profiler to look at, or because it needs a process of its own.
    #[command(hide = true)]
    Part {
        /// Which.
        part: engine::Part,
        /// Rounds after the warm-up.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Print JSON Lines instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// One contender in memory, over and over, for a profiler to look at.
    #[command(hide = true)]
    Profile {
        /// Large parameters instead of small ones.
        #[arg(long)]
        large: bool,
        /// The floor instead of our peer.
        #[arg(long)]
        floor: bool,
        /// Over pipes instead of in memory.
        #[arg(long)]
        pipes: bool,
    },
    /// The keeper of the other end of a pipe.
    #[command(hide = true)]
    Keep,
    /// The other end of a pipe; started by the benchmark itself.
    #[command(hide = true)]
    Serve {
        /// Who serves.
        contender: String,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().what {
        What::Wire { rounds, flood_seconds, json } => runtime()?.block_on(wire(rounds, flood_seconds, json)),
        // Its parts bring their own runtimes.
        What::Engine { rounds, json } => tell(&engine::all(rounds)?, rounds, json),
        What::Part { part, rounds, json } => tell(&part.here(rounds)?, rounds, json),
        What::Http { rounds, json } => tell(&http::all(rounds)?, rounds, json),
        What::HttpPart { part, rounds, json } => tell(&part.here(rounds)?, rounds, json),
        What::Ask { rounds, json } => tell(&ask::all(rounds)?, rounds, json),
        What::Rpc { rounds, json } => tell(&rpc::all(rounds)?, rounds, json),
        What::Console { rounds, json } => tell(&console::all(rounds)?, rounds, json),
        What::Plugins { rounds, json } => tell(&plugins::all(rounds)?, rounds, json),
        What::Extensions { rounds, json } => tell(&extensions::all(rounds)?, rounds, json),
        What::ExtensionChild => {
            // How it ended shows to whoever talked to it.
            extensions::serve();
            Ok(())
        }
        What::ExtensionsRest => {
            use std::io::Write as _;
            Ok(writeln!(std::io::stdout(), "{}", extensions::rest()?)?)
        }
        What::Messages { rounds, json } => tell(&messages::all(rounds)?, rounds, json),
        What::PluginChild { child } => {
            // How it ended shows to whoever talked to it.
            plugins::serve(child);
            Ok(())
        }
        What::ConsoleServe { socket, bare } => console::serve(bare, &socket),
        What::Echo => rpc::echo(),
        What::Listen => http::listen(),
        What::Bare => http::bare(),
        What::Profile { large, floor, pipes } => runtime()?.block_on(run::profile(large, floor, pipes)),
        What::Serve { contender } => runtime()?.block_on(run::serve(&contender)),
        What::Keep => {
            loggia_wire::child::keep();
            Ok(())
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

fn tell(figures: &[engine::Figure], rounds: usize, json: bool) -> Result<()> {
    if json {
        for figure in figures {
            println!("{}", serde_json::to_string(figure)?);
        }
    } else {
        println!("Medians of {rounds} rounds, contenders taking turns.{}", engine::render(figures));
    }
    Ok(())
}

async fn wire(rounds: usize, flood_seconds: u64, json: bool) -> Result<()> {
    // Before anything else has grown the process.
    let unread = flood::flood(flood_seconds, false).await?;
    let read = flood::flood(flood_seconds, true).await?;
    let rows = run::all(rounds).await?;
    if json {
        for row in &rows {
            println!("{}", serde_json::to_string(row)?);
        }
        for (flood, flooded) in [("unread", unread), ("read", read)] {
            println!(
                "{}",
                serde_json::json!({ "flood": flood, "seconds": flood_seconds, "outcome": flooded })
            );
        }
    } else {
        println!(
            "Pipelined echo, medians of {rounds} rounds, contenders taking turns.{}",
            run::render(&rows)
        );
        println!("A peer that floods");
        println!("{}", run::render_flood("reads none of our answers", flood_seconds, &unread));
        println!("{}", run::render_flood("reads them all", flood_seconds, &read));
    }
    Ok(())
}
