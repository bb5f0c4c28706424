//! What happens to a task, in one line each: for logs and terminals.

use loggia_domain::{Actor, CheckResult, Delivery, EffectResult, GuardWord, Occasion, StepEnd, TaskEvent};

use crate::session::chronicle::name;

/// An event in one line; it may quote texts of any length.
pub fn task_line(event: &TaskEvent) -> String {
    match event {
        TaskEvent::Started(start) => {
            let branch =
                start.branch.as_ref().map(|branch| format!(" on {}", branch.name)).unwrap_or_default();
            format!("started by {}: {} ({}){branch}", name(&start.by), start.item.title, start.reference)
        }
        TaskEvent::Entered { step, by } => format!("enters {step}, says {}", name(by)),
        TaskEvent::Working { step } => format!("works on {step}"),
        TaskEvent::Guarded { step, hook, guard, word } => match word {
            GuardWord::Warned(warning) => format!("{guard} of {hook} warns before {step}: {warning}"),
            GuardWord::Stopped(reason) => format!("{guard} of {hook} stops it before {step}: {reason}"),
            GuardWord::Overridden(by) => {
                format!("goes past {guard} of {hook} before {step}, says {}", name(by))
            }
        },
        TaskEvent::EffectRun { step, hook, effect, occasion, result } => {
            let what = format!("{effect} of {hook} at {step} ({})", occasion_word(*occasion));
            match result {
                EffectResult::Done(None) => format!("ran {what}"),
                EffectResult::Done(Some(message)) => format!("ran {what}: {message}"),
                EffectResult::Failed(reason) => format!("{what} failed: {reason}"),
                EffectResult::Stopped(reason) => format!("{what} failed and holds it back: {reason}"),
            }
        }
        TaskEvent::Specified { number, .. } => format!("has specification {number}"),
        TaskEvent::Reviewed { number, .. } => format!("has review {number}"),
        TaskEvent::Noted { text, by } => format!("note by {}: {text}", name(by)),
        TaskEvent::Asked { question } => format!("asks: {}", question.text),
        TaskEvent::Answered { text, by } => format!("answered by {}: {text}", name(by)),
        TaskEvent::Checkpointed { number, step, .. } => format!("checkpoint {number} after {step}"),
        TaskEvent::Moved { to, by } => format!("went to checkpoint {to}, says {}", name(by)),
        TaskEvent::MetadataSet { name: fact, value, by } => match value {
            Some(value) => format!("{fact} = {}, says {}", value.0, name(by)),
            None => format!("{fact} is no longer set, says {}", name(by)),
        },
        TaskEvent::Checked { target, result } => match result {
            CheckResult::Passed => format!("passed {target}"),
            CheckResult::Absent => format!("there is no {target} to pass"),
            CheckResult::Failed(_) => format!("did not pass {target}"),
        },
        TaskEvent::Delivered { delivery } => delivered(delivery),
        TaskEvent::Left { step, end } => match end {
            StepEnd::Done => format!("{step} is done"),
            StepEnd::Asked => format!("{step} ended with a question"),
            StepEnd::Failed(reason) => format!("{step} failed: {reason}"),
            StepEnd::Cancelled => format!("{step} was cancelled"),
        },
        TaskEvent::Finished { by } => format!("finished by {}", who(by)),
        TaskEvent::Abandoned { by } => format!("abandoned by {}", who(by)),
    }
}

fn who(by: &Actor) -> &str {
    name(by)
}

fn delivered(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Merged { into, pushed, .. } => {
            format!("was merged into {into}{}", if *pushed { " and pushed" } else { "" })
        }
        Delivery::Proposed { label, location } => {
            let place = location.as_ref().or(label.as_ref());
            format!("was proposed{}", place.map(|place| format!(": {place}")).unwrap_or_default())
        }
        Delivery::Kept { pushed } => {
            format!("stays where it is{}", if *pushed { ", and was pushed" } else { "" })
        }
    }
}

/// An occasion in a word.
pub(super) fn occasion_word(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::TaskStarted => "task started",
        Occasion::StepEntered => "entered",
        Occasion::StepLeft => "left",
        Occasion::CheckpointMade => "checkpoint made",
        Occasion::TaskDone => "task done",
    }
}
