//! `loggia sessions`: looks after sessions.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use loggia_cli::{
    Outcome, SessionChoice, SessionDelete, SessionExport, SessionFork, SessionImport, SessionRename,
    SessionShow, SessionsList,
};
use loggia_protocol_agent_server::SessionId;

use super::client::{self, Home};
use crate::cli::{SessionsCommand, SessionsImportArguments, SessionsListArguments};
use crate::errors::Error;

/// The largest journal that is read: more than a server takes at once.
const MAX_IMPORT_BYTES: u64 = 64 * 1024 * 1024;

/// Runs the command. To resume is a way to ask, and never comes here.
pub(crate) fn run(home: &Home, command: SessionsCommand) -> Result<Outcome, Error> {
    match command {
        SessionsCommand::List(arguments) => list(home, &arguments),
        SessionsCommand::Show(arguments) => {
            let session = arguments.id.map_or(SessionChoice::Latest, |id| SessionChoice::Id(SessionId(id)));
            let options = SessionShow { session, workspace: home.workspace(None)?, json: arguments.json };
            client::run(home, async |client, terminal| {
                loggia_cli::sessions_show(client, options, terminal).await
            })
        }
        SessionsCommand::Rename(arguments) => {
            let session = SessionId(arguments.id);
            let options = SessionRename { session, title: arguments.title, json: arguments.json };
            client::run(home, async |client, terminal| {
                loggia_cli::sessions_rename(client, options, terminal).await
            })
        }
        SessionsCommand::Fork(arguments) => {
            let (session, seq) = (SessionId(arguments.id), arguments.at);
            let options = SessionFork { session, seq, title: arguments.title, json: arguments.json };
            client::run(home, async |client, terminal| {
                loggia_cli::sessions_fork(client, options, terminal).await
            })
        }
        SessionsCommand::Delete(arguments) => {
            let session = SessionId(arguments.id);
            let options = SessionDelete { session, yes: arguments.yes, json: arguments.json };
            client::run_asking(home, async |client, terminal, interrupts| {
                loggia_cli::sessions_delete(client, options, terminal, interrupts).await
            })
        }
        SessionsCommand::Export(arguments) => {
            let options = SessionExport { session: SessionId(arguments.id), to: arguments.output };
            client::run(home, async |client, terminal| {
                loggia_cli::sessions_export(client, options, terminal).await
            })
        }
        SessionsCommand::Import(arguments) => import(home, &arguments),
        SessionsCommand::Resume(_) => Ok(Outcome::Done),
    }
}

fn list(home: &Home, arguments: &SessionsListArguments) -> Result<Outcome, Error> {
    let workspace = match arguments.all {
        true => None,
        false => Some(home.workspace(arguments.workspace.as_deref())?),
    };
    let options = SessionsList { workspace, limit: arguments.limit, json: arguments.json };
    client::run(home, async |client, terminal| loggia_cli::sessions_list(client, options, terminal).await)
}

fn import(home: &Home, arguments: &SessionsImportArguments) -> Result<Outcome, Error> {
    let options = SessionImport {
        workspace: home.workspace(arguments.workspace.as_deref())?,
        lines: read(&arguments.file)?,
        json: arguments.json,
    };
    client::run(home, async |client, terminal| loggia_cli::sessions_import(client, options, terminal).await)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Input { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => io::stdin().lock().take(MAX_IMPORT_BYTES + 1).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(MAX_IMPORT_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > MAX_IMPORT_BYTES {
        let message = format!("larger than {MAX_IMPORT_BYTES} bytes");
        return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, message)));
    }
    Ok(bytes)
}
