//! The rows of the table of commands.
//!
//! Knows names, arguments, words of help and who may give a command. Refuses to know what a command does.

use loggia_domain::Role;

use super::{
    Argument, Command, ExtensionVerb, IndexVerb, Kind, MessageVerb, Need, PluginVerb, TaskVerb, Verb,
};

const fn one(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, need: Need::One }
}

const fn maybe(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, need: Need::Maybe }
}

const fn rest(name: &'static str, need: Need) -> Argument {
    Argument { name, kind: Kind::Text, need }
}

/// What says which task is meant, and what else commands about tasks take.
const TASK: Argument = one("TASK", Kind::Task);
const ONLY_TASK: &[Argument] = &[TASK];
const TASK_AND_AGENT: &[Argument] = &[TASK, maybe("AGENT", Kind::Model)];
const TASK_AND_TEXT: &[Argument] = &[TASK, rest("TEXT", Need::Rest)];
const TASK_AND_NUMBER: &[Argument] = &[TASK, maybe("N", Kind::Number)];
const SCHEME: &[Argument] = &[one("SCHEME", Kind::Text)];
const PLUGIN: &[Argument] = &[one("PLUGIN", Kind::Plugin)];
const EXTENSION: &[Argument] = &[one("EXT", Kind::Extension)];
const FILE: &[Argument] = &[one("FILE", Kind::Text)];
const MAYBE_FILE: &[Argument] = &[maybe("FILE", Kind::Text)];
const PATH: &[Argument] = &[one("PATH", Kind::Text)];

/// A command about a task.
const fn task(
    name: &'static [&'static str],
    arguments: &'static [Argument],
    scope: Role,
    verb: TaskVerb,
    help: &'static str,
) -> Command {
    Command { name, arguments, help, more: "", scope, verb: Verb::Task(verb) }
}

/// A command about a plugin. All of them have code run, or no longer.
const fn plugin(name: &'static [&'static str], verb: PluginVerb, help: &'static str) -> Command {
    Command { name, arguments: PLUGIN, help, more: "", scope: Role::Admin, verb: Verb::Plugin(verb) }
}

/// A command about an extension.
const fn extension(
    name: &'static [&'static str],
    scope: Role,
    verb: ExtensionVerb,
    help: &'static str,
) -> Command {
    Command { name, arguments: EXTENSION, help, more: "", scope, verb: Verb::Extension(verb) }
}

/// A command about the open message.
const fn message(
    name: &'static [&'static str],
    arguments: &'static [Argument],
    scope: Role,
    verb: MessageVerb,
    help: &'static str,
) -> Command {
    Command { name, arguments, help, more: "", scope, verb: Verb::Message(verb) }
}

/// A command about the code index.
const fn index(
    name: &'static [&'static str],
    scope: Role,
    verb: IndexVerb,
    help: &'static str,
    more: &'static str,
) -> Command {
    Command { name, arguments: &[], help, more, scope, verb: Verb::Index(verb) }
}

/// Every command, in the order `help` shows them.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: &["help"],
        arguments: &[maybe("COMMAND", Kind::Command)],
        help: "show the commands, or what one of them does",
        more: "",
        scope: Role::Watch,
        verb: Verb::Help,
    },
    Command {
        name: &["sessions"],
        arguments: &[],
        help: "list the sessions, the latest first",
        more: "",
        scope: Role::Watch,
        verb: Verb::Sessions,
    },
    Command {
        name: &["use"],
        arguments: &[one("SESSION", Kind::SessionOrNew)],
        help: "take a session: what is said there comes here, and what you ask goes there",
        more: "SESSION is an id, its beginning or its end; `use new` is `new`.",
        scope: Role::Drive,
        verb: Verb::Use,
    },
    Command {
        name: &["new"],
        arguments: &[maybe("DIR", Kind::Directory)],
        help: "begin a session and take it",
        more: "Without DIR it works where the session in use does, else in the workspace you are in, else in the daemon's.",
        scope: Role::Admin,
        verb: Verb::New,
    },
    Command {
        name: &["show"],
        arguments: &[maybe("QUESTION", Kind::Question)],
        help: "show the session in use, or all of a question",
        more: "",
        scope: Role::Watch,
        verb: Verb::Show,
    },
    Command {
        name: &["ask"],
        arguments: &[Argument { name: "TEXT", kind: Kind::Text, need: Need::Rest }],
        help: "ask the agent of the session in use",
        more: "The rest of the line is taken as it is, quotes included. Without a session in use the only one there is is taken; if there is none, one is begun.",
        scope: Role::Drive,
        verb: Verb::Ask,
    },
    Command {
        name: &["questions"],
        arguments: &[],
        help: "list what waits for an answer",
        more: "",
        scope: Role::Watch,
        verb: Verb::Questions,
    },
    Command {
        name: &["approve"],
        arguments: &[
            one("QUESTION", Kind::Question),
            Argument { name: "--hunk", kind: Kind::Number, need: Need::Flag },
        ],
        help: "answer a question with yes, or allow only some hunks of its changes",
        more: "Hunks have the numbers they are shown with: `approve 4f2a9c --hunk 1 3`.",
        scope: Role::Drive,
        verb: Verb::Approve,
    },
    Command {
        name: &["reject"],
        arguments: &[
            one("QUESTION", Kind::Question),
            Argument { name: "REASON", kind: Kind::Text, need: Need::MaybeRest },
        ],
        help: "answer a question with no; the agent is told the reason",
        more: "",
        scope: Role::Drive,
        verb: Verb::Reject,
    },
    Command {
        name: &["cancel"],
        arguments: &[],
        help: "end the turn of the session in use",
        more: "",
        scope: Role::Drive,
        verb: Verb::Cancel,
    },
    Command {
        name: &["continue"],
        arguments: &[],
        help: "go on with a turn that was cut",
        more: "",
        scope: Role::Drive,
        verb: Verb::Continue,
    },
    Command {
        name: &["undo"],
        arguments: &[maybe("N", Kind::Number)],
        help: "take back what the last turn, or the last N that changed files, did",
        more: "",
        scope: Role::Drive,
        verb: Verb::Undo,
    },
    Command {
        name: &["redo"],
        arguments: &[maybe("N", Kind::Number)],
        help: "take back undoing",
        more: "",
        scope: Role::Drive,
        verb: Verb::Redo,
    },
    Command {
        name: &["models"],
        arguments: &[],
        help: "list the models",
        more: "",
        scope: Role::Watch,
        verb: Verb::Models,
    },
    Command {
        name: &["model"],
        arguments: &[one("MODEL", Kind::Model)],
        help: "let another model reply in the session in use",
        more: "",
        scope: Role::Drive,
        verb: Verb::Model,
    },
    Command {
        name: &["policy"],
        arguments: &[],
        help: "show what the workspace of the session in use allows",
        more: "",
        scope: Role::Watch,
        verb: Verb::Policy,
    },
    Command {
        name: &["plugins"],
        arguments: &[maybe("PLUGIN", Kind::Plugin)],
        help: "list the plugins of the workspace of the session in use, or show one",
        more: "None is started by that.",
        scope: Role::Watch,
        verb: Verb::Plugins,
    },
    plugin(&["plugin", "enable"], PluginVerb::Enable, "let a plugin run in that workspace"),
    plugin(&["plugin", "disable"], PluginVerb::Disable, "let a plugin run there no longer"),
    plugin(&["plugin", "validate"], PluginVerb::Validate, "try whether a plugin starts and answers"),
    Command {
        name: &["extensions"],
        arguments: &[maybe("EXT", Kind::Extension)],
        help: "list the extensions of the workspace of the session in use, or show one",
        more: "None is started by looking.",
        scope: Role::Watch,
        verb: Verb::Extensions,
    },
    Command {
        name: &["ext", "run"],
        arguments: &[one("EXT", Kind::Extension), one("COMMAND", Kind::Text)],
        help: "run a command of an extension",
        more: "What it asks meanwhile is told here, and `answer` answers it.",
        scope: Role::Drive,
        verb: Verb::Extension(ExtensionVerb::Run),
    },
    extension(&["ext", "logs"], Role::Watch, ExtensionVerb::Logs, "show what an extension said last"),
    extension(
        &["ext", "restart"],
        Role::Admin,
        ExtensionVerb::Restart,
        "stop an extension and start it again, or start it",
    ),
    extension(&["ext", "stop"], Role::Admin, ExtensionVerb::Stop, "stop an extension"),
    message(
        &["message", "open"],
        FILE,
        Role::Drive,
        MessageVerb::Open,
        "open a file as the message that extensions and agents work on",
    ),
    message(
        &["message", "show"],
        &[maybe("FORMAT", Kind::Format)],
        Role::Watch,
        MessageVerb::Show,
        "show the open message, as it is written or as hl7, json, yaml or toml",
    ),
    message(&["message", "get"], PATH, Role::Watch, MessageVerb::Get, "show what stands at a place in it"),
    message(
        &["message", "set"],
        &[one("PATH", Kind::Text), rest("VALUE", Need::MaybeRest)],
        Role::Drive,
        MessageVerb::Set,
        "put something there; without VALUE the place is cleared",
    ),
    message(&["message", "undo"], &[], Role::Drive, MessageVerb::Undo, "take the last change back"),
    message(&["message", "redo"], &[], Role::Drive, MessageVerb::Redo, "make it again"),
    message(
        &["message", "save"],
        MAYBE_FILE,
        Role::Drive,
        MessageVerb::Save,
        "write it to its file, or to another one",
    ),
    message(
        &["message", "validate"],
        &[],
        Role::Watch,
        MessageVerb::Validate,
        "show what is doubtful about it",
    ),
    message(&["message", "close"], &[], Role::Drive, MessageVerb::Close, "close it, if all of it is saved"),
    Command {
        name: &["dialogs"],
        arguments: &[],
        help: "list what extensions ask and show",
        more: "",
        scope: Role::Watch,
        verb: Verb::Dialogs,
    },
    Command {
        name: &["answer"],
        arguments: &[one("DIALOG", Kind::Dialog), rest("ANSWER", Need::MaybeRest)],
        help: "answer what an extension asks",
        more: "ANSWER is yes or no, a path, several of them in quotes where they hold spaces, or cancel. Paths are relative to the workspace.",
        scope: Role::Drive,
        verb: Verb::Answer,
    },
    Command {
        name: &["window", "close"],
        arguments: &[one("WINDOW", Kind::Window)],
        help: "close a window of an extension",
        more: "",
        scope: Role::Drive,
        verb: Verb::CloseWindow,
    },
    Command {
        name: &["tasks"],
        arguments: &[],
        help: "list the tasks of the workspace of the session in use that are under way",
        more: "",
        scope: Role::Watch,
        verb: Verb::Tasks,
    },
    task(
        &["task", "browse"],
        SCHEME,
        Role::Drive,
        TaskVerb::Browse,
        "list what there is to do at a provider of tasks",
    ),
    Command {
        name: &["task", "start"],
        arguments: &[rest("REFERENCE", Need::Rest)],
        help: "start a task and take its session; no agent runs yet",
        more: "REFERENCE is `file:PATH`, `text:WORDS`, or what a plugin knows. The task works on a branch of its own.",
        scope: Role::Drive,
        verb: Verb::Task(TaskVerb::Start),
    },
    task(&["task", "status"], ONLY_TASK, Role::Watch, TaskVerb::Status, "show how a task stands"),
    task(
        &["task", "plan"],
        TASK_AND_AGENT,
        Role::Drive,
        TaskVerb::Plan,
        "have an agent write what is to be done",
    ),
    task(
        &["task", "implement"],
        TASK_AND_AGENT,
        Role::Drive,
        TaskVerb::Implement,
        "have an agent do what the plan says",
    ),
    task(
        &["task", "review"],
        TASK_AND_AGENT,
        Role::Drive,
        TaskVerb::Review,
        "have an agent look at what was done",
    ),
    Command {
        name: &["task", "finish"],
        arguments: &[TASK, maybe("HOW", Kind::Ending)],
        help: "check the work, bring it where it belongs, and end the task",
        more: "HOW is keep, merge, squash or propose. Without it the work stays on its branch.",
        scope: Role::Drive,
        verb: Verb::Task(TaskVerb::Finish),
    },
    task(
        &["task", "note"],
        TASK_AND_TEXT,
        Role::Drive,
        TaskVerb::Note,
        "add a note, which agents read in the next steps",
    ),
    task(&["task", "answer"], TASK_AND_TEXT, Role::Drive, TaskVerb::Answer, "answer what an agent asked"),
    task(
        &["task", "undo"],
        TASK_AND_NUMBER,
        Role::Drive,
        TaskVerb::Undo,
        "go back by a checkpoint, or by N: files, conversation and step",
    ),
    task(&["task", "redo"], TASK_AND_NUMBER, Role::Drive, TaskVerb::Redo, "go forth again"),
    task(
        &["task", "resume"],
        ONLY_TASK,
        Role::Drive,
        TaskVerb::Resume,
        "go on with what was cut off, or ask again whoever holds the task back",
    ),
    Command {
        name: &["task", "set"],
        arguments: &[TASK, one("NAME", Kind::Text), rest("VALUE", Need::MaybeRest)],
        help: "state a fact that guards may look for, or take it back",
        more: "VALUE is JSON or plain words; without it the fact is taken back.",
        scope: Role::Drive,
        verb: Verb::Task(TaskVerb::Set),
    },
    task(
        &["task", "override"],
        ONLY_TASK,
        Role::Admin,
        TaskVerb::Override,
        "go past the guard that holds a task back",
    ),
    Command {
        name: &["task", "abandon"],
        arguments: &[TASK],
        help: "give a task up, with its branch",
        more: "What no commit holds keeps it from that.",
        scope: Role::Drive,
        verb: Verb::Task(TaskVerb::Abandon),
    },
    Command {
        name: &["task", "auto"],
        arguments: &[one("HOW", Kind::Ending), rest("REFERENCE", Need::Rest)],
        help: "do a task from beginning to end, or go on with it",
        more: "HOW is keep, merge, squash or propose. Agents ask nothing; the policy does.",
        scope: Role::Drive,
        verb: Verb::Task(TaskVerb::Auto),
    },
    index(
        &["index"],
        Role::Watch,
        IndexVerb::Status,
        "show how the code index of the workspace of the session in use is",
        "",
    ),
    index(
        &["index", "skipped"],
        Role::Watch,
        IndexVerb::Skipped,
        "list the files that are not in it, with the reasons",
        "",
    ),
    index(
        &["index", "build"],
        Role::Drive,
        IndexVerb::Build,
        "bring it up to date with the files",
        "It goes on behind the command, and its steps are told; `index cancel` ends it.",
    ),
    index(&["index", "rebuild"], Role::Drive, IndexVerb::Rebuild, "build it from nothing", ""),
    index(&["index", "pause"], Role::Drive, IndexVerb::Pause, "hold its build up", ""),
    index(&["index", "resume"], Role::Drive, IndexVerb::Resume, "let its build go on", ""),
    index(
        &["index", "cancel"],
        Role::Drive,
        IndexVerb::Cancel,
        "end its build; what was there before stays",
        "",
    ),
    index(
        &["index", "drop"],
        Role::Drive,
        IndexVerb::Drop,
        "take it away; it is built again when it is next needed",
        "",
    ),
    Command {
        name: &["search"],
        arguments: &[rest("WORDS", Need::Rest)],
        help: "look for code in the workspace of the session in use",
        more: "Words, names of definitions and what other code uses most are ranked together. `loggia search` has more ways.",
        scope: Role::Watch,
        verb: Verb::Search,
    },
    Command {
        name: &["workspaces"],
        arguments: &[],
        help: "list the registered directories",
        more: "",
        scope: Role::Watch,
        verb: Verb::Workspaces,
    },
    Command {
        name: &["clients"],
        arguments: &[],
        help: "show who is on the console, and who is on the session in use",
        more: "",
        scope: Role::Watch,
        verb: Verb::Clients,
    },
    Command {
        name: &["log", "level"],
        arguments: &[maybe("LEVEL", Kind::Level)],
        help: "show how much is logged on every console, or change it",
        more: "LEVEL is one of off, error, warn, info, debug and trace. Questions are always told. The daemon's own log stays as it is.",
        scope: Role::Admin,
        verb: Verb::LogLevel,
    },
    Command {
        name: &["version"],
        arguments: &[],
        help: "show the daemon's version",
        more: "",
        scope: Role::Watch,
        verb: Verb::Version,
    },
    Command {
        name: &["stop"],
        arguments: &[],
        help: "end the daemon: turns are cut and can be continued",
        more: "",
        scope: Role::Admin,
        verb: Verb::Stop,
    },
];
