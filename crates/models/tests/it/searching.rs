//! The search that answers while no model is set, through the trait.

use std::sync::Arc;

use futures_util::StreamExt as _;
use loggia_domain::{
    BoxFuture, CallId, JsonText, Model, ModelCatalogue, ModelError, ModelErrorKind, ModelInfo, ModelMessage,
    ModelName, ModelRequest, ReplyPart, ReplyStream, ToolCall, ToolSpec, Usage,
};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel, SearchingCatalogue, SearchingModel};

fn tools(names: &[&str]) -> Arc<[ToolSpec]> {
    let tool = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: String::new(),
        parameters: JsonText("{}".to_owned()),
    };
    names.iter().map(tool).collect()
}

async fn parts(model: &dyn Model, messages: &[ModelMessage], names: &[&str]) -> Vec<ReplyPart> {
    let request =
        ModelRequest { messages: messages.to_vec(), tools: tools(names), max_output: None, thinking: None };
    model.reply(request).await.unwrap().map(Result::unwrap).collect().await
}

/// Everything but what was used, which is nothing.
async fn says(messages: &[ModelMessage], names: &[&str]) -> String {
    let mut parts = parts(&SearchingModel, messages, names).await;
    assert_eq!(parts.pop(), Some(ReplyPart::Usage(Usage::NONE)));
    let text = parts.into_iter().map(|part| match part {
        ReplyPart::Text(text) => text,
        ReplyPart::Call { tool, arguments, .. } => format!("{tool} {}", arguments.0),
        other => panic!("{other:?}"),
    });
    text.collect::<Vec<_>>().join("\n")
}

fn user(text: &str) -> ModelMessage {
    ModelMessage::User(text.to_owned())
}

fn result(output: &str, failed: bool) -> ModelMessage {
    let call = ToolCall {
        id: CallId::new(),
        provider_id: None,
        tool: "search_text".to_owned(),
        arguments: JsonText("{}".to_owned()),
    };
    ModelMessage::ToolResult { call, output: output.to_owned(), failed }
}

fn called() -> ModelMessage {
    ModelMessage::Assistant { text: String::new(), calls: Vec::new() }
}

#[tokio::test]
async fn the_words_of_the_last_question_are_searched_for() {
    let messages = [user("old words"), called(), user("Why does login fail?")];
    let text = "search_text {\"query\":\"login\"}\nsearch_text {\"query\":\"fail\"}";
    assert_eq!(says(&messages, &["search_text", "write_file", "run_command"]).await, text);
    let both = says(&[user("login")], &["search_text", "search_symbols"]).await;
    assert_eq!(both, "search_symbols {\"query\":\"login\"}\nsearch_text {\"query\":\"login\"}");
}

#[tokio::test]
async fn what_the_engine_adds_is_no_question() {
    let messages = [
        user("Where is login?\n\nContext from the client:\n```json\n{\"file\":\"unrelated\"}\n```"),
        user("The client's surroundings changed.\n\nunrelated"),
    ];
    assert_eq!(says(&messages, &["search_text"]).await, "search_text {\"query\":\"login\"}");
}

#[tokio::test]
async fn the_code_that_the_engine_found_is_the_answer() {
    let messages = [
        user("Where is login?"),
        user("Code that may belong to this:\n\na.rs, lines 1 to 2:\nfn login() {}"),
    ];
    let text = says(&messages, &["search_text"]).await;
    assert!(text.starts_with("No model is set, so nobody has read your question"), "{text}");
    assert!(text.contains("\n\na.rs, lines 1 to 2:\nfn login() {}\n\n"), "{text}");
}

#[tokio::test]
async fn results_become_citations_and_failures_are_told() {
    let messages = [
        user("login"),
        called(),
        result("a.rs:3:fn login() { `x` }", false),
        result("Not allowed: no", true),
    ];
    let text = says(&messages, &["search_text"]).await;
    assert!(text.contains("\n- `a.rs:3` `` fn login() { `x` } ``\n"), "{text}");
    assert!(text.contains("A search failed: Not allowed: no"), "{text}");
    assert!(text.starts_with("No model is set"), "{text}");
}

#[tokio::test]
async fn it_never_calls_what_does_not_search() {
    let text = says(&[user("delete everything")], &["write_file", "delete_file", "run_command"]).await;
    assert!(text.contains("there is no search here") && text.contains("loggia doctor"), "{text}");
    let summary = says(&[ModelMessage::System("Summarise".to_owned())], &[]).await;
    assert!(summary.starts_with("No model is set."), "{summary}");
}

#[tokio::test]
async fn an_answer_is_bounded_whatever_is_found() {
    let line = format!("{}.rs:1:{}\n", "p".repeat(50), "login ".repeat(1000));
    let messages = [user("login"), called(), result(&line.repeat(5000), false)];
    assert!(says(&messages, &["search_text"]).await.len() < 8 << 10);
}

/// A default that finds out late that there is none.
struct Late;

impl Model for Late {
    fn info(&self) -> ModelInfo {
        ModelInfo::new(ModelName("auto".to_owned()), 1000, true)
    }

    fn reply(&self, _: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let error = ModelError::new(ModelErrorKind::NotConfigured, "nothing");
        Box::pin(std::future::ready(Err(error)))
    }
}

struct OnlyLate;

impl ModelCatalogue for OnlyLate {
    fn find(&self, name: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        let missing = ModelError::new(ModelErrorKind::NotConfigured, "nothing");
        if name.is_some() { Err(missing) } else { Ok(Arc::new(Late)) }
    }
}

#[tokio::test]
async fn a_search_replaces_a_default_that_is_none_and_nothing_else() {
    let alone = SearchingCatalogue::alone();
    assert_eq!(alone.find(None).unwrap().info().name, SearchingModel::name());
    assert!(SearchingModel::name().is_none() && !ModelName("nonesuch:x".to_owned()).is_none());
    let listing = alone.list().await;
    assert_eq!(listing.models, []);
    assert!(listing.errors[0].1.message.starts_with("no model is set"));
    let named = ModelName("big:one".to_owned());
    assert_eq!(alone.find(Some(&named)).err().unwrap().kind, ModelErrorKind::NotConfigured);

    let late = SearchingCatalogue::behind(Arc::new(OnlyLate));
    let model = late.find(None).unwrap();
    assert_eq!(model.info().name, SearchingModel::name(), "nothing is found yet");
    let said = parts(&*model, &[user("login")], &["search_text"]).await;
    assert!(matches!(&said[0], ReplyPart::Call { tool, .. } if tool == "search_text"), "{said:?}");
    assert!(late.find(Some(&named)).is_err());

    let script = Script::parse("[[reply]]\nparts = [{ text = \"hello\" }]").unwrap();
    let scripted = ScriptedCatalogue::single(Arc::new(ScriptedModel::new(script)));
    let there = SearchingCatalogue::behind(Arc::new(scripted)).find(None).unwrap();
    assert_eq!(parts(&*there, &[user("login")], &[]).await[0], ReplyPart::Text("hello".to_owned()));
}

#[tokio::test]
async fn a_search_is_nobody_for_work_that_needs_a_model() {
    let alone = SearchingCatalogue::alone();
    for name in [None, Some(SearchingModel::name())] {
        let missing = alone.find_for_work(name.as_ref()).await.err().unwrap();
        assert_eq!(missing.kind, ModelErrorKind::NotConfigured);
        assert!(missing.message.starts_with("no model is set; run `loggia init`"), "{}", missing.message);
    }
    let late = SearchingCatalogue::behind(Arc::new(OnlyLate));
    let model = late.find_for_work(None).await.unwrap();
    let request = ModelRequest {
        messages: vec![user("login")],
        tools: Arc::from([]),
        max_output: None,
        thinking: None,
    };
    assert_eq!(model.reply(request).await.err().unwrap().kind, ModelErrorKind::NotConfigured);
}
