//! The server's socket for clients of the rpc door.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rpc_agent::HANG;
use crate::server::Server;
use crate::stage::Stage;
use crate::turn;

/// Far longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

const GET_STATE: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"autohand.getState\"}\n";

/// A connection to the socket.
struct Line {
    stream: BufReader<UnixStream>,
}

impl Line {
    fn open(server: &Server) -> Self {
        let stream = UnixStream::connect(server.field("rpc_socket")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    fn say(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The answer to the question above.
    fn state(&mut self) -> Value {
        self.say(GET_STATE);
        self.answer()
    }

    fn answer(&mut self) -> Value {
        loop {
            let message = self.next();
            if message.get("id") == Some(&json!(1)) {
                return message.get("result").unwrap_or(&message["error"]).clone();
            }
        }
    }

    /// Closes this side; what comes then, line by line.
    fn leave(mut self) -> Vec<String> {
        self.stream.get_mut().shutdown(Shutdown::Write).unwrap();
        self.rest()
    }

    fn rest(self) -> Vec<String> {
        self.stream.lines().map(Result::unwrap).collect()
    }
}

fn start(stage: &Stage, script: &str) -> Server {
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    turn::start_playing(script, stage, &[], &[])
}

#[test]
fn it_is_told_and_only_its_owner_can_use_it() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let socket = server.field("rpc_socket").to_owned();
    let file = std::fs::metadata(&socket).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::path::Path::new(&socket), server.socket().with_file_name("rpc.sock"));
    let status: Value = serde_json::from_str(&stage.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(status["rpc_socket"], "[STAGE]/home/.local/share/loggia/run/rpc.sock");
    assert!(
        stage
            .run(&["status"])
            .stdout
            .contains("\n  rpc       [STAGE]/home/.local/share/loggia/run/rpc.sock\n")
    );
    server.end();
    assert!(!std::path::Path::new(&socket).exists());
}

#[test]
fn without_a_preamble_defaults_apply_and_the_last_line_tells_the_exit_code() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let mut line = Line::open(&server);
    assert_eq!(line.state()["workspace"], stage.path("project").to_str().unwrap());
    let rest = line.leave();
    let [.., last, farewell] = &rest[..] else { panic!("{rest:?}") };
    assert!(last.contains("autohand.agentEnd"), "{rest:?}");
    assert_eq!(farewell, r#"{"loggia":1,"exit":0}"#);
    server.end();
}

#[test]
fn a_preamble_says_where_and_how_the_agent_was_started() {
    let stage = Stage::new();
    stage.write("project/other/file.txt", "x");
    let server = start(&stage, "");
    let mut line = Line::open(&server);
    let cwd = stage.path("project/other");
    let preamble = json!({"loggia": 1, "cwd": cwd, "argv": ["--mode", "rpc", "--yolo", "nonsense"]});
    line.say(&format!("{preamble}\n{GET_STATE}"));
    assert_eq!(line.answer()["code"], -32603);
    let rest = line.leave();
    assert!(rest.last().unwrap().starts_with(r#"{"loggia":1,"exit":1,"reason":"#), "{rest:?}");
    let mut line = Line::open(&server);
    line.say(&format!(
        "{}\n",
        json!({"loggia": 1, "cwd": cwd, "argv": [], "env": {"AUTOHAND_CLIENT_NAME": "me"}})
    ));
    assert_eq!(line.state()["workspace"], cwd.to_str().unwrap());
    line.leave();
    server.end();
}

#[test]
fn a_preamble_that_cannot_be_taken_is_refused_and_the_next_one_is_served() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let too_long = format!("{{\"loggia\":1,\"client\":\"{}\"}}\n", "x".repeat(17 * 1024 * 1024));
    for (preamble, why) in [
        ("{\"loggia\":2}\n", "control version"),
        ("{\"loggia\":\"x\"}\n", "cannot be understood"),
        (too_long.as_str(), "longer than"),
    ] {
        let mut line = Line::open(&server);
        // It may be refused before all of it is sent.
        let _ = line.stream.get_mut().write_all(preamble.as_bytes());
        let refusal = line.next();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32010)));
        assert!(refusal["error"]["message"].as_str().unwrap().contains(why), "{refusal}");
    }
    let line = Line::open(&server).state();
    assert_eq!(line["status"], "idle");
    server.end();
}

#[test]
fn headers_are_answered_with_headers() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let mut line = Line::open(&server);
    let body = GET_STATE.trim_end();
    line.say(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    let rest = line.leave().join("\n");
    assert!(rest.starts_with("Content-Length: ") && rest.contains("\"status\":\"idle\""), "{rest}");
    assert!(rest.ends_with("}}{\"loggia\":1,\"exit\":0}"), "{rest}");
    server.end();
}

#[test]
fn a_server_that_stops_lets_connections_end_in_order() {
    let stage = Stage::new();
    let server = start(&stage, HANG);
    let mut line = Line::open(&server);
    line.state();
    line.say(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"autohand.prompt\",\"params\":{\"message\":\"Go\"}}\n",
    );
    while line.next()["method"] != "autohand.messageUpdate" {}
    server.end();
    let rest = line.rest();
    assert_eq!(rest.last().unwrap(), r#"{"loggia":1,"exit":0}"#, "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("autohand.turnEnd")), "{rest:?}");
}

#[test]
fn a_connection_keeps_a_server_that_would_leave() {
    const IDLE: Duration = Duration::from_millis(100);
    let stage = Stage::new();
    let server = Server::spawn(stage.command(&["serve", "--auto", "--idle-exit-ms", "100", "--json"]));
    // It has said nothing and is on no session; all the same somebody is there.
    let line = Line::open(&server);
    let since = Instant::now();
    while since.elapsed() < 4 * IDLE {
        assert!(UnixStream::connect(server.socket()).is_ok(), "it left");
    }
    drop(line);
    assert_eq!(server.wait().0, Some(0));
}

#[test]
fn whoever_finds_no_room_is_told() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let all: Vec<Line> = (0..256).map(|_| Line::open(&server)).collect();
    let mut line = Line::open(&server);
    line.say(&format!("{{\"loggia\":1}}\n{GET_STATE}"));
    let refusal = line.answer();
    assert_eq!(refusal["code"], -32010);
    assert!(refusal["message"].as_str().unwrap().contains("serves 256 clients already"), "{refusal}");
    let rest = line.leave();
    assert!(rest.last().unwrap().starts_with(r#"{"loggia":1,"exit":1,"reason":"#), "{rest:?}");
    drop(all);
    server.end();
}

#[test]
fn who_has_said_nothing_when_the_server_stops_is_told_how_to_end() {
    let stage = Stage::new();
    let server = start(&stage, "");
    let mut line = Line::open(&server);
    // The beginning of a preamble, whose end is waited for.
    line.say("{\"loggia\":1,");
    // Whoever is answered came later.
    Line::open(&server).state();
    server.end();
    assert_eq!(line.rest(), [r#"{"loggia":1,"exit":0}"#]);
}
