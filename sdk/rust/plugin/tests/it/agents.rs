//! Runs, with tools under way and with an end in the middle.

use loggia_plugin_kit::protocol::{AgentInitResult, AgentRunParams, UsageEvent};
use loggia_plugin_kit::{Agent, Json, Plugin, PluginError, Run};

use crate::support::{Host, talk};

struct Talker;

impl Agent for Talker {
    fn init(&mut self, _config: &Json) -> Result<AgentInitResult, PluginError> {
        Ok(AgentInitResult { name: Some("talker".to_owned()), ..Default::default() })
    }
    fn available(&mut self) -> Result<(), String> {
        Err("no key".to_owned())
    }
    fn run(&mut self, asked: &AgentRunParams, run: &mut Run) -> Result<Option<u64>, PluginError> {
        match asked.prompt.as_str() {
            "fail" => return Err(PluginError::new("model is down")),
            "tools" => {
                let (first, second) =
                    (run.tool_use("a", serde_json::json!({}))?, run.tool_use("b", serde_json::json!({}))?);
                let words = format!("{} {}", run.result(second)?, run.result(first)?);
                run.text(words)?;
            }
            "forever" => {
                run.call("a", serde_json::json!({}))?;
            }
            _ => {
                run.text("ü")?;
                run.thinking("hm")?;
                run.file("a", "x")?;
                run.delete("b")?;
                run.ran("own", "done")?;
                run.usage(UsageEvent { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: None })?;
            }
        }
        Ok(None)
    }
}

fn host() -> Host {
    Host::new(|| Plugin::agent(Talker))
}

fn run(prompt: &str) -> String {
    format!(r#"{{"id":1,"method":"agent.run","params":{{"prompt":"{prompt}","tools":[]}}}}"#)
}

fn event(kind: &str, data: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"stream","params":{{"type":"{kind}","data":{data}}}}}"#)
}

#[test]
fn an_agent_says_who_it_is_and_why_it_is_not_ready() {
    assert_eq!(
        talk(
            || Plugin::agent(Talker),
            "{\"id\":1,\"method\":\"agent.init\"}\n{\"id\":2,\"method\":\"agent.available\"}"
        ),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"name\":\"talker\"}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"available\":false,\"reason\":\"no key\",\"error\":\"no key\"}}"
    );
}

#[test]
fn a_run_streams_and_then_answers() {
    let mut host = host();
    host.say(&run("go"));
    let said: Vec<String> = (0..8).map(|_| host.hear()).collect();
    assert_eq!(
        said,
        [
            event("text", r#""ü""#),
            event("thinking", r#""hm""#),
            event("file", r#"{"path":"a","content":"x","action":"write"}"#),
            event("file", r#"{"path":"b","action":"delete"}"#),
            event("tool_result", r#"{"id":"own","result":"done"}"#),
            event("usage", r#"{"input_tokens":3,"output_tokens":4}"#),
            event("complete", "null"),
            r#"{"jsonrpc":"2.0","id":1,"result":{"status":"complete","tokens_used":7}}"#.to_owned(),
        ]
    );
    assert_eq!(host.end(), "");
}

#[test]
fn a_run_that_fails_says_so_twice() {
    let mut host = host();
    host.say(&run("fail"));
    assert_eq!(host.hear(), event("error", r#"{"code":-32000,"message":"model is down"}"#));
    assert_eq!(host.hear(), r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"model is down"}}"#);
    assert_eq!(host.end(), "");
}

#[test]
fn results_of_tools_arrive_while_the_agent_works_in_any_order() {
    let mut host = host();
    host.say(&run("tools"));
    assert_eq!(host.hear(), event("tool_use", r#"{"id":"call_1","name":"a","input":{}}"#));
    assert_eq!(host.hear(), event("tool_use", r#"{"id":"call_2","name":"b","input":{}}"#));
    host.say(r#"{"id":2,"method":"ping"}"#);
    assert_eq!(host.hear(), r#"{"jsonrpc":"2.0","id":2,"result":{"pong":true}}"#);
    let result = |id: u8, call: &str| {
        format!(
            r#"{{"id":{id},"method":"agent.tool_result","params":{{"tool_id":"{call}","result":"{call}!"}}}}"#
        )
    };
    host.say(&result(3, "call_9"));
    assert_eq!(host.hear(), r#"{"jsonrpc":"2.0","id":3,"result":{"acknowledged":false}}"#);
    host.say(&result(4, "call_1"));
    assert_eq!(host.hear(), r#"{"jsonrpc":"2.0","id":4,"result":{"acknowledged":true}}"#);
    host.say(&result(5, "call_2"));
    let mut said: Vec<String> = (0..4).map(|_| host.hear()).collect();
    said.retain(|line| !line.contains("acknowledged"));
    assert_eq!(
        said,
        [
            event("text", r#""call_2! call_1!""#),
            event("complete", "null"),
            r#"{"jsonrpc":"2.0","id":1,"result":{"status":"complete"}}"#.to_owned()
        ]
    );
    assert_eq!(host.end(), "");
}

#[test]
fn the_end_of_input_cancels_a_run() {
    let mut host = host();
    host.say(&run("forever"));
    assert_eq!(host.hear(), event("tool_use", r#"{"id":"call_1","name":"a","input":{}}"#));
    assert_eq!(host.end(), "");
}
