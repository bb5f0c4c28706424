//! Commands about turns: asking, ending, going on, taking back.

use std::sync::Arc;

use loggia_domain::{Instruction, Intent, WhenBusy};

use super::Answer;
use super::sessions::{only_one, used, used_or_only};
use crate::door::Inner;
use crate::follow::Follow;
use crate::guest::{Guest, Place};
use crate::paint::Painted;
use crate::voice::{Refused, Voice};

pub(super) async fn ask(door: &Arc<Inner>, guest: &Arc<Guest>, text: &str, voice: Voice) {
    let instruction = Instruction { text: text.to_owned(), ..Instruction::default() };
    let intent = Intent::Prompt { instruction, when_busy: WhenBusy::Refuse };
    match used_or_only(door, guest).await {
        Ok(place) => begin(door, guest, place, intent, voice).await,
        Err(refused) => voice.end(Err(refused)).await,
    }
}

pub(super) async fn go_on(door: &Arc<Inner>, guest: &Arc<Guest>, voice: Voice) {
    match used(guest) {
        Ok(place) => begin(door, guest, place, Intent::Continue, voice).await,
        Err(refused) => voice.end(Err(refused)).await,
    }
}

pub(super) async fn cancel(door: &Inner, guest: &Guest) -> Answer {
    only_one(door, guest).await?.seat.intend(Intent::Cancel { reason: None }).await?;
    Ok(Painted::new().plain("cancelled").line())
}

pub(super) async fn undo(door: &Inner, guest: &Guest, steps: usize) -> Answer {
    only_one(door, guest).await?.seat.intend(Intent::Undo { steps }).await?;
    Ok(Painted::new().plain("undone").line())
}

pub(super) async fn redo(door: &Inner, guest: &Guest, steps: usize) -> Answer {
    only_one(door, guest).await?.seat.intend(Intent::Redo { steps }).await?;
    Ok(Painted::new().plain("redone").line())
}

/// Begins a turn. Whoever waits for its end is given the reply; for others it is in the log.
async fn begin(door: &Arc<Inner>, guest: &Arc<Guest>, place: Arc<Place>, intent: Intent, voice: Voice) {
    if !voice.is_awaited() {
        let begun = place.seat.intend(intent).await;
        return voice.end(begun.map(|_| Painted::new()).map_err(Refused::from)).await;
    }
    // Before the turn, so that nothing of it is missed and nothing of it is told twice.
    let following = place.follow();
    let begun = async {
        let before = place.seat.state().await?.last_seq;
        let subscription = place.seat.subscribe(before);
        let accepted = place.seat.intend(intent).await?;
        Ok::<_, loggia_engine::IntentError>((subscription, accepted.turn))
    };
    let (subscription, turn) = match begun.await {
        Ok(begun) => begun,
        Err(error) => {
            drop(following);
            return voice.end(Err(Refused::from(error))).await;
        }
    };
    let there = door.console().clients();
    let has_log = there.iter().any(|presence| presence.id == guest.terminal && presence.subscribed);
    let stop = door.parts.stop.clone();
    let (mask, terminal, there) = (door.parts.engine.mask(), guest.terminal, door.console().presence());
    let follow = Follow { voice, place, subscription, turn, following, stop, mask, terminal, there, has_log };
    door.tasks.spawn(follow.run());
}
