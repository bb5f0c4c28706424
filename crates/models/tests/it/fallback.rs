//! Chains of models, and the search for one when none was named.

use loggia_domain::{Model, ModelCatalogue, ModelErrorKind, ModelName};
use loggia_mock_models::{Answer, Mock, Nobody, Say, frames, text};
use loggia_models::{Endpoint, EndpointKind, Environment, KeySource, Models, Settings};

use crate::contract::{ask, hear};

fn endpoint(name: &str, kind: EndpointKind, address: &str) -> Endpoint {
    let base_url = Some(address.to_owned());
    Endpoint { name: name.to_owned(), kind, base_url, key: KeySource::None, headers: Vec::new() }
}

fn says(word: &str) -> Answer {
    Answer::frames(&frames(EndpointKind::OpenAi, &[text(word), Say::Done]))
}

fn chain(first: &str, second: &str) -> Models {
    let endpoints = vec![
        endpoint("first", EndpointKind::OpenAi, first),
        endpoint("second", EndpointKind::OpenAi, second),
    ];
    let default = ["first:m", "second:m"].map(|name| ModelName(name.to_owned())).into();
    Models::new(Settings { endpoints, default, ..Settings::default() }, Environment::empty())
}

async fn say(model: &dyn Model) -> String {
    let heard = hear(model, ask("hello")).await.unwrap_or_else(|(told, error)| format!("{told}! {error}"));
    heard.lines().filter(|line| !line.starts_with("usage")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_next_model_replies_when_one_is_down_and_every_reply_says_so() {
    let second = Mock::start(vec![says("two")]).await;
    let nobody = Nobody::new();
    let models = chain(&nobody.address, &second.address);
    let model = models.find(None).unwrap();
    assert_eq!(model.info().name.0, "first:m");
    let heard = say(&*model).await;
    assert!(heard.starts_with("switched: first:m -> second:m: `first` cannot be reached at"), "{heard}");
    assert!(heard.ends_with("\ntext: two"), "{heard}");
    assert_eq!(model.info().name.0, "second:m");
    // The one that failed rests, also for whoever asks next. That one has heard nothing yet.
    assert_eq!(say(&*models.find(None).unwrap()).await, heard);
}

#[tokio::test]
async fn every_failure_before_the_first_piece_leads_to_the_next_model() {
    for status in [401, 404, 429, 500] {
        let first = Mock::start(vec![Answer::json(status, "{}")]).await;
        let second = Mock::start(vec![says("two")]).await;
        let models = chain(&first.address, &second.address);
        let heard = say(&*models.find(None).unwrap()).await;
        assert!(heard.starts_with("switched: ") && heard.ends_with("text: two"), "{status} {heard}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_not_sent_to_the_next_model() {
    let first = Mock::start(vec![Answer::json(400, r#"{"error":{"code":"context_length_exceeded"}}"#)]).await;
    let second = Mock::start(vec![says("two")]).await;
    let models = chain(&first.address, &second.address);
    let (_, error) = hear(&*models.find(None).unwrap(), ask("hello")).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLong);
    assert_eq!(second.requests().len(), 0);
}

#[tokio::test]
async fn a_reply_that_breaks_later_is_not_begun_again_elsewhere() {
    let begun = frames(EndpointKind::OpenAi, &[text("one")]);
    let first = Mock::start(vec![Answer::frames(&begun)]).await;
    let second = Mock::start(vec![says("two")]).await;
    let models = chain(&first.address, &second.address);
    assert!(say(&*models.find(None).unwrap()).await.starts_with("text: one! `first` cut its reply off"));
    assert_eq!(second.requests().len(), 0);
}

#[tokio::test]
async fn when_all_fail_the_one_worth_waiting_for_decides() {
    let first = Mock::start(vec![Answer::json(401, "{}")]).await;
    let second = Mock::start(vec![Answer::json(503, "{}").header("retry-after", "3")]).await;
    let models = chain(&first.address, &second.address);
    let (_, error) = hear(&*models.find(None).unwrap(), ask("hello")).await.unwrap_err();
    assert!(matches!(error.kind, ModelErrorKind::Transient { retry_after: Some(_) }), "{error:?}");
    assert!(error.message.contains("`first`") && error.message.contains("`second`"), "{error}");
}

#[tokio::test]
async fn a_default_without_a_key_is_there_and_says_so_when_it_is_to_reply() {
    let missing = |provider: &str, variable: &str| {
        format!("`{provider}`: no key is set: set {variable} or run `loggia init`")
    };
    let openai = missing("openai", "OPENAI_API_KEY");
    let cases = [
        ("openai:gpt-5", openai.clone()),
        (
            "openai:gpt-5,anthropic:claude-opus-4-5",
            format!("{openai}; {}", missing("anthropic", "ANTHROPIC_API_KEY")),
        ),
    ];
    for (names, told) in cases {
        let default: Vec<ModelName> = names.split(',').map(|name| ModelName(name.to_owned())).collect();
        let models =
            Models::new(Settings { default: default.clone(), ..Settings::default() }, Environment::empty());
        let model = models.find(None).unwrap();
        assert_eq!(model.info().name, default[0]);
        let (_, error) = hear(&*model, ask("hello")).await.unwrap_err();
        // Not `NotConfigured`: a search must not answer in its place.
        assert_eq!((error.kind, error.message), (ModelErrorKind::Permanent, told));
        // Whoever names it is told at once.
        assert_eq!(models.find(Some(&default[0])).err().unwrap().message, openai);
        let listed = models.list().await;
        assert!(listed.models.iter().all(|model| model.name != default[0]), "{listed:?}");
        assert!(listed.errors.iter().any(|(_, error)| error.message == openai), "{listed:?}");
    }
}

#[test]
fn a_chain_that_names_no_model_is_refused_at_once() {
    let default = vec![ModelName("opnai:gpt-5".to_owned()), ModelName("nobody:model".to_owned())];
    let models = Models::new(Settings { default, ..Settings::default() }, Environment::empty());
    let error = models.find(None).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::NotConfigured);
    assert_eq!(error.message, "there is no provider `opnai`; did you mean `openai:gpt-5`?");
}

/// Settings in which the servers on this machine are where nobody is, but for those named.
fn machine(nobody: &Nobody, ollama: Option<&str>, lmstudio: Option<&str>) -> Settings {
    let at = |address: Option<&str>| address.unwrap_or(&nobody.address).to_owned();
    let endpoints = vec![
        endpoint("ollama", EndpointKind::Ollama, &at(ollama)),
        endpoint("lmstudio", EndpointKind::OpenAi, &at(lmstudio)),
        endpoint("llamacpp", EndpointKind::OpenAi, &nobody.address),
    ];
    Settings { endpoints, ..Settings::default() }
}

#[tokio::test]
async fn a_server_on_this_machine_is_found_at_the_first_reply() {
    let tags = r#"{"models":[{"name":"nomic-embed-text"},{"name":"gemma3:4b"},{"name":"llama3.1:8b"},{"name":"qwen3-coder:30b"}]}"#;
    let reply = Answer::frames(&frames(EndpointKind::Ollama, &[text("hi"), Say::Done]));
    let ollama = Mock::start(vec![Answer::json(200, tags), reply]).await;
    let nobody = Nobody::new();
    let models = Models::new(machine(&nobody, Some(&ollama.address), None), Environment::empty());
    let model = models.find(None).unwrap();
    assert_eq!(ollama.requests().len(), 0, "finding does not wait");
    assert_eq!(models.defaults(), []);
    assert_eq!(say(&*model).await, "text: hi");
    assert_eq!(models.defaults(), [ModelName("ollama:qwen3-coder:30b".to_owned())]);
    assert_eq!(model.info().name.0, "ollama:qwen3-coder:30b");
    assert_eq!(ollama.requests()[1].body["model"], "qwen3-coder:30b");
    assert!(ollama.requests()[1].head.starts_with("POST /api/chat"));
}

#[tokio::test]
async fn the_search_can_be_made_in_the_background() {
    let names = r#"{"data":[{"id":"text-embedding-nomic"},{"id":"some-model"}]}"#;
    let studio = Mock::start(vec![Answer::json(200, names), says("hi")]).await;
    let nobody = Nobody::new();
    let models = Models::new(machine(&nobody, None, Some(&studio.address)), Environment::empty());
    models.look().await;
    assert_eq!(models.defaults(), [ModelName("lmstudio:some-model".to_owned())]);
    assert_eq!(say(&*models.find(None).unwrap()).await, "text: hi");
    assert_eq!(studio.requests().len(), 2);
}

#[tokio::test]
async fn without_a_server_a_provider_whose_key_is_set_is_taken() {
    let nobody = Nobody::new();
    let environment = Environment::from([("GEMINI_API_KEY", "g-1"), ("OPENROUTER_API_KEY", "o-1")]);
    let models = Models::new(machine(&nobody, None, None), environment);
    models.look().await;
    assert_eq!(models.defaults(), [ModelName("gemini:gemini-2.5-pro".to_owned())]);
}

#[tokio::test]
async fn without_anything_it_is_said_how_to_set_a_model() {
    let nobody = Nobody::new();
    let models = Models::new(machine(&nobody, None, None), Environment::empty());
    let (_, error) = hear(&*models.find(None).unwrap(), ask("hello")).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotConfigured);
    for word in ["Ollama", "LM Studio", "ANTHROPIC_API_KEY", "`anthropic:claude-"] {
        assert!(error.message.contains(word), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_was_started_later_is_found_by_the_next_reply() {
    let nobody = Nobody::new();
    let models = Models::new(machine(&nobody, None, None), Environment::empty());
    let model = models.find(None).unwrap();
    hear(&*model, ask("hello")).await.unwrap_err();
    // All three are looked for at this address.
    let tags = Answer::json(200, r#"{"models":[{"name":"qwen3:8b"}]}"#);
    let reply = Answer::frames(&frames(EndpointKind::Ollama, &[text("hi"), Say::Done]));
    let _mock = Mock::on(nobody.listen(), vec![tags.clone(), tags.clone(), tags, reply]);
    assert_eq!(say(&*model).await, "text: hi");
}
