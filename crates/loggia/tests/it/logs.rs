//! The log of `loggia serve`: the life of a server in short lines, and what programs can read of it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::server::Server;
use crate::stage::Stage;
use crate::turn::{self, PRIVATE};

/// Nothing set: what people see who have set nothing.
const DEFAULT: [(&str, &str); 1] = [("LOGGIA_LOG_LEVEL", "")];

/// Asks with a token that is none.
fn knock(server: &Server) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = "GET /v1/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer wrong\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_life_of_a_server_is_told_in_short_lines() {
    let stage = Stage::new();
    let server = turn::start(&stage, &DEFAULT, &[]);
    let (url, socket) = (server.field("url").to_owned(), server.socket());
    let session = turn::play(&stage, &server).await.0;
    let server = tokio::task::spawn_blocking(move || {
        knock(&server);
        server
    });
    let (code, _, stderr) = turn::end(server.await.unwrap()).await;
    assert_eq!(code, Some(0), "{stderr}");
    let expected = [
        format!("started url={url} socket={}", socket.display()),
        format!("session opened session={session} workspace="),
        format!("client connected session={session} client=\"tester\""),
        format!("turn started session={session} by=\"tester\""),
        format!("approval asked session={session} about=\"a command\" risk=\""),
        format!("approval decided session={session} answer=\"allowed\" by=\"tester\""),
        format!("command ended session={session} exit=\"0\" ms="),
        format!("turn ended session={session} outcome=\"done\" ms="),
        format!("client left session={session} client=\"tester\""),
        "authentication refused peer=127.0.0.1:".to_owned(),
        "stopping signal=\"SIGTERM\"".to_owned(),
        "stopped".to_owned(),
    ];
    // Whether the client's leaving is noticed before or after the knock is nobody's promise.
    for expected in &expected {
        assert!(stderr.contains(&format!(" INFO {expected}")), "no `{expected}` in\n{stderr}");
    }
    let ended = stderr.lines().find(|line| line.contains("turn ended")).unwrap();
    assert!(
        ended.contains(" model=\"scripted:script.toml\"") && ended.ends_with("tokens_in=130 tokens_out=17"),
        "{ended}"
    );
    assert_eq!(stderr.lines().count(), expected.len(), "{stderr}");
    assert!(!stderr.contains(PRIVATE), "contents are in the log:\n{stderr}");
    assert!(!stderr.contains("Some(") && !stderr.contains("Id("), "forms for programmers:\n{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_read_fields_and_only_our_own_parts_say_more() {
    let stage = Stage::new();
    let server = turn::start(&stage, &[], &["-vv", "--log-format", "json"]);
    let session = turn::play(&stage, &server).await.0;
    let (code, _, stderr) = turn::end(server).await;
    assert_eq!(code, Some(0), "{stderr}");
    let lines: Vec<Value> =
        stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    for line in &lines {
        let target = line["target"].as_str().unwrap();
        assert!(target.starts_with("loggia") || target == "child", "a library speaks: {line}");
    }
    assert!(lines.iter().any(|line| line["level"] == "DEBUG"), "nothing more is said");
    let ended = lines.iter().find(|line| line["fields"]["message"] == "turn ended").unwrap();
    let fields = &ended["fields"];
    assert_eq!((&fields["session"], &fields["outcome"]), (&session.into(), &"done".into()));
    assert_eq!((&fields["tokens_in"], &fields["tokens_out"]), (&130.into(), &17.into()));
    assert!(fields["ms"].is_u64() && fields["model"].is_string(), "{ended}");
    assert!(!stderr.contains("Some(") && !stderr.contains("Id("), "forms for programmers:\n{stderr}");
}
