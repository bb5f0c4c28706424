//! One server at a time: how it is found, stopped, killed and started again.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::server::Server;
use crate::stage::Stage;

#[test]
fn without_a_server_status_says_so_and_stop_has_nothing_to_do() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.run(&["status"]), @r"
    exit: 5
    --- stdout
    no server runs
    [END]
    ");
    insta::assert_snapshot!(stage.run(&["status", "--json"]), @r#"
    exit: 5
    --- stdout
    {"running":false}
    [END]
    "#);
    insta::assert_snapshot!(stage.run(&["stop"]), @r"
    exit: 0
    --- stdout
    no server runs
    [END]
    ");
}

#[test]
fn a_server_is_found_and_stopped() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let shown = stage.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown.code, Some(0), "{shown}");
    assert_eq!(
        (&status["running"], &status["pid"], &status["status"]),
        (&true.into(), &server.pid().into(), &"ok".into())
    );
    assert_eq!(status["url"], server.ready["url"]);
    let shown = stage.run(&["status"]);
    assert!(shown.stdout.starts_with(&format!("running at {}\n", server.field("url"))), "{shown}");
    assert!(shown.stdout.contains("store ok, index absent, model absent"), "{shown}");

    let shown = stage.run(&["stop", "--json"]);
    assert_eq!(shown.stdout, format!("{{\"was_running\":true,\"pid\":{}}}\n", server.pid()));
    let socket = server.socket();
    assert_eq!(server.wait(), (Some(0), String::new(), String::new()));
    assert!(!socket.exists(), "nobody shall knock in vain");
    assert_eq!(stage.run(&["status"]).code, Some(5));
}

#[test]
fn a_broken_configuration_does_not_hide_a_server() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    stage.user_file("this is not TOML");
    assert_eq!(stage.run(&["status"]).code, Some(0));
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    assert_eq!(server.wait().0, Some(0));
}

#[test]
fn a_second_server_is_told_of_the_first() {
    let stage = Stage::new();
    let first = Server::start(&stage, &[]);
    let shown = stage.run(&["serve", "--addr", "127.0.0.1:0"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(5), ""));
    let expected = format!(
        "error: a daemon is running already: process {} at {}\n\n\
         hint: `loggia open` shows its page, `loggia status` tells more about it, `loggia stop` stops it\n",
        first.pid(),
        first.field("url")
    );
    assert_eq!(shown.stderr, expected);
    assert_eq!(stage.run(&["status"]).code, Some(0), "the first is as it was");
    first.end();
}

#[test]
fn after_a_kill_the_next_one_takes_its_place() {
    let stage = Stage::new();
    let first = Server::start(&stage, &[]);
    let socket = first.socket();
    first.signal(Signal::KILL);
    assert_eq!(first.wait().0, None);
    assert!(socket.exists(), "it had no time to tidy up");
    assert_eq!(stage.run(&["status"]).code, Some(5), "what it left does not count as a server");
    let second = Server::start(&stage, &[]);
    assert_eq!(second.socket(), socket);
    assert!(second.get_locally("/v1/health").starts_with("HTTP/1.1 200 "));
    second.end();
}

#[test]
fn a_signal_ends_idle_connections_and_then_the_server() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let mut idle = TcpStream::connect(server.address()).unwrap();
    idle.write_all(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut begun = [0; 15];
    idle.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200 OK");
    server.end();
    // What was answered can still be read, to its end.
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("uptime_ms"));
}

/// A request that is under way: the server has said that it waits for the body.
fn begin_request(server: &Server) -> TcpStream {
    const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = "POST /v1/pair HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 2\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut said = [0; GO_ON.len()];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(said, GO_ON);
    stream
}

/// Waits until a server no longer accepts.
fn until_closed(socket: &Path) {
    while UnixStream::connect(socket).is_ok() {
        std::thread::yield_now();
    }
}

#[test]
fn a_request_under_way_is_answered_before_the_server_ends() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let mut under_way = begin_request(&server);
    server.signal(Signal::TERM);
    until_closed(&server.socket());
    under_way.write_all(b"{}").unwrap();
    let mut answer = String::new();
    under_way.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert_eq!(server.wait(), (Some(0), String::new(), String::new()));
}

#[test]
fn a_second_signal_ends_everything_at_once() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let _under_way = begin_request(&server);
    server.signal(Signal::TERM);
    until_closed(&server.socket());
    server.signal(Signal::TERM);
    let (code, _, stderr) = server.wait();
    assert_eq!(code, Some(1));
    assert_eq!(stderr, "error: stopped without waiting for what was under way\n");
}

#[test]
fn two_servers_cannot_have_the_same_data() {
    let stage = Stage::new();
    let first = Server::start(&stage, &[]);
    let elsewhere = stage.path("elsewhere");
    let variable = ("LOGGIA_RUNTIME_DIR", elsewhere.to_str().unwrap());
    let shown = stage.run_with(&[variable], &["serve", "--addr", "127.0.0.1:0"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    let pid = first.pid();
    let expected = format!("cause: the store is in use by another process ({pid})\n");
    assert!(shown.stderr.contains(&expected), "{shown}");
    first.end();
}

#[test]
fn a_detached_server_stays_when_its_starter_goes() {
    let stage = Stage::new();
    let shown = stage.run(&["serve", "--detach", "--json", "--addr", "127.0.0.1:0"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown}");
    let ready: Value = serde_json::from_str(&shown.stdout).unwrap();
    let status: Value = serde_json::from_str(&stage.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(status["url"], ready["url"]);
    let refused = stage.run(&["serve", "--detach", "--addr", "127.0.0.1:0"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(5), ""));
    assert!(refused.stderr.starts_with("error: a daemon is running already"), "{refused}");
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    let log = stage.path("home/.local/share/loggia/daemon.log");
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(stage.run(&["status"]).code, Some(5));
}

#[test]
fn a_server_that_does_not_answer_is_told_and_can_still_be_stopped() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    std::fs::remove_file(server.socket()).unwrap();
    let shown = stage.run(&["status"]);
    assert_eq!(shown.code, Some(5));
    assert!(shown.stderr.starts_with("error: the daemon does not answer: process"), "{shown}");
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    assert_eq!(server.wait().0, Some(0));
}
