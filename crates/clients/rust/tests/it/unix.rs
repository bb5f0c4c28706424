//! The same over a Unix socket, which needs no token.

use loggia_client::{Client, Heard, Server};
use loggia_protocol_agent_server::{HealthStatus, SessionId};
use tokio::net::UnixListener;

use crate::play::Request;

const HEALTH: &str =
    r#"{"status":"ok","version":"1","uptime_ms":1,"checks":{"store":"ok","index":"ok","model":"ok"}}"#;

#[tokio::test]
async fn calls_and_streams_go_over_a_unix_socket_without_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("http.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let client = Client::new(Server::Unix(path));
    let server = async {
        let request = Request::read(listener.accept().await.unwrap().0).await;
        assert_eq!(request.headers["host"], "localhost");
        assert!(!request.headers.contains_key("authorization"));
        let connection = request.json(HEALTH).await;
        Request::read(connection).await.greet().await
    };
    let asking = async {
        assert_eq!(client.health().await.unwrap().status, HealthStatus::Ok);
        let mut stream = client.follow(&SessionId("ses_1".to_owned())).after(0).open().await.unwrap();
        assert!(matches!(stream.next().await, Some(Ok(Heard::Connected(_)))));
        stream.speaker().prompt("hello").await.unwrap();
        stream
    };
    let (mut peer, _stream) = tokio::join!(server, asking);
    assert_eq!(peer.hear().await, r#"{"type":"client.user_message","message":"hello"}"#);
}
