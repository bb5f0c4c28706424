//! Workflow plugins: phases they add, guards that hold a task back, effects that follow its steps.
//!
//! The specification and existing hosts disagree on names here too. Calls carry both, `documented` gives the
//! specification's form alone for a second try, and results are read under either name.

use std::collections::BTreeMap;

use loggia_jsonrpc::{Json, Method, Order};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, text};

/// Hands the plugin its configuration and asks what it adds. The first call to a workflow plugin's process.
#[derive(Debug)]
pub struct WorkflowInit;

impl Method for WorkflowInit {
    const NAME: &'static str = "workflow.init";
    const ORDER: Order = Order::Ordered;
    type Params = WorkflowInitParams;
    type Result = WorkflowInitResult;
}

/// The configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowInitParams {
    /// As the user wrote it, an object; `{}` when there is none.
    #[serde(default = "Json::object")]
    pub config: Json,
}

/// What the plugin adds; `null` adds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Option<Additions>")]
pub struct WorkflowInitResult {
    /// Phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseDeclaration>,
    /// Guards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardDeclaration>,
    /// Effects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectDeclaration>,
}

/// What a plugin that answers with an object adds.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Additions {
    #[serde(default, deserialize_with = "null_as_default")]
    phases: Vec<PhaseDeclaration>,
    #[serde(default, deserialize_with = "null_as_default")]
    guards: Vec<GuardDeclaration>,
    #[serde(default, deserialize_with = "null_as_default")]
    effects: Vec<EffectDeclaration>,
}

impl From<Option<Additions>> for WorkflowInitResult {
    fn from(said: Option<Additions>) -> Self {
        let Additions { phases, guards, effects } = said.unwrap_or_default();
        Self { phases, guards, effects }
    }
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseDeclaration {
    /// Its name.
    pub name: String,
    /// What happens in it.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The phase it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The phase it precedes. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuardDeclaration {
    /// Its name.
    pub name: String,
    /// What it looks at.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// An effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectDeclaration {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the task must not go on without it. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical: Option<bool>,
}

/// Asks a guard whether the task may go on.
#[derive(Debug)]
pub struct EvaluateGuard;

impl Method for EvaluateGuard {
    const NAME: &'static str = "workflow.evaluateGuard";
    const ORDER: Order = Order::Ordered;
    type Params = EvaluateGuardParams;
    type Result = EvaluateGuardResult;
}

/// Which guard, about what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluateGuardParams {
    /// The guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The guard, as existing hosts name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The task's circumstances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<WorkflowContext>,
    /// The task, as existing hosts describe it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<WorkUnitView>,
}

impl EvaluateGuardParams {
    /// A question under both pairs of names.
    pub fn new(guard: impl Into<String>, context: WorkflowContext, work_unit: WorkUnitView) -> Self {
        let guard = guard.into();
        Self {
            guard: Some(guard.clone()),
            name: Some(guard),
            context: Some(context),
            work_unit: Some(work_unit),
        }
    }

    /// The same question under the specification's names only.
    pub fn documented(self) -> Self {
        Self { name: None, work_unit: None, ..self }
    }

    /// The guard, under either name.
    pub fn guard_name(&self) -> Option<&str> {
        self.guard.as_deref().or(self.name.as_deref())
    }
}

/// What the guard says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluateGuardResult {
    /// Whether the task may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// Whether the task may go on, under another name. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// Why not.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to mind although it may. Known from peers only.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl EvaluateGuardResult {
    /// Whether the task may go on: `allowed`, else `passed`; a guard that says neither holds it back.
    pub fn is_allowed(&self) -> bool {
        self.allowed.or(self.passed).unwrap_or(false)
    }
}

/// Runs an effect.
#[derive(Debug)]
pub struct ExecuteEffect;

impl Method for ExecuteEffect {
    const NAME: &'static str = "workflow.executeEffect";
    const ORDER: Order = Order::Ordered;
    type Params = ExecuteEffectParams;
    type Result = ExecuteEffectResult;
}

/// Which effect, on what occasion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteEffectParams {
    /// The effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The effect, as existing hosts name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The task's circumstances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<WorkflowContext>,
    /// The task, as existing hosts describe it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<WorkUnitView>,
    /// Whatever else existing hosts hand over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

impl ExecuteEffectParams {
    /// An order under both pairs of names.
    pub fn new(effect: impl Into<String>, context: WorkflowContext, work_unit: WorkUnitView) -> Self {
        let effect = effect.into();
        Self {
            effect: Some(effect.clone()),
            name: Some(effect),
            context: Some(context),
            work_unit: Some(work_unit),
            data: None,
        }
    }

    /// The same order under the specification's names only.
    pub fn documented(self) -> Self {
        Self { name: None, work_unit: None, data: None, ..self }
    }

    /// The effect, under either name.
    pub fn effect_name(&self) -> Option<&str> {
        self.effect.as_deref().or(self.name.as_deref())
    }
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteEffectResult {
    /// Whether it worked; silence means no.
    #[serde(default)]
    pub success: bool,
    /// What to tell people.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What went wrong. Known from peers only.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whatever else came of it. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

impl ExecuteEffectResult {
    /// What to tell people: the failure if there is one, else the message.
    pub fn words(&self) -> Option<&str> {
        self.error.as_deref().or(self.message.as_deref())
    }
}

/// The circumstances of a task, as plugins written from the specification look for them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct WorkflowContext {
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The task in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// The phase it is in or about to enter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What happened, for effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EffectEvent>,
    /// Whatever its provider knows, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// Its key, for the names of branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    /// How it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Where it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Its branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Names of its specification files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specifications: Option<Vec<String>>,
    /// Names of its checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Vec<String>>,
    /// Anything more; plugins look for facts of their own, such as a number of tests.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Json>,
}

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectEvent {
    /// It entered a phase.
    PhaseEntered,
    /// It left a phase.
    PhaseExited,
    /// It began.
    TaskStarted,
    /// It is done.
    TaskCompleted,
    /// A checkpoint was made.
    CheckpointCreated,
    /// A word we do not know.
    #[serde(untagged)]
    Other(String),
}

/// A task, as existing hosts describe it to workflow plugins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkUnitView {
    /// Its id.
    pub id: String,
    /// What it is called where it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The task in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The task in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Names of its specification files.
    #[serde(default, deserialize_with = "null_as_default")]
    pub specifications: Vec<String>,
    /// Names of its checkpoints.
    #[serde(default, deserialize_with = "null_as_default")]
    pub checkpoints: Vec<String>,
    /// Where it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<WorkUnitSource>,
}

/// Where a task is from, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkUnitSource {
    /// The reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
