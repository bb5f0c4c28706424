//! What is said, and how often it arrives.

use futures_util::poll;
use loggia_protocol_agent_server::{
    ApprovalId, ApprovalResponse, ApprovalScope, ClientHello, ClientInfo, ClientMessage, MAX_MESSAGE_BYTES,
};

use super::stage::begin_greeted;
use crate::stream::NotSent;

#[tokio::test(start_paused = true)]
async fn what_is_said_arrives_as_it_was_said() {
    let (stream, mut peer, _stage) = begin_greeted(None).await;
    let speaker = stream.speaker().clone();
    speaker.prompt("do it").await.unwrap();
    assert_eq!(peer.hear().await, r#"{"type":"client.user_message","message":"do it"}"#);
    speaker.decide(ApprovalId("req_1".to_owned()), true).await.unwrap();
    assert_eq!(
        peer.hear().await,
        r#"{"type":"client.approval_response","request_id":"req_1","approved":true}"#
    );
    speaker.cancel(None).await.unwrap();
    assert_eq!(peer.hear().await, r#"{"type":"client.cancel"}"#);
}

#[tokio::test(start_paused = true)]
async fn what_is_said_without_a_connection_is_said_on_the_next() {
    let (stream, peer, mut stage) = begin_greeted(None).await;
    drop(peer);
    let call = stage.call().await;
    let speaker = stream.speaker().clone();
    let mut taken_back = Box::pin(speaker.prompt("never mind"));
    let mut said = Box::pin(speaker.prompt("do it"));
    assert!(poll!(&mut taken_back).is_pending());
    assert!(poll!(&mut said).is_pending());
    drop(taken_back);
    let mut peer = call.take().await;
    peer.greet().await;
    let (said, heard) = tokio::join!(said, peer.hear());
    assert_eq!(said, Ok(()));
    assert_eq!(heard, r#"{"type":"client.user_message","message":"do it"}"#);
}

#[tokio::test(start_paused = true)]
async fn what_may_have_arrived_is_not_said_again() {
    let (stream, peer, mut stage) = begin_greeted(None).await;
    let speaker = stream.speaker().clone();
    // Larger than the connection holds, so it is still on its way when that is cut.
    let mut large = Box::pin(speaker.prompt("x".repeat(1024 * 1024)));
    assert!(poll!(&mut large).is_pending());
    until_everybody_waits().await;
    assert!(poll!(&mut large).is_pending());
    drop(peer);
    assert_eq!(large.await, Err(NotSent::MayHaveArrived));
    let (_, mut peer) = stage.greet().await;
    speaker.prompt("next").await.unwrap();
    assert_eq!(peer.hear().await, r#"{"type":"client.user_message","message":"next"}"#);
}

/// Lets the stream's task write what the connection takes.
async fn until_everybody_waits() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_server_would_take_is_refused_here() {
    let (stream, _peer, _stage) = begin_greeted(None).await;
    let speaker = stream.speaker().clone();
    assert_eq!(speaker.prompt("x".repeat(MAX_MESSAGE_BYTES)).await, Err(NotSent::TooLarge));
    let hunk = ApprovalResponse {
        request_id: ApprovalId("req_1".to_owned()),
        approved: true,
        scope: Some(ApprovalScope::Hunk),
        file_path: Some("a".to_owned()),
        hunk_index: None,
        hunk_indexes: None,
        hunks: None,
        remember: None,
        comment: None,
    };
    assert!(matches!(speaker.answer(hunk).await, Err(NotSent::Invalid(_))));
    let info = ClientInfo { name: String::new(), version: String::new(), capabilities: Vec::new() };
    let hello = ClientMessage::Hello(ClientHello { client_info: info });
    assert_eq!(speaker.say(&hello).await, Err(NotSent::Hello));
}

#[tokio::test(start_paused = true)]
async fn nothing_can_be_said_on_a_stream_that_has_ended() {
    let (stream, _peer, _stage) = begin_greeted(None).await;
    let speaker = stream.speaker().clone();
    stream.close().await;
    assert_eq!(speaker.prompt("hello?").await, Err(NotSent::Ended));
}
