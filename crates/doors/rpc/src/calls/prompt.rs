//! `prompt`: a turn begins.

use std::sync::Arc;

use loggia_domain::{ApprovalAnswer, ApprovalScope, Image, Intent, Remember, Timestamp, TurnId, WhenBusy};
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{ErrorParams, ImageAttachment, PromptParams, SuccessResult, codes};
use loggia_wire::peer::Context;
use tokio::sync::OwnedMutexGuard;

use crate::calls::{aborted, busy, refused};
use crate::commands;
use crate::door::Door;
use crate::launch::EndOfTurn;
use crate::place::{Claimed, Place};
use crate::prompt::instruction;
use crate::thinking::Level;

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

async fn begin(door: Arc<Door>, context: Context, mut params: PromptParams) -> Result<Held, ErrorObject> {
    params.check().map_err(ErrorObject::invalid_params)?;
    let place = door.place();
    let claimed = Claimed::take(&place).ok_or_else(busy)?;
    if commands::command(&params.message).is_some() {
        let held = door.hold().await;
        if door.is_closing() {
            return Err(aborted());
        }
        commands::start(&door, Arc::clone(&place), context.peer, params.message, claimed);
        return after_turn(&door, &place, None, held).await;
    }
    withdraw_batch(&place).await;
    let (images, errors) = tokio::select! {
        images = images(&door, &place, params.images.take()) => images?,
        _ = place.until(|teller| teller.place.is_called_off().then_some(())) => return Err(aborted()),
    };
    let held = door.hold().await;
    if door.is_closing() || place.teller().place.is_called_off() {
        return Err(aborted());
    }
    let (preview, restraint) = {
        let wishes = door.wishes();
        let restraint = wishes.approvals.restraint();
        // Who only reads collects nothing: what would be written is refused, and the model told so.
        (wishes.preview && !restraint.reading_only, restraint)
    };
    if let Some(level) = params.thinking_level.as_ref().and_then(Level::of) {
        let set = Intent::SetThinking { thinking: level.thinking() };
        place.seat.intend(set).await.map_err(|error| refused(&error))?;
    }
    place.teller().preface = errors;
    let instruction = instruction(params, preview, images, restraint);
    let prompt = Intent::Prompt { instruction, when_busy: WhenBusy::Refuse };
    let accepted = place.seat.intend(prompt).await.map_err(|error| refused(&error))?;
    if claimed.became(accepted.turn) {
        // An abort that came before there was a turn to abort. One that is over already needs no word.
        let reason = Some("the client aborted it".to_owned());
        let _ = place.seat.intend(Intent::Cancel { reason }).await;
    }
    after_turn(&door, &place, accepted.turn, held).await
}

/// The images that are shown, and what the user must know of the others.
async fn images(
    door: &Door,
    place: &Place,
    images: Option<Vec<ImageAttachment>>,
) -> Result<(Vec<Image>, Vec<ErrorParams>), ErrorObject> {
    let Some(images) = images.filter(|images| !images.is_empty()) else { return Ok(Default::default()) };
    let (now, sees) = (Timestamp::now(), place.teller().model.sees);
    // Megabytes of base64 take a while.
    let looked = tokio::task::spawn_blocking(move || crate::images::look(&images, sees, now)).await;
    let (usable, mut errors) = looked.map_err(ErrorObject::internal)?;
    let (kept, faults) = crate::images::keep(&door.parts.engine, usable, now).await;
    errors.extend(faults);
    Ok((kept, errors))
}

/// Clients that read events only while their prompt is open are answered when the turn is over.
async fn after_turn(
    door: &Door,
    place: &Place,
    turn: Option<TurnId>,
    held: OwnedMutexGuard<()>,
) -> Result<Held, ErrorObject> {
    if door.launch.end_of_turn != EndOfTurn::Answer {
        return Ok(Some(held));
    }
    drop(held);
    let over = place.until(|teller| (!teller.place.is_taken()).then_some(teller.aborted)).await;
    match over {
        Some(aborted) if aborted.is_none() || aborted != turn => Ok(None),
        _ => Err(ErrorObject::new(codes::ABORTED, "The turn was aborted")),
    }
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
