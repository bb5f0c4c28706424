//! The extensions of a daemon, and the open messages they work on: one host and one desk for each workspace, made when
//! somebody first needs them.
//!
//! Knows which settings and rights a host is made from, and looks at them again whenever somebody asks. Refuses to know
//! what extensions say and what a message is; that is for the host and the desk.
//!
//! What always holds:
//! - looking starts no extension. They start when a message is opened, a command is run or somebody says so;
//! - an extension that stays as it is is not disturbed when others change, nor when the configuration cannot be read;
//! - what a workspace brings runs only while the workspace is trusted.

mod desks;
mod setup;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use loggia_domain::{
    BoxFuture, CommandDone, Dialogs, ExtensionDesk, ExtensionDeskError, ExtensionListing, ExtensionLogEntry,
    ExtensionSummary, GuestCommand, GuestCommands, GuestError, MessageDesk, Workspace,
};
use loggia_engine::{DialogBoard, Engine};
use loggia_extensions::{ExtensionEntry, Extensions, HostSettings, Limits, TrustQuestion};
use loggia_wire::child::Keeper;
use tokio_util::sync::CancellationToken;

use crate::cli::GlobalFlags;
use crate::config::places::Places;
use desks::Desks;
use setup::Setup;

/// How long all extensions together may take to leave: a little more than the protocol's own steps.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// The directory that all extensions share, among lasting data.
const DIRECTORY: &str = "extensions";

/// All extensions of a daemon. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ExtensionHosts(Arc<Inner>);

struct Inner {
    places: Places,
    /// Those the daemon was started with; they count before files.
    flags: GlobalFlags,
    keeper: Keeper,
    environment: Vec<(OsString, OsString)>,
    dialogs: DialogBoard,
    /// Who knows what is trusted. Until it runs, nothing is.
    engine: OnceLock<Engine>,
    desks: Desks,
    /// By the workspace's root.
    hosts: Mutex<HashMap<PathBuf, Arc<Slot>>>,
    closing: CancellationToken,
}

/// The place of a workspace's host. The lock is held while settings are looked at and what changed is started anew, so
/// that two who look do not make two hosts.
#[derive(Default)]
struct Slot(tokio::sync::Mutex<Option<Host>>);

#[derive(Clone)]
struct Host {
    extensions: Extensions,
    entries: Vec<ExtensionEntry>,
}

/// A host as it is now, and what kept it from being as it should.
struct Looked {
    extensions: Extensions,
    /// How long a command is waited for unless somebody says otherwise.
    patience: Duration,
    problems: Vec<String>,
}

impl ExtensionHosts {
    pub(crate) fn new(places: &Places, flags: &GlobalFlags, keeper: Keeper, dialogs: DialogBoard) -> Self {
        Self(Arc::new(Inner {
            places: places.clone(),
            flags: flags.clone(),
            keeper,
            environment: std::env::vars_os().collect(),
            dialogs,
            engine: OnceLock::new(),
            desks: Desks::default(),
            hosts: Mutex::default(),
            closing: CancellationToken::new(),
        }))
    }

    /// Tells who knows what is trusted.
    pub(crate) fn attach(&self, engine: &Engine) {
        // A second engine would be a mistake of ours, and the first one goes on counting.
        let _ = self.0.engine.set(engine.clone());
    }

    /// The desk with a workspace's open message. Opening one there starts extensions.
    pub(crate) fn desk(&self, workspace: &Workspace) -> Arc<dyn MessageDesk> {
        self.0.desks.starting(self, workspace)
    }

    /// Whether somebody would lose something, or waits for an answer.
    pub(crate) fn is_needed(&self) -> bool {
        let (dialogs, windows) = self.0.dialogs.open();
        !dialogs.is_empty() || !windows.is_empty() || self.0.desks.has_unsaved()
    }

    /// Stops all extensions, each with the protocol's own steps, in bounded time. None is started any more.
    pub(crate) async fn stop(&self) {
        self.0.closing.cancel();
        let slots: Vec<_> = self.0.slots().drain().map(|(_, slot)| slot).collect();
        let stop = join_all(slots.iter().map(|slot| async {
            if let Some(host) = slot.0.lock().await.take() {
                host.extensions.stop().await;
            }
        }));
        if tokio::time::timeout(STOP_LIMIT, stop).await.is_err() {
            tracing::warn!("not every extension left in time; the rest is killed");
        }
    }

    /// Looks at a workspace again whose trust has changed or lapsed.
    pub(super) async fn heed_trust(&self, root: &Path) {
        let slot = self.0.slots().get(root).cloned();
        let Some(slot) = slot else { return };
        let host = slot.0.lock().await.clone();
        if let Some(host) = host {
            host.extensions.trust_changed().await;
        }
    }

    /// The host of a workspace as its settings are now.
    async fn look(&self, workspace: &Workspace) -> Result<Looked, ExtensionDeskError> {
        if self.0.closing.is_cancelled() {
            return Err(ExtensionDeskError::Failed("the server is stopping".to_owned()));
        }
        let slot = Arc::clone(self.0.slots().entry(workspace.root.clone()).or_default());
        let mut host = slot.0.lock().await;
        let (inner, root) = (Arc::clone(&self.0), workspace.root.clone());
        let setup = tokio::task::spawn_blocking(move || inner.setup(&root)).await;
        let cut_off = |error| ExtensionDeskError::Failed(format!("the work was cut off: {error}"));
        let Setup { entries, patience, problems } = setup.map_err(cut_off)?;
        // What cannot be read says nothing, so what runs goes on.
        let entries =
            entries.unwrap_or_else(|| host.as_ref().map(|host| host.entries.clone()).unwrap_or_default());
        let extensions = match host.as_ref() {
            Some(known) => {
                if known.entries != entries {
                    known.extensions.reconfigure(entries.clone()).await;
                }
                known.extensions.clone()
            }
            None => self.make(workspace, entries.clone()),
        };
        *host = Some(Host { extensions: extensions.clone(), entries });
        Ok(Looked { extensions, patience, problems })
    }

    fn make(&self, workspace: &Workspace, entries: Vec<ExtensionEntry>) -> Extensions {
        let settings = HostSettings {
            workspace: workspace.clone(),
            entries,
            environment: self.0.environment.clone(),
            data_directory: self.0.places.kept().join(DIRECTORY),
            limits: Limits::default(),
            trust: self.0.trust_question(workspace.root.clone()),
        };
        let dialogs: Arc<dyn Dialogs> = Arc::new(self.0.dialogs.clone());
        Extensions::new(self.0.keeper.clone(), settings, self.0.desks.of(workspace), dialogs)
    }

    /// Starts what is to run, for whoever is about to open a message.
    async fn start_for_message(&self, workspace: &Workspace) {
        match self.look(workspace).await {
            Ok(looked) => drop(looked.extensions.start_all().await),
            Err(error) => tracing::debug!(%error, "no extensions are started"),
        }
    }

    async fn one(
        &self,
        workspace: Workspace,
        change: impl AsyncFnOnce(Extensions) -> Result<ExtensionSummary, ExtensionDeskError>,
    ) -> Result<ExtensionSummary, ExtensionDeskError> {
        change(self.look(&workspace).await?.extensions).await
    }
}

impl Inner {
    fn slots(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Slot>>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_trusted(&self, root: &Path) -> bool {
        self.engine.get().is_some_and(|engine| engine.is_trusted(root))
    }

    /// Asked before each start: trust that is taken back counts at once.
    fn trust_question(self: &Arc<Self>, root: PathBuf) -> TrustQuestion {
        let inner = Arc::downgrade(self);
        Arc::new(move || inner.upgrade().is_some_and(|inner| inner.is_trusted(&root)))
    }
}

impl ExtensionDesk for ExtensionHosts {
    fn list(&self, workspace: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>> {
        Box::pin(async move {
            let Looked { extensions, problems, .. } = self.look(&workspace).await?;
            Ok(ExtensionListing { extensions: extensions.list(), problems })
        })
    }

    fn start_all(&self, workspace: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>> {
        Box::pin(async move {
            let Looked { extensions, problems, .. } = self.look(&workspace).await?;
            Ok(ExtensionListing { extensions: extensions.start_all().await, problems })
        })
    }

    fn restart(
        &self,
        workspace: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>> {
        Box::pin(async move { self.one(workspace, async |all| all.restart(&extension).await).await })
    }

    fn stop(
        &self,
        workspace: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>> {
        Box::pin(async move { self.one(workspace, async |all| all.stop_one(&extension).await).await })
    }

    fn logs(
        &self,
        workspace: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<Vec<ExtensionLogEntry>, ExtensionDeskError>> {
        Box::pin(async move { self.look(&workspace).await?.extensions.logs(&extension) })
    }

    fn commands(
        &self,
        workspace: Workspace,
    ) -> BoxFuture<'_, Result<Arc<dyn GuestCommands>, ExtensionDeskError>> {
        Box::pin(async move {
            let Looked { extensions, patience, .. } = self.look(&workspace).await?;
            let commands: Arc<dyn GuestCommands> = Arc::new(Patient { extensions, patience });
            Ok(commands)
        })
    }

    fn trust_changed(&self, workspace: Workspace) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.heed_trust(&workspace.root).await })
    }
}

/// Commands that are waited for as long as the configuration says, unless somebody says otherwise.
struct Patient {
    extensions: Extensions,
    patience: Duration,
}

impl GuestCommands for Patient {
    fn commands(&self) -> BoxFuture<'_, Result<Vec<GuestCommand>, GuestError>> {
        self.extensions.commands()
    }

    fn execute(
        &self,
        command: String,
        extension: Option<String>,
        limit: Option<Duration>,
    ) -> BoxFuture<'_, Result<CommandDone, GuestError>> {
        self.extensions.execute(command, extension, Some(limit.unwrap_or(self.patience)))
    }
}

impl std::fmt::Debug for ExtensionHosts {
    /// The environment may have secrets and is not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExtensionHosts").field("places", &self.0.places).finish_non_exhaustive()
    }
}
