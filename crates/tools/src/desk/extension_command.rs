//! `extension_command`: asking for a command of an extension.
//!
//! Lists the commands there are; runs none. Whether one may run is decided elsewhere, and it is run there.

use std::fmt::Write as _;
use std::sync::Arc;

use loggia_domain::{
    ArgumentError, Demand, GuestCommandRequest, GuestCommands, ToolContext, ToolEffect, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{DeskArguments, DeskCall};

/// How long a name may be, in bytes: longer than anybody calls anything.
const MAX_NAME: usize = 1024;

/// How many commands are listed: more than extensions offer.
const MAX_LISTED: usize = 500;

/// Runs a command of an extension: a program that people added to this workspace to work on its open message. Without
/// `command` it lists the commands there are, and runs none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExtensionCommand {
    /// The command's id; leave it out to see which there are.
    command: Option<String>,
    /// The extension, if several have a command of that id.
    extension: Option<String>,
    /// After how many seconds not to wait for it any longer.
    #[schemars(range(min = 1))]
    timeout_s: Option<u64>,
}

/// A checked call.
pub(super) enum Wanted {
    Listing,
    Run(GuestCommandRequest),
}

impl DeskArguments for ExtensionCommand {
    const NAME: &'static str = "extension_command";
    type Desk = dyn GuestCommands;
    type Call = Wanted;

    fn check(self) -> Result<Wanted, ArgumentError> {
        let Self { command, extension, timeout_s } = self;
        for (field, text) in [("command", &command), ("extension", &extension)] {
            let is_name = |text: &String| !text.trim().is_empty() && text.len() <= MAX_NAME;
            if text.as_ref().is_some_and(|text| !is_name(text)) {
                return Err(ArgumentError(format!("`{field}` is empty or over {MAX_NAME} bytes long")));
            }
        }
        match command {
            Some(command) => Ok(Wanted::Run(GuestCommandRequest { command, extension, timeout_s })),
            None if extension.is_none() && timeout_s.is_none() => Ok(Wanted::Listing),
            None => {
                Err(ArgumentError("`command` is missing; leave out all to see which there are".to_owned()))
            }
        }
    }
}

impl DeskCall<dyn GuestCommands> for Wanted {
    fn demand(&self) -> Demand {
        match self {
            Self::Listing => Demand::default(),
            Self::Run(request) => Demand { guest_command: Some(request.clone()), ..Demand::default() },
        }
    }

    async fn run(self, desk: Arc<dyn GuestCommands>, _context: ToolContext) -> Result<ToolEffect, ToolError> {
        if let Self::Run(request) = self {
            return Ok(ToolEffect::GuestCommand(request));
        }
        let commands = desk.commands().await.map_err(|error| ToolError::Failed(error.to_string()))?;
        if commands.is_empty() {
            return Ok(ToolEffect::Output("there are no commands".to_owned()));
        }
        let mut listed = String::new();
        for command in commands.iter().take(MAX_LISTED) {
            let _ = writeln!(listed, "{} ({}): {}", command.id, command.extension, command.title);
        }
        if commands.len() > MAX_LISTED {
            let _ = writeln!(listed, "[{} more]", commands.len() - MAX_LISTED);
        }
        Ok(ToolEffect::Output(listed))
    }
}
