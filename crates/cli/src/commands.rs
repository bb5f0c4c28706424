//! Everything that is no conversation: listings, and single things done to sessions, models and policies.
//!
//! Each takes its options, does one thing and tells it in a line or a table; with `json`, in one line of JSON as the server
//! said it. What cannot be taken back is asked about first.

mod extensions;
mod index;
mod messages;
mod models;
mod plugins;
mod policies;
mod search;
mod sessions;
mod table;
mod tasks;
mod transfer;
mod trust;
mod undo;

use std::path::Path;

use loggia_client::Client;
use loggia_protocol_agent_server::Session;
use serde::Serialize;

pub use extensions::{
    ExtensionChange, ExtensionRun, ExtensionsOf, Prepared, extension_change, extension_info, extension_list,
    extension_logs, extension_run, extension_start,
};
pub use index::{
    IndexBuilding, IndexDrop, IndexOf, IndexShow, IndexSteer, index_build, index_drop, index_status,
    index_steer, index_watch,
};
pub use messages::{
    MessageAt, MessageOpening, MessagePatches, MessageStep, message_close, message_get, message_open,
    message_patch, message_save, message_set, message_show, message_status, message_step, message_validate,
};
pub use models::{ConfiguredModel, ModelList, ModelTest, ModelUse, model_list, model_test, model_use};
pub use plugins::{
    PluginInstall, PluginList, PluginNamed, PluginRemove, PluginValidate, plugin_disable, plugin_enable,
    plugin_info, plugin_install, plugin_list, plugin_remove, plugin_validate,
};
pub use policies::{PolicyCheck, PolicyShow, policy_check, policy_show};
pub use search::{Search, SearchWay, search};
pub use sessions::{
    SessionDelete, SessionFork, SessionRename, SessionShow, SessionsList, sessions_delete, sessions_fork,
    sessions_list, sessions_rename, sessions_show,
};
pub use tasks::{
    TaskAct, TaskAuto, TaskBrowse, TaskList, TaskNamed, TaskStart, TaskStep, TaskSteps, task_act, task_auto,
    task_browse, task_list, task_start, task_status, task_step,
};
pub use transfer::{SessionExport, SessionImport, sessions_export, sessions_import};
pub use trust::{Trust, distrust, trust};
pub use undo::{Undo, redo, undo};

use crate::ask::{SessionChoice, latest};
use crate::interrupts::Interrupt;
use crate::paint::{CODE, QUESTION, printable};
use crate::{CliError, Interrupts, Key, Terminal, session_id, terminal};

/// The session that is meant.
async fn choose(client: &Client, choice: &SessionChoice, workspace: &Path) -> Result<Session, CliError> {
    match choice {
        SessionChoice::Id(id) => session_id::find(client, id).await,
        SessionChoice::Latest => latest(client, workspace).await,
        SessionChoice::New => Err(CliError::NoSession),
    }
}

/// Writes a line.
fn say(terminal: &mut Terminal, text: &str) -> Result<(), CliError> {
    terminal.out(&format!("{text}\n")).map_err(CliError::Output)
}

/// Writes a body as one line of JSON.
fn say_json(terminal: &mut Terminal, body: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(body).map_err(|error| CliError::Output(error.into()))?;
    say(terminal, &text)
}

/// Asks before something that cannot be taken back. An interrupt is a no.
pub(crate) async fn confirm(
    terminal: &mut Terminal,
    what: &str,
    interrupts: &mut Interrupts,
) -> Result<bool, CliError> {
    let paint = terminal.paint_err();
    let keys = format!("{} yes  {} no", paint.text(CODE, "y"), paint.text(CODE, "n"));
    let question = format!("{} {}  {keys} ", paint.text(QUESTION, "?"), printable(what));
    loop {
        if !terminal.keys.listen().map_err(CliError::Keyboard)? {
            return Err(CliError::NotConfirmed { what: what.to_owned() });
        }
        let asked = terminal.err(&question);
        let answer = answered(terminal, interrupts).await;
        terminal.keys.rest();
        asked.and_then(|()| terminal.err("\n")).map_err(CliError::Output)?;
        match answer {
            Some(answer) => return Ok(answer),
            None => terminal::stop(),
        }
    }
}

/// Yes or no; nothing if the process is to be stopped first.
async fn answered(terminal: &mut Terminal, interrupts: &mut Interrupts) -> Option<bool> {
    loop {
        let key = tokio::select! {
            key = terminal.keys.next() => key,
            interrupt = interrupts.any() => match interrupt {
                Interrupt::Cancel | Interrupt::End => Key::Escape,
                Interrupt::Suspend => return None,
            },
        };
        match key {
            Key::Char('y' | 'Y') => return Some(true),
            Key::Char('n' | 'N') | Key::Escape => return Some(false),
            _ => {}
        }
    }
}
