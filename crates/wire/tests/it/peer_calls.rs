//! Our own calls: many in flight, answered in any order, given up, cut off.

use std::time::Duration;

use loggia_jsonrpc::{Dialect, ErrorObject, NoParams, OrphanErrors, RequestId};
use loggia_wire::peer::{CallError, CloseReason, Limits, Router};
use tokio::io::AsyncWriteExt;

use crate::support::{Add, AddParams, Slow, Told, adder, pair, peer, peer_with, peer_with_buffer, settings};

const PARAMS: AddParams = AddParams { left: 1, right: 2 };

#[tokio::test]
async fn both_sides_ask_at_once_with_the_same_ids() {
    let (left, right) = pair(adder(), adder());
    let calls = (0..100).map(|n| {
        let (left, right) = (left.clone(), right.clone());
        async move {
            let there = left.call::<Add>(&AddParams { left: n, right: 0 });
            let back = right.call::<Add>(&AddParams { left: 0, right: -n });
            (there.await.unwrap(), back.await.unwrap())
        }
    });
    let answers = futures_util::future::join_all(calls).await;
    assert_eq!(answers, (0..100).map(|n| (n, -n)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_handler_may_call_back_while_it_serves() {
    let there = Router::new().serve::<Slow, _, _>(|context, _| async move {
        let sum = context.peer.call::<Add>(&PARAMS).await.map_err(ErrorObject::internal)?;
        Ok(format!("sum {sum}"))
    });
    let (here, _there) = pair(adder(), there);
    assert_eq!(here.call::<Slow>(&NoParams {}).await.unwrap(), "sum 3");
}

#[tokio::test]
async fn answers_come_in_any_order() {
    let (peer, _task, mut far) = peer(Router::new());
    let calls: Vec<_> = (0..3).map(|_| peer.call::<Add>(&PARAMS)).collect();
    for id in [3, 1, 2] {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{id}}}"#)).await;
    }
    let answers: Vec<i64> = futures_util::future::try_join_all(calls).await.unwrap();
    assert_eq!(answers, [1, 2, 3]);
}

#[tokio::test]
async fn an_error_answer_keeps_code_message_and_data() {
    let (peer, _task, mut far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    far.send(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"gone","data":[1]}}"#).await;
    let CallError::Answered(error) = call.await.unwrap_err() else { panic!("an answered error") };
    assert_eq!(error, ErrorObject::new(-32005, "gone").with_data(serde_json::json!([1])));
}

#[tokio::test]
async fn a_result_of_the_wrong_shape_is_the_calls_failure_alone() {
    let (peer, _task, mut far) = peer(Router::new());
    let (first, second) = (peer.call::<Add>(&PARAMS), peer.call::<Add>(&PARAMS));
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":"three"}"#).await;
    far.send(r#"{"jsonrpc":"2.0","id":2,"result":3}"#).await;
    let error = first.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer to `add` has the wrong shape: invalid type: string \"three\", expected i64"
    );
    assert_eq!(second.await.unwrap(), 3);
}

#[tokio::test]
async fn an_answer_may_have_fields_after_its_result() {
    let (peer, _task, mut far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3,"took":{"ms":4}}"#).await;
    assert_eq!(call.await.unwrap(), 3);
    let call = peer.call::<Add>(&PARAMS);
    far.send(r#"{"jsonrpc":"2.0","id":2,"result":null,"error":{"code":-1,"message":"no"}}"#).await;
    assert!(matches!(call.await.unwrap_err(), CallError::Answered(error) if error.code == -1));
}

#[tokio::test]
async fn an_answer_that_names_two_calls_is_taken_for_neither() {
    let (peer, _task, mut far) = peer(Router::new());
    let (first, second) = (peer.call::<Add>(&PARAMS), peer.call::<Add>(&PARAMS));
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3,"id":2}"#).await;
    assert!(matches!(first.await.unwrap_err(), CallError::WrongShape { .. }));
    far.send(r#"{"jsonrpc":"2.0","id":2,"result":4}"#).await;
    assert_eq!(second.await.unwrap(), 4);
}

#[tokio::test]
async fn notifications_are_heard_while_a_call_waits() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let router = Router::new().listen::<Told, _, _>(move |_, number| {
        let tell = tell.clone();
        async move { tell.send(number).unwrap() }
    });
    let (peer, _task, mut far) = peer(router);
    let call = peer.call::<Add>(&PARAMS);
    far.send(r#"{"jsonrpc":"2.0","method":"told","params":7}"#).await;
    assert_eq!(told.recv().await, Some(7));
    assert_eq!(peer.pending_calls(), 1);
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    assert_eq!(call.await.unwrap(), 3);
}

/// A stream whose far side fails in the given way.
struct Failing;

impl tokio::io::AsyncRead for Failing {
    fn poll_read(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Err(std::io::ErrorKind::ConnectionReset.into()))
    }
}

#[tokio::test]
async fn a_stream_that_cannot_be_read_fails_what_is_pending() {
    let (near, _far) = tokio::io::duplex(64);
    let codec = loggia_wire::framing::Lines::new(100);
    let (peer, connection) =
        loggia_wire::peer::connect(Failing, near, codec, settings(Dialect::STANDARD), Router::new());
    let call = peer.call::<Add>(&PARAMS);
    assert!(matches!(connection.run().await, CloseReason::Broken(_)));
    assert!(matches!(call.await.unwrap_err(), CallError::Closed { reason: CloseReason::Broken(_), .. }));
}

#[tokio::test]
async fn a_peer_that_takes_no_more_bytes_can_still_be_heard_and_later_calls_say_why_they_failed() {
    let (near_reader, mut far_writer) = tokio::io::duplex(1024);
    let (far_reader, near_writer) = tokio::io::duplex(1024);
    let codec = loggia_wire::framing::Lines::new(100);
    let (peer, connection) = loggia_wire::peer::connect(
        near_reader,
        near_writer,
        codec,
        settings(Dialect::STANDARD),
        Router::new(),
    );
    let task = tokio::spawn(connection.run());
    let first = peer.call::<Add>(&PARAMS);
    tokio::task::yield_now().await;
    drop(far_reader);
    far_writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}\n").await.unwrap();
    assert_eq!(first.await.unwrap(), 3);
    let second = peer.call::<Add>(&PARAMS);
    let refused = loop {
        tokio::task::yield_now().await;
        let mut call = Box::pin(peer.call::<Add>(&PARAMS));
        if let std::task::Poll::Ready(result) = futures_util::poll!(&mut call) {
            break result.unwrap_err();
        }
    };
    assert!(matches!(refused, CallError::Closed { reason: CloseReason::NotWritable(_), .. }), "{refused}");
    let unsent = second.await.unwrap_err();
    assert!(matches!(unsent, CallError::Closed { reason: CloseReason::NotWritable(_), .. }), "{unsent}");
    drop(far_writer);
    assert!(matches!(task.await.unwrap(), CloseReason::EndOfStream));
}

/// It shows whose answer it was, so its caller need not wait for the time limit.
#[tokio::test]
async fn an_answer_that_is_broken_after_its_id_fails_its_call_at_once() {
    let (peer, _task, mut far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    far.line().await;
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":[3}"#).await;
    assert!(matches!(call.await.unwrap_err(), CallError::WrongShape { method: "add", .. }));
    assert!(far.line().await.contains("-32700"), "the peer is told as well");
    assert_eq!(peer.stats().malformed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_is_forgotten_and_its_late_answer_counted() {
    let (peer, _task, mut far) = peer(Router::new());
    let limit = Duration::from_millis(50);
    let error = peer.call_within::<Add>(limit, &PARAMS).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { method: "add", limit: l } if l == limit), "{error}");
    assert_eq!(peer.pending_calls(), 0);
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    let next = peer.call::<Add>(&PARAMS);
    far.send(r#"{"jsonrpc":"2.0","id":2,"result":4}"#).await;
    assert_eq!(next.await.unwrap(), 4);
    assert_eq!(peer.stats().late_answers, 1);
}

#[tokio::test]
async fn dropping_a_call_forgets_it() {
    let (peer, _task, _far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    assert_eq!(peer.pending_calls(), 1);
    drop(call);
    assert_eq!(peer.pending_calls(), 0);
}

#[tokio::test]
async fn unknown_and_repeated_answers_are_counted_and_never_fatal() {
    let (peer, _task, mut far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    for id in ["99", "\"1\"", "0", "null"] {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#)).await;
    }
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    assert_eq!(call.await.unwrap(), 3);
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":4}"#).await;
    let next = peer.call::<Add>(&PARAMS);
    far.send(r#"{"jsonrpc":"2.0","id":2,"result":5}"#).await;
    assert_eq!(next.await.unwrap(), 5);
    let stats = peer.stats();
    assert_eq!((stats.unknown_answers, stats.late_answers), (4, 1));
}

#[tokio::test]
async fn an_error_that_names_no_call_fails_the_only_call_where_the_protocol_says_so() {
    let dialect = Dialect { orphan_errors: OrphanErrors::FailTheOnlyCall, ..Dialect::STANDARD };
    let (peer, _task, mut far) = peer_with(settings(dialect), Router::new());
    let orphan = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}"#;
    let call = peer.call::<Add>(&PARAMS);
    far.send(orphan).await;
    assert!(matches!(call.await.unwrap_err(), CallError::Answered(error) if error.code == -32700));
    // With two in flight nobody knows whose it is.
    let (first, second) = (peer.call::<Add>(&PARAMS), peer.call::<Add>(&PARAMS));
    far.send(orphan).await;
    far.send(r#"{"jsonrpc":"2.0","id":2,"result":3}"#).await;
    far.send(r#"{"jsonrpc":"2.0","id":3,"result":3}"#).await;
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (3, 3));
    assert_eq!(peer.stats().unknown_answers, 1);
}

#[tokio::test]
async fn every_pending_call_fails_as_closed_when_the_stream_ends() {
    let (peer, task, mut far) = peer(Router::new());
    let calls: Vec<_> = (0..10).map(|_| peer.call::<Add>(&PARAMS)).collect();
    far.writer.shutdown().await.unwrap();
    drop(far);
    for call in calls {
        assert_eq!(call.await.unwrap_err().to_string(), "no answer to `add`: the peer closed the stream");
    }
    assert!(matches!(task.await.unwrap(), CloseReason::EndOfStream));
    let after = peer.call::<Add>(&PARAMS).await.unwrap_err();
    assert!(matches!(after, CallError::Closed { reason: CloseReason::EndOfStream, .. }), "{after}");
    assert!(peer.notify::<Told>(&1).await.is_err());
}

#[tokio::test]
async fn closing_locally_fails_what_is_pending_and_ends_the_stream() {
    let (peer, task, mut far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    peer.close();
    assert!(matches!(call.await.unwrap_err(), CallError::Closed { reason: CloseReason::Local, .. }));
    assert!(matches!(task.await.unwrap(), CloseReason::Local));
    // What was queued before is still written.
    assert!(far.line().await.contains("\"add\""));
    assert_eq!(far.line().await, "");
}

#[tokio::test]
async fn dropping_the_connection_fails_its_calls() {
    let (near, _far) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(near);
    let codec = loggia_wire::framing::Lines::new(100);
    let (peer, connection) =
        loggia_wire::peer::connect(reader, writer, codec, settings(Dialect::STANDARD), Router::new());
    let call = peer.call::<Add>(&PARAMS);
    drop(connection);
    assert!(matches!(call.await.unwrap_err(), CallError::Closed { .. }));
    peer.closed().await;
}

#[tokio::test]
async fn closing_our_side_still_hears_the_answers() {
    let (peer, _task, mut far) = peer(Router::new());
    let call = peer.call::<Add>(&PARAMS);
    peer.close_writing();
    assert!(far.line().await.contains("\"add\""));
    assert_eq!(far.line().await, "", "the far end sees the end of our side");
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    assert_eq!(call.await.unwrap(), 3);
}

#[tokio::test]
async fn a_peer_that_does_not_read_makes_calls_fail_as_overloaded() {
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { outbox_bytes: 1000, ..Limits::default() };
    let (peer, _task, mut far) = peer_with_buffer(settings, Router::new(), 64);
    let mut accepted = Vec::new();
    let refused = loop {
        let mut call = Box::pin(peer.call::<Add>(&PARAMS));
        match futures_util::poll!(&mut call) {
            std::task::Poll::Ready(result) => break result.unwrap_err(),
            std::task::Poll::Pending => accepted.push(call),
        }
        tokio::task::yield_now().await;
        assert!(accepted.len() < 100, "the outbox has no bound");
    };
    assert!(matches!(refused, CallError::Overloaded { method: "add" }), "{refused}");
    assert_eq!(peer.pending_calls(), accepted.len());
    // Once the peer reads again, calls go out again.
    for _ in 0..accepted.len() {
        far.line().await;
    }
    let _again = peer.call::<Add>(&PARAMS);
    assert!(far.line().await.contains("\"add\""));
}

#[tokio::test]
async fn parameters_over_the_frame_cap_fail_the_call_and_leave_the_stream_whole() {
    let (peer, _task, mut far) = peer(Router::new());
    struct Big;
    impl loggia_jsonrpc::Method for Big {
        const NAME: &'static str = "big";
        type Params = String;
        type Result = ();
    }
    let error = peer.call::<Big>(&"x".repeat(1 << 20)).await.unwrap_err();
    assert!(matches!(error, CallError::Unsendable { method: "big", .. }), "{error}");
    assert_eq!(peer.pending_calls(), 0);
    let _next = peer.call::<Add>(&PARAMS);
    assert!(far.line().await.contains("\"add\""));
}

/// The handler is done, its answer waits for a peer that does not read; cancelling it must not lose the answer.
#[tokio::test]
async fn a_request_cancelled_while_its_answer_waits_is_still_answered() {
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { outbox_bytes: 100, ..Limits::default() };
    let router = Router::new().serve::<Slow, _, _>(|_, _| async { Ok("done".to_owned()) });
    let (peer, _task, mut far) = peer_with_buffer(settings, router, 64);
    // Fill what may wait with our own talk, until one more would have to.
    while futures_util::poll!(Box::pin(peer.notify::<Told>(&1))).is_ready() {
        tokio::task::yield_now().await;
    }
    far.send(r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#).await;
    let aborted = ErrorObject::new(-32004, "aborted");
    while !peer.cancel(&RequestId::from(1), &aborted) {
        tokio::task::yield_now().await;
    }
    loop {
        let line = far.line().await;
        if !line.contains("\"told\"") {
            assert_eq!(line, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"aborted"}}"#);
            break;
        }
    }
}

#[tokio::test]
async fn cancelling_a_request_answers_it_once_with_the_given_error() {
    let router = Router::new().serve::<Slow, _, _>(|_, _| std::future::pending());
    let (peer, _task, mut far) = peer(router);
    far.send(r#"{"jsonrpc":"2.0","id":"q","method":"slow"}"#).await;
    let id = RequestId::from_raw(serde_json::from_str("\"q\"").unwrap());
    let aborted = ErrorObject::new(-32004, "aborted");
    while !peer.cancel(&id, &aborted) {
        tokio::task::yield_now().await;
    }
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32004,"message":"aborted"}}"#);
    assert!(!peer.cancel(&id, &aborted), "it is not under way any more");
}
