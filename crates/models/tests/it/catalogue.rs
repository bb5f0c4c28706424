//! Finding, listing and examining models.

use loggia_domain::{ModelAbilities, ModelCatalogue, ModelErrorKind, ModelName, Price};
use loggia_mock_models::{Answer, Mock, Nobody, Say, frames, text};
use loggia_models::{
    Endpoint, EndpointKind, Environment, KeySource, KeyState, Models, Override, Reach, Settings,
};

use crate::contract::{KEY, ask, hear, settings};

fn name(text: &str) -> ModelName {
    ModelName(text.to_owned())
}

fn wrong(models: &Models, wanted: &str) -> String {
    let error = models.find(Some(&name(wanted))).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::NotConfigured);
    error.message
}

#[test]
fn a_name_that_leads_nowhere_says_what_was_meant() {
    let models = Models::new(Settings::default(), Environment::from([("OPENAI_API_KEY", "sk-1")]));
    let cases = [
        ("opnai:gpt-5", "there is no provider `opnai`; did you mean `openai:gpt-5`?"),
        (
            "gpt-5",
            "`gpt-5` is not a model's name, which looks like `provider:model`; did you mean `openai:gpt-5`?",
        ),
        ("openai:", "`openai:` is not a model's name, which looks like `provider:model`"),
        ("zzz:x", "there is no provider `zzz`"),
        (
            "anthropic:claude-opus-4-5",
            "`anthropic`: no key is set: set ANTHROPIC_API_KEY or run `loggia init`",
        ),
        ("gemini:gemini-2.5-pro", "`gemini`: no key is set: set GEMINI_API_KEY or run `loggia init`"),
    ];
    for (wanted, said) in cases {
        assert_eq!(wrong(&models, wanted), said);
    }
}

#[test]
fn what_is_known_of_a_model_can_be_known_better() {
    let better = Override { context_tokens: Some(5000), ..Override::default() };
    let overrides = [(name("openai:gpt-5"), better)].into();
    let environment = Environment::from([("OPENAI_API_KEY", "sk-1"), ("OLLAMA_CONTEXT_LENGTH", "64000")]);
    let models = Models::new(Settings { overrides, ..Settings::default() }, environment);
    let info = |wanted: &str| models.find(Some(&name(wanted))).unwrap().info();
    let known = info("openai:gpt-5");
    assert_eq!((known.context_tokens, known.local), (5000, false));
    assert_eq!(known.abilities, ModelAbilities { tools: true, images: true, reasoning: true });
    assert_eq!(known.price.unwrap().output, 10_000_000);
    assert_eq!(info("openai:gpt-99-new").price, None);
    let local = info("ollama:qwen3:8b");
    assert_eq!((local.context_tokens, local.local, local.price), (64_000, true, Some(Price::FREE)));
    assert_eq!(info("lmstudio:whatever").context_tokens, 32_768);
}

#[tokio::test]
async fn the_environment_says_where_providers_are() {
    let cases = [
        (EndpointKind::OpenAi, "openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
        (EndpointKind::Anthropic, "anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        (EndpointKind::Ollama, "ollama", "OLLAMA_HOST", "UNUSED"),
    ];
    for (kind, provider, address_variable, key_variable) in cases {
        let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("hi"), Say::Done]))]).await;
        let bare = mock.address.trim_start_matches("http://").to_owned();
        for address in
            [bare.clone(), format!("{bare}/"), format!("http://{bare}/v1"), format!("http://{bare}/v1/")]
        {
            let environment = Environment::from([(address_variable, &*address), (key_variable, KEY)]);
            let models = Models::new(Settings::default(), environment);
            let model = models.find(Some(&name(&format!("{provider}:m")))).unwrap();
            hear(&*model, ask("hello")).await.unwrap();
        }
        let heads: Vec<String> = mock.requests().iter().map(|request| request.head.clone()).collect();
        let first = heads[0].lines().next().unwrap();
        assert!(heads.iter().all(|head| head.starts_with(first)), "{heads:?}");
        assert_eq!(heads[0].contains(KEY), kind != EndpointKind::Ollama);
    }
}

#[test]
fn a_key_is_not_sent_to_another_endpoint_of_the_same_kind() {
    let endpoint = Endpoint {
        name: "gateway".to_owned(),
        kind: EndpointKind::OpenAi,
        base_url: Some("https://gateway.example".to_owned()),
        key: KeySource::Usual,
        headers: Vec::new(),
    };
    let models = Models::new(
        Settings { endpoints: vec![endpoint], ..Settings::default() },
        Environment::from([("OPENAI_API_KEY", KEY)]),
    );
    assert!(models.find(Some(&name("gateway:m"))).is_ok());
    assert!(!format!("{models:?}").contains(KEY));
}

#[tokio::test]
async fn a_proxy_is_used_for_others_and_not_for_this_machine() {
    let kind = EndpointKind::OpenAi;
    let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("hi"), Say::Done]))]).await;
    let gone = Nobody::new();
    let at = |address: &str, proxy: &str| {
        let environment = Environment::from([("http_proxy", proxy), ("ALL_PROXY", proxy)]);
        Models::new(settings(kind, address), environment).find(None).unwrap()
    };
    hear(&*at(&mock.address, &gone.address), ask("hello")).await.unwrap();
    hear(&*at("http://provider.example", &mock.address), ask("hello")).await.unwrap();
    let lines: Vec<String> =
        mock.requests().iter().map(|request| request.head.lines().next().unwrap().to_owned()).collect();
    let through = "POST http://provider.example/v1/chat/completions HTTP/1.1";
    assert_eq!(lines, ["POST /v1/chat/completions HTTP/1.1", through]);
}

#[tokio::test]
async fn a_bare_list_of_models_is_a_list_too() {
    let mock = Mock::start(vec![Answer::json(200, r#"[{"id":"a"},{"id":"b"}]"#)]).await;
    let listing =
        Models::new(settings(EndpointKind::OpenAi, &mock.address), Environment::empty()).list().await;
    assert!(["mock:a", "mock:b"].iter().all(|name| listing.models.iter().any(|info| info.name.0 == *name)));
}

/// What each kind lists its models with.
fn page(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::OpenAi => {
            r#"{"data":[{"id":"b"},{"id":"a"},{"id":"text-embedding-3"},{"id":"whisper-1"}]}"#
        }
        EndpointKind::Anthropic => r#"{"data":[{"id":"a"},{"id":"b"}],"has_more":false}"#,
        EndpointKind::Gemini => {
            r#"{"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"]},
                {"name":"models/b"},{"name":"models/x","supportedGenerationMethods":["embedContent"]}]}"#
        }
        EndpointKind::Ollama => r#"{"models":[{"name":"a","size":1},{"name":"b"}]}"#,
    }
}

#[tokio::test]
async fn models_are_listed_with_the_default_first() {
    for kind in EndpointKind::ALL {
        let mock = Mock::start(vec![Answer::json(200, page(kind))]).await;
        let mut settings = settings(kind, &mock.address);
        settings.default = vec![name("mock:b"), name("mock:unlisted")];
        let models = Models::new(settings, Environment::empty());
        let listing = models.list().await;
        let names: Vec<&str> = listing.models.iter().map(|info| &*info.name.0).collect();
        let ours: Vec<&str> = names.iter().copied().filter(|name| name.starts_with("mock:")).collect();
        assert_eq!(ours, ["mock:b", "mock:unlisted", "mock:a"], "{kind:?}");
        assert_eq!(names[0], "mock:b");
        assert!(mock.requests()[0].head.contains(KEY), "{kind:?}");
    }
}

#[tokio::test]
async fn a_dead_provider_costs_only_its_own_models() {
    let alive = Mock::start(vec![Answer::json(200, page(EndpointKind::OpenAi))]).await;
    let mut settings = settings(EndpointKind::OpenAi, &alive.address);
    let mut add = |name: &str, address: &str| {
        let mut endpoint = settings.endpoints[0].clone();
        (endpoint.name, endpoint.base_url) = (name.to_owned(), Some(address.to_owned()));
        settings.endpoints.push(endpoint);
    };
    let dead = Nobody::new();
    add("dead", &dead.address);
    let refuses = Mock::start(vec![Answer::json(401, &format!("{{\"error\":\"{KEY}\"}}"))]).await;
    add("refuses", &refuses.address);
    let babbles = Mock::start(vec![Answer::json(200, "<html>")]).await;
    add("babbles", &babbles.address);
    add("broken", "ftp://nowhere");
    let listing = Models::new(settings, Environment::empty()).list().await;
    assert!(listing.models.iter().any(|info| info.name.0 == "mock:a"));
    let errors: Vec<&str> = listing.errors.iter().map(|(name, _)| &**name).collect();
    assert_eq!(errors, ["dead", "refuses", "babbles", "broken"]);
    assert!(!format!("{listing:?}").contains(KEY));
}

#[tokio::test]
async fn the_doctor_tells_what_works_and_what_to_do() {
    let alive = Mock::start(vec![Answer::json(200, page(EndpointKind::Anthropic))]).await;
    let mut settings = settings(EndpointKind::Anthropic, &alive.address);
    let mut keyless = settings.endpoints[0].clone();
    (keyless.name, keyless.key) = ("keyless".to_owned(), KeySource::Variable("MY_KEY".to_owned()));
    settings.endpoints.push(keyless);
    let nobody = Nobody::new();
    let environment = Environment::from([("OLLAMA_HOST", &*nobody.address)]);
    let diagnosis = Models::new(settings, environment).doctor().await;
    assert_eq!(diagnosis.defaults, [name("mock:m")]);
    let state = |name: &str| diagnosis.providers.iter().find(|state| state.name == name).unwrap();
    assert_eq!(state("mock").key, KeyState::Found { place: "the settings".to_owned() });
    assert_eq!(state("mock").reach, Reach::Answers { models: 2 });
    assert_eq!(state("keyless").key, KeyState::Missing { hint: "no key is set: set MY_KEY".to_owned() });
    assert_eq!(state("keyless").reach, Reach::NotAsked);
    assert!(
        matches!(&state("ollama").reach, Reach::Fails(error) if error.message.contains("is it running?"))
    );
    assert!(diagnosis.providers.iter().all(|state| state.name != "openai"), "nobody asked for it");
    assert_eq!(diagnosis.hints[0], "`keyless`: no key is set: set MY_KEY");
    assert!(!format!("{diagnosis:?}").contains(KEY));
}

#[tokio::test]
async fn a_test_call_is_short_and_tells_what_a_prompt_would_fail_with() {
    for kind in EndpointKind::ALL {
        let good = Answer::frames(&frames(kind, &[text("ok"), Say::Done]));
        let mock = Mock::start(vec![good, Answer::json(401, "{}")]).await;
        let models = Models::new(settings(kind, &mock.address), Environment::empty());
        let tested = models.test(None).await.unwrap();
        assert_eq!((tested.model, tested.usage.unwrap().output), (name("mock:m"), 7), "{kind:?}");
        assert!(mock.requests()[0].body.to_string().contains("16"), "{kind:?}");
        let error = models.test(Some(&name("mock:m"))).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Permanent, "{kind:?}");
    }
}
