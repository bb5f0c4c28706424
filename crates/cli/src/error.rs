//! What can go wrong, each with what to do about it.
//!
//! What always holds: what a server refuses is told in the words of the command line. Which they are follows from the kind
//! of the problem and from the field it is about, never from its text.

use std::io;
use std::path::PathBuf;

use loggia_client::{NotSent, Refusal, StreamError};
use loggia_protocol_agent_server::{ErrorCode, Problem, ProblemType};

use crate::attach::ConsoleError;
use crate::commands::SearchWay;

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// The server understood and said no.
    #[error("{}", words(&.0.problem))]
    Refused(Box<Refusal>),
    /// The server cannot be reached, or its answer cannot be used.
    #[error(transparent)]
    Server(loggia_client::Error),
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
    /// No session has this id, or one that begins so.
    #[error("there is no session `{0}`")]
    NoSuchSession(String),
    /// Too little of an id to look for.
    #[error("`{given}` is too short for the beginning of a session's id")]
    ShortId {
        /// What was given.
        given: String,
        /// How many characters are needed.
        least: usize,
    },
    /// Several sessions have an id that begins so.
    #[error("{count} sessions have an id that begins with `{given}`: {}{}", candidates.join(", "), if candidates.len() < *count { ", …" } else { "" })]
    SeveralSessions {
        /// What was given.
        given: String,
        /// How many there are.
        count: usize,
        /// The newest of them, with their titles.
        candidates: Vec<String>,
    },
    /// There is no session to go on with.
    #[error("there is no session here to go on with")]
    NoSession,
    /// No task of the workspace is under way.
    #[error("no task of this workspace is under way")]
    NoTask,
    /// No message is open in the workspace.
    #[error("no message is open in this workspace")]
    NoMessage,
    /// The code index could not be built.
    #[error("the code index was not built: {reason}")]
    NotBuilt {
        /// Why, in the server's words.
        reason: String,
    },
    /// The server understood a search and did not do it.
    #[error("{}", words(&refusal.problem))]
    NotSearched {
        /// What it said.
        refusal: Box<Refusal>,
        /// How it was to be searched.
        way: SearchWay,
        /// Whether only some files were to be searched.
        has_paths: bool,
    },
    /// Several are, and none was named.
    #[error("{count} tasks of this workspace are under way: {}{}", candidates.join(", "), if candidates.len() < *count { ", …" } else { "" })]
    SeveralTasks {
        /// How many.
        count: usize,
        /// The newest of them, with their titles.
        candidates: Vec<String>,
    },
    /// A session that is there already cannot be changed so.
    #[error("the {what} of a session is chosen when it begins")]
    SessionHasBegun {
        /// What was asked for.
        what: &'static str,
    },
    /// A turn is under way in the session, and nobody is there who could answer what it asks.
    #[error(
        "a turn of this session is under way, and there is no terminal to follow it in; the prompt was not sent"
    )]
    UnderWay,
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
    /// There is no console, or it does not do what was asked.
    #[error(transparent)]
    Console(ConsoleError),
}

impl CliError {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Refused(refusal) => refusal_hint(refusal),
            Self::Server(error) => server_hint(error),
            Self::Stream(StreamError::Refused(loggia_client::Error::Refused(refusal))) => {
                refusal_hint(refusal)
            }
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
            Self::NoSuchSession(_) => {
                "`loggia sessions list --all` tells which there are; the beginning of an id is enough"
            }
            Self::ShortId { .. } => {
                "give at least four characters, after `ses_`; `loggia sessions list --all` tells the ids"
            }
            Self::SeveralSessions { .. } => "give more of the id, so that only one session is meant",
            Self::NoSession => "ask without going on with a session; that begins one",
            Self::NoTask => {
                "`loggia task start REFERENCE` begins one; `--task ID` names one that is over or elsewhere"
            }
            Self::NoMessage => "`loggia message open FILE` opens one",
            Self::NotBuilt { .. } => {
                "see that the directory can be read and that there is room on the disk; `loggia index build --rebuild` begins from nothing"
            }
            Self::NotSearched { refusal, way, has_paths } => search_hint(refusal, *way, *has_paths),
            Self::SeveralTasks { .. } => "name one with `--task ID`",
            Self::SessionHasBegun { .. } => "begin a new session, or leave this out",
            Self::UnderWay => {
                "wait for its end, or run `loggia ask --continue` in a terminal, which asks you what is open; without `--continue` \
                 and `--session` a new session begins"
            }
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
            Self::Console(error) => error.hint(),
        }
    }

    /// Whether the server does not have the model that was named.
    pub fn is_about_model(&self) -> bool {
        matches!(self, Self::Refused(refusal) if is_about_model(&refusal.problem))
    }

    /// Whether whoever read our output went away, as `head -1` does.
    pub fn reader_went_away(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<loggia_client::Error> for CliError {
    fn from(error: loggia_client::Error) -> Self {
        match error {
            loggia_client::Error::Refused(refusal) => Self::Refused(refusal),
            error => Self::Server(error),
        }
    }
}

fn is_about_model(problem: &Problem) -> bool {
    problem.errors.iter().any(|field| last(&field.pointer) == "model_name")
}

/// The last part of a JSON pointer: the field's own name.
fn last(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

/// What a field is called where people type. What is said about the others needs no name before it.
fn name_of(pointer: &str) -> Option<&'static str> {
    Some(match last(pointer) {
        "title" => "the title",
        "root_path" => "the directory",
        "steps" => "the number after `--steps`",
        "max_tokens" | "max_cost_usd" => "the limit after `--budget`",
        _ => return None,
    })
}

/// What is wrong, without the words of the protocol around it.
fn words(problem: &Problem) -> String {
    if problem.errors.is_empty() {
        return problem.detail.clone().unwrap_or_else(|| problem.title.clone());
    }
    let fields = problem.errors.iter().map(|field| match name_of(&field.pointer) {
        Some(name) => format!("{name} {}", field.message),
        None => field.message.clone(),
    });
    fields.collect::<Vec<_>>().join("; ")
}

fn refusal_hint(refusal: &Refusal) -> &str {
    let problem = &refusal.problem;
    if let Some(hint) = message_hint(problem) {
        return hint;
    }
    if let Some(hint) = &problem.hint {
        return hint;
    }
    if let Some(field) = problem.errors.first() {
        return match last(&field.pointer) {
            "model_name" | "provider" => {
                "`loggia model list` tells which models there are; `loggia init` sets one up, with its key"
            }
            "title" => "give it a name of one line",
            "root_path" => "name a project's directory with `-w DIR`",
            "seq" => "`loggia sessions show ID --json` tells the numbers of the events, as `seq`",
            "max_tokens" | "max_cost_usd" => "write it as `--budget tokens=50000,usd=0.5`",
            "tool" => "name one of the agent's tools, or leave `--tool` out",
            "reference" => {
                "write it as `SCHEME:REST`, as in `file:tasks/login.md`; `loggia plugin list` tells which plugins bring tasks"
            }
            "path" => "name a file with `--path PATH`",
            "command" => "name a command line, as in `loggia policy check \"npm test\"`",
            _ => "correct what the message names",
        };
    }
    let is_about_workspace =
        problem.instance.as_deref().is_some_and(|path| path.starts_with("/v1/workspaces"));
    let is_about_steps =
        problem.instance.as_deref().is_some_and(|path| path.ends_with("/undo") || path.ends_with("/redo"));
    let is_about_tasks = problem.instance.as_deref().is_some_and(|path| path.starts_with("/v1/tasks"));
    let is_about_plugins = problem.instance.as_deref().is_some_and(|path| path.starts_with("/v1/plugins"));
    let is_about_models = problem.instance.as_deref().is_some_and(|path| path.starts_with("/v1/models"));
    match problem.kind {
        ProblemType::Conflict if is_about_tasks => {
            "`loggia task status` tells how the task stands, and what comes next"
        }
        ProblemType::NotFound if is_about_tasks => "`loggia task list --all` tells which tasks there are",
        ProblemType::Conflict if is_about_plugins => "`loggia plugin info NAME` tells how a plugin is",
        ProblemType::NotFound if is_about_plugins => "`loggia plugin list` tells which plugins there are",
        ProblemType::Conflict if is_about_workspace => {
            "see that the directory is there and that you may read it; `loggia doctor` tells more"
        }
        ProblemType::Conflict if is_about_models => {
            "start the server without `--model` and `LOGGIA_MODEL` to choose one"
        }
        ProblemType::Conflict if is_about_steps => {
            "what was changed after the session did is left alone: take that change back, or name another session with \
             `--session ID`; a turn that runs has to end first"
        }
        ProblemType::NotFound if is_about_workspace => "name a project's directory with `-w DIR`",
        ProblemType::NotFound => "`loggia sessions list --all` tells which sessions there are",
        ProblemType::InvalidBody | ProblemType::BadRequest => "correct what the message names",
        _ => refusal.hint().unwrap_or("see the server's log"),
    }
}

/// What to do about a search that was not done.
fn search_hint(refusal: &Refusal, way: SearchWay, has_paths: bool) -> &str {
    match (&refusal.problem.kind, way) {
        (ProblemType::Conflict, SearchWay::Vectors) => {
            "leave out `--vector`: words and names are searched without"
        }
        (ProblemType::Conflict, _) => {
            "without a code index only `loggia search WORDS` works, which reads the files themselves"
        }
        (ProblemType::BadRequest, SearchWay::Regex) => {
            "it is written as for `grep -E` or the Rust crate `regex`, and matches within a line; `--phrase` looks for the \
             words as they stand"
        }
        (ProblemType::BadRequest, SearchWay::References) => "name one definition, without what is around it",
        (ProblemType::BadRequest, _) if has_paths => {
            "a path is written like `src/**/*.rs`; one that begins with `!` leaves files out"
        }
        _ => refusal_hint(refusal),
    }
}

/// What to do about a message that is in the way of another one, or of its own end.
const UNSAVED_HINT: &str =
    "save it with `loggia message save`, or give up what is not saved with `loggia message close --discard`";

/// What to do about trouble with a message or an extension, in words of the command line: the server's are for programs.
fn message_hint(problem: &Problem) -> Option<&'static str> {
    let path = problem.instance.as_deref()?;
    let is_missing = problem.kind == ProblemType::NotFound;
    if path.starts_with("/v1/extensions") {
        return Some(match problem.kind {
            ProblemType::NotFound => {
                "`loggia ext list` tells which extensions there are, `loggia ext info NAME` what one offers once it runs"
            }
            ProblemType::Forbidden => "`loggia trust` shows what would run, and lets it",
            ProblemType::Conflict => {
                "`loggia trust` shows what would run, and lets it; one that is off needs `enabled = true` in its table"
            }
            _ => {
                "`loggia ext logs NAME` tells what happened to it, `loggia ext restart NAME` starts it again"
            }
        });
    }
    let rest = path.strip_prefix("/v1/messages")?;
    Some(match rest.rsplit('/').next().unwrap_or_default() {
        _ if is_missing => "`loggia message` tells what is open",
        "" if problem.kind == ProblemType::Conflict => UNSAVED_HINT,
        "" | "save" if problem.kind == ProblemType::Forbidden => {
            "name another file; `loggia policy show` tells what the policy keeps from everybody"
        }
        "text" | "patch" if problem.kind == ProblemType::Conflict => {
            "`loggia message set FILE` gives it a text, `loggia message open FILE` opens one that has one"
        }
        "" => "name a file of the workspace; `--new` begins a message without one",
        "save" => "`loggia message save --as FILE` names a file, also another one than before",
        "undo" | "redo" => "`loggia message` tells how it stands",
        "text" => "`--format` says what the text is written in, or is to be: hl7, json, yaml or toml",
        "value" | "patch" => {
            "paths are written like `PID.5.1`, `OBX[2].5` or `PID.13[2]`; in trees like `a.b[0]`"
        }
        _ => UNSAVED_HINT,
    })
}

fn server_hint(error: &loggia_client::Error) -> &'static str {
    error.hint().unwrap_or("see that the address is a Loggia server's, then try again")
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::FieldProblem;

    use super::*;

    #[test]
    fn a_reader_that_went_away_is_told_from_a_full_disk() {
        assert!(CliError::Output(io::ErrorKind::BrokenPipe.into()).reader_went_away());
        assert!(!CliError::Output(io::ErrorKind::StorageFull.into()).reader_went_away());
    }

    #[test]
    fn what_a_server_refuses_is_told_in_the_words_of_the_command_line() {
        let told = |kind, fields: &[(&str, &str)], detail: &str| {
            let mut problem = Problem::new(kind, detail);
            problem.errors = fields
                .iter()
                .map(|(pointer, message)| FieldProblem {
                    pointer: (*pointer).to_owned(),
                    message: (*message).to_owned(),
                })
                .collect();
            let refusal = Refusal { problem, retry_after: None };
            let error = CliError::from(loggia_client::Error::from(Box::new(refusal)));
            format!("{error} | {}", error.hint())
        };
        let model = [("/model/model_name", "there is no provider `nope`")];
        assert_eq!(
            told(ProblemType::InvalidBody, &model, "/model/model_name: there is no provider `nope`"),
            "there is no provider `nope` | `loggia model list` tells which models there are; `loggia init` sets one \
             up, with its key"
        );
        assert_eq!(
            told(ProblemType::InvalidBody, &[("/title", "must not be empty")], "/title: must not be empty"),
            "the title must not be empty | give it a name of one line"
        );
        assert_eq!(
            told(ProblemType::Conflict, &[], "a turn is running"),
            "a turn is running | look at the session's status; what runs may have to end first"
        );
    }

    #[test]
    fn a_busy_session_is_told_what_to_do() {
        let error = CliError::NotTaken { code: ErrorCode::SessionBusy, message: "busy".to_owned() };
        assert!(error.hint().contains("new session"));
    }
}
