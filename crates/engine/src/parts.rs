//! What an engine is made of: the parts that fill the domain's traits, and settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    BoxFuture, CodeIndex, ExtensionDesk, GuestCommands, GuestError, GuestFinder, Guests, MessageDesk,
    ModelCatalogue, NoExtensions, Policy, Repository, Runner, Store, TaskProvider, Tool, Workspace,
};
use loggia_tree::Root;

use crate::dialogs::DialogBoard;
use crate::tasks::TaskSettings;

/// The parts around an engine. Only whoever wires them together names them.
#[derive(Clone)]
pub struct Parts {
    /// Keeps sessions.
    pub store: Arc<dyn Store>,
    /// Finds models.
    pub models: Arc<dyn ModelCatalogue>,
    /// Makes the tools of a workspace.
    pub tools: ToolMaker,
    /// Finds the repository that a directory is in.
    pub repositories: RepositoryFinder,
    /// Makes what tasks of a workspace come from without any guest.
    pub sources: SourceMaker,
    /// Runs commands.
    pub runner: Arc<dyn Runner>,
    /// Finds the index of a workspace, if it has one.
    pub index: IndexFinder,
    /// Finds the guests of a workspace.
    pub guests: Arc<dyn GuestFinder>,
    /// Open messages, extensions, and the dialogs of these.
    pub desks: Desks,
}

/// Open messages and extensions of workspaces. By default there are neither.
#[derive(Clone)]
pub struct Desks {
    /// Finds the desk with a workspace's open message, if it has one.
    pub messages: MessageDeskFinder,
    /// Looks after extensions.
    pub extensions: Arc<dyn ExtensionDesk>,
    /// Where extensions' dialogs and windows are shown: the same that they are handed.
    pub dialogs: DialogBoard,
    /// Makes the tools of a workspace with these.
    pub tools: DeskToolMaker,
}

impl Default for Desks {
    fn default() -> Self {
        Self {
            messages: Arc::new(|_| None),
            extensions: Arc::new(NoExtensions),
            dialogs: DialogBoard::default(),
            tools: Arc::new(|_, _| DeskTools::default()),
        }
    }
}

/// Finds the desk with a workspace's open message. The same one each time.
pub type MessageDeskFinder = Arc<dyn Fn(&Workspace) -> Option<Arc<dyn MessageDesk>> + Send + Sync>;

/// Makes the tools for a desk, if there is one, and for the commands of extensions.
pub type DeskToolMaker =
    Arc<dyn Fn(Option<Arc<dyn MessageDesk>>, Arc<dyn GuestCommands>) -> DeskTools + Send + Sync>;

/// Tools that there are only while there is what they are for.
#[derive(Clone, Default)]
pub struct DeskTools {
    /// For an open message: models are told of them while one is open.
    pub messages: Vec<Arc<dyn Tool>>,
    /// For the commands of extensions: models are told of them while there are extensions that may run.
    pub commands: Vec<Arc<dyn Tool>>,
}

/// Makes the tools of a workspace: those for its files, and those for its index, if it has one.
pub type ToolMaker = Arc<dyn Fn(&Arc<Root>, Option<&Arc<dyn CodeIndex>>) -> Vec<Arc<dyn Tool>> + Send + Sync>;

/// Finds the index of a workspace.
pub type IndexFinder = Arc<dyn Fn(&Workspace) -> Option<Arc<dyn CodeIndex>> + Send + Sync>;

/// Finds no guests, for engines that host nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoGuests;

impl GuestFinder for NoGuests {
    fn guests(&self, _: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        Box::pin(std::future::ready(Ok(Guests::default())))
    }
}

/// Finds the repository that a directory is in. Finding touches nothing: one that is in none says so when it is asked.
pub type RepositoryFinder = Arc<dyn Fn(&Path) -> Arc<dyn Repository> + Send + Sync>;

/// Makes what tasks of a workspace come from without any guest: files, directories, words.
pub type SourceMaker = Arc<dyn Fn(&Workspace) -> Vec<Arc<dyn TaskProvider>> + Send + Sync>;

impl std::fmt::Debug for Desks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desks").field("dialogs", &self.dialogs).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for DeskTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names =
            |tools: &[Arc<dyn Tool>]| tools.iter().map(|tool| tool.spec().name.clone()).collect::<Vec<_>>();
        f.debug_struct("DeskTools")
            .field("messages", &names(&self.messages))
            .field("commands", &names(&self.commands))
            .finish()
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

/// What whoever starts an engine decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where policies, trust and what undoing needs are kept.
    pub data: PathBuf,
    /// The user's home: never a workspace itself.
    pub home: Option<PathBuf>,
    /// Our own directories, which no command may see; `data` is always among them.
    pub hidden: Vec<PathBuf>,
    /// Values that must not appear in events and logs: keys, tokens.
    pub secrets: Vec<String>,
    /// How long a session that nobody uses stays in memory.
    pub unload_after: Duration,
    /// What holds in a workspace as far as its own policy does not say otherwise.
    pub policy: Policy,
    /// Whether the catalogue's default model counts before the one that was chosen for new sessions.
    pub pinned_model: bool,
    /// How tasks go.
    pub tasks: TaskSettings,
}

impl Settings {
    /// Defaults for a data directory.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            home: None,
            hidden: Vec::new(),
            secrets: Vec::new(),
            unload_after: UNLOAD_AFTER,
            policy: Policy::default(),
            pinned_model: false,
            tasks: TaskSettings::default(),
        }
    }
}

/// Long enough for somebody who looks at several sessions in turn; reading a journal again is cheap.
const UNLOAD_AFTER: Duration = Duration::from_secs(60);
