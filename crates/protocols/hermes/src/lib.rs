//! The Hermes extension protocol as types: what a host and an extension say to each other.
//!
//! Knows every method's name, parameters, result and place in the order of a connection, the error codes,
//! and the numbers the protocol names. Refuses to know frames, processes and time, and what a message *means*:
//! HL7 text, field paths and the merging of schemas belong to whoever owns the editor.
//!
//! Choices that hold for the whole crate:
//! - fields are camelCase on the wire, error codes are numbers, method names have slashes;
//! - an optional field is omitted when it has no value, and `null` is read as absent. The two exceptions are
//!   marked where they are: the result of a file dialog and the properties of a schema override;
//! - an optional list that is empty is omitted, and absent is read as empty;
//! - a word from a fixed set is refused when unknown where the host must act on it (a parameter), and kept as
//!   text where ignoring it is enough (an event name, a reason).

mod command;
mod dialect;
mod dialog;
mod editor;
mod event;
mod initialize;
mod nullable;
mod schema;
mod shutdown;
mod table;
mod three_state;
mod window;

pub mod codes;
pub mod limits;

pub use command::{CommandExecute, CommandExecuteParams, CommandId};
pub use dialect::{API_VERSION, DIALECT, environment};
pub use dialog::{
    ConfirmButtons, FileFilter, MessageKind, OpenFile, OpenFileParams, OpenFiles, PathResult, PathsResult,
    SaveFile, SaveFileParams, SelectDirectory, SelectDirectoryParams, ShowConfirm, ShowConfirmParams,
    ShowConfirmResult, ShowMessage, ShowMessageParams, ShowMessageResult,
};
pub use editor::{
    GetMessage, GetMessageParams, GetMessageResult, MessageFormat, Patch, PatchError, PatchMessage,
    PatchMessageParams, PatchMessageResult, SetMessage, SetMessageParams, SetMessageResult,
};
pub use event::{
    ChangedOptions, EventName, EventOptions, EventSubscription, MessageChanged, MessageChangedParams,
    MessageOpened, MessageOpenedParams, MessageSaved, MessageSavedParams,
};
pub use initialize::{ButtonId, Capabilities, Initialize, InitializeParams, InitializeResult, ToolbarButton};
pub use schema::{DataType, FieldOverride, SchemaOverrides, SegmentOverrides};
pub use shutdown::{Shutdown, ShutdownParams, ShutdownReason, ShutdownResult};
pub use table::METHODS;
pub use three_state::Override;
pub use window::{
    CloseWindow, CloseWindowParams, CloseWindowResult, OpenWindow, OpenWindowParams, OpenWindowResult,
    WindowCloseReason, WindowClosed, WindowClosedParams, WindowId,
};
