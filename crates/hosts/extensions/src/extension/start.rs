//! Starting an extension: its process, its connection, its handshake.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::{ExtensionDeskError, ExtensionLogLevel, ExtensionState};
use loggia_protocol_hermes::{
    API_VERSION, DIALECT, Initialize, InitializeParams, InitializeResult, environment,
};
use loggia_wire::child::{Child, ChildSpec, Environment, spawn};
use loggia_wire::framing::ContentLength;
use loggia_wire::peer::{self, CallError, CloseReason, Connection, Peer, Settings, connect};
use tokio::net::unix::pipe;

use super::supervise::{Supervisor, explain_end};
use super::{Extension, Life, Start};
use crate::error::Fault;
use crate::guest::Guest;
use crate::offer::Offer;
use crate::{mailbox, serve};

/// What extensions are told about us.
const HOST_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Requests of an extension that wait for people at once; further ones are refused.
const IN_FLIGHT: usize = 128;

/// A connection over a process's pipes.
type Pipes = Connection<pipe::Receiver, pipe::Sender, ContentLength>;

/// What came of the greeting.
type Greeted = Result<InitializeResult, CallError>;

/// A process that is spoken to.
struct Begun {
    child: Child,
    peer: Peer,
    guest: Arc<Guest>,
}

impl Extension {
    /// Starts it, unless it runs or that is not meant.
    pub(super) async fn start_within(
        self: &Arc<Self>,
        life: &mut Option<Life>,
        meant: Start,
    ) -> Result<(), ExtensionDeskError> {
        if life.as_ref().is_some_and(|life| !life.gone.is_cancelled()) {
            return Ok(());
        }
        if meant == Start::IfIdle && self.shown().state != ExtensionState::Idle {
            return Ok(());
        }
        self.may_run()?;
        *life = None;
        match self.begin().await {
            Ok((begun, offer)) => {
                *life = Some(self.run(begun, offer));
                Ok(())
            }
            Err(fault) => {
                let words = fault.to_string();
                let (level, state) = match fault {
                    Fault::Stopping => (ExtensionLogLevel::Info, ExtensionState::Stopped),
                    _ => (ExtensionLogLevel::Error, ExtensionState::Failed(words.clone())),
                };
                self.note(level, words.clone());
                let mut shown = self.shown();
                (shown.state, shown.process, shown.guest) = (state, None, None);
                Err(ExtensionDeskError::Failed(format!("extension `{}`: {words}", self.name)))
            }
        }
    }

    /// From nothing to the end of the handshake.
    async fn begin(self: &Arc<Self>) -> Result<(Begun, Offer), Fault> {
        if self.context.closing.is_cancelled() {
            return Err(Fault::Stopping);
        }
        self.set_state(ExtensionState::Starting);
        let guest = Guest::new(&self.name, self.context.clone());
        let directory = self.context.data_directory.clone();
        let made = tokio::task::spawn_blocking(move || std::fs::create_dir_all(directory)).await;
        made.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(Fault::NoDirectory)?;
        let mut child = spawn(&self.context.keeper, self.spec(&guest)?).await.map_err(Fault::NotStarted)?;
        {
            let mut shown = self.shown();
            (shown.state, shown.process) = (ExtensionState::Initializing, Some(child.pid()));
        }
        let (peer, connection) = self.connect(&mut child, &guest)?;
        // Queued before anything is read, so that it is the first thing said, and known to be under way.
        let answer = self.greet(&peer);
        self.context.tasks.spawn(connection.run());
        let mut begun = Begun { child, peer, guest };
        match self.shake_hands(&mut begun.child, answer).await {
            Ok(offer) => Ok((begun, offer)),
            Err(fault) => {
                begun.guest.end();
                begun.peer.close();
                begun.child.kill().await;
                // Its last words are in the log before the verdict is.
                begun.child.ended().await;
                begun.child.gone().await;
                Err(fault)
            }
        }
    }

    fn greet(&self, peer: &Peer) -> impl Future<Output = Greeted> + Send + use<> {
        let params = InitializeParams {
            hermes_version: Some(HOST_VERSION.to_owned()),
            api_version: Some(API_VERSION.to_owned()),
            data_directory: Some(self.context.data_directory.to_string_lossy().into_owned()),
        };
        peer.call_within::<Initialize>(self.context.limits.initialize, &params)
    }

    async fn shake_hands(
        &self,
        child: &mut Child,
        answer: impl Future<Output = Greeted>,
    ) -> Result<Offer, Fault> {
        let result: InitializeResult = tokio::select! {
            biased;
            answer = answer => match answer.map_err(Fault::of_handshake) {
                Ok(result) => result,
                Err(Ok(fault)) => return Err(fault),
                Err(Err(reason)) => return Err(explain_end(child, &reason).await),
            },
            exit = child.exited() => return Err(Fault::Ended(exit.to_string())),
            () = self.context.closing.cancelled() => return Err(Fault::Stopping),
            () = self.context.dropped.cancelled() => return Err(Fault::Stopping),
        };
        let offer = Offer::read(&self.name, result).map_err(Fault::WrongShape)?;
        if child.try_exit().is_some() {
            return Err(explain_end(child, &CloseReason::EndOfStream).await);
        }
        Ok(offer)
    }

    /// Makes it known, and has it served and looked after.
    fn run(self: &Arc<Self>, begun: Begun, offer: Offer) -> Life {
        let Begun { child, peer, guest } = begun;
        let about = format!("{} {} runs as process {}", offer.about.name, offer.about.version, child.pid());
        self.note(ExtensionLogLevel::Info, about);
        for warning in &offer.warnings {
            self.note(ExtensionLogLevel::Warning, warning.clone());
        }
        {
            let mut shown = self.shown();
            shown.state = ExtensionState::Running;
            (shown.guest, shown.offer) = (Some(guest.clone()), Some(Arc::new(offer)));
        }
        guest.welcome();
        let (leave, left) = tokio::sync::oneshot::channel();
        let gone = guest.gone.clone();
        let tasks = &self.context.tasks;
        tasks.spawn(mailbox::run(guest.clone(), peer.clone()));
        let supervisor = Supervisor { extension: self.clone(), child, peer, guest };
        tasks.spawn(supervisor.run(left));
        Life { leave, gone }
    }

    fn connect(&self, child: &mut Child, guest: &Arc<Guest>) -> Result<(Peer, Pipes), Fault> {
        let Some((stdout, stdin)) = child.take_streams() else {
            // Nobody else has the child yet.
            return Err(Fault::Broken("its streams are taken".to_owned()));
        };
        let frame = self.context.limits.frame;
        let mut settings = Settings::new(format!("extension {}", self.name), DIALECT);
        settings.limits = peer::Limits { in_flight: IN_FLIGHT, held_bytes: frame, ..peer::Limits::default() };
        let codec = ContentLength::new(frame);
        Ok(connect(stdout, stdin, codec, settings, serve::router(guest)))
    }

    fn spec(&self, guest: &Arc<Guest>) -> Result<ChildSpec, Fault> {
        let words = self.entry.command().map_err(Fault::Entry)?;
        let root = &self.context.workspace.root;
        let directory = self.entry.cwd.as_ref().map_or_else(|| root.clone(), |cwd| root.join(cwd));
        if self.entry.cwd.is_some() && !directory.is_dir() {
            return Err(Fault::NoPlace(directory));
        }
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        let (log, traffic) = (self.log.clone(), guest.traffic.clone());
        let mut spec = ChildSpec::new(self.name.clone(), located(&program, &directory))
            .args(words)
            .cwd(directory)
            .environment(Environment::Exactly(self.environment()));
        spec.on_stderr = Some(Arc::new(move |line: &str| {
            log.hear(line);
            traffic.touch();
        }));
        Ok(spec)
    }

    /// What it finds in its environment: ours, what the protocol adds, and over all what its settings say.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let data = self.context.data_directory.clone().into_os_string();
        let added = [
            (environment::HERMES_VERSION.into(), HOST_VERSION.into()),
            (environment::HERMES_API_VERSION.into(), API_VERSION.into()),
            (environment::HERMES_DATA_DIR.into(), data),
        ];
        let own = self.entry.env.iter().map(|(name, value)| (name.into(), value.into()));
        let mut all: Vec<(OsString, OsString)> = Vec::new();
        for (name, value) in self.context.environment.iter().cloned().chain(added).chain(own) {
            all.retain(|(known, _)| *known != name);
            all.push((name, value));
        }
        all
    }
}

/// A program as the system finds it: bare names in `PATH`, relative paths where it runs.
pub(crate) fn located(program: &str, directory: &Path) -> PathBuf {
    if program.contains('/') { directory.join(program) } else { PathBuf::from(program) }
}
