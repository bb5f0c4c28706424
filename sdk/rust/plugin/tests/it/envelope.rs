//! Messages that are no calls, calls that go wrong, and the end.

use loggia_plugin_kit::protocol::{ReferenceId, WorkUnit};
use loggia_plugin_kit::{Plugin, PluginError, Provider};

use crate::support::{Host, talk};

struct Shop;

impl Provider for Shop {
    fn schemes(&self) -> Vec<String> {
        vec!["shop".to_owned()]
    }

    fn fetch(&mut self, id: &ReferenceId) -> Result<WorkUnit, PluginError> {
        assert_ne!(id.0, "panic", "as told");
        Ok(WorkUnit::new(&id.0, "Sweep\u{2028}ü"))
    }
}

fn check(lines: &str, expected: &str) {
    assert_eq!(talk(|| Plugin::provider(Shop), lines), expected, "{lines}");
}

#[test]
fn every_call_is_answered_under_its_own_id() {
    check(
        "\n{\"id\":\"a\",\"method\":\"provider.init\"}\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"provider.fetch\",\"params\":{\"id\":\"1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"capabilities\":[\"read\"]}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"id\":\"1\",\"title\":\"Sweep\u{2028}ü\"}}",
    );
}

#[test]
fn what_is_no_call_is_told_and_harms_nothing() {
    check(
        "{",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: EOF while parsing an object at line 2 column 0"}}"#,
    );
    check(
        "[1]",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: this protocol has no batches"}}"#,
    );
    check(
        "{\"id\":1}\n{\"id\":2,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid Request: `method` is missing\"}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"pong\":true}}",
    );
    check("{\"id\":1,\"result\":{}}\n{\"method\":\"ping\"}\n{\"method\":\"provider.init\"}", "");
}

#[test]
fn unknown_methods_and_wrong_parameters_are_refused() {
    check(
        r#"{"id":1,"method":"provider.dance"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: provider.dance"}}"#,
    );
    check(
        r#"{"id":1,"method":"provider.fetch","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: missing field `id`"}}"#,
    );
    check(
        r#"{"id":1,"method":"provider.fetch","params":["1"]}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: an object is needed"}}"#,
    );
}

#[test]
fn code_that_panics_is_an_error_and_the_next_call_is_served() {
    check(
        "{\"id\":1,\"method\":\"provider.fetch\",\"params\":{\"id\":\"panic\"}}\n{\"id\":2,\"method\":\"provider.match\",\"params\":{\"input\":\"shop:1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Internal error: the plugin panicked\"}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"matches\":true}}",
    );
}

#[test]
fn a_plugin_leaves_after_shutdown_while_its_input_is_open() {
    let mut host = Host::new(|| Plugin::provider(Shop));
    host.say(r#"{"id":1,"method":"shutdown","params":{}}"#);
    assert_eq!(host.hear(), r#"{"jsonrpc":"2.0","id":1,"result":{"status":"shutting_down"}}"#);
    host.served();
}

#[test]
fn errors_have_their_codes() {
    let codes = [
        PluginError::new(""),
        PluginError::not_implemented(""),
        PluginError::missing_capability(""),
        PluginError::not_authenticated(""),
        PluginError::rate_limited("", None),
        PluginError::not_found(""),
        PluginError::invalid_input(""),
        PluginError::invalid_params(""),
    ];
    let codes = codes.map(|error| error.code());
    assert_eq!(codes, [-32000, -32001, -32002, -32003, -32004, -32005, -32006, -32602]);
}
