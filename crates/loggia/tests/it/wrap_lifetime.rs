//! `loggia wrap`: how it begins, how it ends, and what is left behind.

use rustix::process::{Pid, Signal, test_kill_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdout;

use crate::stage::Stage;
use crate::wrapped::{Attached, Wrapped, command, soon};

/// Says as much as anybody takes, and how much that was, and ends.
const TALKER: &str = "
import os, select, sys
sys.stdin.readline()
os.set_blocking(1, False)
total = 0
while select.select([], [1], [], 0.5)[1]:
    try:
        total += os.write(1, b'x' * 4096)
    except BlockingIOError:
        pass
open('total', 'w').write(str(total))
";

/// A program that has ended while nobody reads what it said.
async fn unread(stage: &Stage, flags: &[&str]) -> (Wrapped, ChildStdout, Attached) {
    let flags: Vec<&str> = ["--json"].iter().chain(flags).copied().collect();
    let command = command(stage, &flags, &["python3", "-c", TALKER]);
    let (wrapped, stdout) = Wrapped::spawn_unread(command).await;
    let mut attached = wrapped.attach().await;
    attached.client.execute("go").await.unwrap();
    attached.becomes_interactive(false).await;
    (wrapped, stdout, attached)
}

/// Waits until a process is gone.
async fn goes(pid: i32) {
    let pid = Pid::from_raw(pid).unwrap();
    soon(async {
        while test_kill_process(pid).is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[test]
fn its_status_is_the_programs() {
    let stage = Stage::new();
    let status = |program: &[&str]| stage.finish(command(&stage, &[], program), b"").code;
    assert_eq!(status(&["true"]), Some(0));
    assert_eq!(status(&["sh", "-c", "exit 42"]), Some(42));
    assert_eq!(status(&["sh", "-c", "kill -9 $$"]), Some(137));
    assert!(!stage.path("home/.local/share/loggia/run/wrap-sh.sock").exists());
}

#[test]
fn a_program_that_ends_at_once_is_heard() {
    let stage = Stage::new();
    let shown = stage.finish(command(&stage, &[], &["sh", "-c", "echo out; echo err >&2; exit 3"]), b"");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(3), "out\n"), "{shown}");
    assert!(shown.stderr.contains("\nerr\n"), "{shown}");
    assert!(shown.stderr.contains("attach with `loggia attach -s [STAGE]/home/"), "{shown}");
    let shown = stage.finish(command(&stage, &["--quiet"], &["sh", "-c", "echo out; echo err >&2"]), b"");
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("", ""), "{shown}");
}

#[tokio::test]
async fn a_late_reader_gets_all_of_it() {
    let stage = Stage::new();
    for flags in [&[][..], &["--pty"]] {
        let (mut wrapped, mut stdout, _attached) = unread(&stage, flags).await;
        // Nothing ends it while there is a reader; this is longer than any limit inside.
        assert!(wrapped.outlasts(std::time::Duration::from_secs(4)).await, "it did not wait: {flags:?}");
        let total: usize = std::fs::read_to_string(stage.path("outside/total")).unwrap().parse().unwrap();
        assert!(total > 100_000, "{total}");
        let mut heard = Vec::new();
        soon(stdout.read_to_end(&mut heard)).await.unwrap();
        assert_eq!(heard.len(), total, "{flags:?}");
        assert_eq!(wrapped.end().await.code, Some(0));
    }
}

#[tokio::test]
async fn a_signal_or_a_reader_that_goes_ends_waiting_for_it() {
    let stage = Stage::new();
    let (wrapped, _stdout, _attached) = unread(&stage, &[]).await;
    wrapped.signal(Signal::TERM);
    assert_eq!(wrapped.end().await.code, Some(0));
    let (wrapped, stdout, _attached) = unread(&stage, &[]).await;
    drop(stdout);
    assert_eq!(wrapped.end().await.code, Some(0));
}

#[test]
fn piped_bytes_arrive_as_they_are() {
    let stage = Stage::new();
    let long = [vec![b'x'; 100_000], b"\n".to_vec()].concat();
    for given in [&b"a\xffb\r\n"[..], &long, b"no end"] {
        let shown = stage.finish(command(&stage, &["--stdin-eof"], &["cksum"]), given);
        let expected = stage.finish(plain("cksum"), given);
        assert_eq!((shown.code, shown.stdout), (Some(0), expected.stdout));
    }
}

/// A program without us.
#[expect(clippy::disallowed_methods, reason = "a test may start a program")]
fn plain(program: &str) -> std::process::Command {
    std::process::Command::new(program)
}

#[test]
fn what_cannot_be_started_is_told_as_a_shell_does() {
    let stage = Stage::new();
    let shown = stage.finish(command(&stage, &[], &["/no/such/program"]), b"");
    insta::assert_snapshot!(shown, @r"
    exit: 127
    --- stderr
    error: cannot start `/no/such/program`: No such file or directory (os error 2)

    hint: see that it exists, is in `PATH` and can be executed
    [END]
    ");
    let text = stage.write("outside/text", "no program");
    let shown = stage.finish(command(&stage, &[], &[text.to_str().unwrap()]), b"");
    assert_eq!(shown.code, Some(126), "{shown}");
    assert_eq!(stage.finish(command(&stage, &[], &["nobody-has-this"]), b"").code, Some(127));
}

#[test]
fn wrong_usage_is_told() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["wrap"]).code, Some(2));
    assert_eq!(stage.run(&["wrap", "--size", "24x80", "--", "cat"]).code, Some(2));
    assert_eq!(stage.run(&["wrap", "--words", "/no/such/file", "--", "cat"]).code, Some(5));
    assert_eq!(stage.run(&["wrap", "--history", "/no/such/file", "--", "cat"]).code, Some(5));
    stage.write("outside/here", "");
    let shown = stage.run(&["wrap", "-s", "here", "--", "cat"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(shown.stderr.contains("hint: move it away"), "{shown}");
}

#[tokio::test]
async fn it_is_started_again_while_terminals_stay() {
    let stage = Stage::new();
    let script = "echo began; read -r line; exit 3";
    let flags = ["--restart", "on-failure", "--max-restarts", "1"];
    let wrapped = Wrapped::start(&stage, &flags, &["sh", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    attached.client.execute("one").await.unwrap();
    attached.becomes_interactive(false).await;
    attached.hears("[WARN]: wrap: the program ended with exit status 3; it is started again in").await;
    attached.becomes_interactive(true).await;
    attached.hears("began\n").await;
    attached.client.execute("two").await.unwrap();
    attached.hears("2 times in a row; it is given up").await;
    let ended = wrapped.end().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), "began\nbegan\n"));
    attached.rest().await;
}

#[tokio::test]
async fn a_good_end_is_an_end_unless_it_shall_always_run() {
    let stage = Stage::new();
    let shown = stage.finish(command(&stage, &["--restart", "on-failure"], &["echo", "once"]), b"");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "once\n"));
    let flags = ["--restart", "always", "--max-restarts", "1"];
    let shown = stage.finish(command(&stage, &flags, &["echo", "twice"]), b"");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "twice\ntwice\n"));
}

#[tokio::test]
async fn a_signal_while_it_is_down_ends_it() {
    let stage = Stage::new();
    let flags = ["--restart", "always", "--max-restarts", "100"];
    let wrapped = Wrapped::start(&stage, &flags, &["sh", "-c", "read -r line; exit 4"]).await;
    let mut attached = wrapped.attach().await;
    attached.client.execute("one").await.unwrap();
    attached.hears("it is started again in").await;
    wrapped.signal(Signal::TERM);
    let code = wrapped.end().await.code;
    // It may just have been started again.
    assert!(matches!(code, Some(4 | 143)), "{code:?}");
}

#[tokio::test]
async fn signals_are_passed_on_and_the_status_tells() {
    let stage = Stage::new();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 143)] {
        let wrapped = Wrapped::start(&stage, &[], &["sleep", "1000"]).await;
        let socket = wrapped.socket.clone();
        wrapped.signal(signal);
        let ended = wrapped.end().await;
        assert_eq!(ended.code, Some(code), "{signal:?}");
        let name = if code == 130 { "SIGINT" } else { "SIGTERM" };
        assert!(ended.stderr.contains(&format!("stopping the program: {name} now")), "{}", ended.stderr);
        let told = format!("the program ended with signal {} ({name})\n", code - 128);
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
        assert!(!socket.exists());
    }
}

#[tokio::test]
async fn the_stop_command_comes_first() {
    let stage = Stage::new();
    let script = "while read -r line; do [ \"$line\" = stop ] && { echo saving; exit 6; }; done";
    let wrapped = Wrapped::start(&stage, &["--stop-command", "stop"], &["sh", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    wrapped.signal(Signal::TERM);
    let told = "wrap: stopping the program: `stop` now, SIGTERM in 10 s, SIGKILL in 20 s; a second signal kills it\n";
    attached.hears(told).await;
    attached.hears("saving\n").await;
    let ended = wrapped.end().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(6), "saving\n"));
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[tokio::test]
async fn a_program_that_does_not_want_to_stop_is_killed() {
    let stage = Stage::new();
    let script = "trap '' TERM INT; echo deaf; while :; do sleep 1; done";
    let flags = ["--stop-command", "stop", "--stop-timeout", "0"];
    let wrapped = Wrapped::start(&stage, &flags, &["sh", "-c", script]).await;
    wrapped.attach().await.hears("deaf\n").await;
    wrapped.signal(Signal::TERM);
    assert_eq!(wrapped.end().await.code, Some(137));
    // The second signal does not wait for the time to pass.
    let mut wrapped = Wrapped::start(&stage, &["--stop-timeout", "1000"], &["sh", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    attached.hears("deaf\n").await;
    wrapped.signal(Signal::TERM);
    attached.hears("stopping the program: SIGTERM now, SIGKILL in 1000 s; a second signal kills it\n").await;
    wrapped.stdin().write_all(b"hello\n").await.unwrap();
    attached.hears("wrap: the program is being stopped; lines that come now are not sent\n").await;
    wrapped.signal(Signal::TERM);
    assert_eq!(wrapped.end().await.code, Some(137));
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let stage = Stage::new();
    let script = "sleep 1000 & setsid sleep 1000 & echo children $(pgrep -P $$ | tr '\\n' ' '); read -r line";
    for flags in [&[][..], &["--pty"]] {
        let wrapped = Wrapped::start(&stage, flags, &["sh", "-c", script]).await;
        let mut attached = wrapped.attach().await;
        attached.hears("children ").await;
        let children = attached.hears("\n").await;
        let children: Vec<i32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        assert!(children.len() >= 2, "{children:?}");
        let (program, socket) = (wrapped.pid, wrapped.socket.clone());
        wrapped.signal(Signal::KILL);
        assert_eq!(wrapped.end().await.code, None);
        for pid in children.into_iter().chain([program]) {
            goes(pid).await;
        }
        // The file of the socket is left, and no obstacle.
        assert!(socket.exists());
    }
}

#[tokio::test]
async fn lines_for_a_program_that_is_down_are_told_not_to_be_sent() {
    let stage = Stage::new();
    let mut wrapped = Wrapped::start(&stage, &["--restart", "always"], &["sh", "-c", "read -r line"]).await;
    let mut attached = wrapped.attach().await;
    // Each time it is down for twice as long.
    for pause in ["500 ms", "1000 ms", "2000 ms"] {
        attached.becomes_interactive(true).await;
        wrapped.stdin().write_all(b"one\n").await.unwrap();
        attached.hears(&format!("it is started again in {pause}")).await;
        attached.becomes_interactive(false).await;
    }
    wrapped.stdin().write_all(b"two\n").await.unwrap();
    attached.hears("wrap: the program is down; lines that come now are not sent").await;
}
