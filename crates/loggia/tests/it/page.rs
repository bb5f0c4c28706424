//! How a browser is shown the page: by `serve --open` and by `loggia open`.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::auto::AutoStage;
use crate::server::Server;
use crate::stage::Stage;

const RUNTIME: &str = "home/.local/share/loggia/run";

/// A stand-in for what opens a browser: it says what it was started with, and waits until somebody reads that.
struct Opener<'a> {
    stage: &'a Stage,
    told: PathBuf,
}

impl<'a> Opener<'a> {
    fn new(stage: &'a Stage) -> Self {
        let told = stage.path("told");
        rustix::fs::mknodat(rustix::fs::CWD, &told, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        install(stage, &format!("tr '\\0' ' ' < /proc/$$/cmdline > '{}'", told.display()));
        Self { stage, told }
    }

    /// Its words, but for its own name.
    fn words(&self) -> String {
        let all = std::fs::read_to_string(&self.told).unwrap();
        let (_, words) = all.trim_end().rsplit_once("xdg-open ").unwrap();
        words.to_owned()
    }

    /// The file it was started with: nobody else can read it, and its name tells nothing.
    fn file(&self, page_url: &str) -> PathBuf {
        let words = self.words();
        let (_, code) = page_url.split_once("#code=").unwrap();
        assert!(code.len() == 64 && !words.contains(&code[..8]), "{words}");
        let file = PathBuf::from(words.strip_prefix("file://").unwrap());
        assert_eq!(file.parent().unwrap(), self.stage.path(RUNTIME));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(&format!("content=\"0; url={page_url}\"")), "{text}");
        file
    }
}

fn install(stage: &Stage, script: &str) {
    let opener = stage.write("bin/xdg-open", format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o700)).unwrap();
}

fn path(stage: &Stage) -> String {
    format!("{}:/usr/bin:/bin", stage.path("bin").display())
}

/// Trades the code of an address for a cookie, as the page does.
fn trade(server: &Server, page_url: &str) -> String {
    let (origin, code) = page_url.split_once("/#code=").unwrap();
    let body = format!(r#"{{"code":"{code}","client_name":"browser"}}"#);
    let (_, host) = origin.split_once("://").unwrap();
    let head = format!(
        "POST /v1/page/session HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\nconnection: close\r\n"
    );
    let request =
        format!("{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    std::io::read_to_string(stream).unwrap()
}

fn until_gone(file: &Path) {
    while file.exists() {
        std::thread::yield_now();
    }
}

#[test]
fn a_browser_is_shown_the_page_and_no_command_line_has_its_code() {
    let stage = Stage::new();
    let opener = Opener::new(&stage);
    let server = Server::start_with(&stage, &[("PATH", &path(&stage))], &["--open"]);
    let page = server.field("page_url");
    assert!(page.strip_prefix(server.field("url")).unwrap().starts_with("/#code="), "{page}");
    let file = opener.file(page);
    let first = trade(&server, page);
    assert!(first.starts_with("HTTP/1.1 200") && first.contains("HttpOnly; SameSite=Strict"), "{first}");
    assert!(first.contains(r#""scope":"admin""#), "{first}");
    // It goes when its code is used up.
    until_gone(&file);
    assert!(trade(&server, page).starts_with("HTTP/1.1 401"));
    assert!(server.get("/").starts_with("HTTP/1.1 200"));
    server.end();
}

#[test]
fn the_way_to_the_page_ends_with_the_server() {
    let stage = Stage::new();
    let opener = Opener::new(&stage);
    let variables = [("PATH", path(&stage))];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::start_with(&stage, &variables, &["--open", "--tls", "self-signed"]);
    let page = server.field("page_url");
    assert!(page.starts_with("https://"), "{page}");
    let file = opener.file(page);
    server.end();
    assert!(!file.exists());

    // What a server left that was killed goes with the next one.
    std::fs::write(&file, "").unwrap();
    let server = Server::start(&stage, &[]);
    until_gone(&file);
    server.end();
}

#[test]
fn a_server_that_runs_is_asked_for_its_page() {
    let stage = Stage::new();
    let opener = Opener::new(&stage);
    let server = Server::start(&stage, &[]);
    // However broken the configuration is.
    stage.user_file("this is not TOML");
    let mut command = stage.command(&["open", "--json"]);
    command.env("PATH", path(&stage)).stdout(std::process::Stdio::piped());
    let command = command.spawn().unwrap();
    let words = opener.words();
    let output = command.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let page = shown["page_url"].as_str().unwrap();
    assert!(page.starts_with(server.field("url")), "{shown}");
    assert_eq!(shown["opened"], true);
    assert!(shown["expires_at"].as_str().unwrap().ends_with('Z'), "{shown}");
    let file = PathBuf::from(words.strip_prefix("file://").unwrap());
    assert!(std::fs::read_to_string(&file).unwrap().contains(page));
    assert!(trade(&server, page).contains(r#""scope":"admin""#));
    until_gone(&file);
    server.end();
}

#[test]
fn the_address_alone_can_be_had() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    install(&stage, &format!("touch '{}'", stage.path("started").display()));
    let shown = stage.run_with(&[("PATH", &path(&stage))], &["open", "--print"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert!(trade(&server, shown.stdout.trim_end()).starts_with("HTTP/1.1 200"), "{shown}");
    assert!(!stage.path("started").exists());
    server.end();
}

#[test]
fn without_a_browser_the_address_is_told_all_the_same() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    install(&stage, "exit 3");
    let mut shown = stage.run_with(&[("PATH", &path(&stage))], &["open"]);
    assert!(trade(&server, shown.stdout.trim_end()).starts_with("HTTP/1.1 200"), "{shown}");
    shown.stdout.clear();
    insta::assert_snapshot!(shown, @r"
    exit: 5
    --- stderr
    error: no browser could be started
      cause: `xdg-open` gave up: exit status: 3

    hint: open the address yourself, within two minutes
    [END]
    ");
    server.end();
}

#[test]
fn without_a_server_there_is_no_page() {
    insta::assert_snapshot!(Stage::new().run(&["open"]), @r"
    exit: 5
    --- stderr
    error: no server runs

    hint: `loggia serve --open` starts one and shows its page
    [END]
    ");
}

#[test]
fn a_server_that_a_command_started_has_no_page() {
    let stage = AutoStage::new();
    assert_eq!(stage.0.run(&["ask", "hello"]).code, Some(0));
    let shown = stage.0.run(&["open"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(shown.stderr.starts_with("error: the server that runs has no address for browsers: "), "{shown}");
    let hint = "hint: `loggia stop && loggia serve --open` starts one that has, and shows its page\n";
    assert!(shown.stderr.ends_with(hint), "{shown}");
}

#[test]
fn others_are_told_the_address_under_the_names_that_were_listed() {
    let stage = Stage::new();
    let hosts = "server.hosts=desk.local, fd00::1";
    let flags = ["--addr", "0.0.0.0:0", "--tls", "self-signed", "--set", hosts];
    let server = Server::start(&stage, &flags);
    let port = server.address().port();
    let expected = [format!("https://desk.local:{port}"), format!("https://[fd00::1]:{port}")];
    assert_eq!(server.ready["other_urls"], serde_json::json!(expected));
    server.end();
    let shown = stage.run(&[&["serve", "--detach"], &flags[..]].concat());
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    assert!(shown.stdout.contains("\n  for others  https://desk.local:"), "{shown}");
    // Names are of no use where nobody else can come.
    let server = Server::start(&stage, &["--set", "server.hosts=desk.local"]);
    assert!(server.ready.get("other_urls").is_none());
    server.end();
}

#[test]
fn a_host_that_can_be_none_is_told() {
    insta::assert_snapshot!(Stage::new().run(&["serve", "--set", r#"server.hosts=["desk.local"]"#]), @r#"
    exit: 3
    --- stderr
    error: `server.hosts` cannot be `["desk.local"]` (in `--set`)

    hint: expected names or addresses of hosts, separated by commas, such as `desk.local,192.168.1.20`
    [END]
    "#);
    let stage = Stage::new();
    stage.user_file("[server]\nhosts = \"https://desk.local\"\n");
    assert_eq!(stage.run(&["serve"]).code, Some(3));
}
