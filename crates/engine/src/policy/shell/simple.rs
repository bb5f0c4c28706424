//! Simple commands, with what carries them taken off.
//!
//! Knows assignments, redirections and which words change what other words mean. What carries what is in `carry`.

use brush_parser::ast::{AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand, SubshellCommand};

use super::carry::{self, Inside};
use super::directories::{Directories, Outcome};
use super::redirect::Opened;
use super::walk::Walker;
use super::{Certainty, Command, CommandRole, Word, lookalike, program_name};

/// How many programs may carry one another: `env nice timeout 5 …`.
const MAX_CARRIERS: usize = 8;

/// Builtins after which a word may mean something else than it says.
const REDEFINES: &[&str] = &[
    ".",
    "alias",
    "autoload",
    "bind",
    "complete",
    "declare",
    "disable",
    "emulate",
    "enable",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "set",
    "setopt",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unalias",
    "unset",
    "unsetopt",
    "zmodload",
];

/// A simple command whose words are decoded.
#[derive(Debug, Default)]
struct Simple {
    assignments: Vec<Word>,
    words: Vec<Word>,
    opened: Opened,
}

impl Walker<'_> {
    pub(super) fn simple(&mut self, simple: &SimpleCommand, directories: &Directories) -> Outcome {
        let mut parts = Simple::default();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, directories, &mut parts);
        }
        if let Some(name) = &simple.word_or_name {
            if parts.opened.ends_for_dash {
                self.unread("shells disagree on where a command with `&>` ends");
            }
            let name = self.word(&name.value, directories);
            parts.words.push(name);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, directories, &mut parts);
        }
        self.run(parts, directories, 0)
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, directories: &Directories, parts: &mut Simple) {
        if parts.opened.ends_for_dash {
            self.unread("shells disagree on where a command with `&>` ends");
        }
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirection) => {
                self.redirection(redirection, directories, &mut parts.opened);
            }
            CommandPrefixOrSuffixItem::Word(word) => {
                let word = self.word(&word.value, directories);
                parts.words.push(word);
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, whole) => {
                let word = match &assignment.value {
                    AssignmentValue::Scalar(_) => self.word(&whole.value, directories),
                    AssignmentValue::Array(elements) => {
                        self.unruled("it sets an array");
                        for (key, value) in elements {
                            if let Some(key) = key {
                                self.expanded(&key.value, directories);
                            }
                            self.word(&value.value, directories);
                        }
                        Word::unknown()
                    }
                };
                // After the name, `a=b` is an argument like any other.
                let list = if parts.words.is_empty() { &mut parts.assignments } else { &mut parts.words };
                list.push(word);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.process_substitution(subshell, directories);
                parts.words.push(Word::unknown());
            }
        }
    }

    pub(super) fn process_substitution(&mut self, subshell: &SubshellCommand, directories: &Directories) {
        self.unruled("it has a process substitution");
        self.list(&subshell.list, directories.clone());
    }

    /// Notes a command and whatever it carries.
    fn run(&mut self, simple: Simple, directories: &Directories, carriers: usize) -> Outcome {
        let Simple { assignments, words, opened } = simple;
        self.check_name(&words);
        let fed = self.fed || opened.feeds;
        let carried = carry::inside(&words, opened.text.as_deref());
        let mut outcome = directories.after(&words, self.place).unwrap_or_else(|| Outcome::same(directories));
        self.push(Command {
            role: if carried.outer_runs { CommandRole::Runs } else { CommandRole::Carries },
            assignments,
            words,
            redirections: opened.files,
            directories: directories.to_vec(),
            fed,
        });
        if carriers >= MAX_CARRIERS && !carried.insides.is_empty() {
            self.unread("too many programs start one another");
            return outcome;
        }
        for inside in carried.insides {
            let after = match inside {
                Inside::Command { assignments, words } => {
                    let opened = Opened { feeds: fed, text: opened.text.clone(), ..Opened::default() };
                    self.run(Simple { assignments, words, opened }, directories, carriers + 1)
                }
                Inside::Script(text) => Outcome::same(&self.script(&text, directories)),
                Inside::Unknown(why) => {
                    self.unread(why);
                    continue;
                }
            };
            // `command cd` and `eval` move the shell itself.
            outcome = Outcome { done: outcome.done.or(after.done), failed: outcome.failed.or(after.failed) };
        }
        outcome
    }

    fn check_name(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        match first.certainty {
            Certainty::Known | Certainty::Guessed => {
                if let Some(why) = lookalike::in_name(&first.text) {
                    self.unread(why);
                }
            }
            Certainty::Glob | Certainty::Unknown => self.unread("it is not known which program it runs"),
        }
        if program_name(words).is_some_and(|name| REDEFINES.contains(&name)) {
            self.unruled(&format!("`{}` changes what other words mean", first.text));
        }
    }
}
