//! The commands about what extensions ask and show.

use loggia_domain::{Actor, Dialog, DialogAnswer, DialogBody, DialogId, GuestWindow, WindowId};
use loggia_engine::dialogs::AnswerError;

use super::Answer;
use crate::dialog;
use crate::door::Inner;
use crate::guest::Guest;
use crate::ids::{self, Meant, short};
use crate::paint::{Painted, Style, brief};
use crate::voice::{Refused, Status};
use crate::words::words;

/// How much of what somebody typed is shown.
const SHOWN: usize = 40;

pub(super) fn list(door: &Inner) -> Answer {
    let (dialogs, windows) = door.parts.engine.dialogs().open();
    let mut text = Painted::new();
    dialogs.iter().for_each(|open| text.append(dialog::asked(open)));
    windows.iter().for_each(|open| text.append(dialog::opened(open)));
    if dialogs.is_empty() && windows.is_empty() {
        text.append(Painted::of(Style::Aside, "no extension asks or shows anything").line());
    }
    Ok(text)
}

pub(super) async fn answer(door: &Inner, guest: &Guest, typed: &str, said: Option<&str>) -> Answer {
    let open = find(door, typed)?;
    let answer = meant(&open, said.unwrap_or_default())?;
    let by = Actor::from(&guest.client);
    door.parts.engine.answer_dialog(open.id, answer, by).await?;
    Ok(Painted::new().plain("dialog ").with(Style::Name, short(&open.id)).plain(" was answered").line())
}

pub(super) fn close(door: &Inner, guest: &Guest, typed: &str) -> Answer {
    let (_, windows) = door.parts.engine.dialogs().open();
    let id: WindowId =
        one(typed, windows.iter().map(|window: &std::sync::Arc<GuestWindow>| window.id), "window")?;
    door.parts.engine.close_window(id, Actor::from(&guest.client))?;
    Ok(Painted::new().plain("window ").with(Style::Name, short(&id)).plain(" was closed").line())
}

/// What was typed, as an answer to this.
fn meant(dialog: &Dialog, said: &str) -> Result<DialogAnswer, Refused> {
    let said = said.trim();
    match &dialog.body {
        DialogBody::Message { .. } => Ok(DialogAnswer::Seen),
        DialogBody::Confirm { .. } => match said.to_ascii_lowercase().as_str() {
            "yes" | "y" | "ok" => Ok(DialogAnswer::Confirmed(true)),
            "no" | "n" | "cancel" => Ok(DialogAnswer::Confirmed(false)),
            _ => Err(Refused::new(Status::Usage, "the answer is `yes` or `no`")),
        },
        DialogBody::ChooseFiles { .. }
        | DialogBody::ChoosePlace { .. }
        | DialogBody::ChooseDirectory { .. } => match said {
            "" => Err(Refused::new(Status::Usage, "the answer is a path, or `cancel`")),
            "cancel" => Ok(DialogAnswer::Chosen(None)),
            said => {
                let paths = words(said).into_iter().map(|word| word.text.into()).collect();
                Ok(DialogAnswer::Chosen(Some(paths)))
            }
        },
    }
}

/// Which dialog somebody means; one that was answered is told so.
fn find(door: &Inner, typed: &str) -> Result<std::sync::Arc<Dialog>, Refused> {
    if let Ok(id) = typed.trim().parse::<DialogId>() {
        return Ok(door.parts.engine.open_dialog(id)?);
    }
    let (dialogs, _) = door.parts.engine.dialogs().open();
    let id = one(typed, dialogs.iter().map(|dialog| dialog.id), "dialog")?;
    Ok(door.parts.engine.open_dialog(id)?)
}

fn one<T: ToString>(typed: &str, known: impl IntoIterator<Item = T>, what: &str) -> Result<T, Refused> {
    let shown = brief(typed, SHOWN);
    let refused = |status, text: String| Refused::new(status, text).hint("`dialogs` lists what is open");
    match ids::meant(typed, known) {
        Meant::One(id) => Ok(id),
        Meant::None => {
            Err(refused(Status::Unavailable, format!("there is no {what} `{shown}`, or not any more")))
        }
        Meant::Several(count) => Err(refused(Status::Usage, format!("{count} are called `{shown}`"))),
        Meant::TooShort => Err(refused(Status::Usage, format!("`{shown}` is too short for an id"))),
    }
}

impl From<AnswerError> for Refused {
    fn from(error: AnswerError) -> Self {
        let status = match &error {
            AnswerError::Forbidden => Status::Refused,
            AnswerError::UnknownDialog(_)
            | AnswerError::UnknownWindow(_)
            | AnswerError::AlreadyAnswered { .. }
            | AnswerError::Withdrawn(_)
            | AnswerError::AlreadyClosed(_) => Status::Unavailable,
            AnswerError::DoesNotFit(_) | AnswerError::BadChoice { .. } => Status::Usage,
        };
        Self::new(status, error)
    }
}
