//! The server goes while `ask` waits: it is told, another one is started, and the turn goes on.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::auto::AutoStage;
use crate::pty::screen::OnTerminal;

/// Begins to reply, and never goes on.
const HANGS: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"Half of it.\\n\" }, { hang = true }]\n";

/// What the next server's model says.
const SAYS: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"The other half.\\n\" }]\n";

/// Asks before it writes.
const ASKS: &str = r#"
[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "one.txt", content = "new\n" } } }]

[[reply]]
repeat = true
parts = [{ text = "Written by the first." }]
"#;

fn started(stage: &AutoStage) -> OnTerminal {
    OnTerminal::start(&stage.0.command(&["ask", "work"]), 30, 100)
}

fn kill(stage: &AutoStage) -> i32 {
    let pid = stage.pid().expect("a server runs");
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    pid
}

/// Kills the next server after this one, as soon as there is one, unless nobody needs it any more.
fn kill_next(stage: &AutoStage, last: Option<i32>, asking: &mut Child) -> Option<i32> {
    while asking.try_wait().unwrap().is_none() {
        // One that is dying says nothing, one that comes up not yet who it is.
        let status: serde_json::Value =
            serde_json::from_str(&stage.0.run(&["status", "--json"]).stdout).unwrap_or_default();
        let pid = status["pid"].as_i64().map(|pid| i32::try_from(pid).unwrap());
        if let Some(pid) = pid.filter(|pid| *pid != 0 && Some(*pid) != last) {
            // One that went meanwhile need not be killed.
            let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
            return Some(pid);
        }
    }
    last
}

/// It still takes connections and what is written to them, and reads nothing.
fn freeze(stage: &AutoStage) -> Pid {
    let server = Pid::from_raw(stage.pid().expect("a server runs")).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    // Each thread stops in its own time, and one that has not yet may still read.
    while !threads(server).all(|stat| stat.contains(") T ")) {
        std::thread::yield_now();
    }
    server
}

/// What the system says of each thread of a process.
fn threads(process: Pid) -> impl Iterator<Item = String> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero())).unwrap();
    tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default())
}

#[test]
fn a_turn_that_was_cut_off_in_its_reply_goes_on_with_the_next_server() {
    let stage = AutoStage::playing(HANGS);
    let terminal = started(&stage);
    terminal.until("Half of it.");
    stage.0.write("script.toml", SAYS);
    let first = kill(&stage);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
    insta::assert_snapshot!(ended.shown.settled(), @"
    Half of it.
    <yellow bold>!<> The server is gone; waiting for it to come back. Ctrl-C twice leaves.
    <dim>The server is back.<>
    <dim>The turn was cut off; it goes on.<>

    The other half.
    <dim>scripted:script.toml · 0.0 s · SESSION<>
    ");
    assert_ne!(stage.pid(), Some(first));
}

#[test]
fn nothing_is_printed_twice_into_a_pipe() {
    let stage = AutoStage::playing(HANGS);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = stage.0.command(&["ask", "work"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let mut answer = String::new();
    until(&mut reader, &mut answer, "Half of it.\n");
    stage.0.write("script.toml", SAYS);
    kill(&stage);
    std::io::Read::read_to_string(&mut reader, &mut answer).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(answer, "Half of it.\n\nThe other half.\n", "{told}");
    for line in ["The server is gone; waiting", "The server is back.", "The turn was cut off; it goes on."] {
        assert_eq!(told.matches(line).count(), 1, "{told}");
    }
}

#[test]
fn a_question_is_still_open_at_the_next_server() {
    let stage = AutoStage::playing(ASKS);
    let terminal = started(&stage);
    terminal.until("o once");
    stage.0.write("script.toml", SAYS);
    kill(&stage);
    let shown = terminal.until_so("the question once more", |shown| {
        shown.has("The server is back.") && shown.current().contains("o once")
    });
    assert_eq!(shown.count("Change one.txt?"), 1, "{}", shown.text());
    assert!(!stage.0.path("project/one.txt").exists());
    terminal.press("o");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
    insta::assert_snapshot!(ended.shown.settled(), @"
    <bold>one.txt<> (new) <green>+1<> <red>-0<>
    <cyan>  @@ -0,0 +1,1 @@<>
    <green>  +new<>
    <magenta bold>?<> <bold>Change one.txt?<><dim> The agent's `write_file` call.<>
    <yellow bold>!<> The server is gone; waiting for it to come back. Ctrl-C twice leaves.
    <dim>The server is back.<>
      <green>yes<>
    <green>✓<> Write one.txt

    The other half.
    <dim>1 file changed · scripted:script.toml · 0.0 s · SESSION<>
    ");
    assert_eq!(stage.0.read("project/one.txt"), "new\n");
}

#[test]
fn an_answer_that_a_frozen_server_never_read_is_asked_for_again() {
    let stage = AutoStage::playing(ASKS);
    let terminal = started(&stage);
    terminal.until("o once");
    stage.0.write("script.toml", SAYS);
    let server = freeze(&stage);
    terminal.press("o");
    terminal.until("yes");
    kill_process(server, Signal::KILL).unwrap();
    terminal.until_so("the question once more", |shown| {
        shown.has("The server is back.") && shown.current().contains("o once")
    });
    assert!(!stage.0.path("project/one.txt").exists());
    terminal.press("o");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
    assert_eq!(stage.0.read("project/one.txt"), "new\n");
}

#[test]
fn a_prompt_is_answered_whenever_its_server_froze() {
    let stage = AutoStage::playing(SAYS);
    // How far the prompt has come when the server stops is chance; however far it is, the next one answers.
    for line in ["server.hello"; 4] {
        assert_eq!(stage.0.run(&["sessions", "list"]).code, Some(0));
        let server = Pid::from_raw(stage.pid().expect("a server runs")).unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = stage.0.command(&["ask", "--json", "work"]);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let mut lines = String::new();
        until(&mut reader, &mut lines, line);
        kill_process(server, Signal::STOP).unwrap();
        kill_process(server, Signal::KILL).unwrap();
        std::io::Read::read_to_string(&mut reader, &mut lines).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}\n{lines}");
        assert!(lines.contains("The other half."), "{lines}");
    }
}

#[test]
fn servers_that_are_killed_while_the_session_is_opened_are_followed_by_others() {
    let stage = AutoStage::playing(SAYS);
    // The first byte comes when the session is there and its stream is not: how far that has come is chance.
    for (round, kills) in [1, 2, 3, 1, 2, 3, 1, 2].into_iter().enumerate() {
        assert_eq!(stage.0.run(&["sessions", "list"]).code, Some(0));
        let (mut reader, writer) = std::io::pipe().unwrap();
        let prompt = format!("work-{round}");
        let mut command = stage.0.command(&["ask", "--json", &prompt]);
        let mut child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let mut lines = String::new();
        until(&mut reader, &mut lines, "{");
        let mut killed = None;
        for _ in 0..kills {
            killed = kill_next(&stage, killed, &mut child);
        }
        std::io::Read::read_to_string(&mut reader, &mut lines).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}\n{lines}");
        assert!(lines.contains("The other half."), "{lines}");
        let told = stage.0.run(&["sessions", "show", "--json"]).stdout;
        let is_prompt = |line: &&str| line.contains("\"client.echo\"") && line.contains(&prompt);
        assert_eq!(told.lines().filter(is_prompt).count(), 1, "{told}");
    }
}

#[test]
fn servers_that_are_killed_before_they_answer_are_followed_by_others() {
    let stage = AutoStage::playing(SAYS);
    for _ in 0..4 {
        let mut command = stage.0.command(&["ask", "work"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        kill_next(&stage, None, &mut child);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
        // One that was killed after the reply and before the end of the turn is followed by one that replies, too.
        assert!(output.stdout.ends_with(b"The other half.\n"), "{told}");
        assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    }
}

#[test]
fn a_server_that_dies_each_time_is_given_up_on() {
    let stage = AutoStage::playing(HANGS);
    let terminal = started(&stage);
    terminal.until("Half of it.");
    for times in 1..=3 {
        kill(&stage);
        terminal.until_so("it goes on", |shown| shown.count("it goes on") == times);
        terminal.until_so("half again", |shown| shown.count("Half of it.") == times + 1);
    }
    kill(&stage);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(9), true), "{}", ended.shown.text());
    assert!(ended.shown.has("hint: "), "{}", ended.shown.text());
}

#[test]
fn a_server_that_somebody_stopped_stays_stopped() {
    let stage = AutoStage::playing(HANGS);
    let terminal = started(&stage);
    terminal.until("Half of it.");
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(9), true), "{}", ended.shown.text());
    insta::assert_snapshot!(ended.shown.settled(), @"
    Half of it.
    <red bold>error:<> the server was stopped by `loggia stop`
    <cyan>hint:<> go on in the same session; nothing that was told is lost
    <dim>scripted:script.toml · 0.0 s · SESSION<>
    ");
    assert_eq!(stage.pid(), None);
    // Whoever wants it goes on.
    stage.0.write("script.toml", SAYS);
    let shown = stage.0.run(&["ask", "--continue", "go on"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "The other half.\n"), "{shown}");
}

#[test]
fn a_question_outlives_a_server_that_somebody_stopped() {
    let stage = AutoStage::playing(ASKS);
    let terminal = started(&stage);
    terminal.until("o once");
    stage.0.write("script.toml", SAYS);
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(9), true), "{}", ended.shown.text());
    assert!(!stage.0.path("project/one.txt").exists());
    let listed: serde_json::Value =
        serde_json::from_str(&stage.0.run(&["sessions", "list", "--json"]).stdout).unwrap();
    assert_eq!(listed["sessions"][0]["status"], "waiting_approval", "{listed}");
}

#[test]
fn whoever_does_not_want_to_wait_leaves() {
    let stage = AutoStage::playing(HANGS);
    let terminal = started(&stage);
    terminal.until("Half of it.");
    // No server can be started any more: its script is gone.
    std::fs::remove_file(stage.0.path("script.toml")).unwrap();
    kill(&stage);
    terminal.until("The server is gone");
    terminal.press("\x03");
    terminal.until("Ctrl-C again leaves.");
    terminal.press("\x03");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(7), true), "{}", ended.shown.text());
}

/// Reads until this was read.
fn until(reader: &mut impl std::io::Read, read: &mut String, end: &str) {
    let mut byte = [0];
    while !read.ends_with(end) {
        assert_eq!(reader.read(&mut byte).unwrap(), 1, "{read}");
        read.push(char::from(byte[0]));
    }
}
