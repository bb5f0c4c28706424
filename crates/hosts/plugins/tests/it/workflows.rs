//! Workflow plugins: what they add, what guards say, what effects do.

use loggia_domain::{
    GuestError, JsonText, Occasion, StepMoment, StepPlace, Verdict, WorkItem, WorkflowParts,
};
use loggia_plugins::{Limits, Scope};

use crate::support::{One, SHORT, manifest};

pub(crate) fn moment() -> StepMoment {
    StepMoment {
        task: "abc123".to_owned(),
        step: "approval".to_owned(),
        occasion: Some(Occasion::StepEntered),
        item: WorkItem {
            key: "PROJ-1".to_owned(),
            label: Some("PROJ-1".to_owned()),
            kind: None,
            title: "Title".to_owned(),
            description: "Text".to_owned(),
            status: Some("open".to_owned()),
            priority: None,
            tags: vec!["critical".to_owned()],
            location: None,
            provider: Some("jira".to_owned()),
            more: JsonText::empty_object(),
        },
        branch: Some("story/proj-1".to_owned()),
        specifications: vec!["specification-1.md".to_owned()],
        checkpoints: Vec::new(),
        facts: JsonText::empty_object(),
    }
}

#[tokio::test]
async fn phases_guards_and_effects_are_declared() {
    let one = One::within("workflow", &[], |home| {
        let text = manifest("workflow", "one", &[])
            .replace("workflow: {}", "workflow:\n  effects: [{name: notifySlack, critical: true}]");
        home.add_raw(Scope::Global, "one", &text);
    });
    let hook = one.workflow();
    let parts = hook.parts().await.unwrap();
    assert_eq!(one.params("workflow.init"), r#"{"config":{}}"#);
    let [step] = &parts.steps[..] else { panic!("one step") };
    assert_eq!((step.name.as_str(), &step.place), ("approval", &StepPlace::After("reviewing".to_owned())));
    assert_eq!(step.description.as_deref(), Some("Manager approval"));
    let [guard] = &parts.guards[..] else { panic!("one guard") };
    assert_eq!((guard.name.as_str(), guard.steps.join(" ").as_str()), ("requiresApproval", "approval"));
    let effects: Vec<_> =
        parts.effects.iter().map(|effect| (effect.name.as_str(), effect.critical)).collect();
    assert_eq!(effects, [("notifySlack", true), ("approvalLog", true)]);
    hook.parts().await.unwrap();
    assert_eq!(one.requests("workflow.init").len(), 1, "what it said is remembered");
    one.host.stop().await;
}

#[tokio::test]
async fn a_plugin_that_answers_null_adds_nothing() {
    let one = One::new("workflow", &["null:workflow.init"]);
    assert_eq!(one.workflow().parts().await.unwrap(), WorkflowParts::default());
    one.host.stop().await;
}

#[tokio::test]
async fn a_guard_is_asked_in_both_spellings_and_its_reason_is_told() {
    let one = One::new("workflow", &[]);
    let hook = one.workflow();
    let verdict = hook.guard("requiresApproval".to_owned(), moment()).await.unwrap();
    assert_eq!(verdict, Verdict::Stop("Critical tasks need approval".to_owned()));
    assert_eq!(
        one.params("workflow.evaluateGuard"),
        concat!(
            r#"{"guard":"requiresApproval","name":"requiresApproval","context":{"task_id":"abc123","title":"Title","#,
            r#""labels":["critical"],"phase":"approval","event":"phase_entered","metadata":{},"external_key":"PROJ-1","#,
            r#""status":"open","provider":"jira","branch":"story/proj-1","specifications":["specification-1.md"],"#,
            r#""checkpoints":[]},"workUnit":{"id":"abc123","externalId":"PROJ-1","title":"Title","description":"Text","#,
            r#""specifications":["specification-1.md"],"checkpoints":[],"#,
            r#""source":{"reference":"PROJ-1","content":"Text"}}}"#
        )
    );
    let mut free = moment();
    free.item.tags.clear();
    assert_eq!(hook.guard("requiresApproval".to_owned(), free).await.unwrap(), Verdict::Allow(None));
    one.host.stop().await;
}

#[tokio::test]
async fn a_guard_may_use_the_other_word_and_silence_holds_back() {
    let one = One::new("workflow", &["passed"]);
    let verdict = one.workflow().guard("g".to_owned(), moment()).await.unwrap();
    assert_eq!(verdict, Verdict::Allow(Some("mind the gap".to_owned())));
    one.host.stop().await;
    let one = One::new("workflow", &["says-nothing"]);
    let verdict = one.workflow().guard("g".to_owned(), moment()).await.unwrap();
    assert_eq!(verdict, Verdict::Stop("`g` of the plugin `one` does not allow it".to_owned()));
    one.host.stop().await;
}

#[tokio::test]
async fn guards_and_effects_refused_in_both_spellings_are_tried_in_the_documented_one() {
    let one = One::new("workflow", &["picky"]);
    let hook = one.workflow();
    hook.guard("g".to_owned(), moment()).await.unwrap();
    hook.effect("notifySlack".to_owned(), moment()).await.unwrap();
    for (method, key) in [("workflow.evaluateGuard", "guard"), ("workflow.executeEffect", "effect")] {
        let requests = one.requests(method);
        let keys: Vec<&String> = requests[1]["params"].as_object().unwrap().keys().collect();
        assert_eq!((requests.len(), keys), (2, vec![&key.to_owned(), &"context".to_owned()]));
    }
    one.host.stop().await;
}

#[tokio::test]
async fn an_effect_is_ordered_and_tells_what_it_did() {
    let one = One::new("workflow", &[]);
    let hook = one.workflow();
    let told = hook.effect("notifySlack".to_owned(), moment()).await.unwrap();
    assert_eq!(told.as_deref(), Some("Sent phase_entered"));
    let error = hook.effect("approvalLog".to_owned(), moment()).await.unwrap_err();
    let words = error.to_string();
    let expected = "plugin `one`, `workflow.executeEffect`: it failed: Webhook not configured";
    assert!(matches!(error, GuestError::Failed(_)) && words.lines().next() == Some(expected), "{words}");
    // Its line on stderr was written before the answer, but comes another way.
    while !hook
        .effect("approvalLog".to_owned(), moment())
        .await
        .unwrap_err()
        .to_string()
        .contains("stderr: no webhook")
    {}
    assert_eq!(one.starts(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn guards_and_effects_have_limits_of_their_own() {
    let one = One::within("workflow", &["hang:workflow.evaluateGuard"], |home| {
        home.limits = Limits { guard: SHORT, ..home.limits };
    });
    let error = one.workflow().guard("g".to_owned(), moment()).await.unwrap_err();
    assert!(matches!(error, GuestError::TimedOut(_)), "{error}");
    one.host.stop().await;
    let one = One::within("workflow", &["hang:workflow.executeEffect"], |home| {
        home.limits = Limits { effect: SHORT, ..home.limits };
    });
    let error = one.workflow().effect("e".to_owned(), moment()).await.unwrap_err();
    assert!(matches!(error, GuestError::TimedOut(_)), "{error}");
    one.host.stop().await;
}
