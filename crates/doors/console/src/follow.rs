//! A turn as the result of a command: the reply is its output, the way it ended its status.

use std::sync::Arc;

use loggia_domain::{ApprovalScope, Event, EventBody, TurnEnd, TurnFailure, TurnId};
use loggia_endermux_io::server::{ClientId, Presence};
use loggia_engine::{Mask, Subscription, Told};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::guest::{Following, Place};
use crate::lines::Lines;
use crate::paint::{Painted, Style};
use crate::tell::{Said, Teller, end_text};
use crate::voice::{Refused, Status, Voice};

/// A turn that is followed.
#[derive(Debug)]
pub(crate) struct Follow {
    pub(crate) voice: Voice,
    pub(crate) place: Arc<Place>,
    pub(crate) subscription: Subscription,
    pub(crate) turn: Option<TurnId>,
    pub(crate) following: Following,
    pub(crate) stop: CancellationToken,
    pub(crate) mask: Mask,
    /// Whose command it is, and who is there.
    pub(crate) terminal: ClientId,
    pub(crate) there: watch::Receiver<Vec<Presence>>,
    /// Whether the terminal is told of questions anyway.
    pub(crate) has_log: bool,
}

impl Follow {
    /// Gives the turn on until it ends, or nobody listens.
    pub(crate) async fn run(mut self) {
        let mut lines = Lines::default();
        let mut teller = Teller::new(self.place.session(), self.mask.clone());
        let (mut refused, mut whole_line) = (false, true);
        let mut ended_turn = None;
        let result = loop {
            let told = tokio::select! {
                told = self.subscription.next() => told,
                // Its place on the session goes with it.
                () = gone(&mut self.there, self.terminal) => return,
                () = self.stop.cancelled() => {
                    break Err(Refused::new(Status::Unfinished, "the daemon stops").hint("`continue` goes on after its next start"));
                }
            };
            let text = match told {
                Err(closed) => break Err(Refused::new(Status::Unavailable, closed)),
                Ok(Told::Reply(piece)) if Some(piece.turn) == self.turn => lines.push(&piece.text),
                Ok(Told::Event(event)) if event.turn == self.turn => {
                    let asked = asked(&mut teller, &event).filter(|_| !self.has_log);
                    if let Some(question) = asked
                        && self.voice.say(&question).await.is_err()
                    {
                        return;
                    }
                    match &event.body {
                        EventBody::MessageEnded { .. } => {
                            let rest = lines.rest().unwrap_or_default();
                            let ends = if rest.is_empty() { whole_line } else { rest.ends_with('\n') };
                            Some(if ends { rest } else { rest + "\n" })
                        }
                        EventBody::ApprovalDecided { answer, .. } => {
                            refused |= answer.scope == ApprovalScope::None;
                            None
                        }
                        EventBody::TurnEnded { end, .. } => {
                            ended_turn = event.turn;
                            break ended(end, refused);
                        }
                        _ => None,
                    }
                }
                Ok(_) => None,
            };
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            whole_line = text.ends_with('\n');
            if self.voice.say(&Painted::of(Style::Plain, text)).await.is_err() {
                return;
            }
        };
        let Self { voice, following, .. } = self;
        match ended_turn {
            Some(turn) => following.end(turn),
            None => drop(following),
        }
        voice.end(result).await;
    }
}

/// Waits until a terminal is not there any more.
async fn gone(there: &mut watch::Receiver<Vec<Presence>>, terminal: ClientId) {
    // The console that tells lives longer than those on it.
    let _ = there.wait_for(|there| there.iter().all(|presence| presence.id != terminal)).await;
}

/// What a question is, if one was asked: whoever waits for the end shall know what the turn waits for.
fn asked(teller: &mut Teller, event: &Arc<Event>) -> Option<Painted> {
    let said = teller.tell(&Told::Event(Arc::clone(event)));
    said.into_iter().find_map(|said| match said {
        Said::Question(_, text) => Some(text.line()),
        Said::Line(..) | Said::Reply(_) | Said::Output(_) => None,
    })
}

/// What a turn's end is to a program.
fn ended(end: &TurnEnd, refused: bool) -> Result<Painted, Refused> {
    let status = match end {
        TurnEnd::Done if refused => Status::Refused,
        TurnEnd::Done => return Ok(Painted::new()),
        TurnEnd::Cancelled => Status::Cancelled,
        TurnEnd::Interrupted | TurnEnd::StepLimit | TurnEnd::BudgetLimit => Status::Unfinished,
        TurnEnd::Failed(TurnFailure::Model { .. }) => Status::Model,
        TurnEnd::Failed(_) => Status::Failed,
    };
    let what = match status {
        Status::Refused => "something the agent wanted was refused".to_owned(),
        _ => format!("the turn {}", end_text(end)),
    };
    Err(Refused::new(status, what))
}
