//! What must hold of every journal, whatever happened.
//!
//! Follows a journal event by event with a state of its own and says the first thing that makes no sense.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use loggia_domain::{
    ApprovalId, ApprovalScope, CallId, Event, EventBody, MessageId, PatchFailure, PatchId, Question, Seq,
    TurnEnd, TurnId,
};
use loggia_engine::{History, Said, State, Status};

/// A journal as far as it was looked at, and the state it comes to.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) events: Vec<Event>,
    pub(super) state: State,
    asked: BTreeMap<ApprovalId, Question>,
    decided: BTreeMap<ApprovalId, ApprovalScope>,
    /// Each call, and whether it has ended.
    calls: BTreeMap<CallId, bool>,
    /// Each proposed change, and whether something became of it.
    patches: BTreeMap<PatchId, bool>,
    messages: BTreeSet<MessageId>,
    queued: BTreeSet<Seq>,
    /// What had been said before a turn.
    before: HashMap<TurnId, History>,
    /// What had been said before something was undone.
    undone: Vec<History>,
}

/// What matters of a state before an event.
struct Was {
    open: Option<TurnId>,
    cut: Option<TurnId>,
    has_checkpoint: bool,
    calls: usize,
    pending: usize,
    proposed: usize,
    undoable: Option<TurnId>,
    history: History,
}

impl Was {
    fn of(state: &State) -> Self {
        let turn = state.turn.as_ref();
        Self {
            open: turn.map(|turn| turn.id),
            cut: state.cut.as_ref().map(|(turn, _)| turn.id),
            has_checkpoint: turn.is_some_and(|turn| turn.checkpoint.is_some()),
            calls: turn.map_or(0, |turn| turn.calls.len()),
            pending: state.pending.len(),
            proposed: state.proposed.len(),
            undoable: state.undo.done().last().map(|entry| entry.turn),
            history: state.history.clone(),
        }
    }
}

impl Journal {
    /// A journal that has just begun.
    pub(super) fn begin(first: Event) -> Self {
        Self {
            state: State::begin(&first).unwrap(),
            events: vec![first],
            asked: BTreeMap::new(),
            decided: BTreeMap::new(),
            calls: BTreeMap::new(),
            patches: BTreeMap::new(),
            messages: BTreeSet::new(),
            queued: BTreeSet::new(),
            before: HashMap::new(),
            undone: Vec::new(),
        }
    }

    /// Looks at the event that comes next.
    ///
    /// # Errors
    /// What makes no sense about it.
    pub(super) fn follow(&mut self, event: Event) -> Result<(), String> {
        let was = Was::of(&self.state);
        self.state.apply(&event);
        let looked = self.fits(&was, &event).and_then(|()| self.coherent(&event));
        let seq = event.seq.0;
        self.events.push(event);
        looked.and_then(|()| self.nothing_is_forgotten()).map_err(|wrong| format!("event {seq}: {wrong}"))
    }

    /// What must hold between any two events.
    fn coherent(&self, event: &Event) -> Result<(), String> {
        let state = &self.state;
        let expected = self.events.len() as u64 + 1;
        must(event.seq.0 == expected, || format!("{expected} was expected"))?;
        must(state.last_seq == event.seq, || "the state has another number".to_owned())?;
        let open = state.turn.is_some();
        must(open || state.pending.is_empty(), || "a question without a turn".to_owned())?;
        must(open || state.proposed.is_empty(), || "a proposed change without a turn".to_owned())?;
        must(open || state.batch.is_none(), || "a collection without a turn".to_owned())?;
        must(!(open && state.cut.is_some()), || "a turn under way beside one that was cut".to_owned())?;
        let status = match (open, state.pending.is_empty()) {
            _ if state.closed => Status::Closed,
            (false, _) => Status::Idle,
            (true, true) => Status::Running,
            (true, false) => Status::Waiting,
        };
        must(state.status() == status, || format!("it is {:?}", state.status()))?;
        let seqs: Vec<Seq> = state.history.items().iter().map(|item| item.seq).collect();
        must(seqs.is_sorted(), || format!("what was said is out of order: {seqs:?}"))?;
        let empty = state.undo.done().iter().find(|entry| entry.changes.is_empty());
        must(empty.is_none(), || format!("there is nothing to undo in {empty:?}"))?;
        Ok(())
    }

    /// What this event must be, after all before it.
    fn fits(&mut self, was: &Was, event: &Event) -> Result<(), String> {
        let open = was.open;
        let in_turn =
            |what: &str| must(open.is_some() && event.turn == open, || format!("{what} outside of its turn"));
        match &event.body {
            EventBody::SessionOpened { .. } => return Err("opened twice".to_owned()),
            EventBody::InstructionQueued { .. } => {
                must(open.is_some(), || "queued without need".to_owned())?;
                self.queued.insert(event.seq);
            }
            EventBody::TurnStarted { queued, .. } => {
                must(open.is_none(), || "a turn in a turn".to_owned())?;
                let id = event.turn.ok_or("a turn without an id")?;
                must(self.before.insert(id, was.history.clone()).is_none(), || "a turn twice".to_owned())?;
                if let Some(seq) = queued {
                    must(self.queued.remove(seq), || "it was not queued".to_owned())?;
                }
                self.undone.clear();
            }
            EventBody::TurnContinued { .. } => {
                must(open.is_none() && was.cut.is_some() && was.cut == event.turn, || {
                    "nothing to continue".to_owned()
                })?;
            }
            EventBody::TurnEnded { end, .. } => {
                in_turn("an end")?;
                turn_ended(was, end)?;
            }
            EventBody::MessageEnded { message, .. } => {
                in_turn("a message")?;
                must(self.messages.insert(message.id), || "a message twice".to_owned())?;
            }
            EventBody::ToolRequested { call } => {
                in_turn("a call")?;
                must(self.calls.insert(call.id, false).is_none(), || "a call twice".to_owned())?;
            }
            EventBody::ToolEnded { call, .. } => {
                in_turn("a call's end")?;
                must(self.calls.insert(*call, true) == Some(false), || "no such call is open".to_owned())?;
            }
            EventBody::PatchProposed { patch } => {
                in_turn("a proposal")?;
                must(self.patches.insert(patch.id, false).is_none(), || "a change twice".to_owned())?;
            }
            EventBody::PatchApplied { patch, change, .. } => {
                in_turn("a change")?;
                must(change.is_none() || was.has_checkpoint, || "a change without a checkpoint".to_owned())?;
                must(self.patches.insert(*patch, true) == Some(false), || {
                    "no such change is proposed".to_owned()
                })?;
                self.was_allowed(*patch)?;
            }
            EventBody::PatchDropped { patch, failure } => {
                in_turn("a dropped change")?;
                must(self.patches.insert(*patch, true) == Some(false), || {
                    "no such change is proposed".to_owned()
                })?;
                self.was_refused(*patch, failure)?;
            }
            EventBody::ApprovalAsked { approval, question, .. } => {
                in_turn("a question")?;
                must(self.asked.insert(*approval, question.clone()).is_none(), || "asked twice".to_owned())?;
            }
            EventBody::ApprovalDecided { approval, answer, .. } => {
                in_turn("an answer")?;
                must(self.asked.contains_key(approval), || "an answer to no question".to_owned())?;
                let earlier = self.decided.insert(*approval, answer.scope.clone());
                must(earlier.is_none(), || "answered twice".to_owned())?;
            }
            EventBody::Undone { .. } => {
                must(open.is_none(), || "undone in a turn".to_owned())?;
                let turn = was.undoable.ok_or("there was nothing to undo")?;
                must(is_same(&self.state.history, &self.before[&turn]), || {
                    format!(
                        "undone, but what was said is {:#?} and not {:#?}",
                        self.state.history, self.before[&turn]
                    )
                })?;
                self.undone.push(was.history.clone());
            }
            EventBody::Redone { .. } => {
                must(open.is_none(), || "redone in a turn".to_owned())?;
                let said = self.undone.pop().ok_or("there was nothing to redo")?;
                let mut said = said.items().iter().filter(|item| !matches!(item.said, Said::Summary(_)));
                let missing = said.find(|item| !self.state.history.items().contains(item));
                must(missing.is_none(), || format!("redone, but {missing:?} is missing"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A change is only made if those who were asked wanted it.
    fn was_allowed(&self, patch: PatchId) -> Result<(), String> {
        let Some(scope) = self.answer_about(patch) else { return Ok(()) };
        let allowed = match scope? {
            ApprovalScope::None => false,
            ApprovalScope::All => true,
            ApprovalScope::Patches(patches) => patches.contains(&patch),
            ApprovalScope::Hunks(hunks) => hunks.iter().any(|(id, hunks)| *id == patch && !hunks.is_empty()),
        };
        must(allowed, || "nobody wanted this change".to_owned())
    }

    /// A change is only refused if somebody did.
    fn was_refused(&self, patch: PatchId, failure: &PatchFailure) -> Result<(), String> {
        if *failure != PatchFailure::Refused {
            return Ok(());
        }
        let scope = self.answer_about(patch).ok_or("nobody was asked")??;
        must(*scope != ApprovalScope::All, || "everything was wanted".to_owned())
    }

    /// The answer to the question about a change; nothing if nobody was asked.
    fn answer_about(&self, patch: PatchId) -> Option<Result<&ApprovalScope, String>> {
        let asked = self.asked.iter().find(
            |(_, question)| matches!(question, Question::Patches { patches, .. } if patches.contains(&patch)),
        );
        let (approval, _) = asked?;
        Some(self.decided.get(approval).ok_or_else(|| "nobody has answered yet".to_owned()))
    }

    /// Whatever began has ended or is open in the state.
    fn nothing_is_forgotten(&self) -> Result<(), String> {
        let state = &self.state;
        for approval in self.asked.keys().filter(|approval| !self.decided.contains_key(approval)) {
            must(state.pending.contains_key(approval), || {
                format!("{approval} is neither decided nor pending")
            })?;
        }
        let open: Vec<CallId> =
            state.turn.iter().flat_map(|turn| &turn.calls).map(|open| open.call.id).collect();
        for (call, _) in self.calls.iter().filter(|(_, ended)| !**ended) {
            must(open.contains(call), || format!("{call} has neither ended nor is it open"))?;
        }
        for (patch, _) in self.patches.iter().filter(|(_, settled)| !**settled) {
            must(state.proposed.contains_key(patch), || format!("{patch} is forgotten"))?;
        }
        let queue: BTreeSet<Seq> = state.queue.iter().map(|waiting| waiting.seq).collect();
        must(queue == self.queued, || format!("{:?} wait, but the state has {queue:?}", self.queued))
    }
}

/// Whether what was said is the same, but that its beginning may have become a summary.
fn is_same(now: &History, before: &History) -> bool {
    let (now, before) = (now.items(), before.items());
    match now.first() {
        Some(first) if matches!(first.said, Said::Summary(_)) => {
            let place = before.partition_point(|item| item.seq <= first.seq);
            place > 0 && now[1..] == before[place..]
        }
        _ => now == before,
    }
}

fn turn_ended(was: &Was, end: &TurnEnd) -> Result<(), String> {
    must(was.pending == 0, || format!("it ended ({end:?}) with an open question"))?;
    must(was.proposed == 0, || format!("it ended ({end:?}) and nothing became of {} changes", was.proposed))?;
    must(was.calls == 0, || format!("it ended ({end:?}) with {} open calls", was.calls))
}

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
