//! The part of the form about tasks.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loggia_protocol_agent_server::Budget;

use super::agent::{PresetName, parse_budget};

/// Have pieces of work done, step by step.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// List what there is to do at a provider of tasks
    Browse(TaskBrowseArguments),
    /// Start a task; no agent runs yet
    #[command(long_about = START_ABOUT)]
    Start(TaskStartArguments),
    /// List the tasks that are under way
    List(TaskListArguments),
    /// Show how a task stands, and what comes next
    Status(TaskOf),
    /// Have an agent write what is to be done
    Plan(TaskStepArguments),
    /// Have an agent do what the plan says
    Implement(TaskStepArguments),
    /// Have an agent look at what was done
    Review(TaskStepArguments),
    /// Check the work, bring it where it belongs, and end the task
    #[command(long_about = FINISH_ABOUT)]
    Finish(TaskFinishArguments),
    /// Add a note, which agents read in the next steps
    Note(TaskTextArguments),
    /// Answer what an agent asked
    Answer(TaskTextArguments),
    /// Go back by some checkpoints: files, conversation and step
    Undo(TaskUndoArguments),
    /// Go forth again
    Redo(TaskMoveArguments),
    /// Give a task up
    Abandon(TaskAbandonArguments),
    /// Do a task from beginning to end, or go on with it
    #[command(long_about = AUTO_ABOUT)]
    Auto(TaskAutoArguments),
    /// Go on with what was cut off, or ask again whoever holds the task back
    Resume(TaskResumeArguments),
    /// Go past the guard that holds a task back
    Override(TaskOf),
    /// State a fact that guards may look for, or take it back
    Set(TaskSetArguments),
}

/// Which task is meant.
#[derive(Debug, Args, Default)]
pub(crate) struct TaskOf {
    /// Which [default: the only one of this workspace that is under way]
    #[arg(short, long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `task list`.
#[derive(Debug, Args, Default)]
pub(crate) struct TaskListArguments {
    /// Also those that are over
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Of all workspaces
    #[arg(short, long, conflicts_with = "workspace")]
    pub(crate) global: bool,
    /// Of this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `task browse`.
#[derive(Debug, Args)]
pub(crate) struct TaskBrowseArguments {
    /// Where to look, as a scheme such as `dir` or one of a plugin's
    #[arg(value_name = "SCHEME")]
    pub(crate) scheme: String,
    /// Only items that are so far
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Only items with these words, with commas between them
    #[arg(long, value_name = "TAGS")]
    pub(crate) tag: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Trust the workspace for this run: its plugins may run
    #[arg(long)]
    pub(crate) trust: bool,
    /// Those after this place, as an earlier page told it
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const START_ABOUT: &str = "\
Fetches a piece of work from a file, a directory, a plugin or plain words, makes a branch for it, and a session that keeps all that happens \
to it. No agent runs; `loggia task plan` is the first step.";

/// What a task begins with.
#[derive(Debug, Args)]
pub(crate) struct TaskBegin {
    /// What is to be done, as `file:PATH`, `text:WORDS`, or what a plugin knows, such as `jira:PROJ-1`
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: String,
    /// Where the work goes
    #[arg(long, value_name = "PLACE", value_enum, default_value_t = PlaceName::Branch)]
    pub(crate) place: PlaceName,
    /// What it is called for short
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The title, instead of the item's own
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// The title as a part of names
    #[arg(long, value_name = "SLUG")]
    pub(crate) slug: Option<String>,
    /// How the branch is called, as in `{type}/{key}--{slug}`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) branch_pattern: Option<String>,
    /// What commits begin with, as in `[{key}]`
    #[arg(long, value_name = "PREFIX")]
    pub(crate) commit_prefix: Option<String>,
    /// The agent that does the work: a model as `provider:model`, or `plugin:NAME`
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    pub(crate) agent: Option<String>,
    /// The agent that plans
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    pub(crate) plan_agent: Option<String>,
    /// The agent that implements
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    pub(crate) implement_agent: Option<String>,
    /// The agent that reviews
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    pub(crate) review_agent: Option<String>,
    /// What happens where no rule says otherwise
    #[arg(long, value_name = "PRESET", value_enum)]
    pub(crate) policy: Option<PresetName>,
    /// Trust the workspace for this run: its plugins may run
    #[arg(long)]
    pub(crate) trust: bool,
    /// What the task may use up: `tokens=50000,usd=0.5`, each of them optional
    #[arg(long, value_name = "LIMITS", value_parser = parse_budget)]
    pub(crate) budget: Option<Budget>,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON; of what takes steps, every event as a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the work of a task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceName {
    /// On a branch of its own, in this working tree
    Branch,
    /// On a branch of its own, in a working tree of its own beside this one
    Worktree,
    /// Here as it is, without a branch
    Here,
}

/// Arguments of `task start`.
#[derive(Debug, Args)]
pub(crate) struct TaskStartArguments {
    /// What it begins with.
    #[command(flatten)]
    pub(crate) begin: TaskBegin,
}

/// Arguments of `task plan`, `task implement` and `task review`.
#[derive(Debug, Args)]
pub(crate) struct TaskStepArguments {
    /// The agent that does it: a model as `provider:model`, or `plugin:NAME`
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Trust the workspace for this run: its plugins may run
    #[arg(long)]
    pub(crate) trust: bool,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
    /// Answer yes to everything that is asked
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Arguments of `task resume`.
#[derive(Debug, Args)]
pub(crate) struct TaskResumeArguments {
    /// Trust the workspace for this run: its plugins may run
    #[arg(long)]
    pub(crate) trust: bool,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
    /// Answer yes to everything that is asked
    #[arg(short, long)]
    pub(crate) yes: bool,
}

const FINISH_ABOUT: &str = "\
Asks the guards of the workspace's plugins, runs `make quality` if there is such a target, and then leaves the work on its branch, merges \
it with `--merge`, or proposes it to where it came from with `--propose`. Nothing is sent anywhere without `--push` or `--propose`.";

/// How a task is finished.
#[derive(Debug, Args, Default)]
pub(crate) struct TaskEnding {
    /// Merge the branch into the one it came from
    #[arg(long, conflicts_with = "propose")]
    pub(crate) merge: bool,
    /// Make one commit of it
    #[arg(long, requires = "merge")]
    pub(crate) squash: bool,
    /// Propose the branch to where the task came from; that sends it away
    #[arg(long)]
    pub(crate) propose: bool,
    /// The proposal in one line [default: the task's title]
    #[arg(long, value_name = "TITLE", requires = "propose")]
    pub(crate) proposal_title: Option<String>,
    /// The proposal in full [default: the last specification]
    #[arg(long, value_name = "TEXT", requires = "propose")]
    pub(crate) description: Option<String>,
    /// Propose it as something that is still being worked on
    #[arg(long, requires = "propose")]
    pub(crate) draft: bool,
    /// Send what comes of it to where the repository came from
    #[arg(long)]
    pub(crate) push: bool,
    /// The target of the `Makefile` that the work must pass [default: quality]
    #[arg(long, value_name = "TARGET", conflicts_with = "no_quality")]
    pub(crate) quality: Option<String>,
    /// Do not check the work
    #[arg(long)]
    pub(crate) no_quality: bool,
    /// Remove the branch once it is merged
    #[arg(long, requires = "merge")]
    pub(crate) drop_branch: bool,
}

/// Arguments of `task finish`.
#[derive(Debug, Args)]
pub(crate) struct TaskFinishArguments {
    /// How.
    #[command(flatten)]
    pub(crate) ending: TaskEnding,
    /// Trust the workspace for this run: its plugins may run
    #[arg(long)]
    pub(crate) trust: bool,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
    /// Answer yes to everything that is asked
    #[arg(short, long)]
    pub(crate) yes: bool,
}

const AUTO_ABOUT: &str = "\
Starts a task, has it planned and implemented, has it done again until it passes its check, and finishes it. Agents ask nothing; what the \
policy asks about is asked here. The same command goes on with the task if it was cut off.";

/// Arguments of `task auto`.
#[derive(Debug, Args)]
pub(crate) struct TaskAutoArguments {
    /// What it begins with.
    #[command(flatten)]
    pub(crate) begin: TaskBegin,
    /// How it ends.
    #[command(flatten)]
    pub(crate) ending: TaskEnding,
    /// How often to try to pass the check
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tries: Option<u32>,
    /// Answer yes to everything that is asked
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Arguments of `task note` and `task answer`.
#[derive(Debug, Args)]
pub(crate) struct TaskTextArguments {
    /// The words
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
}

/// Arguments of `task undo`.
#[derive(Debug, Args)]
pub(crate) struct TaskUndoArguments {
    /// How many checkpoints; 0 with `--discard`: back to the last one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) steps: u32,
    /// Throw away changes that no commit holds, such as those of a step that failed
    #[arg(long)]
    pub(crate) discard: bool,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
}

/// Arguments of `task redo`.
#[derive(Debug, Args)]
pub(crate) struct TaskMoveArguments {
    /// How many checkpoints
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
}

/// Arguments of `task abandon`.
#[derive(Debug, Args)]
pub(crate) struct TaskAbandonArguments {
    /// Keep its branch, and its working tree if it has one
    #[arg(long)]
    pub(crate) keep_branch: bool,
    /// Keep its readable files
    #[arg(long)]
    pub(crate) keep_files: bool,
    /// Throw away changes on its branch that no commit holds, such as those of a step that failed
    #[arg(long, conflicts_with = "keep_branch")]
    pub(crate) discard: bool,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Arguments of `task set`.
#[derive(Debug, Args)]
pub(crate) struct TaskSetArguments {
    /// The fact
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What, as JSON or in plain words
    #[arg(value_name = "VALUE", required_unless_present = "unset")]
    pub(crate) value: Option<String>,
    /// Take it back
    #[arg(long, conflicts_with = "value")]
    pub(crate) unset: bool,
    /// Which.
    #[command(flatten)]
    pub(crate) of: TaskOf,
}
