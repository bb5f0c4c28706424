//! Rows of what happens to tasks, as old journals hold them.
//!
//! Invariant: a line here is never changed, only added. A journal written with it must stay readable.

use loggia_domain::{
    Actor, CheckResult, Commit, Delivery, EffectResult, EventBody, GuardWord, JsonText, Occasion, StepEnd,
    TaskAgents, TaskBranch, TaskCommit, TaskEvent, TaskQuestion, TaskStart, WorkItem, WorkspaceId,
};

use super::Sample;

/// Every alternative in some row.
pub(super) fn tasks() -> Vec<Sample> {
    let text = str::to_owned;
    let sample = |event: TaskEvent, data| (EventBody::Task(event), "task", data);
    let guarded =
        |word| TaskEvent::Guarded { step: text("done"), hook: text("gate"), guard: text("ok"), word };
    let effect = |occasion, result| TaskEvent::EffectRun {
        step: text("planning"),
        hook: text("gate"),
        effect: text("tell"),
        occasion,
        result,
    };
    let left = |end| TaskEvent::Left { step: text("planning"), end };
    let checked = |result| TaskEvent::Checked { target: text("quality"), result };
    let delivered = |delivery| TaskEvent::Delivered { delivery };
    let by = || Actor::Engine;
    vec![
        sample(
            TaskEvent::Started(Box::new(whole_start())),
            r#"{"task":{"started":{"reference":"jira:A-1","provider":"jira","key":"k1","item":{"key":"k1","label":"A-1","kind":"bug","title":"Fix","description":"It is broken.","status":"open","priority":2,"tags":["a","b"],"location":"https://e.com","provider":"jira","more":"{\"x\":1}"},"source":"It is broken.","home":"ws_01010101010101010101010101010101","branch":{"name":"bug/A-1--fix","base":"main","from":"1f","tree":"/r-worktrees/1"},"commit_prefix":"[A-1]","agents":{"any":"a","planning":"p","implementing":"i","reviewing":"r"},"environment":[["TOKEN","t"]],"by":{"engine":{}}}}}"#,
        ),
        sample(
            TaskEvent::Started(Box::new(least_start())),
            r#"{"task":{"started":{"reference":"x","provider":"file","key":"x","item":{"key":"x","title":"","description":"","tags":[],"more":"{}"},"source":"","home":"ws_01010101010101010101010101010101","commit_prefix":"","agents":{},"by":{"engine":{}}}}}"#,
        ),
        sample(
            TaskEvent::Entered { step: text("planning"), by: by() },
            r#"{"task":{"entered":{"step":"planning","by":{"engine":{}}}}}"#,
        ),
        sample(TaskEvent::Working { step: text("planning") }, r#"{"task":{"working":{"step":"planning"}}}"#),
        sample(
            guarded(GuardWord::Warned(text("mind"))),
            r#"{"task":{"guarded":{"step":"done","hook":"gate","guard":"ok","word":{"warned":{"warning":"mind"}}}}}"#,
        ),
        sample(
            guarded(GuardWord::Stopped(text("no"))),
            r#"{"task":{"guarded":{"step":"done","hook":"gate","guard":"ok","word":{"stopped":{"reason":"no"}}}}}"#,
        ),
        sample(
            guarded(GuardWord::Overridden(by())),
            r#"{"task":{"guarded":{"step":"done","hook":"gate","guard":"ok","word":{"overridden":{"by":{"engine":{}}}}}}}"#,
        ),
        sample(
            effect(Occasion::TaskStarted, EffectResult::Done(None)),
            r#"{"task":{"effect_run":{"step":"planning","hook":"gate","effect":"tell","occasion":"task_started","result":{"done":{}}}}}"#,
        ),
        sample(
            effect(Occasion::StepEntered, EffectResult::Done(Some(text("told")))),
            r#"{"task":{"effect_run":{"step":"planning","hook":"gate","effect":"tell","occasion":"step_entered","result":{"done":{"message":"told"}}}}}"#,
        ),
        sample(
            effect(Occasion::StepLeft, EffectResult::Failed(text("no"))),
            r#"{"task":{"effect_run":{"step":"planning","hook":"gate","effect":"tell","occasion":"step_left","result":{"failed":{"reason":"no"}}}}}"#,
        ),
        sample(
            effect(Occasion::CheckpointMade, EffectResult::Stopped(text("no"))),
            r#"{"task":{"effect_run":{"step":"planning","hook":"gate","effect":"tell","occasion":"checkpoint_made","result":{"stopped":{"reason":"no"}}}}}"#,
        ),
        sample(
            effect(Occasion::TaskDone, EffectResult::Done(None)),
            r#"{"task":{"effect_run":{"step":"planning","hook":"gate","effect":"tell","occasion":"task_done","result":{"done":{}}}}}"#,
        ),
        sample(
            TaskEvent::Specified { number: 1, text: text("# Plan") },
            r##"{"task":{"specified":{"number":1,"text":"# Plan"}}}"##,
        ),
        sample(
            TaskEvent::Reviewed { number: 2, text: text("Fine.") },
            r#"{"task":{"reviewed":{"number":2,"text":"Fine."}}}"#,
        ),
        sample(
            TaskEvent::Noted { text: text("mind"), by: by() },
            r#"{"task":{"noted":{"text":"mind","by":{"engine":{}}}}}"#,
        ),
        sample(
            TaskEvent::Asked {
                question: TaskQuestion { text: text("Which?"), options: vec![text("a")], context: text("c") },
            },
            r#"{"task":{"asked":{"question":{"text":"Which?","options":["a"],"context":"c"}}}}"#,
        ),
        sample(
            TaskEvent::Answered { text: text("a"), by: by() },
            r#"{"task":{"answered":{"text":"a","by":{"engine":{}}}}}"#,
        ),
        sample(
            TaskEvent::Checkpointed {
                number: 3,
                step: text("planning"),
                commit: Some(TaskCommit { commit: Commit(text("abc")), mark: text("task-checkpoint/1/3") }),
            },
            r#"{"task":{"checkpointed":{"number":3,"step":"planning","commit":{"commit":"abc","mark":"task-checkpoint/1/3"}}}}"#,
        ),
        sample(
            TaskEvent::Checkpointed { number: 1, step: text("start"), commit: None },
            r#"{"task":{"checkpointed":{"number":1,"step":"start"}}}"#,
        ),
        sample(TaskEvent::Moved { to: 2, by: by() }, r#"{"task":{"moved":{"to":2,"by":{"engine":{}}}}}"#),
        sample(
            TaskEvent::MetadataSet { name: text("ok"), value: Some(JsonText(text("true"))), by: by() },
            r#"{"task":{"metadata_set":{"name":"ok","value":"true","by":{"engine":{}}}}}"#,
        ),
        sample(
            TaskEvent::MetadataSet { name: text("ok"), value: None, by: by() },
            r#"{"task":{"metadata_set":{"name":"ok","by":{"engine":{}}}}}"#,
        ),
        sample(
            checked(CheckResult::Passed),
            r#"{"task":{"checked":{"target":"quality","result":{"passed":{}}}}}"#,
        ),
        sample(
            checked(CheckResult::Absent),
            r#"{"task":{"checked":{"target":"quality","result":{"absent":{}}}}}"#,
        ),
        sample(
            checked(CheckResult::Failed(text("1 error"))),
            r#"{"task":{"checked":{"target":"quality","result":{"failed":{"output":"1 error"}}}}}"#,
        ),
        sample(
            delivered(Delivery::Merged { into: text("main"), commit: Commit(text("abc")), pushed: true }),
            r#"{"task":{"delivered":{"delivery":{"merged":{"into":"main","commit":"abc","pushed":true}}}}}"#,
        ),
        sample(
            delivered(Delivery::Proposed { label: Some(text("7")), location: Some(text("https://e.com/7")) }),
            r#"{"task":{"delivered":{"delivery":{"proposed":{"label":"7","location":"https://e.com/7"}}}}}"#,
        ),
        sample(
            delivered(Delivery::Proposed { label: None, location: None }),
            r#"{"task":{"delivered":{"delivery":{"proposed":{}}}}}"#,
        ),
        sample(
            delivered(Delivery::Kept { pushed: false }),
            r#"{"task":{"delivered":{"delivery":{"kept":{"pushed":false}}}}}"#,
        ),
        sample(left(StepEnd::Done), r#"{"task":{"left":{"step":"planning","end":{"done":{}}}}}"#),
        sample(left(StepEnd::Asked), r#"{"task":{"left":{"step":"planning","end":{"asked":{}}}}}"#),
        sample(
            left(StepEnd::Failed(text("no"))),
            r#"{"task":{"left":{"step":"planning","end":{"failed":{"reason":"no"}}}}}"#,
        ),
        sample(left(StepEnd::Cancelled), r#"{"task":{"left":{"step":"planning","end":{"cancelled":{}}}}}"#),
        sample(TaskEvent::Finished { by: by() }, r#"{"task":{"finished":{"by":{"engine":{}}}}}"#),
        sample(TaskEvent::Abandoned { by: by() }, r#"{"task":{"abandoned":{"by":{"engine":{}}}}}"#),
    ]
}

fn whole_start() -> TaskStart {
    let text = str::to_owned;
    TaskStart {
        reference: text("jira:A-1"),
        provider: text("jira"),
        key: text("k1"),
        item: WorkItem {
            key: text("k1"),
            label: Some(text("A-1")),
            kind: Some(text("bug")),
            title: text("Fix"),
            description: text("It is broken."),
            status: Some(text("open")),
            priority: Some(2),
            tags: vec![text("a"), text("b")],
            location: Some(text("https://e.com")),
            provider: Some(text("jira")),
            more: JsonText(text(r#"{"x":1}"#)),
        },
        source: text("It is broken."),
        home: WorkspaceId::from_bytes([1; 16]),
        branch: Some(TaskBranch {
            name: text("bug/A-1--fix"),
            base: text("main"),
            from: Some(Commit(text("1f"))),
            tree: Some("/r-worktrees/1".into()),
        }),
        commit_prefix: text("[A-1]"),
        agents: TaskAgents {
            any: Some(text("a")),
            planning: Some(text("p")),
            implementing: Some(text("i")),
            reviewing: Some(text("r")),
        },
        environment: vec![(text("TOKEN"), text("t"))],
        by: Actor::Engine,
    }
}

fn least_start() -> TaskStart {
    let text = str::to_owned;
    TaskStart {
        reference: text("x"),
        provider: text("file"),
        key: text("x"),
        item: WorkItem {
            key: text("x"),
            label: None,
            kind: None,
            title: String::new(),
            description: String::new(),
            status: None,
            priority: None,
            tags: Vec::new(),
            location: None,
            provider: None,
            more: JsonText::empty_object(),
        },
        source: String::new(),
        home: WorkspaceId::from_bytes([1; 16]),
        branch: None,
        commit_prefix: String::new(),
        agents: TaskAgents::default(),
        environment: Vec::new(),
        by: Actor::Engine,
    }
}
