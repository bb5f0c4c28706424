//! `loggia wrap`: what those hear who are attached, and what the program hears.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use loggia_endermux_io::Client;
use loggia_endermux_io::client::Said;
use loggia_protocol_endermux::ColorLevel;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

use crate::stage::Stage;
use crate::wrapped::{Wrapped, command, soon};

/// A small server: it says what it was told, and knows `stop`.
const SERVER: &str = r#"
echo '[12:00:00 INFO]: Done (1.2s)! For help, type "help"'
while read -r line; do
  case "$line" in
    stop) echo '[12:00:01 INFO]: Stopping'; exit 0 ;;
    say\ *) echo "[12:00:01 INFO]: <Server> ${line#say }" ;;
    warn) echo "[12:00:01 WARN]: Can't keep up" ;;
    *) echo "Unknown command: $line" >&2 ;;
  esac
done
"#;

/// A terminal that wants to hear everything and never reads.
async fn stalled(socket: &Path) -> UnixStream {
    let subscribe = r#"{"type":"LOG_SUBSCRIBE","data":{}}"#;
    connect(socket, r#"{"log_forward":{"min":1,"max":1}}"#, "log_forward", subscribe).await
}

/// A terminal of these capabilities that says one thing.
async fn connect(socket: &Path, capabilities: &str, required: &str, says: &str) -> UnixStream {
    let hello = format!(
        r#"{{"type":"HELLO","requestId":"h","data":{{"transportEpoch":15,"colorLevel":"NONE","capabilities":{capabilities},"requiredCapabilities":["{required}"]}}}}"#
    );
    let mut stream = UnixStream::connect(socket).await.unwrap();
    for message in [hello.as_str(), says] {
        stream.write_u32(message.len().try_into().unwrap()).await.unwrap();
        stream.write_all(message.as_bytes()).await.unwrap();
    }
    stream
}

fn server() -> [&'static str; 3] {
    ["sh", "-c", SERVER]
}

#[tokio::test]
async fn everybody_hears_what_is_said_and_who_said_it() {
    let stage = Stage::new();
    let wrapped = Wrapped::start(&stage, &[], &server()).await;
    let (mut first, mut second) = (wrapped.attach().await, wrapped.attach().await);
    second.hears("Done (1.2s)!").await;
    first.client.execute("say hi").await.unwrap();
    for attached in [&mut first, &mut second] {
        let heard = attached.hears("<Server> hi\n").await;
        assert!(heard.ends_with("[client 1] > say hi\n[12:00:01 INFO]: <Server> hi\n"), "{heard}");
    }
    second.client.execute("nonsense").await.unwrap();
    let heard = first.hears("Unknown command: nonsense\n").await;
    assert!(heard.contains("[client 2] > nonsense\n"), "{heard}");
    first.client.execute("stop").await.unwrap();
    let ended = wrapped.end().await;
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.ends_with("<Server> hi\n[12:00:01 INFO]: Stopping\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("[client 1] > say hi\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("Unknown command: nonsense\n"), "{}", ended.stderr);
    assert!(second.rest().await.contains("wrap: the program ended with exit status 0\n"));
}

#[tokio::test]
async fn what_is_typed_here_is_a_line_like_any_other() {
    let stage = Stage::new();
    let mut wrapped = Wrapped::start(&stage, &[], &server()).await;
    let mut attached = wrapped.attach().await;
    wrapped.stdin().write_all(b"say typed\n").await.unwrap();
    let heard = attached.hears("<Server> typed\n").await;
    assert!(heard.contains("[terminal] > say typed\n"), "{heard}");
    // The end of what is typed is not the end of the program.
    wrapped.close_stdin();
    attached.client.execute("say still here").await.unwrap();
    attached.hears("<Server> still here\n").await;
    attached.client.execute("stop").await.unwrap();
    let ended = wrapped.end().await;
    assert!(!ended.stderr.contains("[terminal]"), "who typed it has seen it: {}", ended.stderr);
}

#[tokio::test]
async fn the_end_of_our_input_is_its_end_if_that_is_asked_for() {
    let stage = Stage::new();
    for flags in [&["--stdin-eof"][..], &["--stdin-eof", "--pty"]] {
        let mut wrapped = Wrapped::start(&stage, flags, &["sh", "-c", "cat; echo ended"]).await;
        wrapped.stdin().write_all(b"one\ntwo\n").await.unwrap();
        wrapped.close_stdin();
        let ended = wrapped.end().await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "one\ntwo\nended\n"), "{flags:?}");
    }
}

#[tokio::test]
async fn levels_have_colours_where_a_terminal_has_them() {
    let stage = Stage::new();
    let wrapped = Wrapped::start(&stage, &["--stderr-level", "error"], &server()).await;
    let mut coloured = wrapped.attach_with(ColorLevel::Indexed16).await;
    let mut plain = wrapped.attach().await;
    plain.client.execute("warn").await.unwrap();
    plain.hears("\n[12:00:01 WARN]: Can't keep up\n").await;
    plain.client.execute("what").await.unwrap();
    let heard = plain.hears("Unknown command: what\n").await;
    assert!(heard.ends_with("\n[ERROR]: Unknown command: what\n"), "{heard}");
    let heard = coloured.hears("Unknown command: what\n").await;
    assert!(heard.contains("\u{1b}[33;1m[12:00:01 WARN]:\u{1b}[m Can't keep up\n"), "{heard}");
    assert!(heard.contains("\u{1b}[31;1m[ERROR]:\u{1b}[m Unknown"), "{heard}");
}

#[tokio::test]
async fn a_prompt_without_a_line_end_is_seen() {
    let stage = Stage::new();
    let script = r#"printf 'name? '; read -r name; printf 'hello %s\n' "$name"; read -r more"#;
    let wrapped = Wrapped::start(&stage, &[], &["sh", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    attached.hears("name? \n").await;
    attached.client.execute("bob").await.unwrap();
    attached.hears("hello bob\n").await;
}

#[tokio::test]
async fn a_repl_answers() {
    let stage = Stage::new();
    for flags in [&[][..], &["--pty"]] {
        let wrapped = Wrapped::start(&stage, flags, &["python3", "-i", "-q"]).await;
        let mut attached = wrapped.attach().await;
        attached.hears(">>> ").await;
        attached.client.execute("print(6 * 7)").await.unwrap();
        attached.hears("print(6 * 7)\n").await;
        let heard = attached.hears("42\n").await;
        assert!(!heard.contains("print"), "echoed: {heard}");
        attached.client.execute("raise SystemExit(3)").await.unwrap();
        assert_eq!(wrapped.end().await.code, Some(3), "{flags:?}");
    }
}

#[tokio::test]
async fn a_repl_hears_the_empty_line_that_ends_a_block() {
    let stage = Stage::new();
    let wrapped = Wrapped::start(&stage, &[], &["python3", "-i", "-q"]).await;
    let socket = wrapped.socket.to_str().unwrap();
    let block = b"for i in range(2):\n    print('number', i)\n\n";
    let shown = stage.finish(stage.command(&["attach", "-s", socket]), block);
    assert!(shown.code == Some(0) && shown.stdout.contains("number 0\nnumber 1\n"), "{shown}");
    let attached = wrapped.attach().await;
    attached.client.execute("raise SystemExit(3)").await.unwrap();
    assert_eq!(wrapped.end().await.code, Some(3));
}

#[tokio::test]
async fn a_program_that_wants_a_terminal_has_one() {
    let stage = Stage::new();
    let script = "test -t 0 && test -t 1 && test -t 2 && stty size && tty; read -r line";
    let wrapped = Wrapped::start(&stage, &["--pty", "--size", "30x99"], &["sh", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    let heard = attached.hears("/dev/pts/").await;
    assert!(heard.contains("30 99\n"), "{heard}");
    // It is its own: a shell can control jobs there.
    let wrapped = Wrapped::start(&stage, &["--pty", "--name", "shell"], &["bash", "--norc", "-i"]).await;
    let mut attached = wrapped.attach().await;
    attached.client.execute("sleep 1000 & jobs; echo $-").await.unwrap();
    attached.hears("sleep 1000 & jobs; echo $-\n").await;
    let heard = attached.hears("Running").await + &attached.hears("sleep 1000").await;
    assert!(!heard.contains("no job control"), "{heard}");
    attached.client.execute("exit 5").await.unwrap();
    // Bash may remind of the job first.
    attached.client.execute("exit 5").await.unwrap();
    assert_eq!(wrapped.end().await.code, Some(5));
}

#[tokio::test]
async fn completion_knows_the_list_and_what_was_sent_before_also_the_next_time() {
    let stage = Stage::new();
    let words = stage.write("words", "# commands\nstop\ngamemode creative\ngamemode survival\n");
    let history = stage.path("history");
    let flags =
        ["--words", words.to_str().unwrap(), "--word", "whitelist", "--history", history.to_str().unwrap()];
    let wrapped = Wrapped::start(&stage, &flags, &["cat"]).await;
    let mut attached = wrapped.attach_with(ColorLevel::Indexed8).await;
    assert_eq!(attached.completes("").await, "gamemode stop whitelist");
    assert_eq!(attached.completes("gamemode c").await, "creative");
    assert_eq!(attached.completes("say ").await, "");
    let highlighted = soon(attached.client.highlight("stop now")).await.unwrap();
    assert_eq!(highlighted, "\u{1b}[32mstop\u{1b}[m now");
    attached.client.execute("say hello").await.unwrap();
    attached.hears("> say hello\n").await;
    assert_eq!(attached.completes("say ").await, "hello");
    wrapped.signal(rustix::process::Signal::KILL);
    wrapped.end().await;
    let wrapped = Wrapped::start(&stage, &flags, &["cat"]).await;
    assert_eq!(wrapped.attach().await.completes("s").await, "say stop");
    assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_command_that_is_waited_for_gets_what_the_program_says() {
    let stage = Stage::new();
    let wrapped = Wrapped::start(&stage, &[], &server()).await;
    let mut attached = wrapped.attach().await;
    attached.hears("Done").await;
    let waiting = wrapped.connect(ColorLevel::None).await;
    let said = "[12:00:01 INFO]: <Server> one\n[12:00:01 INFO]: <Server> two\n";
    assert_eq!(output(&waiting.client, "say one\nsay two").await, said);
    // Whoever has the log gets it there, and once.
    attached.hears("two\n").await;
    assert_eq!(output(&attached.client, "say three").await, "");
    attached.hears("<Server> three\n").await;
}

#[tokio::test]
async fn the_command_that_ends_the_program_is_answered() {
    let stage = Stage::new();
    let say =
        r#"read -r line; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i"; done; printf 'no end'"#;
    for (program, said) in [(SERVER, "[12:00:01 INFO]: Stopping\n"), (say, "\nline 3000\nno end\n")] {
        let wrapped = Wrapped::start(&stage, &[], &["sh", "-c", program]).await;
        let socket = wrapped.socket.to_str().unwrap();
        let shown = stage.finish(stage.command(&["attach", "-s", socket, "-c", "stop"]), b"");
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown}");
        assert!(shown.stdout.ends_with(said), "{shown}");
        assert_eq!(wrapped.end().await.code, Some(0));
    }
}

#[tokio::test]
async fn who_waits_for_an_answer_and_does_not_read_it_holds_nobody_up() {
    let stage = Stage::new();
    let script = "import sys\nsys.stdin.readline()\nfor n in range(100000): print(n, 'x' * 100)";
    let wrapped = Wrapped::start(&stage, &["--quiet"], &["python3", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    let capabilities = r#"{"command_execute":{"min":1,"max":1},"loggia_result":{"min":1,"max":1}}"#;
    let go = r#"{"type":"COMMAND_EXECUTE","requestId":"1","data":{"command":"go"}}"#;
    let stalled = connect(&wrapped.socket, capabilities, "command_execute", go).await;
    attached.hears("\n99999 xxx").await;
    assert_eq!(wrapped.end().await.code, Some(0));
    drop(stalled);
}

/// What a command says to whoever waits for it.
async fn output(client: &Client, command: &str) -> String {
    let mut running = client.run(command).await.unwrap();
    let mut output = String::new();
    loop {
        match soon(running.next()).await.unwrap().unwrap() {
            Said::Output(text) => output.push_str(&text),
            Said::Ended { status } => {
                assert_eq!(status, 0);
                return output;
            }
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_and_huge_lines_arrive_and_escape_sequences_do_not() {
    let stage = Stage::new();
    let script = r"read -r go; printf 'a\377b\n\033[2Jclean\n'; head -c 2000000 /dev/zero | tr '\0' x; echo; echo end; read -r end";
    let wrapped = Wrapped::start(&stage, &[], &["sh", "-c", script]).await;
    let mut attached = wrapped.attach().await;
    attached.client.execute("go").await.unwrap();
    attached.hears("a\\xffb\nclean\n").await;
    let heard = attached.hears("\nend\n").await;
    assert_eq!(heard.matches('x').count(), 2_000_000);
    assert!(heard.lines().all(|line| line.len() <= 160 * 1024), "cut into several");
    wrapped.signal(rustix::process::Signal::TERM);
    let ended = wrapped.end().await;
    assert!(
        ended.stdout.starts_with("a\u{fffd}b\n\u{1b}[2Jclean\nxxx"),
        "our own stdout gets every byte as it is"
    );
}

#[tokio::test]
async fn a_terminal_that_does_not_read_holds_nobody_up() {
    let stage = Stage::new();
    let script = "import sys\nsys.stdin.readline()\nline = 'x' * 100\n\
                  for n in range(200000): print(n, line)\nprint('flooded', flush=True)\nsys.stdin.readline()";
    let wrapped = Wrapped::start(&stage, &["--quiet"], &["python3", "-c", script]).await;
    let stalled = stalled(&wrapped.socket).await;
    let mut attached = wrapped.attach().await;
    attached.client.execute("go").await.unwrap();
    // Twenty megabytes come to an end, whoever reads or does not.
    attached.hears("flooded\n").await;
    assert_eq!(attached.completes("").await, "go");
    let memory = std::fs::read_to_string(format!("/proc/{}/status", wrapped.wrap_pid())).unwrap();
    let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 150_000, "{peak} kB");
    attached.client.execute("end").await.unwrap();
    let ended = wrapped.end().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    drop(stalled);
}

#[tokio::test]
async fn a_program_that_does_not_read_is_told_no_more_than_it_can_be() {
    let stage = Stage::new();
    let wrapped = Wrapped::start(&stage, &["--quiet"], &["sleep", "1000"]).await;
    let mut attached = wrapped.attach().await;
    let line = "x".repeat(10_000);
    // A pipe's worth, a queue's worth, and one.
    for _ in 0..400 {
        attached.client.execute(&line).await.unwrap();
    }
    attached.hears("the program does not read its input; the line was not sent").await;
    attached.client.execute(&"x".repeat(100_000)).await.unwrap();
    attached.hears("the line is over 65536 bytes and was not sent").await;
}

#[tokio::test]
async fn the_socket_is_the_owners_alone_and_a_live_one_is_left_alone() {
    let stage = Stage::new();
    let wrapped = Wrapped::start(&stage, &["--name", "one"], &["cat"]).await;
    assert!(wrapped.socket.ends_with("wrap-one.sock"), "{}", wrapped.socket.display());
    assert_eq!(wrapped.socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let second = stage.finish(command(&stage, &["--name", "one"], &["sh", "-c", "echo ran"]), b"");
    assert_eq!((second.code, second.stdout.as_str()), (Some(5), ""), "{second}");
    assert!(second.stderr.contains("error: somebody already listens on"), "{second}");
    assert!(second.stderr.contains("hint: attach to it with `loggia attach -s"), "{second}");
    wrapped.attach().await;
}
