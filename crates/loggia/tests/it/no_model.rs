//! A server without a model: prompts are answered by a search, and everybody is told that it is one.

use std::time::Duration;

use loggia_client::Heard;
use loggia_protocol_agent_server::{CheckState, ServerMessage, TestModelParams};

use crate::server::Server;
use crate::stage::Stage;
use crate::turn::{client, end, session};

/// Far longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_answered_with_places_and_how_to_set_a_model() {
    let stage = Stage::new();
    stage.write("project/src/login.rs", "pub fn login(user: &str) -> bool {\n    false\n}\n");
    let server = Server::start(&stage, &["--workspace", "."]);
    let client = client(&server);
    let session = session(&stage, &client).await;
    let mut stream = client.follow(&session).named("tester", "1").open().await.unwrap();
    stream.speaker().prompt("Why does login fail?").await.unwrap();
    let ended = async {
        loop {
            if let Heard::Message(ServerMessage::MessageFinal(last)) = stream.next().await.unwrap().unwrap() {
                return last;
            }
        }
    };
    let last = tokio::time::timeout(PATIENCE, ended).await.unwrap();
    stream.close().await;
    assert!(last.metadata.success && last.metadata.tools_used.is_empty(), "{last:?}");
    assert!(last.message.starts_with("No model is set"), "{last:?}");
    assert!(
        last.message.contains("src/login.rs, lines 1 to 3:\n```\npub fn login(user: &str) -> bool {\n"),
        "{last:?}"
    );
    assert!(last.message.contains("OPENAI_API_KEY") && last.message.contains("loggia doctor"), "{last:?}");

    assert_eq!(client.health().await.unwrap().checks.model, CheckState::Absent);
    assert_eq!(client.models().await.unwrap().models, []);
    assert!(!client.test_model(&TestModelParams::default()).await.unwrap().works);
    let report = client.doctor().await.unwrap();
    assert_eq!(report.version, env!("CARGO_PKG_VERSION"));
    let names: Vec<&str> = report.checks.iter().map(|check| check.name.as_str()).collect();
    for name in ["store", "model", "data directory", "runtime directory", "room", "git", "sandbox"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let of = |name: &str| report.checks.iter().find(|check| check.name == name).unwrap();
    assert_eq!(of("data directory").state, CheckState::Ok, "{:?}", of("data directory"));
    // Whatever this machine has for a sandbox: it is told, with what to do if it does not work.
    assert_eq!(of("sandbox").state == CheckState::Ok, of("sandbox").hint.is_none());
    assert_eq!(end(server).await, (Some(0), String::new(), String::new()));
}
