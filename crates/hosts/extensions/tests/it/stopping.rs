//! How extensions leave: in good order, late, unwillingly, not at all.

use std::time::Duration;

use loggia_domain::ExtensionState;
use loggia_extensions::Limits;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{One, SHORT, World, eventually, is_alive, state, texts};

/// Stops a puppet, and gives its log and how long that took.
async fn stopped(shutdown: Value, change: impl FnOnce(&mut Limits)) -> (Vec<String>, Duration) {
    let one = One::within(json!({ "shutdown": shutdown }), |world| change(&mut world.limits)).await;
    let pid = one.summary().process.unwrap().to_string();
    let began = Instant::now();
    one.host.stop().await;
    let took = began.elapsed();
    assert!(!is_alive(&pid));
    assert_eq!(state(&one.host, "one"), ExtensionState::Stopped);
    assert_eq!(one.world.told("one", "shutdown"), [json!({ "reason": "closing" })]);
    let shutdown = one.world.heard("one").pop().unwrap();
    assert_eq!(shutdown["id"], 2);
    (texts(&one.host, "one"), took)
}

#[tokio::test]
async fn an_extension_that_agrees_leaves_by_itself() {
    let (log, _) = stopped(json!({ "before": [["say", "bye"]] }), |_| {}).await;
    let [.., said, last] = &log[..] else { panic!("{log:?}") };
    assert!(said == "bye" && last.ends_with("ended with exit status 0"), "{log:?}");
}

#[tokio::test]
async fn an_extension_that_does_not_answer_is_killed_after_five_seconds() {
    let (log, took) = stopped(json!({ "before": [["hang"]] }), |_| {}).await;
    assert!(took >= Duration::from_secs(5), "{took:?}");
    let [.., said, last] = &log[..] else { panic!("{log:?}") };
    assert_eq!(said, "it did not answer `shutdown` within 5 s and was killed");
    assert!(last.ends_with("ended with signal 9 (SIGKILL)"), "{last}");
}

#[tokio::test]
async fn an_extension_that_agrees_and_stays_is_killed() {
    let (log, _) = stopped(json!({ "stay": true }), |limits| limits.leave = SHORT).await;
    let [.., said, last] = &log[..] else { panic!("{log:?}") };
    assert_eq!(said, "it did not leave within 0.3 s and was killed");
    assert!(last.ends_with("ended with signal 9 (SIGKILL)"), "{last}");
}

#[tokio::test]
async fn an_extension_that_refuses_to_stop_is_killed() {
    let reply = json!({ "error": { "code": -32000, "message": "busy" } });
    let (log, _) = stopped(json!({ "stay": true, "reply": reply }), |_| {}).await;
    let [.., said, last] = &log[..] else { panic!("{log:?}") };
    assert_eq!(said, "it refused to stop (-32000: busy) and was killed");
    assert!(last.ends_with("ended with signal 9 (SIGKILL)"), "{last}");
}

#[tokio::test]
async fn an_extension_that_leaves_without_an_answer_has_left() {
    let (log, _) = stopped(json!({ "before": [["exit", 0]] }), |_| {}).await;
    assert!(log.last().unwrap().ends_with("ended with exit status 0"), "{log:?}");
    let (log, _) = stopped(json!({ "reply": { "result": { "success": false } } }), |_| {}).await;
    assert!(log.iter().any(|text| text == "it could not stop in good order"), "{log:?}");
}

#[tokio::test]
async fn requests_are_served_until_the_extension_has_gone() {
    let before = json!([
        ["ask", "editor/setMessage", { "message": "MSH|last", "format": "hl7" }],
        ["ask", "editor/getMessage", { "format": "hl7" }], ["ask", "editor/nothing", {}]
    ]);
    let one = One::new(json!({ "shutdown": { "before": before } })).await;
    one.host.stop().await;
    let answers = one.all_answers();
    assert_eq!(answers[0], json!({ "success": true }));
    assert_eq!(answers[1]["message"], "MSH|last");
    assert_eq!(answers[2]["code"], -32601);
    assert!(texts(&one.host, "one").last().unwrap().ends_with("exit status 0"));
}

#[tokio::test]
async fn all_extensions_leave_at_the_same_time() {
    let mut world = World::new();
    for number in 0..4 {
        world.puppet(&format!("p{number}"), &json!({ "shutdown": { "before": [["sleep", 1.0]] } }));
    }
    let host = world.started().await;
    let began = Instant::now();
    host.stop().await;
    assert!(began.elapsed() < Duration::from_millis(3500), "{:?}", began.elapsed());
    for summary in host.list() {
        assert_eq!(summary.state, ExtensionState::Stopped);
        assert!(texts(&host, &summary.name).last().unwrap().ends_with("exit status 0"));
    }
}

#[tokio::test]
async fn an_extension_in_the_middle_of_a_command_is_stopped_all_the_same() {
    let one = One::within(json!({ "commands": { "go": [["say", "busy"], ["hang"]] } }), |world| {
        world.limits.shutdown = SHORT;
    })
    .await;
    let given = one.give("go");
    eventually("the command", || texts(&one.host, "one").iter().any(|text| text == "busy")).await;
    one.host.stop().await;
    given.await.unwrap().unwrap_err();
    assert!(texts(&one.host, "one").last().unwrap().ends_with("signal 9 (SIGKILL)"));
}
