//! Programs that run other programs, and what they run.
//!
//! Knows the usual ones: wrappers (`env`, `timeout`), shells, `xargs`, `find`, `git`. What it does not know stands
//! for itself, and needs a rule of its own. What it knows but cannot follow is [`Inside::Unknown`].

use super::options::Options;
use super::word::{Certainty, Word};
use super::{carry_git, program_name};

/// What a command carries.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) insides: Vec<Inside>,
    /// Whether the command does something of its own besides.
    pub(super) outer_runs: bool,
}

/// Something a command runs.
#[derive(Debug)]
pub(super) enum Inside {
    /// A simple command.
    Command { assignments: Vec<Word>, words: Vec<Word> },
    /// The text of a script.
    Script(String),
    /// Something, and why it is not known what.
    Unknown(&'static str),
}

impl Carried {
    fn nothing() -> Self {
        Self { insides: Vec::new(), outer_runs: true }
    }

    fn only(inside: Inside) -> Self {
        Self { insides: vec![inside], outer_runs: false }
    }

    fn unknown(why: &'static str) -> Self {
        Self::only(Inside::Unknown(why))
    }

    fn command(words: &[Word]) -> Self {
        if words.is_empty() {
            return Self::nothing();
        }
        Self::only(Inside::Command { assignments: Vec::new(), words: words.to_vec() })
    }
}

impl Inside {
    /// The script that these words make when they are joined, as `eval` does it.
    pub(super) fn joined(words: &[Word]) -> Vec<Self> {
        let Some(texts) = words.iter().map(Word::likely).collect::<Option<Vec<_>>>() else {
            return vec![Self::Unknown("it makes a script from words that are not known")];
        };
        let script = Self::Script(texts.join(" "));
        if words.iter().all(|word| word.certainty == Certainty::Known) {
            vec![script]
        } else {
            vec![script, Self::Unknown("shells disagree on the script it makes")]
        }
    }
}

/// A program that runs the command that follows its options and operands.
struct Carrier {
    name: &'static str,
    options: Options,
    /// How many operands stand before the command.
    operands: usize,
}

/// Options that write files, change the directory or name further files are left out on purpose: with one of those,
/// nobody looks through.
const CARRIERS: &[Carrier] = &[
    Carrier { name: "builtin", options: Options::NONE, operands: 0 },
    Carrier { name: "busybox", options: Options::NONE, operands: 0 },
    Carrier { name: "chronic", options: Options { flags: "ev", ..Options::NONE }, operands: 0 },
    Carrier { name: "chroot", options: Options::NONE, operands: 1 },
    Carrier { name: "chrt", options: Options { flags: "abdfiorRmv", ..Options::NONE }, operands: 1 },
    Carrier { name: "exec", options: Options { flags: "cl", valued: "a", ..Options::NONE }, operands: 0 },
    Carrier { name: "fakeroot", options: Options::NONE, operands: 0 },
    Carrier {
        name: "ionice",
        options: Options {
            flags: "t",
            valued: "cn",
            long_flags: &["--ignore"],
            long_valued: &["--class", "--classdata"],
        },
        operands: 0,
    },
    Carrier {
        name: "ltrace",
        options: Options { flags: "cCfiLrStT", valued: "aenpsu", ..Options::NONE },
        operands: 0,
    },
    Carrier {
        name: "nice",
        options: Options {
            flags: "0123456789",
            valued: "n",
            long_flags: &[],
            long_valued: &["--adjustment"],
        },
        operands: 0,
    },
    Carrier { name: "nohup", options: Options::NONE, operands: 0 },
    Carrier {
        name: "setsid",
        options: Options { flags: "cfw", long_flags: &["--ctty", "--fork", "--wait"], ..Options::NONE },
        operands: 0,
    },
    Carrier {
        name: "stdbuf",
        options: Options { valued: "eio", long_valued: &["--error", "--input", "--output"], ..Options::NONE },
        operands: 0,
    },
    Carrier {
        name: "strace",
        options: Options { flags: "cCdDfFhiknqrtTvVxyYzZ", valued: "aeIOpsSuX", ..Options::NONE },
        operands: 0,
    },
    Carrier { name: "taskset", options: Options { flags: "ac", ..Options::NONE }, operands: 1 },
    Carrier { name: "time", options: Options { flags: "pqvV", valued: "f", ..Options::NONE }, operands: 0 },
    Carrier {
        name: "timeout",
        options: Options {
            flags: "pfv",
            valued: "ks",
            long_flags: &["--foreground", "--preserve-status", "--verbose"],
            long_valued: &["--kill-after", "--signal"],
        },
        operands: 1,
    },
    Carrier { name: "toybox", options: Options::NONE, operands: 0 },
    Carrier { name: "unbuffer", options: Options { flags: "p", ..Options::NONE }, operands: 0 },
];

/// Programs that read scripts in the shell's language, or one much like it.
const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"];

/// What a command carries. `input` is the text it reads, if that stands in the line.
pub(super) fn inside(words: &[Word], input: Option<&str>) -> Carried {
    let Some(name) = program_name(words) else { return Carried::nothing() };
    if let Some(carrier) = CARRIERS.iter().find(|carrier| carrier.name == name) {
        return carrier.open(words);
    }
    match name {
        "alias" => Carried { insides: words[1..].iter().flat_map(alias).collect(), outer_runs: true },
        "command" => command(words),
        "env" => env(words),
        "eval" => Carried { insides: Inside::joined(&words[1..]), outer_runs: false },
        "find" => find(words),
        "flock" => flock(words),
        "hash" => hash(words),
        "git" => Carried { insides: carry_git::insides(words), outer_runs: true },
        "parallel" => Carried::unknown("`parallel` makes commands of its own"),
        "script" => Carried { insides: script(words), outer_runs: true },
        "trap" => {
            Carried { insides: words.get(1..2).map(Inside::joined).unwrap_or_default(), outer_runs: true }
        }
        "watch" => watch(words),
        "xargs" => xargs(words),
        _ if SHELLS.contains(&name) => shell(words, input),
        _ => Carried::nothing(),
    }
}

impl Carrier {
    fn open(&self, words: &[Word]) -> Carried {
        match self.options.end(words) {
            Some(end) => Carried::command(words.get(end + self.operands..).unwrap_or_default()),
            None => Carried::unknown("it is not known what a program starts"),
        }
    }
}

/// `alias x=script`: `x` runs the script from then on, in some shells.
fn alias(word: &Word) -> Vec<Inside> {
    match word.text.split_once('=') {
        Some((_, script)) => Inside::joined(&[Word { text: script.to_owned(), certainty: word.certainty }]),
        None if word.certainty == Certainty::Known => Vec::new(),
        None => vec![Inside::Unknown("it is not known what an alias stands for")],
    }
}

/// `hash -p program x`: `x` runs the program from then on.
fn hash(words: &[Word]) -> Carried {
    let program = words.iter().position(|word| word.text == "-p").and_then(|at| words.get(at + 1));
    let insides =
        program.map(|program| Inside::Command { assignments: Vec::new(), words: vec![program.clone()] });
    Carried { insides: insides.into_iter().collect(), outer_runs: true }
}

/// `command -v x` only tells where `x` is.
fn command(words: &[Word]) -> Carried {
    match words.get(1).and_then(Word::certain) {
        Some("-v" | "-V") => Carried::nothing(),
        Some("-p") => Carried::command(&words[2..]),
        Some("--") => Carried::command(&words[2..]),
        Some(option) if option.starts_with('-') => Carried::unknown("it is not known what `command` starts"),
        _ => Carried::command(words.get(1..).unwrap_or_default()),
    }
}

fn env(words: &[Word]) -> Carried {
    const OPTIONS: Options = Options {
        flags: "i0v",
        valued: "u",
        long_flags: &["--ignore-environment", "--null", "--debug"],
        long_valued: &["--unset"],
    };
    let Some(end) = OPTIONS.end(words) else { return Carried::unknown("it is not known what `env` starts") };
    let rest = words.get(end..).unwrap_or_default();
    let names = rest.iter().take_while(|word| is_assignment(&word.text)).count();
    let (assignments, command) = rest.split_at(names);
    if command.is_empty() {
        return Carried::nothing();
    }
    Carried::only(Inside::Command { assignments: assignments.to_vec(), words: command.to_vec() })
}

/// Whether a word sets a variable: `NAME=…`.
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn flock(words: &[Word]) -> Carried {
    const OPTIONS: Options = Options { flags: "enosuxF", valued: "wE", ..Options::NONE };
    let Some(end) = OPTIONS.end(words) else {
        return Carried::unknown("it is not known what `flock` starts");
    };
    match words.get(end + 1..) {
        Some([option, script, ..]) if matches!(option.certain(), Some("-c" | "--command")) => {
            Carried { insides: Inside::joined(std::slice::from_ref(script)), outer_runs: false }
        }
        Some(command) => Carried::command(command),
        None => Carried::nothing(),
    }
}

/// `script -c command file` writes a file as well.
fn script(words: &[Word]) -> Vec<Inside> {
    let command = words.iter().position(|word| matches!(word.text.as_str(), "-c" | "--command"));
    let command = command.and_then(|at| words.get(at + 1));
    command.map(|command| Inside::joined(std::slice::from_ref(command))).unwrap_or_default()
}

/// `watch` gives its words to a shell.
fn watch(words: &[Word]) -> Carried {
    const OPTIONS: Options = Options { flags: "bcdegptwxC", valued: "n", ..Options::NONE };
    match OPTIONS.end(words).and_then(|end| words.get(end..)) {
        Some(script) => Carried { insides: Inside::joined(script), outer_runs: false },
        None => Carried::unknown("it is not known what `watch` starts"),
    }
}

fn xargs(words: &[Word]) -> Carried {
    const OPTIONS: Options = Options {
        flags: "0oprtx",
        valued: "adEILnPs",
        long_flags: &["--exit", "--interactive", "--no-run-if-empty", "--null", "--open-tty", "--verbose"],
        long_valued: &[
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-chars",
            "--max-lines",
            "--max-procs",
        ],
    };
    let Some(end) = OPTIONS.end(words) else {
        return Carried::unknown("it is not known what `xargs` starts");
    };
    let (options, command) = words.split_at(end);
    if command.is_empty() {
        return Carried::nothing();
    }
    let replaced = options.iter().position(|word| word.text.starts_with("-I")).and_then(|at| {
        let attached = &options[at].text[2..];
        if attached.is_empty() { options.get(at + 1).map(|word| word.text.as_str()) } else { Some(attached) }
    });
    let mut words = command.to_vec();
    match replaced {
        Some(replaced) => forget(&mut words, replaced),
        None => words.push(Word::unknown()),
    }
    Carried::only(Inside::Command { assignments: Vec::new(), words })
}

/// Makes the words unknown that hold a placeholder.
fn forget(words: &mut [Word], placeholder: &str) {
    for word in words {
        if word.text.contains(placeholder) {
            word.certainty = Certainty::Unknown;
        }
    }
}

fn find(words: &[Word]) -> Carried {
    let mut insides = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let rest = &words[at + 1..];
        match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let ends = rest
                    .iter()
                    .position(|word| matches!(word.text.as_str(), ";" | "+"))
                    .unwrap_or(rest.len());
                let mut words = rest[..ends].to_vec();
                forget(&mut words, "{}");
                insides.push(Inside::Command { assignments: Vec::new(), words });
                at += ends;
            }
            "-delete" => {
                let words = vec![Word::known("rm"), Word::unknown()];
                insides.push(Inside::Command { assignments: Vec::new(), words });
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let words = [Word::known("tee")].into_iter().chain(rest.first().cloned()).collect();
                insides.push(Inside::Command { assignments: Vec::new(), words });
            }
            _ => {}
        }
        at += 1;
    }
    Carried { insides, outer_runs: true }
}

fn shell(words: &[Word], input: Option<&str>) -> Carried {
    const FLAGS: &[&str] =
        &["--login", "--noediting", "--noprofile", "--norc", "--posix", "--restricted", "--verbose"];
    let (mut takes_script, mut reads_input) = (false, false);
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.likely() else { return Carried::unknown("it is not known what a shell runs") };
        match text {
            "-" | "--" => {
                at += 1;
                break;
            }
            _ if FLAGS.contains(&text) => at += 1,
            _ if text.starts_with("--") => return Carried::unknown("it is not known what a shell runs"),
            _ if text.starts_with(['-', '+']) => {
                takes_script |= text.starts_with('-') && text.contains('c');
                reads_input |= text.starts_with('-') && text.contains('s');
                at += if text.contains(['o', 'O']) { 2 } else { 1 };
            }
            _ => break,
        }
    }
    match (words.get(at), input) {
        (Some(script), _) if takes_script => {
            Carried { insides: Inside::joined(std::slice::from_ref(script)), outer_runs: false }
        }
        (Some(_file), _) if !reads_input => Carried::nothing(),
        (_, Some(script)) if !takes_script => Carried::only(Inside::Script(script.to_owned())),
        _ => Carried::unknown("a shell takes its commands from its input"),
    }
}
