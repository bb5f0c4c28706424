//! Reading command lines: which simple commands a line runs, with which words, where, on which files.
//!
//! Knows the shell's grammar and the programs that run other programs. Refuses to decide anything, and to run, expand
//! or look up anything: a word that only a running shell could know is marked as not known.
//!
//! Shells differ. A line is read as bash reads it; where dash or zsh would read it differently, what it says is not
//! certain and is marked so. Lines are read on a thread of their own with a stack of its own, after their length and
//! nesting were measured, so that a fault in the grammar's parser costs one reading and nothing else.
//!
//! What always holds: a reading that could not be completed says so in [`Reading::unread`]; everything that was found
//! until then is in it all the same.

mod ansi;
mod carry;
mod carry_git;
mod decode;
mod directories;
mod extent;
mod lookalike;
mod options;
mod redirect;
mod simple;
mod syntax;
mod walk;
mod word;

use loggia_domain::CommandRequest;

use super::Place;
use super::paths::Directory;

pub(crate) use carry::is_assignment;
pub(crate) use carry_git::subcommand as git_subcommand;
pub(crate) use word::{Certainty, HOLE, Word};

/// Longer lines are not read. A person cannot judge them either, and real ones are far shorter.
pub(crate) const MAX_LINE_BYTES: usize = 32 * 1024;

/// The reader's stack. The deepest nesting the bounds let through needs a fifth of it in a debug build.
const READER_STACK_BYTES: usize = 8 * 1024 * 1024;

/// What a line does, as far as that can be known without running it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    /// Every simple command, in the order they were found.
    pub(crate) commands: Vec<Command>,
    /// Why some of the line could not be read, if it could not. Then no answer but a person's is good enough.
    pub(crate) unread: Option<String>,
    /// Why no allow rule speaks for this line, if none does.
    pub(crate) unruled: Option<String>,
    /// A function that starts itself over and over.
    pub(crate) fork_bomb: bool,
}

/// One simple command: a program and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// Whether this is what runs, or only what carries something else that runs.
    pub(crate) role: CommandRole,
    /// Variables set for it, each as `NAME=value`.
    pub(crate) assignments: Vec<Word>,
    /// Its name and its arguments. Empty for bare assignments and bare redirections.
    pub(crate) words: Vec<Word>,
    /// The files the shell opens for it.
    pub(crate) redirections: Vec<Redirection>,
    /// Where it may find itself; never empty.
    pub(crate) directories: Vec<Directory>,
    /// Whether it takes its input from another command or from a file.
    pub(crate) fed: bool,
}

/// Whether a command is what runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandRole {
    /// It runs, and must be allowed.
    Runs,
    /// It only starts another command of the reading (`env`, `sh -c`), which must be allowed in its place.
    Carries,
}

/// A file the shell opens for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirection {
    /// What for.
    pub(crate) access: RedirectionAccess,
    /// Which.
    pub(crate) target: Word,
}

/// What a redirection opens its file for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectionAccess {
    /// To read it.
    Reads,
    /// To write it.
    Writes,
}

impl Command {
    /// The program's name without its directory, if it is known or a good guess.
    pub(crate) fn name(&self) -> Option<&str> {
        program_name(&self.words)
    }

    /// Its arguments.
    pub(crate) fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// The name of the program these words start, without its directory, if it is known or a good guess.
pub(crate) fn program_name(words: &[Word]) -> Option<&str> {
    let text = words.first()?.likely()?;
    Some(text.rsplit('/').next().unwrap_or(text))
}

/// Reads a line with the variables that are set for it: each command has them in front.
pub(crate) fn read_request(request: &CommandRequest, start: &Directory, place: &Place) -> Reading {
    let mut reading = read(&request.line, start, place);
    let set: Vec<Word> =
        request.environment.iter().map(|(name, value)| Word::known(&format!("{name}={value}"))).collect();
    // Other names mean something to some shells: bash takes functions from them.
    if request.environment.iter().any(|(name, _)| !is_assignment(&format!("{name}="))) {
        reading.unread.get_or_insert_with(|| "a variable is set whose name is none".to_owned());
    }
    for command in reading.commands.iter_mut().filter(|command| command.role == CommandRole::Runs) {
        command.assignments.splice(..0, set.iter().cloned());
    }
    reading
}

/// Reads a line that starts in a directory.
pub(crate) fn read(line: &str, start: &Directory, place: &Place) -> Reading {
    let unread = |why: &str| Reading { unread: Some(why.to_owned()), ..Reading::default() };
    if line.len() > MAX_LINE_BYTES {
        return unread("the line is too long to be read");
    }
    let reading = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("shell-reader".to_owned())
            .stack_size(READER_STACK_BYTES)
            .spawn_scoped(scope, || walk::Walker::read(line, start, place))
            .map(std::thread::ScopedJoinHandle::join)
    });
    match reading {
        Ok(Ok(reading)) => reading,
        Ok(Err(_panic)) => unread("the line confuses the reader"),
        Err(_no_thread) => unread("there is no room to read the line now"),
    }
}

/// The words of a line that cannot be read, cut at everything that could end one. Quotes and backslashes are dropped,
/// so that they hide nothing.
pub(crate) fn raw_words(line: &str) -> Vec<Word> {
    let plain: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    plain
        .split(|c: char| c.is_whitespace() || c.is_control() || ";&|()<>{}`$=".contains(c))
        .filter(|word| !word.is_empty())
        .map(Word::known)
        .collect()
}
