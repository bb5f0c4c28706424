//! Commands: the host tells an extension that one was triggered.

use loggia_jsonrpc::Notification;
use serde::{Deserialize, Serialize};

/// A command was triggered. Fire and forget: no answer and no time-out.
#[derive(Debug)]
pub struct CommandExecute;

impl Notification for CommandExecute {
    const NAME: &'static str = "command/execute";
    type Params = CommandExecuteParams;
}

/// A command's name, as its extension chose it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub String);

/// Which command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecuteParams {
    /// Its name.
    pub command: CommandId,
}
