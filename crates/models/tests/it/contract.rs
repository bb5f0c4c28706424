//! The same cases against every kind of provider.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use loggia_domain::{
    CallId, JsonText, Model, ModelAbilities, ModelCatalogue, ModelError, ModelErrorKind, ModelImage,
    ModelMessage, ModelName, ModelRequest, Price, ReplyPart, Thinking, ToolCall, ToolSpec,
};
use loggia_mock_models::{self as mock, Answer, Mock, Nobody, Say, Step, frames, text};
use loggia_models::{
    Effort, Endpoint, EndpointKind, Environment, KeySource, Models, Override, Secret, Settings, TimeOuts,
};

pub(crate) const KEY: &str = "sk-very-secret-key";

/// Time-outs that no test reaches unless it means to.
const PATIENT: TimeOuts = TimeOuts {
    connect: Duration::from_secs(20),
    first_token: Duration::from_secs(20),
    between_tokens: Duration::from_secs(20),
    list: Duration::from_secs(20),
    probe: Duration::from_secs(20),
};

pub(crate) fn settings(kind: EndpointKind, address: &str) -> Settings {
    let endpoint = Endpoint {
        name: "mock".to_owned(),
        kind,
        base_url: Some(address.to_owned()),
        key: KeySource::Given(Secret::new(KEY)),
        headers: Vec::new(),
    };
    let priced = Override {
        price: Some(Price { input: 1_000_000, cached_input: 100_000, output: 10_000_000 }),
        ..Override::default()
    };
    Settings {
        endpoints: vec![endpoint],
        default: vec![ModelName("mock:m".to_owned())],
        overrides: [(ModelName("mock:m".to_owned()), priced)].into(),
        time_outs: PATIENT,
    }
}

fn model(settings: Settings) -> Arc<dyn Model> {
    Models::new(settings, Environment::empty()).find(None).unwrap()
}

pub(crate) fn ask(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ModelMessage::User(text.to_owned())],
        tools: Arc::from([]),
        max_output: None,
        thinking: None,
    }
}

/// What a model replies, a line for every kind of piece; pieces of one kind in a row are one.
pub(crate) async fn hear(model: &dyn Model, request: ModelRequest) -> Result<String, (String, ModelError)> {
    let mut reply = model.reply(request).await.map_err(|error| (String::new(), error))?;
    let mut told: Vec<(String, String)> = Vec::new();
    let mut wrong = None;
    while let Some(part) = reply.next().await {
        let (kind, said) = match part {
            Ok(ReplyPart::Text(text)) => ("text".to_owned(), text),
            Ok(ReplyPart::Thought(text)) => ("thought".to_owned(), text),
            Ok(ReplyPart::Call { provider_id, tool, arguments: JsonText(arguments) }) => {
                (format!("call {}", provider_id.unwrap_or_default()), format!("{tool} {arguments}"))
            }
            Ok(ReplyPart::Usage(usage)) => {
                let dollars = usage.micro_dollars.map_or("?".to_owned(), |cost| cost.to_string());
                ("usage".to_owned(), format!("{} {} {} {dollars}", usage.input, usage.cached, usage.output))
            }
            Ok(ReplyPart::Switched { from, to, reason }) => {
                ("switched".to_owned(), format!("{} -> {}: {reason}", from.0, to.0))
            }
            Err(error) => {
                assert!(wrong.is_none(), "nothing comes after an error");
                wrong = Some(error);
                continue;
            }
        };
        assert!(wrong.is_none(), "nothing comes after an error");
        match told.last_mut() {
            Some((last, text)) if *last == kind => text.push_str(&said),
            _ => told.push((kind, said)),
        }
    }
    let told: Vec<String> = told.into_iter().map(|(kind, said)| format!("{kind}: {said}")).collect();
    match wrong {
        None => Ok(told.join("\n")),
        Some(error) => Err((told.join("\n"), error)),
    }
}

/// A reply that goes well.
async fn well(kind: EndpointKind, answer: Answer) -> String {
    let mock = Mock::start(vec![answer]).await;
    hear(&*model(settings(kind, &mock.address)), ask("hello")).await.unwrap()
}

/// A reply that goes wrong: what came before, and the error, which holds no key.
async fn wrong(kind: EndpointKind, answer: Answer) -> (String, ModelError) {
    let mock = Mock::start(vec![answer]).await;
    wrong_at(settings(kind, &mock.address)).await
}

async fn wrong_at(settings: Settings) -> (String, ModelError) {
    let (told, error) = hear(&*model(settings), ask("hello")).await.unwrap_err();
    assert!(!format!("{error:?} {error}").contains(KEY), "{error:?}");
    (told, error)
}

fn is_transient(error: &ModelError) -> bool {
    matches!(error.kind, ModelErrorKind::Transient { .. })
}

/// The end of every good reply: 60 at the full price, 40 at a tenth, 7 at ten times that.
const USED: &str = "usage: 100 40 7 134";

#[tokio::test]
async fn text_comes_in_pieces_and_with_its_cost() {
    for kind in EndpointKind::ALL {
        let reply = frames(kind, &[text("Hel"), text("lo"), Say::Done]);
        let heard = well(kind, Answer::frames(&reply)).await;
        assert_eq!(heard, format!("text: Hello\n{USED}"), "{kind:?}");
    }
}

#[tokio::test]
async fn thoughts_are_told_apart_from_text() {
    for kind in EndpointKind::ALL {
        let reply = frames(kind, &[Say::Thought("Hm.".to_owned()), text("Yes."), Say::Done]);
        let heard = well(kind, Answer::frames(&reply)).await;
        assert_eq!(heard, format!("thought: Hm.\ntext: Yes.\n{USED}"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_call_in_pieces_is_put_together() {
    let pieces = vec!["{\"pa", "th\":", "\"a \\\"b\\\"", ".txt\"}"];
    for kind in EndpointKind::ALL {
        let calls = Say::Calls(vec![("id-1", "read_file", pieces.clone())]);
        let reply = frames(kind, &[text("Let me see."), calls, Say::Done]);
        let heard = well(kind, Answer::frames(&reply)).await;
        let call = r#"call id-1: read_file {"path":"a \"b\".txt"}"#;
        assert_eq!(heard, format!("text: Let me see.\n{call}\n{USED}"), "{kind:?}");
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_pieces_and_their_order() {
    for kind in EndpointKind::ALL {
        let calls = Say::Calls(vec![
            ("id-1", "read_file", vec!["{\"path\":", "\"a\"}"]),
            ("id-2", "read_file", vec!["{\"path\"", ":\"b", "\"}"]),
            ("id-3", "list", vec!["{}"]),
        ]);
        let heard = well(kind, Answer::frames(&frames(kind, &[calls, Say::Done]))).await;
        let first = r#"call id-1: read_file {"path":"a"}"#;
        let second = r#"call id-2: read_file {"path":"b"}"#;
        assert_eq!(heard, format!("{first}\n{second}\ncall id-3: list {{}}\n{USED}"), "{kind:?}");
    }
}

#[tokio::test]
async fn letters_split_over_chunks_are_whole_again() {
    for kind in EndpointKind::ALL {
        let bytes = frames(kind, &[text("é漢🦀"), Say::Done]).concat().into_bytes();
        let steps = bytes.into_iter().map(|byte| Step::Send(vec![byte])).chain([Step::End]);
        let heard = well(kind, Answer::stream(steps.collect())).await;
        assert_eq!(heard, format!("text: é漢🦀\n{USED}"), "{kind:?}");
    }
}

#[tokio::test]
async fn one_piece_of_a_megabyte_is_taken() {
    let long = "x".repeat(1 << 20);
    for kind in EndpointKind::ALL {
        let heard = well(kind, Answer::frames(&frames(kind, &[text(&long), Say::Done]))).await;
        assert_eq!(heard, format!("text: {long}\n{USED}"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_reply_without_end_is_stopped_at_a_limit() {
    let long = "x".repeat(1 << 16);
    for kind in EndpointKind::ALL {
        let reply = frames(kind, &vec![text(&long); 260]);
        let (_, error) = wrong(kind, Answer::frames(&reply)).await;
        assert_eq!(error.kind, ModelErrorKind::Permanent, "{kind:?}");
        assert!(error.message.contains("sends a reply of over"), "{kind:?} {error}");
    }
}

#[tokio::test]
async fn a_cut_stream_is_an_error_and_not_a_short_reply() {
    for kind in EndpointKind::ALL {
        let begun = Step::Send(frames(kind, &[text("Hel")]).concat().into_bytes());
        for end in [Step::Cut, Step::End] {
            let (told, error) = wrong(kind, Answer::stream(vec![begun.clone(), end.clone()])).await;
            assert_eq!(told, "text: Hel", "{kind:?} {end:?}");
            assert!(is_transient(&error), "{kind:?} {end:?} {error:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_was_cut_is_not_made() {
    for kind in EndpointKind::ALL {
        let calls = Say::Calls(vec![("id-1", "delete_file", vec!["{\"path\":\"a\"}"])]);
        let answer = Answer::frames(&frames(kind, &[text("So"), calls]));
        let (told, error) = wrong(kind, answer).await;
        assert_eq!(told, "text: So", "{kind:?}");
        assert!(is_transient(&error), "{kind:?} {error:?}");
    }
}

#[tokio::test]
async fn a_refused_key_says_which_one_and_never_shows_it() {
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}","type":"authentication_error"}}}}"#);
    for kind in EndpointKind::ALL {
        for status in [401, 403] {
            let (_, error) = wrong(kind, Answer::json(status, &body)).await;
            assert_eq!(error.kind, ModelErrorKind::Permanent, "{kind:?}");
            let said =
                format!("`mock` refuses the key ({status}): Incorrect API key: [key]; is the key right?");
            assert_eq!(error.message, said, "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_limit_per_minute_says_how_long_to_wait() {
    for kind in EndpointKind::ALL {
        let answer = Answer::json(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "7");
        let (_, error) = wrong(kind, answer).await;
        let retry_after = Some(Duration::from_secs(7));
        assert_eq!(error.kind, ModelErrorKind::Transient { retry_after }, "{kind:?} {error}");
    }
}

#[tokio::test]
async fn faults_of_the_server_may_be_tried_again() {
    for kind in EndpointKind::ALL {
        for status in [500, 502, 503, 529] {
            let (_, error) = wrong(kind, Answer::json(status, &format!("{{\"error\":\"{KEY}\"}}"))).await;
            assert!(is_transient(&error), "{kind:?} {error:?}");
        }
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_as_such() {
    let body = r#"{"error":{"message":"prompt is too long: maximum context length is 10 tokens"}}"#;
    for kind in EndpointKind::ALL {
        let (_, error) = wrong(kind, Answer::json(400, body)).await;
        assert_eq!(error.kind, ModelErrorKind::TooLong, "{kind:?} {error}");
    }
}

#[tokio::test]
async fn garbage_is_an_error() {
    let pieces = [
        "data: {\"choi\n\n",
        "{\"message\": \n\n",
        "<html><body>Welcome</body></html>",
        "\u{0}\u{1}\n\n",
        "",
    ];
    for kind in EndpointKind::ALL {
        for garbage in pieces {
            // Anthropic's events carry their names.
            let named = format!("event: content_block_delta\n{garbage}");
            let garbage = if kind == EndpointKind::Anthropic { &named } else { garbage };
            let (told, error) =
                wrong(kind, Answer::stream(vec![Step::Send(garbage.into()), Step::End])).await;
            assert!(told.is_empty() && is_transient(&error), "{kind:?} {garbage:?} {told} {error:?}");
        }
        let not_text = Answer::stream(vec![Step::Send(b"data: \xff\xfe\n\n".to_vec()), Step::End]);
        let (_, error) = wrong(kind, not_text).await;
        assert!(is_transient(&error), "{kind:?} {error:?}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_reply_is_told() {
    for kind in EndpointKind::ALL {
        let mut reply = frames(kind, &[text("Hel")]);
        reply.push(mock::error(kind, &format!("overloaded, {KEY}")));
        let (told, error) = wrong(kind, Answer::frames(&reply)).await;
        assert_eq!(told, "text: Hel", "{kind:?}");
        assert!(is_transient(&error), "{kind:?} {error:?}");
        if kind != EndpointKind::Gemini {
            assert!(error.message.contains("overloaded, [key]"), "{kind:?} {error:?}");
        }
    }
}

#[tokio::test]
async fn silence_ends_a_reply() {
    for kind in EndpointKind::ALL {
        let whole = frames(kind, &[text("Hel"), text("zebra")]).concat();
        // It stops in the middle of a token.
        let half = whole[..whole.find("zebra").unwrap() + 2].into();
        for (steps, told) in [(vec![Step::Send(half), Step::Hang], "text: Hel"), (vec![Step::Hang], "")] {
            let mut mock = Mock::start(vec![Answer::stream(steps)]).await;
            let mut settings = settings(kind, &mock.address);
            let limit = Duration::from_millis(300);
            if told.is_empty() {
                settings.time_outs.first_token = limit;
            } else {
                settings.time_outs.between_tokens = limit;
            }
            let (heard, error) = wrong_at(settings).await;
            assert_eq!(heard, told, "{kind:?}");
            assert!(is_transient(&error), "{kind:?} {error:?}");
            assert!(error.message.contains("for 0.3 seconds"), "{kind:?} {error:?}");
            mock.closed().await;
        }
    }
}

#[tokio::test]
async fn a_dropped_reply_closes_its_connection() {
    for kind in EndpointKind::ALL {
        let begun = Step::Send(frames(kind, &[text("Hel")]).concat().into_bytes());
        let mut mock = Mock::start(vec![Answer::stream(vec![begun, Step::Hang])]).await;
        let model = model(settings(kind, &mock.address));
        let mut reply = model.reply(ask("hello")).await.unwrap();
        assert_eq!(reply.next().await.unwrap().unwrap(), ReplyPart::Text("Hel".to_owned()));
        drop(reply);
        mock.closed().await;
        // The same before anything has come.
        let mut mock = Mock::start(vec![Answer::stream(vec![Step::Hang])]).await;
        let model = self::model(settings(kind, &mock.address));
        let asked = tokio::spawn(async move { model.reply(ask("hello")).await.map(drop) });
        while mock.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        asked.abort();
        mock.closed().await;
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_a_hint() {
    for kind in EndpointKind::ALL {
        let nobody = Nobody::new();
        let (_, error) = wrong_at(settings(kind, &nobody.address)).await;
        assert!(is_transient(&error), "{kind:?} {error:?}");
        assert!(
            error.message.contains("cannot be reached at") && error.message.contains("is it running?"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for kind in EndpointKind::ALL {
        let elsewhere = Mock::start(vec![Answer::json(200, "{}")]).await;
        let answer = Answer::json(307, "").header("location", &elsewhere.address);
        let (_, error) = wrong(kind, answer).await;
        assert_eq!(error.kind, ModelErrorKind::Permanent, "{kind:?} {error}");
        assert_eq!(elsewhere.requests().len(), 0, "{kind:?}");
    }
}

/// A conversation with everything in it.
pub(crate) fn conversation() -> ModelRequest {
    let call = |id: &str, path: &str| ToolCall {
        id: CallId::new(),
        provider_id: Some(id.to_owned()),
        tool: "read_file".to_owned(),
        arguments: JsonText(format!("{{\"path\":\"{path}\"}}")),
    };
    let calls = vec![call("id-1", "a"), call("id-2", "b")];
    let result = |call: &ToolCall, output: &str, failed| ModelMessage::ToolResult {
        call: call.clone(),
        output: output.to_owned(),
        failed,
    };
    let results = [result(&calls[0], "alpha", false), result(&calls[1], "no such file", true)];
    let image = ModelImage { media_type: "image/png".to_owned(), bytes: Arc::from(*b"picture") };
    let mut messages = vec![
        ModelMessage::System("You are careful.".to_owned()),
        ModelMessage::Shown { text: "Look.".to_owned(), images: vec![image] },
        ModelMessage::Assistant { text: "I look.".to_owned(), calls },
    ];
    messages.extend(results);
    messages.push(ModelMessage::User("And now?".to_owned()));
    let tool = ToolSpec {
        name: "read_file".to_owned(),
        description: "Reads a file.".to_owned(),
        parameters: JsonText(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.to_owned()),
    };
    ModelRequest { messages, tools: Arc::from([tool]), max_output: Some(500), thinking: None }
}

#[tokio::test]
async fn a_request_carries_the_conversation_the_tools_and_the_key() {
    for kind in EndpointKind::ALL {
        let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("Hi"), Say::Done]))]).await;
        let mut settings = settings(kind, &mock.address);
        settings.endpoints[0].headers.push(("x-gate".to_owned(), Secret::new("open")));
        let abilities = loggia_domain::ModelAbilities { tools: true, images: true, reasoning: false };
        settings.overrides.values_mut().for_each(|known| known.abilities = Some(abilities));
        hear(&*model(settings), conversation()).await.unwrap();
        let requests = mock.requests();
        let (head, body) = (requests[0].head.to_lowercase(), requests[0].body.to_string());
        let (path, key) = match kind {
            EndpointKind::OpenAi => ("/v1/chat/completions", format!("authorization: bearer {KEY}")),
            EndpointKind::Anthropic => ("/v1/messages", format!("x-api-key: {KEY}")),
            EndpointKind::Gemini => {
                ("/v1beta/models/m:streamgeneratecontent?alt=sse", format!("x-goog-api-key: {KEY}"))
            }
            EndpointKind::Ollama => ("/api/chat", format!("authorization: bearer {KEY}")),
        };
        assert!(head.starts_with(&format!("post {path} http/1.1")), "{head}");
        assert!(head.contains(&key) && head.contains("x-gate: open"), "{head}");
        let said = ["You are careful.", "Look.", "I look.", "And now?", "alpha", "error: no such file"];
        for word in said.into_iter().chain(["read_file", "Reads a file.", "cGljdHVyZQ==", "500"]) {
            assert!(body.contains(word), "{kind:?}: `{word}` is not in {body}");
        }
        assert!(!body.contains(KEY), "{body}");
    }
}

/// What a reply with a call and thoughts makes of the request that answers the call.
async fn second_request(effort: Option<Effort>, known: bool) -> serde_json::Value {
    let kind = EndpointKind::Anthropic;
    let calls = Say::Calls(vec![("id-1", "read_file", vec!["{}"])]);
    let first = frames(kind, &[Say::Thought("Hm.".to_owned()), calls, Say::Done]);
    let second = frames(kind, &[text("Hi"), Say::Done]);
    let mock = Mock::start(vec![Answer::frames(&first), Answer::frames(&second)]).await;
    let mut settings = settings(kind, &mock.address);
    settings.overrides.values_mut().for_each(|known| known.effort = effort);
    let models = Models::new(settings.clone(), Environment::empty());
    let heard = hear(&*models.find(None).unwrap(), ask("hello")).await.unwrap();
    assert!(heard.starts_with("thought: Hm.\ncall id-1: read_file {}"), "{heard}");
    // Another daemon does not know what was thought.
    let models = if known { models } else { Models::new(settings, Environment::empty()) };
    let provider_id = Some("id-1".to_owned());
    let (tool, arguments) = ("read_file".to_owned(), JsonText::empty_object());
    let call = ToolCall { id: CallId::new(), provider_id, tool, arguments };
    let mut request = ask("hello");
    request.messages.push(ModelMessage::Assistant { text: String::new(), calls: vec![call.clone()] });
    request.messages.push(ModelMessage::ToolResult { call, output: "alpha".to_owned(), failed: false });
    hear(&*models.find(None).unwrap(), request).await.unwrap();
    mock.requests()[1].body.clone()
}

#[tokio::test]
async fn signed_thoughts_are_sent_back_with_the_results_of_calls() {
    let body = second_request(Some(Effort::Medium), true).await;
    let thought = serde_json::json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    assert_eq!(body["messages"][1]["content"][0], thought);
    assert_eq!(body["messages"][1]["content"][1]["type"], "tool_use");
    assert!(body.get("thinking").is_some(), "{body}");
}

#[tokio::test]
async fn a_model_whose_thoughts_were_lost_goes_on_without_thinking() {
    for body in [second_request(Some(Effort::Medium), false).await, second_request(None, true).await] {
        assert_eq!(body["messages"][1]["content"][0]["type"], "tool_use");
        assert!(body.get("thinking").is_none(), "{body}");
    }
}

#[tokio::test]
async fn how_hard_to_think_is_told_to_every_provider() {
    for kind in EndpointKind::ALL {
        let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("Hi"), Say::Done]))]).await;
        let mut settings = settings(kind, &mock.address);
        settings.overrides.values_mut().for_each(|known| known.effort = Some(Effort::High));
        hear(&*model(settings), ask("hello")).await.unwrap();
        let body = &mock.requests()[0].body;
        let place = match kind {
            EndpointKind::OpenAi => "/reasoning_effort",
            EndpointKind::Anthropic => "/thinking",
            EndpointKind::Gemini => "/generationConfig/thinkingConfig",
            EndpointKind::Ollama => "/think",
        };
        assert!(body.pointer(place).is_some(), "{kind:?} {body}");
    }
}

/// What a model of an endpoint is sent when its session wants this; and whether it says that it takes it.
async fn thinking_with(kind: EndpointKind, thinking: Thinking, reasoning: bool) -> (serde_json::Value, bool) {
    let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("Hi"), Say::Done]))]).await;
    let mut settings = settings(kind, &mock.address);
    let abilities = ModelAbilities { reasoning, ..ModelAbilities::default() };
    settings.overrides.values_mut().for_each(|known| known.abilities = Some(abilities));
    let model = model(settings);
    hear(&*model, ModelRequest { thinking: Some(thinking), ..ask("hello") }).await.unwrap();
    let takes = model.info().thinking.takes(thinking);
    (mock.requests()[0].body.clone(), takes)
}

#[tokio::test]
async fn how_much_a_session_wants_thought_is_told_where_it_is_taken() {
    for kind in EndpointKind::ALL {
        let place = match kind {
            EndpointKind::OpenAi => "/reasoning_effort",
            EndpointKind::Anthropic => "/thinking/budget_tokens",
            EndpointKind::Gemini => "/generationConfig/thinkingConfig/thinkingBudget",
            EndpointKind::Ollama => "/think",
        };
        let told = async |thinking| {
            let (body, takes) = thinking_with(kind, thinking, true).await;
            (body.pointer(place).cloned().unwrap_or_default(), takes)
        };
        let (extended, takes) = told(Thinking::Extended).await;
        assert!(takes && !extended.is_null() && extended != false, "{kind:?} {extended}");
        let (tokens, takes) = told(Thinking::Tokens(2048)).await;
        let counts = matches!(kind, EndpointKind::Anthropic | EndpointKind::Gemini);
        assert_eq!((takes, tokens == 2048), (counts, counts), "{kind:?} {tokens}");
        let (off, takes) = told(Thinking::Off).await;
        let expected = match kind {
            EndpointKind::Ollama => serde_json::json!(false),
            EndpointKind::Gemini => serde_json::json!(0),
            EndpointKind::OpenAi | EndpointKind::Anthropic => serde_json::Value::Null,
        };
        assert_eq!((takes, off), (kind != EndpointKind::OpenAi, expected), "{kind:?}");
    }
    let (too_few, takes) = thinking_with(EndpointKind::Anthropic, Thinking::Tokens(1000), true).await;
    assert!(!takes && too_few.get("thinking").is_none(), "{too_few}");
}

#[tokio::test]
async fn a_model_that_does_not_think_is_not_told_how() {
    for kind in EndpointKind::ALL {
        for thinking in [Thinking::Off, Thinking::Extended, Thinking::Tokens(2048)] {
            let (body, takes) = thinking_with(kind, thinking, false).await;
            let body = body.to_string();
            assert!(!takes && !body.contains("think") && !body.contains("reasoning"), "{kind:?} {body}");
        }
    }
}

#[tokio::test]
async fn pictures_are_left_out_where_nobody_could_look_at_them() {
    for kind in EndpointKind::ALL {
        let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("Hi"), Say::Done]))]).await;
        hear(&*model(settings(kind, &mock.address)), conversation()).await.unwrap();
        let body = mock.requests()[0].body.to_string();
        assert!(
            !body.contains("cGljdHVyZQ==") && body.contains("which you cannot look at"),
            "{kind:?} {body}"
        );
    }
}

#[tokio::test]
async fn a_model_is_asked_by_the_name_it_has() {
    // These endings mean something to the library.
    for name in ["qwen-max", "some-model-high", "x-none", "gpt-5-mini"] {
        let kind = EndpointKind::OpenAi;
        let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("Hi"), Say::Done]))]).await;
        let models = Models::new(settings(kind, &mock.address), Environment::empty());
        let model = models.find(Some(&ModelName(format!("mock:{name}")))).unwrap();
        hear(&*model, ask("hello")).await.unwrap();
        let body = &mock.requests()[0].body;
        assert_eq!(body["model"], name);
        assert!(body.get("reasoning_effort").is_none(), "{body}");
    }
}

#[tokio::test]
async fn a_call_with_a_hostile_number_costs_nothing() {
    let call = |index: u64| {
        let call = format!(r#"{{"index":{index},"id":"x","function":{{"name":"list","arguments":"{{}}"}}}}"#);
        format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    };
    // The second is no number the library takes; it must not shift the others.
    let mut reply = vec![call(u64::from(u32::MAX)), call(u64::MAX)];
    reply.extend(frames(EndpointKind::OpenAi, &[Say::Done]));
    let heard = well(EndpointKind::OpenAi, Answer::frames(&reply)).await;
    assert_eq!(heard, format!("call x: list {{}}\n{USED}"));
    let many: Vec<String> = (0..200).map(call).collect();
    let (_, error) = wrong(EndpointKind::OpenAi, Answer::frames(&many)).await;
    assert!(error.message.contains("more than 128 calls"), "{error}");
}

#[tokio::test]
async fn a_compatible_server_need_not_say_the_last_word() {
    let mut reply = frames(EndpointKind::OpenAi, &[text("Hi"), Say::Done]);
    assert_eq!(reply.pop().unwrap(), "data: [DONE]\n\n");
    assert_eq!(well(EndpointKind::OpenAi, Answer::frames(&reply)).await, "text: Hi");
}

/// It is asked twice once, and from then on for whole replies.
#[tokio::test]
async fn a_compatible_server_need_not_stream() {
    let body = r#"{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi",
        "tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{\"a\":1}"}},
        {"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
        "usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;
    let mock = Mock::start(vec![Answer::json(200, body)]).await;
    let model = model(settings(EndpointKind::OpenAi, &mock.address));
    for _ in 0..2 {
        let told = hear(&*model, ask("hello")).await.unwrap();
        assert_eq!(told, "text: Hi\ncall c1: list {\"a\":1}\ncall c2: read {}\nusage: 3 0 2 23");
    }
    let streams: Vec<bool> = mock.requests().iter().map(|asked| asked.body["stream"] == true).collect();
    assert_eq!(streams, [true, false, false]);
}

#[tokio::test]
async fn what_does_not_stream_is_refused_as_others_are() {
    let blank = || Answer::json(200, r#"{"whatever": true}"#);
    for (second, transient) in [
        (Answer::json(401, r#"{"error":{"message":"no such key"}}"#), false),
        (Answer::json(503, "{}"), true),
        (Answer::stream(vec![Step::Send("<html></html>".into()), Step::End]), true),
        (blank(), true),
    ] {
        let mock = Mock::start(vec![blank(), second]).await;
        let (told, error) = wrong_at(settings(EndpointKind::OpenAi, &mock.address)).await;
        assert!(told.is_empty() && is_transient(&error) == transient, "{error:?}");
        assert_eq!(mock.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_compatible_server_need_not_name_its_calls() {
    let frame =
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"list","arguments":""}}]}}]}"#;
    let mut reply = vec![format!("data: {frame}\n\n")];
    reply.extend(frames(EndpointKind::OpenAi, &[Say::Done]));
    assert_eq!(well(EndpointKind::OpenAi, Answer::frames(&reply)).await, format!("call : list {{}}\n{USED}"));
}
