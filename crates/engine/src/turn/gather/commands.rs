//! What commands of a session printed last, out of its journal.

use std::collections::BTreeSet;

use loggia_domain::{CommandExit, Event, EventBody, Seq, ToolCall, ToolOutcome};

/// As much of an output's end as says what went wrong.
const MOST_OUTPUT: usize = 12 << 10;

/// A command that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    /// The event that says so.
    pub(super) seq: Seq,
    /// As a shell reads it.
    pub(super) line: String,
    /// Whether it succeeded.
    pub(super) succeeded: bool,
    /// How it ended and what it printed, as the model was told.
    pub(super) output: String,
}

/// The commands of a part of a journal, oldest first. `line_of` says what a call runs.
pub(super) fn commands(events: &[Event], line_of: impl Fn(&ToolCall) -> Option<String>) -> Vec<Ran> {
    let requested = |id| {
        let mut made: Option<ToolCall> = None;
        for event in events {
            match (&event.body, &mut made) {
                (EventBody::ToolRequested { call }, _) if call.id == id => made = Some(call.clone()),
                (EventBody::CallChanged { call, arguments, .. }, Some(made)) if *call == id => {
                    made.arguments = arguments.clone();
                }
                _ => {}
            }
        }
        made
    };
    let ran = |event: &Event| {
        let EventBody::ToolEnded { call, outcome, command: Some(summary), .. } = &event.body else {
            return None;
        };
        let output = match outcome {
            ToolOutcome::Succeeded { output: told } | ToolOutcome::Failed { message: told } => end_of(told),
            ToolOutcome::Denied { .. } | ToolOutcome::Cancelled => return None,
        };
        let line = line_of(&requested(*call)?)?;
        Some(Ran { seq: event.seq, line, succeeded: summary.exit == CommandExit::Code(0), output })
    };
    events.iter().filter_map(ran).collect()
}

/// The last one that failed and has not succeeded since.
pub(super) fn last_failed(commands: &[Ran]) -> Option<&Ran> {
    let mut succeeded = BTreeSet::new();
    commands.iter().rev().find(|ran| {
        if ran.succeeded {
            succeeded.insert(ran.line.as_str());
        }
        !succeeded.contains(ran.line.as_str())
    })
}

/// The last one that ran tests.
pub(super) fn last_tests(commands: &[Ran]) -> Option<&Ran> {
    commands.iter().rev().find(|ran| runs_tests(&ran.line))
}

/// Whether a command line names a runner of tests.
fn runs_tests(line: &str) -> bool {
    const WORDS: [&str; 16] = [
        "test",
        "tests",
        "pytest",
        "unittest",
        "tox",
        "nextest",
        "jest",
        "vitest",
        "mocha",
        "rspec",
        "ctest",
        "phpunit",
        "gotestsum",
        "karma",
        "ava",
        "check",
    ];
    let mut words = line.split(|char: char| !char.is_alphanumeric() && char != '_');
    words.any(|word| WORDS.contains(&word))
}

/// The end of an output: the last lines say what went wrong, the first how it ended.
fn end_of(output: &str) -> String {
    if output.len() <= MOST_OUTPUT {
        return output.to_owned();
    }
    let first = output.lines().next().unwrap_or_default();
    let first = &first[..first.floor_char_boundary(200)];
    let from = output.ceil_char_boundary(output.len() - MOST_OUTPUT);
    let from = output[from..].find('\n').map_or(from, |end| from + end + 1);
    format!("{first}\n[… cut]\n{}", &output[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(line: &str, succeeded: bool) -> Ran {
        Ran { seq: Seq(1), line: line.to_owned(), succeeded, output: String::new() }
    }

    fn line(ran: Option<&Ran>) -> &str {
        ran.map_or("none", |ran| ran.line.as_str())
    }

    #[test]
    fn a_failure_counts_until_the_same_command_succeeds() {
        let mut all = vec![ran("make", false), ran("ls", true)];
        assert_eq!(line(last_failed(&all)), "make");
        all.push(ran("make", true));
        assert_eq!(line(last_failed(&all)), "none");
        all.push(ran("cc", false));
        assert_eq!(line(last_failed(&all)), "cc");
        assert_eq!(line(last_failed(&[])), "none");
        // What was repaired since does not hide what was not.
        let all = [ran("make", false), ran("cc", false), ran("cc", true)];
        assert_eq!(line(last_failed(&all)), "make");
        let all = [ran("make", true), ran("cc", false), ran("make", false), ran("make", true)];
        assert_eq!(line(last_failed(&all)), "cc");
        let all = [ran("make", false), ran("make", true), ran("make", false)];
        assert_eq!(last_failed(&all), Some(&all[2]));
    }

    #[test]
    fn runs_of_tests_are_told_from_other_commands() {
        let all =
            ["cargo test -p a", "npm run test:unit", "python -m pytest -x", "go test ./...", "make check"];
        for command in all {
            assert_eq!(line(last_tests(&[ran(command, true), ran("ls", true)])), command);
        }
        assert_eq!(line(last_tests(&[ran("cat latest.txt", true), ran("cargo build", false)])), "none");
    }

    #[test]
    fn of_a_long_output_the_end_is_kept() {
        let output = format!("Exit code 1.\n{}error: the last line", "noise ä\n".repeat(10_000));
        let kept = end_of(&output);
        assert!(kept.starts_with("Exit code 1.\n[… cut]\nnoise") && kept.ends_with("error: the last line"));
        assert!(kept.len() < MOST_OUTPUT + 300, "{}", kept.len());
    }
}
