//! Anything that can happen to a task, for property tests.

use loggia_domain::{
    CheckResult, Commit, Delivery, EffectResult, EventBody, GuardWord, Occasion, StepEnd, TaskAgents,
    TaskBranch, TaskCommit, TaskEvent, TaskQuestion, TaskStart, WorkItem, WorkspaceId,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{actor, id, json, text};

pub(super) fn about_task() -> BoxedStrategy<EventBody> {
    prop_oneof![1 => start(), 4 => on_the_way(), 4 => at_the_end()].prop_map(EventBody::Task).boxed()
}

fn start() -> BoxedStrategy<TaskEvent> {
    let item = (
        (text(), option::of(text()), option::of(text()), text(), text()),
        (option::of(text()), any::<Option<i64>>(), vec(text(), 0..3), option::of(text()), option::of(text())),
        json(),
    );
    let item = item.prop_map(|(first, second, more)| {
        let (key, label, kind, title, description) = first;
        let (status, priority, tags, location, provider) = second;
        WorkItem { key, label, kind, title, description, status, priority, tags, location, provider, more }
    });
    let from = option::of(text().prop_map(Commit));
    let branch = (text(), text(), from, option::of(text().prop_map(Into::into)))
        .prop_map(|(name, base, from, tree)| TaskBranch { name, base, from, tree });
    let agents = (option::of(text()), option::of(text()), option::of(text()), option::of(text()));
    let agents = agents.prop_map(|(any, planning, implementing, reviewing)| TaskAgents {
        any,
        planning,
        implementing,
        reviewing,
    });
    let words = (text(), text(), text(), text(), text());
    let environment = vec((text(), text()), 0..3);
    (words, item, id(WorkspaceId::from_bytes), option::of(branch), agents, environment, actor())
        .prop_map(|(words, item, home, branch, agents, environment, by)| {
            let (reference, provider, key, source, commit_prefix) = words;
            TaskEvent::Started(Box::new(TaskStart {
                reference,
                provider,
                key,
                item,
                source,
                home,
                branch,
                commit_prefix,
                agents,
                environment,
                by,
            }))
        })
        .boxed()
}

fn on_the_way() -> BoxedStrategy<TaskEvent> {
    let word = prop_oneof![
        text().prop_map(GuardWord::Warned),
        text().prop_map(GuardWord::Stopped),
        actor().prop_map(GuardWord::Overridden)
    ];
    let occasion = select(vec![
        Occasion::TaskStarted,
        Occasion::StepEntered,
        Occasion::StepLeft,
        Occasion::CheckpointMade,
        Occasion::TaskDone,
    ]);
    let result = prop_oneof![
        option::of(text()).prop_map(EffectResult::Done),
        text().prop_map(EffectResult::Failed),
        text().prop_map(EffectResult::Stopped)
    ];
    let question = (text(), vec(text(), 0..3), text()).prop_map(|(text, options, context)| TaskQuestion {
        text,
        options,
        context,
    });
    prop_oneof![
        (text(), actor()).prop_map(|(step, by)| TaskEvent::Entered { step, by }),
        text().prop_map(|step| TaskEvent::Working { step }),
        (text(), text(), text(), word).prop_map(|(step, hook, guard, word)| TaskEvent::Guarded {
            step,
            hook,
            guard,
            word
        }),
        (text(), text(), text(), occasion, result).prop_map(|(step, hook, effect, occasion, result)| {
            TaskEvent::EffectRun { step, hook, effect, occasion, result }
        }),
        (any::<u32>(), text()).prop_map(|(number, text)| TaskEvent::Specified { number, text }),
        (any::<u32>(), text()).prop_map(|(number, text)| TaskEvent::Reviewed { number, text }),
        (text(), actor()).prop_map(|(text, by)| TaskEvent::Noted { text, by }),
        question.prop_map(|question| TaskEvent::Asked { question }),
        (text(), actor()).prop_map(|(text, by)| TaskEvent::Answered { text, by }),
    ]
    .boxed()
}

fn at_the_end() -> BoxedStrategy<TaskEvent> {
    let commit = (text(), text()).prop_map(|(commit, mark)| TaskCommit { commit: Commit(commit), mark });
    let check = prop_oneof![
        Just(CheckResult::Passed),
        Just(CheckResult::Absent),
        text().prop_map(CheckResult::Failed)
    ];
    let delivery = prop_oneof![
        (text(), text(), any::<bool>()).prop_map(|(into, commit, pushed)| Delivery::Merged {
            into,
            commit: Commit(commit),
            pushed
        }),
        (option::of(text()), option::of(text()))
            .prop_map(|(label, location)| Delivery::Proposed { label, location }),
        any::<bool>().prop_map(|pushed| Delivery::Kept { pushed })
    ];
    let end = prop_oneof![
        Just(StepEnd::Done),
        Just(StepEnd::Asked),
        text().prop_map(StepEnd::Failed),
        Just(StepEnd::Cancelled)
    ];
    prop_oneof![
        (any::<u32>(), text(), option::of(commit))
            .prop_map(|(number, step, commit)| TaskEvent::Checkpointed { number, step, commit }),
        (any::<u32>(), actor()).prop_map(|(to, by)| TaskEvent::Moved { to, by }),
        (text(), option::of(json()), actor()).prop_map(|(name, value, by)| TaskEvent::MetadataSet {
            name,
            value,
            by
        }),
        (text(), check).prop_map(|(target, result)| TaskEvent::Checked { target, result }),
        delivery.prop_map(|delivery| TaskEvent::Delivered { delivery }),
        (text(), end).prop_map(|(step, end)| TaskEvent::Left { step, end }),
        actor().prop_map(|by| TaskEvent::Finished { by }),
        actor().prop_map(|by| TaskEvent::Abandoned { by }),
    ]
    .boxed()
}
