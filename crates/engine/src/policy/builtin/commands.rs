//! Commands that must not run, and commands that no rule settles.

use super::super::Place;
use super::super::shell::{Command, Reading, Word};
use super::deletion;

/// What stands against a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Objection {
    /// It must not run.
    Forbidden(String),
    /// Only a person can say.
    Doubtful(String),
}

/// Programs that must not run, and why. A command has the rights of whoever started the daemon, and no more.
const FORBIDDEN: &[(&str, &str)] = &[
    ("doas", "it takes the rights of another user"),
    ("pkexec", "it takes the rights of another user"),
    ("run0", "it takes the rights of another user"),
    ("runuser", "it takes the rights of another user"),
    ("su", "it takes the rights of another user"),
    ("sudo", "it takes the rights of another user"),
    ("sudoedit", "it takes the rights of another user"),
    ("halt", "it stops the machine"),
    ("poweroff", "it stops the machine"),
    ("reboot", "it stops the machine"),
    ("shutdown", "it stops the machine"),
    ("mke2fs", "it destroys a file system"),
    ("mkswap", "it destroys a file system"),
    ("wipefs", "it destroys a file system"),
];

/// What the daemon is called.
const DAEMON: &str = "loggia";

/// What the daemon's own command line may not be asked to do from inside a session: to widen what sessions may do.
const DAEMON_COMMANDS: &[&str] =
    &["approve", "attach", "pair", "plugin", "policy", "serve", "stop", "token", "tokens", "trust"];

/// Why a program must not run, if so.
pub(crate) fn forbidden_name(name: &str) -> Option<&'static str> {
    if name.starts_with("mkfs.") || name == "mkfs" {
        return Some("it destroys a file system");
    }
    FORBIDDEN.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}

/// What stands against a command of a line, the most serious thing first.
pub(crate) fn objection(command: &Command, reading: &Reading, place: &Place) -> Option<Objection> {
    let name = command.name()?;
    let forbidden = |why: &str| Some(Objection::Forbidden(why.to_owned()));
    if let Some(reason) = forbidden_name(name) {
        return forbidden(&format!("`{name}` must not run: {reason}"));
    }
    if let Some(objection) = deletion::objection(command, place) {
        return Some(objection);
    }
    let arguments = command.arguments();
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&word.text.as_str()));
    match name {
        "init" | "telinit" if has(&["0", "6"]) => forbidden("it stops the machine"),
        "systemctl" if has(&["halt", "kexec", "poweroff", "reboot"]) => forbidden("it stops the machine"),
        "systemctl" | "service" if mentions_daemon(arguments) => {
            forbidden("it would stop the one that keeps this session")
        }
        "kill" if has(&["-1", "0"]) && has(&["-1", "--", "-9", "-KILL", "-s"]) => against_kill_all(arguments),
        "pkill" | "killall" | "skill" if mentions_daemon(arguments) => {
            forbidden("it would kill the one that keeps this session")
        }
        "pgrep" | "pidof" if mentions_daemon(arguments) && kills(reading) => {
            forbidden("it would kill the one that keeps this session")
        }
        "pkill" | "killall" | "skill" if arguments.iter().any(|word| word.certain().is_none()) => {
            Some(Objection::Doubtful("it is not known what it would kill".to_owned()))
        }
        DAEMON if has(DAEMON_COMMANDS) => forbidden("a session must not change what sessions may do"),
        DAEMON => Some(Objection::Doubtful("it reaches the one that keeps this session".to_owned())),
        _ if reads_program(command) => Some(Objection::Doubtful(format!(
            "`{name}` runs what it is given as input, and that is not known"
        ))),
        _ => None,
    }
}

fn mentions_daemon(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| word.text.to_ascii_lowercase().contains(DAEMON))
}

fn kills(reading: &Reading) -> bool {
    reading.commands.iter().any(|command| command.name() == Some("kill"))
}

/// `kill -9 -1` reaches every process of the user.
fn against_kill_all(arguments: &[Word]) -> Option<Objection> {
    let targets = arguments.iter().skip(1).any(|word| matches!(word.text.as_str(), "-1" | "0"));
    targets.then(|| Objection::Forbidden("it would kill every process".to_owned()))
}

/// Whether an interpreter runs a program that comes from another command or a file: `curl … | python3`.
fn reads_program(command: &Command) -> bool {
    let name = command.name().unwrap_or_default();
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_interpreter = matches!(
        base,
        "python"
            | "pypy"
            | "perl"
            | "ruby"
            | "node"
            | "deno"
            | "bun"
            | "php"
            | "lua"
            | "luajit"
            | "osascript"
    );
    let names_program = command.arguments().iter().any(|word| word.text != "-");
    is_interpreter && command.fed && !names_program
}
