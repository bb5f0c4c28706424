//! Dialogs and windows of extensions, on the stream that belongs to no session.
//!
//! Beyond the specification. They go to clients that name `dialogs` in their hello; the first answer counts. They belong
//! to no journal and have no numbers: a client that comes is told of all that is open.

use loggia_jsonrpc::FieldError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DialogId, WindowId, WorkspaceId};
use crate::message::Message;
use crate::words::open_words;

/// An extension asks something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "ui.dialog.request")]
pub struct DialogRequest {
    /// Its id, for the answer.
    pub dialog_id: DialogId,
    /// Where the extension works.
    pub workspace_id: WorkspaceId,
    /// The extension's name.
    pub extension: String,
    /// What is asked.
    pub kind: DialogKind,
    /// The dialog's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text of a message or a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How serious a message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<DialogLevel>,
    /// The words of the two answers to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buttons: Option<DialogButtons>,
    /// Where to begin to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_path: Option<String>,
    /// The name to suggest for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_name: Option<String>,
    /// Kinds of files to offer; all if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FileFilter>,
}

impl Message for DialogRequest {
    const TYPE: &'static str = "ui.dialog.request";
}

open_words! {
    /// What a dialog asks.
    pub enum DialogKind {
        /// Something to know: answered with `acknowledged`.
        Message = "message",
        /// A question with two answers: answered with `confirmed`.
        Confirm = "confirm",
        /// One file that is there: answered with `paths`.
        OpenFile = "open_file",
        /// Files that are there: answered with `paths`.
        OpenFiles = "open_files",
        /// A place for a file: answered with `paths`.
        SaveFile = "save_file",
        /// A directory: answered with `paths`.
        SelectDirectory = "select_directory",
    }
}

open_words! {
    /// How serious a message is.
    pub enum DialogLevel {
        /// Good to know.
        Info = "info",
        /// Worth a look.
        Warning = "warning",
        /// Something failed.
        Error = "error",
    }
}

open_words! {
    /// The words of the two answers to a question.
    pub enum DialogButtons {
        /// Yes or no.
        YesNo = "yes_no",
        /// OK or cancel.
        OkCancel = "ok_cancel",
    }
}

/// A kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileFilter {
    /// What people call it.
    pub name: String,
    /// Endings without dots; `*` is any.
    pub extensions: Vec<String>,
}

/// The answer to a dialog: exactly one of its last four fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "ui.dialog.response")]
pub struct DialogResponse {
    /// Which dialog.
    pub dialog_id: DialogId,
    /// The message was seen; never `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<bool>,
    /// Yes or OK, or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
    /// What was chosen: absolute, or relative to the workspace root; within the directories that are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// The dialog was closed without an answer; never `false`. A question is not confirmed then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<bool>,
}

impl Message for DialogResponse {
    const TYPE: &'static str = "ui.dialog.response";
}

impl DialogResponse {
    /// The rules between fields, which their types alone cannot state.
    ///
    /// # Errors
    /// When not exactly one answer is given, or one that says it is none.
    pub fn check(&self) -> Result<(), FieldError> {
        let given = [
            ("acknowledged", self.acknowledged.is_some()),
            ("confirmed", self.confirmed.is_some()),
            ("paths", self.paths.is_some()),
            ("cancelled", self.cancelled.is_some()),
        ];
        let mut given = given.iter().filter(|(_, is_given)| *is_given).map(|(field, _)| *field);
        let Some(first) = given.next() else {
            let message = "an answer is needed: `acknowledged`, `confirmed`, `paths` or `cancelled`";
            return Err(FieldError::at("acknowledged", message));
        };
        if let Some(second) = given.next() {
            return Err(FieldError::at(second, format!("either this or `{first}`, not both")));
        }
        for (field, word) in [("acknowledged", self.acknowledged), ("cancelled", self.cancelled)] {
            if word == Some(false) {
                return Err(FieldError::at(field, "must be true, or left out"));
            }
        }
        Ok(())
    }
}

/// A dialog is not open any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "ui.dialog.closed")]
pub struct DialogClosed {
    /// Which.
    pub dialog_id: DialogId,
    /// Why.
    pub reason: DialogCloseReason,
    /// Who answered: the name that client gave in its hello.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Message for DialogClosed {
    const TYPE: &'static str = "ui.dialog.closed";
}

open_words! {
    /// Why a dialog is not open any more.
    pub enum DialogCloseReason {
        /// Somebody answered it.
        Answered = "answered",
        /// Its extension no longer asks.
        Withdrawn = "withdrawn",
    }
}

/// An extension shows a page of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "ui.window.opened")]
pub struct WindowOpened {
    /// Its id.
    pub window_id: WindowId,
    /// Where the extension works.
    pub workspace_id: WorkspaceId,
    /// The extension's name.
    pub extension: String,
    /// The page. It is the extension's, and has nothing to do with ours.
    pub url: String,
    /// The window's title.
    pub title: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// Whether nothing else shall be used while it is there.
    pub modal: bool,
    /// Whether people can change its size.
    pub resizable: bool,
}

impl Message for WindowOpened {
    const TYPE: &'static str = "ui.window.opened";
}

/// A window is closed: from a client, by its user; from the server, for whatever reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "ui.window.closed")]
pub struct WindowClosed {
    /// Which.
    pub window_id: WindowId,
    /// Why; a client leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<WindowCloseReason>,
    /// Who closed it: the name that client gave in its hello. A client leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Message for WindowClosed {
    const TYPE: &'static str = "ui.window.closed";
}

open_words! {
    /// Why a window is closed.
    pub enum WindowCloseReason {
        /// Somebody closed it.
        User = "user",
        /// Its extension closed it, or left.
        Extension = "extension",
    }
}
