//! `loggia serve`: what it tells, what it answers, where it puts things, and what it refuses.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::server::{Server, body};
use crate::stage::Stage;

fn mode(path: impl AsRef<Path>) -> u32 {
    path.as_ref().metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_first_line_says_where_everything_is() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let data = stage.path("home/.local/share/loggia");
    let expected = serde_json::json!({
        "event": "ready",
        "url": format!("http://{}", server.address()),
        "token_file": data.join("token"),
        "http_socket": data.join("run/http.sock"),
        "rpc_socket": data.join("run/rpc.sock"),
        "console_socket": data.join("run/console.sock"),
    });
    assert_eq!(server.ready, expected);
    assert_ne!(server.address().port(), 0, "a free port is a real one");
    server.end();
}

#[test]
fn health_is_answered_over_both_sockets() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    for answer in [server.get("/v1/health"), server.get_locally("/v1/health")] {
        let health = body(&answer);
        assert_eq!(health["status"], "ok", "{health}");
        assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(health["checks"]["model"], "absent");
    }
    server.end();
}

#[test]
fn people_are_told_the_same_in_a_few_lines() {
    let stage = Stage::with_workspace("");
    let script = stage.write("script.toml", "[[reply]]\nparts = [{ text = \"hello\" }]\n");
    let model = format!("scripted:{}", script.display());
    // It tells, and lets its starter go: everything it said is there.
    let mut shown = stage.run(&["serve", "--detach", "--addr", "127.0.0.1:0", "--model", &model]);
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    let port = shown.stdout.lines().find_map(|line| line.split_once("127.0.0.1:")).unwrap().1.to_owned();
    shown.stdout = shown.stdout.replace(&port, "[PORT]");
    insta::assert_snapshot!(shown, @r#"
    exit: 0
    --- stdout
    loggia [VERSION] is ready

      url         http://127.0.0.1:[PORT]
      token file  [STAGE]/home/.local/share/loggia/token
      socket      [STAGE]/home/.local/share/loggia/run/http.sock
      rpc socket  [STAGE]/home/.local/share/loggia/run/rpc.sock
      console     [STAGE]/home/.local/share/loggia/run/console.sock
      model       scripted:[STAGE]/script.toml
      workspace   [STAGE]/project
      log         [STAGE]/home/.local/share/loggia/daemon.log

    try   curl -H "Authorization: Bearer $(cat [STAGE]/home/.local/share/loggia/token)" http://127.0.0.1:[PORT]/v1/workspaces
    stop  `loggia stop`
    [END]
    "#);
}

#[test]
fn nobody_else_can_look_into_what_it_makes() {
    let stage = Stage::new();
    let server = Server::start(&stage, &["--tls", "self-signed"]);
    let data = stage.path("home/.local/share/loggia");
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(data.join("run")), 0o700);
    assert_eq!(mode(server.socket()), 0o600);
    assert_eq!(mode(data.join("run/daemon.lock")), 0o600);
    assert_eq!(mode(data.join("tls")), 0o700);
    assert_eq!(mode(data.join("tls/self-signed.pem")), 0o600);
    server.end();
}

#[test]
fn the_directories_follow_our_variables_and_then_xdg() {
    let stage = Stage::new();
    let [data, runtime, xdg] = ["data", "runtime", "xdg"].map(|name| stage.path(name));
    std::fs::create_dir(&xdg).unwrap();
    let data = ("LOGGIA_DATA_DIR", data.to_str().unwrap());
    let xdg = ("XDG_RUNTIME_DIR", xdg.to_str().unwrap());
    let runtime = ("LOGGIA_RUNTIME_DIR", runtime.to_str().unwrap());
    let server = Server::start_with(&stage, &[data, xdg], &[]);
    assert_eq!(server.socket(), stage.path("xdg/loggia/http.sock"));
    assert_eq!(server.field("token_file"), stage.path("data/token").to_str().unwrap());
    server.end();
    let server = Server::start_with(&stage, &[data, xdg, runtime], &[]);
    assert_eq!(server.socket(), stage.path("runtime/http.sock"));
    // Whoever has the same variables finds it; whoever has not, does not.
    let status = |variables: &[(&str, &str)]| stage.run_with(variables, &["status"]).code;
    assert_eq!(status(&[data, xdg, runtime]), Some(0));
    assert_eq!(status(&[data, xdg]), Some(5));
    server.end();
    assert!(!stage.path("home/.local").exists(), "nothing is made elsewhere");
}

#[test]
fn a_runtime_directory_with_a_long_name_is_replaced_by_a_short_one() {
    let stage = Stage::new();
    let long = stage.path(&"x".repeat(120));
    let variable = ("LOGGIA_RUNTIME_DIR", long.to_str().unwrap());
    let server = Server::start_with(&stage, &[variable], &[]);
    let socket = server.socket();
    assert!(socket.as_os_str().len() <= 100, "{}", socket.display());
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    assert_eq!(stage.run_with(&[variable], &["status"]).code, Some(0), "others find it, too");
    server.end();
    std::fs::remove_dir_all(socket.parent().unwrap()).unwrap();
}

#[test]
fn a_directory_that_others_can_look_into_is_refused_and_left_as_it_is() {
    let stage = Stage::new();
    let open = stage.path("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
    let variable = ("LOGGIA_RUNTIME_DIR", open.to_str().unwrap());
    insta::assert_snapshot!(stage.run_with(&[variable], &["serve", "--addr", "127.0.0.1:0"]), @r"
    exit: 5
    --- stderr
    error: others can look into the directory `[STAGE]/open`

    hint: if it is only for Loggia, close it with `chmod 700 '[STAGE]/open'`; else name another
    [END]
    ");
    assert_eq!(mode(&open), 0o755);
}

#[test]
fn a_relative_directory_is_refused() {
    let shown = Stage::new().run_with(&[("LOGGIA_RUNTIME_DIR", "here")], &["status"]);
    insta::assert_snapshot!(shown, @r"
    exit: 3
    --- stderr
    error: `LOGGIA_RUNTIME_DIR` must be an absolute path, not `here`
    [END]
    ");
}

#[test]
fn a_model_nobody_provides_is_told() {
    insta::assert_snapshot!(Stage::new().run(&["serve", "--model", "nobody:best"]), @r"
    exit: 3
    --- stderr
    error: there is no provider `nobody` (set by `--model`)

    hint: models are called `provider:model`, as in `openai:gpt-5`; `loggia model list` tells which there are, `scripted:FILE` plays a script
    [END]
    ");
}

#[test]
fn a_script_with_a_mistake_is_told_with_its_line() {
    let stage = Stage::new();
    stage.write("outside/script.toml", "[[reply]]\nprats = []\n");
    insta::assert_snapshot!(stage.run_with(&[("LOGGIA_MODEL", "scripted:script.toml")], &["serve"]), @r"
    exit: 3
    --- stderr
    error: the script `script.toml` cannot be understood
      cause: line 2: there is no `prats` in a reply; did you mean `parts`?
    [END]
    ");
}

#[test]
fn a_directory_that_is_no_workspace_is_told() {
    let stage = Stage::new();
    let absent = stage.path("absent");
    let shown = stage.run(&["serve", "--addr", "127.0.0.1:0", "--workspace", absent.to_str().unwrap()]);
    assert_eq!(shown.code, Some(3), "{shown}");
    // What the server found out before may be in its log.
    assert!(shown.stderr.contains("error: cannot use `[STAGE]/absent` as a workspace"), "{shown}");
}

#[test]
fn a_store_that_is_none_of_ours_is_left_alone() {
    let stage = Stage::new();
    let file = stage.write("home/.local/share/loggia/store/store.sqlite", "not a database, but long enough");
    let data = stage.path("home/.local/share/loggia");
    std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700)).unwrap();
    let shown = stage.run(&["serve", "--addr", "127.0.0.1:0"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(shown.stderr.contains("is not a store of ours"), "{shown}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "not a database, but long enough");
}

#[test]
fn the_log_can_be_written_for_programs() {
    let stage = Stage::new();
    let server = Server::start(&stage, &["-v", "--log-format", "json"]);
    server.signal(Signal::INT);
    let (code, _, stderr) = server.wait();
    assert_eq!(code, Some(0), "{stderr}");
    let lines: Vec<Value> =
        stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let stopping = lines.iter().find(|line| line["fields"]["message"] == "stopping").unwrap();
    assert_eq!(stopping["fields"]["signal"], "SIGINT");
    assert!(stopping["timestamp"].is_string() && stopping["level"] == "INFO", "{stopping}");
}

#[test]
fn whoever_watches_over_it_is_told_when_it_is_ready_and_when_it_stops() {
    let stage = Stage::new();
    let path = stage.path("notify");
    let watcher = UnixDatagram::bind(&path).unwrap();
    let hear = || {
        let mut heard = [0; 256];
        let length = watcher.recv(&mut heard).unwrap();
        String::from_utf8(heard[..length].to_vec()).unwrap()
    };
    let server = Server::start_with(&stage, &[("NOTIFY_SOCKET", path.to_str().unwrap())], &[]);
    assert_eq!(hear(), format!("READY=1\nSTATUS=listening on {}", server.field("url")));
    server.end();
    assert_eq!(hear(), "STOPPING=1");
}

#[test]
fn a_socket_that_was_opened_for_it_is_used() {
    let stage = Stage::new();
    // Hands over descriptor 3 as systemd does, and becomes the server.
    let script = "import os, socket, sys
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen()
print(s.getsockname()[1], file=sys.stderr, flush=True)
if s.fileno() != 3:
    os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
env = dict(os.environ, LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
os.execve(sys.argv[1], sys.argv[1:], env)
";
    let mut python = stage.program("python3");
    python.env("LOGGIA_LOG_LEVEL", "warn");
    python.args(["-c", script, env!("CARGO_BIN_EXE_loggia"), "serve", "--json", "--addr", "127.0.0.1:1"]);
    let server = Server::spawn(python);
    assert_eq!(body(&server.get("/v1/health"))["status"], "ok");
    let port = server.address().port();
    server.signal(Signal::TERM);
    let (code, _, stderr) = server.wait();
    assert_eq!((code, stderr), (Some(0), format!("{port}\n")));
}
