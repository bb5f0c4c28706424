//! A typed line as a command and its arguments, by the table.
//!
//! Invariant: a line that is read fits the table: everything that must be there is, numbers are numbers, and nothing is
//! left over.

use crate::paint::brief;
use crate::table::{self, COMMANDS, Command, Kind, Need};
use crate::words::{Word, words};

/// How much of a wrong word is shown.
const SHOWN: usize = 40;

/// How different two words may be for one to be meant by the other: 1 is equal.
const LIKENESS: f64 = 0.6;

/// A command and what it was given.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) command: &'static Command,
    values: Vec<(&'static str, String)>,
}

impl Given {
    /// The value of an argument.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// All numbers of a flag.
    pub(crate) fn numbers(&self, name: &str) -> Vec<usize> {
        let given = self.values.iter().filter(|(known, _)| *known == name);
        given.filter_map(|(_, value)| value.parse().ok()).collect()
    }
}

/// What is wrong with a line, in words for whoever typed it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) what: String,
    pub(crate) hint: String,
}

/// Reads a line; nothing if it is empty.
pub(crate) fn read(line: &str) -> Option<Result<Given, Fault>> {
    let words = words(line);
    let first = words.first()?;
    let Some((command, taken)) = table::find(words.iter().map(|word| word.text.as_str())) else {
        return Some(Err(unknown(&words, first)));
    };
    let texts: Vec<&str> = words[..taken].iter().map(|word| word.text.as_str()).collect();
    // Whoever goes on after a name that others begin with means one of those.
    if command.arguments.is_empty() && words.len() > taken && table::longer(&texts).next().is_some() {
        return Some(Err(unknown(&words, first)));
    }
    Some(values(command, line, &words[..taken], &words[taken..]))
}

fn values(command: &'static Command, line: &str, name: &[Word], mut rest: &[Word]) -> Result<Given, Fault> {
    let mut values = Vec::new();
    let mut end = name.last().map_or(0, |word| word.end);
    for argument in command.arguments {
        match argument.need {
            Need::One | Need::Maybe => {
                let Some((word, more)) = rest.split_first() else {
                    if argument.need == Need::One {
                        return Err(wrong(command, format!("`{}` needs {}", command.typed(), argument.name)));
                    }
                    continue;
                };
                check(command, argument.kind, word)?;
                values.push((argument.name, word.text.clone()));
                (rest, end) = (more, word.end);
            }
            Need::Rest | Need::MaybeRest => {
                let text = line[end..].trim();
                if !text.is_empty() {
                    values.push((argument.name, text.to_owned()));
                } else if argument.need == Need::Rest {
                    return Err(wrong(command, format!("`{}` needs {}", command.typed(), argument.name)));
                }
                rest = &[];
            }
            Need::Flag => rest = flag(command, argument.name, rest, &mut values)?,
        }
    }
    match rest.first() {
        None => Ok(Given { command, values }),
        Some(word) => {
            let word = brief(&word.text, SHOWN);
            Err(wrong(command, format!("`{word}` is more than `{}` takes", command.typed())))
        }
    }
}

/// The numbers after a flag, which may come more than once: `--hunk 1 3 --hunk=4,5`.
fn flag<'a>(
    command: &'static Command,
    name: &'static str,
    mut rest: &'a [Word],
    values: &mut Vec<(&'static str, String)>,
) -> Result<&'a [Word], Fault> {
    let is_number = |text: &str| text.parse::<usize>().is_ok_and(|number| number > 0);
    while let Some((word, more)) = rest.split_first() {
        let Some(joined) = word.text.strip_prefix(name) else { break };
        rest = more;
        let before = values.len();
        let mut take = |text: &str| match text.split(',').all(&is_number) {
            true => {
                values.extend(text.split(',').map(|number| (name, number.to_owned())));
                true
            }
            false => false,
        };
        let fits = match joined.strip_prefix('=') {
            Some(numbers) => take(numbers),
            None if joined.is_empty() => true,
            None => return Err(wrong(command, format!("there is no `{}`", brief(&word.text, SHOWN)))),
        };
        while fits && let Some((word, more)) = rest.split_first() {
            if word.text.starts_with("--") || !take(&word.text) {
                break;
            }
            rest = more;
        }
        if values.len() == before {
            return Err(wrong(command, format!("`{name}` needs numbers from 1 on")));
        }
    }
    Ok(rest)
}

fn check(command: &'static Command, kind: Kind, word: &Word) -> Result<(), Fault> {
    if word.is_open {
        return Err(wrong(command, "a quote has no end".to_owned()));
    }
    let is_number = || word.text.parse::<usize>().is_ok_and(|number| number > 0);
    if kind == Kind::Number && !is_number() {
        return Err(wrong(command, format!("`{}` is no number from 1 on", brief(&word.text, SHOWN))));
    }
    Ok(())
}

fn wrong(command: &Command, what: String) -> Fault {
    Fault { what, hint: format!("usage: {}", command.usage()) }
}

/// What may have been meant by a command there is none of.
fn unknown(words: &[Word], first: &Word) -> Fault {
    let given = brief(&first.text, SHOWN);
    let word = first.text.strip_prefix('/').unwrap_or(&first.text);
    let longer: Vec<&Command> =
        COMMANDS.iter().filter(|command| command.name[0] == word && command.name.len() > 1).collect();
    if let Some(command) = longer.first() {
        let second = words.get(1).map(|word| format!("{given} {}", brief(&word.text, SHOWN)));
        let what = format!("there is no `{}`", second.unwrap_or(given));
        let hint = match longer.len() {
            1 => format!("usage: {}", command.usage()),
            _ => {
                let known: Vec<&str> = longer.iter().map(|command| command.name[1]).collect();
                format!("`{word}` goes on with {}", known.join(", "))
            }
        };
        return Fault { what, hint };
    }
    let near = nearest(&brief(word, SHOWN), COMMANDS.iter().map(|command| command.name[0]));
    let hint = match near {
        _ if matches!(word, "quit" | "exit" | "logout") => {
            "Ctrl-D leaves, and the server goes on; `stop` ends it for everybody".to_owned()
        }
        Some(near) => format!("did you mean `{near}`? `help` lists the commands"),
        None => "`help` lists the commands; `ask TEXT` asks the agent".to_owned(),
    };
    Fault { what: format!("there is no command `{given}`"), hint }
}

/// The nearest of the known words, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |known: &'a str| (strsim::normalized_damerau_levenshtein(word, known), known);
    let best = known.into_iter().map(likeness).max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness >= LIKENESS).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A line as it is understood: its command and what it was given, or what is wrong.
    fn understood(line: &str) -> String {
        match read(line) {
            None => String::new(),
            Some(Ok(given)) => {
                let values: Vec<_> =
                    given.values.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                format!("{}{}", given.command.typed(), values.concat())
            }
            Some(Err(fault)) => format!("{}: {}", fault.what, fault.hint),
        }
    }

    #[test]
    fn a_line_is_a_command_and_what_it_takes() {
        assert_eq!(understood("help"), "help");
        assert_eq!(understood("  /help   log "), "help COMMAND=log");
        assert_eq!(understood("new 'my dir'"), "new DIR=my dir");
        assert_eq!(understood("log level debug"), "log level LEVEL=debug");
        assert_eq!(understood("undo 2"), "undo N=2");
        assert_eq!(understood("  "), "");
    }

    #[test]
    fn the_rest_of_a_line_is_taken_as_it_was_typed() {
        assert_eq!(understood("ask  Why \"so\"  many\\n 'quotes "), "ask TEXT=Why \"so\"  many\\n 'quotes");
        assert_eq!(understood("ask one\ntwo"), "ask TEXT=one\ntwo");
        assert_eq!(understood("reject r1 it isn't"), "reject QUESTION=r1 REASON=it isn't");
        assert_eq!(understood("reject r1"), "reject QUESTION=r1");
        assert_eq!(understood("task note ab  it's \"so\""), "task note TASK=ab TEXT=it's \"so\"");
        assert_eq!(understood("task set ab name {\"a\": 1}"), "task set TASK=ab NAME=name VALUE={\"a\": 1}");
    }

    #[test]
    fn hunks_are_numbers_in_any_of_the_usual_forms() {
        let hunks = |line: &str| match read(line) {
            Some(Ok(given)) => given.numbers("--hunk"),
            other => panic!("{other:?}"),
        };
        assert_eq!(hunks("approve r --hunk 1 3"), [1, 3]);
        assert_eq!(hunks("approve r --hunk=1,3 --hunk 4"), [1, 3, 4]);
        assert_eq!(hunks("approve r"), Vec::<usize>::new());
        let usage = "usage: approve QUESTION [--hunk N…]";
        assert_eq!(understood("approve r --hunk"), format!("`--hunk` needs numbers from 1 on: {usage}"));
        assert_eq!(understood("approve r --hunk 0"), format!("`--hunk` needs numbers from 1 on: {usage}"));
        assert_eq!(understood("approve r --hunks 1"), format!("there is no `--hunks`: {usage}"));
        assert_eq!(understood("approve r 1"), format!("`1` is more than `approve` takes: {usage}"));
    }

    #[test]
    fn what_is_wrong_is_told_with_what_may_be_meant() {
        assert_eq!(
            understood("sesions"),
            "there is no command `sesions`: did you mean `sessions`? `help` lists the commands"
        );
        assert_eq!(
            understood("xyzzy"),
            "there is no command `xyzzy`: `help` lists the commands; `ask TEXT` asks the agent"
        );
        assert_eq!(
            understood("quit"),
            "there is no command `quit`: Ctrl-D leaves, and the server goes on; `stop` ends it for everybody"
        );
        assert_eq!(understood("log"), "there is no `log`: usage: log level [LEVEL]");
        assert_eq!(understood("log lvl"), "there is no `log lvl`: usage: log level [LEVEL]");
        assert_eq!(
            understood("plugin"),
            "there is no `plugin`: `plugin` goes on with enable, disable, validate"
        );
        assert_eq!(
            understood("plugin start x"),
            "there is no `plugin start`: `plugin` goes on with enable, disable, validate"
        );
        assert_eq!(understood("index"), "index");
        assert_eq!(understood("index build"), "index build");
        assert_eq!(
            understood("index biuld"),
            "there is no `index biuld`: `index` goes on with skipped, build, rebuild, pause, resume, cancel, drop"
        );
        assert_eq!(understood("search it's  so"), "search WORDS=it's  so");
        assert_eq!(understood("task note abcd"), "`task note` needs TEXT: usage: task note TASK TEXT…");
        assert_eq!(understood("use"), "`use` needs SESSION: usage: use SESSION");
        assert_eq!(understood("ask"), "`ask` needs TEXT: usage: ask TEXT…");
        assert_eq!(understood("undo x"), "`x` is no number from 1 on: usage: undo [N]");
        assert_eq!(understood("use 'x"), "a quote has no end: usage: use SESSION");
        assert_eq!(understood("cancel it"), "`it` is more than `cancel` takes: usage: cancel");
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_understood_or_refused(line in "(help|ask|use|approve|log level|undo)?[ a-z'\"\\\\0-9=,é-]{0,30}") {
            understood(&line);
        }
    }
}
