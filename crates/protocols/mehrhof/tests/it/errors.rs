//! Error codes and what a host does about them.

use std::time::Duration;

use loggia_jsonrpc::ErrorObject;
use loggia_protocol_mehrhof::{Reaction, codes, is_required, retry_after};

#[test]
fn error_codes_are_those_of_the_specification() {
    let standard = [
        codes::PARSE_ERROR,
        codes::INVALID_REQUEST,
        codes::METHOD_NOT_FOUND,
        codes::INVALID_PARAMS,
        codes::INTERNAL_ERROR,
    ];
    assert_eq!(standard, [-32700, -32600, -32601, -32602, -32603]);
    let own = [
        codes::PLUGIN_ERROR,
        codes::NOT_IMPLEMENTED,
        codes::CAPABILITY_ERROR,
        codes::AUTHENTICATION_ERROR,
        codes::RATE_LIMIT,
        codes::NOT_FOUND,
        codes::VALIDATION_ERROR,
    ];
    assert_eq!(own, [-32000, -32001, -32002, -32003, -32004, -32005, -32006]);
}

#[test]
fn every_code_has_its_reaction() {
    for (code, expected) in [
        (-32700, Reaction::FailAndLog),
        (-32600, Reaction::FailAndLog),
        (-32603, Reaction::FailAndLog),
        (-32601, Reaction::TreatAsAbsent),
        (-32001, Reaction::TreatAsAbsent),
        (-32602, Reaction::RetryPlain),
        (-32000, Reaction::Fail),
        (-32002, Reaction::DropCapability),
        (-32003, Reaction::AskForCredentials),
        (-32004, Reaction::RetryLater),
        (-32005, Reaction::NoSuchItem),
        (-32006, Reaction::ShowData),
        (42, Reaction::Fail),
    ] {
        assert_eq!(Reaction::to(code), expected, "for {code}");
    }
}

#[test]
fn a_plugin_may_say_when_to_try_again() {
    let limited =
        |data: serde_json::Value| retry_after(&ErrorObject::new(codes::RATE_LIMIT, "m").with_data(data));
    assert_eq!(limited(serde_json::json!({"retry_after": 30})), Some(Duration::from_secs(30)));
    assert_eq!(limited(serde_json::json!({"retry_after": 0.5})), Some(Duration::from_millis(500)));
    assert_eq!(limited(serde_json::json!({"retry_after": -1})), None);
    assert_eq!(limited(serde_json::json!({"retry_after": "soon"})), None);
    assert_eq!(limited(serde_json::json!(["x"])), None);
    assert_eq!(retry_after(&ErrorObject::new(codes::RATE_LIMIT, "m")), None);
}

#[test]
fn some_methods_may_be_missing() {
    for method in ["ping", "shutdown", "provider.snapshot", "provider.list", "agent.tool_result"] {
        assert!(!is_required(method), "{method}");
    }
    for method in ["provider.init", "provider.parse", "provider.fetch", "agent.run", "workflow.evaluateGuard"]
    {
        assert!(is_required(method), "{method}");
    }
}
