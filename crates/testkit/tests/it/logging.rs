//! What must be found in the log is there.

use loggia_testkit::log::Log;
use loggia_testkit::methods::Echo;
use loggia_wire::peer::Router;

use crate::support::{converse, start};

#[tokio::test]
async fn a_programs_stderr_is_logged_line_by_line_with_its_name() {
    let log = Log::listen();
    start(&["two-lines"]).await.ended().await;
    let lines = log.lines();
    let said: Vec<&String> = lines.iter().filter(|line| line.ends_with(" child=two-lines")).collect();
    assert!(said.iter().any(|line| line.starts_with("DEBUG message=first words ")), "{lines:?}");
    assert!(said.iter().any(|line| line.contains("message=last words ")), "{lines:?}");
}

#[tokio::test]
async fn answers_nobody_waits_for_are_logged() {
    let log = Log::listen();
    let (_child, peer, _task) = converse(&["unknown-ids", "lines"], Router::new()).await;
    peer.call::<Echo>(&serde_json::json!({}).into()).await.unwrap();
    let lines = log.lines();
    let unknown = lines.iter().filter(|line| line.contains("a call that was never made"));
    assert_eq!(unknown.count(), 1, "loud once, however many there are: {lines:?}");
    assert_eq!(peer.stats().unknown_answers, 5);
}
