//! Tasks: pieces of work from somewhere that go from step to step in sessions of their own.

use std::collections::BTreeMap;

use loggia_jsonrpc::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::PolicyPreset;
use super::session::Budget;
use crate::ids::{SessionId, Timestamp, WorkspaceId};
use crate::words::open_words;

/// `GET /v1/tasks`: the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskList {
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its name: eight hexadecimal digits.
    pub task_id: String,
    /// Its session, whose stream tells what happens to it.
    pub session_id: SessionId,
    /// The workspace it was started in.
    pub workspace_id: WorkspaceId,
    /// Where it comes from, as somebody named it.
    pub reference: String,
    /// Who brought it.
    pub provider: String,
    /// What it is about, in one line.
    pub title: String,
    /// Where it is: a phase, or a step that a plugin added.
    pub phase: String,
    /// The step under way, also one that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The last step that is done; `idle` before the first.
    pub position: String,
    /// Whether something is being done about it now.
    pub running: bool,
    /// Whether a step was cut and waits to be gone on with.
    pub interrupted: bool,
    /// Its branch, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<TaskBranch>,
    /// Where people read about it, relative to the workspace.
    pub directory: String,
    /// What holds it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<TaskHeld>,
    /// What an agent asks before it can go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<TaskQuestion>,
    /// What went wrong last, if it has not gone on since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What guards and effects had to say lately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The steps it goes along, with those that plugins add; only of one task, and once its plugins were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<TaskLineStep>,
    /// What plugins would add and was left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// How many specifications it has.
    pub specifications: u32,
    /// How many reviews.
    pub reviews: u32,
    /// How many notes.
    pub notes: u32,
    /// Checkpoints, the oldest first, also those that were undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<TaskCheckpoint>,
    /// The number of the checkpoint it stands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u32>,
    /// Facts that people stated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub metadata: BTreeMap<String, Json>,
    /// What each step has cost.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, TaskCost>,
    /// Where the work went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<TaskDelivery>,
    /// When it began.
    pub created_at: Timestamp,
    /// When something happened to it last.
    pub updated_at: Timestamp,
}

/// A step that a task goes along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLineStep {
    /// Its name.
    pub name: String,
    /// The plugin that adds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// What happens in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The branch of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskBranch {
    /// The branch.
    pub name: String,
    /// The branch it began at.
    pub base: String,
    /// Its own working tree, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// What holds a task back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskHeld {
    /// Whose guard or effect it is.
    pub plugin: String,
    /// Which.
    pub name: String,
    /// At which step.
    pub step: String,
    /// Why, in its words.
    pub reason: String,
    /// Whether it is a guard, which can be overridden; an effect can only be tried again.
    pub can_override: bool,
}

/// A question of an agent to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskQuestion {
    /// What it asks.
    pub text: String,
    /// Answers it offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCheckpoint {
    /// Which, counted from 1.
    pub number: u32,
    /// The step that led to it.
    pub step: String,
    /// When.
    pub at: Timestamp,
    /// Its commit, if the task has a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What a step has cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCost {
    /// Tokens in.
    pub input_tokens: u64,
    /// Of those, tokens that were cached.
    pub cached_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// How often a model was asked.
    pub calls: u64,
    /// Money in millionths of a US dollar, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

/// Where the work of a task went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskDelivery {
    /// How.
    pub how: TaskFinish,
    /// The branch it was merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// The commit it became there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether it was sent away.
    pub pushed: bool,
    /// Where people look at the proposal, or what they call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
}

open_words! {
    /// Where the work of a finished task goes.
    pub enum TaskFinish {
        /// Into the branch it came from.
        Merge = "merge",
        /// To its provider, as a proposal.
        Propose = "propose",
        /// Nowhere: it stays where it is.
        Keep = "keep",
    }
}

open_words! {
    /// Where the work of a task goes while it is done.
    pub enum TaskPlace {
        /// On a branch of its own, in the workspace's working tree.
        Branch = "branch",
        /// On a branch of its own, in a working tree of its own beside the repository.
        Worktree = "worktree",
        /// In the workspace as it is, without a branch.
        Here = "here",
    }
}

/// `POST /v1/tasks`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartTaskParams {
    /// Where.
    pub workspace_id: WorkspaceId,
    /// What, as `scheme:rest` or in any words that a provider claims.
    pub reference: String,
    /// Where its work goes; `branch` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<TaskPlace>,
    /// What it is called for short, instead of what its provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The title, instead of the item's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The title as a part of a name, instead of what is made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// How the branch is called: `{key}`, `{task_id}`, `{type}`, `{slug}` and `{title}` are put in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_pattern: Option<String>,
    /// What commits begin with; the same words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_prefix: Option<String>,
    /// Which agents do the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<TaskAgents>,
    /// A preset of the policy; the workspace's otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_preset: Option<PolicyPreset>,
    /// What it may use up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// Which agents do the work of a task; each is a model's name, or `plugin:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskAgents {
    /// For every step that has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any: Option<String>,
    /// For planning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning: Option<String>,
    /// For implementing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementing: Option<String>,
    /// For reviewing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewing: Option<String>,
}

/// `POST /v1/tasks/{task_id}/plan`, `…/implement`, `…/review`, `…/resume`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskStepParams {
    /// The agent that does it. Counts before every other choice; `resume` takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Answer at the end instead of at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
}

/// `POST /v1/tasks/{task_id}/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FinishTaskParams {
    /// Where the work goes; `keep` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<TaskFinish>,
    /// Whether a merge becomes one commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub squash: bool,
    /// The proposal in one line, if not the task's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The proposal in full, if not the last specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the proposal is still being worked on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draft: bool,
    /// Whether what comes of it is sent to where the repository came from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub push: bool,
    /// The target of the workspace's `Makefile` that the work must pass, instead of the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_target: Option<String>,
    /// Whether the work is not checked at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_quality: bool,
    /// Whether its branch goes once the work is merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_branch: bool,
    /// Answer at the end instead of at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
}

/// `POST /v1/tasks/auto`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AutoTaskParams {
    /// What.
    pub start: StartTaskParams,
    /// How it is to be finished.
    #[serde(default)]
    pub finish: FinishTaskParams,
    /// How often it tries to pass the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    /// Answer at the end instead of at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
}

/// `POST /v1/tasks/{task_id}/abandon`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AbandonTaskParams {
    /// Whether its branch, its marks and its tree stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_branch: bool,
    /// Whether its readable files stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
    /// Whether changes on its branch that no commit holds are thrown away; it is refused otherwise if there are some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discard: bool,
}

/// `POST /v1/tasks/{task_id}/undo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UndoTaskParams {
    /// How many checkpoints; one when absent. With `discard` also none: back to the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Whether changes that no commit holds are thrown away; it is refused otherwise if there are some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discard: bool,
}

/// `POST /v1/tasks/{task_id}/note` and `…/answer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskTextParams {
    /// The words.
    pub text: String,
}

/// `POST /v1/tasks/{task_id}/metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMetadataParams {
    /// The fact's name.
    pub name: String,
    /// What is stated; without it, the fact is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
}

/// `GET /v1/tasks/browse`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WorkItemPage {
    /// What there is to do.
    pub items: Vec<WorkItem>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Something to be done, as its place has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkItem {
    /// What a task is started with.
    pub reference: String,
    /// What people call it for short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What kind of work it is.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// In one line.
    pub title: String,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How urgent it is: 1 the most, 5 the least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Words it was marked with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where people look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}
