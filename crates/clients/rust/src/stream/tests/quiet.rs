//! Silence on either side.

use std::time::Duration;

use loggia_protocol_agent_server::{HELLO_DEADLINE, PING_INTERVAL, SILENCE_DEADLINE};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::stage::{begin, begin_greeted, event, next_event};
use crate::stream::{Heard, Lost};

#[tokio::test(start_paused = true)]
async fn a_quiet_server_is_pinged_and_a_silent_one_given_up() {
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    let began = Instant::now();
    for _ in 0..10 {
        // Reading answers the ping.
        assert!(matches!(peer.frame().await, Some(Message::Ping(_))));
    }
    assert!(began.elapsed() >= PING_INTERVAL * 10);
    let silent = Instant::now();
    let heard = stream.next().await.unwrap().unwrap();
    assert!(matches!(heard, Heard::Disconnected { why: Lost::Silent, .. }), "{heard:?}");
    assert!(silent.elapsed() <= SILENCE_DEADLINE);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_greet_is_given_up() {
    let (mut stream, _peer, mut stage) = begin(None).await;
    let began = Instant::now();
    let heard = stream.next().await.unwrap().unwrap();
    assert!(matches!(heard, Heard::Disconnected { why: Lost::Silent, .. }), "{heard:?}");
    assert!(began.elapsed() >= HELLO_DEADLINE);
    stage.greet().await;
}

#[tokio::test(start_paused = true)]
async fn while_nobody_listens_little_is_read_and_the_server_knows_that_we_are_there() {
    /// More than all that may wait on the way.
    const EVENTS: u64 = 400;
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    let filler = "m".repeat(100 * 1024);
    let text = move |seq| event(seq).replace(r#""m""#, &format!("{filler:?}"));
    let mut sent = 0;
    while tokio::time::timeout(Duration::from_secs(1), peer.say(&text(sent + 1))).await.is_ok() {
        sent += 1;
    }
    // 8 MiB wait to be heard, the rest in the server's own socket.
    assert!((70..100).contains(&sent), "{sent} events were taken");
    // Nobody listens for an hour: the connection stays, because we show that we are there.
    for _ in 0..180 {
        let sign = tokio::time::timeout(PING_INTERVAL * 2, peer.frame()).await.unwrap();
        assert!(matches!(sign, Some(Message::Pong(_))), "{sign:?}");
    }
    let server = tokio::spawn(async move {
        // The one that did not go through is still in the socket's buffer and goes first.
        for seq in sent + 2..=EVENTS {
            peer.say(&text(seq)).await;
        }
        peer
    });
    for seq in 1..=EVENTS {
        assert_eq!(next_event(&mut stream).await, seq);
    }
    server.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_says_goodbye() {
    let (stream, mut peer, _stage) = begin_greeted(None).await;
    drop(stream);
    assert!(matches!(peer.frame().await, Some(Message::Close(Some(frame))) if u16::from(frame.code) == 1000));
    let (stream, mut peer, _stage) = begin_greeted(None).await;
    tokio::join!(stream.close(), async {
        assert!(matches!(peer.frame().await, Some(Message::Close(_))));
    });
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_left_while_it_waits_for_a_server_ends() {
    let (stream, peer, mut stage) = begin_greeted(None).await;
    drop(peer);
    let call = stage.call().await;
    stream.close().await;
    drop(call);
}
