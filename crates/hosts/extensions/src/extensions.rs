//! All extensions of one workspace: listed, started, restarted, stopped, and asked for their commands. Cheap to clone.
//!
//! Invariant: making a host and listing its extensions starts no process. When the last clone is dropped, everything
//! that runs is killed.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use loggia_domain::{
    BoxFuture, CommandDone, Dialogs, ExtensionDeskError, ExtensionLogEntry, ExtensionState, ExtensionSummary,
    GuestCommand, GuestCommands, GuestError, MessageDesk, Workspace,
};
use loggia_protocol_hermes::ShutdownReason;
use loggia_wire::child::Keeper;

use crate::context::{Context, Parts, TrustQuestion};
use crate::entry::{ExtensionEntry, names};
use crate::events;
use crate::extension::{Extension, Start};
use crate::limits::Limits;

/// What a host is told.
#[derive(Clone)]
pub struct HostSettings {
    /// Whose extensions these are. They run in its root unless they say otherwise.
    pub workspace: Workspace,
    /// All that are configured, in the order in which they count.
    pub entries: Vec<ExtensionEntry>,
    /// The environment that extensions get, besides what the protocol and their settings add.
    pub environment: Vec<(OsString, OsString)>,
    /// A directory that all extensions share; made before the first one starts.
    pub data_directory: PathBuf,
    /// How long they may take, and how much may wait for them.
    pub limits: Limits,
    /// Whether what the workspace brought may run.
    pub trust: TrustQuestion,
}

/// The extensions of one workspace.
#[derive(Debug, Clone)]
pub struct Extensions(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    context: Arc<Context>,
    extensions: Mutex<Vec<Arc<Extension>>>,
    /// Held while those that are to run are started, one after another.
    starting: tokio::sync::Mutex<Listening>,
}

/// Whether somebody listens to what happens on the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listening {
    NotYet,
    Already,
}

impl Extensions {
    /// A host that has started nothing yet.
    pub fn new(
        keeper: Keeper,
        settings: HostSettings,
        desk: Arc<dyn MessageDesk>,
        dialogs: Arc<dyn Dialogs>,
    ) -> Self {
        let HostSettings { workspace, entries, environment, data_directory, limits, trust } = settings;
        let parts = Parts { keeper, workspace, environment, data_directory, limits, trust, desk, dialogs };
        let context = Context::new(parts);
        let extensions: Vec<Arc<Extension>> = names(&entries)
            .into_iter()
            .zip(entries)
            .map(|(name, entry)| Extension::new(name, entry, context.clone(), None))
            .collect();
        context.enlist(&extensions);
        Self(Arc::new(Inner {
            context,
            extensions: Mutex::new(extensions),
            starting: tokio::sync::Mutex::new(Listening::NotYet),
        }))
    }

    fn extensions(&self) -> MutexGuard<'_, Vec<Arc<Extension>>> {
        self.0.extensions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Arc<Extension>> {
        self.extensions().clone()
    }

    fn named(&self, name: &str) -> Result<Arc<Extension>, ExtensionDeskError> {
        let found = self.extensions().iter().find(|extension| extension.name() == name).cloned();
        found.ok_or_else(|| {
            let known: Vec<String> =
                self.extensions().iter().map(|extension| format!("`{}`", extension.name())).collect();
            let there = if known.is_empty() {
                "none is configured".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            ExtensionDeskError::NotFound(format!("there is no extension `{name}` here; {there}"))
        })
    }

    /// All that are configured, in that order. Starts none.
    pub fn list(&self) -> Vec<ExtensionSummary> {
        self.all().iter().map(|extension| extension.summary()).collect()
    }

    /// Starts those that are to run and were never started, one after another; one that fails does not stop the rest.
    /// Those that failed or were stopped stay so until they are restarted.
    pub async fn start_all(&self) -> Vec<ExtensionSummary> {
        let mut listening = self.0.starting.lock().await;
        let mut started = false;
        for extension in self.all() {
            if extension.state() != ExtensionState::Idle || self.0.context.closing.is_cancelled() {
                continue;
            }
            self.listen(&mut listening);
            // Why it does not run is its state, and in its log.
            let begun = extension.start(Start::IfIdle).await;
            started |= begun.is_ok();
        }
        if started {
            self.0.context.lay_over();
        }
        drop(listening);
        self.list()
    }

    /// Hears what happens to the message from before the first extension runs.
    fn listen(&self, listening: &mut Listening) {
        if *listening == Listening::NotYet {
            *listening = Listening::Already;
            let context = self.0.context.clone();
            let watched = context.desk.watch();
            self.0.context.tasks.spawn(events::run(context, watched));
        }
    }

    /// Stops one and starts it again; starts it if it does not run, whatever became of it.
    ///
    /// # Errors
    /// [`ExtensionDeskError`] if there is none of that name, it may not run, or it does not start.
    pub async fn restart(&self, name: &str) -> Result<ExtensionSummary, ExtensionDeskError> {
        let extension = self.named(name)?;
        self.listen(&mut *self.0.starting.lock().await);
        extension.restart().await?;
        self.0.context.lay_over();
        Ok(extension.summary())
    }

    /// Stops one, until it is restarted.
    ///
    /// # Errors
    /// [`ExtensionDeskError`] if there is none of that name, or nobody lets it run: it would stay stopped once somebody
    /// does.
    pub async fn stop_one(&self, name: &str) -> Result<ExtensionSummary, ExtensionDeskError> {
        let extension = self.named(name)?;
        if extension.state() == ExtensionState::Untrusted {
            extension.may_run()?;
        }
        extension.stop(ShutdownReason::Disabled).await;
        Ok(extension.summary())
    }

    /// What one said last and what happened to it, oldest first; also of before a restart.
    ///
    /// # Errors
    /// [`ExtensionDeskError::NotFound`].
    pub fn logs(&self, name: &str) -> Result<Vec<ExtensionLogEntry>, ExtensionDeskError> {
        Ok(self.named(name)?.entries())
    }

    /// Goes over to other settings. What stays the same goes on; what is different is stopped and, if it ran, started
    /// again; what is gone or disabled is stopped.
    pub async fn reconfigure(&self, entries: Vec<ExtensionEntry>) {
        let before = self.all();
        let mut restarts = Vec::new();
        let mut leaving = before.clone();
        let mut now = Vec::new();
        for (name, entry) in names(&entries).into_iter().zip(entries) {
            let known = before.iter().find(|extension| extension.name() == name);
            match known {
                Some(known) if *known.entry() == entry => {
                    leaving.retain(|extension| !Arc::ptr_eq(extension, known));
                    now.push(known.clone());
                }
                _ => {
                    let log = known.map(|known| known.log().clone());
                    let ran = known.is_some_and(|known| known.running().is_some());
                    let extension = Extension::new(name, entry, self.0.context.clone(), log);
                    if ran && extension.may_run().is_ok() {
                        restarts.push(extension.clone());
                    }
                    now.push(extension);
                }
            }
        }
        self.0.context.enlist(&now);
        *self.extensions() = now;
        join_all(leaving.iter().map(|extension| {
            let again = restarts.iter().any(|other| other.name() == extension.name());
            extension.stop(if again { ShutdownReason::Reload } else { ShutdownReason::Disabled })
        }))
        .await;
        let mut listening = self.0.starting.lock().await;
        for extension in restarts {
            self.listen(&mut listening);
            // Why it does not run is its state, and in its log.
            let _ = extension.start(Start::IfIdle).await;
        }
        self.0.context.lay_over();
    }

    /// The workspace is trusted now, or no longer: what may no longer run is stopped.
    pub async fn trust_changed(&self) {
        let all = self.all();
        let barred = all.iter().filter(|extension| !extension.is_trusted());
        join_all(barred.map(|extension| async move {
            extension.stop(ShutdownReason::Disabled).await;
            extension.forget_stop();
        }))
        .await;
    }

    /// Stops all at the same time, each with the protocol's own steps. None is started any more.
    pub async fn stop(&self) {
        self.0.context.closing.cancel();
        let all = self.all();
        join_all(all.iter().map(|extension| extension.stop(ShutdownReason::Closing))).await;
        self.0.context.tasks.close();
        self.0.context.tasks.wait().await;
    }

    async fn offered(&self) -> Vec<GuestCommand> {
        let all = self.start_all().await;
        all.into_iter().flat_map(|summary| summary.commands).collect()
    }

    async fn run(
        &self,
        command: String,
        extension: Option<String>,
        limit: Option<Duration>,
    ) -> Result<CommandDone, GuestError> {
        self.start_all().await;
        let chosen = match extension {
            Some(name) => {
                let one = self.named(&name).map_err(|error| GuestError::NotFound(error.to_string()))?;
                match one.running() {
                    None => return Err(one.gone(&command)),
                    Some((_, offer)) if offer.has(&command) => Some(one),
                    Some(_) => None,
                }
            }
            None => self
                .all()
                .into_iter()
                .find(|extension| extension.running().is_some_and(|(_, offer)| offer.has(&command))),
        };
        match chosen {
            Some(extension) => extension.execute(&command, limit).await,
            None => Err(self.no_such_command(&command)),
        }
    }

    fn no_such_command(&self, command: &str) -> GuestError {
        let all = self.all();
        let silent: Vec<String> = all
            .iter()
            .filter(|extension| extension.running().is_none())
            .map(|extension| format!("`{}`", extension.name()))
            .collect();
        let besides = if silent.is_empty() {
            String::new()
        } else {
            format!("; what {} offer is not known, since they do not run", silent.join(", "))
        };
        GuestError::NotFound(format!("no extension that runs here has the command `{command}`{besides}"))
    }
}

impl GuestCommands for Extensions {
    fn commands(&self) -> BoxFuture<'_, Result<Vec<GuestCommand>, GuestError>> {
        Box::pin(async move { Ok(self.offered().await) })
    }

    fn execute(
        &self,
        command: String,
        extension: Option<String>,
        limit: Option<Duration>,
    ) -> BoxFuture<'_, Result<CommandDone, GuestError>> {
        Box::pin(self.run(command, extension, limit))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.context.dropped.cancel();
    }
}

impl fmt::Debug for HostSettings {
    /// Values of the environment may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSettings")
            .field("workspace", &self.workspace)
            .field("entries", &self.entries)
            .field("data_directory", &self.data_directory)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
