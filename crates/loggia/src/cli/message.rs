//! The part of the form about the open message of a workspace.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loggia_protocol_agent_server::{MessageFormat, MessagePatch};

pub(super) const ABOUT: &str = "\
A workspace has at most one open message: an HL7 v2 message, or a document in JSON, YAML or TOML. People, extensions and the agent work on it together, by paths into it, with \
undo; no file is changed before it is saved. Without a command it is told what is open.";

const GET_ABOUT: &str = "\
Prints what stands at a path: in HL7 v2 `PID.5.1`, `OBX[2].5` or `PID.13[2].1`; in a tree `segments[1].name`. Exits with code 4 when the path leads nowhere.";

const PATCH_ABOUT: &str = "\
Changes single places of the open message, in order, each on the result of the one before. All that applied is one step for undo; what does not apply keeps nothing else out, and \
makes the exit code 4.

`PATH=`, with an empty VALUE, clears the place: in HL7 it is empty then; in a document a text, a list or a table becomes an empty one, and anything else null, which TOML does not have. In a document \
VALUE is text where a text stands, and else JSON if it is JSON: `'PATH=\"\"'` puts an empty text where none stands. In HL7 `\"\"` is a value of its own.

`--create PATH[=VALUE]` makes a segment, or a place that is not there yet; `--remove PATH` takes one away. These come after the others, first what is removed.";

/// Work on the open message of a workspace.
#[derive(Debug, Subcommand)]
pub(crate) enum MessageCommand {
    /// Open a file, or begin a new message
    Open(MessageOpenArguments),
    /// Print the whole message
    #[command(
        long_about = "Prints the whole message, one segment a line. With `--format` it is written to a pipe or a file byte by byte as it is in that format, with carriage returns between the segments of HL7."
    )]
    Show(MessageShowArguments),
    /// Print what stands at a path
    #[command(long_about = GET_ABOUT)]
    Get(MessageGetArguments),
    /// Change single places
    #[command(long_about = PATCH_ABOUT)]
    Patch(MessagePatchArguments),
    /// Put another text in the message's place
    Set(MessageSetArguments),
    /// Write it to its file
    Save(MessageSaveArguments),
    /// Take the last step back
    Undo(MessageArguments),
    /// Make the step again that was taken back last
    Redo(MessageArguments),
    /// Close it
    Close(MessageCloseArguments),
    /// Tell what is doubtful about it under the schema that holds
    #[command(
        long_about = "Tells what is doubtful about the message under the schema that holds, with what extensions laid over it. It is never a reason not to change or save it. Exits with code 4 when something is."
    )]
    Validate(MessageArguments),
}

/// Where, and how it is told.
#[derive(Debug, Args, Default)]
pub(crate) struct MessageArguments {
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `message open`.
#[derive(Debug, Args)]
pub(crate) struct MessageOpenArguments {
    /// The file, in the workspace
    #[arg(value_name = "FILE", required_unless_present = "new", conflicts_with = "new")]
    pub(crate) file: Option<PathBuf>,
    /// A new message without a file, of what comes on stdin, or empty; a new document is an empty table
    #[arg(long)]
    pub(crate) new: bool,
    /// What a new message is written in
    #[arg(long, value_enum, value_name = "FORMAT", requires = "new", default_value_t = FormatName::Hl7)]
    pub(crate) format: FormatName,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// Arguments of `message show`.
#[derive(Debug, Args)]
pub(crate) struct MessageShowArguments {
    /// In this format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// Arguments of `message get`.
#[derive(Debug, Args)]
pub(crate) struct MessageGetArguments {
    /// Where in the message
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// Arguments of `message patch`.
#[derive(Debug, Args)]
pub(crate) struct MessagePatchArguments {
    /// What shall stand where
    #[arg(value_name = "PATH=VALUE", value_parser = parse_set, required_unless_present_any = ["remove", "create"])]
    pub(crate) changes: Vec<MessagePatch>,
    /// Take this place away; may be repeated
    #[arg(long, value_name = "PATH", value_parser = parse_remove)]
    pub(crate) remove: Vec<MessagePatch>,
    /// Make this place; may be repeated
    #[arg(long, value_name = "PATH[=VALUE]", value_parser = parse_create)]
    pub(crate) create: Vec<MessagePatch>,
    /// Save it afterwards, if all applied
    #[arg(short, long)]
    pub(crate) save: bool,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// Arguments of `message set`.
#[derive(Debug, Args)]
pub(crate) struct MessageSetArguments {
    /// The file that has the text; `-` reads stdin
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// What the text is written in [default: what the message is]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// Arguments of `message save`.
#[derive(Debug, Args)]
pub(crate) struct MessageSaveArguments {
    /// To this file in the workspace, which is its file from then on
    #[arg(long = "as", value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// Arguments of `message close`.
#[derive(Debug, Args)]
pub(crate) struct MessageCloseArguments {
    /// Even if something is not saved, which is lost then
    #[arg(long)]
    pub(crate) discard: bool,
    /// Where and how.
    #[command(flatten)]
    pub(crate) all: MessageArguments,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// HL7 version 2
    Hl7,
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// TOML
    Toml,
}

impl From<FormatName> for MessageFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Hl7 => Self::Hl7,
            FormatName::Json => Self::Json,
            FormatName::Yaml => Self::Yaml,
            FormatName::Toml => Self::Toml,
        }
    }
}

fn parse_set(text: &str) -> Result<MessagePatch, String> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok(MessagePatch { path: path.trim().to_owned(), value: given(value), ..MessagePatch::default() })
        }
        _ => Err("expected PATH=VALUE, as in `PID.5.1=ROE`".to_owned()),
    }
}

/// A value as it is sent: an empty one is none, which clears.
fn given(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn parse_remove(text: &str) -> Result<MessagePatch, String> {
    match text.trim() {
        "" => Err("expected a path, as in `NK1[2]`".to_owned()),
        path => Ok(MessagePatch { path: path.to_owned(), remove: true, ..MessagePatch::default() }),
    }
}

fn parse_create(text: &str) -> Result<MessagePatch, String> {
    let (path, value) = match text.split_once('=') {
        Some((path, value)) => (path.trim(), given(value)),
        None => (text.trim(), None),
    };
    match path {
        "" => Err("expected a path, as in `NK1` or `NK1.2=ROE`".to_owned()),
        path => Ok(MessagePatch { path: path.to_owned(), value, remove: false, create: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_read_as_they_are_typed() {
        let told = |patch: Result<MessagePatch, String>| {
            patch
                .map(|patch| format!("{} {:?} {} {}", patch.path, patch.value, patch.remove, patch.create))
                .ok()
        };
        assert_eq!(told(parse_set("PID.5.1=A=B")).as_deref(), Some("PID.5.1 Some(\"A=B\") false false"));
        assert_eq!(told(parse_set("PID.5=")).as_deref(), Some("PID.5 None false false"));
        assert_eq!(told(parse_set("n=\"\"")).as_deref(), Some(r#"n Some("\"\"") false false"#));
        assert_eq!(told(parse_remove("NK1[2]")).as_deref(), Some("NK1[2] None true false"));
        assert_eq!(told(parse_create("NK1")).as_deref(), Some("NK1 None false true"));
        assert_eq!(told(parse_create("NK1.2=X")).as_deref(), Some("NK1.2 Some(\"X\") false true"));
        for wrong in [parse_set("PID.5"), parse_set("=x"), parse_remove(" "), parse_create("=x")] {
            assert_eq!(told(wrong), None);
        }
    }
}
