//! Order and limits of what is served.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggia_jsonrpc::Dialect;
use loggia_wire::peer::{Limits, Router};
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;

use crate::support::{Abort, Slow, Step, Told, peer, peer_with, peer_with_buffer, settings};

#[tokio::test]
async fn urgent_calls_do_not_wait_behind_slow_ones() {
    let router = Router::new()
        .serve::<Slow, _, _>(|_, _| std::future::pending())
        .serve::<Step, _, _>(|_, _| std::future::pending())
        .serve::<Abort, _, _>(|_, _| async { Ok(true) });
    let mut settings = settings(Dialect::STANDARD);
    settings.limits = Limits { in_flight: 4, ordered_queue: 4, ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for id in 0..4 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"slow"}}"#)).await;
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"step","params":1}}"#)).await;
    }
    let answer = far.ask(r#"{"jsonrpc":"2.0","id":"now","method":"abort"}"#).await;
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":"now","result":true}"#);
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
    // A queue far shorter than the burst: the reader waits instead of dropping.
    settings.limits = Limits { ordered_queue: 2, ..Limits::default() };
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
    settings.limits = Limits { ordered_queue: 1, ..Limits::default() };
    let (_peer, _task, mut far) = peer_with(settings, router);
    for id in 1..=3 {
        far.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"step","params":1}}"#)).await;
    }
    assert_eq!(
        far.line().await,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Overloaded: too many calls are under way"}}"#
    );
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
    let stalled = tokio::time::timeout(Duration::from_millis(300), flood).await;
    assert!(stalled.is_err(), "a million unread answers were accepted");
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
