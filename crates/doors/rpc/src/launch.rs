//! How a client starts the agent: its command line, its environment and where it stands.
//!
//! Knows the flags that existing clients send. Refuses to know the engine: whether a directory can be a workspace is
//! found out when it is opened. Touches the file system only to resolve a relative path and to read what the model is to be told.
//!
//! What always holds: a flag that nobody knows, or that means nothing here, changes nothing and fails nothing.

mod arguments;
mod asking;
mod prompts;

use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::{OwnInstructions, Preset, SessionId};
use loggia_protocol_autohand::limits::{PERMISSION_ACKNOWLEDGE_LIMIT, PERMISSION_ANSWER_LIMIT};

use crate::approvals::{Approvals, YoloError};
use crate::thinking::Level;
use arguments::Arguments;

/// The longest name of a model or a client that is kept, with the session and in every log: no real one is longer.
pub(crate) const MAX_NAME_BYTES: usize = 200;

/// The longest time for which pieces of a reply are kept to be told together: who reads along waits no longer.
const MAX_MERGE: Duration = Duration::from_secs(5);

/// How a connection begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The directory to work in.
    pub workspace: PathBuf,
    /// The model, if not the default.
    pub model: Option<String>,
    /// How much the model is to think, if the client says.
    pub thinking: Option<Level>,
    /// How much the client wants to be asked.
    pub approvals: Approvals,
    /// What the model is told of the session's own; nothing leaves a session that goes on with what it has.
    pub instructions: OwnInstructions,
    /// The preset of a new session, if not the workspace's. No flag sets it: what a client wants refused is its own.
    pub preset: Option<Preset>,
    /// Whether changes are shown before they are written.
    pub preview: bool,
    /// Which session.
    pub session: StartWith,
    /// How the client is told that a turn is over.
    pub end_of_turn: EndOfTurn,
    /// Whether questions expire.
    pub permission_timers: Option<PermissionTimers>,
    /// What the client calls itself.
    pub client_name: Option<String>,
    /// The time within which pieces of a reply are told together; none tells them as they come.
    pub merge_updates: Duration,
    /// What was asked for and has no effect, for people who read standard error.
    pub remarks: Vec<Remark>,
}

/// Something that was asked for and has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What, and what holds instead.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// Which session a connection begins on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StartWith {
    /// A new one.
    #[default]
    Fresh,
    /// This one.
    Resume(SessionId),
    /// The one of the workspace in which something happened last; a new one if there is none.
    Latest,
    /// A copy of this one, or of the one in which something happened last; a new one if there is none.
    Fork(Option<SessionId>),
}

/// How a client is told that a turn is over, besides `turnEnd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndOfTurn {
    /// By a ping that says so. Serves every client library but two.
    #[default]
    Marker,
    /// By `agentEnd`, which then no longer means the end of the session. For the Go library.
    AgentEnd,
    /// By the answer to the prompt. For the Java library.
    Answer,
}

/// When questions expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermissionTimers {
    /// Without a sign from the client.
    pub acknowledge: Duration,
    /// Without an answer, once there was a sign.
    pub answer: Duration,
}

impl Default for PermissionTimers {
    fn default() -> Self {
        Self { acknowledge: PERMISSION_ACKNOWLEDGE_LIMIT, answer: PERMISSION_ANSWER_LIMIT }
    }
}

/// Why a connection cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The standing yes is none.
    #[error(transparent)]
    Yolo(#[from] YoloError),
    /// The session to go on with has no id of ours.
    #[error("there is no session `{0}`")]
    NoSuchSession(String),
    /// What the model is to be told is more than it should have to read.
    #[error("the text of `--{flag}` has more than {} bytes; shorten it", OwnInstructions::MAX_BYTES)]
    LongInstructions {
        /// The flag.
        flag: &'static str,
    },
    /// What the model is to be told is in a file that cannot be read.
    #[error("`{path}`, which `--{flag}` names, cannot be read: {why}")]
    UnreadableInstructions {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: String,
        /// Why not.
        why: String,
    },
    /// Whoever took the connection cannot serve it, and says why.
    #[error("{0}")]
    Refused(String),
}

impl Launch {
    /// The variables that [`Launch::from_arguments`] looks at. None holds a secret.
    pub const VARIABLES: &[&str] = &[
        "AUTOHAND_CLIENT_NAME",
        "AUTOHAND_MODEL",
        "AUTOHAND_NON_INTERACTIVE",
        "AUTOHAND_THINKING_LEVEL",
        "AUTOHAND_YES",
        "LOGGIA_END_OF_TURN",
    ];

    /// In a directory, with defaults.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            model: None,
            thinking: None,
            approvals: Approvals::default(),
            instructions: OwnInstructions::default(),
            preset: None,
            preview: false,
            session: StartWith::Fresh,
            end_of_turn: EndOfTurn::Marker,
            permission_timers: None,
            client_name: None,
            merge_updates: Duration::ZERO,
            remarks: Vec::new(),
        }
    }

    /// As a client started us: the words after the program's name, the environment, the current directory.
    ///
    /// # Errors
    /// [`LaunchError`] for a flag whose value cannot be meant. Unknown flags are none.
    pub fn from_arguments<S: AsRef<str>>(
        arguments: impl IntoIterator<Item = S>,
        environment: impl Fn(&str) -> Option<String>,
        current: &Path,
    ) -> Result<Self, LaunchError> {
        let arguments = Arguments::read(arguments);
        let variable = |name: &str| environment(name).filter(|value| !value.is_empty());
        let mut launch = Self::new(workspace(arguments.last_of(&["path", "dir"]), current));
        let name =
            |flag, name| arguments.value(flag).map(str::to_owned).or_else(|| variable(name)).map(short);
        launch.model = name("model", "AUTOHAND_MODEL");
        launch.remarks.extend(launch.model.take_if(|name| !name.contains(':')).map(no_provider));
        launch.client_name = name("client-name", "AUTOHAND_CLIENT_NAME");
        launch.instructions = prompts::instructions(&arguments, current)?;
        launch.thinking = thinking(&arguments, variable("AUTOHAND_THINKING_LEVEL"));
        launch.preview = arguments.has("preview");
        launch.session = session(&arguments)?;
        launch.remarks.extend(unknown_session(&arguments, &launch.session));
        match merge_updates(&arguments) {
            Ok(every) => launch.merge_updates = every,
            Err(remark) => launch.remarks.push(remark),
        }
        launch.end_of_turn = end_of_turn(&arguments, variable("LOGGIA_END_OF_TURN"));
        launch.permission_timers = arguments.has("permission-timers").then(PermissionTimers::default);
        let is_set = |name: &str| variable(name).is_some_and(|value| value != "0" && value != "false");
        let yes = is_set("AUTOHAND_YES") || is_set("AUTOHAND_NON_INTERACTIVE");
        launch.approvals = asking::approvals(&arguments, yes)?;
        launch.remarks.extend(asking::no_time(&arguments));
        Ok(launch)
    }
}

/// A name that is no longer than one may be.
fn short(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
    name
}

/// The directory to work in. A client may change into it and name it as well, the same way: `sub` from inside `sub`.
fn workspace(given: Option<&str>, current: &Path) -> PathBuf {
    let Some(given) = given.map(Path::new) else { return current.to_owned() };
    let joined = current.join(given);
    if given.is_relative() && !joined.is_dir() && current.ends_with(given) {
        return current.to_owned();
    }
    joined
}

fn session(arguments: &Arguments) -> Result<StartWith, LaunchError> {
    let meant = |flag: &str| {
        let parse = |id: &str| {
            id.parse::<SessionId>().map_err(|_| LaunchError::NoSuchSession(id.chars().take(64).collect()))
        };
        arguments.value(flag).map(parse).transpose()
    };
    let resumed = meant("resume")?;
    // A host's own name for a session is none of ours: then it is a new one.
    let named = resumed.or_else(|| arguments.value("session-id")?.parse().ok());
    if arguments.has("fork") {
        // Some clients name the session with the flag, some with another.
        return Ok(StartWith::Fork(meant("fork")?.or(named)));
    }
    Ok(match named {
        Some(id) => StartWith::Resume(id),
        None if arguments.has("continue") || arguments.has("resume") => StartWith::Latest,
        None => StartWith::Fresh,
    })
}

/// Clients have default models of their own, under names that say nothing here.
fn no_provider(name: String) -> Remark {
    Remark {
        message: format!("`{name}` names no provider, so the default model is used"),
        hint: "name models as `loggia model list` does, `provider:model`, or none",
    }
}

fn unknown_session(arguments: &Arguments, begins: &StartWith) -> Option<Remark> {
    let id = arguments
        .value("session-id")
        .filter(|_| !matches!(begins, StartWith::Resume(_) | StartWith::Fork(Some(_))))?;
    let instead = if *begins == StartWith::Fresh { "a new one begins" } else { "the latest one goes on" };
    Some(Remark {
        message: format!("there is no session `{}`; {instead}", id.chars().take(64).collect::<String>()),
        hint: "`loggia sessions` lists those that `--session-id` and `--resume` go on with",
    })
}

fn merge_updates(arguments: &Arguments) -> Result<Duration, Remark> {
    let Some(text) = arguments.value("merge-updates") else { return Ok(Duration::ZERO) };
    let every = text.parse().map(Duration::from_millis).ok().filter(|every| *every <= MAX_MERGE);
    every.ok_or_else(|| Remark {
        message: format!(
            "`--merge-updates {}` is no time, so replies are told as they come",
            text.chars().take(64).collect::<String>()
        ),
        hint: "give it in milliseconds, 5000 at most",
    })
}

/// A flag without a level asks for more; a level nobody knows asks for nothing.
fn thinking(arguments: &Arguments, variable: Option<String>) -> Option<Level> {
    match arguments.value("thinking").map(str::to_owned).or(variable) {
        Some(word) => Level::named(&word),
        None => arguments.stands_alone("thinking").then_some(Level::Extended),
    }
}

fn end_of_turn(arguments: &Arguments, variable: Option<String>) -> EndOfTurn {
    match arguments.value("end-of-turn").map(str::to_owned).or(variable).as_deref() {
        Some("agent-end") => EndOfTurn::AgentEnd,
        Some("answer") => EndOfTurn::Answer,
        _ => EndOfTurn::Marker,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn launch(line: &str) -> Launch {
        try_launch(line, &[]).unwrap()
    }

    pub(super) fn try_launch(line: &str, environment: &[(&str, &str)]) -> Result<Launch, LaunchError> {
        let variable = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Launch::from_arguments(line.split_whitespace(), variable, Path::new("/somewhere/project/sub"))
    }

    #[test]
    fn real_command_lines_are_understood() {
        assert_eq!(launch("--rpc"), Launch::new("/somewhere/project/sub"));
        assert_eq!(launch("--mode rpc"), launch("--mode=rpc"));
        let commander = launch("--mode rpc --path /other/place --model ollama:qwen --config /x/y.json");
        assert_eq!(commander.workspace, Path::new("/other/place"));
        assert_eq!(commander.model.as_deref(), Some("ollama:qwen"));
        assert_eq!(launch("--mode rpc --dir ../next").workspace, Path::new("/somewhere/project/sub/../next"));
    }

    #[test]
    fn a_path_that_the_client_has_changed_into_is_the_current_directory() {
        assert_eq!(launch("--path sub").workspace, Path::new("/somewhere/project/sub"));
        assert_eq!(launch("--path project/sub").workspace, Path::new("/somewhere/project/sub"));
        assert_eq!(launch("--path other").workspace, Path::new("/somewhere/project/sub/other"));
    }

    #[test]
    fn unknown_flags_change_nothing() {
        let plain = launch("--rpc");
        for line in [
            "--frobnicate",
            "--frobnicate value",
            "--frobnicate=value",
            "-z",
            "--max-tokens 5",
            "--temperature 0.2 --thinking deeply --skills a,b --agents-md --no-cc --auto-mode",
            "rpc --display-language de -c --search-engine x",
            "--",
            "--=",
            "-",
        ] {
            assert_eq!(launch(line), plain, "{line}");
        }
    }

    #[test]
    fn a_prompt_may_begin_like_a_flag() {
        let words = ["--append-sys-prompt", "---\nname: x", "--yes"];
        let launch = Launch::from_arguments(words, |_| None, Path::new("/somewhere")).unwrap();
        assert_eq!(launch.instructions.added.as_deref(), Some("---\nname: x"));
        assert_eq!(launch.approvals.mode(), loggia_protocol_autohand::PermissionMode::Unrestricted);
    }

    #[test]
    fn what_has_no_effect_is_remarked_upon_and_never_fatal() {
        let remarks = |line: &str| -> Vec<String> {
            launch(line).remarks.into_iter().map(|remark| remark.message).collect()
        };
        let odd = launch("--model fantail");
        assert_eq!(odd.model, None, "the default holds");
        assert_eq!(remarks("--model fantail"), ["`fantail` names no provider, so the default model is used"]);
        assert_eq!(remarks("--session-id my-own"), ["there is no session `my-own`; a new one begins"]);
        assert_eq!(remarks("--session-id x --continue"), ["there is no session `x`; the latest one goes on"]);
        assert_eq!(
            remarks("--merge-updates soon"),
            ["`--merge-updates soon` is no time, so replies are told as they come"]
        );
        assert_eq!(remarks("--merge-updates 60000").len(), 1);
        let id = SessionId::new();
        let fine = format!("--model ollama:qwen --session-id {id} --merge-updates 50");
        assert!(remarks(&fine).is_empty());
    }

    #[test]
    fn replies_are_merged_only_if_that_is_wanted() {
        assert_eq!(launch("--rpc").merge_updates, Duration::ZERO);
        assert_eq!(launch("--merge-updates 50").merge_updates, Duration::from_millis(50));
        // What is configured comes first on the line, and what was typed wins.
        assert_eq!(launch("--merge-updates=20 --merge-updates 0").merge_updates, Duration::ZERO);
    }

    #[test]
    fn sessions_are_resumed_by_id_or_as_the_latest() {
        let id = SessionId::new();
        assert_eq!(launch(&format!("--resume {id}")).session, StartWith::Resume(id));
        assert_eq!(launch(&format!("--session-id={id}")).session, StartWith::Resume(id));
        assert_eq!(launch("--resume --model m").session, StartWith::Latest);
        assert_eq!(launch("--continue").session, StartWith::Latest);
        assert_eq!(launch("--session-id my-own").session, StartWith::Fresh);
        assert_eq!(try_launch("--resume nobody", &[]), Err(LaunchError::NoSuchSession("nobody".to_owned())));
    }

    #[test]
    fn a_copy_is_made_of_the_session_that_is_named_or_of_the_latest() {
        let id = SessionId::new();
        let copy = StartWith::Fork(Some(id));
        assert_eq!(launch(&format!("--fork {id}")).session, copy);
        assert_eq!(launch(&format!("--resume {id} --fork")).session, copy);
        assert_eq!(launch(&format!("--fork --session-id {id} --model m")).session, copy);
        assert_eq!(launch("--fork --model m").session, StartWith::Fork(None));
        assert_eq!(launch("--continue --fork").session, StartWith::Fork(None));
        assert_eq!(try_launch("--fork nobody", &[]), Err(LaunchError::NoSuchSession("nobody".to_owned())));
    }

    #[test]
    fn how_much_to_think_is_a_flag_or_a_variable() {
        assert_eq!(launch("--thinking=").thinking, None);
        assert_eq!(launch("--thinking none").thinking, Some(Level::None));
        assert_eq!(launch("--thinking=normal").thinking, Some(Level::Normal));
        assert_eq!(launch("--thinking --model m").thinking, Some(Level::Extended));
        let variable = [("AUTOHAND_THINKING_LEVEL", "extended")];
        assert_eq!(try_launch("--rpc", &variable).unwrap().thinking, Some(Level::Extended));
        assert_eq!(try_launch("--thinking none", &variable).unwrap().thinking, Some(Level::None));
    }

    #[test]
    fn only_the_listed_variables_are_looked_at() {
        let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let look = |name: &str| {
            seen.borrow_mut().insert(name.to_owned());
            None
        };
        Launch::from_arguments([""; 0], look, Path::new("/")).unwrap();
        assert_eq!(seen.into_inner().iter().collect::<Vec<_>>(), Launch::VARIABLES);
    }

    #[test]
    fn a_name_is_kept_as_far_as_one_may_be_long() {
        let name = "é".repeat(MAX_NAME_BYTES);
        let launch = launch(&format!("--model xy:{name} --client-name {name}"));
        assert_eq!(launch.model.map(|name| name.len()), Some(MAX_NAME_BYTES - 1));
        assert_eq!(launch.client_name.map(|name| name.len()), Some(MAX_NAME_BYTES));
    }

    #[test]
    fn our_own_switches_have_flags() {
        let launch = launch("--preview --end-of-turn agent-end --permission-timers --client-name editor");
        assert!(launch.preview);
        assert_eq!(launch.end_of_turn, EndOfTurn::AgentEnd);
        assert_eq!(launch.permission_timers, Some(PermissionTimers::default()));
        assert_eq!(launch.client_name.as_deref(), Some("editor"));
        let answer = try_launch("", &[("LOGGIA_END_OF_TURN", "answer"), ("AUTOHAND_CLIENT_NAME", "sdk")]);
        assert_eq!(answer.unwrap().end_of_turn, EndOfTurn::Answer);
    }
}
