//! What scripts make a model do.

use std::sync::Arc;

use futures_util::StreamExt;
use loggia_domain::{
    CallId, JsonText, Model, ModelCatalogue, ModelErrorKind, ModelMessage, ModelName, ModelRequest,
    ReplyPart, ToolCall, Usage,
};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};

fn model(script: &str) -> ScriptedModel {
    ScriptedModel::new(Script::parse(script).unwrap())
}

fn request(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ModelMessage::User(text.to_owned())],
        tools: Arc::from([]),
        max_output: None,
        thinking: None,
    }
}

/// Everything a model says to a text, one piece a line.
async fn says(model: &ScriptedModel, text: &str) -> String {
    let mut stream = match model.reply(request(text)).await {
        Ok(stream) => stream,
        Err(error) => return format!("{:?}: {}", error.kind, error.message),
    };
    let mut lines = Vec::new();
    while let Some(piece) = stream.next().await {
        lines.push(match piece {
            Ok(ReplyPart::Text(text)) => format!("text {text}"),
            Ok(ReplyPart::Thought(text)) => format!("thought {text}"),
            Ok(ReplyPart::Call { tool, arguments: JsonText(arguments), .. }) => {
                format!("call {tool} {arguments}")
            }
            Ok(ReplyPart::Usage(Usage { input, output, .. })) => format!("usage {input} {output}"),
            Ok(ReplyPart::Switched { from, to, reason }) => {
                format!("{} instead of {}: {reason}", to.0, from.0)
            }
            Err(error) => format!("{:?}: {}", error.kind, error.message),
        });
    }
    lines.join("\n")
}

#[tokio::test(start_paused = true)]
async fn replies_come_in_order_piece_by_piece() {
    let model = model(
        r#"
        [[reply]]
        delay_ms = 1000
        parts = [
            { thought = "hm" },
            { text = "one" },
            { wait_ms = 5000 },
            { tokens = { count = 2, text = "tok" } },
            { call = { tool = "read_file", arguments = { path = "a", start_line = 1 } } },
            { call = { tool = "read_file", raw_arguments = "{" } },
        ]
        usage = { input = 3, output = 4 }

        [[reply]]
        repeat = 2
        parts = [{ text = "again" }]
        "#,
    );
    assert_eq!(
        says(&model, "go").await,
        "thought hm\ntext one\ntext tok\ntext tok\ncall read_file {\"path\":\"a\",\"start_line\":1}\ncall read_file {\nusage 3 4"
    );
    assert_eq!(says(&model, "go").await, "text again");
    assert_eq!(says(&model, "go").await, "text again");
    assert_eq!(says(&model, "go").await, "Permanent: the script is over");
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test]
async fn a_reply_can_expect_what_it_is_sent() {
    let model = model("[[reply]]\nexpect = \"apples\"\nparts = [{ text = \"fruit\" }]");
    assert_eq!(
        says(&model, "pears").await,
        "Permanent: the script expects `apples` in what it is sent, which was: pears"
    );
}

#[tokio::test]
async fn errors_end_a_reply() {
    let model = model(
        r#"
        [[reply]]
        parts = [
            { text = "half" },
            { error = { kind = "transient", message = "lost", retry_after_ms = 7 } },
            { text = "never said" },
        ]
        usage = { input = 1 }
        "#,
    );
    let said = says(&model, "go").await;
    assert_eq!(said, "text half\nTransient { retry_after: Some(7ms) }: lost");
}

#[tokio::test(start_paused = true)]
async fn a_reply_can_hang() {
    let model = model("[[reply]]\nparts = [{ text = \"so\" }, { hang = true }]");
    let mut stream = model.reply(request("go")).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(ReplyPart::Text(_)))));
    let hour = std::time::Duration::from_secs(3600);
    assert!(tokio::time::timeout(hour, stream.next()).await.is_err());
}

#[tokio::test]
async fn a_reply_that_repeats_without_end_never_is_the_last() {
    let model = model(
        "[[reply]]\nparts = [{ text = \"one\" }]\n[[reply]]\nrepeat = true\nparts = [{ text = \"more\" }]",
    );
    assert_eq!(says(&model, "go").await, "text one");
    for _ in 0..300 {
        assert_eq!(says(&model, "go").await, "text more");
    }
    assert!(!model.is_over());
    let requests = model.requests();
    assert_eq!(requests.len(), 256, "what is kept is bounded");
}

#[tokio::test]
async fn a_script_is_over_when_its_last_reply_was_asked_for() {
    let model = model("[[reply]]\nrepeat = 2");
    says(&model, "go").await;
    assert!(!model.is_over());
    says(&model, "go").await;
    assert!(model.is_over());
}

fn tool_result(output: &str) -> ModelMessage {
    let call = ToolCall {
        id: CallId::new(),
        provider_id: None,
        tool: "read_file".to_owned(),
        arguments: JsonText::empty_object(),
    };
    ModelMessage::ToolResult { call, output: output.to_owned(), failed: false }
}

#[tokio::test]
async fn everything_since_the_last_reply_is_looked_at_and_nothing_before() {
    let messages = vec![
        ModelMessage::User("plums".to_owned()),
        ModelMessage::Assistant { text: "pears".to_owned(), calls: Vec::new() },
        tool_result("apples"),
        tool_result("grapes"),
    ];
    for (expected, met) in [("apples", true), ("grapes", true), ("pears", false), ("plums", false)] {
        let model = model(&format!("[[reply]]\nexpect = \"{expected}\""));
        let request = ModelRequest {
            messages: messages.clone(),
            tools: Arc::from([]),
            max_output: None,
            thinking: None,
        };
        assert_eq!(model.reply(request).await.is_ok(), met, "{expected}");
    }
    let nothing =
        ModelRequest { messages: Vec::new(), tools: Arc::from([]), max_output: None, thinking: None };
    assert!(model("[[reply]]\nexpect = \"x\"").reply(nothing).await.is_err());
}

#[tokio::test]
async fn many_tokens_do_not_keep_the_thread_for_themselves() {
    let model = model("[[reply]]\nparts = [{ tokens = { count = 1000000000, text = \"x\" } }]");
    let mut stream = model.reply(request("go")).await.unwrap();
    let talking = async { while stream.next().await.is_some() {} };
    tokio::select! {
        biased;
        () = talking => panic!("a billion tokens were said first"),
        () = tokio::task::yield_now() => {}
    }
}

#[test]
fn arguments_are_the_same_in_json() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "t", id = "i", arguments = { s = "é", n = -1, f = 1.5, b = true, l = [1, []], d = 2026-01-02, t = { x = "" } } } }]
    "#;
    let said = format!("{:?}", Script::parse(script).unwrap());
    let expected = r#"{"b":true,"d":"2026-01-02","f":1.5,"l":[1,[]],"n":-1,"s":"é","t":{"x":""}}"#;
    assert!(said.contains(&format!("{expected:?}")), "{said}");
}

#[track_caller]
fn check_fault(script: &str, expected: &str) {
    assert_eq!(Script::parse(script).unwrap_err().to_string(), expected);
}

#[test]
fn unknown_fields_are_named_with_their_line_and_the_nearest_known_one() {
    check_fault("[[reply]]\nprats = []", "line 2: there is no `prats` in a reply; did you mean `parts`?");
    check_fault(
        "context_token = 1",
        "line 1: there is no `context_token` in a script; did you mean `context_tokens`?",
    );
    check_fault(
        "[[reply]]\nparts = [\n  { text = \"a\" },\n  { thougt = \"b\" },\n]",
        "line 4: there is no `thougt` in a part; did you mean `thought`?",
    );
    check_fault(
        "[[reply]]\nusage = { banana = 1 }",
        "line 2: there is no `banana` in the usage; there are `input`, `cached`, `output`, `micro_dollars`",
    );
    check_fault(
        "[[reply]]\nparts = [{ call = { tol = \"a\" } }]",
        "line 2: there is no `tol` in a call; did you mean `tool`?",
    );
}

#[test]
fn what_is_needed_and_missing_is_named() {
    check_fault("[[reply]]\nparts = [{ call = {} }]", "line 2: a call needs `tool`");
    check_fault("[[reply]]\nparts = [{ tokens = { count = 1 } }]", "line 2: a part of tokens needs `text`");
}

#[test]
fn values_of_the_wrong_kind_are_named_with_their_line() {
    check_fault("\n[[reply]]\nexpect = 1", "line 3: `expect`: invalid type: integer `1`, expected a string");
    check_fault("[[reply]]\nparts = \"hello\"", "line 2: `parts` must be a list, not string");
    check_fault("[[reply]]\nparts = [\"hello\"]", "line 2: `parts` must be a table, not string");
    check_fault("[[reply]]\nrepeat = \"often\"", "line 2: `repeat`: it is a number, or true for without end");
    check_fault("[[reply]]\nrepeat = 0", "line 1: a reply that is never given does not belong in a script");
    check_fault(
        "[[reply]]\nparts = [{ error = { kind = \"odd\", message = \"\" } }]",
        "line 2: `kind`: unknown variant `odd`, expected one of `transient`, `too_long`, `permanent`",
    );
    check_fault(
        "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"\", retry_after_ms = 1 } }]",
        "line 2: only a transient error has `retry_after_ms`",
    );
    check_fault(
        "[[reply]]\nparts = [{ call = { tool = \"t\", arguments = { x = nan } } }]",
        "line 2: JSON has no such number as `nan` or `inf`",
    );
}

#[test]
fn a_part_is_one_thing() {
    let rule = "a part is one of `text`, `thought`, `call`, `tokens`, `wait_ms`, `hang = true`, `error` and `switched`";
    for parts in ["{ text = \"a\", hang = true }", "{}", "{ hang = false }"] {
        check_fault(&format!("[[reply]]\nparts = [{parts}]"), &format!("line 2: {rule}"));
    }
    check_fault(
        "[[reply]]\nparts = [{ call = { tool = \"t\", arguments = {}, raw_arguments = \"\" } }]",
        "line 2: a call has `arguments` or `raw_arguments`, not both",
    );
}

#[test]
fn what_is_no_toml_is_named_with_its_line() {
    let error = Script::parse("\n\n[[reply]\n").unwrap_err();
    assert_eq!(error.line, 3, "{error}");
}

#[test]
fn models_are_found_by_name() {
    let named =
        |name: &str| Arc::new(ScriptedModel::named(ModelName(name.to_owned()), Script::parse("").unwrap()));
    let catalogue = ScriptedCatalogue::single(named("a:1")).with(named("b:2"));
    let find = |name: Option<&str>| {
        let name = name.map(|name| ModelName(name.to_owned()));
        catalogue.find(name.as_ref()).map(|model| model.info().name.0).map_err(|error| error.kind)
    };
    assert_eq!(find(None), Ok("a:1".to_owned()));
    assert_eq!(find(Some("a:1")), Ok("a:1".to_owned()));
    assert_eq!(find(Some("b:2")), Ok("b:2".to_owned()));
    assert_eq!(find(Some("c:3")), Err(ModelErrorKind::NotConfigured));
}

#[tokio::test]
async fn a_catalogue_lists_its_models_with_the_default_first() {
    let named =
        |name: &str| Arc::new(ScriptedModel::named(ModelName(name.to_owned()), Script::parse("").unwrap()));
    let catalogue =
        ScriptedCatalogue::single(named("scripted:z")).with(named("scripted:b")).with(named("scripted:a"));
    let listing = catalogue.list().await;
    let names: Vec<&str> = listing.models.iter().map(|model| model.name.0.as_str()).collect();
    assert_eq!(names, ["scripted:z", "scripted:a", "scripted:b"]);
    assert!(listing.errors.is_empty());
}
