//! What guards and effects are told, in the words that plugins look for.

use std::collections::BTreeMap;

use loggia_domain::{Occasion, StepMoment};
use loggia_jsonrpc::Json;
use loggia_protocol_mehrhof::{EffectEvent, WorkUnitSource, WorkUnitView, WorkflowContext};
use serde_json::{Map, Value};

/// The circumstances of a task, as plugins written from the specification look for them.
pub(super) fn context(moment: &StepMoment) -> WorkflowContext {
    let item = &moment.item;
    let mut facts = object(&moment.facts.0);
    let mut metadata = match object(&item.more.0).remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    // What people set for the task counts more than what its place says.
    if let Some(Value::Object(set)) = facts.remove("metadata") {
        metadata.extend(set);
    }
    let mut context = WorkflowContext {
        task_id: Some(moment.task.clone()),
        title: Some(item.title.clone()),
        labels: Some(item.tags.clone()),
        phase: Some(moment.step.clone()),
        event: moment.occasion.map(event),
        metadata: Some(Json(Value::Object(metadata))),
        external_key: item.label.clone(),
        status: item.status.clone(),
        provider: item.provider.clone(),
        branch: moment.branch.clone(),
        specifications: Some(moment.specifications.clone()),
        checkpoints: Some(moment.checkpoints.clone()),
        extra: BTreeMap::new(),
    };
    // A fact cannot stand in for what we know: the same key twice would be anybody's guess.
    let taken = serde_json::to_value(&context).unwrap_or_default();
    let free = facts.into_iter().filter(|(key, _)| taken.get(key).is_none());
    context.extra = free.map(|(key, value)| (key, Json(value))).collect();
    context
}

/// The task, as existing hosts describe it.
pub(super) fn work_unit(moment: &StepMoment) -> WorkUnitView {
    let item = &moment.item;
    let external_id = object(&item.more.0).remove("externalId").and_then(|id| id.as_str().map(str::to_owned));
    WorkUnitView {
        id: moment.task.clone(),
        external_id: external_id.or_else(|| Some(item.key.clone())),
        title: Some(item.title.clone()),
        description: Some(item.description.clone()),
        specifications: moment.specifications.clone(),
        checkpoints: moment.checkpoints.clone(),
        source: Some(WorkUnitSource {
            reference: item.location.clone().or_else(|| Some(item.key.clone())),
            content: Some(item.description.clone()),
        }),
    }
}

fn event(occasion: Occasion) -> EffectEvent {
    match occasion {
        Occasion::TaskStarted => EffectEvent::TaskStarted,
        Occasion::StepEntered => EffectEvent::PhaseEntered,
        Occasion::StepLeft => EffectEvent::PhaseExited,
        Occasion::CheckpointMade => EffectEvent::CheckpointCreated,
        Occasion::TaskDone => EffectEvent::TaskCompleted,
    }
}

/// An object, or an empty one for anything else.
fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use loggia_domain::{JsonText, WorkItem};

    use super::*;

    #[test]
    fn facts_join_the_context_and_never_replace_it() {
        let moment = StepMoment {
            task: "t1".to_owned(),
            step: "approval".to_owned(),
            occasion: Some(Occasion::StepEntered),
            item: WorkItem {
                key: "K-1".to_owned(),
                label: Some("K-1".to_owned()),
                kind: None,
                title: "Title".to_owned(),
                description: "Text".to_owned(),
                status: None,
                priority: None,
                tags: vec!["bug".to_owned()],
                location: None,
                provider: Some("jira".to_owned()),
                more: JsonText(r#"{"metadata":{"approved":false,"team":"a"}}"#.to_owned()),
            },
            branch: None,
            specifications: Vec::new(),
            checkpoints: Vec::new(),
            facts: JsonText(r#"{"metadata":{"approved":true},"test_count":7,"title":"other"}"#.to_owned()),
        };
        let text = serde_json::to_string(&context(&moment)).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"task_id":"t1","title":"Title","labels":["bug"],"phase":"approval","event":"phase_entered","#,
                r#""metadata":{"approved":true,"team":"a"},"external_key":"K-1","provider":"jira","#,
                r#""specifications":[],"checkpoints":[],"test_count":7}"#
            )
        );
        assert_eq!(work_unit(&moment).external_id.as_deref(), Some("K-1"));
    }
}
