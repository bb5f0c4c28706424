//! What all commands share that are clients of the server: a terminal, a connection, and interrupts.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use loggia_cli::{CliError, Client, Interrupter, Interrupts, Outcome, Terminal};
use loggia_models::Hosted;
use loggia_protocol_agent_server::CheckState;
use rustix::process::Signal;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tracing::level_filters::LevelFilter;

use crate::config::places::Places;
use crate::config::{Config, Unheard};
use crate::daemon::stopping::{self, Freed};
use crate::daemon::{DaemonError, find};
use crate::errors::{self, Error};

/// Where the server of a command is, and what one that is started for it gets.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) places: Places,
    /// Variables that the configuration names.
    pub(crate) variables: Vec<String>,
    /// Variables set here that have the key of a provider, and so bring a model along.
    keys: Vec<&'static str>,
    /// What is set for this command and the server does not hear of.
    unheard: Vec<Unheard>,
    /// Whether that was said: once is enough.
    warned: AtomicBool,
}

impl Home {
    /// That of a command with this configuration.
    pub(crate) fn new(places: Places, config: &Config) -> Self {
        let warns = config.log_level() >= LevelFilter::WARN;
        let unheard = if warns { config.unheard() } else { Vec::new() };
        let (variables, keys) = (config.variables_for_server(), keys_here(config));
        Self { places, variables, keys, unheard, warned: AtomicBool::new(false) }
    }

    /// A client of the server that runs, or of one that is started for it.
    pub(crate) async fn client(&self) -> Result<Client, DaemonError> {
        let (client, _) = find::client(&self.places, &self.variables).await?;
        self.warn_of_unheard()?;
        Ok(client)
    }

    /// The same for a command that is of little use without a model. A server that has none, or one that cannot be used, and
    /// lacks a provider's key that is set here, is started anew if nobody needs it.
    pub(crate) async fn client_with_model(&self) -> Result<Client, DaemonError> {
        let (mut client, health) = find::client(&self.places, &self.variables).await?;
        // One that has a key may still be looking for its model.
        let is_of_use = !matches!(health.checks.model, CheckState::Absent | CheckState::Failed);
        let has_none = !self.keys.is_empty() && !is_of_use;
        if has_none && stopping::lacks(&self.places, &self.keys)? {
            match self.free().await? {
                Freed::Gone | Freed::Absent => {
                    (client, _) = find::client(&self.places, &self.variables).await?;
                }
                Freed::Stays(record) => {
                    let message = format!(
                        "the server that runs ({record}) has no model that can be used, and keeps the keys it was started with"
                    );
                    errors::warn(&message, "run `loggia stop`, start it again from here, and try again");
                }
            }
        }
        self.warn_of_unheard()?;
        Ok(client)
    }

    /// Lets a server go that nobody needs. It blocks, so it has a thread of its own.
    pub(crate) async fn free(&self) -> Result<Freed, DaemonError> {
        let places = self.places.clone();
        let freed = tokio::task::spawn_blocking(move || stopping::free(&places)).await;
        freed.map_err(|error| DaemonError::Runtime { source: error.into() })?
    }

    /// Says which settings have no effect on the server that is asked.
    pub(crate) fn warn_of_unheard(&self) -> Result<(), DaemonError> {
        if self.unheard.is_empty() || self.warned.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        // Whoever started one by hand may have set the same variables for it.
        let by_itself = stopping::running(&self.places)?.is_none_or(|record| record.auto);
        let unheard: Vec<String> = self
            .unheard
            .iter()
            .filter(|unheard| by_itself || !unheard.by_variable)
            .map(|unheard| format!("`{}` (by {})", unheard.key, unheard.origin))
            .collect();
        if !unheard.is_empty() {
            let message =
                format!("the server has its own settings, so this has no effect: {}", unheard.join(", "));
            let hint = "put it into your configuration and run `loggia stop`; the next command starts a server that follows it. \
                        `loggia ask --ephemeral` follows it without a server";
            errors::warn(&message, hint);
        }
        Ok(())
    }

    /// The directory that was named, else the workspace around the current one, else that itself.
    pub(crate) fn workspace(&self, named: Option<&Path>) -> Result<PathBuf, Error> {
        let failed = |source| Error::NoDirectory { path: named.unwrap_or(Path::new(".")).to_owned(), source };
        let found = match (named, &self.places.workspace) {
            (Some(named), _) => named.canonicalize(),
            (None, Some(around)) => Ok(around.clone()),
            (None, None) => std::env::current_dir(),
        };
        let found = found.map_err(failed)?;
        // Whoever opens it sees whether it is a directory, and whether it may be read.
        std::fs::read_dir(&found).map_err(failed)?;
        Ok(found)
    }
}

/// The variables set here that bring a model along. A provider that is configured says itself where its key is.
fn keys_here(config: &Config) -> Vec<&'static str> {
    let configured = config.endpoints();
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let with_model = Hosted::all().filter(|hosted| {
        hosted.model.is_some() && configured.iter().all(|endpoint| endpoint.name != hosted.name)
    });
    with_model.map(|hosted| hosted.key_variable).filter(|name| is_set(name)).collect()
}

/// The terminal of this process, once colours are settled.
pub(crate) fn terminal() -> Terminal {
    let has_colors = |choice: ColorChoice| choice != ColorChoice::Never;
    let (out, err) = (AutoStream::choice(&io::stdout()), AutoStream::choice(&io::stderr()));
    let terminal = Terminal::of_process(has_colors(out), has_colors(err));
    match std::env::var_os("TERM") {
        Some(kind) if kind == "dumb" => terminal.that_only_writes(),
        _ => terminal,
    }
}

/// What a command runs on that only asks and shows.
pub(crate) fn runtime() -> Result<Runtime, DaemonError> {
    Builder::new_current_thread().enable_all().build().map_err(|source| DaemonError::Runtime { source })
}

/// Does something as a client of the server, and shows it. Ctrl-C ends the process, as it always does.
pub(crate) fn run<T>(
    home: &Home,
    work: impl AsyncFnOnce(&Client, &mut Terminal) -> Result<T, CliError>,
) -> Result<T, Error> {
    runtime()?.block_on(async {
        let client = home.client().await?;
        Ok(work(&client, &mut terminal()).await?)
    })
}

/// The same for something that is of little use without a model.
pub(crate) fn run_with_model<T>(
    home: &Home,
    work: impl AsyncFnOnce(&Client, &mut Terminal) -> Result<T, CliError>,
) -> Result<T, Error> {
    runtime()?.block_on(async {
        let client = home.client_with_model().await?;
        Ok(work(&client, &mut terminal()).await?)
    })
}

/// The same for something that may ask: Ctrl-C is an answer and SIGTERM an end, so that the terminal is left as it was
/// found.
pub(crate) fn run_asking(
    home: &Home,
    work: impl AsyncFnOnce(&Client, &mut Terminal, &mut Interrupts) -> Result<Outcome, CliError>,
) -> Result<Outcome, Error> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let client = home.client().await?;
        let (mut interrupts, listening) = interrupts()?;
        let told_to_end = told_to_end()?;
        let listening = tokio::spawn(listening);
        let mut terminal = terminal();
        let done = tokio::select! {
            done = work(&client, &mut terminal, &mut interrupts) => done,
            () = told_to_end => Ok(Outcome::Left),
        };
        listening.abort();
        Ok(done?)
    });
    // A keyboard that is being read is not waited for.
    runtime.shutdown_background();
    done
}

/// SIGTERM from now on: it no longer ends the process. Whoever hears of it leaves, and puts the terminal back on the way.
pub(crate) fn told_to_end() -> Result<impl Future<Output = ()> + Send + use<>, DaemonError> {
    let mut signals = signal(SignalKind::terminate()).map_err(|source| DaemonError::Runtime { source })?;
    Ok(async move {
        signals.recv().await;
    })
}

/// Ctrl-C and Ctrl-Z from now on: they no longer end or stop the process, whoever gets the interrupts decides.
pub(crate) fn interrupts() -> Result<(Interrupts, impl Future<Output = ()> + Send + use<>), DaemonError> {
    let (interrupter, interrupts) = Interrupts::channel();
    Ok((interrupts, pass_on(interrupter)?))
}

/// The same with SIGTERM, for whoever has something to bring to its end before.
pub(crate) fn interrupts_and_end()
-> Result<(Interrupts, impl Future<Output = ()> + Send + use<>), DaemonError> {
    let (interrupter, interrupts) = Interrupts::channel();
    let (ends, others) = (told_to_end()?, pass_on(interrupter.clone())?);
    let listen = async move {
        let end = async {
            ends.await;
            interrupter.end();
        };
        tokio::join!(end, others);
    };
    Ok((interrupts, listen))
}

/// Passes signals on, for ever.
fn pass_on(interrupter: Interrupter) -> Result<impl Future<Output = ()> + Send + use<>, DaemonError> {
    let listen = |kind| signal(kind).map_err(|source| DaemonError::Runtime { source });
    let mut cancels = listen(SignalKind::interrupt())?;
    let mut suspends = listen(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    Ok(async move {
        loop {
            tokio::select! {
                Some(()) = cancels.recv() => interrupter.interrupt(),
                Some(()) = suspends.recv() => interrupter.suspend(),
                else => return,
            }
        }
    })
}
