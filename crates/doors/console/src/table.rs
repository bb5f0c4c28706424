//! The commands: one table that says what each is called, what it takes and what it does.
//!
//! Reading a line, completing it, colouring it, `help` and the documentation follow this table, and nothing else knows
//! a command's name. Its rows are a file of their own.

mod rows;

use loggia_domain::Role;

pub(crate) use rows::COMMANDS;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Help,
    Sessions,
    Use,
    New,
    Show,
    Ask,
    Questions,
    Approve,
    Reject,
    Cancel,
    Continue,
    Undo,
    Redo,
    Models,
    Model,
    Policy,
    Plugins,
    Plugin(PluginVerb),
    Extensions,
    Extension(ExtensionVerb),
    Message(MessageVerb),
    Index(IndexVerb),
    Search,
    Dialogs,
    Answer,
    CloseWindow,
    Tasks,
    Task(TaskVerb),
    Workspaces,
    Clients,
    LogLevel,
    Version,
    Stop,
}

/// What a command does about a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PluginVerb {
    Enable,
    Disable,
    Validate,
}

/// What a command does about an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtensionVerb {
    Run,
    Logs,
    Restart,
    Stop,
}

/// What a command does about the open message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageVerb {
    Open,
    Show,
    Get,
    Set,
    Undo,
    Redo,
    Save,
    Validate,
    Close,
}

/// What a command does about the code index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexVerb {
    Status,
    Skipped,
    Build,
    Rebuild,
    Pause,
    Resume,
    Cancel,
    Drop,
}

/// What a command does about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskVerb {
    Browse,
    Start,
    Status,
    Plan,
    Implement,
    Review,
    Finish,
    Note,
    Answer,
    Undo,
    Redo,
    Resume,
    Set,
    Override,
    Abandon,
    Auto,
}

/// One command.
#[derive(Debug)]
pub(crate) struct Command {
    /// Its words.
    pub(crate) name: &'static [&'static str],
    /// What comes after them.
    pub(crate) arguments: &'static [Argument],
    /// What it does, in a line.
    pub(crate) help: &'static str,
    /// What else there is to know; empty if that is all.
    pub(crate) more: &'static str,
    /// Who may give it.
    pub(crate) scope: Role,
    pub(crate) verb: Verb,
}

/// What a command takes.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
}

/// What an argument stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command of this table.
    Command,
    /// A session, or `new`.
    SessionOrNew,
    /// A question that waits.
    Question,
    /// A model.
    Model,
    /// A task that is under way.
    Task,
    /// Where the work of a task goes.
    Ending,
    /// A plugin.
    Plugin,
    /// An extension.
    Extension,
    /// A dialog that is open.
    Dialog,
    /// A window that is open.
    Window,
    /// How a message is written.
    Format,
    /// How much is logged.
    Level,
    /// A directory.
    Directory,
    /// A number from 1 on.
    Number,
    /// Anything.
    Text,
}

/// How often an argument comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Once.
    One,
    /// Once or not at all.
    Maybe,
    /// The rest of the line as it was typed.
    Rest,
    /// The same, and there may be none.
    MaybeRest,
    /// As a flag with numbers: `--hunk 1 3`.
    Flag,
}

impl Command {
    /// Its name as it is typed.
    pub(crate) fn typed(&self) -> String {
        self.name.join(" ")
    }

    /// How it is used.
    pub(crate) fn usage(&self) -> String {
        let mut usage = self.typed();
        for argument in self.arguments {
            let name = argument.name;
            usage.push_str(&match argument.need {
                Need::One => format!(" {name}"),
                Need::Maybe => format!(" [{name}]"),
                Need::Rest => format!(" {name}…"),
                Need::MaybeRest => format!(" [{name}…]"),
                Need::Flag => format!(" [{name} N…]"),
            });
        }
        usage
    }
}

/// The command that was given by these words, with how many of them are its name: the longest that fits.
pub(crate) fn find<'a>(
    words: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<(&'static Command, usize)> {
    let fits = |command: &&Command| {
        let mut given = words.clone().into_iter();
        command.name.iter().enumerate().all(|(place, part)| {
            let word = given.next().unwrap_or_default();
            // Consoles of other servers take a slash before a command.
            let word = if place == 0 { word.strip_prefix('/').unwrap_or(word) } else { word };
            word == *part
        })
    };
    let found = COMMANDS.iter().filter(fits).max_by_key(|command| command.name.len());
    found.map(|command| (command, command.name.len()))
}

/// The commands whose names go on after these words.
pub(crate) fn longer<'a>(words: &'a [&'a str]) -> impl Iterator<Item = &'static Command> + use<'a> {
    COMMANDS.iter().filter(move |command| {
        let mut parts = command.name.iter().zip(words).enumerate();
        command.name.len() > words.len()
            && parts.all(|(place, (part, word))| {
                *part == if place == 0 { word.strip_prefix('/').unwrap_or(word) } else { word }
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for command in COMMANDS {
            let (found, words) = find(command.name.iter().copied()).unwrap();
            assert_eq!((found.verb, words), (command.verb, command.name.len()));
        }
        assert_eq!(find(["/help"]).unwrap().0.verb, Verb::Help);
        assert_eq!(find(["index"]).unwrap().0.verb, Verb::Index(IndexVerb::Status));
        assert_eq!(find(["index", "build", "x"]).unwrap().0.verb, Verb::Index(IndexVerb::Build));
        assert_eq!((longer(&["/index"]).count(), longer(&["index", "build"]).count()), (7, 0));
        assert!(find(["log"]).is_none() && find(["Help"]).is_none() && find([]).is_none());
    }

    #[test]
    fn only_the_last_arguments_may_be_left_out_or_take_the_rest() {
        for command in COMMANDS {
            let needs: Vec<_> = command.arguments.iter().map(|argument| argument.need).collect();
            let first = needs.iter().position(|need| *need != Need::One).unwrap_or(needs.len());
            assert!(needs.len() - first <= 1, "{}", command.usage());
            assert!(!command.help.is_empty() && !command.help.ends_with('.'), "{}", command.usage());
        }
    }

    #[test]
    fn who_may_only_look_changes_nothing_and_only_admins_have_code_run_or_go_past_guards() {
        let of = |role: Role| {
            let about = |command: &&Command| {
                let names = ["plugins", "plugin", "tasks", "task", "index", "search"];
                command.scope == role && names.contains(&command.name[0])
            };
            COMMANDS.iter().filter(about).map(Command::typed).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(of(Role::Watch), "plugins, tasks, task status, index, index skipped, search");
        assert_eq!(of(Role::Admin), "plugin enable, plugin disable, plugin validate, task override");
        assert_eq!(
            of(Role::Drive),
            "task browse, task start, task plan, task implement, task review, task finish, task note, task answer, \
             task undo, task redo, task resume, task set, task abandon, task auto, index build, index rebuild, \
             index pause, index resume, index cancel, index drop"
        );
    }

    #[test]
    fn a_usage_shows_what_may_be_left_out() {
        let usage = |name: &str| find([name]).unwrap().0.usage();
        assert_eq!(usage("approve"), "approve QUESTION [--hunk N…]");
        assert_eq!(usage("reject"), "reject QUESTION [REASON…]");
        assert_eq!(usage("ask"), "ask TEXT…");
        assert_eq!(usage("new"), "new [DIR]");
        assert_eq!(find(["task", "set"]).unwrap().0.usage(), "task set TASK NAME [VALUE…]");
    }

    #[test]
    fn the_documentation_says_the_same() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/console.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = COMMANDS.iter().map(|command| format!("| `{}` | {} |\n", command.usage(), command.help));
        let table: String = rows.collect();
        assert!(page.contains(&table), "the table of commands should be\n{table}");
    }
}
