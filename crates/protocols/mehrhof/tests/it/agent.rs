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
    let silent: AgentInitResult = value("{}");
    assert_eq!((silent.agent_name(), silent.agent_model()), (None, None));
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
    ] {
        assert_eq!(value::<AgentRunResult>(text).has_failed(), failed, "for {text}");
    }
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
