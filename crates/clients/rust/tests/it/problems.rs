//! Bad answers, and no answers.

use std::time::Duration;

use loggia_client::{Client, Error, Server};
use loggia_protocol_agent_server::{FieldProblem, ProblemType, SessionId};
use tokio::io::AsyncWriteExt;

use crate::play::Play;

async fn refused(status: &str, headers: &str, body: &str) -> Error {
    let play = Play::begin().await;
    let server = async { play.request().await.answer(status, headers, body).await };
    tokio::join!(play.client.models(), server).0.unwrap_err()
}

#[tokio::test]
async fn a_problem_is_told_with_its_fields_and_what_to_do() {
    let body = r#"{"type":"invalid-body","title":"The body does not fit","status":422,"detail":"title: too long","instance":"/v1/models","errors":[{"pointer":"/title","message":"too long"}]}"#;
    let error = refused("422 Unprocessable Entity", "content-type: application/problem+json\r\n", body).await;
    let problem = error.problem().unwrap();
    assert_eq!(problem.kind, ProblemType::InvalidBody);
    assert_eq!(
        problem.errors,
        [FieldProblem { pointer: "/title".to_owned(), message: "too long".to_owned() }]
    );
    assert_eq!(error.to_string(), "The body does not fit: title: too long");
    assert_eq!(error.hint(), None);
}

#[tokio::test]
async fn a_hint_follows_from_the_kind() {
    for kind in ["unauthorized", "forbidden", "rate-limited", "stale-revision", "unavailable"] {
        let body = format!(r#"{{"type":"{kind}","title":"t","status":401}}"#);
        let error = refused("401 Unauthorized", "", &body).await;
        assert!(error.hint().is_some(), "{kind}");
        assert_eq!(error.to_string(), "t");
    }
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_says_for_how_long() {
    let body = r#"{"type":"rate-limited","title":"t","status":429}"#;
    let Error::Refused(refusal) = refused("429 Too Many Requests", "retry-after: 7\r\n", body).await else {
        panic!("not refused")
    };
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(7)));
    let forever = format!("retry-after: {}\r\n", u64::MAX);
    let Error::Refused(refusal) = refused("429 Too Many Requests", &forever, body).await else {
        panic!("not refused")
    };
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(3600)));
}

#[tokio::test]
async fn something_else_than_our_server_is_called_strange() {
    let error = refused("502 Bad Gateway", "", "<html>nginx</html>").await;
    assert!(matches!(&error, Error::Strange { status: 502, reason } if reason.contains("nginx")), "{error}");
    let error = refused("200 OK", "", "<html>hello</html>").await;
    assert!(matches!(&error, Error::Strange { status: 200, reason } if reason.contains("hello")), "{error}");
}

#[tokio::test]
async fn a_stream_that_is_refused_says_why() {
    let play = Play::begin().await;
    let session = SessionId("ses_1".to_owned());
    let body =
        r#"{"type":"not-found","title":"Not found","status":404,"detail":"there is no session `ses_1`"}"#;
    let server = async { play.request().await.answer("404 Not Found", "", body).await };
    let (stream, _) = tokio::join!(play.client.follow(&session).after(0).open(), server);
    assert_eq!(stream.unwrap_err().to_string(), "Not found: there is no session `ses_1`");
}

#[tokio::test]
async fn an_answer_without_a_websocket_is_no_stream() {
    let session = SessionId("ses_1".to_owned());
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n",
    ] {
        let play = Play::begin().await;
        let server = async {
            let mut request = play.request().await;
            request.connection.write_all(head.as_bytes()).await.unwrap();
            request
        };
        let (stream, _request) = tokio::join!(play.client.follow(&session).after(0).open(), server);
        assert!(matches!(stream, Err(Error::Strange { .. })), "{head}");
    }
}

#[tokio::test]
async fn nobody_there_is_told_with_where_we_looked() {
    let play = Play::begin().await;
    let server = play.client.server().to_string();
    drop(play.listener);
    let error = play.client.health().await.unwrap_err();
    assert!(matches!(&error, Error::Unreachable { server: told, .. } if *told == server), "{error}");
    assert!(error.hint().unwrap().contains("loggia serve"));
    let nowhere = Client::new(Server::parse("unix:/nonexistent/http.sock").unwrap());
    assert!(matches!(nowhere.health().await, Err(Error::Unreachable { .. })));
}

#[tokio::test]
async fn an_answer_that_is_cut_is_no_answer() {
    let play = Play::begin().await;
    let server = async {
        let mut request = play.request().await;
        let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"models\":";
        request.connection.write_all(half).await.unwrap();
    };
    let (models, ()) = tokio::join!(play.client.models(), server);
    assert!(matches!(models, Err(Error::Interrupted(_))));
}
