//! Every misbehaving peer as a real process: the connection says what is wrong, the program is stopped, and
//! nobody else notices.

use std::time::Duration;

use loggia_testkit::hostile::{Misbehaviour, PATIENCE};
use loggia_testkit::methods::{Echo, echo};
use loggia_wire::child::{StopActions, StopPlan};
use loggia_wire::framing::FrameError;
use loggia_wire::peer::{CallError, CloseReason, Router};

use crate::support::{converse, is_alive};

fn params() -> loggia_jsonrpc::Json {
    serde_json::json!({"text": "é"}).into()
}

/// Where no answer is coming, waiting longer would not bring one.
const SHORT: Duration = Duration::from_millis(300);

/// Calls once and tells in a word how it went.
async fn outcome(args: &[&str], expected: &str) -> String {
    let (mut child, peer, task) = converse(args, Router::new()).await;
    let limit = if expected == "timed out" { SHORT } else { PATIENCE };
    let call = peer.call_within::<Echo>(limit, &params()).await;
    let told = match call {
        Ok(_) => "answered".to_owned(),
        Err(CallError::TimedOut { .. }) => "timed out".to_owned(),
        Err(CallError::Answered(error)) => format!("error {}", error.code),
        Err(CallError::Closed { reason: CloseReason::Broken(error), .. }) => format!("broken: {error}"),
        Err(other) => other.to_string(),
    };
    assert_eq!(peer.pending_calls(), 0, "{args:?} left a call behind");
    let pid = child.pid();
    child.stop(&StopPlan::kill(), StopActions::none()).await;
    assert!(!is_alive(pid));
    task.await.unwrap();
    told
}

#[tokio::test]
async fn every_misbehaviour_has_its_outcome_in_content_length_framing() {
    for (part, expected) in [
        ("echo", "answered"),
        ("lie-about-length", "timed out"),
        ("declare-too-much", "broken: frame of 99999999999 bytes is over the limit of 1048576"),
        ("stall-in-mid-frame", "timed out"),
        ("answer-twice", "answered"),
        ("unknown-ids", "answered"),
        ("exit-early", "answered"),
        ("garbage", "answered"),
        ("silent", "timed out"),
        ("flood", "timed out"),
    ] {
        assert_eq!(outcome(&[part, "content-length"], expected).await, expected, "{part}");
    }
}

#[tokio::test]
async fn every_misbehaviour_has_its_outcome_in_lines() {
    for (part, expected) in [
        ("echo", "answered"),
        ("lie-about-length", "the answer to `echo` has the wrong shape: trailing characters"),
        ("declare-too-much", "timed out"),
        ("stall-in-mid-frame", "timed out"),
        ("answer-twice", "answered"),
        ("unknown-ids", "answered"),
        ("exit-early", "answered"),
        ("garbage", "answered"),
        ("silent", "timed out"),
        ("flood", "timed out"),
    ] {
        assert_eq!(outcome(&[part, "lines"], expected).await, expected, "{part}");
    }
}

/// The first answer is cut short and is no JSON; what is left of it stands where the next header should be.
#[tokio::test]
async fn a_lie_about_the_length_breaks_the_stream_at_the_next_frame() {
    let (_child, peer, task) = converse(&["lie-about-length", "content-length"], Router::new()).await;
    let (first, second) = (peer.call::<Echo>(&params()), peer.call::<Echo>(&params()));
    for call in [first.await, second.await] {
        let error = call.unwrap_err().to_string();
        assert!(error.ends_with("the stream is broken: `Content-Length` header is missing"), "{error}");
    }
    assert_eq!(peer.stats().malformed, 1);
    assert!(matches!(task.await.unwrap(), CloseReason::Broken(_)));
}

#[tokio::test]
async fn a_program_that_dies_in_mid_answer_fails_the_call_at_once() {
    let (mut child, peer, task) = converse(&["exit-early", "content-length"], Router::new()).await;
    peer.call::<Echo>(&params()).await.unwrap();
    let error = peer.call::<Echo>(&params()).await.unwrap_err();
    assert!(matches!(&error, CallError::Closed { reason: CloseReason::Broken(_), .. }), "{error}");
    let CloseReason::Broken(reason) = task.await.unwrap() else { panic!("a broken stream") };
    assert!(matches!(*reason, FrameError::Truncated { .. }), "{reason}");
    child.exited().await;
}

#[tokio::test]
async fn a_flooding_program_disturbs_nobody_else() {
    let (_flood, flooded, _task) = converse(&["flood", "lines"], echo()).await;
    let (_calm, calm, _calm_task) = converse(&["echo", "lines"], Router::new()).await;
    for _ in 0..100 {
        calm.call_within::<Echo>(Duration::from_secs(10), &params()).await.unwrap();
    }
    assert!(flooded.stats().frames > 0);
}

#[test]
fn every_misbehaviour_is_tried() {
    let source = include_str!("hostile_processes.rs");
    for (name, _) in Misbehaviour::ALL {
        assert!(
            source.matches(&format!("(\"{name}\",")).count() >= 2,
            "`{name}` is not tried in both framings"
        );
    }
}
