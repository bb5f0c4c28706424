//! Streams that are cut and picked up again, over real sockets.

use loggia_client::{Heard, Lost, SessionStream};
use loggia_protocol_agent_server::{ServerMessage, SessionId};

use crate::play::Play;

fn session() -> SessionId {
    SessionId("ses_1".to_owned())
}

/// Everything that is heard until a message with this text, one word each.
async fn until(stream: &mut SessionStream, last: &str) -> String {
    let mut words = Vec::new();
    loop {
        let word = match stream.next().await.unwrap().unwrap() {
            Heard::Connected(_) => "connected".to_owned(),
            Heard::Disconnected { why, .. } => format!("{why:?}").to_lowercase(),
            Heard::Message(ServerMessage::ClientEcho(echo)) => {
                format!("{}@{}", echo.message, echo.stamp.seq.unwrap())
            }
            Heard::Message(ServerMessage::ToolRequestApproval(ask)) => ask.request_id.0,
            Heard::Message(ServerMessage::Token(token)) => format!("{:?}", token.token),
            Heard::Message(ServerMessage::SessionState(_)) => "state".to_owned(),
            other => panic!("{other:?}"),
        };
        words.push(word.clone());
        if word == last {
            return words.join(" ");
        }
    }
}

fn echo(message: &str, seq: u64) -> String {
    format!(
        r#"{{"type":"client.echo","from":"f","message":"{message}","seq":{seq},"at":"2026-01-01T00:00:00.000Z"}}"#
    )
}

fn token(text: &str) -> String {
    format!(r#"{{"type":"assistant.token","token":"{text}"}}"#)
}

const STATE: &str = r#"{"type":"session.state","state":{"pending_approvals":["req_1"]}}"#;
const ASK: &str = r#"{"type":"tool.request_approval","request_id":"req_1","tool_name":"write_file","args":{},"risk_level":"low","seq":2}"#;

#[tokio::test]
async fn a_stream_that_is_cut_in_mid_message_is_picked_up_without_gap_or_repeat() {
    let play = Play::begin().await;
    let server = async {
        let (target, mut peer) = play.stream().await;
        assert_eq!(target, "/v1/sessions/ses_1/stream?after=0");
        for message in [STATE, ASK, &echo("one", 1), ASK, &echo("three", 3), &token("Hel")] {
            peer.say(message).await;
        }
        // Inside the frame's header, inside its text, and right before its end.
        peer.cut_in(&echo(&"long".repeat(100), 4), 3).await;
        for bytes in [100, 300] {
            let (target, mut peer) = play.stream().await;
            assert_eq!(target, "/v1/sessions/ses_1/stream?after=2");
            for message in [STATE, ASK, &echo("three", 3), &token("Hello")] {
                peer.say(message).await;
            }
            peer.cut_in(&echo(&"long".repeat(100), 4), bytes).await;
        }
        let (_, mut peer) = play.stream().await;
        for message in [STATE, ASK, &echo("three", 3), &echo("four", 4), &token("Hello, you")] {
            peer.say(message).await;
        }
        peer
    };
    let client = async {
        let mut stream = play.client.follow(&session()).after(0).open().await.unwrap();
        until(&mut stream, "\", you\"").await
    };
    let (_peer, heard) = tokio::join!(server, client);
    assert_eq!(
        heard,
        "connected state req_1 one@1 three@3 \"Hel\" cut connected \"lo\" cut connected cut connected four@4 \", you\""
    );
}

#[tokio::test]
async fn a_stream_from_now_on_knows_what_now_was() {
    let play = Play::begin().await;
    let server = async {
        let state = r#"{"session_id":"ses_1","workspace_id":"ws_1","title":"t","status":"idle","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z","last_seq":41,"state":{}}"#;
        let connection = play.request().await.json(state).await;
        // The same connection serves the stream.
        let request = crate::play::Request::read(connection).await;
        assert_eq!(request.target, "/v1/sessions/ses_1/stream?after=41");
        drop(request.greet().await);
        // Nothing came, so nothing is skipped.
        let (target, mut peer) = play.stream().await;
        assert_eq!(target, "/v1/sessions/ses_1/stream?after=41");
        peer.say(&echo("next", 42)).await;
        peer
    };
    let client = async {
        let mut stream = play.client.follow(&session()).open().await.unwrap();
        until(&mut stream, "next@42").await
    };
    let (_peer, heard) = tokio::join!(server, client);
    assert_eq!(heard, "connected cut connected next@42");
}

#[tokio::test]
async fn a_stream_survives_a_server_that_goes_away_and_comes_back() {
    let play = Play::begin().await;
    let address = play.listener.local_addr().unwrap();
    let client = play.client.clone();
    let opening = tokio::spawn(async move { client.follow(&session()).after(0).open().await });
    let (_, mut peer) = play.stream().await;
    let mut stream = opening.await.unwrap().unwrap();
    peer.say(&echo("one", 1)).await;
    until(&mut stream, "one@1").await;
    drop((play, peer));
    // Wait until it has noticed and has failed at least once.
    let failed = |heard: &Heard| matches!(heard, Heard::Disconnected { why: Lost::StillGone, .. });
    while !failed(&stream.next().await.unwrap().unwrap()) {}
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let play = Play { listener, client: loggia_client::Client::new(loggia_client::Server::Unix("".into())) };
    let (target, mut peer) = play.stream().await;
    assert_eq!(target, "/v1/sessions/ses_1/stream?after=0");
    peer.say(&echo("one", 1)).await;
    peer.say(&echo("two", 2)).await;
    let heard = until(&mut stream, "two@2").await;
    assert!(!heard.contains("one"), "{heard}");
}
