//! What agents may answer, in every shape that is known of them.

use loggia_protocol_mehrhof::{
    AgentAvailableResult, AgentInitResult, AgentRunResult, PingResult, ShutdownResult,
};

use crate::{result, value};

#[test]
fn an_agent_may_tell_who_it_is_in_two_forms() {
    let flat: AgentInitResult = value(r#"{"name":"openai","model":"gpt-4","capabilities":["streaming"]}"#);
    assert_eq!((flat.agent_name(), flat.agent_model()), (Some("openai"), Some("gpt-4")));
    let nested: AgentInitResult =
        value(r#"{"capabilities":[],"metadata":{"name":"openai","models":["gpt-4","gpt-5"]}}"#);
    assert_eq!((nested.agent_name(), nested.agent_model()), (Some("openai"), Some("gpt-4")));
    for nothing in ["{}", "null", "true", r#"{"metadata":"v1","capabilities":"all"}"#] {
        assert_eq!(value::<AgentInitResult>(nothing), AgentInitResult::default(), "for {nothing}");
    }
    let numbers: AgentInitResult = value(r#"{"model":4,"metadata":{"version":1,"models":[4,"m"]}}"#);
    assert_eq!(numbers.agent_model(), Some("4"));
    let metadata = numbers.metadata.unwrap();
    assert_eq!((metadata.version.as_deref(), metadata.models), (Some("1"), vec!["m".to_owned()]));
}

#[test]
fn an_agent_may_say_in_two_words_why_it_is_not_ready() {
    for (text, expected) in [
        (r#"{"available":true}"#, (true, None)),
        (r#"{"available":false,"reason":"no key"}"#, (false, Some("no key"))),
        (r#"{"available":false,"error":"no key"}"#, (false, Some("no key"))),
        (r#"{"available":false,"reason":"no key","error":"other"}"#, (false, Some("no key"))),
    ] {
        let answer: AgentAvailableResult = value(text);
        assert_eq!((answer.available, answer.why_not()), expected, "for {text}");
    }
}

#[test]
fn only_an_error_status_makes_a_run_fail() {
    for (text, failed) in [
        (r#"{"status":"complete","tokens_used":500}"#, false),
        (r#"{"status":"error","error":"model not found"}"#, true),
        (r#"{"status":"paused"}"#, false),
        ("{}", false),
        ("null", false),
        ("true", false),
        (r#""done""#, false),
        (r#"{"status":"complete","tokens_used":"500","error":{}}"#, false),
        (r#"{"status":7,"tokens_used":-1}"#, false),
    ] {
        assert_eq!(value::<AgentRunResult>(text).has_failed(), failed, "for {text}");
    }
    assert_eq!(value::<AgentRunResult>(r#"{"tokens_used":"500"}"#).tokens_used, Some(500));
    assert_eq!(value::<AgentRunResult>(r#"{"tokens_used":12.5}"#).tokens_used, Some(12));
}

#[test]
fn any_answer_to_shutdown_or_ping_can_be_read() {
    for text in ["null", "{}", "true", "\"bye\"", "[]", r#"{"status":7,"pong":"x"}"#] {
        assert_eq!(value::<ShutdownResult>(text), ShutdownResult::default(), "for {text}");
        assert_eq!(value::<PingResult>(text), PingResult::default(), "for {text}");
    }
    assert_eq!(value::<ShutdownResult>(r#"{"status":"shutting_down"}"#), ShutdownResult::shutting_down());
    assert_eq!(value::<PingResult>(r#"{"pong":true}"#).pong, Some(true));
}

#[test]
fn a_tool_result_without_acknowledgement_can_be_read() {
    assert_eq!(result("agent.tool_result", "{}"), r#"{"acknowledged":false}"#);
}
