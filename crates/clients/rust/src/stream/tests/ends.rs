//! How connections end, and what follows.

use std::time::Duration;

use loggia_protocol_agent_server::{DecodeError, ProblemType, close};
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use futures_util::SinkExt;

use super::stage::{begin_greeted, next_event};
use crate::stream::{Heard, Lost, SessionStream};
use crate::{Error, StreamError};

async fn disconnected(stream: &mut SessionStream) -> (Lost, Duration) {
    match stream.next().await.unwrap().unwrap() {
        Heard::Disconnected { why, retry_in } => (why, retry_in),
        other => panic!("{other:?}"),
    }
}

async fn error(stream: &mut SessionStream) -> StreamError {
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(stream.next().await.is_none(), "an error is the end");
    error
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_tried_again_after_growing_delays() {
    let (mut stream, peer, mut stage) = begin_greeted(None).await;
    drop(peer);
    let mut steps = Vec::new();
    for tried in 0..10 {
        let (why, retry_in) = disconnected(&mut stream).await;
        assert_eq!(why, if tried == 0 { Lost::Cut } else { Lost::StillGone });
        let told = Instant::now();
        stage.call().await.nobody_is_there();
        // The clock is precise to the millisecond.
        assert!(told.elapsed().abs_diff(retry_in) <= Duration::from_millis(2), "try {tried}");
        steps.push(retry_in.as_secs_f64());
    }
    for (tried, delay) in steps.iter().enumerate() {
        let step = (0.1 * f64::from(1 << tried)).min(10.0);
        assert!((step / 2.0..=step).contains(delay), "try {tried}: {delay}");
    }
    disconnected(&mut stream).await;
    let (after, mut peer) = stage.greet().await;
    assert_eq!(after, 0);
    assert!(matches!(stream.next().await, Some(Ok(Heard::Connected(_)))));
    peer.event(1).await;
    assert_eq!(next_event(&mut stream).await, 1);
    // Something new came, so the next delay is a short one again.
    drop(peer);
    assert!(disconnected(&mut stream).await.1 <= Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_and_drops_connections_is_not_tried_faster() {
    let (mut stream, peer, mut stage) = begin_greeted(None).await;
    drop(peer);
    let mut last = Duration::ZERO;
    for _ in 0..8 {
        (_, last) = disconnected(&mut stream).await;
        drop(stage.call().await.take().await);
    }
    assert!(last >= Duration::from_secs(5), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_gives_up_when_it_was_told_to() {
    let (mut stream, peer, mut stage) = begin_greeted(Some(Duration::from_secs(5))).await;
    drop(peer);
    let server = tokio::spawn(async move {
        loop {
            stage.call().await.nobody_is_there();
        }
    });
    let began = Instant::now();
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(Heard::Disconnected { .. }) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, StreamError::GaveUp { source: Some(Error::Unreachable { .. }), .. }),
        "{error:?}"
    );
    assert!(began.elapsed() <= Duration::from_secs(5));
    server.abort();
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_and_a_session_that_is_not_there_end_the_stream() {
    for kind in [ProblemType::Unauthorized, ProblemType::Forbidden, ProblemType::NotFound] {
        let (mut stream, peer, mut stage) = begin_greeted(None).await;
        drop(peer);
        disconnected(&mut stream).await;
        stage.call().await.refuse(kind.clone(), None);
        let StreamError::Refused(refused) = error(&mut stream).await else { panic!("{kind}") };
        assert_eq!(refused.problem().unwrap().kind, kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_to_wait_is_left_alone_for_so_long() {
    let (mut stream, peer, mut stage) = begin_greeted(None).await;
    drop(peer);
    disconnected(&mut stream).await;
    stage.call().await.refuse(ProblemType::RateLimited, Some(Duration::from_secs(30)));
    let (why, retry_in) = disconnected(&mut stream).await;
    assert_eq!(why, Lost::StillGone);
    assert!(retry_in >= Duration::from_secs(30));
    stage.call().await.refuse(ProblemType::Unavailable, None);
    disconnected(&mut stream).await;
    stage.greet().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_session_ends_the_stream() {
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    peer.event(1).await;
    peer.close(close::SESSION_GONE).await;
    assert_eq!(next_event(&mut stream).await, 1);
    assert!(matches!(error(&mut stream).await, StreamError::SessionGone));
}

#[tokio::test(start_paused = true)]
async fn a_close_that_another_try_would_not_change_ends_the_stream() {
    for code in [close::UNSUPPORTED_DATA, 1008, close::MESSAGE_TOO_BIG, 4400] {
        let (mut stream, peer, _stage) = begin_greeted(None).await;
        peer.close(code).await;
        let StreamError::Closed { code: told, reason } = error(&mut stream).await else { panic!("{code}") };
        assert_eq!((told, reason.as_str()), (code, "so"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_has_ended_ends_the_stream_without_an_error() {
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    peer.event(1).await;
    peer.close(1000).await;
    assert_eq!(next_event(&mut stream).await, 1);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stopping_server_and_a_lost_patience_are_picked_up_where_they_were() {
    for (code, why) in [
        (close::GOING_AWAY, Lost::Stopping),
        (close::STOPPED, Lost::Stopped),
        (close::TOO_SLOW, Lost::TooSlow),
        (close::HELLO_TIMEOUT, Lost::Closed(close::HELLO_TIMEOUT)),
        (1011, Lost::Closed(1011)),
    ] {
        let (mut stream, mut peer, mut stage) = begin_greeted(None).await;
        peer.event(7).await;
        peer.close(code).await;
        assert_eq!(next_event(&mut stream).await, 7);
        assert_eq!(disconnected(&mut stream).await.0, why);
        let (after, mut peer) = stage.greet().await;
        // The event may have had more to say.
        assert_eq!(after, 6);
        peer.event(7).await;
        peer.event(8).await;
        assert_eq!(next_event(&mut stream).await, 8);
    }
}

#[tokio::test(start_paused = true)]
async fn a_binary_message_ends_the_stream() {
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    peer.0.send(Message::binary(vec![1])).await.unwrap();
    assert!(matches!(error(&mut stream).await, StreamError::Strange(_)));
}

#[tokio::test(start_paused = true)]
async fn an_oversized_message_is_refused_by_its_announcement() {
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    // A text frame of a tebibyte, of which nothing but the header ever comes.
    peer.0.get_mut().write_all(&[0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0]).await.unwrap();
    assert!(matches!(error(&mut stream).await, StreamError::TooLarge { .. }));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_told_and_the_stream_goes_on() {
    let (mut stream, mut peer, _stage) = begin_greeted(None).await;
    peer.say(r#"{"type":"agent.dreams","seq":3}"#).await;
    peer.say(r#"{"type":"client.echo","from":7}"#).await;
    peer.event(4).await;
    let mut unreadable = async || match stream.next().await.unwrap().unwrap() {
        Heard::Unreadable(error) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(unreadable().await, DecodeError::UnknownType { name: "agent.dreams".to_owned() });
    assert!(matches!(unreadable().await, DecodeError::WrongShape { .. }));
    assert_eq!(next_event(&mut stream).await, 4);
}
