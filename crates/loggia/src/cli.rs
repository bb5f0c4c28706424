//! The command line as a form: flags, their help, and nothing about what they do.
//!
//! Values that also exist as configuration keys take their choices from the table of keys, so that a flag
//! and a file can never disagree about what is allowed.

mod agent;
mod attach;
mod extension;
mod index;
mod message;
mod plugin;
mod plugin_author;
mod sessions;
mod task;
mod wrap;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, Parser, Subcommand};

pub(crate) use agent::{
    AskArguments, DoctorArguments, InitArguments, ModelCommand, ModelListArguments, ModelUseArguments,
    PolicyCheckArguments, PolicyCommand, PolicyEditArguments, PolicyShowArguments, TurnArguments,
    UndoArguments,
};
pub(crate) use attach::AttachArguments;
pub(crate) use extension::{
    ExtensionCheckArguments, ExtensionCommand, ExtensionLanguage, ExtensionListArguments,
    ExtensionNamedArguments, ExtensionNewArguments, ExtensionRunArguments, ExtensionSubcommand,
};
pub(crate) use index::{
    IndexBuildArguments, IndexCommand, IndexDropArguments, IndexPlace, IndexPullArguments,
    IndexStatusArguments, IndexSubcommand, SearchArguments, SearchWayArguments,
};
pub(crate) use message::{
    FormatName, MessageArguments, MessageCommand, MessageOpenArguments, MessagePatchArguments,
};
pub(crate) use plugin::{
    PluginCommand, PluginListArguments, PluginPlace, PluginSwitchArguments, TrustArguments,
};
pub(crate) use plugin_author::{PluginCheckArguments, PluginNewArguments, PluginSubcommand};
pub(crate) use sessions::{SessionsCommand, SessionsImportArguments, SessionsListArguments};
pub(crate) use task::{
    PlaceName, TaskAbandonArguments, TaskAutoArguments, TaskBegin, TaskBrowseArguments, TaskCommand,
    TaskEnding, TaskFinishArguments, TaskListArguments, TaskOf, TaskResumeArguments, TaskSetArguments,
    TaskStepArguments, TaskUndoArguments,
};
pub(crate) use wrap::WrapArguments;

use crate::config::keys;
use crate::daemon::detach;
use crate::inspect::ProtocolName;
use crate::rpc::Meant;

const ABOUT: &str = "One coding agent, many doors";

const LONG_ABOUT: &str = "\
Loggia is a local-first coding-agent server: one agent, many doors.

`loggia ask` puts a question or a task to the agent. `loggia serve` runs the server: durable sessions, tools under a \
policy, approvals and undo, over HTTP and WebSocket. `loggia rpc`, also as `loggia --mode rpc`, is the agent of clients of the Autohand protocol. \
`loggia attach` is a terminal on the server's console, or on that of any Endermux server. `loggia plugin` looks after Mehrhof plugins, `loggia ext` \
after Hermes extensions, and `loggia message` is for the HL7 messages and documents these work on.";

const EXAMPLES: &str = "\
Examples:
  loggia init                                set up a model, the first time
  loggia ask \"why does login fail?\"         ask the agent about the workspace around this directory
  loggia serve                               run the server for the workspace around this directory
  loggia serve --detach --addr 127.0.0.1:0   run it in the background, on a free port
  loggia rpc                                 be an Autohand client's agent, also as `--mode rpc`
  loggia attach                              a live console on the server; any number of terminals
  loggia wrap -- java -jar server.jar nogui  give a program a console that terminals attach to
  loggia task start file:tasks/login.md      begin a task on a branch; `task plan` comes next
  loggia search \"token is checked\"         find code by words, names and meaning
  loggia plugin                              list the plugins there are, and how they are
  loggia plugin new tasks --type provider    write a plugin to start from; `plugin check` tries it
  loggia message open adt.hl7                open an HL7 message to work on
  loggia ext run hello hello/greet --save    run an extension's command on it, and save
  loggia trust                               show what a workspace would run, and let it
  loggia open                                show the page of the server that runs
  loggia status                              whether a server runs, and how it is
  loggia inspect                             look at a recorded conversation of each protocol
  loggia inspect hermes session.bin          check a recorded byte stream
  loggia config show                         every setting and where its value came from
  loggia --set policy.preset=read-only config show policy.preset
  loggia completions bash > ~/.local/share/bash-completion/completions/loggia

Exit codes: 0 done, 2 wrong usage, 3 wrong configuration, 4 faults found, 5 not reachable, 6 refused, 7 cancelled, 8 the model failed; all are in docs/reference/exit-codes.md.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "loggia",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = EXAMPLES,
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// Flags every command takes.
    #[command(flatten)]
    pub(crate) flags: GlobalFlags,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GlobalFlags {
    /// Set a configuration key for this run; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = parse_assignment, help_heading = "Configuration")]
    pub(crate) set: Vec<(String, String)>,

    /// Colour the output
    ///
    /// `auto` colours only a terminal, and respects NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, value_name = "WHEN", value_parser = PossibleValuesParser::new(keys::COLOR_CHOICES), help_heading = "Output")]
    pub(crate) color: Option<String>,

    /// Say more on stderr: -v for debug, -vv for trace
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with_all = ["quiet", "log_level"], help_heading = "Output")]
    pub(crate) verbose: u8,

    /// Say only what is an error
    #[arg(short, long, global = true, conflicts_with = "log_level", help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Write the log like this
    #[arg(long, global = true, value_name = "FORMAT", value_parser = PossibleValuesParser::new(keys::LOG_FORMATS), help_heading = "Output")]
    pub(crate) log_format: Option<String>,

    /// Say what is at least this important on stderr
    #[arg(long, global = true, value_name = "LEVEL", value_parser = PossibleValuesParser::new(keys::LOG_LEVELS), help_heading = "Output")]
    pub(crate) log_level: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask the agent, or give it something to do
    #[command(long_about = agent::ASK_ABOUT)]
    Ask(Box<AskArguments>),
    /// Converse with the agent
    Chat(Box<TurnArguments>),
    /// Put a terminal on the console of a server
    #[command(long_about = attach::ATTACH_ABOUT)]
    Attach(AttachArguments),
    /// Look after sessions; without a command, list them
    #[command(args_conflicts_with_subcommands = true)]
    Sessions {
        /// What to do.
        #[command(subcommand)]
        command: Option<SessionsCommand>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: SessionsListArguments,
    },
    /// Take back what the agent changed
    #[command(long_about = agent::UNDO_ABOUT)]
    Undo(UndoArguments),
    /// Make again what was taken back
    Redo(UndoArguments),
    /// Look after models; without a command, list them
    #[command(args_conflicts_with_subcommands = true)]
    Model {
        /// What to do.
        #[command(subcommand)]
        command: Option<ModelCommand>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: ModelListArguments,
    },
    /// Look after what the agent may do; without a command, show it
    #[command(args_conflicts_with_subcommands = true)]
    Policy {
        /// What to do.
        #[command(subcommand)]
        command: Option<PolicyCommand>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: PolicyShowArguments,
    },
    /// Have pieces of work done, step by step; without a command, list them
    #[command(args_conflicts_with_subcommands = true)]
    Task {
        /// What to do.
        #[command(subcommand)]
        command: Option<Box<TaskCommand>>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: TaskListArguments,
    },
    /// Look for code in the workspace's index
    Search(SearchArguments),
    /// Look after the code index; without a command, show how it is
    #[command(args_conflicts_with_subcommands = true)]
    Index {
        /// What to do.
        #[command(subcommand)]
        command: Option<IndexSubcommand>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: IndexStatusArguments,
    },
    /// Look after plugins; without a command, list them
    #[command(args_conflicts_with_subcommands = true)]
    Plugin {
        /// What to do.
        #[command(subcommand)]
        command: Option<PluginSubcommand>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: PluginListArguments,
    },
    /// Look after extensions, and run their commands; without a command, list them
    #[command(args_conflicts_with_subcommands = true)]
    Ext {
        /// What to do.
        #[command(subcommand)]
        command: Option<ExtensionSubcommand>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: ExtensionListArguments,
    },
    /// Work on the open message of a workspace; without a command, tell what is open
    #[command(args_conflicts_with_subcommands = true, long_about = message::ABOUT)]
    Message {
        /// What to do.
        #[command(subcommand)]
        command: Option<Box<MessageCommand>>,
        /// How it is done without a command.
        #[command(flatten)]
        usual: MessageArguments,
    },
    /// Let a workspace's own files name programs and loosen rules
    #[command(long_about = plugin::TRUST_ABOUT)]
    Trust(TrustArguments),
    /// Set up a model, and its key if it needs one
    #[command(long_about = agent::INIT_ABOUT)]
    Init(InitArguments),
    /// Tell what is set up, what works, and what to do about the rest
    Doctor(DoctorArguments),
    /// Run the server
    #[command(long_about = SERVE_ABOUT)]
    Serve(ServeArguments),
    /// Be the agent that a client of the Autohand protocol starts
    #[command(long_about = RPC_ABOUT)]
    Rpc(RpcArguments),
    /// Run any program and give it a console that terminals attach to
    #[command(long_about = wrap::ABOUT)]
    Wrap(Box<WrapArguments>),
    /// Show the page of the server that runs
    #[command(long_about = OPEN_ABOUT)]
    Open(OpenArguments),
    /// Tell whether a server runs, and how it is
    Status(StatusArguments),
    /// Stop the server that runs
    #[command(long_about = STOP_ABOUT)]
    Stop(StopArguments),
    /// Check a recorded conversation of one of the five protocols
    #[command(long_about = INSPECT_ABOUT)]
    Inspect(InspectArguments),
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
}

/// The commands people never type. They have a form of their own: in the public one, messages and
/// completions would offer them even when hidden.
#[derive(Debug, Parser)]
#[command(name = "loggia", disable_help_subcommand = true)]
pub(crate) enum HiddenCommand {
    /// Check or rewrite the generated parts of the reference pages
    #[command(name = "__docs")]
    Docs(DocsArguments),
    /// Run the server for a starter that goes
    #[command(name = detach::COMMAND)]
    Serve {
        /// Flags every command takes.
        #[command(flatten)]
        flags: GlobalFlags,
        /// What the starter was asked for.
        #[command(flatten)]
        arguments: Box<ServeArguments>,
    },
    /// Start a program, watch over it and end it with its whole group
    #[command(name = "__supervise")]
    Supervise,
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Something people ask for.
    Public(Cli),
    /// To be the agent of a client, with these words.
    Agent(Vec<OsString>),
    /// Something our own processes and chores ask for.
    Hidden(HiddenCommand),
}

/// Reads the command line of this process.
pub(crate) fn parse() -> Result<Asked, clap::Error> {
    match Meant::of(&std::env::args_os().collect::<Vec<_>>()) {
        Some(Meant::Agent(words)) => return Ok(Asked::Agent(words)),
        Some(Meant::Help) => return Cli::try_parse_from(["loggia", "rpc", "--help"]).map(Asked::Public),
        Some(Meant::Version) => return Cli::try_parse_from(["loggia", "--version"]).map(Asked::Public),
        None => {}
    }
    let hidden = std::env::args_os().nth(1).is_some_and(|word| word.as_encoded_bytes().starts_with(b"__"));
    if hidden { HiddenCommand::try_parse().map(Asked::Hidden) } else { Cli::try_parse().map(Asked::Public) }
}

const SERVE_ABOUT: &str = "\
Runs the server in the foreground until Ctrl-C, SIGTERM or `loggia stop`. It listens on an address for clients with \
a token, and on a Unix socket for processes of the same user, and tells where when it is ready.

The first signal lets requests finish, for at most five seconds. The second one ends everything at once. Sessions are \
durable in either case.

There is one server per user. Other machines are heard only over TLS, unless `--insecure` is given.";

const RPC_ABOUT: &str = "\
Speaks the Autohand protocol on stdin and stdout: JSON-RPC, one message a line. Clients start it themselves; it is also \
meant by `loggia --rpc`, by `loggia --mode rpc`, and by any command line if the program is called `autohand`. The server that runs \
serves it, or one that is started for it, so the session is there for every other client, too.

Flags that such clients send are taken: --path DIR, --model MODEL, --yes, --restricted, --dry-run, --yolo [PATTERN], --permission-mode MODE, \
--resume [ID], --continue, --fork [ID], --thinking [LEVEL], --client-context NAME. Unknown ones do nothing. Flags of Loggia's own:

  --ephemeral            run the engine in this process and keep nothing
  --preview              show changes before they are written
  --end-of-turn HOW      marker, agent-end (for the Go library) or answer (for the Java library)
  --permission-timers    let questions expire, as other agents do
  --merge-updates MS     tell what has come of a reply together, every so many milliseconds
  --client-name NAME     what others on the session are told
  --set KEY=VALUE        set a configuration key for this run

It ends with its input, with SIGTERM and with SIGINT, with exit code 0. Exit code 1: it could not start. Exit code 5: the server has gone.";

/// Arguments of `rpc`.
#[derive(Debug, Args)]
pub(crate) struct RpcArguments {
    /// As the client says them
    #[arg(value_name = "FLAG", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

const OPEN_ABOUT: &str = "\
Opens the page of the server that runs in a browser, and prints the address. The address lets one browser in, once and \
within two minutes, as one who may do everything.

Exits with code 5 when no server runs or no browser can be started.";

const STOP_ABOUT: &str = "\
Asks the server to stop and waits until it has. It is not an error when no server runs.";

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Listen on this address; port 0 takes a free one [default: 127.0.0.1:3199]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) addr: Option<String>,
    /// Register this directory as a workspace; may be repeated
    ///
    /// Without it, the workspace around the current directory is registered, if there is one.
    #[arg(long = "workspace", value_name = "DIR")]
    pub(crate) workspaces: Vec<PathBuf>,
    /// Use this model for new sessions, as `provider:model`
    ///
    /// Several with commas between them are tried in turn. `scripted:FILE` plays a script. Without a model prompts are
    /// answered by searching the workspace.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Tell that the server is ready as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Return when the server is ready, and leave it running
    #[arg(long)]
    pub(crate) detach: bool,
    /// Listen on the Unix socket alone, and leave when nobody needs it any more
    ///
    /// This is how other commands start a server when none runs. With `--addr`, or `server.addr` in the configuration, it
    /// listens there, too.
    #[arg(long)]
    pub(crate) auto: bool,
    /// How long nobody may be there, in milliseconds instead of minutes, for tests.
    #[arg(long, hide = true, value_name = "MS")]
    pub(crate) idle_exit_ms: Option<u64>,
    /// Encrypt connections with a certificate of our own, which is made once
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "tls_cert", help_heading = "Encryption")]
    pub(crate) tls: Option<TlsKind>,
    /// Encrypt connections with the certificate in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Encryption")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Encryption")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Let other machines connect without encryption
    #[arg(long, help_heading = "Encryption")]
    pub(crate) insecure: bool,
}

/// Where a certificate comes from, if not from files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TlsKind {
    /// Made once, signed by itself, kept in the data directory; its fingerprint is told
    SelfSigned,
}

/// Arguments of `open`.
#[derive(Debug, Args)]
pub(crate) struct OpenArguments {
    /// Only print the address
    #[arg(long)]
    pub(crate) print: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `stop`.
#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// Lose what was changed in an open message and not saved
    #[arg(long)]
    pub(crate) discard: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look at the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting, its value and where the value came from
    Show(ConfigShowArguments),
    /// Print which files the configuration is read from
    Path(ConfigPathArguments),
}

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShowArguments {
    /// Show only this key, with what it means
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `config path`.
#[derive(Debug, Args)]
pub(crate) struct ConfigPathArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Whose script to print
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

const INSPECT_ABOUT: &str = "\
Reads a recorded byte stream, cuts it into messages as the protocol says, checks each message against the \
protocol's table, and prints one line per message: its number, who sends it, its kind, its method or type, \
its id and its size. What does not fit is told below the message with the path of the field.

Without FILE it shows a short sample conversation that is built into the program; without PROTOCOL, one of \
each protocol.

Exits with code 4 when a message has a fault.";

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// Which protocol the stream speaks
    #[arg(value_enum)]
    pub(crate) protocol: Option<ProtocolName>,
    /// The recorded bytes; `-` reads stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print one JSON object per message
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop after this many messages
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

/// Arguments of the hidden `__docs`.
#[derive(Debug, Args)]
pub(crate) struct DocsArguments {
    /// The directory that holds the pages
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Rewrite what is not current; without it, only tell
    #[arg(long)]
    pub(crate) write: bool,
}

fn parse_assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.to_owned())),
        None => Err("expected KEY=VALUE, as in `policy.preset=read-only`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_form_is_consistent() {
        Cli::command().debug_assert();
        HiddenCommand::command().debug_assert();
    }

    #[test]
    fn an_assignment_is_split_at_its_first_equals_sign() {
        assert_eq!(parse_assignment("a.b=c=d"), Ok(("a.b".to_owned(), "c=d".to_owned())));
        assert_eq!(parse_assignment("a.b="), Ok(("a.b".to_owned(), String::new())));
        assert!(parse_assignment("a.b").is_err());
    }
}
