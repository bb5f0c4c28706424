//! `loggia message`: the open message of a workspace.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use loggia_cli::{
    CliError, MessageAt, MessageOpening, MessagePatches, MessageStep, Outcome, Terminal, message_close,
    message_get, message_open, message_patch, message_save, message_set, message_show, message_status,
    message_step, message_validate,
};
use loggia_client::Client;

use super::client::{self, Home};
use crate::cli::{MessageArguments, MessageCommand, MessageOpenArguments, MessagePatchArguments};
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// The largest text that is read for a message: more than the server takes.
const MAX_TEXT: u64 = 64 << 20;

/// Tells what is open.
pub(crate) fn status(home: &Home, arguments: &MessageArguments) -> Result<ExitCode, Error> {
    done(home, arguments, async |client, at, terminal| message_status(client, at, terminal).await)
}

/// Runs the command.
pub(crate) fn run(home: &Home, command: MessageCommand) -> Result<ExitCode, Error> {
    match command {
        MessageCommand::Open(arguments) => open(home, &arguments),
        MessageCommand::Show(arguments) => {
            let format = arguments.format.map(Into::into);
            done(home, &arguments.all, async |client, at, terminal| {
                message_show(client, at, format, terminal).await
            })
        }
        MessageCommand::Get(arguments) => well(home, &arguments.all, async |client, at, terminal| {
            message_get(client, at, arguments.path, terminal).await
        }),
        MessageCommand::Patch(arguments) => patch(home, arguments),
        MessageCommand::Set(arguments) => {
            let (text, format) = (read(&arguments.file)?, arguments.format.map(Into::into));
            done(home, &arguments.all, async |client, at, terminal| {
                message_set(client, at, text, format, terminal).await
            })
        }
        MessageCommand::Save(arguments) => {
            let workspace = home.workspace(arguments.all.workspace.as_deref())?;
            let to = arguments.to.map(|file| below(&workspace, &file)).transpose()?;
            done(home, &arguments.all, async |client, at, terminal| {
                message_save(client, at, to, terminal).await
            })
        }
        MessageCommand::Undo(arguments) => step(home, &arguments, MessageStep::Undo),
        MessageCommand::Redo(arguments) => step(home, &arguments, MessageStep::Redo),
        MessageCommand::Close(arguments) => done(home, &arguments.all, async |client, at, terminal| {
            message_close(client, at, arguments.discard, terminal).await
        }),
        MessageCommand::Validate(arguments) => {
            well(home, &arguments, async |client, at, terminal| message_validate(client, at, terminal).await)
        }
    }
}

fn open(home: &Home, arguments: &MessageOpenArguments) -> Result<ExitCode, Error> {
    let workspace = home.workspace(arguments.all.workspace.as_deref())?;
    let opening = match &arguments.file {
        Some(file) => MessageOpening::File(below(&workspace, file)?),
        None => {
            // Nobody types a message: a terminal means that there is none yet.
            let text = if io::stdin().is_terminal() { String::new() } else { read(Path::new("-"))? };
            MessageOpening::New { text, format: arguments.format.into() }
        }
    };
    done(home, &arguments.all, async |client, at, terminal| message_open(client, at, opening, terminal).await)
}

fn patch(home: &Home, arguments: MessagePatchArguments) -> Result<ExitCode, Error> {
    let MessagePatchArguments { changes, remove, create, save, all } = arguments;
    let patches = changes.into_iter().chain(remove).chain(create).collect();
    let patches = MessagePatches { patches, save };
    well(home, &all, async |client, at, terminal| message_patch(client, at, patches, terminal).await)
}

fn step(home: &Home, arguments: &MessageArguments, step: MessageStep) -> Result<ExitCode, Error> {
    done(home, arguments, async |client, at, terminal| message_step(client, at, step, terminal).await)
}

/// Does something with the message that ends well or with an error.
fn done(
    home: &Home,
    arguments: &MessageArguments,
    work: impl AsyncFnOnce(&Client, MessageAt, &mut Terminal) -> Result<Outcome, CliError>,
) -> Result<ExitCode, Error> {
    let at = at(home, arguments)?;
    client::run(home, async |client, terminal| work(client, at, terminal).await).map(ExitCode::from)
}

/// The same for something that may find faults.
fn well(
    home: &Home,
    arguments: &MessageArguments,
    work: impl AsyncFnOnce(&Client, MessageAt, &mut Terminal) -> Result<bool, CliError>,
) -> Result<ExitCode, Error> {
    let at = at(home, arguments)?;
    let well = client::run(home, async |client, terminal| work(client, at, terminal).await)?;
    Ok(if well { ExitCode::Success } else { ExitCode::Faults })
}

fn at(home: &Home, arguments: &MessageArguments) -> Result<MessageAt, Error> {
    Ok(MessageAt { workspace: home.workspace(arguments.workspace.as_deref())?, json: arguments.json })
}

/// A file as the server names it: from the workspace's root on.
pub(super) fn below(workspace: &Path, file: &Path) -> Result<String, Error> {
    let absolute =
        std::path::absolute(file).map_err(|source| Error::Input { path: file.to_owned(), source })?;
    // It may not be there yet; the directory it is to be in is.
    let real = match (absolute.parent().map(Path::canonicalize), absolute.file_name()) {
        (Some(Ok(directory)), Some(name)) => directory.join(name),
        _ => absolute,
    };
    let inside = real.strip_prefix(workspace).map(Path::to_owned);
    let outside = |_| Error::OutsideWorkspace { path: file.to_owned(), workspace: workspace.to_owned() };
    let inside: PathBuf = inside.map_err(outside)?;
    let text = inside.to_str().map(str::to_owned);
    text.ok_or(Error::UnreadableName { path: real })
}

/// The text of a file, or of stdin.
pub(super) fn read(file: &Path) -> Result<String, Error> {
    let failed = |source| Error::Input { path: file.to_owned(), source };
    let mut text = String::new();
    let taken = match file == Path::new("-") {
        true => io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text),
        false => std::fs::File::open(file).and_then(|open| open.take(MAX_TEXT + 1).read_to_string(&mut text)),
    };
    taken.map_err(failed)?;
    if text.len() as u64 > MAX_TEXT {
        return Err(failed(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {MAX_TEXT} bytes"),
        )));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_root_on_and_only_below_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("w");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        let named = |file: &str| below(&root, &root.join(file)).ok();
        assert_eq!(named("a.hl7").as_deref(), Some("a.hl7"));
        assert_eq!(named("sub/../sub/new.hl7").as_deref(), Some("sub/new.hl7"));
        assert_eq!(named("../outside.hl7"), None);
    }
}
