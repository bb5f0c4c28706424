//! Dialogs: a message, a question, and the choice of files.
//!
//! A cancelled dialog is not an error. A cancelled choice is an explicit `null`: existing extensions look for the key.

use loggia_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::nullable;

/// Shows a message until it is acknowledged.
#[derive(Debug)]
pub struct ShowMessage;

impl Method for ShowMessage {
    const NAME: &'static str = "ui/showMessage";
    type Params = ShowMessageParams;
    type Result = ShowMessageResult;
}

/// What to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShowMessageParams {
    /// The text.
    pub message: String,
    /// The dialog's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How serious it is; absent means [`MessageKind::Info`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MessageKind>,
}

/// How serious a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MessageKind {
    /// Good to know.
    #[default]
    Info,
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}

/// The message was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShowMessageResult {
    /// Always true.
    pub acknowledged: bool,
}

/// Asks a question with two answers.
#[derive(Debug)]
pub struct ShowConfirm;

impl Method for ShowConfirm {
    const NAME: &'static str = "ui/showConfirm";
    type Params = ShowConfirmParams;
    type Result = ShowConfirmResult;
}

/// What to ask.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShowConfirmParams {
    /// The question.
    pub message: String,
    /// The dialog's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The two answers; absent means [`ConfirmButtons::YesNo`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buttons: Option<ConfirmButtons>,
}

/// The two answers to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConfirmButtons {
    /// Yes or no.
    #[default]
    YesNo,
    /// OK or cancel.
    OkCancel,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShowConfirmResult {
    /// Yes or OK; a closed dialog counts as no.
    pub confirmed: bool,
}

/// Lets the user choose one file.
#[derive(Debug)]
pub struct OpenFile;

impl Method for OpenFile {
    const NAME: &'static str = "ui/openFile";
    type Params = OpenFileParams;
    type Result = PathResult;
}

/// Lets the user choose several files.
#[derive(Debug)]
pub struct OpenFiles;

impl Method for OpenFiles {
    const NAME: &'static str = "ui/openFiles";
    type Params = OpenFileParams;
    type Result = PathsResult;
}

/// What may be chosen; the same for one file and for several.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenFileParams {
    /// The dialog's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The directory to start in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_path: Option<String>,
    /// Kinds of file to offer; none means all.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FileFilter>,
}

/// A kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileFilter {
    /// Its name for people.
    pub name: String,
    /// Its extensions without dots; `*` is any.
    pub extensions: Vec<String>,
}

/// Lets the user choose where to save. The extension writes the file.
#[derive(Debug)]
pub struct SaveFile;

impl Method for SaveFile {
    const NAME: &'static str = "ui/saveFile";
    type Params = SaveFileParams;
    type Result = PathResult;
}

/// What is to be saved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveFileParams {
    /// The dialog's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The directory to start in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_path: Option<String>,
    /// The file name to suggest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_name: Option<String>,
    /// Kinds of file to offer; none means all.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FileFilter>,
}

/// Lets the user choose a directory.
#[derive(Debug)]
pub struct SelectDirectory;

impl Method for SelectDirectory {
    const NAME: &'static str = "ui/selectDirectory";
    type Params = SelectDirectoryParams;
    type Result = PathResult;
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectDirectoryParams {
    /// The dialog's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The directory to start in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_path: Option<String>,
}

/// One chosen path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathResult {
    /// `null`, and never absent, when the user cancelled.
    pub path: Option<String>,
}

/// Several chosen paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathsResult {
    /// `null`, and never absent, when the user cancelled.
    pub paths: Option<Vec<String>>,
}
