//! How a client starts the agent: its command line, its environment and where it stands.
//!
//! Knows the flags that existing clients send. Refuses to know the engine: whether a directory can be a workspace is
//! found out when it is opened. Touches the file system only to resolve a relative path.
//!
//! What always holds: a flag that nobody knows, or that means nothing here, changes nothing and fails nothing.

mod arguments;

use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::{Preset, SessionId};
use loggia_protocol_autohand::PermissionMode;
use loggia_protocol_autohand::limits::{PERMISSION_ACKNOWLEDGE_LIMIT, PERMISSION_ANSWER_LIMIT};

use crate::approvals::{Approvals, Yolo, YoloError};
use arguments::Arguments;

/// The longest name of a model or a client that is kept, with the session and in every log: no real one is longer.
const MAX_NAME_BYTES: usize = 200;

/// How a connection begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The directory to work in.
    pub workspace: PathBuf,
    /// The model, if not the default.
    pub model: Option<String>,
    /// How much the client wants to be asked.
    pub approvals: Approvals,
    /// The session's preset, if not the workspace's.
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
        "AUTOHAND_YES",
        "LOGGIA_END_OF_TURN",
    ];

    /// In a directory, with defaults.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            model: None,
            approvals: Approvals::default(),
            preset: None,
            preview: false,
            session: StartWith::Fresh,
            end_of_turn: EndOfTurn::Marker,
            permission_timers: None,
            client_name: None,
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
        launch.client_name = name("client-name", "AUTOHAND_CLIENT_NAME");
        launch.preview = arguments.has("preview");
        launch.session = session(&arguments)?;
        launch.end_of_turn = end_of_turn(&arguments, variable("LOGGIA_END_OF_TURN"));
        launch.permission_timers = arguments.has("permission-timers").then(PermissionTimers::default);
        let is_set = |name: &str| variable(name).is_some_and(|value| value != "0" && value != "false");
        let yes = is_set("AUTOHAND_YES") || is_set("AUTOHAND_NON_INTERACTIVE");
        (launch.approvals, launch.preset) = approvals(&arguments, yes)?;
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
    if let Some(id) = arguments.value("resume") {
        return id
            .parse()
            .map(StartWith::Resume)
            .map_err(|_| LaunchError::NoSuchSession(id.chars().take(64).collect()));
    }
    // A host's own name for a session is none of ours: then it is a new one.
    let named = arguments.value("session-id").and_then(|id| id.parse().ok());
    Ok(match named {
        Some(id) => StartWith::Resume(id),
        None if arguments.has("continue") || arguments.has("resume") => StartWith::Latest,
        None => StartWith::Fresh,
    })
}

fn end_of_turn(arguments: &Arguments, variable: Option<String>) -> EndOfTurn {
    match arguments.value("end-of-turn").map(str::to_owned).or(variable).as_deref() {
        Some("agent-end") => EndOfTurn::AgentEnd,
        Some("answer") => EndOfTurn::Answer,
        _ => EndOfTurn::Marker,
    }
}

/// The mode, by the precedence of existing agents: dry run, restricted, unrestricted, yes. The preset is for what must
/// hold whatever a client says later.
fn approvals(arguments: &Arguments, yes: bool) -> Result<(Approvals, Option<Preset>), LaunchError> {
    let lasts = ["timeout", "yolo-timeout"].iter().find_map(|name| arguments.value(name)?.parse().ok());
    let yolo = match (arguments.value("yolo"), arguments.has("yolo")) {
        (None, false) => None,
        (pattern, _) => Some(Yolo::parse(pattern)?),
    };
    let yolo = yolo.or_else(|| {
        // An entry for certain commands or paths only is no yes to the whole tool: it is asked.
        let tools = list(arguments.value("permission-allow-list")).filter(|entry| !entry.contains(':'));
        let tools: Vec<String> = tools.map(str::to_owned).collect();
        (!tools.is_empty()).then_some(Yolo::Only(tools))
    });
    // A tool that is refused for certain commands or paths is refused: rather too much than too little.
    let tool = |entry: &str| entry.split(':').next().unwrap_or(entry).to_owned();
    let denied = list(arguments.value("permission-deny-list")).map(tool).collect();
    let asked = Approvals::default().with_yolo(yolo, lasts.map(Duration::from_secs)).denying(denied);
    let read_only = matches!(arguments.value("client-context"), Some("slack" | "restricted" | "blueprint"));
    if arguments.has("dry-run") || read_only {
        return Ok((asked, Some(Preset::ReadOnly)));
    }
    let named = arguments.value("permission-mode").and_then(mode);
    let mode = match named {
        _ if arguments.has("restricted") => PermissionMode::Restricted,
        _ if arguments.has("unrestricted") || arguments.has("yes") || yes => PermissionMode::Unrestricted,
        Some(mode) => mode,
        None => PermissionMode::Interactive,
    };
    let approvals = asked.clone().with_mode(mode).unwrap_or(asked);
    // A mode that refuses answers questions, so there must be questions.
    let preset = approvals.needs_questions().then_some(Preset::Ask);
    Ok((approvals, preset))
}

/// The entries of a list with commas.
fn list(value: Option<&str>) -> impl Iterator<Item = &str> {
    value.unwrap_or_default().split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

fn mode(word: &str) -> Option<PermissionMode> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(line: &str) -> Launch {
        try_launch(line, &[]).unwrap()
    }

    fn try_launch(line: &str, environment: &[(&str, &str)]) -> Result<Launch, LaunchError> {
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
            "--temperature 0.2 --thinking extended --skills a,b --agents-md --no-cc --auto-mode",
            "rpc --display-language de -c --search-engine x",
            "--",
            "--=",
            "-",
        ] {
            assert_eq!(launch(line), plain, "{line}");
        }
    }

    #[test]
    fn approvals_follow_the_precedence_of_existing_agents() {
        let mode = |line: &str| launch(line).approvals.mode();
        assert_eq!(mode("--rpc"), PermissionMode::Interactive);
        for line in ["-y", "--yes", "--y", "--unrestricted", "--permission-mode bypassPermissions"] {
            assert_eq!(mode(line), PermissionMode::Unrestricted, "{line}");
        }
        assert_eq!(mode("--yes --restricted"), PermissionMode::Restricted);
        assert_eq!(launch("--restricted").preset, Some(Preset::Ask));
        assert_eq!(launch("--dry-run --yes").preset, Some(Preset::ReadOnly));
        assert_eq!(launch("--client-context restricted").preset, Some(Preset::ReadOnly));
        assert_eq!(launch("--client-context vscode").preset, None);
        assert_eq!(mode("--permission-mode plan"), PermissionMode::Plan);
        let by_environment = try_launch("--rpc", &[("AUTOHAND_YES", "1")]).unwrap();
        assert_eq!(by_environment.approvals.mode(), PermissionMode::Unrestricted);
        assert_eq!(try_launch("--rpc", &[("AUTOHAND_YES", "0")]).unwrap(), launch("--rpc"));
    }

    #[test]
    fn lists_of_tools_are_allowed_and_refused() {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let denying = launch("--yes --permission-deny-list run_command,write_file:/etc/*");
        assert_eq!(denying.preset, Some(Preset::Ask), "what is refused has to be asked");
        let denied = named(&["run_command", "write_file"]);
        let expected = Approvals::default().denying(denied).with_mode(PermissionMode::Unrestricted);
        assert_eq!(Some(denying.approvals), expected);
        let allowing = launch("--permission-allow-list run_command:ls,delete_path");
        let only = Yolo::Only(named(&["delete_path"]));
        assert_eq!(allowing.approvals, Approvals::default().with_yolo(Some(only), None));
        assert_eq!(launch("--permission-allow-list run_command:ls"), launch("--rpc"));
    }

    #[test]
    fn a_yolo_pattern_that_says_nothing_is_refused() {
        assert!(launch("--yolo --model m").approvals != Approvals::default());
        assert!(launch("--yolo allow:read_file --timeout 60").approvals != Approvals::default());
        let error = try_launch("--yolo whatever", &[]).unwrap_err().to_string();
        assert!(error.contains("`whatever`"), "{error}");
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
        let launch = launch(&format!("--model x{name} --client-name {name}"));
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
