//! Telemetry of `loggia serve`: what a collector gets, and what happens without one.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use loggia_protocol_agent_server::PolicyPreset;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::server::Server;
use crate::stage::Stage;
use crate::turn::{self, PRIVATE};

/// One request to a collector.
struct Sent {
    headers: HeaderMap,
    body: Bytes,
}

/// A collector that keeps what it gets.
struct Collector {
    address: String,
    sent: mpsc::UnboundedReceiver<Sent>,
}

impl Collector {
    async fn start() -> Self {
        let (sender, sent) = mpsc::unbounded_channel();
        let take = |State(sender): State<mpsc::UnboundedSender<Sent>>, headers: HeaderMap, body: Bytes| async move {
            // The test may have ended.
            let _ = sender.send(Sent { headers, body });
        };
        let router = Router::new().route("/v1/traces", post(take)).with_state(sender);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, sent }
    }

    /// Everything that has come so far.
    fn all(&mut self) -> Vec<Sent> {
        std::iter::from_fn(|| self.sent.try_recv().ok()).collect()
    }
}

/// A value; numbers with a mark, to be told from their texts.
fn text(value: &KeyValue) -> String {
    match value.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => format!("#{number}"),
        other => format!("{other:?}"),
    }
}

/// What a span says, each of it once.
fn facts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let facts: BTreeMap<_, _> = attributes.iter().map(|pair| (pair.key.clone(), text(pair))).collect();
    assert_eq!(facts.len(), attributes.len(), "said twice: {attributes:?}");
    facts
}

fn spans(sent: &[Sent]) -> Vec<Span> {
    let requests = sent.iter().map(|sent| ExportTraceServiceRequest::decode(sent.body.clone()).unwrap());
    let scopes = requests.flat_map(|request| request.resource_spans).flat_map(|spans| spans.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

/// Who sent it.
fn resource(sent: &[Sent]) -> BTreeMap<String, String> {
    let request = ExportTraceServiceRequest::decode(sent[0].body.clone()).unwrap();
    facts(&request.resource_spans[0].resource.as_ref().unwrap().attributes)
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_spans_of_a_turn_reach_the_collector() {
    let mut collector = Collector::start().await;
    let stage = Stage::new();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=not%20yours"),
        ("OTEL_SERVICE_NAME", "our agent"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ];
    let server = turn::start(&stage, &variables, &[]);
    let session = turn::play(&stage, &server).await;
    // The end sends what is left.
    assert_eq!(turn::end(server).await, (Some(0), String::new(), String::new()));
    let sent = collector.all();
    assert!(!sent.is_empty(), "nothing came");
    for sent in &sent {
        assert_eq!(sent.headers["x-collector-key"], "not yours");
        assert_eq!(sent.headers["content-type"], "application/x-protobuf");
        let body = String::from_utf8_lossy(&sent.body);
        assert!(!body.contains(PRIVATE), "contents left the machine");
        assert!(!body.contains(stage.path("").to_str().unwrap()), "paths left the machine");
    }
    let resource = resource(&sent);
    assert_eq!(resource["service.name"], "our agent");
    assert_eq!(resource["deployment.environment.name"], "test");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));

    let spans = spans(&sent);
    let [turn] = named(&spans, "turn")[..] else { panic!("{spans:#?}") };
    let told = facts(&turn.attributes);
    assert_eq!((told["session.id"].as_str(), told["outcome"].as_str()), (session.0.as_str(), "done"));
    assert_eq!(told["gen_ai.request.model"], "scripted:script.toml");
    assert_eq!(told["gen_ai.usage.input_tokens"], "#130");
    assert_eq!(told["gen_ai.usage.output_tokens"], "#17");
    let below = |name: &str, parent: &Span| {
        let found = named(&spans, name);
        assert!(found.iter().all(|span| span.parent_span_id == parent.span_id), "{found:#?}");
        found
    };
    let calls: Vec<_> = below("model call", turn).iter().map(|call| facts(&call.attributes)).collect();
    assert_eq!(calls.len(), 2);
    for told in &calls {
        assert_eq!(told["gen_ai.request.model"], "scripted:script.toml");
        assert!(["#120", "#10"].contains(&told["gen_ai.usage.input_tokens"].as_str()), "{told:?}");
    }
    let tools = below("tool call", turn);
    let mut names: Vec<_> = tools
        .iter()
        .map(|tool| facts(&tool.attributes))
        .map(|told| told["gen_ai.tool.name"].clone())
        .collect();
    names.sort();
    assert_eq!(names, ["read_file", "run_command"]);
    let [wait] = named(&spans, "approval wait")[..] else { panic!("{spans:#?}") };
    let asked = tools.iter().find(|tool| tool.span_id == wait.parent_span_id).unwrap();
    assert_eq!(facts(&asked.attributes)["gen_ai.tool.name"], "run_command");
    assert_eq!(facts(&asked.attributes)["outcome"], "succeeded");
    assert_eq!(facts(&wait.attributes)["outcome"], "allowed");
    let [opened] = named(&spans, "POST /v1/sessions")[..] else { panic!("{spans:#?}") };
    let told = facts(&opened.attributes);
    assert_eq!(
        (told["http.route"].as_str(), told["http.response.status_code"].as_str()),
        ("/v1/sessions", "#201")
    );
}

/// Calls of which one changes a file, one is not understood, one is of no tool, and one only reads.
const CALLS: &str = r#"
[[reply]]
parts = [
    { call = { tool = "write_file", arguments = { path = "very-private-word.txt", content = "very-private-word" } } },
    { call = { tool = "read_file", arguments = { way = "very-private-word" } } },
    { call = { tool = "very-private-word", arguments = {} } },
    { call = { tool = "list_directory", arguments = { path = "." } } },
]

[[reply]]
parts = [{ text = "very-private-word" }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_tool_has_a_span_with_its_outcome() {
    let mut collector = Collector::start().await;
    let stage = Stage::new();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str())];
    let server = turn::start_playing(CALLS, &stage, &variables, &[]);
    let client = turn::client(&server);
    let session = turn::session_under(Some(PolicyPreset::AutoEdit), &stage, &client).await;
    let mut stream = client.follow(&session).named("tester", "1").open().await.unwrap();
    stream.speaker().prompt(PRIVATE).await.unwrap();
    turn::until_final(&mut stream).await;
    stream.close().await;
    assert_eq!(turn::end(server).await.0, Some(0));
    let sent = collector.all();
    assert!(sent.iter().all(|sent| !String::from_utf8_lossy(&sent.body).contains(PRIVATE)));
    let spans = spans(&sent);
    let [turn] = named(&spans, "turn")[..] else { panic!("{spans:#?}") };
    assert_eq!(facts(&turn.attributes)["outcome"], "done");
    let calls: Vec<_> = named(&spans, "tool call").iter().map(|call| facts(&call.attributes)).collect();
    let mut calls: Vec<_> =
        calls.iter().map(|told| (told["gen_ai.tool.name"].as_str(), told["outcome"].as_str())).collect();
    calls.sort_unstable();
    let expected = [
        ("_OTHER", "failed"),
        ("list_directory", "succeeded"),
        ("read_file", "failed"),
        ("write_file", "succeeded"),
    ];
    assert_eq!(calls, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_can_name_the_collector_and_the_standard_can_say_no() {
    let mut collector = Collector::start().await;
    let stage = Stage::new();
    let set = format!("telemetry.otlp_endpoint={}/", collector.address);
    let server = turn::start(&stage, &[], &["--set", &set]);
    server.get("/v1/health");
    assert_eq!(turn::end(server).await.0, Some(0));
    let sent = collector.all();
    assert_eq!(named(&spans(&sent), "GET /v1/health").len(), 1);
    assert_eq!(resource(&sent)["service.name"], "loggia");
    let server = turn::start(&stage, &[("OTEL_SDK_DISABLED", "true")], &["--set", &set]);
    server.get("/v1/health");
    assert_eq!(turn::end(server).await.0, Some(0));
    assert!(collector.all().is_empty());
}

/// Takes one request over TLS, with a certificate and its key, and gives its head.
async fn take_encrypted(listener: tokio::net::TcpListener, certificate: &Path) -> String {
    let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_file(certificate.with_extension("key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = tokio_rustls::TlsAcceptor::from(Arc::new(config)).accept(stream).await.unwrap();
    let mut heard = Vec::new();
    while !heard.windows(4).any(|end| end == b"\r\n\r\n") {
        assert!(stream.read_buf(&mut heard).await.unwrap() > 0, "cut off");
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    String::from_utf8_lossy(&heard).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_may_want_tls() {
    let stage = Stage::new();
    // Any certificate will do; we have one that makes some.
    Server::start(&stage, &["--tls", "self-signed"]).end();
    let certificate = stage.path("home/.local/share/loggia/tls/self-signed.pem");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("https://{}/taken", listener.local_addr().unwrap());
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate.to_str().unwrap()),
    ];
    let server = turn::start(&stage, &variables, &[]);
    server.get("/v1/health");
    let taken = tokio::spawn(async move { take_encrypted(listener, &certificate).await });
    assert_eq!(turn::end(server).await, (Some(0), String::new(), String::new()));
    let head = taken.await.unwrap();
    assert!(head.starts_with("POST /taken HTTP/1.1\r\n"), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_not_there_is_told_once_and_disturbs_nobody() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{nobody}");
    let stage = Stage::new();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "10")];
    let server = turn::start(&stage, &variables, &[]);
    turn::play(&stage, &server).await;
    let (code, _, stderr) = turn::end(server).await;
    assert_eq!(code, Some(0));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with(" WARN telemetry is not taken; everything else goes on"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_collector_there_is_nothing_of_it() {
    // Where a collector is by custom; if another test or program has it, the threads tell alone.
    let custom = TcpListener::bind("127.0.0.1:4318").ok();
    if let Some(custom) = &custom {
        custom.set_nonblocking(true).unwrap();
    }
    let stage = Stage::new();
    let server = turn::start(&stage, &[("OTEL_SERVICE_NAME", "nobody listens")], &[]);
    turn::play(&stage, &server).await;
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let names = threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("comm")));
    assert!(names.map(Result::unwrap).all(|name| !name.starts_with("OpenTelemetry")));
    assert_eq!(turn::end(server).await, (Some(0), String::new(), String::new()));
    assert!(custom.is_none_or(|custom| custom.accept().is_err()), "somebody connected");
}

#[test]
fn an_address_that_is_none_of_a_web_server_is_told() {
    let shown = Stage::new().run(&["--set", "telemetry.otlp_endpoint=localhost:4318", "serve"]);
    insta::assert_snapshot!(shown, @r"
    exit: 3
    --- stderr
    error: `telemetry.otlp_endpoint` cannot be `localhost:4318` (in `--set`)

    hint: expected an address such as `http://localhost:4318`
    [END]
    ");
}
