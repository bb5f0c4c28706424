//! The commands about the open message of the workspace of the session in use.

use std::sync::Arc;

use loggia_domain::{
    MessageDesk, MessageError, MessageFormat, MessageKind, MessagePatch, OpenMessage, Opening, Unsaved,
    WorkspaceId,
};
use loggia_engine::MessageAccess;

use super::{Answer, sessions};
use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::{Painted, Style, brief};
use crate::read::Given;
use crate::table::MessageVerb;
use crate::voice::{Refused, Status};

/// How much of a text is shown in a line.
const BRIEF: usize = 400;

/// How much of a message is shown, in bytes: what a terminal scrolls through.
const SHOWN: usize = 64 << 10;

/// Does what a command says about the message.
pub(super) async fn act(door: &Inner, guest: &Guest, verb: MessageVerb, given: &Given) -> Answer {
    let workspace = sessions::usual(door, guest).await?;
    let Some(desk) = door.parts.engine.message_desk(workspace).await? else {
        return Err(Refused::new(Status::Unavailable, "no messages can be opened in this workspace"));
    };
    let text = |name: &str| given.value(name).unwrap_or_default().to_owned();
    match verb {
        MessageVerb::Open => {
            let file = text("FILE");
            check(door, workspace, MessageAccess::Reads, &file).await?;
            Ok(told(&desk.open(Opening::File(file)).await?))
        }
        MessageVerb::Show => show(&desk, given.value("FORMAT")).await,
        MessageVerb::Get => {
            let path = text("PATH");
            match desk.get(path.clone()).await? {
                Some(value) => Ok(Painted::new().plain(lines(&value)).line()),
                None => Err(Refused::new(
                    Status::Failed,
                    format!("there is nothing at `{}`", brief(&path, BRIEF)),
                )),
            }
        }
        MessageVerb::Set => {
            let value = given.value("VALUE").map(str::to_owned);
            let patch = MessagePatch { path: text("PATH"), value, remove: false, create: false };
            let done = desk.patch(vec![patch]).await?;
            match done.refused.first() {
                Some(refused) => Err(Refused::new(Status::Failed, &refused.why)),
                None => Ok(told(&done.message)),
            }
        }
        MessageVerb::Undo => Ok(told(&desk.undo().await?)),
        MessageVerb::Redo => Ok(told(&desk.redo().await?)),
        MessageVerb::Save => save(door, workspace, &desk, given.value("FILE")).await,
        MessageVerb::Validate => validate(&desk).await,
        MessageVerb::Close => {
            desk.close(Unsaved::Keep).await?;
            Ok(Painted::new().plain("closed").line())
        }
    }
}

async fn show(desk: &Arc<dyn MessageDesk>, format: Option<&str>) -> Answer {
    let Some(message) = desk.current().await else { return Err(MessageError::NoneOpen.into()) };
    let format = match format {
        None => match message.kind {
            MessageKind::Hl7 => MessageFormat::Hl7,
            MessageKind::Json => MessageFormat::Json,
            MessageKind::Yaml => MessageFormat::Yaml,
            MessageKind::Toml => MessageFormat::Toml,
        },
        Some("hl7") => MessageFormat::Hl7,
        Some("json") => MessageFormat::Json,
        Some("yaml") => MessageFormat::Yaml,
        Some("toml") => MessageFormat::Toml,
        Some(other) => {
            let what = format!("`{}` is none of hl7, json, yaml and toml", brief(other, BRIEF));
            return Err(Refused::new(Status::Usage, what));
        }
    };
    let read = desk.read(format).await?;
    let mut text = told(&read.message);
    let body = lines(&read.text);
    let body = body.trim_end_matches('\n');
    let end = body.floor_char_boundary(SHOWN);
    text.append(Painted::new().plain(&body[..end]).line());
    if end < body.len() {
        let more = format!("… {} bytes more", body.len() - end);
        text.append(Painted::of(Style::Aside, more).line());
    }
    Ok(text)
}

async fn save(
    door: &Inner,
    workspace: WorkspaceId,
    desk: &Arc<dyn MessageDesk>,
    file: Option<&str>,
) -> Answer {
    let own = desk.current().await.and_then(|message| message.path);
    if let Some(path) = file.or(own.as_deref()) {
        check(door, workspace, MessageAccess::Writes, path).await?;
    }
    Ok(told(&desk.save(file.map(str::to_owned)).await?))
}

async fn validate(desk: &Arc<dyn MessageDesk>) -> Answer {
    let findings = desk.validate().await?;
    let mut text = Painted::new();
    for finding in &findings {
        let (style, word) = if finding.wrong { (Style::Bad, "wrong") } else { (Style::Warning, "doubtful") };
        let line = Painted::of(style, word).plain(" ").with(Style::Name, brief(&finding.path, BRIEF));
        text.append(line.plain(format!("  {}", brief(&finding.what, BRIEF))).line());
    }
    if findings.is_empty() {
        text.append(Painted::of(Style::Good, "nothing is wrong").line());
    }
    Ok(text)
}

/// Whether everybody is kept from a file.
async fn check(
    door: &Inner,
    workspace: WorkspaceId,
    access: MessageAccess,
    path: &str,
) -> Result<(), Refused> {
    let checked = door.parts.engine.check_message_file(workspace, access, path).await?;
    checked.map_err(|why| Refused::new(Status::Refused, why))
}

/// A message in a line.
fn told(message: &OpenMessage) -> Painted {
    let name = message.path.as_deref().unwrap_or("without a file");
    let saved = if message.unsaved { ", not saved" } else { "" };
    Painted::of(Style::Name, brief(name, BRIEF))
        .with(Style::Aside, format!("  revision {}{saved}", message.revision))
        .line()
}

/// HL7 parts segments by carriage returns, which terminals do not show.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

impl From<MessageError> for Refused {
    fn from(error: MessageError) -> Self {
        let (status, hint) = match &error {
            MessageError::NoneOpen => (Status::Unavailable, "`message open FILE` opens one"),
            MessageError::Empty => (Status::Usage, "`message open FILE` opens one that has a text"),
            MessageError::NoFile => (Status::Usage, "`message save FILE` says where"),
            MessageError::BadPath(_) => (Status::Usage, ""),
            MessageError::Conflict(_) => (Status::Refused, ""),
            MessageError::BadText(_)
            | MessageError::BadFormat(_)
            | MessageError::BadFile(_)
            | MessageError::NoStep(_) => (Status::Failed, ""),
        };
        Self::new(status, error).hint(hint)
    }
}
