//! The open message of a workspace: a document that people, extensions and the agent work on together.
//!
//! A message is read and changed by paths into it, whatever it is written in. Changing it touches no file; saving does.
//! The desk is filled by whoever knows the formats. It decides nothing about who may do what.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;

use futures_core::Stream;

use crate::{BoxFuture, DocumentId};

/// The desk of one workspace. At most one message is open on it.
///
/// Changes apply in the order in which the methods are called, not in that in which the futures are first polled by
/// different tasks: a caller who wants an order awaits each.
pub trait MessageDesk: Send + Sync + 'static {
    /// What is open, if anything is. A file that somebody else changed meanwhile is read again, if nothing would be lost.
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>>;

    /// Opens a message in the place of the one that is open, unless that one has changes that are not saved.
    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// The whole message in a format.
    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<MessageText, MessageError>>;

    /// What stands at a path; nothing if the path leads nowhere.
    fn get(&self, path: String) -> BoxFuture<'_, Result<Option<String>, MessageError>>;

    /// Puts another text in the message's place, as one step for undo. Its file stays.
    fn replace(
        &self,
        text: String,
        format: MessageFormat,
    ) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// Changes single places, in order, each on the result of the one before; what fails keeps nothing else out.
    /// All that applied is one step for undo.
    fn patch(&self, patches: Vec<MessagePatch>) -> BoxFuture<'_, Result<PatchedMessage, MessageError>>;

    /// What a file would hold after these changes, without changing anything: for whoever changes files himself. If
    /// that file then holds it, the desk takes it over as saved.
    fn propose(
        &self,
        patches: Vec<MessagePatch>,
        path: Option<String>,
    ) -> BoxFuture<'_, Result<ProposedMessage, MessageError>>;

    /// Takes the last step back.
    fn undo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// Makes the step again that was taken back last.
    fn redo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// Writes it to its file, or to another one, which is its file from then on.
    fn save(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// Closes it. What is not saved is lost only if that is meant.
    fn close(&self, unsaved: Unsaved) -> BoxFuture<'_, Result<(), MessageError>>;

    /// What is doubtful about the message under the schema that holds. Never a reason not to change or save it.
    fn validate(&self) -> BoxFuture<'_, Result<Vec<MessageFinding>, MessageError>>;

    /// The schema that holds: the one that is always there under all that was laid over it.
    fn schema(&self) -> MessageSchema;

    /// Lays these over the schema that is always there, in order, in the place of whatever was laid over it before.
    fn lay_over(&self, overlays: Vec<SchemaOverlay>);

    /// What happens to the message from now on. A listener who falls behind is told less of what changed, never more.
    fn watch(&self) -> DeskEvents;
}

/// What happens on a desk, as it happens.
pub type DeskEvents = Pin<Box<dyn Stream<Item = DeskEvent> + Send>>;

/// Something that happened to the open message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeskEvent {
    /// Another one is open.
    Opened(OpenMessage),
    /// Its text is another one.
    Changed(OpenMessage),
    /// It was written to its file.
    Saved {
        /// The message, with its file.
        message: OpenMessage,
        /// Whether that file was not its file before.
        elsewhere: bool,
    },
    /// None is open any more.
    Closed,
}

/// What to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// A file, relative to the root. What it is written in is told by its name and its contents.
    File(String),
    /// A new message with this text, which has no file yet.
    New {
        /// The text; a message without any if it is empty.
        text: String,
        /// What it is written in.
        format: MessageFormat,
    },
}

/// What becomes of changes that are not saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsaved {
    /// They are a reason not to close.
    Keep,
    /// They are lost.
    Discard,
}

/// A message that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenMessage {
    /// Its id; another one for every message that is opened.
    pub id: DocumentId,
    /// Its file, as an absolute path; nothing if it was never saved.
    pub file: Option<PathBuf>,
    /// That file, relative to the root, if it is below it.
    pub path: Option<String>,
    /// What it is: only HL7 has segments, the others are trees.
    pub kind: MessageKind,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// Whether it differs from its file.
    pub unsaved: bool,
    /// Whether there is a step to take back.
    pub can_undo: bool,
    /// Whether there is one to make again.
    pub can_redo: bool,
    /// How many bytes its text has.
    pub bytes: u64,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// HL7 version 2.
    Hl7,
    /// A tree in JSON.
    Json,
    /// A tree in YAML.
    Yaml,
    /// A tree in TOML.
    Toml,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageFormat {
    /// As HL7 version 2.
    Hl7,
    /// As JSON.
    Json,
    /// As YAML.
    Yaml,
    /// As TOML.
    Toml,
}

/// A whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageText {
    /// Its text in the format that was asked for.
    pub text: String,
    /// Which message it is, and at which revision.
    pub message: OpenMessage,
}

/// A change of one place in a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessagePatch {
    /// Which place.
    pub path: String,
    /// What shall stand there; nothing clears it.
    pub value: Option<String>,
    /// Whether the place itself shall go.
    pub remove: bool,
    /// Whether the place shall be made.
    pub create: bool,
}

/// What became of patches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedMessage {
    /// The message now.
    pub message: OpenMessage,
    /// How many applied.
    pub applied: usize,
    /// Those that did not.
    pub refused: Vec<RefusedPatch>,
}

/// A patch that did not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPatch {
    /// Its place in the list, from 0.
    pub index: usize,
    /// Its path.
    pub path: String,
    /// Why, in words.
    pub why: String,
}

/// What a file would hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedMessage {
    /// The file, relative to the root.
    pub path: String,
    /// What it holds; nothing if it is not there.
    pub before: Option<Vec<u8>>,
    /// What it would hold.
    pub after: Vec<u8>,
    /// How many patches applied.
    pub applied: usize,
    /// Those that did not.
    pub refused: Vec<RefusedPatch>,
}

/// Something doubtful about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageFinding {
    /// Where, as a path into the message.
    pub path: String,
    /// Whether it is wrong, and not only doubtful.
    pub wrong: bool,
    /// What, in words.
    pub what: String,
}

/// What is known about the segments of messages, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageSchema {
    /// The entries of each segment, in the order in which people see them.
    pub segments: BTreeMap<String, Vec<SchemaField>>,
}

/// What is known about a field, or about a component of one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaField {
    /// The field's number, from 1.
    pub field: u8,
    /// The component's number, from 1; the whole field if there is none.
    pub component: Option<u8>,
    /// What people call it.
    pub name: String,
    /// What it is shown together with.
    pub group: Option<String>,
    /// What helps to fill it in.
    pub note: Option<String>,
    /// Whether it must not be empty.
    pub required: Option<bool>,
    /// How long it is at least.
    pub shortest: Option<u64>,
    /// How long it is at most.
    pub longest: Option<u64>,
    /// A regular expression for the whole value.
    pub pattern: Option<String>,
    /// What kind of value it is.
    pub moment: Option<SchemaMoment>,
    /// What is shown while it is empty.
    pub placeholder: Option<String>,
    /// The values it may have, with what they mean.
    pub values: Option<BTreeMap<String, String>>,
    /// What a new message starts with.
    pub template: Option<String>,
}

/// Values that name a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaMoment {
    /// A day.
    Date,
    /// A day and a time of it.
    DateTime,
}

/// What somebody lays over the schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaOverlay {
    /// Who: an extension's name.
    pub from: String,
    /// The changed entries of each segment, in that one's order.
    pub segments: BTreeMap<String, Vec<FieldOverlay>>,
}

/// What is laid over one entry. Every property is kept, unset or replaced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldOverlay {
    /// The field's number, from 1.
    pub field: u8,
    /// The component's number, from 1.
    pub component: Option<u8>,
    /// What people call it.
    pub name: Overlaid<String>,
    /// What it is shown together with.
    pub group: Overlaid<String>,
    /// What helps to fill it in.
    pub note: Overlaid<String>,
    /// Whether it must not be empty.
    pub required: Overlaid<bool>,
    /// How long it is at least.
    pub shortest: Overlaid<u64>,
    /// How long it is at most.
    pub longest: Overlaid<u64>,
    /// A regular expression for the whole value.
    pub pattern: Overlaid<String>,
    /// What kind of value it is.
    pub moment: Overlaid<SchemaMoment>,
    /// What is shown while it is empty.
    pub placeholder: Overlaid<String>,
    /// The values it may have, with what they mean: all of them.
    pub values: Overlaid<BTreeMap<String, String>>,
    /// What a new message starts with.
    pub template: Overlaid<String>,
}

/// What is laid over a property.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Overlaid<T> {
    /// Nothing: what is below it holds.
    #[default]
    Kept,
    /// It has no value.
    Unset,
    /// It has this one.
    To(T),
}

/// Why a message cannot be worked on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// None is open.
    #[error("no message is open")]
    NoneOpen,
    /// The one that is open has no text yet, so that there is nothing to change or to show.
    #[error("the message is empty: it needs a text that begins with an MSH segment first")]
    Empty,
    /// The text is no message in that format.
    #[error("the text is not a message: {0}")]
    BadText(String),
    /// The path means nothing.
    #[error("{0}")]
    BadPath(String),
    /// The message cannot be written in that format.
    #[error("{0}")]
    BadFormat(String),
    /// Its file cannot be read or written.
    #[error("the message's file cannot be used: {0}")]
    BadFile(String),
    /// It has no file, and none was named.
    #[error("the message has no file yet")]
    NoFile,
    /// Something would be lost that nobody said may be.
    #[error("{0}")]
    Conflict(String),
    /// There is no step to take back or to make again.
    #[error("{0}")]
    NoStep(String),
}
