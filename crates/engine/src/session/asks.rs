//! What a turn asks of its session: it reads the state, records facts, waits for people, changes files.
//!
//! The turn is a task of its own, so that it can be cut at any pause; everything that must not be cut in the
//! middle (files that change together with the journal) is done here, by the session's task.

use std::sync::Arc;

use loggia_domain::{
    Abilities, Actor as Who, ApprovalAnswer, ApprovalId, CallId, ClientId, CommandReport, EventBody,
    Executor, FileChange, PatchId, PatchReport, Role, StoreError,
};
use tokio::sync::{mpsc, oneshot};

use crate::changes::{ApplyError, ApplyKind, ApplyMark};
use crate::session::actor::Actor;
use crate::session::running::HandedOut;
use crate::session::state::State;
use crate::workspace::{Watch, Work};

/// What a turn asks.
pub(crate) enum Ask {
    /// How is the session?
    State(oneshot::Sender<Arc<State>>),
    /// Store these facts.
    Record(Vec<EventBody>, oneshot::Sender<Result<(), StoreError>>),
    /// Has this question been answered? Answered when it is.
    Decision(ApprovalId, oneshot::Sender<(ApprovalAnswer, Who)>),
    /// Does the turn end after this step? Answered when somebody says so.
    Step(u32, oneshot::Sender<bool>),
    /// Who is to do this?
    Executor { decided: Option<Who>, able: fn(&Abilities) -> bool, answer: oneshot::Sender<Executor> },
    /// A client will report on this.
    Report(Reported),
    /// A command begins on this machine. It is over when its call's end is stored.
    Command(CallId, Watch, oneshot::Sender<()>),
    /// A client applies these from here on. It is over when their call's end is stored.
    HandedOut(Box<HandedOut>, oneshot::Sender<()>),
    /// Change files, then store what that comes to.
    Apply(Box<ApplyAsk>),
}

/// What a client is to report on.
pub(crate) enum Reported {
    /// A command.
    Command(CallId, ClientId, oneshot::Sender<CommandReport>),
    /// A patch.
    Patch(PatchId, ClientId, oneshot::Sender<PatchReport>),
}

/// Files to be changed.
pub(crate) struct ApplyAsk {
    /// What the change is, for the record of unfinished ones.
    pub(crate) kind: ApplyKind,
    /// Facts to store first.
    pub(crate) before: Vec<EventBody>,
    /// What is to be done to them.
    pub(crate) work: Work,
    /// The facts to store once the files are changed.
    pub(crate) after: Box<dyn FnOnce(Vec<FileChange>) -> Vec<EventBody> + Send>,
    /// Told when both are done, or why the files are as they were.
    pub(crate) answer: oneshot::Sender<Result<Result<(), ApplyError>, StoreError>>,
}

/// The session is gone or cannot write: the turn stops where it is.
#[derive(Debug)]
pub(crate) struct Halt;

/// A turn's side.
#[derive(Debug, Clone)]
pub(crate) struct Link(pub(crate) mpsc::Sender<Ask>);

impl Link {
    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Result<T, Halt> {
        let (answer, answered) = oneshot::channel();
        self.0.send(ask(answer)).await.map_err(|_| Halt)?;
        answered.await.map_err(|_| Halt)
    }

    pub(crate) async fn state(&self) -> Result<Arc<State>, Halt> {
        self.ask(Ask::State).await
    }

    pub(crate) async fn record(&self, bodies: Vec<EventBody>) -> Result<(), Halt> {
        self.ask(|answer| Ask::Record(bodies, answer)).await?.map_err(|error| {
            tracing::error!(%error, "a turn cannot record what happens");
            Halt
        })
    }

    pub(crate) async fn decision(&self, approval: ApprovalId) -> Result<(ApprovalAnswer, Who), Halt> {
        self.ask(|answer| Ask::Decision(approval, answer)).await
    }

    /// Whether a turn that is taken step by step ends after this one.
    pub(crate) async fn stops_after(&self, step: u32) -> Result<bool, Halt> {
        self.ask(|answer| Ask::Step(step, answer)).await
    }

    pub(crate) async fn executor(
        &self,
        decided: Option<Who>,
        able: fn(&Abilities) -> bool,
    ) -> Result<Executor, Halt> {
        self.ask(|answer| Ask::Executor { decided, able, answer }).await
    }

    /// From here on a client may report on a command. Asked before the client is told to run it.
    pub(crate) async fn expect_command_report(
        &self,
        call: CallId,
        client: ClientId,
    ) -> Result<oneshot::Receiver<CommandReport>, Halt> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Ask::Report(Reported::Command(call, client, answer))).await.map_err(|_| Halt)?;
        Ok(answered)
    }

    /// From here on a client may report on a patch. Asked before the client is told to apply it.
    pub(crate) async fn expect_patch_report(
        &self,
        patch: PatchId,
        client: ClientId,
    ) -> Result<oneshot::Receiver<PatchReport>, Halt> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Ask::Report(Reported::Patch(patch, client, answer))).await.map_err(|_| Halt)?;
        Ok(answered)
    }

    pub(crate) async fn command_runs(&self, call: CallId, watch: Watch) -> Result<(), Halt> {
        self.ask(|answer| Ask::Command(call, watch, answer)).await
    }

    pub(crate) async fn hand_out(&self, patches: HandedOut) -> Result<(), Halt> {
        self.ask(|answer| Ask::HandedOut(Box::new(patches), answer)).await
    }

    pub(crate) async fn apply(
        &self,
        kind: ApplyKind,
        before: Vec<EventBody>,
        work: Work,
        after: impl FnOnce(Vec<FileChange>) -> Vec<EventBody> + Send + 'static,
    ) -> Result<Result<(), ApplyError>, Halt> {
        let after = Box::new(after);
        let applied =
            self.ask(|answer| Ask::Apply(Box::new(ApplyAsk { kind, before, work, after, answer }))).await?;
        applied.map_err(|error| {
            tracing::error!(%error, "a turn cannot record what happens");
            Halt
        })
    }
}

impl Actor {
    /// Answers a turn. One that has gone in the meantime is not missed.
    pub(super) async fn asked(&mut self, ask: Ask) -> Result<(), StoreError> {
        match ask {
            Ask::State(answer) => {
                let _ = answer.send(Arc::clone(&self.state));
                Ok(())
            }
            Ask::Record(bodies, answer) => {
                let asks = bodies.iter().any(|body| matches!(body, EventBody::ApprovalAsked { .. }));
                let ended = bodies.iter().find_map(|body| match body {
                    EventBody::ToolEnded { call, .. } => Some(*call),
                    _ => None,
                });
                let done = self.record(self.turn_id(), bodies).await;
                let recorded = done.is_ok();
                if let Some(turn) = self.turn.as_mut().filter(|_| recorded) {
                    // What the command or the client changed is in the journal now.
                    turn.command.take_if(|(call, _)| ended == Some(*call));
                    turn.handed_out.take_if(|patches| ended == Some(patches.call));
                }
                let _ = answer.send(done);
                match asks && recorded {
                    true => self.auto_approve().await,
                    false => Ok(()),
                }
            }
            Ask::Decision(approval, answer) => {
                match self.state.decided.get(&approval) {
                    Some(decided) => {
                        let _ = answer.send(decided.clone());
                    }
                    None => {
                        self.waiting.approvals.insert(approval, answer);
                    }
                }
                Ok(())
            }
            Ask::Step(step, answer) => {
                self.waiting.steps.ask(step, answer);
                Ok(())
            }
            Ask::Executor { decided, able, answer } => {
                let _ = answer.send(self.executor(decided.as_ref(), able));
                Ok(())
            }
            Ask::Report(Reported::Command(call, client, answer)) => {
                self.waiting.commands.insert(call, (client, answer));
                Ok(())
            }
            Ask::Report(Reported::Patch(patch, client, answer)) => {
                self.waiting.patches.insert(patch, (client, answer));
                Ok(())
            }
            Ask::Command(call, watch, answer) => {
                if let Some(turn) = &mut self.turn {
                    turn.command = Some((call, watch));
                }
                let _ = answer.send(());
                Ok(())
            }
            Ask::HandedOut(patches, answer) => {
                if let Some(turn) = &mut self.turn {
                    turn.handed_out = Some(*patches);
                }
                let _ = answer.send(());
                Ok(())
            }
            Ask::Apply(ask) => {
                let ApplyAsk { kind, before, work, after, answer } = *ask;
                let _ = answer.send(self.apply(kind, before, work, after).await);
                Ok(())
            }
        }
    }

    pub(super) fn turn_id(&self) -> Option<loggia_domain::TurnId> {
        self.state.turn.as_ref().map(|turn| turn.id)
    }

    /// Whose decision won, else who began the turn, if they can; else the server.
    fn executor(&self, decided: Option<&Who>, able: fn(&Abilities) -> bool) -> Executor {
        let author = self.state.turn.as_ref().map(|turn| &turn.by);
        let candidates = decided.into_iter().chain(author).filter_map(|who| self.seats.behind(who));
        let mut able = candidates.filter(|client| client.role >= Role::Drive && able(&client.abilities));
        able.next().map_or(Executor::Server, |client| Executor::Client(client.id))
    }

    /// Changes files between two records: what is to be done, and what was.
    pub(super) async fn apply(
        &mut self,
        kind: ApplyKind,
        mut before: Vec<EventBody>,
        work: Work,
        after: impl FnOnce(Vec<FileChange>) -> Vec<EventBody>,
    ) -> Result<Result<(), ApplyError>, StoreError> {
        if let Some(taken) = self.checkpoint() {
            before.push(taken);
        }
        if !before.is_empty() {
            self.record(self.turn_id(), before).await?;
        }
        let mark = ApplyMark { session: self.id, after: self.state.last_seq, kind };
        let applied = match self.workspace.apply(mark, work).await {
            Ok(applied) => applied,
            Err(error) => return Ok(Err(error)),
        };
        let events = after(applied.changes().to_vec());
        match self.record(self.turn_id(), events).await {
            Ok(()) => {
                self.workspace.settled(applied).await;
                Ok(Ok(()))
            }
            Err(error) => {
                // The journal does not know of the change, so it must not be.
                self.workspace.take_back(applied).await;
                Err(error)
            }
        }
    }

    /// The turn's checkpoint, before its first write.
    fn checkpoint(&self) -> Option<EventBody> {
        let turn = self.state.turn.as_ref()?;
        let checkpoint = loggia_domain::CheckpointId::new();
        turn.checkpoint.is_none().then_some(EventBody::CheckpointTaken { checkpoint })
    }
}
