//! `message_get`: the open message, or what stands at one place in it.

use std::sync::Arc;

use loggia_domain::{
    ArgumentError, Demand, MessageDesk, MessageFormat, MessageKind, OpenMessage, ToolContext, ToolEffect,
    ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{DeskArguments, DeskCall, failed, readable};

/// How much of a message is shown at once, in bytes: as much as of a file.
const MAX_SHOWN: usize = 256 * 1024;

/// How long a path may be, in bytes: longer than any that leads somewhere.
pub(super) const MAX_PATH: usize = 4096;

/// Reads the message that is open on the workspace's desk, with changes that are not saved yet: all of it, or what
/// stands at one place. In HL7 a place is a path like PID.5.1, OBX[2].5 or PID.13[2].1; in JSON, YAML and TOML it is
/// the names on the way, with dots between.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageGet {
    /// The place; the whole message if left out.
    path: Option<String>,
    /// How to write the whole message: hl7, json, yaml or toml. As it is written if left out.
    format: Option<String>,
}

/// A checked call.
pub(super) struct Get {
    path: Option<String>,
    format: Option<MessageFormat>,
}

impl DeskArguments for MessageGet {
    const NAME: &'static str = "message_get";
    type Desk = dyn MessageDesk;
    type Call = Get;

    fn check(self) -> Result<Get, ArgumentError> {
        if self.path.is_some() && self.format.is_some() {
            return Err(ArgumentError(
                "`format` is for the whole message: leave it out with `path`".to_owned(),
            ));
        }
        if self.path.as_ref().is_some_and(|path| path.len() > MAX_PATH) {
            return Err(ArgumentError(format!("`path` is over {MAX_PATH} bytes long")));
        }
        let format = match self.format.as_deref() {
            None => None,
            Some("hl7") => Some(MessageFormat::Hl7),
            Some("json") => Some(MessageFormat::Json),
            Some("yaml") => Some(MessageFormat::Yaml),
            Some("toml") => Some(MessageFormat::Toml),
            Some(_) => return Err(ArgumentError("`format` must be hl7, json, yaml or toml".to_owned())),
        };
        Ok(Get { path: self.path, format })
    }
}

impl DeskCall<dyn MessageDesk> for Get {
    fn demand(&self) -> Demand {
        // Which file it is only the desk knows; it is looked at before anything is told.
        Demand::default()
    }

    async fn run(self, desk: Arc<dyn MessageDesk>, context: ToolContext) -> Result<ToolEffect, ToolError> {
        let message = readable(&desk, &context).await?;
        let Some(path) = self.path else {
            let format = self.format.unwrap_or(native(message.kind));
            let read = desk.read(format).await.map_err(failed)?;
            return Ok(ToolEffect::Output(shown(&read.message, format, &read.text)));
        };
        let found = desk.get(path.clone()).await.map_err(failed)?;
        Ok(ToolEffect::Output(match found {
            Some(value) if value.is_empty() => format!("`{path}` is empty"),
            Some(value) => bounded(&lines(message.kind, &value)),
            None => format!("there is nothing at `{path}`"),
        }))
    }
}

/// What a message is written in.
fn native(kind: MessageKind) -> MessageFormat {
    match kind {
        MessageKind::Hl7 => MessageFormat::Hl7,
        MessageKind::Json => MessageFormat::Json,
        MessageKind::Yaml => MessageFormat::Yaml,
        MessageKind::Toml => MessageFormat::Toml,
    }
}

/// A whole message, with what its text does not say.
fn shown(message: &OpenMessage, format: MessageFormat, text: &str) -> String {
    let file = message.path.as_deref().unwrap_or("without a file");
    let saved = if message.unsaved { ", not saved" } else { "" };
    let text = match format {
        MessageFormat::Hl7 => lines(MessageKind::Hl7, text),
        MessageFormat::Json | MessageFormat::Yaml | MessageFormat::Toml => text.to_owned(),
    };
    format!("[{file}, revision {}{saved}]\n{}", message.revision, bounded(&text))
}

/// HL7 parts segments by carriage returns, which models do not see.
fn lines(kind: MessageKind, text: &str) -> String {
    match kind {
        MessageKind::Hl7 => text.replace("\r\n", "\n").replace('\r', "\n"),
        MessageKind::Json | MessageKind::Yaml | MessageKind::Toml => text.to_owned(),
    }
}

fn bounded(text: &str) -> String {
    if text.len() <= MAX_SHOWN {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_SHOWN);
    let left = text.len() - end;
    format!("{}\n[{left} bytes more; read single places with `path`]", &text[..end])
}
