//! Servers that commands start by themselves.

use std::collections::HashSet;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::server::Server;
use crate::stage::Stage;

const DATA: &str = "home/.local/share/loggia";
const SOCKET: &str = "home/.local/share/loggia/run/http.sock";

/// A stage whose servers are told to end when it goes.
pub(crate) struct AutoStage(pub(crate) Stage);

impl AutoStage {
    /// A project, and a model that says hello however often it is asked.
    pub(crate) fn new() -> Self {
        Self::playing("[[reply]]\nrepeat = true\nparts = [{ text = \"Hello from the script.\" }]\n")
    }

    /// A project, and a model that plays this.
    pub(crate) fn playing(script: &str) -> Self {
        let stage = Stage::new();
        stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
        let script = stage.write("script.toml", script);
        let model = format!("scripted:{}", script.display());
        stage.user_file(&format!("[model]\ndefault = {model:?}\n[sandbox]\nrequired = false\n"));
        Self(stage)
    }

    /// A project, and a model that writes these files one after the other, then says that it is done.
    pub(crate) fn writing(files: &[(&str, &str)]) -> Self {
        let writes = files.iter().map(|(path, content)| {
            let arguments = format!("{{ path = {path:?}, content = {content:?} }}");
            format!(
                "[[reply]]\nparts = [{{ call = {{ tool = \"write_file\", arguments = {arguments} }} }}]\n\n"
            )
        });
        let done = "[[reply]]\nrepeat = true\nparts = [{ text = \"Done.\" }]\n";
        Self::playing(&format!("{}{done}", writes.collect::<String>()))
    }

    /// What `status` says of the server, if one runs.
    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.0.run(&["status", "--json"]).stdout).unwrap()
    }

    pub(crate) fn pid(&self) -> Option<i32> {
        self.status()["pid"].as_i64().map(|pid| i32::try_from(pid).unwrap())
    }

    fn kill(&self) {
        let pid = Pid::from_raw(self.pid().expect("a server runs")).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        // The lock goes with the process, at some moment.
        while !self.0.run(&["status", "--json"]).stdout.contains("\"running\":false") {
            std::thread::yield_now();
        }
    }
}

impl Drop for AutoStage {
    fn drop(&mut self) {
        self.0.run(&["stop"]);
    }
}

#[test]
fn ask_starts_a_server_and_the_next_one_uses_it() {
    let stage = AutoStage::new();
    let shown = stage.0.run(&["ask", "who is there?"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "Hello from the script.\n"), "{shown}");
    let status = stage.status();
    assert_eq!(
        (&status["running"], &status["auto"], &status["url"]),
        (&true.into(), &true.into(), &Value::Null)
    );
    let told = stage.0.run(&["status"]).stdout;
    assert!(told.starts_with(&format!("running at [STAGE]/{SOCKET}\n")), "{told}");
    let pid = stage.pid();
    assert_eq!(stage.0.run(&["ask", "and now?"]).code, Some(0));
    assert_eq!(stage.pid(), pid);
}

#[test]
fn many_who_find_no_server_start_one() {
    const MANY: usize = 20;
    let stage = AutoStage::new();
    let start = |_| {
        let mut command = stage.0.command(&["ask", "--json", "hello"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = (0..MANY).map(start).collect();
    let mut sessions = HashSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{told}");
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        sessions.insert(first["session"]["session_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(sessions.len(), MANY);
    let log = std::fs::read_to_string(stage.0.path(DATA).join("daemon.log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains(" INFO started ")).count(), 1, "{log}");
    assert_eq!(log.lines().filter(|line| line.contains("session opened")).count(), MANY, "{log}");
}

#[test]
fn a_socket_that_a_killed_server_left_is_in_nobodys_way() {
    let stage = AutoStage::new();
    assert_eq!(stage.0.run(&["ask", "hello"]).code, Some(0));
    let first = stage.pid();
    stage.kill();
    assert!(stage.0.path(SOCKET).exists());
    let shown = stage.0.run(&["ask", "hello again"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert_ne!(stage.pid(), first);
}

#[test]
fn a_server_that_was_started_by_hand_is_used() {
    let stage = AutoStage::new();
    let server = Server::start(&stage.0, &[]);
    assert_eq!(stage.0.run(&["ask", "hello"]).code, Some(0));
    assert_eq!(stage.pid(), Some(i32::try_from(server.pid()).unwrap()));
    assert_eq!(stage.status()["auto"], false);
}

#[test]
fn an_address_is_listened_on_if_one_is_configured() {
    let stage = AutoStage::new();
    let path = stage.0.path("home/.config/loggia/config.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}[server]\naddr = \"127.0.0.1:0\"\n")).unwrap();
    assert_eq!(stage.0.run(&["ask", "hello"]).code, Some(0));
    assert!(stage.status()["url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
}

#[test]
fn why_a_server_cannot_start_is_told_to_whoever_asked() {
    let stage = AutoStage::new();
    // The command itself has no use for this key, the server does.
    stage.0.user_file("[model]\ndefault = \"scripted:/absent.toml\"\n");
    insta::assert_snapshot!(stage.0.run(&["ask", "hello"]), @r"
    exit: 3
    --- stderr
    error: cannot read the script `/absent.toml`
      cause: No such file or directory (os error 2)
    [END]
    ");
    stage.0.user_file("[model]\ndefualt = 1\n");
    insta::assert_snapshot!(stage.0.run(&["ask", "hello"]), @r"
    exit: 3
    --- stderr
    error: unknown key `model.defualt` in `[STAGE]/home/.config/loggia/config.toml:2:1`

    hint: did you mean `model.default`?
    [END]
    ");
}

#[test]
fn a_data_directory_that_cannot_be_used_is_told() {
    let stage = AutoStage::new();
    let data = stage.0.path(DATA);
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shown = stage.0.run(&["ask", "hello"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(shown.stderr.starts_with("error: others can look into the directory"), "{shown}");
}

#[test]
fn a_server_gets_no_secrets_of_the_terminal_it_was_started_from() {
    let stage = AutoStage::new();
    let variables =
        [("GITHUB_TOKEN", "secret-of-a-shell"), ("LOGGIA_POLICY_PRESET", "full"), ("LC_ALL", "C.UTF-8")];
    assert_eq!(stage.0.run_with(&variables, &["ask", "hello"]).code, Some(0));
    let environment = std::fs::read(format!("/proc/{}/environ", stage.pid().unwrap())).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    let names: Vec<_> =
        environment.split_terminator('\0').map(|pair| pair.split_once('=').unwrap().0).collect();
    assert_eq!(names, ["HOME", "LC_ALL"]);
}

#[test]
fn a_server_of_another_control_version_is_told() {
    let stage = AutoStage::new();
    let socket = stage.0.path(SOCKET);
    let run = socket.parent().unwrap();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(run).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        // Whoever looks whether somebody is there says nothing.
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if stream.read(&mut [0; 4096]).unwrap() == 0 {
                continue;
            }
            let body = r#"{"status":"ok","version":"99.0.0","uptime_ms":1,"control":99,"checks":{"store":"ok","index":"ok","model":"ok"}}"#;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            return;
        }
    });
    insta::assert_snapshot!(stage.0.run(&["ask", "hello"]), @r"
    exit: 5
    --- stderr
    error: the server that runs is loggia 99.0.0, whose control version is 99, and that of this command is 1

    hint: update this command, which is the older one; or stop the server with `loggia stop`, and the next command starts one of its own version
    [END]
    ");
    server.join().unwrap();
}

#[test]
fn a_server_that_nobody_needs_leaves() {
    let stage = AutoStage::new();
    let arguments = ["serve", "--auto", "--idle-exit-ms", "50", "--json"];
    let server = Server::spawn(stage.0.command(&arguments));
    assert_eq!(server.ready["url"], Value::Null);
    let (code, _, said) = server.wait();
    assert_eq!(code, Some(0));
    assert!(said.contains("leaving: nobody has been here for a while"), "{said}");
    assert!(!stage.0.path(SOCKET).exists());
}
