//! `loggia attach` without a terminal: commands, pipes, and what goes wrong.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::auto::AutoStage;
use crate::console::ConsoleStage;

#[test]
fn a_command_prints_and_its_status_is_the_exit_code() {
    let stage = ConsoleStage::new();
    let run = |arguments: &[&str]| stage.stage.finish(stage.command(arguments), b"");
    let shown = run(&["-c", "print hello"]);
    assert_eq!((shown.code, shown.stdout.as_str(), shown.stderr.as_str()), (Some(0), "hello\n", ""));
    let shown = run(&["-c", "print one", "-c", "exit 42", "-c", "print two"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(42), "one\n"));
    let shown = run(&["--json", "-c", "exit 3"]);
    assert_eq!(
        (shown.code, shown.stdout.as_str()),
        (Some(3), "{\"command\":\"exit 3\",\"output\":\"\",\"status\":3}\n")
    );
    let shown = run(&["-c", "nonsense"]);
    insta::assert_snapshot!(shown, @r"
    exit: 5
    --- stderr
    error: Failed to execute command: there is no nonsense

    hint: `help` tells the commands of most servers
    [END]
    ");
}

#[test]
fn each_line_of_a_pipe_is_a_command_and_its_end_is_the_end() {
    let stage = ConsoleStage::new();
    let shown = stage.stage.finish(stage.command(&[]), b"print one\nexit 9\n\nprint two");
    assert_eq!((shown.code, shown.stdout.as_str(), shown.stderr.as_str()), (Some(9), "one\ntwo\n", ""));
    let shown = stage.stage.finish(stage.command(&[]), b"");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), ""));
}

#[test]
fn what_is_printed_has_no_control_codes() {
    let stage = ConsoleStage::new();
    let shown =
        stage.stage.finish(stage.command(&[]), "print a\u{1b}[2Jb\u{1b}[31mc\u{1b}]0;x\u{7}d\n".as_bytes());
    assert_eq!(shown.stdout, "abcd\n");
}

#[test]
fn nobody_there_is_not_reachable_and_wrong_flags_are_wrong_usage() {
    let stage = ConsoleStage::without_server();
    let shown = stage.stage.finish(stage.command(&["-c", "x"]), b"");
    insta::assert_snapshot!(shown, @r"
    exit: 5
    --- stderr
    error: nobody listens on `[STAGE]/console.sock`
      cause: No such file or directory (os error 2)

    hint: start the server, or name its socket with `-s SOCKET`; without `-s` it is Loggia's own, which is started
    [END]
    ");
    for arguments in [&["--grep", "("][..], &["--level", "loud"], &["--read-only", "-c", "x"], &["-c", ""]] {
        let shown = stage.stage.finish(stage.command(arguments), b"");
        assert_eq!(shown.code, Some(2), "{arguments:?} {shown}");
    }
}

#[test]
fn who_only_reads_follows_in_plain_lines_until_it_is_told_to_end() {
    let stage = ConsoleStage::new();
    let mut command = stage.command(&["--read-only", "--level", "warn"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    stage.until_subscribed(1);
    stage.console().broadcast("[INFO] no\n");
    stage.console().broadcast("\u{1b}[33m[WARN] yes\u{1b}[m\n");
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "[WARN] yes\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn the_server_is_started_and_its_console_answers() {
    let stage = AutoStage::new();
    let new = format!("new {}", stage.0.path("project").display());
    let shown = stage.0.run(&["attach", "-c", &new, "-c", "ask who is there?"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.stdout.ends_with("\nHello from the script.\n"), "{shown}");
    let shown = stage.0.finish(stage.0.command(&["attach"]), b"sessions\nno-such-command\n");
    assert!(shown.stdout.contains("idle     project"), "{shown}");
    assert_eq!(shown.code, Some(2), "{shown}");
}
