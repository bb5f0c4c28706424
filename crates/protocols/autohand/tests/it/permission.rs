//! What the many ways to answer a question mean.

use loggia_protocol_autohand::{Decision, DecisionName, PermissionResponseParams};

use crate::params;

fn meaning(fields: &str) -> String {
    let answer: PermissionResponseParams = params(&format!(r#"{{"requestId":"perm_1"{fields}}}"#));
    match answer.resolve() {
        Ok(decision) => format!("{decision:?}"),
        Err(error) => format!("error: {error}"),
    }
}

fn check(fields: &str, expected: &str) {
    assert_eq!(meaning(fields), expected, "for {fields}");
}

#[test]
fn a_plain_boolean_answers_once() {
    check(r#","allowed":true"#, "Allow(Once)");
    check(r#","allowed":false"#, "Deny(Once)");
}

#[test]
fn every_word_of_the_client_libraries_has_its_decision() {
    check(r#","decision":"allow_once""#, "Allow(Once)");
    check(r#","decision":"deny_once""#, "Deny(Once)");
    check(r#","decision":"allow_session""#, "Allow(Session)");
    check(r#","decision":"deny_session""#, "Deny(Session)");
    check(r#","decision":"allow_always_project""#, "Allow(Project)");
    check(r#","decision":"allow_always_user""#, "Allow(User)");
    check(r#","decision":"deny_always_project""#, "Deny(Project)");
    check(r#","decision":"deny_always_user""#, "Deny(User)");
    check(r#","decision":"alternative","alternative":"ls -la""#, r#"Alternative("ls -la")"#);
}

#[test]
fn a_decision_beats_a_boolean() {
    check(r#","allowed":true,"decision":"deny_once""#, "Deny(Once)");
    check(r#","allowed":false,"decision":"allow_session""#, "Allow(Session)");
    check(r#","allowed":false,"approved":true"#, "Deny(Once)");
}

#[test]
fn approved_is_another_name_for_allowed() {
    check(r#","approved":true"#, "Allow(Once)");
    check(r#","approved":false"#, "Deny(Once)");
}

#[test]
fn answers_without_a_scope_hold_for_the_session_when_remembered() {
    check(r#","decision":"allow""#, "Allow(Once)");
    check(r#","decision":"deny""#, "Deny(Once)");
    check(r#","decision":"allow","remember":true"#, "Allow(Session)");
    check(r#","decision":"deny","remember":true"#, "Deny(Session)");
    check(r#","approved":true,"remember":true"#, "Allow(Session)");
    check(r#","decision":"allow_once","remember":true"#, "Allow(Once)");
}

#[test]
fn an_unknown_word_means_no_this_time() {
    check(r#","decision":"perhaps""#, "Deny(Once)");
    check(r#","decision":"""#, "Deny(Once)");
    check(r#","decision":"ALLOW_ONCE","allowed":true"#, "Deny(Once)");
}

#[test]
fn no_answer_is_refused_by_the_name_of_the_field() {
    check("", "error: allowed: either `allowed` or `decision` is needed");
    check(r#","allowed":null,"decision":null"#, "error: allowed: either `allowed` or `decision` is needed");
}

#[test]
fn an_alternative_needs_its_text() {
    check(r#","decision":"alternative""#, "error: alternative: the decision `alternative` needs a text");
    check(
        r#","decision":"alternative","alternative":"""#,
        "error: alternative: the decision `alternative` needs a text",
    );
}

#[test]
fn the_offered_words_are_the_nine_clients_know() {
    let words = serde_json::to_string(&DecisionName::ALL).unwrap();
    assert_eq!(
        words,
        r#"["allow_once","deny_once","allow_session","deny_session","allow_always_project","allow_always_user","deny_always_project","deny_always_user","alternative"]"#
    );
    assert_eq!(Decision::DENY_ONCE, Decision::Deny(loggia_protocol_autohand::Scope::Once));
}
