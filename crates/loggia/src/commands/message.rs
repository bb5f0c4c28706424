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
use crate::cli::{FormatName, MessageArguments, MessageCommand, MessageOpenArguments, MessagePatchArguments};
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
            let text = if text.is_empty() { nothing_in(arguments.format).to_owned() } else { text };
            MessageOpening::New { text, format: arguments.format.into() }
        }
    };
    done(home, &arguments.all, async |client, at, terminal| message_open(client, at, opening, terminal).await)
}

/// What a new message says that nobody gave a text: documents are empty tables, so that places can be made in them.
fn nothing_in(format: FormatName) -> &'static str {
    match format {
        FormatName::Hl7 => "",
        FormatName::Json | FormatName::Yaml => "{}\n",
        FormatName::Toml => "\n",
    }
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
    if file.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Error::NamesDirectory { path: file.to_owned() });
    }
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

/// The text of a file, or of stdin, as a message's file is read: HL7 may be Latin-1.
pub(super) fn read(file: &Path) -> Result<String, Error> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::NoFile { path: file.to_owned() },
        _ => Error::Input { path: file.to_owned(), source },
    };
    let mut bytes = Vec::new();
    let taken = match file == Path::new("-") {
        true => io::stdin().lock().take(MAX_TEXT + 1).read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|open| open.take(MAX_TEXT + 1).read_to_end(&mut bytes)),
    };
    taken.map_err(failed)?;
    if bytes.len() as u64 > MAX_TEXT {
        return Err(failed(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {MAX_TEXT} bytes"),
        )));
    }
    text_of(bytes).map_err(failed)
}

/// Bytes as text: HL7 that is no UTF-8 is taken for Latin-1, in which every byte is a character.
fn text_of(bytes: Vec<u8>) -> Result<String, io::Error> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) if error.as_bytes().starts_with(b"MSH") => {
            Ok(error.as_bytes().iter().map(|byte| char::from(*byte)).collect())
        }
        Err(error) => {
            let place = error.utf8_error().valid_up_to();
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is no UTF-8 from byte {place} on")))
        }
    }
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
        assert_eq!(named("new/"), None, "a directory is no file");
    }

    #[test]
    fn texts_are_read_as_files_of_messages_are() {
        let text = |bytes: &[u8]| text_of(bytes.to_vec()).ok();
        assert_eq!(text(b"MSH|\xe9").as_deref(), Some("MSH|é"));
        assert_eq!(text(b"MSH|\xc3\xa9").as_deref(), Some("MSH|é"));
        assert_eq!(text(b"\xEF\xBB\xBFMSH|").as_deref(), Some("MSH|"));
        assert_eq!(text(b"{\"a\":\"\xe9\"}"), None);
    }
}
