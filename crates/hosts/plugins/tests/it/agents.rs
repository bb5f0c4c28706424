//! Agents: a run from its prompt to its answer, and every way it can go wrong.

use futures_util::StreamExt;
use loggia_domain::{AgentPart, AgentRequest, AgentRun, GuestError, JsonText, ToolSpec};
use loggia_plugins::{GuestAgent, Limits};

use crate::support::{NOT_SO_SHORT, One, SHORT, eventually, is_alive};

fn request(text: &str) -> AgentRequest {
    AgentRequest { text: text.to_owned(), ..AgentRequest::default() }
}

/// All that a run says, each part in one line, and how it ends.
async fn all(mut run: AgentRun) -> (Vec<String>, Option<GuestError>) {
    let mut parts = Vec::new();
    while let Some(part) = run.parts.next().await {
        match part {
            Ok(part) => parts.push(line(&part)),
            Err(error) => {
                assert!(run.parts.next().await.is_none(), "an error is the last thing");
                return (parts, Some(error));
            }
        }
    }
    (parts, None)
}

fn line(part: &AgentPart) -> String {
    match part {
        AgentPart::Text(text) => format!("text {text}"),
        AgentPart::Thought(text) => format!("thought {text}"),
        AgentPart::File(path, content) => format!("file {path} {content:?}"),
        AgentPart::Call(call) => format!("call {} {} {}", call.id, call.tool, call.arguments.0),
        AgentPart::OwnCall { id, result } => format!("own {id} {result}"),
        AgentPart::Usage(usage) => format!("usage {} {}", usage.input, usage.output),
        AgentPart::Note(text) => format!("note {text}"),
    }
}

async fn run(one: &One) -> (Vec<String>, Option<GuestError>) {
    all(one.agent().run(request("go")).await.unwrap()).await
}

#[tokio::test]
async fn an_agent_is_asked_whether_it_is_ready() {
    let one = One::within("agent", &[], |home| {
        home.config.insert("one".to_owned(), serde_json::json!({"model": "m1"}).into());
    });
    let agent = one.agent();
    assert_eq!(agent.name(), "openai");
    agent.ready().await.unwrap();
    assert_eq!(one.params("agent.init"), r#"{"config":{"model":"m1"}}"#);
    assert_eq!(one.params("agent.available"), "{}");
    assert_eq!(GuestAgent::of(one.plugin.clone()).unwrap().model().as_deref(), Some("m1"));
    one.host.stop().await;
    let one = One::new("agent", &["unavailable"]);
    let error = one.agent().ready().await.unwrap_err();
    let expected = "plugin `one`, `agent.available`: it failed: API key not set";
    assert_eq!(error, GuestError::Failed(expected.to_owned()));
    one.host.stop().await;
}

#[tokio::test]
async fn whatever_shape_its_answer_has_what_a_run_said_stands() {
    for (answer, tokens) in [
        ("null", None),
        ("\"done\"", None),
        ("{\"status\":7,\"error\":{}}", None),
        ("{\"status\":\"complete\",\"tokens_used\":\"12\"}", Some("usage 0 12")),
    ] {
        let answer = format!("result:agent.run:{answer}");
        let one = One::new("agent", &["plain", &answer, "result:agent.init:{\"metadata\":{\"version\":1}}"]);
        let (parts, error) = run(&one).await;
        assert_eq!(error, None, "{answer}");
        let mut expected = vec!["text Here's the code:", "file src/auth.py Some(\"x = 1\\n\")"];
        expected.extend(tokens);
        assert_eq!(parts, expected, "{answer}");
        one.host.stop().await;
    }
}

#[tokio::test]
async fn a_run_streams_text_and_files_and_ends_with_its_answer() {
    let one = One::new("agent", &["plain"]);
    let request = AgentRequest {
        text: "Implement login validation".to_owned(),
        task: Some("abc123".to_owned()),
        step: Some("implementing".to_owned()),
        files: vec!["a.py".to_owned()],
        tools: vec![ToolSpec {
            name: "list_directory".to_owned(),
            description: "Lists".to_owned(),
            parameters: JsonText(r#"{"type":"object"}"#.to_owned()),
        }],
        environment: Vec::new(),
    };
    let (parts, error) = all(one.agent().run(request).await.unwrap()).await;
    assert_eq!(parts, ["text Here's the code:", "file src/auth.py Some(\"x = 1\\n\")", "usage 0 500"]);
    assert_eq!(error, None);
    assert_eq!(
        one.params("agent.run"),
        concat!(
            r#"{"prompt":"Implement login validation","#,
            r#""context":{"task_id":"abc123","phase":"implementing","files":["a.py"]},"#,
            r#""tools":[{"name":"list_files","description":"Lists","input_schema":{"type":"object"}}]}"#
        )
    );
    one.host.stop().await;
}

#[tokio::test]
async fn odd_events_are_read_as_they_are_meant() {
    let one = One::new("agent", &["odd"]);
    let (parts, error) = run(&one).await;
    assert_eq!(
        parts,
        [
            "text wrapped",
            "note the agent sent a `text` event that cannot be read: a text, or an object with `text`, is needed",
            "file old.py None",
            "own own ran it myself",
            "usage 10 5",
            "thought hm",
        ]
    );
    assert_eq!(error, None);
    one.host.stop().await;
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_handed_back_during_the_run() {
    let one = One::new("agent", &["tools"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    let first = run.parts.next().await.unwrap().unwrap();
    assert_eq!(line(&first), r#"call call_1 list_directory {"path":"."}"#);
    let error = run.results.give("call_2", "x".to_owned()).unwrap_err();
    assert!(error.to_string().ends_with("it cannot be told: it waits for no call `call_2`"), "{error}");
    run.results.give("call_1", "a.py\nb.py".to_owned()).unwrap();
    run.results.give("call_1", "again".to_owned()).unwrap_err();
    let (parts, error) = all(run).await;
    assert_eq!((parts, error), (vec!["text call_1: a.py\nb.py".to_owned()], None));
    assert_eq!(one.params("agent.tool_result"), r#"{"tool_id":"call_1","result":"a.py\nb.py"}"#);
    one.host.stop().await;
}

#[tokio::test]
async fn a_call_with_a_number_for_its_name_is_answered_with_that_number() {
    let one = One::new("agent", &["tools", "counting"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    let first = run.parts.next().await.unwrap().unwrap();
    assert_eq!(line(&first), r#"call 7 list_directory {"path":"."}"#);
    run.results.give("7", "a.py".to_owned()).unwrap();
    assert_eq!(all(run).await, (vec!["text 7: a.py".to_owned()], None));
    assert_eq!(one.params("agent.tool_result"), r#"{"tool_id":7,"result":"a.py"}"#);
    one.host.stop().await;
}

#[tokio::test]
async fn an_agent_that_reads_nothing_during_its_run_is_not_harmed_by_results() {
    let one = One::new("agent", &["deaf", "code:agent.tool_result:-32601"]);
    for round in 1..=2 {
        let mut run = one.agent().run(request("go")).await.unwrap();
        let first = run.parts.next().await.unwrap().unwrap();
        assert_eq!(line(&first), "call call_1 read_file {}");
        // It may have answered already; then it is too late, which is no harm either.
        let _ = run.results.give("call_1", "x".to_owned());
        assert_eq!(all(run).await, (vec!["text did not wait".to_owned()], None), "round {round}");
    }
    one.agent().ready().await.unwrap();
    assert_eq!(one.starts(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn silence_does_not_count_while_the_agent_waits_for_us() {
    let one = One::within("agent", &["tools"], |home| {
        home.limits = Limits { run_silence: NOT_SO_SHORT, ..home.limits };
    });
    let mut run = one.agent().run(request("go")).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    // Nothing is waited for here; this is the silence.
    tokio::time::sleep(NOT_SO_SHORT + SHORT).await;
    run.results.give("call_1", "late".to_owned()).unwrap();
    assert_eq!(all(run).await, (vec!["text call_1: late".to_owned()], None));
    one.host.stop().await;
}

#[tokio::test]
async fn an_agent_that_falls_silent_is_stopped() {
    let one = One::within("agent", &["silent"], |home| {
        home.limits = Limits { run_silence: SHORT, ..home.limits };
    });
    let (parts, error) = run(&one).await;
    let expected = "plugin `one`, `agent.run`: it did not answer within 0.3 s and was stopped";
    assert_eq!((parts.len(), error), (0, Some(GuestError::TimedOut(expected.to_owned()))));
    assert_eq!(one.plugin.sketch().pid, None);
    one.host.stop().await;
}

#[tokio::test]
async fn a_run_as_a_whole_has_a_limit() {
    let one = One::within("agent", &["forever"], |home| {
        home.limits = Limits { run_total: NOT_SO_SHORT, ..home.limits };
    });
    let (parts, error) = run(&one).await;
    assert_eq!(parts, ["text working"]);
    assert!(matches!(error, Some(GuestError::TimedOut(_))), "{error:?}");
    one.host.stop().await;
}

#[tokio::test]
async fn a_run_that_is_complete_and_never_answered_is_accepted() {
    let one = One::within("agent", &["no-answer"], |home| {
        home.limits = Limits { run_answer: SHORT, ..home.limits };
    });
    assert_eq!(run(&one).await, (vec!["text all there is".to_owned()], None));
    one.agent().ready().await.unwrap();
    assert_eq!(one.starts(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn a_failure_in_the_stream_is_shown_and_the_answer_decides() {
    let one = One::new("agent", &["error-event"]);
    let (parts, error) = run(&one).await;
    assert_eq!(parts, ["text so far", "note model is down"]);
    let expected = "plugin `one`, `agent.run`: it failed: model is down";
    assert_eq!(error, Some(GuestError::Failed(expected.to_owned())));
    one.host.stop().await;
    let one = One::new("agent", &["error-event", "then-die"]);
    let (parts, error) = run(&one).await;
    assert_eq!(parts, ["text so far", "note model is down"], "what came before the end is kept");
    let expected = "plugin `one`, `agent.run`: it failed: model is down; then it ended with exit status 4";
    assert_eq!(error, Some(GuestError::Failed(expected.to_owned())));
    one.host.stop().await;
}

#[tokio::test]
async fn an_agent_that_dies_or_refuses_fails_its_run() {
    let one = One::new("agent", &["die:agent.run"]);
    let (_, error) = run(&one).await;
    let expected = "plugin `one`, `agent.run`: it ended with exit status 3\n  stderr: dying in agent.run";
    assert_eq!(error, Some(GuestError::Gone(expected.to_owned())));
    one.host.stop().await;
    let one = One::new("agent", &["wrapped-error:agent.run"]);
    let (_, error) = run(&one).await;
    assert!(matches!(error, Some(GuestError::NotFound(_))), "{error:?}");
    one.host.stop().await;
}

#[tokio::test]
async fn every_event_before_the_answer_is_heard_in_order() {
    let one = One::new("agent", &["many"]);
    let (parts, error) = run(&one).await;
    let expected: Vec<String> = (0..5000).map(|number| format!("text {number} ")).collect();
    assert_eq!((parts == expected, error), (true, None));
    one.host.stop().await;
}

#[tokio::test]
async fn whoever_is_slow_to_listen_loses_nothing_and_holds_nobody_up() {
    let one = One::new("agent", &["many", "once:agent.run"]);
    let run = one.agent().run(request("go")).await.unwrap();
    let pid = one.lines("starts.log")[0].split(' ').next().unwrap().to_owned();
    eventually("its end", || !is_alive(&pid)).await;
    let (parts, error) = all(run).await;
    assert_eq!((parts.len(), error), (5000, None));
    one.host.stop().await;
}

#[tokio::test]
async fn an_agent_that_never_stops_talking_is_stopped() {
    let one = One::new("agent", &["flood-run"]);
    let (parts, error) = run(&one).await;
    assert_eq!(parts.len(), 67, "what fits into 64 MiB");
    let expected = "plugin `one`, `agent.run`: it said more than 67108864 bytes in one run and was stopped";
    let error = error.unwrap();
    assert!(matches!(&error, GuestError::Gone(words) if words.lines().next() == Some(expected)), "{error}");
    one.host.stop().await;
}

#[tokio::test]
async fn a_run_that_nobody_follows_is_cancelled_by_the_end_of_its_input() {
    let one = One::new("agent", &["forever"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    drop(run);
    eventually("its end", || !is_alive(&pid)).await;
    assert_eq!(one.lines("cancelled.log"), ["saw the end of its input"]);
    one.agent().ready().await.unwrap();
    assert_eq!(one.starts(), 2, "the next one is a fresh process");
    one.host.stop().await;
}

#[tokio::test]
async fn stopping_the_host_ends_a_run() {
    let one = One::new("agent", &["forever"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    let ((), (_, error)) = tokio::join!(one.host.stop(), all(run));
    assert!(
        matches!(&error, Some(GuestError::Gone(words)) if words.ends_with("it is being stopped")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_run_with_variables_of_its_own_has_a_process_of_its_own() {
    let one = One::new("agent", &["environment"]);
    let agent = one.agent();
    agent.ready().await.unwrap();
    let kept = one.plugin.sketch().pid.unwrap();
    let own = AgentRequest { environment: vec![("RUN_KEY".to_owned(), "k".to_owned())], ..request("go") };
    let (parts, error) = all(agent.run(own).await.unwrap()).await;
    assert_eq!(error, None);
    let pid = parts[0].strip_prefix("text k ").unwrap().to_owned();
    assert_ne!(pid, kept.to_string());
    assert_eq!(one.requests("agent.run")[0]["params"]["env"]["RUN_KEY"], "k");
    eventually("the end of its own process", || !is_alive(&pid)).await;
    let (parts, _) = run(&one).await;
    assert_eq!(parts, [format!("text nothing {kept}")]);
    one.host.stop().await;
}

#[tokio::test]
async fn whether_an_agent_can_work_is_asked_with_the_variables_of_its_run() {
    let one = One::new("agent", &["environment", "needs-key"]);
    let agent = one.agent();
    let error = agent.ready().await.unwrap_err();
    let expected = "plugin `one`, `agent.available`: it failed: RUN_KEY is not set";
    assert_eq!(error, GuestError::Failed(expected.to_owned()));
    let with =
        |name: &str| AgentRequest { environment: vec![(name.to_owned(), "k".to_owned())], ..request("go") };
    assert_eq!(agent.run(with("OTHER")).await.unwrap_err(), GuestError::Failed(expected.to_owned()));
    let (parts, error) = all(agent.run(with("RUN_KEY")).await.unwrap()).await;
    assert!(parts[0].starts_with("text k ") && error.is_none(), "{parts:?} {error:?}");
    one.host.stop().await;
}
