//! Starting parts of `peer-kit`, and asking the system who is alive.

use std::path::Path;
use std::time::{Duration, Instant};

use loggia_jsonrpc::Dialect;
use loggia_testkit::hostile::PATIENCE;
use loggia_wire::child::{Child, ChildSpec, Keeper, spawn};
use loggia_wire::framing::{ContentLength, Lines};
use loggia_wire::peer::{CloseReason, Limits, Peer, Router, Settings, connect};
use tokio::task::JoinHandle;

pub(crate) const KIT: &str = env!("CARGO_BIN_EXE_peer-kit");
pub(crate) const CAP: usize = 1024 * 1024;

pub(crate) fn keeper() -> Keeper {
    Keeper::new(KIT, ["keep"])
}

pub(crate) fn part(args: &[&str]) -> ChildSpec {
    ChildSpec::new(args.join(" "), KIT).args(args.iter().copied())
}

pub(crate) async fn start(args: &[&str]) -> Child {
    spawn(&keeper(), part(args)).await.unwrap()
}

/// A child and a connection to it.
pub(crate) async fn converse(args: &[&str], router: Router) -> (Child, Peer, JoinHandle<CloseReason>) {
    let mut child = start(args).await;
    let (stdout, stdin) = child.take_streams().unwrap();
    let mut settings = Settings::new(child.name(), Dialect::STANDARD);
    settings.limits = Limits { outbox_bytes: 64 * 1024, ..Limits::default() };
    settings.drain = Duration::from_millis(200);
    let (peer, task) = if args.last() == Some(&"content-length") {
        let (peer, connection) = connect(stdout, stdin, ContentLength::new(CAP), settings, router);
        (peer, tokio::spawn(connection.run()))
    } else {
        let (peer, connection) = connect(stdout, stdin, Lines::new(CAP), settings, router);
        (peer, tokio::spawn(connection.run()))
    };
    (child, peer, task)
}

/// Waits for something another process does.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A process that runs; a zombie nobody has reaped yet does not.
pub(crate) fn is_alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

pub(crate) fn pid_in(directory: &Path, file: &str) -> Option<i32> {
    std::fs::read_to_string(directory.join(file)).ok()?.parse().ok()
}
