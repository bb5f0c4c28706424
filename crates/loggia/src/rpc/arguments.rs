//! Which command lines mean the agent of an Autohand client, and what in them is ours.
//!
//! Such a client sends flags that nobody knows, and none may be fatal: so these lines never reach the parser that
//! everything else goes through. What the flags mean to a session is the door's affair.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::cli::GlobalFlags;

/// The name under which such clients look for their agent.
const THEIR_NAME: &str = "autohand";

/// What such a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meant {
    /// To be the agent, with these words.
    Agent(Vec<OsString>),
    /// To be told how.
    Help,
    /// To be told which version this is.
    Version,
}

impl Meant {
    /// What a whole command line asks for; nothing if it is none of these.
    pub(crate) fn of(line: &[OsString]) -> Option<Self> {
        let (program, words) = line.split_first()?;
        // What our own processes ask of each other is never a client's, whatever this one is called.
        if words.first().is_some_and(|word| word.as_encoded_bytes().starts_with(b"__")) {
            return None;
        }
        let by_name = Path::new(program).file_name() == Some(OsStr::new(THEIR_NAME));
        let words = match words.split_first() {
            Some((first, rest)) if first == "rpc" => rest,
            _ if by_name || asks_for_mode(words) => words,
            _ => return None,
        };
        let has = |names: [&str; 2]| words.iter().any(|word| names.iter().any(|name| word == name));
        Some(if has(["--help", "-h"]) {
            Self::Help
        } else if has(["--version", "-V"]) {
            Self::Version
        } else {
            Self::Agent(words.to_vec())
        })
    }
}

/// Whether flags ask for the mode. After a command of ours they are that command's affair.
fn asks_for_mode(words: &[OsString]) -> bool {
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if !words.first().is_some_and(is_flag) {
        return false;
    }
    let words: Vec<&OsString> = words.iter().take_while(|word| *word != "--").collect();
    words.iter().any(|word| *word == "--rpc" || *word == "--mode=rpc")
        || words.windows(2).any(|pair| pair[0] == "--mode" && pair[1] == "rpc")
}

/// The words as text. What is none is no flag of ours, but for directories: see [`unreadable_directory`].
pub(super) fn texts(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A directory to work in whose name is no text. It cannot be told to a server, and what could be told is another one.
pub(super) fn unreadable_directory(words: &[OsString]) -> Option<&OsStr> {
    const FLAGS: [&str; 2] = ["--path", "--dir"];
    let before = std::iter::once(None).chain(words.iter().map(Some));
    let unreadable = before.zip(words).filter(|(_, word)| word.to_str().is_none());
    unreadable
        .map(|(before, word)| (before.is_some_and(|flag| FLAGS.iter().any(|name| flag == name)), word))
        .find_map(|(is_value, word)| {
            let begins = |flag: &str| word.as_encoded_bytes().starts_with(format!("{flag}=").as_bytes());
            (is_value || FLAGS.into_iter().any(begins)).then_some(word.as_os_str())
        })
}

/// Whether the engine is to run in this process.
pub(super) fn is_ephemeral(words: &[String]) -> bool {
    words.iter().any(|word| word == "--ephemeral")
}

/// Flags of ours besides those that were typed before the command. A `--set` that sets nothing is somebody else's.
pub(super) fn add_flags(flags: &mut GlobalFlags, words: &[String]) {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let assignment = if word == "--set" { words.next() } else { word.strip_prefix("--set=") };
        if let Some((key, value)) = assignment.and_then(|text| text.split_once('=')) {
            flags.set.push((key.trim().to_owned(), value.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(line: &str) -> Option<Meant> {
        Meant::of(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn agent(words: &str) -> Option<Meant> {
        Some(Meant::Agent(words.split_whitespace().map(OsString::from).collect()))
    }

    #[test]
    fn the_agent_is_asked_for_in_many_ways() {
        for (line, words) in [
            ("loggia rpc", ""),
            ("/usr/bin/loggia rpc --frobnicate x -z", "--frobnicate x -z"),
            ("loggia --rpc", "--rpc"),
            ("loggia --mode rpc --path /x", "--mode rpc --path /x"),
            ("loggia --path init --model m --mode=rpc", "--path init --model m --mode=rpc"),
            ("autohand", ""),
            ("/opt/bin/autohand --mode rpc -y", "--mode rpc -y"),
            ("autohand --rpc", "--rpc"),
            ("autohand rpc --rpc", "--rpc"),
        ] {
            assert_eq!(meant(line), agent(words), "{line}");
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        for line in [
            "loggia",
            "loggia ask what is --mode rpc",
            "loggia ask -- --rpc",
            "loggia serve --rpc",
            "loggia --mode acp",
            "loggia -v -- --rpc",
            "loggia --help",
            "myautohand --version",
            "/opt/copied/autohand __serve --auto --json",
            "autohand __supervise",
        ] {
            assert_eq!(meant(line), None, "{line}");
        }
    }

    #[test]
    fn help_and_version_can_be_asked_for() {
        assert_eq!(meant("loggia rpc --help"), Some(Meant::Help));
        assert_eq!(meant("autohand -h"), Some(Meant::Help));
        assert_eq!(meant("autohand --version"), Some(Meant::Version));
        assert_eq!(meant("loggia --mode rpc --version"), Some(Meant::Version));
    }

    #[test]
    fn only_a_directory_must_have_a_name_that_is_text() {
        use std::os::unix::ffi::OsStringExt as _;
        let find = |line: &[&[u8]]| {
            let words: Vec<OsString> = line.iter().map(|word| OsString::from_vec(word.to_vec())).collect();
            unreadable_directory(&words).map(OsStr::to_owned)
        };
        assert!(find(&[b"--rpc", b"--path", b"caf\xe9"]).is_some());
        assert!(find(&[b"--dir=caf\xe9", b"--path", b"x"]).is_some());
        assert!(find(&[b"\xff", b"--frobnicate", b"\xff", b"--path", b"x", b"\xfe"]).is_none());
        assert!(find(&[]).is_none());
    }

    #[test]
    fn our_own_flags_are_found_among_others() {
        let words = ["--set", "a.b=c", "--x", "--set=d=e=f", "--set", "nothing", "--ephemeral", "--set"];
        let words: Vec<String> = words.map(str::to_owned).into();
        let mut flags = GlobalFlags::default();
        add_flags(&mut flags, &words);
        let pairs: Vec<_> = flags.set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("a.b", "c"), ("d", "e=f")]);
        assert!(is_ephemeral(&words) && !is_ephemeral(&words[..2]));
    }
}
