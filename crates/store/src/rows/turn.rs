//! Rows about a turn: its instruction, plan, replies and end.
//!
//! Knows what is stored of them. Refuses to know what tools and patches do in between.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{
    AssistantMessage, CodeContext, ContentHash, EventBody, Image, Instruction, JsonText, MessageId,
    ModelTrouble, Plan, PlanStep, Restraint, RetrievalStage, Seq, TurnEnd, TurnFailure,
};
use serde::{Deserialize, Serialize};

use crate::rows::aim::StoredAim;
use crate::rows::parts::{StoredActor, StoredUsage, Str, Text, list, unlist};
use crate::rows::tool::StoredCall;

#[derive(Serialize, Deserialize)]
pub(super) struct InstructionQueued<'a> {
    pub(super) instruction: StoredInstruction<'a>,
    pub(super) by: StoredActor<'a>,
}

impl From<InstructionQueued<'_>> for EventBody {
    fn from(row: InstructionQueued<'_>) -> Self {
        let InstructionQueued { instruction, by } = row;
        Self::InstructionQueued { instruction: instruction.into(), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct TurnStarted<'a> {
    pub(super) instruction: StoredInstruction<'a>,
    pub(super) by: StoredActor<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) queued: Option<u64>,
}

impl From<TurnStarted<'_>> for EventBody {
    fn from(row: TurnStarted<'_>) -> Self {
        let TurnStarted { instruction, by, queued } = row;
        Self::TurnStarted { instruction: instruction.into(), by: by.into(), queued: queued.map(Seq) }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ContextUpdated<'a> {
    pub(super) context: Str<'a>,
    pub(super) by: StoredActor<'a>,
}

impl From<ContextUpdated<'_>> for EventBody {
    fn from(row: ContextUpdated<'_>) -> Self {
        let ContextUpdated { context, by } = row;
        Self::ContextUpdated { context: JsonText(context.into()), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct TurnContinued<'a> {
    pub(super) by: StoredActor<'a>,
}

impl From<TurnContinued<'_>> for EventBody {
    fn from(row: TurnContinued<'_>) -> Self {
        let TurnContinued { by } = row;
        Self::TurnContinued { by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Retrieved {
    pub(super) stage: Text<RetrievalStage>,
    pub(super) results: u32,
}

impl From<Retrieved> for EventBody {
    fn from(row: Retrieved) -> Self {
        let Retrieved { stage, results } = row;
        Self::Retrieved { stage: stage.0, results }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct PlanChanged<'a> {
    pub(super) plan: StoredPlan<'a>,
}

impl From<PlanChanged<'_>> for EventBody {
    fn from(row: PlanChanged<'_>) -> Self {
        let PlanChanged { plan } = row;
        Self::PlanChanged { plan: plan.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct MessageEnded<'a> {
    pub(super) message: StoredMessage<'a>,
    pub(super) cut: bool,
    pub(super) usage: StoredUsage,
}

impl From<MessageEnded<'_>> for EventBody {
    fn from(row: MessageEnded<'_>) -> Self {
        let MessageEnded { message, cut, usage } = row;
        Self::MessageEnded { message: message.into(), cut, usage: usage.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct TurnEnded<'a> {
    pub(super) end: StoredEnd<'a>,
    pub(super) usage: StoredUsage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<StoredActor<'a>>,
}

impl From<TurnEnded<'_>> for EventBody {
    fn from(row: TurnEnded<'_>) -> Self {
        let TurnEnded { end, usage, by } = row;
        Self::TurnEnded { end: end.into(), usage: usage.into(), by: by.map(Into::into) }
    }
}

/// What a client asked.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredInstruction<'a> {
    text: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    aim: Option<StoredAim<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nearby: Option<StoredNearby<'a>>,
    preview: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<StoredImage<'a>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    step_by_step: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restraint: Option<StoredRestraint<'a>>,
}

impl<'a> From<&'a Instruction> for StoredInstruction<'a> {
    fn from(instruction: &'a Instruction) -> Self {
        let Instruction { text, context, aim, nearby, preview, images, step_by_step, restraint } =
            instruction;
        Self {
            text: text.into(),
            context: context.as_ref().map(|json| (&json.0).into()),
            aim: aim.as_ref().map(Into::into),
            nearby: (!nearby.is_empty()).then(|| nearby.into()),
            preview: *preview,
            images: list(images),
            step_by_step: *step_by_step,
            restraint: (!restraint.is_none()).then(|| restraint.into()),
        }
    }
}

impl From<StoredInstruction<'_>> for Instruction {
    fn from(row: StoredInstruction<'_>) -> Self {
        let StoredInstruction { text, context, aim, nearby, preview, images, step_by_step, restraint } = row;
        let context = context.map(|json| JsonText(json.into()));
        let (aim, images) = (aim.map(Into::into), unlist(images));
        let restraint = restraint.map(Into::into).unwrap_or_default();
        let nearby = nearby.map(Into::into).unwrap_or_default();
        Self { text: text.into(), context, aim, nearby, preview, images, step_by_step, restraint }
    }
}

/// Files that matter to whoever asks.
#[derive(Serialize, Deserialize)]
struct StoredNearby<'a> {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open_files: Vec<Str<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<Str<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Str<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recent: Vec<Str<'a>>,
}

impl<'a> From<&'a CodeContext> for StoredNearby<'a> {
    fn from(nearby: &'a CodeContext) -> Self {
        let CodeContext { open_files, mentions, diagnostics, recent } = nearby;
        Self {
            open_files: list(open_files),
            mentions: list(mentions),
            diagnostics: list(diagnostics),
            recent: list(recent),
        }
    }
}

impl From<StoredNearby<'_>> for CodeContext {
    fn from(row: StoredNearby<'_>) -> Self {
        let StoredNearby { open_files, mentions, diagnostics, recent } = row;
        Self {
            open_files: unlist(open_files),
            mentions: unlist(mentions),
            diagnostics: unlist(diagnostics),
            recent: unlist(recent),
        }
    }
}

/// What a turn is held to.
#[derive(Serialize, Deserialize)]
struct StoredRestraint<'a> {
    reading_only: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<Str<'a>>,
}

impl<'a> From<&'a Restraint> for StoredRestraint<'a> {
    fn from(restraint: &'a Restraint) -> Self {
        let Restraint { reading_only, without } = restraint;
        Self { reading_only: *reading_only, without: list(without) }
    }
}

impl From<StoredRestraint<'_>> for Restraint {
    fn from(row: StoredRestraint<'_>) -> Self {
        let StoredRestraint { reading_only, without } = row;
        Self { reading_only, without: unlist(without) }
    }
}

/// An image that goes with an instruction; its bytes are a blob.
#[derive(Serialize, Deserialize)]
struct StoredImage<'a> {
    hash: Text<ContentHash>,
    media_type: Str<'a>,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Str<'a>>,
}

impl<'a> From<&'a Image> for StoredImage<'a> {
    fn from(image: &'a Image) -> Self {
        let Image { hash, media_type, bytes, name } = image;
        let name = name.as_ref().map(Into::into);
        Self { hash: Text(*hash), media_type: media_type.into(), bytes: *bytes, name }
    }
}

impl From<StoredImage<'_>> for Image {
    fn from(row: StoredImage<'_>) -> Self {
        let StoredImage { hash, media_type, bytes, name } = row;
        Self { hash: hash.0, media_type: media_type.into(), bytes, name: name.map(Into::into) }
    }
}

/// What the agent is going to do.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPlan<'a> {
    steps: Vec<StoredStep<'a>>,
    current: usize,
    rationale: Str<'a>,
}

impl<'a> From<&'a Plan> for StoredPlan<'a> {
    fn from(plan: &'a Plan) -> Self {
        let Plan { steps, current, rationale } = plan;
        Self { steps: list(steps), current: *current, rationale: rationale.into() }
    }
}

impl From<StoredPlan<'_>> for Plan {
    fn from(row: StoredPlan<'_>) -> Self {
        let StoredPlan { steps, current, rationale } = row;
        Self { steps: unlist(steps), current, rationale: rationale.into() }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredStep<'a> {
    description: Str<'a>,
    files: Vec<Str<'a>>,
}

impl<'a> From<&'a PlanStep> for StoredStep<'a> {
    fn from(step: &'a PlanStep) -> Self {
        let PlanStep { description, files } = step;
        Self { description: description.into(), files: list(files) }
    }
}

impl From<StoredStep<'_>> for PlanStep {
    fn from(row: StoredStep<'_>) -> Self {
        let StoredStep { description, files } = row;
        Self { description: description.into(), files: unlist(files) }
    }
}

/// A model's reply.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredMessage<'a> {
    id: Text<MessageId>,
    text: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thought: Option<Str<'a>>,
    calls: Vec<StoredCall<'a>>,
}

impl<'a> From<&'a AssistantMessage> for StoredMessage<'a> {
    fn from(message: &'a AssistantMessage) -> Self {
        let AssistantMessage { id, text, thought, calls } = message;
        Self {
            id: Text(*id),
            text: text.into(),
            thought: thought.as_ref().map(Into::into),
            calls: list(calls),
        }
    }
}

impl From<StoredMessage<'_>> for AssistantMessage {
    fn from(row: StoredMessage<'_>) -> Self {
        let StoredMessage { id, text, thought, calls } = row;
        Self { id: id.0, text: text.into(), thought: thought.map(Into::into), calls: unlist(calls) }
    }
}

/// How a turn ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredEnd<'a> {
    Done {},
    Cancelled {},
    Interrupted {},
    StepLimit {},
    BudgetLimit {},
    Failed { failure: StoredFailure<'a> },
}

impl<'a> From<&'a TurnEnd> for StoredEnd<'a> {
    fn from(end: &'a TurnEnd) -> Self {
        match end {
            TurnEnd::Done => Self::Done {},
            TurnEnd::Cancelled => Self::Cancelled {},
            TurnEnd::Interrupted => Self::Interrupted {},
            TurnEnd::StepLimit => Self::StepLimit {},
            TurnEnd::BudgetLimit => Self::BudgetLimit {},
            TurnEnd::Failed(failure) => Self::Failed { failure: failure.into() },
        }
    }
}

impl From<StoredEnd<'_>> for TurnEnd {
    fn from(row: StoredEnd<'_>) -> Self {
        match row {
            StoredEnd::Done {} => Self::Done,
            StoredEnd::Cancelled {} => Self::Cancelled,
            StoredEnd::Interrupted {} => Self::Interrupted,
            StoredEnd::StepLimit {} => Self::StepLimit,
            StoredEnd::BudgetLimit {} => Self::BudgetLimit,
            StoredEnd::Failed { failure } => Self::Failed(failure.into()),
        }
    }
}

/// Why a turn failed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredFailure<'a> {
    Model {
        message: Str<'a>,
        retry_helps: bool,
        /// Left out where nothing is known of it, as in journals of before it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<Text<ModelTrouble>>,
    },
    Retrieval {
        message: Str<'a>,
    },
    Policy {
        message: Str<'a>,
    },
    Internal {
        message: Str<'a>,
    },
}

impl<'a> From<&'a TurnFailure> for StoredFailure<'a> {
    fn from(failure: &'a TurnFailure) -> Self {
        match failure {
            TurnFailure::Model { message, retry_helps, trouble } => {
                let trouble = Some(*trouble).filter(|trouble| *trouble != ModelTrouble::Unknown).map(Text);
                Self::Model { message: message.into(), retry_helps: *retry_helps, trouble }
            }
            TurnFailure::Retrieval { message } => Self::Retrieval { message: message.into() },
            TurnFailure::Policy { message } => Self::Policy { message: message.into() },
            TurnFailure::Internal { message } => Self::Internal { message: message.into() },
        }
    }
}

impl From<StoredFailure<'_>> for TurnFailure {
    fn from(row: StoredFailure<'_>) -> Self {
        match row {
            StoredFailure::Model { message, retry_helps, trouble } => {
                let trouble = trouble.map_or(ModelTrouble::Unknown, |trouble| trouble.0);
                Self::Model { message: message.into(), retry_helps, trouble }
            }
            StoredFailure::Retrieval { message } => Self::Retrieval { message: message.into() },
            StoredFailure::Policy { message } => Self::Policy { message: message.into() },
            StoredFailure::Internal { message } => Self::Internal { message: message.into() },
        }
    }
}
