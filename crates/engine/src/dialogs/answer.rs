//! Answering dialogs and closing windows, for those who may.

use std::path::PathBuf;
use std::sync::Arc;

use loggia_domain::{Actor, Dialog, DialogAnswer, DialogBody, DialogId, Role, WindowId};

use super::places::{BadPlace, MAX_CHOSEN, Places};
use super::{DialogBoard, DialogEnd, OpenDialog, OpenWindow, WindowEnd};
use crate::Engine;

/// Why an answer does not count. The dialog is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Whoever answers may only watch.
    #[error("answering needs the role `drive`")]
    Forbidden,
    /// There is no such dialog, or it was long ago.
    #[error("there is no dialog `{0}`")]
    UnknownDialog(DialogId),
    /// There is no such window, or it was long ago.
    #[error("there is no window `{0}`")]
    UnknownWindow(WindowId),
    /// Somebody was first.
    #[error("`{dialog}` has been answered already")]
    AlreadyAnswered {
        /// Which.
        dialog: DialogId,
        /// Who.
        by: Box<Actor>,
    },
    /// Nobody wants an answer any more.
    #[error("the extension no longer asks `{0}`")]
    Withdrawn(DialogId),
    /// The window is closed.
    #[error("the window `{0}` is closed already")]
    AlreadyClosed(WindowId),
    /// It is an answer to something else.
    #[error("the answer does not fit the dialog: {0}")]
    DoesNotFit(String),
    /// Something was chosen that may not be.
    #[error("`{}` cannot be chosen: {why}", path.display())]
    BadChoice {
        /// What.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

impl Engine {
    /// The board of dialogs and windows: listen there.
    pub fn dialogs(&self) -> &DialogBoard {
        &self.shared.parts.desks.dialogs
    }

    /// A dialog that is open.
    ///
    /// # Errors
    /// What became of it.
    pub fn open_dialog(&self, id: DialogId) -> Result<Arc<Dialog>, AnswerError> {
        self.dialogs().dialog(id)
    }

    /// Answers a dialog. Paths may be relative to the workspace that the dialog belongs to.
    ///
    /// # Errors
    /// Why the answer does not count.
    pub async fn answer_dialog(
        &self,
        id: DialogId,
        answer: DialogAnswer,
        by: Actor,
    ) -> Result<(), AnswerError> {
        may_answer(&by)?;
        let dialog = self.dialogs().dialog(id)?;
        let answer = match fitting(&dialog.body, answer)? {
            DialogAnswer::Chosen(Some(chosen)) => {
                DialogAnswer::Chosen(Some(self.checked(dialog, chosen).await?))
            }
            answer => answer,
        };
        self.dialogs().settle(id, answer, by)
    }

    /// Closes a window.
    ///
    /// # Errors
    /// Why that cannot be.
    pub fn close_window(&self, id: WindowId, by: Actor) -> Result<(), AnswerError> {
        may_answer(&by)?;
        self.dialogs().close(id, by)
    }

    async fn checked(&self, dialog: Arc<Dialog>, chosen: Vec<PathBuf>) -> Result<Vec<PathBuf>, AnswerError> {
        let workspace = self.workspace(dialog.workspace).await.ok();
        let places = Places {
            root: workspace.map(|workspace| workspace.root),
            directories: self.dialogs().0.settings.directories.clone(),
            barred: self.shared.own_directories(),
        };
        let first = chosen.first().cloned().unwrap_or_default();
        let checked = tokio::task::spawn_blocking(move || places.check(&dialog.body, &chosen)).await;
        let checked = checked.map_err(|error| BadPlace { path: first, why: error.to_string() });
        checked
            .and_then(|checked| checked)
            .map_err(|BadPlace { path, why }| AnswerError::BadChoice { path, why })
    }
}

impl DialogBoard {
    /// A dialog that is open.
    pub(super) fn dialog(&self, id: DialogId) -> Result<Arc<Dialog>, AnswerError> {
        let board = self.0.board();
        match board.dialogs.get(&id) {
            Some(open) => Ok(Arc::clone(&open.dialog)),
            None => Err(gone(id, board.end_of(id))),
        }
    }

    /// Hands over an answer that fits, unless somebody was first.
    pub(super) fn settle(&self, id: DialogId, answer: DialogAnswer, by: Actor) -> Result<(), AnswerError> {
        self.0.change(|board| {
            let Some(OpenDialog { answer: asker, .. }) = board.dialogs.remove(&id) else {
                return Err(gone(id, board.end_of(id)));
            };
            let (end, told) = match asker.send(answer) {
                Ok(()) => (DialogEnd::Answered { by }, Ok(())),
                Err(_) => (DialogEnd::Withdrawn, Err(AnswerError::Withdrawn(id))),
            };
            board.remember(id, end);
            told
        })
    }

    pub(super) fn close(&self, id: WindowId, by: Actor) -> Result<(), AnswerError> {
        self.0.change(|board| {
            let Some(OpenWindow { closed, .. }) = board.windows.remove(&id) else {
                return Err(match board.end_of_window(id) {
                    Some(_) => AnswerError::AlreadyClosed(id),
                    None => AnswerError::UnknownWindow(id),
                });
            };
            // A guest that does not listen has left, and its window with it.
            let _ = closed.send(());
            board.remember_window(id, WindowEnd::ByPerson { by });
            Ok(())
        })
    }
}

fn may_answer(by: &Actor) -> Result<(), AnswerError> {
    match by {
        Actor::Client { role: Role::Watch, .. } => Err(AnswerError::Forbidden),
        Actor::Client { .. } | Actor::Policy | Actor::Engine => Ok(()),
    }
}

fn gone(id: DialogId, end: Option<&DialogEnd>) -> AnswerError {
    match end {
        Some(DialogEnd::Answered { by }) => {
            AnswerError::AlreadyAnswered { dialog: id, by: Box::new(by.clone()) }
        }
        Some(DialogEnd::Withdrawn) => AnswerError::Withdrawn(id),
        None => AnswerError::UnknownDialog(id),
    }
}

/// The answer, if it is one to this.
fn fitting(body: &DialogBody, answer: DialogAnswer) -> Result<DialogAnswer, AnswerError> {
    let wrong = |what: &str| Err(AnswerError::DoesNotFit(what.to_owned()));
    let most = match body {
        DialogBody::Message { .. } => {
            return match answer {
                DialogAnswer::Seen => Ok(answer),
                _ => wrong("a message can only be seen"),
            };
        }
        DialogBody::Confirm { .. } => {
            return match answer {
                DialogAnswer::Confirmed(_) => Ok(answer),
                _ => wrong("it is a question to be confirmed or not"),
            };
        }
        DialogBody::ChooseFiles { several: true, .. } => MAX_CHOSEN,
        DialogBody::ChooseFiles { .. }
        | DialogBody::ChoosePlace { .. }
        | DialogBody::ChooseDirectory { .. } => 1,
    };
    match &answer {
        DialogAnswer::Chosen(None) => Ok(answer),
        DialogAnswer::Chosen(Some(paths)) if paths.is_empty() => {
            wrong("nothing is chosen; a choice that is cancelled says so")
        }
        DialogAnswer::Chosen(Some(paths)) if paths.len() > most => {
            let what = match most {
                1 => "only one path can be chosen".to_owned(),
                most => format!("at most {most} paths can be chosen"),
            };
            Err(AnswerError::DoesNotFit(what))
        }
        DialogAnswer::Chosen(Some(_)) => Ok(answer),
        DialogAnswer::Seen | DialogAnswer::Confirmed(_) => wrong("paths are to be chosen"),
    }
}
