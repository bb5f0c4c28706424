//! What all commands share that are clients of the server: a terminal, a connection, and interrupts.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use loggia_cli::{CliError, Client, Interrupts, Terminal};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::config::places::Places;
use crate::daemon::{DaemonError, find};
use crate::errors::Error;

/// The terminal of this process, once colours are settled.
pub(crate) fn terminal() -> Terminal {
    let colored = [AutoStream::choice(&io::stdout()), AutoStream::choice(&io::stderr())];
    Terminal::of_process(colored.iter().any(|choice| *choice != ColorChoice::Never))
}

/// The directory that was named, else the workspace around the current one, else that itself.
pub(crate) fn workspace(places: &Places, named: Option<&Path>) -> Result<PathBuf, Error> {
    let around = || named.is_none().then(|| places.workspace.clone()).flatten();
    let failed = |source| Error::Input { path: named.unwrap_or(Path::new(".")).to_owned(), source };
    let found = match (named, around()) {
        (Some(named), _) => named.canonicalize(),
        (None, Some(around)) => Ok(around),
        (None, None) => std::env::current_dir(),
    };
    found.map_err(failed)
}

/// What a command runs on that only asks and shows.
pub(crate) fn runtime() -> Result<Runtime, DaemonError> {
    Builder::new_current_thread().enable_all().build().map_err(|source| DaemonError::Runtime { source })
}

/// Does something as a client of the server that runs, or of one that is started for it.
pub(crate) fn run<T>(
    places: &Places,
    work: impl AsyncFnOnce(&Client, &mut Terminal) -> Result<T, CliError>,
) -> Result<T, Error> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let client = find::client(places, &[]).await?;
        Ok(work(&client, &mut terminal()).await?)
    });
    // A keyboard that is being read is not waited for.
    runtime.shutdown_background();
    done
}

/// Ctrl-C from now on: it no longer ends the process, whoever gets the interrupts decides.
pub(crate) fn interrupts() -> Result<(Interrupts, impl Future<Output = ()>), DaemonError> {
    let mut signals = signal(SignalKind::interrupt()).map_err(|source| DaemonError::Runtime { source })?;
    let (interrupter, interrupts) = Interrupts::channel();
    let listen = async move {
        while signals.recv().await.is_some() {
            interrupter.interrupt();
        }
    };
    Ok((interrupts, listen))
}
