//! What holds for the protocol as a whole: the table, the order of calls, codes, numbers, the dialect.

use std::collections::BTreeSet;
use std::time::Duration;

use loggia_jsonrpc::{Body, Incoming, Kind, Order, Origin, read};
use loggia_protocol_autohand::{DIALECT, METHODS, codes, limits};

fn names(keep: impl Fn(&loggia_jsonrpc::MethodInfo) -> bool) -> Vec<&'static str> {
    METHODS
        .iter()
        .filter(|row| keep(row))
        .map(|row| row.name.strip_prefix("autohand.").expect("every name has the prefix"))
        .collect()
}

#[test]
fn the_table_lists_every_method_and_notification_of_the_specification() {
    let calls = names(|row| row.origin == Origin::Specification && row.kind == Kind::Request);
    assert_eq!(
        calls.join(" "),
        "prompt abort reset getState getMessages permissionResponse permissionAcknowledged changesDecision"
    );
    let events = names(|row| row.origin == Origin::Specification && row.kind == Kind::Notification);
    assert_eq!(
        events.join(" "),
        "agentStart agentEnd turnStart turnEnd messageStart messageUpdate messageEnd toolStart toolUpdate toolEnd \
         permissionRequest error changesBatchStart changesBatchUpdate changesBatchEnd hook.preTool hook.postTool \
         hook.fileModified hook.prePrompt hook.postResponse hook.sessionError"
    );
}

#[test]
fn the_table_lists_what_existing_clients_need_beyond_it() {
    let calls = names(|row| row.origin == Origin::Peers && row.kind == Kind::Request);
    assert_eq!(
        calls.join(" "),
        "permissionModeSet planModeSet applyFlagSettings modelSet getSupportedCommands getSupportedModels \
         getContextUsage maxThinkingTokensSet setContextCompact directoryAccessResponse \
         directoryAccessAcknowledged stepDecision getHistory getSession session.attach yoloSet yolo.set \
         getToolsRegistry mcp.listServers mcp.listTools mcp.getServerConfigs mcp.toggleServer \
         mcp.reconnectServer mcp.setServers getSupportedAgents reloadPlugins goal.get automode.status"
    );
    let events = names(|row| row.origin == Origin::Peers && row.kind == Kind::Notification);
    assert_eq!(
        events.join(" "),
        "ping hook.stop hook.sessionStart hook.sessionEnd hook.permissionRequest directoryAccessRequest stepEnd"
    );
}

#[test]
fn calls_come_from_the_client_and_notifications_from_the_agent() {
    for row in METHODS {
        let expected = if row.kind == Kind::Request { "client" } else { "agent" };
        assert_eq!(row.sender, expected, "{}", row.name);
    }
    let distinct: BTreeSet<_> = METHODS.iter().map(|row| row.name).collect();
    assert_eq!(distinct.len(), METHODS.len());
}

#[test]
fn answers_and_aborts_never_wait() {
    let urgent = names(|row| row.kind == Kind::Request && row.order == Order::Urgent);
    assert_eq!(
        urgent.join(" "),
        "abort getState permissionResponse permissionAcknowledged directoryAccessResponse \
         directoryAccessAcknowledged stepDecision"
    );
    let ordered = names(|row| row.kind == Kind::Request && row.order == Order::Ordered);
    assert_eq!(
        ordered.join(" "),
        "prompt reset changesDecision permissionModeSet planModeSet applyFlagSettings modelSet \
         maxThinkingTokensSet setContextCompact session.attach yoloSet yolo.set"
    );
    let events = names(|row| row.kind == Kind::Notification && row.order != Order::Ordered);
    assert!(events.is_empty(), "{events:?}");
}

#[test]
fn calls_without_parameters_accept_none() {
    for method in ["abort", "reset", "getState", "getMessages"] {
        let row = METHODS.iter().find(|row| row.name == format!("autohand.{method}")).unwrap();
        assert_eq!(row.rewrite_params("{}").unwrap(), "{}");
    }
}

#[test]
fn error_codes_are_those_of_the_specification() {
    let all = [
        codes::PARSE_ERROR,
        codes::INVALID_REQUEST,
        codes::METHOD_NOT_FOUND,
        codes::INVALID_PARAMS,
        codes::INTERNAL_ERROR,
        codes::EXECUTION_ERROR,
        codes::PERMISSION_DENIED,
        codes::TIMEOUT,
        codes::AGENT_BUSY,
        codes::ABORTED,
    ];
    assert_eq!(all, [-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32003, -32004]);
    assert_eq!([codes::INITIALIZATION_FAILED, codes::AUTHENTICATION_REQUIRED], [-32010, -32011]);
}

#[test]
fn limits_are_what_clients_count_on() {
    assert_eq!(limits::MAX_LINE_BYTES, 67_108_864);
    assert_eq!(limits::MAX_IMAGE_BYTES, 10_485_760);
    assert_eq!(limits::PERMISSION_ACKNOWLEDGE_LIMIT, Duration::from_secs(30));
    assert_eq!(limits::PERMISSION_ANSWER_LIMIT, Duration::from_secs(3600));
    assert_eq!(limits::PING_INTERVAL, Duration::from_secs(15));
    assert!(limits::EXIT_BUDGET < Duration::from_secs(1));
    assert_eq!(limits::CLIENT_LINE_BYTES, 65_536);
    const { assert!(limits::MAX_OUTPUT_BYTES + limits::MAX_ARGUMENT_BYTES < limits::CLIENT_LINE_BYTES) };
}

/// Says in one word what a line is.
fn sorted(line: &str) -> &'static str {
    match read(line.as_bytes(), &DIALECT) {
        Err(_) => "not JSON",
        Ok(Body::Batch(_)) => "batch",
        Ok(Body::One(Incoming::Request { .. })) => "request",
        Ok(Body::One(Incoming::Notification { .. })) => "notification",
        Ok(Body::One(Incoming::Response { .. })) => "response",
        Ok(Body::One(Incoming::Invalid(_))) => "invalid",
    }
}

#[test]
fn messages_follow_json_rpc_to_the_letter() {
    for (line, expected) in [
        (r#"{"jsonrpc":"2.0","method":"autohand.prompt","params":{"message":"..."},"id":1}"#, "request"),
        (r#"{"jsonrpc":"2.0","result":{"success":true},"id":1}"#, "response"),
        (
            r#"{"jsonrpc":"2.0","method":"autohand.toolStart","params":{"toolId":"...","toolName":"..."}}"#,
            "notification",
        ),
        (r#"{"jsonrpc":"2.0","method":"autohand.abort","id":null}"#, "request"),
        (r#"{"jsonrpc":"2.0","method":"autohand.abort","id":"0b9c"}"#, "request"),
        (r#"[{"jsonrpc":"2.0","method":"autohand.abort"}]"#, "batch"),
        (r#"{"method":"autohand.abort","id":1}"#, "invalid"),
        (r#"{"jsonrpc":"1.0","method":"autohand.abort","id":1}"#, "invalid"),
        (r#"{"jsonrpc":"2.0","method":7,"id":1}"#, "invalid"),
        ("[]", "invalid"),
        ("{", "not JSON"),
    ] {
        assert_eq!(sorted(line), expected, "for {line}");
    }
}
