//! Dialogs and windows: what guests want to show to people and to hear from them.
//!
//! Whoever knows the people fills [`Dialogs`]: a dialog goes to every client that can show it, and the first answer
//! wins. Where nobody is there, asking says so at once or waits, as was configured. Dropping the future that asks
//! withdraws the dialog.

use std::path::PathBuf;

use crate::{BoxFuture, DialogId, WindowId, WorkspaceId};

/// Shows things to people.
pub trait Dialogs: Send + Sync + 'static {
    /// Shows a dialog until somebody answers it.
    fn ask(&self, dialog: Dialog) -> BoxFuture<'_, Result<DialogAnswer, DialogError>>;

    /// Shows a window. The inner future is done when a person closed it; dropping it closes the window.
    fn show(&self, window: GuestWindow) -> BoxFuture<'_, Result<BoxFuture<'static, ()>, DialogError>>;
}

/// A dialog that a guest wants shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Its id.
    pub id: DialogId,
    /// Where the guest works.
    pub workspace: WorkspaceId,
    /// The guest's name.
    pub guest: String,
    /// The dialog's title.
    pub title: Option<String>,
    /// What it is about.
    pub body: DialogBody,
}

/// What a dialog is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogBody {
    /// Something to know.
    Message {
        /// The text.
        text: String,
        /// How serious it is.
        weight: DialogWeight,
    },
    /// A question with two answers.
    Confirm {
        /// The question.
        text: String,
        /// The words of the answers.
        words: ConfirmWords,
    },
    /// Files that are there are to be chosen.
    ChooseFiles {
        /// Whether several may be.
        several: bool,
        /// Where to begin.
        start: Option<PathBuf>,
        /// Kinds of files to offer; all if there are none.
        kinds: Vec<FileKind>,
    },
    /// A place for a file is to be chosen. The guest writes it.
    ChoosePlace {
        /// Where to begin.
        start: Option<PathBuf>,
        /// The name to suggest.
        name: Option<String>,
        /// Kinds of files to offer; all if there are none.
        kinds: Vec<FileKind>,
    },
    /// A directory is to be chosen.
    ChooseDirectory {
        /// Where to begin.
        start: Option<PathBuf>,
    },
}

/// How serious a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DialogWeight {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}

/// The words of the two answers to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfirmWords {
    /// Yes or no.
    YesNo,
    /// OK or cancel.
    OkCancel,
}

/// A kind of file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileKind {
    /// What people call it.
    pub name: String,
    /// Endings without dots; `*` is any.
    pub endings: Vec<String>,
}

/// What a person answered. It fits the dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// The message was seen.
    Seen,
    /// Yes, or no; a closed dialog is a no.
    Confirmed(bool),
    /// What was chosen, within the directories that are allowed; nothing if the choice was cancelled.
    Chosen(Option<Vec<PathBuf>>),
}

/// A window that a guest wants shown: a page of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestWindow {
    /// Its id.
    pub id: WindowId,
    /// Where the guest works.
    pub workspace: WorkspaceId,
    /// The guest's name.
    pub guest: String,
    /// The page, over http or https.
    pub url: String,
    /// The window's title.
    pub title: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// Whether nothing else can be used while it is there.
    pub modal: bool,
    /// Whether people can change its size.
    pub resizable: bool,
}

/// Why nothing can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DialogError {
    /// Nobody is there who could see it.
    #[error("nobody is there to answer: {0}")]
    NobodyThere(String),
    /// So much is shown already.
    #[error("{0}")]
    TooMany(String),
    /// We are leaving.
    #[error("the server is stopping")]
    Stopping,
}
