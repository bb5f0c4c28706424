use loggia_jsonrpc::{FieldError, decode};
use loggia_protocol_agent_server::{EventPage, Policy, Problem, ProblemType, Scope, Secret, SessionStatus};

fn policy_fault(text: &str) -> String {
    let error: FieldError = decode::<Policy>(text).expect_err("a policy that must be refused");
    format!("{} | {}", error.pointer(), error.message())
}

#[test]
fn an_unknown_key_in_a_policy_is_refused_where_it_stands() {
    assert_eq!(
        policy_fault(r#"{"revision":1,"preset":"ask","rules":[{"decision":"allow","comand":"rm"}]}"#),
        "/rules/0/comand | unknown field `comand`, expected one of `tool`, `path`, `command`, `decision`, `risk`, `reason`, `examples`"
    );
    assert_eq!(
        policy_fault(r#"{"revision":1,"preset":"ask","sandbox":{"netwrok":true}}"#),
        "/sandbox/netwrok | unknown field `netwrok`, expected one of `required`, `network`, `unix_sockets`, `readable`, `writable`, `environment`"
    );
}

#[test]
fn an_unknown_word_in_a_policy_is_refused() {
    assert_eq!(
        policy_fault(r#"{"revision":1,"preset":"yolo"}"#),
        "/preset | unknown variant `yolo`, expected one of `read-only`, `ask`, `auto-edit`, `full`"
    );
    assert_eq!(
        policy_fault(r#"{"revision":1,"preset":"ask","rules":[{"decision":"alow"}]}"#),
        "/rules/0/decision | unknown variant `alow`, expected one of `allow`, `ask`, `deny`"
    );
}

#[test]
fn a_short_policy_runs_commands_in_the_local_terminal() {
    let policy: Policy = decode(r#"{"revision":1,"preset":"ask"}"#).unwrap();
    assert_eq!(
        serde_json::to_string(&policy).unwrap(),
        r#"{"revision":1,"preset":"ask","rules":[],"command_mode":"local_terminal","sandbox":{},"limits":{}}"#
    );
}

#[test]
fn every_problem_has_the_status_http_gives_it() {
    let status = |word: &str| Problem::new(ProblemType::from(word.to_owned()), "d").status;
    let statuses = [
        ("bad-request", 400),
        ("unauthorized", 401),
        ("forbidden", 403),
        ("not-found", 404),
        ("method-not-allowed", 405),
        ("conflict", 409),
        ("stale-revision", 412),
        ("too-large", 413),
        ("unsupported-media-type", 415),
        ("invalid-body", 422),
        ("rate-limited", 429),
        ("internal", 500),
        ("unavailable", 503),
        ("anything else", 500),
    ];
    for (word, expected) in statuses {
        assert_eq!(status(word), expected, "{word}");
    }
}

#[test]
fn a_secret_is_written_but_never_shown() {
    let secret = Secret("t0ken".to_owned());
    assert_eq!(serde_json::to_string(&secret).unwrap(), r#""t0ken""#);
    assert_eq!(format!("{secret:?}"), "Secret(***)");
}

#[test]
fn each_scope_includes_the_ones_before_it() {
    assert!(Scope::Read < Scope::Drive && Scope::Drive < Scope::Admin);
    assert!(serde_json::from_str::<Scope>(r#""root""#).is_err());
}

#[test]
fn one_event_that_is_too_new_does_not_spoil_the_page() {
    let page: EventPage = decode(
        r#"{"events":[{"type":"from.the.future"},{"type":"client.echo","from":"web","message":"m"}]}"#,
    )
    .unwrap();
    let read: Vec<bool> = page.events.iter().map(|event| event.decode().is_ok()).collect();
    assert_eq!(read, [false, true]);
}

#[test]
fn a_status_nobody_knows_is_kept() {
    let status: SessionStatus = serde_json::from_str(r#""asleep""#).unwrap();
    assert_eq!(status, SessionStatus::Other("asleep".to_owned()));
    assert_eq!(status.to_string(), "asleep");
}
