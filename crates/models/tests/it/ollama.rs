//! What holds for Ollama alone: how much it is told to look at, and that nothing it sends is read without a limit.

use loggia_domain::{ModelCatalogue, ModelErrorKind, ModelName};
use loggia_models::{EndpointKind, Environment, Models, Override, Settings};
use serde_json::{Value, json};

use crate::contract::{ask, conversation, hear, settings};
use loggia_mock_models::{Answer, Mock, Step};
use loggia_mock_models::{Say, frames, text};

const KIND: EndpointKind = EndpointKind::Ollama;

/// The request a model gets, with this about it and this in the environment.
async fn request(model: &str, better: Override, environment: Environment) -> Value {
    let mock = Mock::start(vec![Answer::frames(&frames(KIND, &[text("hi"), Say::Done]))]).await;
    let name = ModelName(format!("mock:{model}"));
    let overrides = [(name.clone(), better)].into();
    let settings = Settings { overrides, ..settings(KIND, &mock.address) };
    let model = Models::new(settings, environment).find(Some(&name)).unwrap();
    let looks_at = model.info().context_tokens;
    hear(&*model, ask("hello")).await.unwrap();
    let body = mock.requests()[0].body.clone();
    assert_eq!(body["options"]["num_ctx"], looks_at, "what we reckon with is what it is told");
    body
}

#[tokio::test]
async fn every_request_says_how_much_to_look_at() {
    let nothing = Environment::empty;
    let body = request("qwen3:8b", Override::default(), nothing()).await;
    assert_eq!(body["options"], json!({"num_ctx": 16_384}));
    assert_eq!((&body["truncate"], &body["shift"]), (&json!(false), &json!(false)));
    let better = Override { context_tokens: Some(65_536), ..Override::default() };
    assert_eq!(request("qwen3:8b", better, nothing()).await["options"]["num_ctx"], 65_536);
    let told = || Environment::from([("OLLAMA_CONTEXT_LENGTH", "32768")]);
    assert_eq!(request("qwen3:8b", Override::default(), told()).await["options"]["num_ctx"], 32_768);
    assert_eq!(request("qwen3:8b", better, told()).await["options"]["num_ctx"], 65_536);
    for useless in ["0", "1023", "-1", "much"] {
        let told = Environment::from([("OLLAMA_CONTEXT_LENGTH", useless)]);
        let body = request("qwen3:8b", Override::default(), told).await;
        assert_eq!(body["options"]["num_ctx"], 16_384, "{useless}");
    }
}

#[tokio::test]
async fn a_conversation_that_does_not_fit_is_told_and_not_cut() {
    let refused = r#"{"error":"the input length exceeds the context length"}"#;
    let mock = Mock::start(vec![Answer::json(400, refused)]).await;
    let model = Models::new(settings(KIND, &mock.address), Environment::empty()).find(None).unwrap();
    let (_, error) = hear(&*model, ask("hello")).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLong);
}

#[tokio::test]
async fn a_conversation_is_told_in_its_words() {
    let mock = Mock::start(vec![Answer::frames(&frames(KIND, &[text("hi"), Say::Done]))]).await;
    let model = Models::new(settings(KIND, &mock.address), Environment::empty()).find(None).unwrap();
    hear(&*model, conversation()).await.unwrap();
    let body = &mock.requests()[0].body;
    assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(true)));
    assert_eq!(body["options"]["num_predict"], 500);
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
    assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0], json!({"role": "system", "content": "You are careful."}));
    let call = messages.iter().find(|message| message.get("tool_calls").is_some()).unwrap();
    assert_eq!(call["role"], "assistant");
    assert_eq!(call["tool_calls"][0]["function"]["name"], "read_file");
    assert!(call["tool_calls"][0]["function"]["arguments"].is_object(), "{call}");
    let result = messages.iter().find(|message| message["role"] == "tool").unwrap();
    assert_eq!((&result["tool_name"], &result["content"]), (&json!("read_file"), &json!("alpha")));
    assert_eq!(result["tool_call_id"], call["tool_calls"][0]["id"]);
}

#[tokio::test]
async fn it_need_not_name_its_calls() {
    let call = r#"{"message":{"tool_calls":[{"function":{"name":"list","arguments":{"a":1}}},{"function":{"name":"list"}}]}}"#;
    let done = r#"{"done":true}"#;
    let reply = [format!("{call}\n"), format!("{done}\n")];
    let mock = Mock::start(vec![Answer::frames(&reply)]).await;
    let model = Models::new(settings(KIND, &mock.address), Environment::empty()).find(None).unwrap();
    let heard = hear(&*model, ask("hello")).await.unwrap();
    assert_eq!(heard, "call : list {\"a\":1}list {}\nusage: 0 0 0 0");
}

/// A server that never stops sending.
fn endless(status: u16, piece: Vec<u8>, count: usize) -> Answer {
    let steps = std::iter::repeat_n(Step::Send(piece), count).chain([Step::Hang]).collect();
    Answer { status, ..Answer::stream(steps) }
}

#[tokio::test]
async fn a_refusal_without_end_is_cut_short() {
    let mut mock = Mock::start(vec![endless(500, vec![b'x'; 1 << 16], 1)]).await;
    let model = Models::new(settings(KIND, &mock.address), Environment::empty()).find(None).unwrap();
    let (_, error) = hear(&*model, ask("hello")).await.unwrap_err();
    assert!(error.message.starts_with("`mock` is not well (500): xxx"), "{error}");
    assert!(error.message.len() < 500, "{error}");
    mock.closed().await;
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    let mock = Mock::start(vec![endless(200, vec![b'x'; 1 << 20], 17)]).await;
    let model = Models::new(settings(KIND, &mock.address), Environment::empty()).find(None).unwrap();
    let (_, error) = hear(&*model, ask("hello")).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Permanent);
    assert!(error.message.contains("sends a line of over"), "{error}");
}
