//! What can go wrong, each with what to do about it.

use std::io;
use std::path::PathBuf;

use loggia_client::{NotSent, StreamError};
use loggia_protocol_agent_server::{ErrorCode, Problem, ProblemType};

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// The server did not do it, or cannot be reached.
    #[error(transparent)]
    Server(#[from] loggia_client::Error),
    /// The session's stream has ended for good.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The prompt or an answer was not sent, or perhaps not.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// The server did not take the prompt.
    #[error("{message}")]
    NotTaken {
        /// What kind of refusal.
        code: ErrorCode,
        /// In the server's words.
        message: String,
    },
    /// Our output cannot be written. A reader that went away is one of the reasons.
    #[error("the output cannot be written")]
    Output(#[source] io::Error),
    /// The keyboard cannot be read.
    #[error("the keyboard cannot be read")]
    Keyboard(#[source] io::Error),
    /// The workspace's path cannot be told to the server.
    #[error("`{}` cannot be named to the server", .0.display())]
    Workspace(PathBuf),
    /// A model's name is not one.
    #[error("`{0}` is no name of a model")]
    Model(String),
    /// There is nothing to ask.
    #[error("there is nothing to ask")]
    NothingAsked,
    /// What was piped in is too much.
    #[error("more than {limit} bytes of text came in by pipe, and no more than that can be told")]
    TooMuchInput {
        /// How much is taken.
        limit: usize,
    },
    /// There is no session to go on with.
    #[error("there is no session here to go on with")]
    NoSession,
    /// A session that is there already cannot be changed so.
    #[error("the {what} of a session is chosen when it begins")]
    SessionHasBegun {
        /// What was asked for.
        what: &'static str,
    },
    /// Something that cannot be taken back was not confirmed, and there is no keyboard.
    #[error("not done without a yes: {what}")]
    NotConfirmed {
        /// What was asked.
        what: String,
    },
    /// There is no terminal to type in.
    #[error("a conversation needs a terminal")]
    NoTerminal,
    /// A session has no change that could be taken back, or made again.
    #[error("there is nothing to {verb} in \"{title}\" ({session})")]
    NothingToStep {
        /// `undo` or `redo`.
        verb: &'static str,
        /// What the session is called.
        title: String,
        /// Its id.
        session: String,
    },
    /// No session of a workspace has a change that could be taken back, or made again.
    #[error("there is nothing to {verb} in the sessions of this workspace")]
    NothingToStepHere {
        /// `undo` or `redo`.
        verb: &'static str,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The session's stream ended although its turn had not.
    #[error("the session ended before its turn did")]
    Ended,
}

impl CliError {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Server(error) => server_hint(error),
            Self::Stream(StreamError::Refused(error)) => server_hint(error),
            Self::Stream(StreamError::SessionGone) => {
                "somebody deleted the session; ask again without naming it"
            }
            Self::Stream(StreamError::GaveUp { .. }) => {
                "start the server again; what was open is kept, and the session can be continued"
            }
            Self::Stream(_) => "update the older one of client and server, and try again",
            Self::NotSent(NotSent::MayHaveArrived) => {
                "look at the session before you ask again: it may be working on it"
            }
            Self::NotSent(NotSent::TooLarge) => "ask for less at once, or name files instead of pasting them",
            Self::NotSent(_) => "try again",
            Self::NotTaken { code: ErrorCode::SessionBusy, .. } => {
                "wait until the session's turn is done, answer what it asks, or begin a new session"
            }
            Self::NotTaken { code: ErrorCode::Forbidden, .. } => "a token with the scope `drive` is needed",
            Self::NotTaken { .. } => "look at the session, and try again",
            Self::Output(_) => {
                "see that what reads the output goes on reading, and that there is room on the disk"
            }
            Self::Keyboard(_) => "run it in a terminal, or say beforehand what may be done",
            Self::Workspace(_) => "name a directory whose path is text",
            Self::Model(_) => "write it as `PROVIDER:MODEL`, for example `ollama:qwen3-coder`",
            Self::NothingAsked => "write what you want to know or to have done",
            Self::TooMuchInput { .. } => "pipe in less, or save it in a file of the workspace and name that",
            Self::NoSession => "ask without going on with a session; that begins one",
            Self::SessionHasBegun { .. } => "begin a new session, or leave this out",
            Self::NotConfirmed { .. } => "say yes beforehand, with `--yes`, or run it in a terminal",
            Self::NoTerminal => "run it in a terminal; `loggia ask` needs none",
            Self::NothingToStep { verb: "redo", .. } => {
                "`loggia redo --session ID` looks at another session; `loggia sessions` lists them"
            }
            Self::NothingToStep { .. } => {
                "`loggia undo --session ID` looks at another session; `loggia sessions` lists them"
            }
            Self::NothingToStepHere { .. } => {
                "`-w DIR` looks at another workspace; `loggia sessions` lists the sessions of this one"
            }
            Self::File { .. } => "name a new file in a directory that can be written",
            Self::Ended => "ask again in a new session",
        }
    }

    /// Whether the server does not have the model that was named.
    pub fn is_about_model(&self) -> bool {
        matches!(self, Self::Server(error) if error.problem().is_some_and(is_about_model))
    }

    /// Whether whoever read our output went away, as `head -1` does.
    pub fn reader_went_away(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

fn is_about_model(problem: &Problem) -> bool {
    problem.errors.iter().any(|field| field.pointer.ends_with("/model_name"))
}

fn server_hint(error: &loggia_client::Error) -> &'static str {
    if let Some(hint) = error.hint() {
        return hint;
    }
    if error.problem().is_some_and(is_about_model) {
        return "`loggia model list` tells which models there are; `loggia init` sets one up, with its key";
    }
    match error.problem().map(|problem| &problem.kind) {
        Some(ProblemType::NotFound) => "look at the listing for what there is",
        Some(ProblemType::InvalidBody | ProblemType::BadRequest) => "correct what the message names",
        Some(_) => "see the server's log",
        None => "see that the address is a Loggia server's, then try again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_away_is_told_from_a_full_disk() {
        assert!(CliError::Output(io::ErrorKind::BrokenPipe.into()).reader_went_away());
        assert!(!CliError::Output(io::ErrorKind::StorageFull.into()).reader_went_away());
    }

    #[test]
    fn a_busy_session_is_told_what_to_do() {
        let error = CliError::NotTaken { code: ErrorCode::SessionBusy, message: "busy".to_owned() };
        assert!(error.hint().contains("new session"));
    }
}
