//! A client that shares no line with us.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::World;

const SEEN: &str = r#"WELCOME 15 INTERACTIVITY_STATUS True
WELCOME 16 INTERACTIVITY_STATUS True
WELCOME 17 INTERACTIVITY_STATUS True
WELCOME 17 INTERACTIVITY_STATUS True
{"type": "PONG", "requestId": "5", "data": {}}
{"type": "PONG", "requestId": "5", "data": {}}
{"type": "PONG", "requestId": "5", "data": {}}
{"type": "PONG", "requestId": "5", "data": {}}
[3001, 3001, 3001, 3001]
{"type": "PONG", "requestId": "1", "data": {}}
{"type": "COMPLETION_RESPONSE", "requestId": "c", "data": {"candidates": [{"value": "say h", "display": "TrueColor", "description": null}]}}
ERROR
large
unsupported_transport_epoch True
expected_hello True
missing_request_id True
0 True
-1 True
1048577 True
bomb True
"#;

#[expect(clippy::disallowed_methods, reason = "a test waits for it")]
fn python(socket: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/python/client.py");
    Command::new("python3").arg(script).arg(socket).output().unwrap()
}

#[tokio::test]
async fn a_client_in_python_is_served_in_every_epoch() {
    let world = World::interactive().await;
    let path = world.path.clone();
    let told = tokio::task::spawn_blocking(move || python(&path)).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stderr), "");
    assert_eq!(String::from_utf8_lossy(&told.stdout), SEEN);
}
