//! The guide to the http door is true: its commands are run in order, in one shell, against a running server.
//!
//! `$` begins a command, the lines below it are what it prints, and `…` stands for anything. `websocat` is played by
//! the test: `>` is sent, `<` is waited for, and whatever else comes in between was left out of the guide.

use std::net::TcpStream;
use std::time::Duration;

use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use crate::guide::{Shell, blocks, commands, fits};
use crate::server::Server;
use crate::stage::{Stage, documents};

/// How long a message may take to come: far longer than it does.
const PATIENCE: Duration = Duration::from_secs(30);

/// What `websocat` would be, with the words of its command line.
fn connect(words: &[String]) -> WebSocket<TcpStream> {
    let mut request = words.last().unwrap().as_str().into_client_request().unwrap();
    for (option, value) in words.iter().zip(words.iter().skip(1)) {
        let (name, value) = match option.as_str() {
            "--protocol" => ("sec-websocket-protocol", value.as_str()),
            "-H" => value.split_once(": ").unwrap(),
            _ => continue,
        };
        let name = HeaderName::from_bytes(name.to_lowercase().as_bytes()).unwrap();
        request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
    }
    let authority = request.uri().authority().unwrap().to_string();
    let stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    tungstenite::client(request, stream).unwrap().0
}

/// Plays the lines below a `websocat`.
fn talk(mut socket: WebSocket<TcpStream>, lines: &[&str]) {
    let mut heard: Vec<String> = Vec::new();
    for line in lines {
        if let Some(text) = line.strip_prefix("> ") {
            socket.send(Message::text(filled(text, &heard))).unwrap();
            continue;
        }
        let pattern = line.strip_prefix("< ").unwrap_or_else(|| panic!("neither said nor heard: {line}"));
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => heard.push(text.to_string()),
                Ok(_) => continue,
                Err(error) => panic!("{error}\nwaiting for {pattern}\nafter {heard:#?}"),
            }
            if heard.last().is_some_and(|text| fits(text, pattern)) {
                break;
            }
        }
    }
    socket.close(None).unwrap();
}

/// `req_…` in what is sent is the id that was heard last.
fn filled(text: &str, heard: &[String]) -> String {
    let Some((before, after)) = text.split_once("req_…") else { return text.to_owned() };
    let last = heard.iter().rev().find_map(|text| text.split_once("\"request_id\":\"")).unwrap().1;
    format!("{before}{}{after}", last.split('"').next().unwrap())
}

#[test]
fn every_command_of_the_guide_does_what_the_guide_says() {
    let page = std::fs::read_to_string(documents().join("http.md")).unwrap();
    let stage = Stage::new();
    stage.write("project/greeting.txt", "hello\n");
    let script = stage.write("project/guide.toml", &blocks(&page, "toml")[0]);
    let model = format!("scripted:{}", script.display());
    let server = Server::start(&stage, &["--workspace", ".", "--model", &model]);
    let token = std::fs::read_to_string(server.field("token_file")).unwrap();
    let variables =
        [("URL", server.field("url")), ("TOKEN", token.trim()), ("SOCKET", server.field("http_socket"))];
    let mut shell = Shell::start(&stage, &variables);
    let blocks = blocks(&page, "console");
    assert!(blocks.len() >= 10, "{} blocks were found", blocks.len());
    for (command, expected) in blocks.iter().flat_map(|block| commands(block)) {
        if let Some(words) = command.strip_prefix("websocat ") {
            talk(connect(&shell.run(&format!("printf '%s\\n' {words}"))), &expected);
            continue;
        }
        shell.check(command, &expected);
    }
    drop(shell);
    server.end();
}

#[test]
fn the_rust_of_the_guide_is_the_one_that_compiles() {
    let page = std::fs::read_to_string(documents().join("http.md")).unwrap();
    let source = documents().join("../crates/clients/rust/src/lib.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let example: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .skip_while(|line| *line != "```no_run")
        .skip(1)
        .take_while(|line| *line != "```")
        .filter(|line| !line.starts_with("# "))
        .collect();
    assert_eq!(blocks(&page, "rust"), [example.join("\n")]);
}
