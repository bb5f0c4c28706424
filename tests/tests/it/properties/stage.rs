//! Where a run is played: does what the steps say, and looks after each of them whether everything still holds.

use std::path::PathBuf;
use std::slice::Iter;
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    Accepted, Actor, ApprovalAnswer, ApprovalId, ApprovalScope, Event, EventBody, Instruction, Intent,
    JsonText, ModelName, PatchId, Question, Remember, Role, RunningReply, Seq, SessionId, TurnEnd, WhenBusy,
};
use loggia_engine::{IntentError, OnLeave, State, Status, Told};
use loggia_tests::{Transcript, open_store, prompt};
use tempfile::TempDir;

use super::heard::Heard;
use super::journal::Journal;
use super::life::{DRIVES, Guest, Life};
use super::puppet::{Puppet, content};
use super::steps::{Answer, Case, FILES, Manner, Step, Then, What};
use super::tree::{self, Outside, Tree};

/// Longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(15);

/// How many things one who hears a little hears at every step.
const A_LITTLE: usize = 7;

/// What outlives an engine, and what is known about it.
pub(super) struct Stage<'a> {
    case: &'a Case,
    directory: TempDir,
    root: PathBuf,
    puppet: Arc<Puppet>,
    journal: Option<Journal>,
    session: Option<SessionId>,
    /// The files before the run.
    before: Tree,
    outside: Vec<Outside>,
    /// What everybody was told in the last life.
    last_words: Vec<Heard>,
    /// What was kept of a reply that hung.
    kept: Option<RunningReply>,
}

/// How a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// There is more to come in another one.
    Early,
    /// All steps were made.
    Finished,
}

/// Plays a run and gives the journal it came to.
///
/// # Panics
/// As soon as something does not hold.
pub(super) fn play(case: &Case) -> Vec<Event> {
    let mut stage = Stage::new(case);
    let mut steps = case.steps.iter();
    loop {
        let mut builder = match case.threads {
            true => tokio::runtime::Builder::new_multi_thread(),
            false => tokio::runtime::Builder::new_current_thread(),
        };
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        let ended = runtime.block_on(stage.live(&mut steps));
        // Tasks go where they stand. What blocks comes to its end, as a write does that a kill finds under way.
        runtime.shutdown_timeout(PATIENCE);
        if ended == Ended::Finished {
            return stage.last_look();
        }
    }
}

impl<'a> Stage<'a> {
    fn new(case: &'a Case) -> Self {
        let directory = TempDir::with_prefix("loggia-test-").unwrap();
        let root = directory.path().join("work");
        std::fs::create_dir_all(root.join("d")).unwrap();
        for path in &FILES[..3] {
            std::fs::write(root.join(path), content(0, 0)).unwrap();
        }
        Self {
            case,
            puppet: Puppet::new(root.clone(), case.window),
            before: tree::on_disk(&root),
            root,
            directory,
            journal: None,
            session: None,
            outside: Vec::new(),
            last_words: Vec::new(),
            kept: None,
        }
    }

    async fn live(&mut self, steps: &mut Iter<'_, Step>) -> Ended {
        let directory = self.directory.path().to_owned();
        let mut life = Life::begin(&directory, &self.puppet, self.case.preset, self.session).await;
        self.session = Some(life.session);
        self.wake(&mut life).await;
        let fuse = Arc::clone(&life.fuse);
        loop {
            let step = steps.next();
            let played = tokio::select! {
                biased;
                () = fuse.dead() => None,
                ended = self.play(&mut life, step) => ended,
            };
            match (played, step) {
                (Some(Ended::Early), _) => {}
                (Some(Ended::Finished), _) => return Ended::Finished,
                (None, _) => {
                    self.last_words = life.heard();
                    return Ended::Early;
                }
            }
        }
    }

    /// One step, or the end. Nothing if the life ends with it.
    async fn play(&mut self, life: &mut Life, step: Option<&Step>) -> Option<Ended> {
        let Some(step) = step else {
            self.finish(life).await;
            return Some(Ended::Finished);
        };
        match &step.what {
            What::Crash => {
                life.fuse.die();
                return None;
            }
            What::Restart => {
                self.stop(life).await;
                return None;
            }
            what => self.act(life, what).await,
        }
        match step.then {
            Then::Nothing => {}
            Then::Hear(most) => self.hear(life, most).await,
            Then::Rest => self.rest(life).await,
            Then::Linger => self.linger(life).await,
            Then::Idle => self.bring_to_rest(life, &ApprovalScope::All).await,
        }
        self.look(life).await;
        Some(Ended::Early)
    }

    /// After a start: nothing that was told is lost, nothing hangs.
    async fn wake(&mut self, life: &mut Life) {
        let last = life.found.last().map_or(Seq(0), |event| event.seq);
        match &self.journal {
            Some(known) => {
                assert!(life.found.starts_with(&known.events), "an engine has forgotten something");
            }
            None => {
                let opening = life.events(life.session, Seq(0)).await.swap_remove(0);
                self.journal = Some(Journal::begin(opening));
            }
        }
        let state = life.state().await;
        self.look(life).await;
        // An instruction that waited may have begun since; a turn of the life before has ended or waits.
        if state.pending.is_empty() && state.turn.as_ref().is_some_and(|turn| turn.began_at <= last) {
            self.sound::<()>(Err(format!("a turn neither runs nor waits: {:#?}", state.turn)));
        }
        for heard in std::mem::take(&mut self.last_words) {
            self.sound(heard.agrees(&self.journal().events));
        }
        self.check_kept();
    }

    fn journal(&self) -> &Journal {
        self.journal.as_ref().expect("there is one from the first life on")
    }

    /// Fails with everything that happened, unless all is well.
    fn sound<T>(&self, result: Result<T, String>) -> T {
        result.unwrap_or_else(|wrong| {
            let mut transcript = Transcript::default();
            let events = self.journal().events.iter();
            events.for_each(|event| transcript.take(&Told::Event(Arc::new(event.clone()))));
            let lines = transcript.text();
            panic!("{wrong}\n\nwhat happened:\n{lines}")
        })
    }

    /// Looks whether everything holds that must hold at any time.
    async fn look(&mut self, life: &mut Life) {
        let state = life.state().await;
        let after = self.journal().state.last_seq;
        for event in life.events(life.session, after).await {
            if event.seq <= state.last_seq {
                let followed = self.journal.as_mut().expect("see above").follow(event);
                self.sound(followed);
            }
        }
        if self.journal().state != *state {
            self.sound::<()>(Err(format!(
                "the live state is {state:#?}, the fold is {:#?}",
                self.journal().state
            )));
        }
        for guest in life.guests.iter_mut().flatten() {
            guest.listener.hear(A_LITTLE, state.last_seq).await;
        }
        while life.told.position() < state.last_seq {
            life.told.next().await.unwrap();
        }
        if let Some(fault) = self.puppet.faults().first() {
            self.sound::<()>(Err(format!("the model was shown nonsense: {fault}")));
        }
        if self.rests(life, &state) && state.status() != Status::Running {
            self.check_files(&state);
        }
    }

    /// The files are what the journal says.
    fn check_files(&self, state: &State) {
        let place = self.journal().events.iter().position(|event| event.seq == state.last_seq).unwrap();
        let expected = tree::expected(&self.before, &self.journal().events[..=place], &self.outside);
        let expected = self.sound(expected);
        let found = tree::on_disk(&self.root);
        if found != expected {
            self.sound::<()>(Err(format!("the files are {found:#?}, the journal says {expected:#?}")));
        }
    }

    /// What was kept of a reply is in the journal, once its turn is over.
    fn check_kept(&mut self) {
        let Some(kept) = self.kept.take() else { return };
        let found = self.journal().events.iter().find_map(|event| match &event.body {
            EventBody::MessageEnded { message, .. } if message.id == kept.message => {
                Some(message.text.clone())
            }
            _ => None,
        });
        if found.as_deref() != Some(&kept.text) {
            self.sound::<()>(Err(format!("{kept:?} was kept, but the journal has {found:?}")));
        }
    }

    /// Whether nothing more will happen by itself.
    fn rests(&self, life: &Life, state: &State) -> bool {
        let mut guests = life.guests.iter().flatten();
        let driven = guests.any(|guest| guest.client.role >= Role::Drive);
        match (state.status(), state.queue.front()) {
            (Status::Waiting | Status::Closed, _) | (Status::Idle, None) => true,
            (Status::Running, _) => {
                state.turn.as_ref().is_some_and(|turn| self.puppet.hangs(&turn.instruction.text))
            }
            // The next instruction is about to begin, if somebody is there who could stop it.
            (Status::Idle, Some(_)) => !driven,
        }
    }

    /// Waits until so many things were told, or nothing more will happen by itself.
    async fn hear(&mut self, life: &mut Life, mut most: usize) {
        let puppet = Arc::clone(&self.puppet);
        let waited = tokio::time::timeout(PATIENCE, async {
            while most > 0 {
                let hung = puppet.hung.notified();
                tokio::pin!(hung);
                hung.as_mut().enable();
                if self.rests(life, &*life.state().await) {
                    break;
                }
                tokio::select! {
                    told = life.told.next() => drop(told.unwrap()),
                    () = hung => {}
                }
                most -= 1;
            }
        });
        if waited.await.is_err() {
            let state = life.state().await;
            self.sound::<()>(Err(format!("it hangs: {state:#?}")));
        }
    }

    async fn rest(&mut self, life: &mut Life) {
        self.hear(life, usize::MAX).await;
    }

    /// Waits until what was told of a hanging reply is kept, too.
    async fn linger(&mut self, life: &mut Life) {
        self.rest(life).await;
        let state = life.state().await;
        let Some(turn) = state.turn.as_ref().filter(|_| state.status() == Status::Running) else { return };
        let turn = turn.id;
        let mut text = String::new();
        let mut told = life.guests.iter().flatten().next().map(|guest| guest.seat.subscribe(state.last_seq));
        while let Some(Told::Reply(piece)) = told.as_mut().and_then(loggia_engine::Subscription::try_next) {
            text.push_str(&piece.text);
        }
        let waited = tokio::time::timeout(PATIENCE, async {
            while !text.is_empty() {
                let kept = life.store.kept_reply(life.session).await.unwrap();
                if let Some(kept) = kept.filter(|kept| kept.turn == turn && kept.text == text) {
                    self.kept = Some(kept);
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        if waited.await.is_err() {
            self.sound::<()>(Err(format!("`{text}` is not kept")));
        }
    }

    /// Stops the engine. Everybody hears everything before.
    async fn stop(&mut self, life: &mut Life) {
        let stopped = tokio::time::timeout(PATIENCE, life.engine.stop()).await;
        self.sound(stopped.map_err(|_| "the engine does not stop".to_owned()));
        let last = life.events(life.session, Seq(0)).await.last().unwrap().seq;
        for guest in life.guests.iter_mut().flatten() {
            guest.listener.catch_up(last).await;
        }
        self.last_words = life.heard();
        life.fuse.die();
    }

    /// Answers every question in the same way and cancels what hangs, until no turn is left.
    async fn bring_to_rest(&mut self, life: &mut Life, scope: &ApprovalScope) {
        /// More than can be queued, asked and hung in one run.
        const ROUNDS: usize = 500;
        for _ in 0..ROUNDS {
            self.rest(life).await;
            self.look(life).await;
            if life.guest(0).await.client.role < Role::Drive {
                self.join(life, 0, DRIVES).await;
            }
            let state = life.state().await;
            let intent = match (state.status(), state.pending.keys().next()) {
                (Status::Waiting, Some(approval)) => decision(*approval, scope.clone(), Remember::Once),
                (Status::Running, _) => Intent::Cancel { reason: None },
                (Status::Idle, _) if state.queue.is_empty() => return,
                (Status::Waiting | Status::Idle | Status::Closed, _) => continue,
            };
            self.intend(life, 0, intent).await;
        }
        self.sound::<()>(Err("it never comes to rest".to_owned()));
    }

    /// Ends the session and looks at everything for the last time.
    async fn finish(&mut self, life: &mut Life) {
        if !life.state().await.closed {
            self.bring_to_rest(life, &ApprovalScope::None).await;
            self.intend(life, 0, Intent::Close).await;
        }
        let state = life.state().await;
        self.look(life).await;
        assert_eq!(state.status(), Status::Closed, "it never comes to rest");
        for guest in life.guests.iter_mut().flatten() {
            guest.listener.catch_up(state.last_seq).await;
        }
        for heard in life.heard() {
            self.sound(heard.agrees(&self.journal().events));
        }
        self.check_kept();
        self.sound(tree::kept(&self.journal().events, &*life.store).await);
    }

    /// After the last life: the journal on disk folds to the state that was last seen.
    fn last_look(self) -> Vec<Event> {
        let (session, journal) = (self.session.expect("it was opened"), self.journal.expect("it began"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let events = runtime.block_on(async {
            open_store(self.directory.path()).events(session, Seq(0), usize::from(u16::MAX)).await.unwrap()
        });
        assert_eq!(events, journal.events);
        assert_eq!(State::fold(&events).unwrap(), journal.state);
        events
    }

    async fn act(&mut self, life: &mut Life, what: &What) {
        match what {
            What::Prompt { who, program, preview, queue } => {
                let text = self.puppet.learn(program);
                let instruction = Instruction { text, preview: *preview, ..Instruction::default() };
                let when_busy = if *queue { WhenBusy::Queue } else { WhenBusy::Refuse };
                self.intend(life, *who, Intent::Prompt { instruction, when_busy }).await;
            }
            What::Cancel { who } => drop(self.intend(life, *who, Intent::Cancel { reason: None }).await),
            What::Decide { who, which, answer } => self.decide(life, *who, *which, *answer).await,
            What::Continue { who } => drop(self.intend(life, *who, Intent::Continue).await),
            What::Undo { who, steps } => drop(self.intend(life, *who, Intent::Undo { steps: *steps }).await),
            What::Redo { who, steps } => drop(self.intend(life, *who, Intent::Redo { steps: *steps }).await),
            What::Rename { who } => {
                self.intend(life, *who, Intent::Rename { title: "another".to_owned() }).await;
            }
            What::SetModel { who } => {
                let model = ModelName("puppet".to_owned());
                // The same once more leaves nothing in the journal to look for.
                if life.state().await.model.as_ref() != Some(&model) {
                    self.intend(life, *who, Intent::SetModel { model }).await;
                }
            }
            What::UpdateContext { who } => {
                let context = JsonText("{\"open\":[]}".to_owned());
                self.intend(life, *who, Intent::UpdateContext { context }).await;
            }
            What::Join { who, manner } => self.join(life, *who, *manner).await,
            What::Leave { who } => self.leave(life, *who),
            What::AutoApprove { who, yes } => {
                let guest = life.guest(*who).await;
                guest.client.abilities.auto_approves = *yes;
                guest.seat.set_abilities(guest.client.abilities).await.unwrap();
            }
            What::Edit { file, version } => self.edit(life, FILES[*file], &content(*version, *version)).await,
            What::Fork { at } => self.fork(life, *at).await,
            What::CrashAtWrite { after, stored } => life.fuse.arm(*after, *stored),
            What::Crash | What::Restart => unreachable!("they end a life, and are seen to there"),
        }
    }

    async fn join(&mut self, life: &mut Life, who: usize, manner: Manner) {
        self.leave(life, who);
        life.join(who, manner).await;
    }

    fn leave(&mut self, life: &mut Life, who: usize) {
        self.last_words.extend(life.guests[who].take().map(|guest: Guest| guest.listener.heard()));
    }

    /// Asks for something. What is accepted is in the journal; what is not, has its reason.
    async fn intend(&mut self, life: &mut Life, who: usize, intent: Intent) -> Option<Accepted> {
        let guest = life.guest(who).await;
        let (role, by) = (guest.client.role, Actor::from(&guest.client));
        let done = guest.seat.intend(intent.clone()).await;
        let accepted = match done {
            Err(IntentError::Forbidden { .. }) if role < Role::Drive => return None,
            Err(error) if is_expected(&intent, &error) => return None,
            Err(error) => return self.sound(Err(format!("{intent:?}: {error}"))),
            Ok(accepted) => accepted,
        };
        assert!(role >= Role::Drive, "one who watches may not {intent:?}");
        let event = life.events(life.session, Seq(accepted.seq.0 - 1)).await.into_iter().next();
        if !event.as_ref().is_some_and(|event| is_of(&intent, &by, event)) {
            self.look(life).await;
            self.sound::<()>(Err(format!("{intent:?} was accepted, but the journal has {event:?}")));
        }
        Some(accepted)
    }

    async fn decide(&mut self, life: &mut Life, who: usize, which: usize, answer: Answer) {
        let state = life.state().await;
        let open: Vec<ApprovalId> = state.pending.keys().copied().collect();
        let closed = state.decided.keys().last();
        let approval = match (open.len(), closed) {
            (0, None) => return,
            (0, Some(late)) => *late,
            (count, _) => open[which % count],
        };
        let patches: Vec<PatchId> = match state.pending.get(&approval).map(|pending| &pending.question) {
            Some(Question::Patches { patches, .. }) => patches.clone(),
            _ => Vec::new(),
        };
        let (scope, remember) = match answer {
            _ if patches.is_empty() && !matches!(answer, Answer::No) => (ApprovalScope::All, Remember::Once),
            Answer::Yes => (ApprovalScope::All, Remember::Once),
            Answer::Always => (ApprovalScope::All, Remember::Session),
            Answer::No => (ApprovalScope::None, Remember::Once),
            Answer::Files(bits) => (ApprovalScope::Patches(chosen(&patches, bits)), Remember::Once),
            Answer::Hunks(bits) => {
                let hunks = |id: &PatchId| {
                    let all: Vec<usize> = (0..state.proposed[id].hunks.len()).collect();
                    (*id, chosen(&all, bits))
                };
                (ApprovalScope::Hunks(patches.iter().map(hunks).collect()), Remember::Once)
            }
        };
        self.intend(life, who, decision(approval, scope, remember)).await;
    }

    /// Somebody outside changes a file while nothing runs.
    async fn edit(&mut self, life: &mut Life, path: &str, content: &str) {
        let state = life.state().await;
        if !self.rests(life, &state) || state.status() == Status::Running {
            return;
        }
        let file = self.root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        let state_of = tree::state_of(&file);
        self.outside.push(Outside { after: state.last_seq, path: path.to_owned(), state: state_of });
    }

    /// A session that is split at any event can be used like any other.
    async fn fork(&mut self, life: &mut Life, at: usize) {
        let past = &self.journal().events[..=at % self.journal().events.len()];
        let at = past.last().expect("at least the opening").seq;
        // What waits in the queue would be done in both.
        if !State::fold(past).expect("it begins with the opening").queue.is_empty() {
            return;
        }
        let fork = life.engine.fork_session(life.session, at, Actor::Engine).await.unwrap();
        let state = life.engine.state(fork).await.unwrap();
        if state.status() == Status::Idle {
            let someone = super::life::client("dave", Role::Drive, false);
            let (seat, state) = life.engine.join(fork, someone, OnLeave::Keep).await.unwrap();
            let mut told = seat.subscribe(state.last_seq);
            seat.intend(prompt(&self.puppet.learn(&[]))).await.unwrap();
            let ends = |told: &Told| match told {
                Told::Event(event) => matches!(event.body, EventBody::TurnEnded { .. }),
                _ => false,
            };
            while !ends(&told.next().await.unwrap()) {}
        }
        let events = life.events(fork, Seq(0)).await;
        let mut journal = Journal::begin(events[0].clone());
        for event in &events[1..] {
            let looked = journal.follow(event.clone());
            self.sound(looked.map_err(|wrong| format!("split at {}: {wrong}", at.0)));
            let stranger = event.seq > at && matches!(event.body, EventBody::FilesChanged { .. });
            assert!(!stranger, "split at {}, and yet it changed files: {event:?}", at.0);
        }
        assert_eq!(*life.engine.state(fork).await.unwrap(), journal.state, "split at {}", at.0);
        let state = journal.state;
        assert!(state.turn.is_none() || !state.pending.is_empty(), "split at {}, it hangs: {state:#?}", at.0);
        life.engine.delete_session(fork).await.unwrap();
    }
}

fn decision(approval: ApprovalId, scope: ApprovalScope, remember: Remember) -> Intent {
    Intent::Decide { approval, answer: ApprovalAnswer { scope, remember, comment: None } }
}

/// Those whose bit is set.
fn chosen<T: Clone>(all: &[T], bits: u8) -> Vec<T> {
    all.iter()
        .enumerate()
        .filter(|(place, _)| bits & (1 << (place % 8)) != 0)
        .map(|(_, one)| one.clone())
        .collect()
}

/// Whether an intent may be refused for this reason.
fn is_expected(intent: &Intent, error: &IntentError) -> bool {
    match intent {
        Intent::Prompt { when_busy, .. } => {
            *when_busy == WhenBusy::Refuse && matches!(error, IntentError::Busy)
        }
        Intent::Cancel { .. } => matches!(error, IntentError::NothingRuns),
        Intent::Decide { .. } => matches!(error, IntentError::AlreadyDecided { .. }),
        Intent::Continue => matches!(error, IntentError::Busy | IntentError::NothingToContinue),
        Intent::Undo { .. } => {
            matches!(
                error,
                IntentError::Busy | IntentError::NothingToUndo { .. } | IntentError::Conflict { .. }
            )
        }
        Intent::Redo { .. } => {
            matches!(
                error,
                IntentError::Busy | IntentError::NothingToRedo { .. } | IntentError::Conflict { .. }
            )
        }
        _ => false,
    }
}

/// Whether an event is what an intent leads to.
fn is_of(intent: &Intent, who: &Actor, event: &Event) -> bool {
    match (intent, &event.body) {
        (Intent::Prompt { instruction, .. }, EventBody::TurnStarted { instruction: begun, by, .. })
        | (Intent::Prompt { instruction, .. }, EventBody::InstructionQueued { instruction: begun, by }) => {
            instruction == begun && by == who
        }
        (Intent::Cancel { .. }, EventBody::TurnEnded { end, .. }) => *end == TurnEnd::Cancelled,
        (
            Intent::Decide { approval, answer },
            EventBody::ApprovalDecided { approval: of, answer: held, by },
        ) => approval == of && answer == held && by == who,
        (Intent::Continue, EventBody::TurnContinued { by })
        | (Intent::Rename { .. }, EventBody::SessionRenamed { by, .. })
        | (Intent::SetModel { .. }, EventBody::ModelChanged { by, .. })
        | (Intent::UpdateContext { .. }, EventBody::ContextUpdated { by, .. })
        | (Intent::Undo { .. }, EventBody::Undone { by, .. })
        | (Intent::Redo { .. }, EventBody::Redone { by, .. })
        | (Intent::Close, EventBody::SessionClosed { by }) => by == who,
        _ => false,
    }
}
