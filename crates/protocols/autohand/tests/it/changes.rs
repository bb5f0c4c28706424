//! What a decision about a batch means, and which ones are refused.

use loggia_jsonrpc::Method;
use loggia_protocol_autohand::{ChangesDecision, ChangesDecisionParams, ChangesDecisionResult};

use crate::{params, rewritten};

fn check(fields: &str, expected: &str) {
    let decision: ChangesDecisionParams = params(&format!(r#"{{"batchId":"changes_1",{fields}}}"#));
    let choice = match decision.choice() {
        Ok(choice) => format!("{choice:?}"),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(choice, expected, "for {fields}");
}

#[test]
fn all_or_nothing_needs_no_list() {
    check(r#""action":"accept_all""#, "AcceptAll");
    check(r#""action":"reject_all""#, "RejectAll");
    check(r#""action":"reject_all","selectedChangeIds":["a"]"#, "RejectAll");
}

#[test]
fn selected_changes_and_hunks_are_kept() {
    check(
        r#""action":"accept_selected","selectedChangeIds":["a","b"]"#,
        r#"AcceptSelected { changes: [ChangeId("a"), ChangeId("b")], hunks: [] }"#,
    );
    check(
        r#""action":"accept_selected","selectedHunks":[{"changeId":"a","hunks":[0,2]}]"#,
        r#"AcceptSelected { changes: [], hunks: [SelectedHunks { change_id: ChangeId("a"), hunks: [0, 2] }] }"#,
    );
}

#[test]
fn accept_selected_without_a_selection_is_refused() {
    let refusal = "error: selectedChangeIds: `accept_selected` needs at least one change";
    check(r#""action":"accept_selected""#, refusal);
    check(r#""action":"accept_selected","selectedChangeIds":[]"#, refusal);
    check(r#""action":"accept_selected","selectedChangeIds":null,"selectedHunks":[]"#, refusal);
    check(
        r#""action":"accept_selected","selectedHunks":[{"changeId":"a","hunks":[]}]"#,
        "error: selectedHunks[0].hunks: at least one hunk is needed",
    );
}

#[test]
fn an_unknown_action_is_refused_by_the_name_of_the_field() {
    let answer = rewritten(ChangesDecision::NAME, r#"{"batchId":"changes_1","action":"accept_some"}"#);
    assert!(answer.starts_with("error: action: unknown variant `accept_some`"), "{answer}");
    let answer = rewritten(ChangesDecision::NAME, r#"{"action":"accept_all"}"#);
    assert_eq!(answer, "error: missing field `batchId`");
    let answer = rewritten(ChangesDecision::NAME, r#"{"batchId":"changes_1"}"#);
    assert_eq!(answer, "error: missing field `action`");
}

#[test]
fn a_stale_batch_is_answered_without_counts() {
    let answer = serde_json::to_string(&ChangesDecisionResult::stale("no such batch")).unwrap();
    assert_eq!(
        answer,
        r#"{"success":false,"appliedCount":0,"skippedCount":0,"errors":[{"changeId":"unknown","error":"no such batch"}]}"#
    );
}
