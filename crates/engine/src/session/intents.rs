//! What becomes of intents.

use std::sync::Arc;

use loggia_domain::{
    Accepted, Actor as Who, ApprovalAnswer, ApprovalId, ApprovalScope, CallId, CheckpointId, ClientId,
    CommandReport, EventBody, FileChange, Image, Instruction, Intent, JsonText, ModelName, OwnInstructions,
    PatchId, PatchReport, Question, Remember, Role, Rule, Seq, StoreError, TaskEvent, Thinking, TurnId,
    WhenBusy,
};

use crate::changes::{self, ApplyError, ApplyKind};
use crate::engine::{MAX_IMAGE_NAME, MAX_IMAGES, MAX_IMAGES_BYTES};
use crate::error::IntentError;
use crate::policy::files::PolicyFileError;
use crate::session::actor::Actor;
use crate::session::running::Waiting;
use crate::session::seat::Orphans;
use crate::session::state::{Pending, State, Undoable, remembered};
use crate::workspace::{Work, blocking};

impl Actor {
    /// Does what a client asks. On an error nothing has happened.
    pub(super) async fn intent(&mut self, client: ClientId, intent: Intent) -> Result<Accepted, IntentError> {
        let Some(client) = self.seats.get(client) else { return Err(IntentError::Gone) };
        if client.role < Role::Drive {
            return Err(IntentError::Forbidden { needs: Role::Drive });
        }
        if self.state.closed {
            return Err(IntentError::Closed);
        }
        let (by, id) = (Who::from(client), client.id);
        check_size(&intent)?;
        match intent {
            Intent::Prompt { instruction, when_busy } => self.prompt(instruction, when_busy, by).await,
            Intent::UpdateContext { context } => self.update_context(context, by).await,
            Intent::Cancel { reason } => self.cancel(reason.as_deref(), by).await,
            Intent::Decide { approval, answer } => self.answer(approval, answer, by).await,
            Intent::DecideInstead { approval, arguments } => {
                self.answer_instead(approval, arguments, by).await
            }
            Intent::DecideStep { step, stop } => self.decide_step(step, stop),
            Intent::ReportPatch { patch, report } => self.report_patch(id, patch, report),
            Intent::ReportCommand { call, report } => self.report_command(id, call, report),
            Intent::Continue => self.continue_turn(by).await,
            Intent::Rename { title } => self.note(EventBody::SessionRenamed { title, by }).await,
            Intent::SetModel { model } => self.set_model(model, by).await,
            Intent::SetInstructions { instructions } => self.set_instructions(instructions, by).await,
            Intent::SetThinking { thinking } => self.set_thinking(thinking, by).await,
            Intent::Undo { steps } => self.undo(steps, by).await,
            Intent::Redo { steps } => self.redo(steps, by).await,
            Intent::Close => self.close(by).await,
        }
    }

    fn accepted(&self) -> Accepted {
        Accepted { seq: self.state.last_seq, turn: self.turn_id() }
    }

    /// Records one fact that belongs to no turn.
    async fn note(&mut self, body: EventBody) -> Result<Accepted, IntentError> {
        self.record(None, vec![body]).await?;
        Ok(self.accepted())
    }

    async fn prompt(
        &mut self,
        mut instruction: Instruction,
        when_busy: WhenBusy,
        by: Who,
    ) -> Result<Accepted, IntentError> {
        instruction.text = self.shared.masker.mask(&instruction.text).into_owned();
        match (self.state.turn.is_some(), when_busy) {
            (false, _) => self.start_turn(instruction, by, None).await?,
            (true, WhenBusy::Refuse) => return Err(IntentError::Busy),
            (true, WhenBusy::Queue) if self.state.queue.len() >= MAX_QUEUED => {
                return Err(IntentError::Overloaded);
            }
            (true, WhenBusy::Queue) => {
                self.record(None, vec![EventBody::InstructionQueued { instruction, by }]).await?;
            }
        }
        Ok(self.accepted())
    }

    async fn start_turn(
        &mut self,
        instruction: Instruction,
        by: Who,
        queued: Option<Seq>,
    ) -> Result<(), StoreError> {
        self.record(Some(TurnId::new()), vec![EventBody::TurnStarted { instruction, by, queued }]).await?;
        self.spawn_turn();
        Ok(())
    }

    /// Begins the turn that does the work of a task's step. Both are stored, or neither.
    pub(super) async fn work(
        &mut self,
        instruction: Instruction,
        step: String,
        by: Who,
    ) -> Result<TurnId, IntentError> {
        if self.state.closed {
            return Err(IntentError::Closed);
        }
        if self.state.turn.is_some() {
            return Err(IntentError::Busy);
        }
        let turn = TurnId::new();
        let started = EventBody::TurnStarted { instruction, by, queued: None };
        self.record(Some(turn), vec![started, EventBody::Task(TaskEvent::Working { step })]).await?;
        self.spawn_turn();
        Ok(turn)
    }

    async fn update_context(&mut self, context: JsonText, by: Who) -> Result<Accepted, IntentError> {
        let turn = self.turn_id();
        self.record(turn, vec![EventBody::ContextUpdated { context, by }]).await?;
        Ok(self.accepted())
    }

    async fn cancel(&mut self, reason: Option<&str>, by: Who) -> Result<Accepted, IntentError> {
        let Some(turn) = self.turn_id() else { return Err(IntentError::NothingRuns) };
        let reason = reason.map(|reason| self.shared.masker.mask(reason));
        tracing::debug!(session = %self.id, %turn, reason = reason.as_deref(), "a turn is cancelled");
        self.cancel_turn(by).await?;
        Ok(Accepted { seq: self.state.last_seq, turn: Some(turn) })
    }

    /// The first word about a step counts.
    fn decide_step(&mut self, step: u32, stop: bool) -> Result<Accepted, IntentError> {
        if self.state.step_done() != Some(step) || !self.waiting.steps.decide(step, stop) {
            return Err(IntentError::UnknownStep(step));
        }
        Ok(self.accepted())
    }

    async fn continue_turn(&mut self, by: Who) -> Result<Accepted, IntentError> {
        if self.state.turn.is_some() {
            return Err(IntentError::Busy);
        }
        let Some((cut, _)) = &self.state.cut else { return Err(IntentError::NothingToContinue) };
        self.record(Some(cut.id), vec![EventBody::TurnContinued { by }]).await?;
        self.spawn_turn();
        Ok(self.accepted())
    }

    /// The model that the session has already is no news.
    async fn set_model(&mut self, model: ModelName, by: Who) -> Result<Accepted, IntentError> {
        if self.state.model.as_ref() == Some(&model) {
            return Ok(self.accepted());
        }
        let home = self.shared.home_of(&self.state, self.workspace.workspace()).await?;
        self.shared.check_model(home, Some(&model)).await?;
        self.note(EventBody::ModelChanged { model, reason: None, by }).await
    }

    /// What the model is told already is no news.
    async fn set_instructions(
        &mut self,
        instructions: OwnInstructions,
        by: Who,
    ) -> Result<Accepted, IntentError> {
        if self.state.instructions == instructions {
            return Ok(self.accepted());
        }
        self.note(EventBody::InstructionsChanged { instructions, by }).await
    }

    async fn set_thinking(&mut self, thinking: Option<Thinking>, by: Who) -> Result<Accepted, IntentError> {
        if self.state.thinking == thinking {
            return Ok(self.accepted());
        }
        self.note(EventBody::ThinkingChanged { thinking, by }).await
    }

    async fn close(&mut self, by: Who) -> Result<Accepted, IntentError> {
        if self.state.turn.is_some() {
            self.cancel_turn(by.clone()).await?;
        }
        self.note(EventBody::SessionClosed { by }).await
    }

    async fn answer(
        &mut self,
        approval: ApprovalId,
        answer: ApprovalAnswer,
        by: Who,
    ) -> Result<Accepted, IntentError> {
        let pending = self.open_question(approval)?;
        check_answer(&self.state, &pending.question, &answer.scope)?;
        self.decide(approval, answer, by).await?;
        Ok(self.accepted())
    }

    /// A yes to the call with other arguments. It is for this call only: what a rule for longer would be about is not
    /// what was asked.
    async fn answer_instead(
        &mut self,
        approval: ApprovalId,
        arguments: JsonText,
        by: Who,
    ) -> Result<Accepted, IntentError> {
        let call = self.open_question(approval)?.call;
        let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        let Some(open) = calls.into_iter().find(|open| Some(open.call.id) == call) else {
            return Err(IntentError::BadAnswer("no single call is asked about".to_owned()));
        };
        let (id, is_same) = (open.call.id, open.call.arguments == arguments);
        let tool = self.workspace.tool(&open.call.tool).map_err(IntentError::BadAnswer)?;
        tool.prepare(&arguments).map_err(|error| IntentError::BadAnswer(error.to_string()))?;
        let changed = EventBody::CallChanged { call: id, arguments, by: by.clone() };
        let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Once, comment: None };
        let before = (!is_same).then_some(changed);
        self.decide_after(before, approval, answer, by).await?;
        Ok(self.accepted())
    }

    fn open_question(&self, approval: ApprovalId) -> Result<&Pending, IntentError> {
        if let Some(held) = self.state.decided.get(&approval) {
            return Err(IntentError::AlreadyDecided { approval, held: Box::new(held.clone()) });
        }
        self.state.pending.get(&approval).ok_or(IntentError::UnknownApproval(approval))
    }

    /// Records an answer, tells the turn, and remembers it for the workspace if it is meant so.
    pub(super) async fn decide(
        &mut self,
        approval: ApprovalId,
        answer: ApprovalAnswer,
        by: Who,
    ) -> Result<(), StoreError> {
        self.decide_after(None, approval, answer, by).await
    }

    /// The same with a fact that belongs before the answer: both are stored, or neither.
    async fn decide_after(
        &mut self,
        before: Option<EventBody>,
        approval: ApprovalId,
        answer: ApprovalAnswer,
        by: Who,
    ) -> Result<(), StoreError> {
        let lasting = match (self.state.pending.get(&approval), answer.remember) {
            (Some(pending), Remember::Workspace) => {
                remembered(&pending.question, pending.call, &self.state.proposed, &answer)
            }
            _ => None,
        };
        let (told, who) = (answer.clone(), by.clone());
        let decided = EventBody::ApprovalDecided { approval, answer, by };
        self.record(self.turn_id(), before.into_iter().chain([decided]).collect()).await?;
        if let Some(rules) = lasting
            && let Err(error) = self.remember(rules).await
        {
            // The answer holds for the session in any case; only the next one will ask again.
            tracing::warn!(session = %self.id, %error, "a decision could not be remembered for the workspace");
        }
        if let Some(waiter) = self.waiting.approvals.remove(&approval) {
            let _ = waiter.send((told, who));
        }
        Ok(())
    }

    /// Adds rules to the workspace's policy.
    async fn remember(&self, rules: Vec<Rule>) -> Result<(), PolicyFileError> {
        let (policies, workspace) = (Arc::clone(&self.shared.policies), self.workspace.id());
        blocking(move || policies.add_rules(workspace, &rules)).await
    }

    /// Questions of a turn whose author wants no questions are answered in the author's name.
    pub(super) async fn auto_approve(&mut self) -> Result<(), StoreError> {
        let Some(author) = self.state.turn.as_ref().and_then(|turn| self.seats.behind(&turn.by)) else {
            return Ok(());
        };
        if !author.abilities.auto_approves || author.role < Role::Drive {
            return Ok(());
        }
        let by = Who::from(author);
        let pending: Vec<ApprovalId> = self.state.pending.keys().copied().collect();
        for approval in pending {
            let answer =
                ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Once, comment: None };
            self.decide(approval, answer, by.clone()).await?;
        }
        Ok(())
    }

    fn report_patch(
        &mut self,
        client: ClientId,
        patch: PatchId,
        report: PatchReport,
    ) -> Result<Accepted, IntentError> {
        let asked = self.waiting.patches.get(&patch).ok_or(IntentError::UnknownPatch(patch))?.0;
        self.check_reporter(client, asked)?;
        if let Some((_, waiter)) = self.waiting.patches.remove(&patch) {
            let _ = waiter.send(report);
        }
        Ok(self.accepted())
    }

    /// Only whoever was to do it reports on it; or anybody who drives, once that client has gone.
    fn check_reporter(&self, client: ClientId, asked: ClientId) -> Result<(), IntentError> {
        match client == asked || !self.seats.is_there(asked) {
            true => Ok(()),
            false => Err(IntentError::NotYours),
        }
    }

    fn report_command(
        &mut self,
        client: ClientId,
        call: CallId,
        report: CommandReport,
    ) -> Result<Accepted, IntentError> {
        let asked = self.waiting.commands.get(&call).ok_or(IntentError::UnknownCall(call))?.0;
        self.check_reporter(client, asked)?;
        if let Some((_, waiter)) = self.waiting.commands.remove(&call) {
            let _ = waiter.send(report);
        }
        Ok(self.accepted())
    }

    /// What nobody is left to report on.
    pub(super) fn orphans(&self) -> Orphans {
        let Waiting { commands, patches, .. } = &self.waiting;
        // Those whose time is over are still listed, but nobody waits for them.
        let orphaned = |client: ClientId, is_over: bool| !is_over && !self.seats.is_there(client);
        let commands = commands.iter().filter(|(_, (client, waits))| orphaned(*client, waits.is_closed()));
        let patches = patches.iter().filter(|(_, (client, waits))| orphaned(*client, waits.is_closed()));
        Orphans {
            commands: commands.map(|(call, _)| *call).collect(),
            patches: patches.map(|(patch, _)| *patch).collect(),
            there: self.seats.clients(),
        }
    }

    async fn undo(&mut self, steps: usize, by: Who) -> Result<Accepted, IntentError> {
        if self.state.turn.is_some() {
            return Err(IntentError::Busy);
        }
        let done = self.state.undo.done();
        let available = done.len();
        if steps == 0 || steps > available {
            return Err(IntentError::NothingToUndo { available });
        }
        // Newest first: so each is undone from what it left.
        let entries: Vec<Arc<Undoable>> = done[available - steps..].iter().rev().cloned().collect();
        let in_order = entries.iter().rev().flat_map(|entry| entry.changes.iter().cloned()).collect();
        let events = |entry: &Arc<Undoable>| EventBody::Undone {
            checkpoint: entry.checkpoint,
            files: entry.changes.iter().rev().map(reversed).collect(),
            by: by.clone(),
        };
        let events: Vec<EventBody> = entries.iter().map(events).collect();
        self.restore(Direction::Back, in_order, entries[0].checkpoint, events).await
    }

    async fn redo(&mut self, steps: usize, by: Who) -> Result<Accepted, IntentError> {
        if self.state.turn.is_some() {
            return Err(IntentError::Busy);
        }
        let entries: Vec<Arc<Undoable>> = self.state.undo.undone().rev().take(steps).cloned().collect();
        if steps == 0 || entries.len() < steps {
            return Err(IntentError::NothingToRedo { available: self.state.undo.undone().count() });
        }
        let in_order = entries.iter().flat_map(|entry| entry.changes.iter().cloned()).collect();
        let events = |entry: &Arc<Undoable>| EventBody::Redone {
            checkpoint: entry.checkpoint,
            files: entry.changes.clone(),
            by: by.clone(),
        };
        let events: Vec<EventBody> = entries.iter().map(events).collect();
        self.restore(Direction::Forth, in_order, entries[0].checkpoint, events).await
    }

    async fn restore(
        &mut self,
        direction: Direction,
        changes: Vec<FileChange>,
        checkpoint: CheckpointId,
        events: Vec<EventBody>,
    ) -> Result<Accepted, IntentError> {
        let (plan, kind) = match direction {
            Direction::Back => (changes::plan_undo(&changes), ApplyKind::Undo(checkpoint)),
            Direction::Forth => (changes::plan_redo(&changes), ApplyKind::Redo(checkpoint)),
        };
        self.apply(kind, Vec::new(), Work::Restore(plan), |_| events).await?.map_err(sort)?;
        Ok(self.accepted())
    }

    /// Starts the next instruction that waits.
    pub(super) async fn next_in_queue(&mut self) -> Result<(), StoreError> {
        // Nothing starts unattended: who queued it may have gone, and a watcher cannot stop it.
        if self.state.turn.is_some() || self.state.closed || !self.seats.anyone_drives() {
            return Ok(());
        }
        let Some(next) = self.state.queue.front().cloned() else { return Ok(()) };
        self.start_turn(next.instruction.clone(), next.by.clone(), Some(next.seq)).await
    }

    /// Somebody has gone. A turn nobody can steer any more is cancelled if its client wanted that.
    pub(super) async fn left(&mut self, clients: Vec<ClientId>) -> Result<(), StoreError> {
        use crate::session::seat::OnLeave;
        for id in clients {
            let Some((client, on_leave)) = self.seats.leave(id) else { continue };
            self.handle.presence.set_clients(self.seats.clients().len());
            let by = Who::from(&client);
            self.handle.feed.pass(loggia_domain::Passing::ClientLeft { client });
            if on_leave == OnLeave::Abort && !self.seats.anyone_drives() && self.state.turn.is_some() {
                self.cancel_turn(by).await?;
            }
        }
        Ok(())
    }

    /// Starts the task of the state's turn.
    pub(super) fn spawn_turn(&mut self) {
        self.waiting.clear();
        let wanted = self.state.model.as_ref();
        let model = match wanted.filter(|model| model.guest().is_some()) {
            Some(agent) => Some(agent.clone()),
            None => self.shared.parts.models.find(wanted).ok().map(|model| model.info().name),
        };
        let span = self.chronicle.begin_turn(self.turn_id(), model);
        self.turn = Some(crate::turn::spawn(
            Arc::clone(&self.shared),
            Arc::clone(&self.workspace),
            Arc::clone(&self.handle.feed),
            self.id,
            span,
        ));
    }
}

/// Instructions that may wait for a turn. Whoever wants more has no patience but a loop.
const MAX_QUEUED: usize = 64;

/// The longest text of a prompt or of its context: more than fits any model's window.
const MAX_PROMPT: usize = 4 << 20;

/// The longest comment and the longest title.
const MAX_COMMENT: usize = 64 << 10;
const MAX_TITLE: usize = 1 << 10;

/// More than a person can choose among.
const MAX_CHOSEN: usize = 10_000;

/// What is larger than anybody needs is refused before it is kept for ever.
fn check_size(intent: &Intent) -> Result<(), IntentError> {
    let fits = |what: &'static str, text: Option<&str>, limit: usize| match text {
        Some(text) if text.len() > limit => Err(IntentError::TooLong { what, limit }),
        _ => Ok(()),
    };
    match intent {
        Intent::Prompt { instruction, .. } => {
            fits("the prompt", Some(&instruction.text), MAX_PROMPT)?;
            fits("the context", instruction.context.as_ref().map(|context| context.0.as_str()), MAX_PROMPT)?;
            check_images(&instruction.images)?;
            let aimed = instruction.aim.iter().flat_map(|aim| &aim.files).map(|file| &file.path);
            let files = aimed.chain(instruction.nearby.all());
            match files.map(|path| path.len().max(1)).sum::<usize>() > MAX_COMMENT {
                true => Err(IntentError::TooLong { what: "the list of files", limit: MAX_COMMENT }),
                false => Ok(()),
            }
        }
        Intent::UpdateContext { context } => fits("the context", Some(&context.0), MAX_PROMPT),
        Intent::Decide { answer, .. } => {
            fits("the comment", answer.comment.as_deref(), MAX_COMMENT)?;
            match chosen(&answer.scope) > MAX_CHOSEN {
                true => Err(IntentError::BadAnswer(format!("it names more than {MAX_CHOSEN} changes"))),
                false => Ok(()),
            }
        }
        Intent::DecideInstead { arguments, .. } => fits("the call", Some(&arguments.0), MAX_PROMPT),
        Intent::ReportPatch { report: PatchReport::Failed { message }, .. } => {
            fits("the message", Some(message), MAX_COMMENT)
        }
        Intent::SetModel { model } => fits("the model's name", Some(&model.0), MAX_TITLE),
        Intent::SetInstructions { instructions: OwnInstructions { instead, added } } => {
            fits("the instructions", instead.as_deref(), OwnInstructions::MAX_BYTES)?;
            fits("the instructions", added.as_deref(), OwnInstructions::MAX_BYTES)
        }
        Intent::Cancel { reason } => fits("the reason", reason.as_deref(), MAX_COMMENT),
        Intent::Rename { title } => fits("the title", Some(title), MAX_TITLE),
        _ => Ok(()),
    }
}

fn check_images(images: &[Image]) -> Result<(), IntentError> {
    if images.len() > MAX_IMAGES {
        return Err(IntentError::TooManyImages);
    }
    if images.iter().map(|image| image.bytes).fold(0, u64::saturating_add) > MAX_IMAGES_BYTES {
        let limit = usize::try_from(MAX_IMAGES_BYTES).unwrap_or(usize::MAX);
        return Err(IntentError::TooLong { what: "the images", limit });
    }
    let names = images.iter().flat_map(|image| image.name.iter().chain([&image.media_type]));
    match names.map(String::len).max().unwrap_or(0) > MAX_IMAGE_NAME {
        true => Err(IntentError::TooLong { what: "an image's name", limit: MAX_IMAGE_NAME }),
        false => Ok(()),
    }
}

/// How many changes and hunks an answer names.
fn chosen(scope: &ApprovalScope) -> usize {
    match scope {
        ApprovalScope::None | ApprovalScope::All => 0,
        ApprovalScope::Patches(patches) => patches.len(),
        ApprovalScope::Hunks(hunks) => hunks.iter().map(|(_, chosen)| 1 + chosen.len()).sum(),
    }
}

/// A change as undoing it is one.
fn reversed(change: &FileChange) -> FileChange {
    FileChange { path: change.path.clone(), before: change.after, after: change.before }
}

#[derive(Clone, Copy)]
enum Direction {
    Back,
    Forth,
}

fn sort(error: ApplyError) -> IntentError {
    match error {
        ApplyError::Conflict(conflicts) => {
            let paths = conflicts.iter().map(|conflict| conflict.path.as_str().to_owned()).collect();
            IntentError::Conflict { paths }
        }
        error => IntentError::Unwritable(error.to_string()),
    }
}

/// An answer can only be about what was asked.
fn check_answer(state: &State, question: &Question, scope: &ApprovalScope) -> Result<(), IntentError> {
    let bad = |what: String| Err(IntentError::BadAnswer(what));
    let asked: &[PatchId] = match question {
        Question::Patches { patches, .. } => patches,
        Question::Command { .. } | Question::Tool { .. } => &[],
    };
    let about_patches = matches!(question, Question::Patches { .. });
    let named: Vec<PatchId> = match scope {
        ApprovalScope::None | ApprovalScope::All => return Ok(()),
        ApprovalScope::Patches(_) | ApprovalScope::Hunks(_) if !about_patches => {
            return bad("it chooses among changes, and none are asked about".to_owned());
        }
        ApprovalScope::Patches(patches) => patches.clone(),
        ApprovalScope::Hunks(hunks) => hunks.iter().map(|(patch, _)| *patch).collect(),
    };
    if let Some(stranger) = named.iter().find(|patch| !asked.contains(patch)) {
        return bad(format!("it is not about `{stranger}`"));
    }
    let ApprovalScope::Hunks(hunks) = scope else { return Ok(()) };
    for (id, chosen) in hunks {
        let count = state.proposed.get(id).map_or(0, |patch| patch.hunks.len());
        if let Some(beyond) = chosen.iter().find(|hunk| **hunk >= count) {
            return bad(format!("`{id}` has {count} hunks, counted from 0, and none is {beyond}"));
        }
    }
    Ok(())
}
