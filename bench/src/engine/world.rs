//! A whole engine in a directory of its own, with its real parts; only the model is ours.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use loggia_domain::{
    Abilities, Actor, Client, ClientId, Door, EventBody, Instruction, Intent, Preset, Role, Seq, SessionId,
    Store, TurnEnd, WhenBusy, WorkspaceId,
};
use loggia_engine::{Engine, NewSession, NoGuests, OnLeave, Parts, Seat, Settings, Subscription, Told};
use loggia_runner::CommandRunner;
use loggia_store::SqliteStore;
use loggia_wire::child::Keeper;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::report::Figure;
use super::talker::OnlyTalker;

/// Longer than anything here takes: sessions stay in memory.
pub(crate) const NEVER: Duration = Duration::from_secs(3600);

/// An engine and what is around it.
#[derive(Debug)]
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) workspace: WorkspaceId,
}

/// A directory beside the program: builds are on a disk, where `/tmp` often is memory.
pub(crate) fn scratch() -> Result<TempDir> {
    let program = std::env::current_exe()?;
    let beside = program.parent().context("a program is in a directory")?;
    Ok(tempfile::Builder::new().prefix("loggia-bench-").tempdir_in(beside)?)
}

/// Threads as a daemon has them.
pub(crate) fn threads() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// A store in a directory.
pub(crate) fn store(directory: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::open(&directory.join("store"))?))
}

/// Commands are kept by this very program.
pub(crate) fn runner() -> Result<CommandRunner> {
    let keeper = Keeper::new(std::env::current_exe()?, ["keep"]);
    Ok(CommandRunner::new(keeper, loggia_runner::Settings::default()))
}

impl World {
    /// An engine over a store, with its files and its workspace in a directory.
    pub(super) async fn start(
        directory: &Path,
        store: Arc<dyn Store>,
        unload_after: Duration,
    ) -> Result<Self> {
        let parts = Parts {
            store,
            models: Arc::new(OnlyTalker),
            tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
            repositories: loggia_engine::NoRepository::finder(),
            sources: Arc::new(|_| Vec::new()),
            runner: Arc::new(runner()?),
            index: Arc::new(|_| None),
            guests: Arc::new(NoGuests),
            desks: loggia_engine::Desks::default(),
        };
        let settings = Settings { unload_after, ..Settings::new(directory.join("data")) };
        let engine = Engine::start(parts, settings).await?;
        let root = directory.join("work");
        std::fs::create_dir_all(&root)?;
        let workspace = engine.register_workspace(&root, None).await?.id;
        Ok(Self { engine, workspace })
    }

    /// Opens a session.
    pub(super) async fn open(&self) -> Result<SessionId> {
        self.open_with(Preset::AutoEdit).await
    }

    /// Opens a session that may do as much.
    pub(super) async fn open_with(&self, preset: Preset) -> Result<SessionId> {
        let new = NewSession { preset: Some(preset), ..NewSession::new(self.workspace) };
        Ok(self.engine.open_session(new, Actor::Engine).await?)
    }

    /// Takes a place on a session.
    pub(super) async fn join(&self, session: SessionId) -> Result<Seat> {
        let client = Client {
            id: ClientId::new(),
            name: "bench".to_owned(),
            door: Door::Inside,
            role: Role::Drive,
            abilities: Abilities::default(),
        };
        Ok(self.engine.join(session, client, OnLeave::Keep).await?.0)
    }

    /// Opens a session and listens to it.
    pub(super) async fn play(&self) -> Result<(Seat, Subscription)> {
        let session = self.open().await?;
        let seat = self.join(session).await?;
        let subscription = seat.subscribe(Seq(0));
        Ok((seat, subscription))
    }
}

/// Gives an instruction.
pub(super) fn prompt(text: impl Into<String>) -> Intent {
    let instruction = Instruction { text: text.into(), ..Instruction::default() };
    Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }
}

/// Gives an instruction and waits for the end of its turn.
pub(super) async fn take_turn(seat: &Seat, subscription: &mut Subscription, text: String) -> Result<()> {
    let began = seat.intend(prompt(text)).await?.seq;
    loop {
        if let Told::Event(event) = subscription.next().await?
            && event.seq > began
            && let EventBody::TurnEnded { end, .. } = &event.body
        {
            ensure!(*end == TurnEnd::Done, "the turn ended otherwise: {end:?}");
            return Ok(());
        }
    }
}

/// Starts a process that measures one part.
pub(super) fn start_part(name: &str) -> Result<Child> {
    #[expect(clippy::disallowed_methods, reason = "itself, for a heap that nobody has used yet")]
    let command =
        Command::new(std::env::current_exe()?).args(["part", name, "--json"]).stdout(Stdio::piped()).spawn();
    Ok(command?)
}

/// What such a process found.
pub(crate) fn figures_of(part: Child) -> Result<Vec<Figure>> {
    let output = part.wait_with_output()?;
    ensure!(output.status.success(), "the part ended with {}", output.status);
    let lines = std::str::from_utf8(&output.stdout)?.lines();
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}
