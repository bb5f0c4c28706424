//! `prompt`: a turn begins.

use std::sync::Arc;

use loggia_domain::{ApprovalAnswer, ApprovalScope, Intent, Remember, Timestamp, WhenBusy};
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{PromptParams, SuccessResult};
use loggia_wire::peer::Context;
use tokio::sync::OwnedMutexGuard;

use crate::calls::{aborted, busy, refused};
use crate::commands;
use crate::door::Door;
use crate::launch::EndOfTurn;
use crate::place::{Claimed, Place};
use crate::prompt::instruction;

type Held = Option<OwnedMutexGuard<()>>;

/// Answered as soon as the turn is sure to begin, and before it is told.
pub(super) async fn prompt(
    door: Arc<Door>,
    context: Context,
    params: PromptParams,
) -> (Result<SuccessResult, ErrorObject>, Held) {
    match begin(door, context, params).await {
        Ok(held) => (Ok(SuccessResult { success: true }), held),
        Err(error) => (Err(error), None),
    }
}

async fn begin(door: Arc<Door>, context: Context, params: PromptParams) -> Result<Held, ErrorObject> {
    params.check().map_err(ErrorObject::invalid_params)?;
    let place = door.place();
    let claimed = Claimed::take(&place).ok_or_else(busy)?;
    if commands::command(&params.message).is_some() {
        let held = door.hold().await;
        commands::start(&door, Arc::clone(&place), context.peer, params.message, claimed);
        return Ok(after_turn(&door, &place, held).await);
    }
    withdraw_batch(&place).await;
    let held = door.hold().await;
    if door.is_closing() {
        return Err(aborted());
    }
    let preview = {
        let wishes = door.wishes();
        // Who only plans collects nothing: what would be written is refused, and the model told so.
        wishes.preview && !wishes.approvals.is_planning()
    };
    let sees = place.teller().model.sees;
    let (instruction, errors) = instruction(params, preview, sees, Timestamp::now());
    place.teller().preface = errors;
    let prompt = Intent::Prompt { instruction, when_busy: WhenBusy::Refuse };
    let accepted = place.seat.intend(prompt).await.map_err(|error| refused(&error))?;
    claimed.became(accepted.turn);
    Ok(after_turn(&door, &place, held).await)
}

/// Clients that read events only while their prompt is open are answered when the turn is over.
async fn after_turn(door: &Door, place: &Place, held: OwnedMutexGuard<()>) -> Held {
    if door.launch.end_of_turn != EndOfTurn::Answer {
        return Some(held);
    }
    drop(held);
    place.until(|teller| (!teller.place.is_taken()).then_some(())).await;
    None
}

/// Changes of the last turn that nobody decided about make way for the next one.
async fn withdraw_batch(place: &Place) {
    let Some(approval) = place.teller().batch_question() else { return };
    let answer = ApprovalAnswer {
        scope: ApprovalScope::None,
        remember: Remember::Once,
        comment: Some("another prompt came before a decision".to_owned()),
    };
    // Decided about by somebody else in this moment is as good; the turn ends either way.
    let _ = place.seat.intend(Intent::Decide { approval, answer }).await;
    place.until(|teller| teller.state.turn.is_none().then_some(())).await;
}
