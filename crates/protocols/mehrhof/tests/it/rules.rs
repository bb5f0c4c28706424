//! What holds for the protocol as a whole: the table, the order of calls, numbers, the dialect.

use std::time::Duration;

use loggia_jsonrpc::{Body, Incoming, Kind, Order, Origin, read};
use loggia_protocol_mehrhof::{DIALECT, METHODS, limits};

fn names(keep: impl Fn(&loggia_jsonrpc::MethodInfo) -> bool) -> String {
    METHODS.iter().filter(|row| keep(row)).map(|row| row.name).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_table_lists_every_method_of_the_specification() {
    assert_eq!(
        names(|row| row.origin == Origin::Specification && row.kind == Kind::Request),
        "provider.init provider.match provider.parse provider.fetch provider.snapshot provider.list \
         agent.init agent.available agent.run agent.tool_result \
         workflow.init workflow.evaluateGuard workflow.executeEffect shutdown ping"
    );
    assert_eq!(names(|row| row.kind == Kind::Notification), "stream");
}

#[test]
fn the_table_lists_what_existing_peers_use_beyond_it() {
    assert_eq!(
        names(|row| row.origin == Origin::Peers),
        "provider.addComment provider.updateStatus provider.fetchComments provider.addLabels \
         provider.removeLabels provider.linkBranch provider.unlinkBranch provider.getLinkedBranch \
         provider.createPR provider.downloadAttachment"
    );
}

#[test]
fn the_host_asks_and_the_plugin_only_tells() {
    for row in METHODS {
        let expected = if row.kind == Kind::Request { "host" } else { "plugin" };
        assert_eq!(row.sender, expected, "{}", row.name);
    }
}

#[test]
fn plugins_are_asked_one_thing_at_a_time_except_for_tool_results() {
    assert_eq!(names(|row| row.order == Order::Urgent), "agent.tool_result");
    assert_eq!(names(|row| row.order == Order::Free), "");
}

#[test]
fn nothing_to_say_is_an_empty_object_and_never_null() {
    for method in ["agent.available", "shutdown", "ping"] {
        let row = METHODS.iter().find(|row| row.name == method).unwrap();
        assert_eq!(row.rewrite_params("{}").unwrap(), "{}", "for {method}");
        assert_eq!(row.rewrite_params("null").unwrap(), "{}", "for {method}");
    }
}

#[test]
fn limits_leave_real_plugins_enough_time() {
    assert_eq!(limits::MAX_LINE_BYTES, 67_108_864);
    assert_eq!(limits::INIT_LIMIT, Duration::from_secs(10));
    assert_eq!(limits::QUESTION_LIMIT, Duration::from_secs(5));
    assert_eq!(limits::PROVIDER_LIMIT, Duration::from_secs(120));
    assert_eq!(limits::RUN_TOTAL_LIMIT, Duration::from_secs(1800));
    assert_eq!(limits::GUARD_LIMIT, Duration::from_secs(30));
    assert_eq!(limits::EFFECT_LIMIT, Duration::from_secs(300));
    assert_eq!(limits::SHUTDOWN_ANSWER_LIMIT, Duration::from_secs(2));
    assert_eq!(limits::SHUTDOWN_EXIT_LIMIT, Duration::from_secs(10));
    assert_eq!(limits::SHUTDOWN_SIGNAL_LIMIT, Duration::from_secs(2));
}

/// Says in one word what a line is.
fn sorted(line: &str) -> String {
    match read(line.as_bytes(), &DIALECT) {
        Err(_) => "not JSON".to_owned(),
        Ok(Body::Batch(_)) => "batch".to_owned(),
        Ok(Body::One(Incoming::Request { .. })) => "request".to_owned(),
        Ok(Body::One(Incoming::Notification { .. })) => "notification".to_owned(),
        Ok(Body::One(Incoming::Response { id, outcome })) => {
            let id = id.map_or("nobody".to_owned(), |id| id.to_string());
            outcome.map_or_else(|error| format!("error for {id}: {error}"), |_| format!("result for {id}"))
        }
        Ok(Body::One(Incoming::Invalid(_))) => "invalid".to_owned(),
    }
}

#[test]
fn lines_of_plugins_are_told_apart() {
    for (line, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"provider.fetch","params":{"id":"PROJ-123"}}"#, "request"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, "request"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"id":"PROJ-123","title":"..."}}"#, "result for 1"),
        (r#"{"jsonrpc":"2.0","id":"a","result":null}"#, r#"result for "a""#),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Task not found"}}"#,
            "error for 1: Task not found (-32000)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: x"}}"#,
            "error for nobody: Parse error: x (-32700)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":"token has no code"}"#,
            "error for 1: token has no code (-32000)",
        ),
        (r#"{"jsonrpc":"2.0","method":"stream","params":{"type":"text","data":"Hello"}}"#, "notification"),
        (r#"{"id":1,"result":{}}"#, "result for 1"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "invalid"),
        (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, "invalid"),
        ("Loading configuration…", "not JSON"),
    ] {
        assert_eq!(sorted(line), expected, "for {line}");
    }
}
