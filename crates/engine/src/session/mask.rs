//! Secrets in facts that are about to be stored.
//!
//! One place, through which every event goes. Left as they are: the arguments of calls, given or changed, the lines
//! of proposed changes and the paths, since they are carried out as they stand; and the command line a question shows is masked
//! only there, not where it runs.

use loggia_domain::{
    CheckResult, EffectResult, EventBody, GuardWord, JsonText, PatchFailure, Question, StepEnd, TaskEvent,
    ToolOutcome, TurnEnd, TurnFailure,
};

use crate::secrets::Masker;

/// The fact with every text masked that people and models only read.
pub(crate) fn masked(masker: &Masker, mut body: EventBody) -> EventBody {
    let text = |text: &mut String| {
        if let std::borrow::Cow::Owned(masked) = masker.mask(text) {
            *text = masked;
        }
    };
    let json = |json: &mut JsonText| text(&mut json.0);
    match &mut body {
        EventBody::SessionOpened { title, .. } => title.iter_mut().for_each(text),
        EventBody::SessionRenamed { title, .. } => text(title),
        EventBody::InstructionsChanged { instructions, .. } => {
            instructions.instead.iter_mut().chain(&mut instructions.added).for_each(text);
        }
        EventBody::InstructionQueued { instruction, .. } | EventBody::TurnStarted { instruction, .. } => {
            text(&mut instruction.text);
            instruction.context.iter_mut().for_each(json);
            instruction.images.iter_mut().flat_map(|image| &mut image.name).for_each(text);
        }
        EventBody::ContextUpdated { context, .. } => json(context),
        EventBody::PlanChanged { plan } => {
            text(&mut plan.rationale);
            plan.steps.iter_mut().for_each(|step| text(&mut step.description));
        }
        EventBody::MessageEnded { message, .. } => {
            text(&mut message.text);
            message.thought.iter_mut().for_each(text);
        }
        EventBody::ApprovalAsked { question, .. } => mask_question(masker, question),
        EventBody::PatchProposed { patch } => {
            text(&mut patch.rationale);
            patch.acceptance_criteria.iter_mut().for_each(text);
        }
        EventBody::PatchDropped { failure: PatchFailure::Unwritable { message }, .. } => text(message),
        EventBody::ApprovalDecided { answer, .. } => answer.comment.iter_mut().for_each(text),
        EventBody::ToolEnded { outcome, .. } => match outcome {
            ToolOutcome::Succeeded { output: told }
            | ToolOutcome::Failed { message: told }
            | ToolOutcome::Denied { reason: told } => text(told),
            ToolOutcome::Cancelled => {}
        },
        EventBody::FilesChanged { changes, .. } => changes.iter_mut().for_each(|seen| text(&mut seen.diff)),
        EventBody::HistoryCompacted { summary, .. } => text(summary),
        EventBody::TurnEnded { end: TurnEnd::Failed(failure), .. } => match failure {
            TurnFailure::Model { message, .. }
            | TurnFailure::Retrieval { message }
            | TurnFailure::Policy { message }
            | TurnFailure::Internal { message } => text(message),
        },
        EventBody::Task(event) => mask_task(masker, event),
        _ => {}
    }
    body
}

/// Left as they are: names, references and keys, since they are used as they stand.
fn mask_task(masker: &Masker, event: &mut TaskEvent) {
    let text = |text: &mut String| {
        if let std::borrow::Cow::Owned(masked) = masker.mask(text) {
            *text = masked;
        }
    };
    match event {
        TaskEvent::Started(start) => {
            let item = &mut start.item;
            let texts = [&mut item.title, &mut item.description, &mut item.more.0, &mut start.source];
            texts.into_iter().chain(start.environment.iter_mut().map(|(_, value)| value)).for_each(text);
        }
        TaskEvent::Guarded { word: GuardWord::Warned(told) | GuardWord::Stopped(told), .. }
        | TaskEvent::EffectRun {
            result: EffectResult::Done(Some(told)) | EffectResult::Failed(told) | EffectResult::Stopped(told),
            ..
        }
        | TaskEvent::Checked { result: CheckResult::Failed(told), .. }
        | TaskEvent::Left { end: StepEnd::Failed(told), .. }
        | TaskEvent::Specified { text: told, .. }
        | TaskEvent::Reviewed { text: told, .. }
        | TaskEvent::Noted { text: told, .. }
        | TaskEvent::Answered { text: told, .. } => text(told),
        TaskEvent::MetadataSet { value: Some(value), .. } => text(&mut value.0),
        TaskEvent::Asked { question } => {
            question.options.iter_mut().chain([&mut question.text, &mut question.context]).for_each(text);
        }
        TaskEvent::Entered { .. }
        | TaskEvent::Working { .. }
        | TaskEvent::Guarded { word: GuardWord::Overridden(_), .. }
        | TaskEvent::EffectRun { result: EffectResult::Done(None), .. }
        | TaskEvent::Checkpointed { .. }
        | TaskEvent::Moved { .. }
        | TaskEvent::MetadataSet { value: None, .. }
        | TaskEvent::Checked { result: CheckResult::Passed | CheckResult::Absent, .. }
        | TaskEvent::Delivered { .. }
        | TaskEvent::Left { end: StepEnd::Done | StepEnd::Asked | StepEnd::Cancelled, .. }
        | TaskEvent::Finished { .. }
        | TaskEvent::Abandoned { .. } => {}
    }
}

/// Masks a question as its event will be.
pub(super) fn mask_question(masker: &Masker, question: &mut Question) {
    let text = |text: &mut String| {
        if let std::borrow::Cow::Owned(masked) = masker.mask(text) {
            *text = masked;
        }
    };
    if let Question::Command { command, reason, environment, directory: _ } = question {
        text(command);
        reason.iter_mut().for_each(text);
        environment.iter_mut().for_each(|(_, value)| text(value));
    }
}
