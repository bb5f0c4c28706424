//! Waiting for what is told, beside somebody who tells.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loggia_domain::{Passing, Seq};
use tokio::sync::mpsc;

use crate::session::feed::Feed;

/// Enough for the two to meet at every step of each other.
const ROUNDS: u32 = 20_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_while_somebody_begins_to_wait_wakes_them() {
    let feed = Feed::new(Seq(0));
    let (go, mut told_to) = mpsc::channel(1);
    let teller = tokio::spawn({
        let feed = Arc::clone(&feed);
        async move {
            while let Some(attempt) = told_to.recv().await {
                feed.pass(Passing::Retrying { message: String::new(), attempt, wait: 0 });
            }
        }
    });
    let waiting = async {
        for round in 0..ROUNDS {
            let looked = feed.changes.load(Ordering::SeqCst);
            go.send(round).await.expect("the teller listens");
            // The wake of the round before may come late: one who is woken looks again, as subscribers do.
            while feed.changes.load(Ordering::SeqCst) == looked {
                feed.told_more_than(looked).await;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("nobody waits for ever");
    drop(go);
    teller.await.expect("the teller tells to the end");
}
