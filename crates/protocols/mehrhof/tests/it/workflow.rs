//! Guards and effects in both spellings.

use loggia_protocol_mehrhof::{
    EvaluateGuardParams, EvaluateGuardResult, ExecuteEffectParams, ExecuteEffectResult, WorkUnitView,
    WorkflowContext, WorkflowInitResult,
};

use crate::value;

fn context() -> WorkflowContext {
    value(r#"{"labels":["critical"],"test_count":12}"#)
}

fn view() -> WorkUnitView {
    WorkUnitView { id: "abc123".to_owned(), ..WorkUnitView::default() }
}

#[test]
fn a_guard_is_asked_in_both_spellings() {
    let question = EvaluateGuardParams::new("requiresApproval", context(), view());
    assert_eq!(
        serde_json::to_string(&question).unwrap(),
        r#"{"guard":"requiresApproval","name":"requiresApproval","context":{"labels":["critical"],"test_count":12},"workUnit":{"id":"abc123","specifications":[],"checkpoints":[]}}"#
    );
    assert_eq!(
        serde_json::to_string(&question.documented()).unwrap(),
        r#"{"guard":"requiresApproval","context":{"labels":["critical"],"test_count":12}}"#
    );
}

#[test]
fn an_effect_is_ordered_in_both_spellings() {
    let order = ExecuteEffectParams::new("notifySlack", context(), view());
    assert_eq!(
        serde_json::to_string(&order).unwrap(),
        r#"{"effect":"notifySlack","name":"notifySlack","context":{"labels":["critical"],"test_count":12},"workUnit":{"id":"abc123","specifications":[],"checkpoints":[]}}"#
    );
    assert_eq!(
        serde_json::to_string(&order.documented()).unwrap(),
        r#"{"effect":"notifySlack","context":{"labels":["critical"],"test_count":12}}"#
    );
}

#[test]
fn names_are_read_in_either_spelling() {
    assert_eq!(value::<EvaluateGuardParams>(r#"{"guard":"g"}"#).guard_name(), Some("g"));
    assert_eq!(value::<EvaluateGuardParams>(r#"{"name":"g"}"#).guard_name(), Some("g"));
    assert_eq!(value::<ExecuteEffectParams>(r#"{"effect":"e","name":"x"}"#).effect_name(), Some("e"));
    assert_eq!(value::<ExecuteEffectParams>(r#"{"name":"e"}"#).effect_name(), Some("e"));
}

#[test]
fn a_guard_allows_only_if_it_says_so() {
    for (text, expected) in [
        (r#"{"allowed":true}"#, true),
        (r#"{"allowed":false,"reason":"no"}"#, false),
        (r#"{"passed":true}"#, true),
        (r#"{"passed":false}"#, false),
        (r#"{"allowed":false,"passed":true}"#, false),
        (r#"{"allowed":null,"passed":true}"#, true),
        ("{}", false),
    ] {
        assert_eq!(value::<EvaluateGuardResult>(text).is_allowed(), expected, "for {text}");
    }
}

#[test]
fn an_effect_worked_only_if_it_says_so() {
    for (text, expected) in [
        (r#"{"success":true,"message":"sent"}"#, (true, Some("sent"))),
        (r#"{"success":false,"message":"not configured"}"#, (false, Some("not configured"))),
        (r#"{"success":false,"error":"refused","message":"m"}"#, (false, Some("refused"))),
        ("{}", (false, None)),
    ] {
        let outcome: ExecuteEffectResult = value(text);
        assert_eq!((outcome.success, outcome.words()), expected, "for {text}");
    }
}

#[test]
fn a_plugin_may_declare_nothing() {
    for text in ["{}", "null", r#"{"phases":[],"guards":null}"#] {
        assert_eq!(value::<WorkflowInitResult>(text), WorkflowInitResult::default(), "for {text}");
    }
}
