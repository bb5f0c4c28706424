//! The journal as messages.

use loggia_domain::{Actor, ApprovalScope, Door, Event, EventBody, RetrievalStage};
use loggia_protocol_agent_server as wire;
use wire::ServerMessage;

use crate::to_wire::names::{actor_name, question_id};
use crate::to_wire::past::{Past, Stage};
use crate::to_wire::question::{Put, proposed, question};
use crate::to_wire::{ends, moment, notice, tool};

/// What an event is on the wire, given what was before it; then it is part of the past. All messages carry its number.
pub(crate) fn journal(event: &Event, past: &mut Past) -> Vec<ServerMessage> {
    let stamp = moment::stamp(event);
    let mut messages = told(event, past, &stamp);
    let before = may_change_state(&event.body).then(|| past.state());
    let shows = shows_state(&event.body, past);
    let decided = decided(&event.body, past);
    past.apply(event);
    if let Some(before) = before {
        let state = past.state();
        if shows || state != before {
            messages.push(ServerMessage::SessionState(wire::SessionStateUpdate { state, decided, stamp }));
        }
    }
    messages
}

/// An event for a list: with the text that passed before it, and without asking anybody to do something, since whoever
/// reads a list reads of what was.
pub(crate) fn listed(event: &Event, past: &mut Past) -> Vec<ServerMessage> {
    let aside = aside(&event.body).map(|text| {
        ServerMessage::Token(wire::Token { token: text.to_owned(), cumulative_text: Some(text.to_owned()) })
    });
    let mut messages = journal(event, past);
    messages.iter_mut().for_each(|message| disown(message, |_| true));
    aside.into_iter().chain(messages).collect()
}

/// What was said before tools were called: no message of an event holds it, the turn's last reply has one of its own.
pub(super) fn aside(body: &EventBody) -> Option<&str> {
    match body {
        EventBody::MessageEnded { message, cut: false, .. } if !message.calls.is_empty() => {
            Some(message.text.as_str()).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// Makes it clear that another is to do it than whoever reads this and goes by the same name.
pub(super) fn disown(message: &mut ServerMessage, is_own: impl Fn(&str) -> bool) {
    if let ServerMessage::ToolExecute(wire::ToolExecute { executor: Some(name), .. }) = message
        && is_own(name)
    {
        name.push_str(" (another)");
    }
}

fn told(event: &Event, past: &Past, stamp: &wire::Stamp) -> Vec<ServerMessage> {
    match &event.body {
        EventBody::InstructionQueued { instruction, by }
        | EventBody::TurnStarted { instruction, by, queued: None } => {
            vec![ServerMessage::ClientEcho(wire::ClientEcho {
                from: actor_name(by).to_owned(),
                message: instruction.told().into_owned(),
                stamp: stamp.clone(),
            })]
        }
        EventBody::Retrieved { stage, results } => vec![retrieved(*stage, *results, stamp.clone())],
        EventBody::PlanChanged { plan } => vec![plan_message(plan, stamp.clone())],
        EventBody::ToolRequested { call } => vec![tool::requested(call, stamp.clone())],
        EventBody::ApprovalAsked { approval, call, question: asked, risk, .. } => {
            let (approval, call, risk) = (*approval, *call, *risk);
            let put = Put { approval, call, question: asked, risk, stamp: stamp.clone() };
            question(&put, &past.proposed, &past.root)
        }
        EventBody::ToolStarted { call, executor } => {
            let open = past.calls.get(call);
            open.map(|open| tool::started(open, *executor, past, stamp)).unwrap_or_default()
        }
        EventBody::ToolEnded { call, outcome, files, command, milliseconds } => {
            let open = past.calls.get(call).map(|open| &open.call);
            let end = |call| {
                tool::ended(call, outcome, files, command.as_ref(), *milliseconds, past, stamp.clone())
            };
            open.map(end).into_iter().collect()
        }
        EventBody::ChangeCollected { patch, .. } => {
            past.proposed.get(patch).map(|patch| proposed(patch, true, stamp.clone())).into_iter().collect()
        }
        EventBody::TurnEnded { end, usage, by } => ends::ended(end, by.as_ref(), *usage, past, stamp),
        EventBody::SessionRenamed { .. }
        | EventBody::ModelChanged { .. }
        | EventBody::ModelSwitched { .. }
        | EventBody::SessionClosed { .. }
        | EventBody::TurnContinued { .. }
        | EventBody::Undone { .. }
        | EventBody::Redone { .. }
        | EventBody::Task(_) => notice::notice(&event.body, stamp.clone()).into_iter().collect(),
        // The protocol has no word for these; what they change is seen in what follows.
        EventBody::SessionOpened { .. }
        | EventBody::InstructionsChanged { .. }
        | EventBody::TurnStarted { queued: Some(_), .. }
        | EventBody::ContextUpdated { .. }
        | EventBody::MessageEnded { .. }
        | EventBody::PatchProposed { .. }
        | EventBody::ApprovalDecided { .. }
        | EventBody::ThinkingChanged { .. }
        | EventBody::CallChanged { .. }
        | EventBody::FilesChanged { .. }
        | EventBody::PatchApplied { .. }
        | EventBody::PatchDropped { .. }
        | EventBody::BatchStarted { .. }
        | EventBody::BatchEnded { .. }
        | EventBody::CheckpointTaken { .. }
        | EventBody::HistoryCompacted { .. } => Vec::new(),
    }
}

/// Whether the state is looked at after an event. A patch alone is not: it is shown with the question about it or
/// with the call that makes it, and so is the state it is in.
fn may_change_state(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::PlanChanged { .. }
            | EventBody::ApprovalAsked { .. }
            | EventBody::ApprovalDecided { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ChangeCollected { .. }
            | EventBody::PatchApplied { .. }
            | EventBody::PatchDropped { .. }
            | EventBody::Undone { .. }
            | EventBody::Redone { .. }
            | EventBody::TurnEnded { .. }
    )
}

/// Whether the state is told after an event even if the event itself has not changed it.
fn shows_state(body: &EventBody, past: &Past) -> bool {
    match body {
        EventBody::ApprovalAsked { .. } | EventBody::ChangeCollected { .. } | EventBody::TurnEnded { .. } => {
            true
        }
        EventBody::ToolStarted { call, .. } => past
            .calls
            .get(call)
            .is_some_and(|open| open.stage == Stage::Requested && !open.patches.is_empty()),
        _ => false,
    }
}

/// The answer that an event is, for everybody who was asked as well.
fn decided(body: &EventBody, past: &Past) -> Option<wire::Decided> {
    let EventBody::ApprovalDecided { approval, answer, by } = body else { return None };
    let through = match by {
        Actor::Client { door: Door::Http, .. } => Some(wire::DoorName::Http),
        Actor::Client { door: Door::Rpc, .. } => Some(wire::DoorName::Rpc),
        Actor::Client { door: Door::Console, .. } => Some(wire::DoorName::Console),
        Actor::Client { door: Door::Inside, .. } => Some(wire::DoorName::Inside),
        Actor::Policy | Actor::Engine => None,
    };
    Some(wire::Decided {
        request_id: question_id(*approval, past.pending.get(approval).and_then(|asked| asked.command())),
        decided_by: actor_name(by).to_owned(),
        through,
        approved: answer.scope != ApprovalScope::None,
        in_part: matches!(answer.scope, ApprovalScope::Patches(_) | ApprovalScope::Hunks(_)),
    })
}

fn retrieved(stage: RetrievalStage, results: u32, stamp: wire::Stamp) -> ServerMessage {
    let (stage, what) = match stage {
        RetrievalStage::Symbols => (wire::RetrievalStage::SymbolSearch, "symbols"),
        RetrievalStage::Text => (wire::RetrievalStage::TextSearch, "places by words"),
        RetrievalStage::Vectors => (wire::RetrievalStage::VectorSearch, "places by meaning"),
        RetrievalStage::Ranking => (wire::RetrievalStage::Reranking, "places in all"),
    };
    let message = format!("Found {results} {what}");
    ServerMessage::RetrieveStatus(wire::RetrieveStatus {
        stage,
        results_count: u64::from(results),
        message,
        stamp,
    })
}

fn plan_message(plan: &loggia_domain::Plan, stamp: wire::Stamp) -> ServerMessage {
    let step = |(number, step): (u32, &loggia_domain::PlanStep)| wire::PlanStep {
        step_number: number,
        description: step.description.clone(),
        files_involved: step.files.clone(),
    };
    let steps = (1..).zip(&plan.steps).map(step).collect();
    ServerMessage::Plan(wire::Plan { steps, rationale: plan.rationale.clone(), stamp })
}
