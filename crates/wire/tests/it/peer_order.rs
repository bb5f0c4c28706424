//! Order and limits of what is served.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use loggia_jsonrpc::{Dialect, ErrorObject};
use loggia_testkit::Writes;
use loggia_wire::peer::{CallError, CloseReason, Limits, Notice, PER_CALL, Peer, Router};
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;

use crate::support::{
    Abort, Add, AddParams, Chat, Slow, Step, Text, Told, pair_with_buffer, peer, peer_with, peer_with_buffer,
    settings,
};

#[tokio::test]
async fn urgent_calls_do_not_wait_behind_slow_ones() {
    let router = Router::new()
        .serve::<Slow, _, _>(|_, _| std::future::pending())
        .serve::<Step, _, _>(|_, _| std::future::pending())
        .serve::<Abort, _, _>(|_, _| async { Ok(true) });
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { in_flight: 4, held_bytes: 4 * (PER_CALL + 100), ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for id in 0..4 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"slow"}}"#)).await;
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"step","params":1}}"#)).await;
    }
    far.send(r#"{"jsonrpc":"2.0","id":"now","method":"abort"}"#).await;
    // Before it come the refusals of those there was no room for, and no answer of a slow one.
    loop {
        let answer = far.line().await;
        if answer == r#"{"jsonrpc":"2.0","id":"now","result":true}"# {
            break;
        }
        assert!(answer.contains("Overloaded"), "{answer}");
    }
}

#[tokio::test]
async fn ordered_calls_run_one_after_another_in_arrival_order() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = log.clone();
    let router = Router::new().serve::<Step, _, _>(move |_, step| {
        let seen = seen.clone();
        async move {
            seen.lock().unwrap().push(format!("start {step}"));
            // Earlier steps take longer, so that any overlap would show as disorder.
            tokio::time::sleep(Duration::from_millis(u64::from(4 - step))).await;
            seen.lock().unwrap().push(format!("end {step}"));
            Ok(step)
        }
    });
    let (_peer, _task, mut far) = peer(router);
    for step in 0..4 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{step},"method":"step","params":{step}}}"#)).await;
    }
    for step in 0..4 {
        assert_eq!(far.line().await, format!(r#"{{"jsonrpc":"2.0","id":{step},"result":{step}}}"#));
    }
    let expected: Vec<String> =
        (0..4).flat_map(|step| [format!("start {step}"), format!("end {step}")]).collect();
    assert_eq!(*log.lock().unwrap(), expected);
}

#[tokio::test]
async fn notifications_are_heard_in_the_order_they_were_told() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let router = Router::new()
        .listen::<Told, _, _>(move |_, number| {
            let log = log.clone();
            async move {
                if number % 3 == 0 {
                    tokio::task::yield_now().await;
                }
                log.lock().unwrap().push(number);
            }
        })
        .serve::<Step, _, _>(|_, step| async move { Ok(step) });
    let mut settings = settings(Dialect::STANDARD);
    // Room for far fewer than the burst: the reader waits instead of dropping.
    settings.limits = Limits { held_bytes: 2 * (PER_CALL + 60), ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for number in 0..1000 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","method":"told","params":{number}}}"#)).await;
    }
    // A request in the same lane is served when all before it are.
    loop {
        let answer = far.ask(r#"{"jsonrpc":"2.0","id":1,"method":"step","params":1}"#).await;
        if answer.contains("result") {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(*heard.lock().unwrap(), (0..1000).collect::<Vec<_>>());
}

#[tokio::test]
async fn too_many_requests_are_answered_as_overloaded_and_the_others_finish() {
    let gate = Arc::new(Semaphore::new(0));
    let wait = gate.clone();
    let router = Router::new().serve::<Slow, _, _>(move |_, _| {
        let wait = wait.clone();
        async move {
            let _pass = wait.acquire().await;
            Ok("done".to_owned())
        }
    });
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { in_flight: 2, ..Limits::default() };
    let (peer, _task, mut far) = peer_with(settings, router);
    for id in 1..=3 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"slow"}}"#)).await;
    }
    assert_eq!(
        far.line().await,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Overloaded: too many calls are under way"}}"#
    );
    assert_eq!(peer.stats().overloaded, 1);
    gate.add_permits(10);
    let mut answers = [far.line().await, far.line().await];
    answers.sort();
    assert_eq!(
        answers,
        [r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#, r#"{"jsonrpc":"2.0","id":2,"result":"done"}"#]
    );
}

/// Nobody would hear of its refusal, so the reader waits instead.
#[tokio::test]
async fn a_call_without_id_waits_for_a_place() {
    let gate = Arc::new(Semaphore::new(0));
    let done = Arc::new(Mutex::new(0));
    let (wait, count) = (gate.clone(), done.clone());
    let router = Router::new()
        .serve::<Slow, _, _>(move |_, _| {
            let (wait, count) = (wait.clone(), count.clone());
            async move {
                wait.acquire().await.unwrap().forget();
                *count.lock().unwrap() += 1;
                Ok(String::new())
            }
        })
        .serve::<Abort, _, _>(|_, _| async { Ok(true) });
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { in_flight: 2, ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for _ in 0..5 {
        far.send(r#"{"jsonrpc":"2.0","method":"slow"}"#).await;
    }
    gate.add_permits(5);
    far.ask(r#"{"jsonrpc":"2.0","id":1,"method":"abort"}"#).await;
    while *done.lock().unwrap() < 5 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_full_ordered_queue_refuses_requests_with_their_ids() {
    let router = Router::new().serve::<Step, _, _>(|_, _| std::future::pending());
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { held_bytes: 2 * (PER_CALL + 60), ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for id in 1..=3 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"step","params":1}}"#)).await;
    }
    assert_eq!(
        far.line().await,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Overloaded: too many calls are under way"}}"#
    );
}

/// An ordered handler asks back; what it waits for lies behind more notifications than a short queue would hold.
#[tokio::test]
async fn answers_and_urgent_calls_are_found_behind_any_number_of_notifications() {
    let router = Router::new()
        .serve::<Step, _, _>(|context, step| async move {
            let sum = context.peer.call::<Add>(&AddParams { left: 1, right: 2 }).await;
            Ok(step + u32::try_from(sum.map_err(ErrorObject::internal)?).unwrap())
        })
        .listen::<Told, _, _>(|_, _| async {})
        .serve::<Abort, _, _>(|_, _| async { Ok(true) });
    let (_peer, _task, mut far) = peer(router);
    far.send(r#"{"jsonrpc":"2.0","id":"s","method":"step","params":4}"#).await;
    assert!(far.line().await.contains("\"add\""));
    for number in 0..5000 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","method":"told","params":{number}}}"#)).await;
    }
    let urgent = far.ask(r#"{"jsonrpc":"2.0","id":"a","method":"abort"}"#).await;
    assert_eq!(urgent, r#"{"jsonrpc":"2.0","id":"a","result":true}"#);
    let step = far.ask(r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    assert_eq!(step, r#"{"jsonrpc":"2.0","id":"s","result":7}"#);
}

#[tokio::test]
async fn what_is_held_is_bounded_in_bytes() {
    let router = Router::new().serve::<Text, _, _>(|_, _| std::future::pending());
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { held_bytes: 100_000, ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    let text = "x".repeat(40_000);
    for id in 1..=3 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"text","params":"{text}"}}"#)).await;
    }
    let refused = far.line().await;
    assert!(refused.contains(r#""id":3,"error""#) && refused.contains("Overloaded"), "{refused}");
}

/// Each side has more to say than the other has read; neither may stop listening because of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sides_that_both_talk_a_lot_do_not_wait_for_each_other() {
    const MESSAGES: u32 = 400;
    let heard = [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
    let listen = |heard: Arc<AtomicU32>| {
        Router::new().listen::<Chat, _, _>(move |_, _| {
            heard.fetch_add(1, Relaxed);
            async {}
        })
    };
    let (left, right) = pair_with_buffer(listen(heard[0].clone()), listen(heard[1].clone()), 16 * 1024);
    let talk = |peer: Peer| async move {
        let text = "x".repeat(20_000);
        for _ in 0..MESSAGES {
            peer.notify::<Chat>(&text).await.unwrap();
        }
    };
    let both = async { tokio::join!(talk(left.clone()), talk(right.clone())) };
    tokio::time::timeout(Duration::from_secs(60), both).await.expect("both get everything said");
    while heard.iter().any(|heard| heard.load(Relaxed) < MESSAGES) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_and_nothing_moves_gives_the_connection_up() {
    let router = Router::new().listen::<Told, _, _>(|_, _| std::future::pending());
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { held_bytes: 1, ..Limits::default() };
    let (peer, task, mut far) = peer_with(settings, router);
    let call = peer.call::<Abort>(&loggia_jsonrpc::NoParams {});
    for number in 0..2 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","method":"told","params":{number}}}"#)).await;
    }
    assert!(matches!(call.await.unwrap_err(), CallError::Closed { reason: CloseReason::Stalled, .. }));
    assert!(matches!(task.await.unwrap(), CloseReason::Stalled));
}

#[tokio::test]
async fn a_refused_or_waiting_handler_has_not_begun() {
    let begun = Arc::new(AtomicU32::new(0));
    let count = begun.clone();
    let router = Router::new().serve::<Step, _, _>(move |_, _| {
        count.fetch_add(1, Relaxed);
        std::future::pending()
    });
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { held_bytes: 2 * (PER_CALL + 60), ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for id in 1..=3 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"step","params":1}}"#)).await;
    }
    assert!(far.line().await.contains("Overloaded"));
    assert_eq!(begun.load(Relaxed), 1, "one runs, one waits, one was refused");
}

/// An answer is handed over when it is read; notifications before it may still wait for their turn.
#[tokio::test]
async fn what_was_told_before_an_answer_can_be_waited_for() {
    let heard = Arc::new(AtomicU32::new(0));
    let count = heard.clone();
    let router = Router::new().listen::<Told, _, _>(move |_, _| {
        let count = count.clone();
        async move {
            tokio::task::yield_now().await;
            count.fetch_add(1, Relaxed);
        }
    });
    let (peer, _task, mut far) = peer(router);
    let call = peer.call::<Abort>(&loggia_jsonrpc::NoParams {});
    for number in 0..100 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","method":"told","params":{number}}}"#)).await;
    }
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":true}"#).await;
    call.await.unwrap();
    peer.heard().await;
    assert_eq!(heard.load(Relaxed), 100);
}

#[tokio::test]
async fn what_was_read_before_a_broken_end_is_still_heard() {
    let heard = Arc::new(AtomicU32::new(0));
    let count = heard.clone();
    let router = Router::new().listen::<Told, _, _>(move |_, _| {
        let count = count.clone();
        async move {
            tokio::task::yield_now().await;
            count.fetch_add(1, Relaxed);
        }
    });
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let codec = loggia_wire::framing::ContentLength::new(1 << 16);
    let (_peer, connection) =
        loggia_wire::peer::connect(reader, writer, codec, settings(Dialect::STANDARD), router);
    let (_far_reader, mut far_writer) = tokio::io::split(far);
    for _ in 0..10 {
        let body = r#"{"jsonrpc":"2.0","method":"told","params":1}"#;
        far_writer
            .write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
            .await
            .unwrap();
    }
    far_writer.write_all(b"Content-Length: nonsense\r\n\r\n").await.unwrap();
    assert!(matches!(connection.run().await, CloseReason::Broken(_)));
    assert_eq!(heard.load(Relaxed), 10);
}

/// A peer that asks and never reads the answers is not read any further once the outbox is full.
#[tokio::test]
async fn a_peer_that_never_reads_is_not_read_for_ever() {
    let router = Router::new().serve::<Abort, _, _>(|_, _| async { Ok(true) });
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { outbox_bytes: 1000, ..Limits::default() };
    let (peer, _task, mut far) = peer_with_buffer(settings, router, 256);
    let flood = async {
        for id in 0..1_000_000u32 {
            far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"abort"}}"#)).await;
        }
    };
    // Long enough to read far more than the bound allows, if there were none.
    let _ = tokio::time::timeout(Duration::from_millis(300), flood).await;
    assert!(peer.stats().frames < 2000, "{:?}", peer.stats());
}

/// Handlers whose peer has gone are dropped when the time to drain is over.
#[tokio::test(start_paused = true)]
async fn handlers_do_not_outlive_their_connection() {
    struct Flag(Arc<Mutex<bool>>);
    impl Drop for Flag {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = true;
        }
    }
    let dropped = Arc::new(Mutex::new(false));
    let flag = dropped.clone();
    let router = Router::new().serve::<Slow, _, _>(move |_, _| {
        let flag = Flag(flag.clone());
        async move {
            let _flag = flag;
            std::future::pending().await
        }
    });
    let (_peer, task, mut far) = peer(router);
    far.send(r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#).await;
    tokio::task::yield_now().await;
    far.writer.shutdown().await.unwrap();
    task.await.unwrap();
    tokio::task::yield_now().await;
    assert!(*dropped.lock().unwrap());
}

/// With no room for more than one message at a time, three that are told one by one need three writes.
#[tokio::test]
async fn what_is_told_together_is_one_write() {
    let writes = Writes::default();
    let (near, _far) = tokio::io::duplex(64);
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { outbox_bytes: 1, ..Limits::default() };
    let codec = loggia_wire::framing::Lines::new(1 << 16);
    let (peer, connection) = loggia_wire::peer::connect(near, writes.clone(), codec, settings, Router::new());
    let task = tokio::spawn(connection.run());
    for number in 1..=3 {
        peer.notify::<Told>(&number).await.unwrap();
    }
    let notices: Vec<Notice> = (4..=6).map(|number| Notice::new::<Told>(&number).unwrap()).collect();
    peer.tell(&notices).await.unwrap();
    peer.close();
    task.await.unwrap();
    let writes = writes.all();
    let lines: Vec<usize> = writes.iter().map(|write| write.lines().count()).collect();
    assert_eq!(lines, [1, 1, 1, 3]);
    assert!(writes[3].starts_with(r#"{"jsonrpc":"2.0","method":"told","params":4}"#), "{}", writes[3]);
}

/// A handler starts something that tells of itself; its answer comes first all the same.
#[tokio::test]
async fn what_a_handler_holds_is_let_go_after_its_answer() {
    struct Held(Peer);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.notify::<Told>(&7).now_or_never().unwrap().unwrap();
        }
    }
    let router = Router::new()
        .serve_holding::<Abort, _, _, _>(|context, _| async move { (Ok(true), Held(context.peer)) });
    let (_peer, _task, mut far) = peer_with_buffer(settings(Dialect::STANDARD), router, 1 << 10);
    far.send(r#"{"jsonrpc":"2.0","id":1,"method":"abort"}"#).await;
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","id":1,"result":true}"#);
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","method":"told","params":7}"#);
}
