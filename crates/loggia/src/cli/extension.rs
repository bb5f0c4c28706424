//! The part of the form about extensions.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loggia_cli::Prepared;

const RUN_ABOUT: &str = "\
Runs a command of an extension, which starts if it does not run yet, and waits until the extension has gone quiet: a command counts as done when its extension has no open request and has \
said nothing for half a second, since the protocol has no answer to a command. What the extension says meanwhile goes to \
stderr, level by level.

Its dialogs are put to you in the terminal: a message is shown, a question is answered with `y` or `n`, a file is chosen by typing its path, and an empty line or Ctrl-C \
cancels a choice. Where a page is open, whoever answers first counts. The address of a window is printed. Without a terminal a dialog fails at once, unless `--yes` or \
`--answer` answers it beforehand:

  --answer confirm=no         say no to a question; `yes` says yes, as `--yes` does to all
  --answer file=PATH          choose this file; `file=` cancels
  --answer directory=PATH     choose this directory; `directory=` cancels

Each answers one dialog of its kind, in order; the last one of a kind answers the rest as well. With one of these no dialog is put to you: one that nothing answers is cancelled.

`--message` opens a file first, and `--save` saves the message afterwards. It is not saved, and the exit code is 4, when the extension told of an error meanwhile or ended; 9 when it is still busy at `--timeout`; and 6 when an \
answer of `--answer` was refused.";

const CHECK_ABOUT: &str = "\
Starts an extension and speaks to it as hosts do, with good and bad input: the handshake, every command it declares, unknown methods, events it asked for and others, odd characters, \
answers out of order, `shutdown`. What came is told like the results of a test suite. What breaks hosts is a failure; what they put up with is a note.

The extension runs here, with your environment and your rights, whatever is trusted. Its commands work on a message that is thrown away afterwards, and nothing is shown to anybody: dialogs are \
answered by the run. What a command does elsewhere it does for real; `--no-commands` runs none.

Exits with code 4 when something failed.";

const NEW_ABOUT: &str = "\
Writes an extension to start from, in Python or in Rust, with a message to try it on. It passes `loggia ext check` as it is. What is to be added to the configuration is printed on stderr.

One in Python needs nothing but Python 3.8: the kit is one file, which is written beside the program. One in Rust is a Cargo project that uses the crate \
`loggia-extension-kit`: by its path where `--kit` names it, else by its version.";

/// Run extensions' commands, look after them, or write them.
#[derive(Debug, Subcommand)]
pub(crate) enum ExtensionCommand {
    /// Run a command of an extension
    #[command(long_about = RUN_ABOUT)]
    Run(Box<ExtensionRunArguments>),
    /// List the extensions there are; none is started
    List(ExtensionListArguments),
    /// Show all there is to know about an extension; it is not started
    Info(ExtensionNamedArguments),
    /// Show what an extension said last, and what happened to it
    Logs(ExtensionNamedArguments),
    /// Start all extensions that may run and do not
    Start(ExtensionListArguments),
    /// Stop an extension and start it again
    Restart(ExtensionNamedArguments),
    /// Stop an extension until it is started again
    Stop(ExtensionNamedArguments),
}

/// The same, with what needs no server.
#[derive(Debug, Subcommand)]
pub(crate) enum ExtensionSubcommand {
    /// What the server does with extensions.
    #[command(flatten)]
    Host(ExtensionCommand),
    /// Check whether an extension does what hosts expect
    #[command(long_about = CHECK_ABOUT)]
    Check(ExtensionCheckArguments),
    /// Write an extension to start from
    #[command(long_about = NEW_ABOUT)]
    New(ExtensionNewArguments),
}

/// Arguments of `ext list` and `ext start`.
#[derive(Debug, Args, Default)]
pub(crate) struct ExtensionListArguments {
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of the commands that are about one extension.
#[derive(Debug, Args)]
pub(crate) struct ExtensionNamedArguments {
    /// Which
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `ext run`.
#[derive(Debug, Args)]
pub(crate) struct ExtensionRunArguments {
    /// The extension's name
    #[arg(value_name = "EXT")]
    pub(crate) extension: String,
    /// The command's id
    #[arg(value_name = "COMMAND")]
    pub(crate) command: String,
    /// Open this file as the workspace's message first
    #[arg(short, long, value_name = "FILE")]
    pub(crate) message: Option<PathBuf>,
    /// Save the message afterwards, if no error was told
    #[arg(short, long)]
    pub(crate) save: bool,
    /// Wait at most so many seconds [default: `runner.extension_timeout_s`]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Say yes to every question, and answer no other dialog than `--answer` does
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Answer a dialog beforehand; may be repeated
    #[arg(long = "answer", value_name = "KIND=VALUE", value_parser = parse_answer)]
    pub(crate) answers: Vec<Prepared>,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `ext check`.
#[derive(Debug, Args)]
pub(crate) struct ExtensionCheckArguments {
    /// The extension's program, or a whole command line as in `path` of its table
    #[arg(value_name = "PROGRAM")]
    pub(crate) path: String,
    /// Its arguments
    #[arg(value_name = "ARGUMENT", last = true)]
    pub(crate) args: Vec<String>,
    /// The message that its commands find [default: a small one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) message: Option<PathBuf>,
    /// Run none of its commands
    #[arg(long)]
    pub(crate) no_commands: bool,
    /// Send bodies that are no messages, too, of which published extensions die
    #[arg(long)]
    pub(crate) malformed: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `ext new`.
#[derive(Debug, Args)]
pub(crate) struct ExtensionNewArguments {
    /// What it is called: small letters, digits and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it is written in
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value_t = ExtensionLanguage::Python)]
    pub(crate) language: ExtensionLanguage,
    /// Where to write it [default: a directory of that name]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Where the crate `loggia-extension-kit` lies, for Rust
    #[arg(long, value_name = "DIR")]
    pub(crate) kit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What an extension is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtensionLanguage {
    /// A program and the kit beside it
    Python,
    /// A Cargo project
    Rust,
}

fn parse_answer(text: &str) -> Result<Prepared, String> {
    match text.split_once('=') {
        Some(("confirm", "yes")) => Ok(Prepared::Confirm(true)),
        Some(("confirm", "no")) => Ok(Prepared::Confirm(false)),
        Some(("file", "")) => Ok(Prepared::File(None)),
        Some(("file", path)) => Ok(Prepared::File(Some(path.into()))),
        Some(("directory", "")) => Ok(Prepared::Directory(None)),
        Some(("directory", path)) => Ok(Prepared::Directory(Some(path.into()))),
        _ => Err("expected `confirm=yes`, `confirm=no`, `file=PATH` or `directory=PATH`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_what_they_say() {
        assert_eq!(parse_answer("confirm=no"), Ok(Prepared::Confirm(false)));
        assert_eq!(parse_answer("file=a=b"), Ok(Prepared::File(Some("a=b".into()))));
        assert_eq!(parse_answer("directory="), Ok(Prepared::Directory(None)));
        for wrong in ["", "confirm", "confirm=maybe", "message=ok"] {
            assert!(parse_answer(wrong).is_err(), "{wrong}");
        }
    }
}
