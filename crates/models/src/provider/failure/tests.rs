//! What refusals come to.

use super::*;
use crate::Secret;
use crate::address::Address;

fn provider(kind: EndpointKind) -> Provider {
    Provider {
        name: kind.name().to_owned(),
        named: false,
        kind,
        address: Address::parse(kind, "https://host.example").expect("an address"),
        key: KeySource::Usual,
        variables: &["THE_KEY"],
        headers: vec![("x-gate".to_owned(), Secret::new("gate-secret"))],
        ollama_context: None,
        thoughts: super::super::Thoughts::default(),
        replies_whole: false.into(),
    }
}

fn found(place: &str) -> Found {
    Found { key: Secret::new("sk-secret-key"), place: place.to_owned() }
}

fn refused(kind: EndpointKind, status: u16, body: &str) -> ModelError {
    let (provider, key) = (provider(kind), found("the variable THE_KEY"));
    let blame = Blame { provider: &provider, model: Some("gpt5-mini"), key: Some(&key) };
    blame.of_status(StatusCode::from_u16(status).expect("a status"), &HeaderMap::new(), body)
}

#[test]
fn every_providers_way_of_saying_too_long_is_understood() {
    use EndpointKind::{Anthropic, Gemini, Ollama, OpenAi};
    let cases = [
        (
            OpenAi,
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}"#,
        ),
        (
            OpenAi,
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        ),
        (
            OpenAi,
            400,
            r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
        ),
        (OpenAi, 413, r#"{"error":{"message":"Request too large"}}"#),
        (OpenAi, 400, r#"{"error":{"message":"Please reduce the length of the messages or completion."}}"#),
        (
            Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ),
        (
            Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000"}}"#,
        ),
        (
            Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        (
            Gemini,
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        ),
        (Ollama, 400, r#"{"error":"prompt too long; exceeded max context length by 12 tokens"}"#),
    ];
    for (kind, status, body) in cases {
        assert_eq!(refused(kind, status, body).kind, ModelErrorKind::TooLong, "{body}");
    }
}

#[test]
fn refusals_say_what_to_do() {
    let said = |kind, status, body| {
        let error = refused(kind, status, body);
        assert_eq!(error.kind, ModelErrorKind::Permanent, "{error}");
        error.message
    };
    use EndpointKind::{Ollama, OpenAi};
    assert_eq!(
        said(OpenAi, 401, r#"{"error":{"message":"Incorrect API key provided: sk-secret-key. Bye"}}"#),
        "`openai` refuses the key (401): Incorrect API key provided: [key]. Bye; is THE_KEY right?"
    );
    assert_eq!(
        said(OpenAi, 404, r#"{"error":{"message":"The model does not exist"}}"#),
        "`openai` has no model `gpt5-mini` (404): The model does not exist; did you mean `openai:gpt-5-mini`?"
    );
    assert_eq!(
        said(Ollama, 404, r#"{"error":"model 'gpt5-mini' not found"}"#),
        "`ollama` has no model `gpt5-mini` (404): model 'gpt5-mini' not found; get it with `ollama pull gpt5-mini`"
    );
    assert_eq!(
        said(
            OpenAi,
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#
        ),
        "`openai` has no credit left for this key (429): You exceeded your current quota"
    );
    assert_eq!(said(OpenAi, 301, ""), "`openai` points elsewhere (301); is its address right?");
    assert_eq!(said(OpenAi, 400, "<html>gate-secret"), "`openai` refuses the request (400)");
}

#[test]
fn no_words_hold_a_secret_or_go_on_and_on() {
    let long = format!("gate-secret {} sk-secret-key\n\u{1b}[31m", "x ".repeat(1000));
    let error = refused(EndpointKind::OpenAi, 500, &long);
    assert!(!error.message.contains("gate-secret") && !error.message.contains('\u{1b}'), "{error}");
    assert!(error.message.chars().count() < 400, "{error}");
    // A key at the very place where words are cut is not cut in two.
    let cut = format!("{}sk-secret-key", "x".repeat(MAX_SAID_CHARS - 6));
    assert!(!refused(EndpointKind::OpenAi, 500, &cut).message.contains("sk-sec"));
}

#[test]
fn waits_are_read_in_every_form() {
    let wait = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().expect("a header"));
        retry_after(&headers)
    };
    assert_eq!(wait("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
    assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
    assert_eq!(wait("retry-after", "9999999"), Some(MAX_RETRY_AFTER));
    assert_eq!(wait("retry-after", "-1"), None);
    assert_eq!(wait("retry-after", "soon"), None);
    assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
    let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
    let waited = wait("retry-after", &later).expect("a wait");
    assert!((90..=100).contains(&waited.as_secs()), "{waited:?}");
    let body = r#"{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}"#;
    assert_eq!(retry_delay(body), Some(Duration::from_millis(34_500)));
}

#[test]
fn errors_in_the_middle_of_a_reply_are_told_apart() {
    let (provider, key) = (provider(EndpointKind::Anthropic), found("the variable THE_KEY"));
    let blame = Blame { provider: &provider, model: Some("claude"), key: Some(&key) };
    let kind = |text: &str| blame.of_words(text).kind;
    let transient = ModelErrorKind::Transient { retry_after: None };
    assert_eq!(
        kind(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        transient
    );
    assert_eq!(kind(r#"{"message":"Error in input stream","type":"server_error"}"#), transient);
    assert_eq!(kind(r#"{"message":"busy","code":429}"#), transient);
    assert_eq!(kind(r#"{"message":"no","type":"invalid_request_error"}"#), ModelErrorKind::Permanent);
    assert_eq!(kind(r#""prompt too long for the context window""#), ModelErrorKind::TooLong);
    assert_eq!(kind("llama runner process has terminated"), transient);
}

#[test]
fn a_refused_key_is_named_by_its_place() {
    for (place, hint) in [
        ("the variable THE_KEY", "refuses the key (401); is THE_KEY right?"),
        (KEYRING, "refuses the key (401); is the key in the keyring right?"),
    ] {
        let (provider, key) = (provider(EndpointKind::OpenAi), found(place));
        let blame = Blame { provider: &provider, model: None, key: Some(&key) };
        let said = blame.of_status(StatusCode::UNAUTHORIZED, &HeaderMap::new(), "").message;
        assert!(said.ends_with(hint), "{said}");
    }
}
