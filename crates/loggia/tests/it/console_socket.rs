//! The server's console: its socket, and terminals at it.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use loggia_endermux_io::client::{Options, Said};
use loggia_endermux_io::{Client, Event, Events};
use loggia_protocol_endermux::ColorLevel;
use rustix::process::Signal;
use serde_json::Value;

use crate::server::Server;
use crate::stage::Stage;
use crate::turn;

/// Far longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

const HELLO: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"I am a script.\\n\" }]";

fn start(stage: &Stage, script: &str) -> Server {
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    turn::start_playing(script, stage, &[], &[])
}

async fn terminal(server: &Server) -> (Client, Events) {
    let options = Options::new(ColorLevel::None);
    let (client, events) =
        Client::connect(Path::new(server.field("console_socket")), &options).await.unwrap();
    client.subscribe().await.unwrap();
    client.ping().await.unwrap();
    (client, events)
}

/// What a command says, with its status at the end.
async fn run(client: &Client, command: &str) -> String {
    let mut running = client.run(command).await.unwrap();
    let mut text = String::new();
    while let Some(said) = tokio::time::timeout(PATIENCE, running.next()).await.unwrap() {
        match said.unwrap() {
            Said::Output(output) => text += &output,
            Said::Ended { status } => text += &format!("[{status}]"),
        }
    }
    text
}

/// Everything that is heard until a text comes.
async fn until(events: &mut Events, text: &str) -> String {
    let mut heard = String::new();
    while !heard.contains(text) {
        match tokio::time::timeout(PATIENCE, events.next()).await.unwrap() {
            Some(Event::Log(log)) => heard += &log,
            Some(Event::Interactivity(_)) => {}
            other => panic!("{other:?} instead of {text:?} after\n{heard}"),
        }
    }
    heard
}

#[test]
fn it_is_told_and_only_its_owner_can_use_it() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let socket = server.field("console_socket").to_owned();
    let file = std::fs::metadata(&socket).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    assert_eq!(Path::new(&socket), server.socket().with_file_name("console.sock"));
    let status: Value = serde_json::from_str(&stage.run(&["status", "--json"]).stdout).unwrap();
    let told = "[STAGE]/home/.local/share/loggia/run/console.sock";
    assert_eq!(status["console_socket"], told);
    assert!(stage.run(&["status"]).stdout.contains(&format!("\n  console   {told}\n")));
    server.end();
    assert!(!Path::new(&socket).exists());
}

#[test]
fn a_client_in_python_is_served() {
    let stage = Stage::new();
    let server = start(&stage, HELLO);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/python/console.py");
    let mut python = stage.program("/usr/bin/env");
    python.arg("python3").arg(script).arg(server.field("console_socket"));
    python.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("PYTHONUTF8", "1");
    let told = stage.finish(python, b"");
    assert_eq!(told.stderr, "");
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(lines[..4], ["WELCOME True", "lev 3 ['log', 'lev']", "['level']", "use 😀"]);
    assert!(lines[4].contains(" is asked by console 1: Who are you?'"), "{}", told.stdout);
    assert!(lines[4].contains(" │ I am a script.'"), "{}", told.stdout);
    assert_eq!(lines[5..], ["True", "False", "closed"]);
    assert_eq!(server.wait().0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_answers_what_a_web_client_is_asked() {
    let stage = Stage::new();
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    let server = turn::start(&stage, &[], &[]);
    let (client, mut events) = terminal(&server).await;
    let web = turn::client(&server);
    let session = turn::session(&stage, &web).await;
    let mut stream = web.follow(&session).named("tester", "1").open().await.unwrap();
    assert!(run(&client, &format!("use {}", session.0)).await.ends_with("[0]"));
    stream.speaker().prompt("Go").await.unwrap();
    turn::until_asked(&mut stream).await;
    let heard = until(&mut events, "answer with").await;
    assert!(heard.contains(" asks to run `echo very-private-word` ("), "{heard}");
    let short = heard.split_once(", question ").unwrap().1[..6].to_owned();
    assert_eq!(run(&client, &format!("approve {short}")).await, format!("question {short} was allowed\n[0]"));
    turn::until_final(&mut stream).await;
    let heard = until(&mut events, "is done").await;
    assert!(heard.contains(" was allowed by console 1\n"), "{heard}");
    assert!(heard.contains(" ┆ very-private-word\n") && heard.contains(" │ very-private-word\n"), "{heard}");
    stream.close().await;
    assert_eq!(run(&client, "stop").await, "the daemon stops\n[0]");
    let ended = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(ended.0, Some(0), "{ended:?}");
}

#[test]
fn a_socket_that_a_killed_server_left_is_replaced() {
    let stage = Stage::new();
    let first = start(&stage, "");
    let socket = first.field("console_socket").to_owned();
    first.signal(Signal::KILL);
    first.wait();
    assert!(Path::new(&socket).exists() && UnixStream::connect(&socket).is_err());
    let second = start(&stage, "");
    UnixStream::connect(&socket).unwrap();
    second.end();
}

/// Commands do not even see the socket. What opens a browser does, and tells here what came of knocking.
#[test]
fn what_the_server_started_is_not_let_in() {
    const KNOCK: &str = r"#!/usr/bin/env python3
import socket

def connected(path):
    stream = socket.socket(socket.AF_UNIX)
    # Whoever is let in has two seconds to say hello; others are closed at once.
    stream.settimeout(1)
    stream.connect(path)
    return stream

try:
    told = 'read %d' % len(connected('CONSOLE').recv(1))
except Exception as error:
    told = repr(error)
connected('RESULT').sendall(told.encode())
";
    let stage = Stage::new();
    let (console, result) =
        (stage.path("home/.local/share/loggia/run/console.sock"), stage.path("result.sock"));
    let listener = UnixListener::bind(&result).unwrap();
    let script =
        KNOCK.replace("CONSOLE", console.to_str().unwrap()).replace("RESULT", result.to_str().unwrap());
    let opener = stage.write("bin/xdg-open", script);
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", stage.path("bin").display(), std::env::var("PATH").unwrap());
    let server = Server::start_with(&stage, &[("PATH", &path)], &["--open"]);
    let mut told = String::new();
    listener.accept().unwrap().0.read_to_string(&mut told).unwrap();
    assert_eq!(told, "read 0");
    server.signal(Signal::TERM);
    let (code, _, stderr) = server.wait();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("a local connection was refused"), "{stderr}");
}

#[test]
fn a_terminal_keeps_a_server_that_would_leave() {
    const IDLE: Duration = Duration::from_millis(100);
    let stage = Stage::new();
    let server = Server::spawn(stage.command(&["serve", "--auto", "--idle-exit-ms", "100", "--json"]));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let there = runtime.block_on(terminal(&server));
    let since = Instant::now();
    while since.elapsed() < 4 * IDLE {
        assert!(UnixStream::connect(server.socket()).is_ok(), "it left");
    }
    drop((there, runtime));
    assert_eq!(server.wait().0, Some(0));
}
