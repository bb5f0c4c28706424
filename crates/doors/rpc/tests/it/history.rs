//! Saved sessions.

use insta::assert_snapshot;
use serde_json::json;

use crate::support::{Client, world};

#[tokio::test]
async fn sessions_are_listed_and_read() {
    let world = world("[[reply]]\nparts = [{ text = \"Hello.\" }]").await;
    let mut client = Client::start(&world).await;
    client.turn("Hello?").await;
    let first = client.call("getState", json!({})).await["sessionId"].clone();
    client.call("reset", json!({})).await;
    client.until("hook.sessionStart").await;
    client.text();
    let listed = client.call("getHistory", json!({})).await;
    let status = |place: usize| listed["sessions"][place]["status"].clone();
    assert_eq!(
        (status(0), status(1)),
        (json!("active"), json!("completed")),
        "nobody is on the first one any more"
    );
    client.call("getHistory", json!({"page": 2, "pageSize": 1})).await;
    client.call("getHistory", json!({"page": 9})).await;
    client.call("getSession", json!({"sessionId": first})).await;
    client.call("getSession", json!({"sessionId": "session_1_1"})).await;
    client.call("getSession", json!({})).await;
    assert_snapshot!(client.text());
}
