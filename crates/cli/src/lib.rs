//! What people see in a terminal, as a client of the http door or of a console like any other.
//!
//! Knows how to ask, to show what happens and to put questions to whoever sits there. Refuses to know flags, variables,
//! configuration, the catching of signals and exit codes: the binary hands over plain options and a connected [`Client`], and decides what
//! an [`Outcome`] means to a shell.
//!
//! What always holds:
//! - standard output has the answer, or JSON Lines, and nothing else; everything around it goes to standard error;
//! - what others wrote (models, files, commands, clients) cannot steer the terminal;
//! - a yes is only said by somebody who pressed its key after the question was shown, or who chose beforehand to say it;
//! - the terminal is left as it was found.

mod ask;
mod attach;
mod chat;
mod commands;
mod describe;
mod diff;
mod doctor;
mod editor;
mod error;
mod fold;
mod interrupts;
mod live;
mod markdown;
mod paint;
mod session_id;
mod set_up;
mod spent;
mod terminal;

pub use ask::{Approvals, Ask, Outcome, Revive, SessionChoice, ask};
pub use attach::{Attach, Attached, ConsoleError, Filter, Level, attach};
pub use chat::{Chat, chat};
pub use commands::{
    ConfiguredModel, ExtensionChange, ExtensionRun, ExtensionsOf, IndexBuilding, IndexDrop, IndexOf,
    IndexShow, IndexSteer, MessageAt, MessageOpening, MessagePatches, MessageStep, ModelList, ModelTest,
    ModelUse, PluginInstall, PluginList, PluginNamed, PluginRemove, PluginValidate, PolicyCheck, PolicyShow,
    Prepared, Search, SearchWay, SessionDelete, SessionExport, SessionFork, SessionImport, SessionRename,
    SessionShow, SessionsList, TaskAct, TaskAuto, TaskBrowse, TaskList, TaskNamed, TaskStart, TaskStep,
    TaskSteps, Trust, Undo, distrust, extension_change, extension_info, extension_list, extension_logs,
    extension_run, extension_start, index_build, index_drop, index_status, index_steer, index_watch,
    message_close, message_get, message_open, message_patch, message_save, message_set, message_show,
    message_status, message_step, message_validate, model_list, model_test, model_use, plugin_disable,
    plugin_enable, plugin_info, plugin_install, plugin_list, plugin_remove, plugin_validate, policy_check,
    policy_show, redo, search, sessions_delete, sessions_export, sessions_fork, sessions_import,
    sessions_list, sessions_rename, sessions_show, task_act, task_auto, task_browse, task_list, task_start,
    task_status, task_step, trust, undo,
};
pub use doctor::{doctor, doctor_report};
pub use error::CliError;
pub use interrupts::{Interrupter, Interrupts};
pub use loggia_client::{Browse, Client, Page};
pub use loggia_protocol_endermux::ColorLevel;
pub use set_up::{Needs, Offer, SetUp};
pub use terminal::{Key, Look, Terminal, Width};
