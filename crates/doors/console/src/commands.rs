//! Doing what a command says.
//!
//! One function for each command. What takes long goes on behind its command, so that the terminal's next one is heard.

mod daemon;
mod dialogs;
mod extensions;
mod help;
mod index;
mod messages;
mod plugins;
mod questions;
mod search;
mod sessions;
mod tasks;
mod turns;

use std::sync::Arc;

use loggia_domain::{Role, StoreError};
use loggia_engine::{EngineError, IntentError};

use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::Painted;
use crate::read::Given;
use crate::table::Verb;
use crate::voice::{Refused, Status, Voice};

pub(crate) use sessions::usual;

/// What a command says at its end.
type Answer = Result<Painted, Refused>;

/// Does what a command says.
pub(crate) async fn run(door: &Arc<Inner>, guest: &Arc<Guest>, given: &Given, voice: Voice) {
    if guest.client.role < given.command.scope {
        return voice.end(Err(forbidden(given.command.scope))).await;
    }
    let answer = match given.command.verb {
        // These go on behind their command.
        Verb::Ask => return turns::ask(door, guest, given.value("TEXT").unwrap_or_default(), voice).await,
        Verb::Continue => return turns::go_on(door, guest, voice).await,
        Verb::Models => return daemon::models(door, guest, voice),
        Verb::Task(verb) => return tasks::act(door, guest, verb, given, voice).await,
        Verb::Plugin(verb) => {
            let name = given.value("PLUGIN").unwrap_or_default();
            return plugins::act(door, guest, verb, name, voice).await;
        }
        Verb::Extension(verb) => {
            let (name, command) = (given.value("EXT").unwrap_or_default(), given.value("COMMAND"));
            return extensions::act(door, guest, verb, name, command, voice).await;
        }
        Verb::Index(verb) => return index::act(door, guest, verb, voice).await,
        Verb::Search => {
            return search::search(door, guest, given.value("WORDS").unwrap_or_default(), voice).await;
        }
        Verb::Help => help::help(given.value("COMMAND")),
        Verb::Sessions => sessions::list(door, guest).await,
        Verb::Use => sessions::take(door, guest, given.value("SESSION").unwrap_or_default()).await,
        Verb::New => sessions::new(door, guest, given.value("DIR")).await,
        Verb::Show => match given.value("QUESTION") {
            Some(typed) => questions::show(door, typed).await,
            None => sessions::show(door, guest).await,
        },
        Verb::Questions => questions::list(door),
        Verb::Approve => {
            let typed = given.value("QUESTION").unwrap_or_default();
            questions::approve(door, guest, typed, &given.numbers("--hunk")).await
        }
        Verb::Reject => {
            let typed = given.value("QUESTION").unwrap_or_default();
            questions::reject(door, guest, typed, given.value("REASON")).await
        }
        Verb::Cancel => turns::cancel(door, guest).await,
        Verb::Undo => turns::undo(door, guest, steps(given)).await,
        Verb::Redo => turns::redo(door, guest, steps(given)).await,
        Verb::Model => sessions::set_model(door, guest, given.value("MODEL").unwrap_or_default()).await,
        Verb::Policy => daemon::policy(door, guest).await,
        Verb::Plugins => plugins::plugins(door, guest, given.value("PLUGIN")).await,
        Verb::Extensions => extensions::extensions(door, guest, given.value("EXT")).await,
        Verb::Message(verb) => messages::act(door, guest, verb, given).await,
        Verb::Dialogs => dialogs::list(door),
        Verb::Answer => {
            let typed = given.value("DIALOG").unwrap_or_default();
            dialogs::answer(door, guest, typed, given.value("ANSWER")).await
        }
        Verb::CloseWindow => dialogs::close(door, guest, given.value("WINDOW").unwrap_or_default()),
        Verb::Tasks => tasks::list(door, guest).await,
        Verb::Workspaces => daemon::workspaces(door).await,
        Verb::Clients => daemon::clients(door, guest).await,
        Verb::LogLevel => daemon::log_level(door, given.value("LEVEL")),
        Verb::Version => Ok(Painted::new().plain(format!("loggia {}", door.parts.version)).line()),
        Verb::Stop => return daemon::stop(door, guest, voice).await,
    };
    voice.end(answer).await;
}

fn steps(given: &Given) -> usize {
    given.numbers("N").first().copied().unwrap_or(1)
}

fn forbidden(needs: Role) -> Refused {
    Refused::new(Status::Refused, format!("this needs the role `{needs:?}`"))
}

impl From<EngineError> for Refused {
    fn from(error: EngineError) -> Self {
        let status = match &error {
            EngineError::Store(StoreError::NoSuchSession(_) | StoreError::NoSuchWorkspace(_))
            | EngineError::Root(_)
            | EngineError::OwnDirectory(_)
            | EngineError::Stopping => Status::Unavailable,
            _ => Status::Failed,
        };
        Self::new(status, error)
    }
}

impl From<IntentError> for Refused {
    fn from(error: IntentError) -> Self {
        let what = error.to_string();
        let refused = |status| Self::new(status, what);
        match &error {
            IntentError::Forbidden { .. } => refused(Status::Refused),
            IntentError::Busy => {
                refused(Status::Unavailable).hint("wait for its end, or end it with `cancel`")
            }
            IntentError::AlreadyDecided { held, .. } => {
                let (answer, by) = &**held;
                let (_, decided) = crate::question::decided(answer, by);
                refused(Status::Unavailable).hint(format!("it was {decided}"))
            }
            IntentError::Gone | IntentError::Closed => {
                refused(Status::Unavailable).hint("`sessions` lists those there are")
            }
            IntentError::Overloaded | IntentError::NothingRuns => refused(Status::Unavailable),
            IntentError::UnknownApproval(_) => {
                refused(Status::Unavailable).hint("`questions` lists what waits")
            }
            IntentError::Agent(_) => {
                refused(Status::Unavailable).hint("`models` lists those there are in the session's workspace")
            }
            IntentError::BadAnswer(_) | IntentError::TooLong { .. } => refused(Status::Usage),
            _ => refused(Status::Failed),
        }
    }
}
