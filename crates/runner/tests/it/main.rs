//! Commands run for real: what they are given, how they end, and what they cannot do.
//!
//! This program is its own harness, because it is also the keeper: started with `keep` it does nothing but that. And
//! it is a daemon to be killed.
//! Every sandbox test runs on every road that this machine has; `a_sandbox_works_here` fails if there is none.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod escapes;
mod lifetimes;
mod network_escapes;
mod process_escapes;
mod roads;
mod spares;
mod support;
mod work;

use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["keep", ..] => return loggia_wire::child::keep(),
        ["daemon", road, root, line] => {
            lifetimes::be_daemon(road, root, line);
            return std::process::ExitCode::SUCCESS;
        }
        _ => {}
    }
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(behaviour::trials());
    trials.extend(lifetimes::trials());
    trials.extend(spares::trials());
    trials.extend(work::trials());
    for escapes in [escapes::ALL, process_escapes::ALL, network_escapes::ALL] {
        trials.extend(roads::trials(escapes));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
