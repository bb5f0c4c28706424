//! The questions of a turn that is brought back from its journal.
//!
//! A journal is a file, and files can be changed. So a question is made once more of the call, or of the collection,
//! that would be carried out on a yes. One that says otherwise, that was answered before, or that nothing waits for is
//! withdrawn; and what is to be asked is asked.
//!
//! What always holds: every question that is open after this shows what runs if it is answered with yes.

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, CallId, Demand, EventBody, Question, Remember, Risk,
};

use crate::engine::Shared;
use crate::session::mask::mask_question;
use crate::session::state::{CallStage, OpenCall, State};
use crate::turn::{question_about, question_about_collected};
use crate::workspace::OpenWorkspace;

/// A question that something waits for.
struct Due {
    /// The one that was asked, as the journal says.
    asked: ApprovalId,
    call: Option<CallId>,
    question: Question,
    risk: Risk,
}

/// The events that put a turn's questions right; none if they are.
pub(super) async fn renewed(shared: &Shared, workspace: &OpenWorkspace, state: &State) -> Vec<EventBody> {
    let mut stands = Vec::new();
    let mut anew = Vec::new();
    for due in due(shared, workspace, state).await {
        match was_asked(shared, state, &due) {
            true => stands.push(due.asked),
            false => anew.push(due),
        }
    }
    let wrong = state.pending.keys().filter(|approval| !stands.contains(approval));
    let mut events: Vec<EventBody> = wrong.map(|approval| withdrawn(*approval)).collect();
    let expires = workspace.approval_expiry(shared).await;
    events.extend(anew.into_iter().map(|Due { asked: _, call, question, risk }| EventBody::ApprovalAsked {
        approval: ApprovalId::new(),
        call,
        question,
        risk,
        expires,
    }));
    events
}

/// Everything that waits for an answer, and what is to be asked about it.
async fn due(shared: &Shared, workspace: &OpenWorkspace, state: &State) -> Vec<Due> {
    // Without a policy nothing is done on any answer.
    let judge = workspace.judge(shared, state).await.ok();
    let mut due = Vec::new();
    for open in state.turn.iter().flat_map(|turn| &turn.calls) {
        let CallStage::Asked(asked) = open.stage else { continue };
        let demand = demand(workspace, open);
        let risk = judge.as_ref().map_or(Risk::High, |judge| judge.judge(&open.call.tool, &demand).risk);
        let question = match open.patches.is_empty() {
            true => question_about(&open.call, &demand),
            false => Question::Patches { tool: open.call.tool.clone(), patches: open.patches.clone() },
        };
        due.push(Due { asked, call: Some(open.call.id), question, risk });
    }
    if let Some(asked) = state.batch.as_ref().and_then(|batch| batch.asked) {
        let (question, risk) = question_about_collected(state);
        due.push(Due { asked, call: None, question, risk });
    }
    due
}

/// What a call would touch. One that is not understood touches nothing: it ends as soon as its turn goes on.
fn demand(workspace: &OpenWorkspace, open: &OpenCall) -> Demand {
    let tool = workspace.tool(&open.call.tool).ok();
    let prepared = tool.and_then(|tool| tool.prepare(&open.call.arguments).ok());
    prepared.map(|prepared| prepared.demand()).unwrap_or_default()
}

/// Whether just this is open.
fn was_asked(shared: &Shared, state: &State, due: &Due) -> bool {
    let mut shown = due.question.clone();
    mask_question(&shared.masker, &mut shown);
    let asked = state.pending.get(&due.asked);
    asked.is_some_and(|asked| asked.call == due.call && asked.question == shown)
        && !state.decided.contains_key(&due.asked)
}

fn withdrawn(approval: ApprovalId) -> EventBody {
    let answer = ApprovalAnswer {
        scope: ApprovalScope::None,
        remember: Remember::Once,
        comment: Some("it was not about what would be done".to_owned()),
    };
    EventBody::ApprovalDecided { approval, answer, by: Actor::Engine }
}
