//! The commands about extensions: which there are, how they are, and what they can do. None is started by looking.

use loggia_domain::{
    ExtensionDeskError, ExtensionListing, ExtensionLogEntry, ExtensionLogLevel, ExtensionState,
    ExtensionSummary, GuestError, Workspace,
};
use std::sync::Arc;

use super::{Answer, sessions};
use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::{Painted, Style, brief};
use crate::table::ExtensionVerb;
use crate::voice::{Refused, Status, Voice};

/// How much of a text is shown in a line.
const BRIEF: usize = 80;

/// How much of what an extension said is shown in a line.
const LINE: usize = 400;

/// Lists the extensions, or shows the one that is named.
pub(super) async fn extensions(door: &Inner, guest: &Guest, name: Option<&str>) -> Answer {
    let listing = door.parts.engine.extensions().list(place(door, guest).await?).await?;
    let Some(name) = name else { return Ok(listed(&listing)) };
    match listing.extensions.iter().find(|extension| extension.name == name) {
        Some(extension) => Ok(shown(extension)),
        None => {
            Err(Refused::new(Status::Unavailable, format!("there is no extension `{}`", brief(name, BRIEF)))
                .hint("`extensions` lists those there are"))
        }
    }
}

/// Does something about an extension in the workspace of the session in use, behind the command: it may take its time.
pub(super) async fn act(
    door: &Arc<Inner>,
    guest: &Guest,
    verb: ExtensionVerb,
    name: &str,
    command: Option<&str>,
    voice: Voice,
) {
    let workspace = match place(door, guest).await {
        Ok(workspace) => workspace,
        Err(refused) => return voice.end(Err(refused)).await,
    };
    let (desk, name) = (Arc::clone(door.parts.engine.extensions()), name.to_owned());
    let command = command.unwrap_or_default().to_owned();
    door.spawn(async move {
        let done = match verb {
            ExtensionVerb::Run => match desk.commands(workspace).await {
                Ok(commands) => match commands.execute(command, Some(name), None).await {
                    Ok(done) => Ok(ran(&done)),
                    Err(error) => Err(error.into()),
                },
                Err(error) => Err(error.into()),
            },
            ExtensionVerb::Restart => {
                desk.restart(workspace, name).await.map(|one| line(&one)).map_err(Refused::from)
            }
            ExtensionVerb::Stop => {
                desk.stop(workspace, name).await.map(|one| line(&one)).map_err(Refused::from)
            }
            ExtensionVerb::Logs => {
                desk.logs(workspace, name).await.map(|entries| said(&entries)).map_err(Refused::from)
            }
        };
        voice.end(done).await;
    });
}

async fn place(door: &Inner, guest: &Guest) -> Result<Workspace, Refused> {
    let workspace = sessions::usual(door, guest).await?;
    Ok(door.parts.engine.workspace(workspace).await?)
}

fn listed(listing: &ExtensionListing) -> Painted {
    let mut text = Painted::new();
    listing.extensions.iter().for_each(|extension| text.append(line(extension)));
    for problem in &listing.problems {
        text.append(Painted::of(Style::Warning, brief(problem, BRIEF * 2)).line());
    }
    if listing.extensions.is_empty() {
        text.append(Painted::of(Style::Aside, "no extensions").line());
    }
    text
}

fn line(extension: &ExtensionSummary) -> Painted {
    let (style, word) = state(&extension.state);
    let about = extension.about.as_ref().and_then(|about| about.description.clone()).unwrap_or_default();
    let scope = if extension.of_workspace { "project" } else { "global" };
    let mut line = Painted::of(Style::Name, brief(&extension.name, BRIEF))
        .with(Style::Aside, format!("  {scope}  "))
        .with(style, word);
    if !about.is_empty() {
        line = line.plain(format!("  {}", brief(&about, BRIEF)));
    }
    line.line()
}

fn shown(extension: &ExtensionSummary) -> Painted {
    let mut text = line(extension);
    let mut fact = |name: &str, value: &str| {
        let value = brief(value, BRIEF * 2);
        text.append(Painted::of(Style::Aside, format!("  {name:<10} ")).plain(value).line());
    };
    if let ExtensionState::Failed(problem) = &extension.state {
        fact("problem", problem);
    }
    if let Some(about) = &extension.about {
        fact("about", &format!("{} {}", about.name, about.version));
    }
    fact("program", &extension.command.join(" "));
    for command in &extension.commands {
        fact("command", &format!("{}  {}", command.id, command.title));
    }
    text
}

fn ran(done: &loggia_domain::CommandDone) -> Painted {
    let mut text = said(&done.said);
    if done.still_busy {
        text.append(
            Painted::of(Style::Warning, format!("`{}` is still busy", brief(&done.extension, BRIEF))).line(),
        );
    }
    text
}

fn said(entries: &[ExtensionLogEntry]) -> Painted {
    let mut text = Painted::new();
    for entry in entries {
        let style = match entry.level {
            ExtensionLogLevel::Info => Style::Plain,
            ExtensionLogLevel::Warning => Style::Warning,
            ExtensionLogLevel::Error => Style::Bad,
        };
        text.append(Painted::of(style, brief(&entry.text, LINE)).line());
    }
    text
}

fn state(state: &ExtensionState) -> (Style, &'static str) {
    match state {
        ExtensionState::Disabled => (Style::Aside, "off"),
        ExtensionState::Untrusted => (Style::Warning, "not trusted"),
        ExtensionState::Idle => (Style::Plain, "not started"),
        ExtensionState::Starting | ExtensionState::Initializing => (Style::Plain, "starting"),
        ExtensionState::Running => (Style::Good, "running"),
        ExtensionState::ShuttingDown => (Style::Plain, "leaving"),
        ExtensionState::Stopped => (Style::Aside, "stopped"),
        ExtensionState::Failed(_) => (Style::Bad, "failed"),
    }
}

impl From<ExtensionDeskError> for Refused {
    fn from(error: ExtensionDeskError) -> Self {
        let (status, hint) = match &error {
            ExtensionDeskError::NotFound(_) => (Status::Unavailable, "`extensions` lists those there are"),
            ExtensionDeskError::NotAllowed(_) => (Status::Refused, ""),
            ExtensionDeskError::Failed(_) => (Status::Failed, "`ext logs` may say why"),
        };
        Self::new(status, error).hint(hint)
    }
}

impl From<GuestError> for Refused {
    fn from(error: GuestError) -> Self {
        let status = match &error {
            GuestError::NotFound(_) | GuestError::Gone(_) => Status::Unavailable,
            GuestError::Refused(_) | GuestError::Untrusted(_) => Status::Refused,
            GuestError::Unsupported(_)
            | GuestError::NoAccess(_)
            | GuestError::TimedOut(_)
            | GuestError::Failed(_) => Status::Failed,
        };
        Self::new(status, error)
    }
}
