//! What a command's arguments say about the files it touches.
//!
//! Knows the everyday programs that change files, and which words of them are files. A program that is not listed may
//! change files all the same: only running it confined holds that in.

use loggia_domain::Risk;

use super::super::risk;
use super::super::shell::{Certainty, Command, HOLE, Word};
use super::credentials::{credentials, may_name_credentials};
use super::guarded::guarded;

/// What a command does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// It makes or changes it.
    Writes,
    /// It removes it, or moves it away.
    Removes,
}

/// Programs that do not open what their arguments name.
const DO_NOT_OPEN: &[&str] = &[
    ":", "[", "basename", "cd", "command", "dirname", "echo", "exit", "false", "find", "kill", "ls",
    "printf", "pwd", "return", "sleep", "stat", "test", "true", "type", "which",
];

/// Programs whose first operand is a pattern or a script, not a file, unless one of these options gives it.
const PATTERN_FIRST: &[(&str, &[&str])] = &[
    ("ag", &[]),
    ("awk", &["-f"]),
    ("egrep", &["-e", "-f"]),
    ("fgrep", &["-e", "-f"]),
    ("gawk", &["-f"]),
    ("grep", &["-e", "-f"]),
    ("jq", &["-f"]),
    ("rg", &["-e", "-f"]),
    ("sed", &["-e", "-f"]),
];

/// How an argument names a file with credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CredentialArgument {
    /// It does.
    Names { word: String, reason: &'static str },
    /// It is a pattern that may match one.
    MayMatch { word: String },
}

/// The first argument that names a file with credentials, if there is one.
pub(crate) fn names_credentials(command: &Command) -> Option<CredentialArgument> {
    let name = command.name().unwrap_or_default();
    // What `find` finds it can hand on.
    let only_looks =
        DO_NOT_OPEN.contains(&name) && !command.words.iter().any(|word| word.text.starts_with("-exec"));
    if only_looks {
        return None;
    }
    files(command).find_map(in_word)
}

/// The first argument that names a file which must not be written, if the command is none that only looks.
pub(crate) fn names_guarded(command: &Command) -> Option<&str> {
    let only_looks = risk::of_command(command) == Risk::Low || command.name() == Some("git");
    if only_looks {
        return None;
    }
    let named = |word: &&Word| word.text.split('=').any(|part| guarded(part).is_some());
    files(command).find(named).map(|word| word.text.as_str())
}

/// The arguments that may be files: not patterns, and not what is to be left out.
fn files(command: &Command) -> impl Iterator<Item = &Word> {
    let pattern = pattern_operand(command);
    let mut excluded = false;
    command.arguments().iter().enumerate().filter_map(move |(at, word)| {
        let is_exclude = is_exclude(&word.text);
        let is_excluded = std::mem::replace(&mut excluded, is_exclude && !word.text.contains('='));
        (!is_exclude && !is_excluded && Some(at) != pattern).then_some(word)
    })
}

/// `--exclude=.env` keeps a file out.
fn is_exclude(text: &str) -> bool {
    ["--exclude", "--ignore", "--glob=!", "-g!"].iter().any(|start| text.starts_with(start))
}

/// The index, among the arguments, of an operand that is no file.
fn pattern_operand(command: &Command) -> Option<usize> {
    let name = command.name()?;
    let (_, options) = PATTERN_FIRST.iter().find(|(known, _)| *known == name)?;
    let arguments = command.arguments();
    if arguments.iter().any(|word| options.contains(&word.text.as_str())) {
        return None;
    }
    arguments.iter().position(|word| !word.text.starts_with('-'))
}

/// Looks at a word whole, and at every part of it that may be a file: after `=`, `@` and `:`, between braces, attached
/// to an option's letter. What is not known of it hides nothing of the rest.
fn in_word(word: &Word) -> Option<CredentialArgument> {
    let shown = || word.text.replace(HOLE, "…");
    let attached = word.text.strip_prefix('-').and_then(|rest| rest.get(1..));
    let parts =
        word.text.split(['=', '@', ':', ',', '{', '}', HOLE]).chain(attached).chain([word.text.as_str()]);
    // A sentence may end with the name of a file.
    let is_sentence =
        |part: &str| part.rsplit('/').next().is_some_and(|name| name.contains(char::is_whitespace));
    for part in parts.filter(|part| !is_sentence(part)) {
        if let Some(reason) = credentials(part) {
            return Some(CredentialArgument::Names { word: shown(), reason });
        }
    }
    let all_hidden = |part: &str| {
        part.starts_with('.') && part.contains(['*', '?']) && !part.contains(char::is_alphanumeric)
    };
    let hidden_glob =
        |part: &str| part.starts_with(['.', 'i']) && may_name_credentials(part) || all_hidden(part);
    (word.certainty != Certainty::Known && word.text.split('/').any(hidden_glob))
        .then(|| CredentialArgument::MayMatch { word: shown() })
}

/// The files that a command is known to change.
pub(crate) fn touched(command: &Command) -> Vec<(Touch, &Word)> {
    use Touch::{Removes, Writes};
    let Some(name) = command.name() else { return Vec::new() };
    let arguments = command.arguments();
    match name {
        "rm" | "rmdir" | "shred" | "unlink" => all(Removes, operands(arguments, "")),
        "mv" => moved(arguments),
        "tee" => all(Writes, operands(arguments, "")),
        "mkdir" | "mkfifo" | "mknod" => all(Writes, operands(arguments, "m")),
        "touch" => all(Writes, operands(arguments, "drt")),
        "truncate" => all(Writes, operands(arguments, "sr")),
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
            all(Writes, operands(arguments, "").into_iter().skip(1))
        }
        "cp" | "install" | "ln" | "rsync" | "scp" => copied(arguments),
        "dd" => {
            arguments.iter().filter(|word| word.text.starts_with("of=")).map(|word| (Writes, word)).collect()
        }
        "sed" if arguments.iter().any(|word| is_in_place(&word.text)) => {
            let skipped = usize::from(pattern_operand(command).is_some());
            all(Writes, operands(arguments, "ef").into_iter().skip(skipped))
        }
        "find" if arguments.iter().any(|word| word.text == "-delete") => {
            let is_start = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
            all(Removes, arguments.iter().take_while(is_start))
        }
        "curl" => all(Writes, values_of(arguments, &["-o", "--output"])),
        "wget" => all(Writes, values_of(arguments, &["-O", "--output-document"])),
        "sort" => all(Writes, values_of(arguments, &["-o", "--output"])),
        _ => Vec::new(),
    }
}

fn all<'a>(touch: Touch, words: impl IntoIterator<Item = &'a Word>) -> Vec<(Touch, &'a Word)> {
    words.into_iter().map(|word| (touch, word)).collect()
}

fn is_in_place(text: &str) -> bool {
    text.starts_with("--in-place") || text.starts_with('-') && !text.starts_with("--") && text.contains('i')
}

/// Everything but options and the values of these options' letters.
fn operands<'a>(arguments: &'a [Word], valued: &str) -> Vec<&'a Word> {
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--" => {
                operands.extend(words);
                break;
            }
            text if text.len() == 2 && text.starts_with('-') && text.ends_with(|c| valued.contains(c)) => {
                words.next();
            }
            text if text.starts_with('-') && text.len() > 1 => {}
            _ => operands.push(word),
        }
    }
    operands
}

/// Where copies go: the last operand, or the directory that an option names.
fn copied(arguments: &[Word]) -> Vec<(Touch, &Word)> {
    let targets = values_of(arguments, &["-t", "--target-directory"]);
    if !targets.is_empty() {
        return all(Touch::Writes, targets);
    }
    all(Touch::Writes, operands(arguments, "mogS").last().copied())
}

fn moved(arguments: &[Word]) -> Vec<(Touch, &Word)> {
    let mut touched = copied(arguments);
    let sources =
        operands(arguments, "tS").into_iter().filter(|word| !touched.iter().any(|(_, to)| to == word));
    let sources = all(Touch::Removes, sources);
    touched.extend(sources);
    touched
}

/// The words after these options. An attached value (`--output=x`) is the word itself; see [`file_in`].
fn values_of<'a>(arguments: &'a [Word], options: &[&str]) -> Vec<&'a Word> {
    let next = |at: usize| arguments.get(at + 1);
    arguments
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            if options.contains(&word.text.as_str()) {
                return next(at);
            }
            let attached = options.iter().any(|option| {
                let rest = word.text.strip_prefix(option);
                rest.is_some_and(|rest| !option.starts_with("--") || rest.starts_with('='))
            });
            attached.then_some(word)
        })
        .collect()
}

/// The file in a word of [`touched`]: what follows `of=`, `--output=` or `-o`.
pub(crate) fn file_in(word: &Word) -> &str {
    let text = word.text.as_str();
    if let Some(file) = text.strip_prefix("of=") {
        return file;
    }
    match text.strip_prefix('-') {
        Some(option) if option.starts_with('-') => text.split_once('=').map_or(text, |(_, file)| file),
        Some(option) => option.get(1..).unwrap_or(text),
        None => text,
    }
}

/// Everything in the arguments that may be a file the command opens, for rules over paths.
pub(crate) fn named_files(command: &Command) -> Vec<&str> {
    if matches!(command.name(), Some("echo" | "printf") | None) {
        return Vec::new();
    }
    let pattern = pattern_operand(command);
    let likely = command.arguments().iter().enumerate().filter(|(at, _)| Some(*at) != pattern);
    likely
        .filter_map(|(_, word)| word.likely())
        .flat_map(|text| [Some(text), text.split_once('=').map(|(_, value)| value)])
        .flatten()
        .filter(|text| !text.is_empty() && !text.starts_with('-'))
        .collect()
}
