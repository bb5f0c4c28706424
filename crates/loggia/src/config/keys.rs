//! The table of keys: all that can be set, stated once.
//!
//! Defaults, types, variables, help, what a workspace may do before it is trusted, and the reference page all
//! come from here. A key exists only when something reads it.

mod extensions;

use std::borrow::Cow;

use loggia_jsonrpc::Json;

pub(crate) use extensions::{
    DIALOGS_DIRECTORIES, DIALOGS_UNATTENDED, EXTENSION_ARGS, EXTENSION_CWD, EXTENSION_ENABLED, EXTENSION_ENV,
    EXTENSION_NAME, EXTENSION_PATH, EXTENSIONS, FIELDS, RUNNER_EXTENSION_TIMEOUT_S, field,
};

use super::value::{NO_LIMIT, Value, ValueType};
use crate::env_vars;

/// One thing that can be set.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its dotted name, as in `[server] addr = …`.
    pub(crate) path: &'static str,
    /// What it takes.
    pub(crate) kind: ValueType,
    /// Its value when nobody sets it.
    pub(crate) default: Value,
    /// What it means, in one sentence.
    pub(crate) doc: &'static str,
    /// Who reads it.
    pub(crate) used_by: &'static str,
    /// What a workspace's own file may do with it before the workspace is trusted.
    pub(crate) workspace: WorkspaceRule,
}

/// What the file of an untrusted workspace may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceRule {
    /// Set it: nothing depends on it but looks.
    Free,
    /// Not touch it, for this reason.
    Never(&'static str),
    /// Set it to something at least as tight as the value beneath.
    OnlyTighter(Tightness),
}

/// Which of two values is the tighter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tightness {
    /// The word that stands earlier in the list of choices.
    EarlierWord,
    /// The smaller number, down to zero; no limit is the loosest.
    Smaller,
    /// `true`.
    True,
    /// `false`.
    False,
}

/// Choices of `models.NAME.kind`.
pub(crate) const ENDPOINT_KINDS: [&str; 4] = ["openai", "anthropic", "gemini", "ollama"];
/// Choices of `catalogue.MODEL.effort`.
pub(crate) const EFFORTS: [&str; 4] = ["usual", "low", "medium", "high"];
/// Words of `catalogue.MODEL.abilities`.
pub(crate) const ABILITIES: [&str; 3] = ["tools", "images", "reasoning"];
const POLICY_PRESETS: &[&str] = &["read-only", "ask", "auto-edit", "full"];
/// Choices of `ui.color` and `--color`.
pub(crate) const COLOR_CHOICES: [&str; 3] = ["auto", "always", "never"];
/// Choices of `log.format` and `--log-format`.
pub(crate) const LOG_FORMATS: [&str; 2] = ["text", "json"];
/// Choices of `log.level` and `--log-level`, from silent to loud.
pub(crate) const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Address of the http door.
pub(crate) static SERVER_ADDR: Key = Key {
    path: "server.addr",
    kind: ValueType::Address,
    default: text("127.0.0.1:3199"),
    doc: "Address the http door listens on.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who can reach the server"),
};

/// Names the http door answers to.
pub(crate) static SERVER_HOSTS: Key = Key {
    path: "server.hosts",
    kind: ValueType::Hosts,
    default: text(""),
    doc: "Names and addresses, separated by commas, under which the http door may be asked besides the loopback's and its own.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who can reach the server"),
};

/// Pages that may use the http door.
pub(crate) static SERVER_ORIGINS: Key = Key {
    path: "server.origins",
    kind: ValueType::Text,
    default: text(""),
    doc: "Origins, separated by commas, whose pages may ask the http door besides its own.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who can reach the server"),
};

/// When a server that was started by itself goes again.
pub(crate) static SERVER_IDLE_EXIT_MINUTES: Key = Key {
    path: "server.idle_exit_minutes",
    kind: ValueType::Limit,
    default: Value::Count(30),
    doc: "Minutes after which a server that a command started by itself leaves, if there is no client, no running turn and no open question; `none` lets it stay.",
    used_by: "`loggia serve --auto`",
    workspace: WorkspaceRule::Never("the server is there for other workspaces, too"),
};

/// How much is said on stderr.
pub(crate) static LOG_LEVEL: Key = Key {
    path: "log.level",
    kind: ValueType::Choice(&LOG_LEVELS),
    default: text("info"),
    doc: "What our own parts say on stderr: this level and everything more important. Libraries only warn.",
    used_by: "every command that reads the configuration",
    workspace: WorkspaceRule::Never("it could hide the warnings about the workspace itself"),
};

/// How the log is written.
pub(crate) static LOG_FORMAT: Key = Key {
    path: "log.format",
    kind: ValueType::Choice(&LOG_FORMATS),
    default: text("text"),
    doc: "How the log is written: lines for people, or one JSON object a line with the time.",
    used_by: "every command that reads the configuration",
    workspace: WorkspaceRule::Never("it could hide the warnings about the workspace itself"),
};

/// Whether output is coloured.
pub(crate) static UI_COLOR: Key = Key {
    path: "ui.color",
    kind: ValueType::Choice(&COLOR_CHOICES),
    default: text("auto"),
    doc: "Whether output is coloured; `auto` colours only a terminal.",
    used_by: "every command that reads the configuration",
    workspace: WorkspaceRule::Free,
};

/// Whether clients of the rpc door are shown changes first.
pub(crate) static RPC_PREVIEW: Key = Key {
    path: "rpc.preview",
    kind: ValueType::Switch,
    default: Value::Switch(false),
    doc: "Whether `loggia rpc` shows changes of files to its client before they are written, as `--preview` does. A client that never decides about them gets nothing written.",
    used_by: "`loggia rpc`",
    workspace: WorkspaceRule::Never("it is up to whoever starts the client"),
};

/// Whether questions of the rpc door expire.
pub(crate) static RPC_PERMISSION_TIMERS: Key = Key {
    path: "rpc.permission_timers",
    kind: ValueType::Switch,
    default: Value::Switch(false),
    doc: "Whether questions that the client of `loggia rpc` does not acknowledge within 30 seconds, or does not answer within an hour, count as refused, as with `--permission-timers`.",
    used_by: "`loggia rpc`",
    workspace: WorkspaceRule::Never("it is up to whoever starts the client"),
};

/// Within which time replies are told together to clients of the rpc door.
pub(crate) static RPC_MERGE_UPDATES_MS: Key = Key {
    path: "rpc.merge_updates_ms",
    kind: ValueType::Count,
    default: Value::Count(0),
    doc: "Milliseconds within which `loggia rpc` tells what has come of a reply in one `messageUpdate`, as with `--merge-updates`; 5000 at most. 0 tells each piece as it comes.",
    used_by: "`loggia rpc`",
    workspace: WorkspaceRule::Never("it is up to whoever starts the client"),
};

/// The model new sessions begin with.
pub(crate) static MODEL_DEFAULT: Key = Key {
    path: "model.default",
    kind: ValueType::Text,
    default: text(""),
    doc: "Model of new sessions, as `provider:model`; several with commas between them are tried in turn. `scripted:FILE` plays a script. Empty means what is found: a server on this machine, else a provider whose key is set.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Whether indexes are kept by themselves.
pub(crate) static INDEX_AUTO: Key = Key {
    path: "index.auto",
    kind: ValueType::Switch,
    default: Value::Switch(true),
    doc: "Whether a workspace's code index is built when the agent first works there, and then kept fresh. Otherwise nothing is followed, and only `loggia index build`, or a search where there is none yet, builds it.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// Who makes vectors.
pub(crate) static INDEX_EMBEDDER: Key = Key {
    path: "index.embedder",
    kind: ValueType::Text,
    default: text(""),
    doc: "Who makes vectors, so that code is found by what it means: `provider:model`, as in `ollama:nomic-embed-text`, is sent pieces of the code and your questions; `minilm` is a model in the server itself. Empty means nobody.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Where the model in this process is.
pub(crate) static INDEX_WEIGHTS: Key = Key {
    path: "index.weights",
    kind: ValueType::Path,
    default: text(""),
    doc: "The directory that has the files of the embedder `minilm`, by its absolute path. Empty means where `loggia index pull` puts them, among lasting data.",
    used_by: "`loggia serve`, `loggia index pull`",
    workspace: WorkspaceRule::Never("it decides which files the server reads"),
};

/// Which plugins run.
pub(crate) static PLUGINS_ENABLED: Key = Key {
    path: "plugins.enabled",
    kind: ValueType::Names,
    default: text(""),
    doc: "Names of plugins that may run in every workspace, as a list or separated by commas, in the order in which they count. `loggia plugin enable` adds to those of one workspace.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides which programs run"),
};

/// Which variables a server that is started by itself gets for its plugins.
pub(crate) static PLUGINS_VARIABLES: Key = Key {
    path: "plugins.variables",
    kind: ValueType::Names,
    default: text(""),
    doc: "Variables that plugins need, as a list or separated by commas. A server that a command starts by itself is given them; one that you start has your environment anyway.",
    used_by: "commands that start a server",
    workspace: WorkspaceRule::Never("it decides who is told a secret"),
};

/// What a plugin is handed when it starts.
pub(crate) static PLUGIN_CONFIG: Key = Key {
    path: "plugins.config.PLUGIN",
    kind: ValueType::Object,
    default: Value::Object(Json(serde_json::Value::Null)),
    doc: "What the plugin `PLUGIN` is handed when it starts, as a table of its own making.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides what a program is told"),
};

/// How long an agent of a plugin may be silent.
pub(crate) static PLUGINS_SILENCE_S: Key = Key {
    path: "plugins.silence_s",
    kind: ValueType::Count,
    default: Value::Count(300),
    doc: "Seconds for which a plugin's agent may say nothing while it waits for nothing of ours; a trusted workspace's `.mehrhof/config.yaml` may say otherwise in `agent.timeout`.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides how long a program may run"),
};

/// How long an agent of a plugin may work.
pub(crate) static PLUGINS_RUN_S: Key = Key {
    path: "plugins.run_s",
    kind: ValueType::Count,
    default: Value::Count(1800),
    doc: "Seconds that one run of a plugin's agent may take in all.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides how long a program may run"),
};

/// How long a line of a plugin may be.
pub(crate) static PLUGINS_LINE_BYTES: Key = Key {
    path: "plugins.line_bytes",
    kind: ValueType::Count,
    default: Value::Count(67_108_864),
    doc: "The longest line that is read from a plugin, in bytes; whoever writes a longer one is stopped.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides how long a program may run"),
};

/// Where tasks without a scheme come from.
pub(crate) static TASKS_SCHEME: Key = Key {
    path: "tasks.scheme",
    kind: ValueType::Text,
    default: text("file"),
    doc: "Scheme of references that have none and that no provider claims; where nobody sets it, a trusted workspace's `.mehrhof/config.yaml` may in `providers.default`.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// How branches of tasks are called.
pub(crate) static TASKS_BRANCH: Key = Key {
    path: "tasks.branch",
    kind: ValueType::Text,
    default: text("{type}/{key}--{slug}"),
    doc: "How branches of tasks are called; `{key}`, `{task_id}`, `{type}`, `{slug}` and `{title}` are put in. Where nobody sets it, a trusted workspace's `.mehrhof/config.yaml` may in `git.branch_pattern`.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// What commits of tasks begin with.
pub(crate) static TASKS_COMMIT_PREFIX: Key = Key {
    path: "tasks.commit_prefix",
    kind: ValueType::Text,
    default: text("[{key}]"),
    doc: "What commits of tasks begin with; the same words are put in. Where nobody sets it, `git.commit_prefix` there may.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// What work must pass.
pub(crate) static TASKS_QUALITY: Key = Key {
    path: "tasks.quality",
    kind: ValueType::Text,
    default: text("quality"),
    doc: "Target of a workspace's `Makefile` that work must pass before its end.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// How often an unattended task tries that.
pub(crate) static TASKS_TRIES: Key = Key {
    path: "tasks.tries",
    kind: ValueType::Count,
    default: Value::Count(3),
    doc: "How often `loggia task auto` tries to pass it.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// Who does the work of tasks.
pub(crate) static TASKS_AGENT: Key = Key {
    path: "tasks.agent",
    kind: ValueType::Text,
    default: text(""),
    doc: "Agent of tasks, as `provider:model` or `plugin:NAME`, unless a task or its file names one. Empty means the model of new sessions.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Who plans.
pub(crate) static TASKS_PLANNING_AGENT: Key = Key {
    path: "tasks.planning_agent",
    kind: ValueType::Text,
    default: text(""),
    doc: "The same for planning alone.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Who implements.
pub(crate) static TASKS_IMPLEMENTING_AGENT: Key = Key {
    path: "tasks.implementing_agent",
    kind: ValueType::Text,
    default: text(""),
    doc: "The same for implementing alone.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Who reviews.
pub(crate) static TASKS_REVIEWING_AGENT: Key = Key {
    path: "tasks.reviewing_agent",
    kind: ValueType::Text,
    default: text(""),
    doc: "The same for reviewing alone.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Where spans are sent.
pub(crate) static TELEMETRY_OTLP_ENDPOINT: Key = Key {
    path: "telemetry.otlp_endpoint",
    kind: ValueType::Url,
    default: text(""),
    doc: "Address of a collector that is sent spans over OTLP, such as `http://localhost:4318`. It is stronger than the standard variables `OTEL_EXPORTER_OTLP_…`. Empty means that only these count.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is told what the server does"),
};

/// What happens where no rule matches.
pub(crate) static POLICY_PRESET: Key = Key {
    path: "policy.preset",
    kind: ValueType::Choice(POLICY_PRESETS),
    default: text("ask"),
    doc: "What happens to a tool call that no rule matches.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::EarlierWord),
};

/// How long a question waits.
pub(crate) static POLICY_APPROVAL_TIMEOUT_S: Key = Key {
    path: "policy.approval_timeout_s",
    kind: ValueType::Limit,
    default: text(NO_LIMIT),
    doc: "Seconds after which an unanswered question counts as refused; `none` waits for ever.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// How often a turn may ask the model.
pub(crate) static POLICY_MAX_STEPS: Key = Key {
    path: "policy.max_steps",
    kind: ValueType::Count,
    default: Value::Count(100),
    doc: "Model calls one turn may make.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// How many tokens a turn may use.
pub(crate) static POLICY_MAX_TOKENS: Key = Key {
    path: "policy.max_tokens",
    kind: ValueType::Limit,
    default: text(NO_LIMIT),
    doc: "Tokens one turn may use; `none` sets no limit.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// Whether commands must be held in.
pub(crate) static SANDBOX_REQUIRED: Key = Key {
    path: "sandbox.required",
    kind: ValueType::Switch,
    default: Value::Switch(true),
    doc: "Whether a command is refused when no sandbox works on this machine.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::True),
};

/// Whether commands may use the network.
pub(crate) static SANDBOX_NETWORK: Key = Key {
    path: "sandbox.network",
    kind: ValueType::Switch,
    default: Value::Switch(false),
    doc: "Whether commands in the sandbox may use the network.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::False),
};

/// How long a command may run.
pub(crate) static RUNNER_COMMAND_TIMEOUT_S: Key = Key {
    path: "runner.command_timeout_s",
    kind: ValueType::Count,
    default: Value::Count(120),
    doc: "Seconds after which a running command is ended.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// How much of its output is kept.
pub(crate) static RUNNER_OUTPUT_BYTES: Key = Key {
    path: "runner.output_bytes",
    kind: ValueType::Count,
    default: Value::Count(1024 * 1024),
    doc: "Bytes that are kept of each of a command's two streams, from its head and its tail.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// Which protocol an endpoint of models speaks.
pub(crate) static ENDPOINT_KIND: Key = Key {
    path: "models.NAME.kind",
    kind: ValueType::Choice(&ENDPOINT_KINDS),
    default: text("openai"),
    doc: "Which protocol the endpoint `NAME` speaks. Its models are called `NAME:model`. Most servers speak OpenAI's.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Where an endpoint of models is.
pub(crate) static ENDPOINT_BASE_URL: Key = Key {
    path: "models.NAME.base_url",
    kind: ValueType::Url,
    default: text(""),
    doc: "The endpoint's address. Empty means the usual one of its kind.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Which variable has the key of an endpoint of models.
pub(crate) static ENDPOINT_KEY_VARIABLE: Key = Key {
    path: "models.NAME.key_variable",
    kind: ValueType::Text,
    default: text(""),
    doc: "The variable that has the endpoint's key. A server that a command starts by itself is given it. Empty means the usual one of its kind.",
    used_by: "`loggia serve`, and commands that start a server",
    workspace: WorkspaceRule::Never("it decides who is told a secret"),
};

/// Which file has the key of an endpoint of models.
pub(crate) static ENDPOINT_KEY_FILE: Key = Key {
    path: "models.NAME.key_file",
    kind: ValueType::Text,
    default: text(""),
    doc: "The file that has the endpoint's key, by its absolute path; only its owner may be able to read it.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is told a secret"),
};

/// How much a model can look at.
pub(crate) static KNOWN_CONTEXT_TOKENS: Key = Key {
    path: "catalogue.MODEL.context_tokens",
    kind: ValueType::Limit,
    default: text(NO_LIMIT),
    doc: "Tokens the model `MODEL` can look at, such as `[catalogue.\"ollama:qwen3:8b\"]` says of that one. Ollama is told to look at so many. `none` leaves what is known.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides what a turn costs"),
};

/// What a model can do.
pub(crate) static KNOWN_ABILITIES: Key = Key {
    path: "catalogue.MODEL.abilities",
    kind: ValueType::Words(&ABILITIES),
    default: text("tools"),
    doc: "All that the model can do: call tools, look at images, think before it replies.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides what a model is sent"),
};

/// How hard a model thinks.
pub(crate) static KNOWN_EFFORT: Key = Key {
    path: "catalogue.MODEL.effort",
    kind: ValueType::Choice(&EFFORTS),
    default: text("usual"),
    doc: "How hard the model thinks before it replies; `usual` leaves it to the provider.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides what a turn costs"),
};

/// What is paid for what a model reads.
pub(crate) static KNOWN_INPUT_PRICE: Key = Key {
    path: "catalogue.MODEL.input_price",
    kind: ValueType::Price,
    default: Value::Decimal(0),
    doc: "What a million tokens in cost, in US dollars. A price counts only with `output_price`.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("a budget counts with it"),
};

/// What is paid for what a provider has kept.
pub(crate) static KNOWN_CACHED_INPUT_PRICE: Key = Key {
    path: "catalogue.MODEL.cached_input_price",
    kind: ValueType::Price,
    default: Value::Decimal(0),
    doc: "The same for tokens that the provider had kept. Without it they cost what the others do.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("a budget counts with it"),
};

/// What is paid for what a model writes.
pub(crate) static KNOWN_OUTPUT_PRICE: Key = Key {
    path: "catalogue.MODEL.output_price",
    kind: ValueType::Price,
    default: Value::Decimal(0),
    doc: "What a million tokens out cost, in US dollars. A price counts only with `input_price`.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("a budget counts with it"),
};

/// The keys of tables that people name themselves, and of lists of tables, in documentation order. `NAME`, `MODEL` and
/// `PLUGIN` stand for whatever they are called.
pub(crate) static IN_TABLES: &[&Key] = &[
    &ENDPOINT_KIND,
    &ENDPOINT_BASE_URL,
    &ENDPOINT_KEY_VARIABLE,
    &ENDPOINT_KEY_FILE,
    &KNOWN_CONTEXT_TOKENS,
    &KNOWN_ABILITIES,
    &KNOWN_EFFORT,
    &KNOWN_INPUT_PRICE,
    &KNOWN_CACHED_INPUT_PRICE,
    &KNOWN_OUTPUT_PRICE,
    &PLUGIN_CONFIG,
    &EXTENSIONS,
];

/// What stands for a name that people choose.
const NAME: &str = "NAME";

/// What stands for the name of a model.
const MODEL: &str = "MODEL";

/// What stands for the name of a plugin.
const PLUGIN: &str = "PLUGIN";

/// Every key with a name of its own, in documentation order.
pub(crate) static ALL: &[&Key] = &[
    &SERVER_ADDR,
    &SERVER_HOSTS,
    &SERVER_ORIGINS,
    &SERVER_IDLE_EXIT_MINUTES,
    &LOG_LEVEL,
    &LOG_FORMAT,
    &UI_COLOR,
    &RPC_PREVIEW,
    &RPC_PERMISSION_TIMERS,
    &RPC_MERGE_UPDATES_MS,
    &MODEL_DEFAULT,
    &INDEX_AUTO,
    &INDEX_EMBEDDER,
    &INDEX_WEIGHTS,
    &POLICY_PRESET,
    &POLICY_APPROVAL_TIMEOUT_S,
    &POLICY_MAX_STEPS,
    &POLICY_MAX_TOKENS,
    &SANDBOX_REQUIRED,
    &SANDBOX_NETWORK,
    &RUNNER_COMMAND_TIMEOUT_S,
    &RUNNER_OUTPUT_BYTES,
    &RUNNER_EXTENSION_TIMEOUT_S,
    &DIALOGS_UNATTENDED,
    &DIALOGS_DIRECTORIES,
    &PLUGINS_ENABLED,
    &PLUGINS_VARIABLES,
    &PLUGINS_SILENCE_S,
    &PLUGINS_RUN_S,
    &PLUGINS_LINE_BYTES,
    &TASKS_SCHEME,
    &TASKS_BRANCH,
    &TASKS_COMMIT_PREFIX,
    &TASKS_QUALITY,
    &TASKS_TRIES,
    &TASKS_AGENT,
    &TASKS_PLANNING_AGENT,
    &TASKS_IMPLEMENTING_AGENT,
    &TASKS_REVIEWING_AGENT,
    &TELEMETRY_OTLP_ENDPOINT,
];

/// Keys that a command follows itself, or passes on with a new session. All others are the server's.
pub(crate) static OF_COMMANDS: &[&Key] = &[
    &LOG_LEVEL,
    &LOG_FORMAT,
    &UI_COLOR,
    &RPC_PREVIEW,
    &RPC_PERMISSION_TIMERS,
    &RPC_MERGE_UPDATES_MS,
    &MODEL_DEFAULT,
    &POLICY_PRESET,
    &ENDPOINT_KEY_VARIABLE,
    &PLUGINS_VARIABLES,
];

const fn text(text: &'static str) -> Value {
    Value::Text(Cow::Borrowed(text))
}

/// The key of that name.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    let all = ALL.iter().chain(IN_TABLES).copied();
    all.filter(|key| parts(key.path).len() == parts(path).len()).find(|key| key.begins(path))
}

/// Whether some key lives under `section.`.
pub(crate) fn is_section(section: &str) -> bool {
    let depth = parts(section).len();
    ALL.iter().chain(IN_TABLES).any(|key| parts(key.path).len() > depth && key.begins(section))
}

/// All names, for suggestions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().chain(IN_TABLES).chain(FIELDS).map(|key| key.path)
}

/// The parts of a path. One with a dot in it is in quotes, which are no part of it.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = Some(path);
    while let Some(text) = rest {
        let quoted = text.strip_prefix('"').and_then(|text| text.split_once('"'));
        let (part, after) = match quoted {
            Some((part, after)) if after.is_empty() || after.starts_with('.') => {
                (part, after.strip_prefix('.'))
            }
            _ => text.split_once('.').map_or((text, None), |(part, after)| (part, Some(after))),
        };
        parts.push(part);
        rest = after;
    }
    parts
}

/// Whether a table can be called so: it stands before the colon of models' names.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Whether a model can be called so: `provider:model`, in the letters that providers use.
fn is_model(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '\\');
    text.split_once(':')
        .is_some_and(|(name, model)| is_name(name) && !model.is_empty() && model.chars().all(plain))
}

/// Whether a plugin can be called so: anything in one line that can stand in quotes.
fn is_plugin(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() || c == '"')
}

impl Key {
    /// The variable that sets it. A key of a table that people name themselves has none, nor has a list of tables.
    pub(crate) fn variable(&self) -> Option<String> {
        let name = || format!("{}{}", env_vars::PREFIX, self.path.replace('.', "_").to_uppercase());
        (self.chosen().is_none() && self.kind != ValueType::Entries).then(name)
    }

    /// Which part of its path is a name that people choose, if one is.
    fn chosen(&self) -> Option<usize> {
        self.path.split('.').position(|part| [NAME, MODEL, PLUGIN].contains(&part))
    }

    /// The name that was chosen, in a path that leads to this key.
    pub(crate) fn name_in<'a>(&self, path: &'a str) -> Option<&'a str> {
        parts(path).get(self.chosen()?).copied()
    }

    /// Whether a path leads to this key, or to a table above it.
    fn begins(&self, path: &str) -> bool {
        let fits = |(own, given): (&str, &str)| match own {
            own if own == given => true,
            NAME => is_name(given),
            MODEL => is_model(given),
            PLUGIN => is_plugin(given),
            _ => false,
        };
        let given = parts(path);
        given.len() <= parts(self.path).len() && parts(self.path).into_iter().zip(given).all(fits)
    }
}

impl Tightness {
    /// Whether `asked` is at least as tight as `beneath`. Values of different types never meet here.
    pub(crate) fn allows(self, kind: ValueType, asked: &Value, beneath: &Value) -> bool {
        match (self, asked, beneath) {
            (Self::EarlierWord, Value::Text(asked), Value::Text(beneath)) => {
                let ValueType::Choice(words) = kind else { return false };
                let rank = |word: &str| words.iter().position(|known| *known == word);
                rank(asked).is_some_and(|asked| rank(beneath).is_some_and(|beneath| asked <= beneath))
            }
            (Self::Smaller, Value::Count(asked), Value::Count(beneath)) => asked <= beneath,
            // The only text a number can meet is that there is no limit.
            (Self::Smaller, Value::Count(_) | Value::Text(_), Value::Text(_)) => true,
            (Self::True, Value::Switch(asked), Value::Switch(beneath)) => *asked || !*beneath,
            (Self::False, Value::Switch(asked), Value::Switch(beneath)) => !*asked || *beneath,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_fits_its_type_and_its_rule() {
        for key in ALL {
            assert!(key.kind.check(key.default.clone()).is_some(), "{}", key.path);
            if let WorkspaceRule::OnlyTighter(tightness) = key.workspace {
                assert!(tightness.allows(key.kind, &key.default, &key.default), "{}", key.path);
            }
        }
    }

    #[test]
    fn what_a_policy_says_too_has_the_same_default() {
        let policy = loggia_domain::Policy::default();
        let (limits, sandbox) = (&policy.limits, &policy.sandbox);
        let limit = |limit: Option<u64>| limit.map_or(text(NO_LIMIT), Value::Count);
        assert_eq!(policy.preset, loggia_domain::Preset::Ask);
        assert_eq!(POLICY_PRESET.default, text("ask"));
        assert_eq!(POLICY_APPROVAL_TIMEOUT_S.default, limit(limits.approval_timeout_s));
        assert_eq!(POLICY_MAX_STEPS.default, Value::Count(limits.max_steps.into()));
        assert_eq!(POLICY_MAX_TOKENS.default, limit(limits.max_tokens));
        assert_eq!(SANDBOX_REQUIRED.default, Value::Switch(sandbox.required));
        assert_eq!(SANDBOX_NETWORK.default, Value::Switch(sandbox.network));
        assert_eq!(RUNNER_COMMAND_TIMEOUT_S.default, Value::Count(limits.command_timeout_s));
        assert_eq!(RUNNER_OUTPUT_BYTES.default, Value::Count(limits.output_bytes));
    }

    #[test]
    fn names_are_unique_and_have_a_section() {
        for (position, key) in ALL.iter().enumerate() {
            assert!(ALL[..position].iter().all(|earlier| earlier.path != key.path), "{}", key.path);
            assert_eq!(key.path.split('.').count(), 2, "{}", key.path);
            assert!(!is_section(key.path), "{}", key.path);
        }
    }

    #[test]
    fn tables_have_the_names_people_choose() {
        let found = |path| find(path).map(|key| key.path);
        assert_eq!(found("models.corp.kind"), Some("models.NAME.kind"));
        assert_eq!(ENDPOINT_KIND.name_in("models.corp.kind"), Some("corp"));
        for wrong in ["models.kind", "models.corp", "models..kind", "models.a b.kind", "models.corp.kind.x"] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
        assert!(is_section("models") && is_section("models.corp") && !is_section("models.a b"));
        assert!(!is_section("models.corp.kind") && !is_section("server.addr") && is_section("server"));
        assert_eq!(found("catalogue.openai:gpt-5.effort"), Some("catalogue.MODEL.effort"));
        let dotted = "catalogue.\"ollama:qwen2.5-coder:7b\".effort";
        assert_eq!(found(dotted), Some("catalogue.MODEL.effort"));
        assert_eq!(KNOWN_EFFORT.name_in(dotted), Some("ollama:qwen2.5-coder:7b"));
        for wrong in [
            "catalogue.gpt-5.effort",
            "catalogue.ollama:qwen2.5.effort",
            "catalogue.:m.effort",
            "catalogue.o:.effort",
            "catalogue.\"o:a b\".effort",
            "catalogue.\"o:m.effort",
        ] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
        assert_eq!(found("plugins.config.jira"), Some("plugins.config.PLUGIN"));
        assert_eq!(PLUGIN_CONFIG.name_in("plugins.config.\"my.plugin\""), Some("my.plugin"));
        assert!(is_section("plugins.config") && found("plugins.config.jira.url").is_none());
        assert!(is_section("catalogue") && is_section("catalogue.\"a:b.c\"") && !is_section("catalogue.a"));
        for key in IN_TABLES {
            assert!(
                key.kind.check(key.default.clone()).is_some() && key.variable().is_none(),
                "{}",
                key.path
            );
        }
    }

    #[test]
    fn tighter_is_what_the_rule_says() {
        let presets = ValueType::Choice(POLICY_PRESETS);
        let words = |asked, beneath| Tightness::EarlierWord.allows(presets, &text(asked), &text(beneath));
        assert!(words("read-only", "ask") && words("ask", "ask") && !words("auto-edit", "ask"));

        let counts = |rule: Tightness, asked, beneath| {
            rule.allows(ValueType::Count, &Value::Count(asked), &Value::Count(beneath))
        };
        assert!(counts(Tightness::Smaller, 0, 5) && counts(Tightness::Smaller, 5, 5));
        assert!(!counts(Tightness::Smaller, 5, 0) && !counts(Tightness::Smaller, 6, 5));

        let (none, five) = (text(NO_LIMIT), Value::Count(5));
        let limits = |asked, beneath| Tightness::Smaller.allows(ValueType::Limit, asked, beneath);
        assert!(limits(&five, &none) && limits(&none, &none) && !limits(&none, &five));

        let switches = |rule: Tightness, asked, beneath| {
            rule.allows(ValueType::Switch, &Value::Switch(asked), &Value::Switch(beneath))
        };
        assert!(switches(Tightness::True, true, false) && !switches(Tightness::True, false, true));
        assert!(switches(Tightness::False, false, true) && !switches(Tightness::False, true, false));
    }
}
