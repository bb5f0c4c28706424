//! Commands about questions: which wait, what they are about, and the answers.

use std::sync::Arc;

use loggia_domain::{
    ApprovalAnswer, ApprovalId, ApprovalScope, Intent, Patch, Question, Remember, SessionId,
};
use loggia_engine::OnLeave;

use super::Answer;
use crate::door::Inner;
use crate::guest::Guest;
use crate::ids::{Meant, short};
use crate::paint::{Painted, Style, brief};
use crate::question::{self, Extent};
use crate::tell::of_question;
use crate::voice::{Refused, Status};

/// How much of what somebody typed is shown.
const SHOWN: usize = 40;

pub(super) fn list(door: &Inner) -> Answer {
    let waiting = door.board.waiting();
    let mut text = Painted::new();
    for (approval, session, about) in &waiting {
        let line = Painted::of(Style::Name, short(approval))
            .plain("  ")
            .with(Style::Name, short(session))
            .plain(format!(" asks {about}"))
            .with(Style::Aside, format!("  {approval}"));
        text.append(line.line());
    }
    if waiting.is_empty() {
        text.append(Painted::of(Style::Aside, "nothing waits for an answer").line());
    }
    Ok(text)
}

pub(super) async fn show(door: &Inner, typed: &str) -> Answer {
    let (approval, session) = find(door, typed)?;
    let (asked, patches) = look(door, approval, session).await?;
    let about = question::about(approval, &asked);
    let mut text = Painted::of(Style::Name, short(&session)).plain(format!(" asks {about}")).line();
    text.append(question::told(approval, &asked, &patches, Extent::All).line());
    Ok(text)
}

pub(super) async fn approve(door: &Inner, guest: &Guest, typed: &str, hunks: &[usize]) -> Answer {
    let (approval, session) = find(door, typed)?;
    let scope = match hunks {
        [] => ApprovalScope::All,
        hunks => {
            let (_, patches) = look(door, approval, session).await?;
            question::scope(&patches, hunks).map_err(|number| {
                let count = question::hunks(&patches).len();
                let what = format!("there is no hunk {number} in this question: it has {count}");
                Refused::new(Status::Usage, what).hint(format!("`show {}` shows them", short(&approval)))
            })?
        }
    };
    decide(door, guest, approval, session, ApprovalAnswer { scope, remember: Remember::Once, comment: None })
        .await
}

pub(super) async fn reject(door: &Inner, guest: &Guest, typed: &str, reason: Option<&str>) -> Answer {
    let (approval, session) = find(door, typed)?;
    let comment = reason.map(str::to_owned);
    let answer = ApprovalAnswer { scope: ApprovalScope::None, remember: Remember::Once, comment };
    decide(door, guest, approval, session, answer).await
}

async fn decide(
    door: &Inner,
    guest: &Guest,
    approval: ApprovalId,
    session: SessionId,
    answer: ApprovalAnswer,
) -> Answer {
    let word = question::answered(&answer);
    let intent = Intent::Decide { approval, answer };
    match guest.place().filter(|place| place.session() == session) {
        Some(place) => place.seat.intend(intent).await?,
        None => {
            let (seat, _) = door.parts.engine.join(session, guest.client.clone(), OnLeave::Keep).await?;
            seat.intend(intent).await?
        }
    };
    Ok(Painted::new()
        .plain("question ")
        .with(Style::Name, short(&approval))
        .plain(format!(" was {word}"))
        .line())
}

/// Which question somebody means, and whose it is.
fn find(door: &Inner, typed: &str) -> Result<(ApprovalId, SessionId), Refused> {
    let shown = brief(typed, SHOWN);
    match door.board.meant(typed) {
        Meant::One(found) => Ok(found),
        Meant::None => Err(Refused::new(Status::Unavailable, format!("there is no question `{shown}`"))
            .hint(
                "`questions` lists what waits; one of a session that nobody uses is told once that is used",
            )),
        Meant::Several(count) => {
            Err(Refused::new(Status::Usage, format!("{count} questions are called `{shown}`"))
                .hint("type more of it"))
        }
        Meant::TooShort => Err(Refused::new(Status::Usage, format!("`{shown}` is too short for an id"))
            .hint("`questions` lists what waits")),
    }
}

/// What a question is about.
async fn look(
    door: &Inner,
    approval: ApprovalId,
    session: SessionId,
) -> Result<(Question, Vec<Arc<Patch>>), Refused> {
    let state = door.parts.engine.state(session).await?;
    let Some(pending) = state.pending.get(&approval) else {
        let what = format!("question {} waits no more", short(&approval));
        return Err(Refused::new(Status::Unavailable, what).hint("`questions` lists what waits"));
    };
    let patches = of_question(&pending.question, |id| state.proposed.get(id).cloned());
    Ok((pending.question.clone(), patches))
}
