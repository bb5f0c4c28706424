//! The agent's life as a process: how it is started, how it ends, and what it says when it cannot start.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::auto::AutoStage;
use crate::rpc_agent::{Agent, HANG, WRITE};

const RUN: &str = "home/.local/share/loggia/run";

/// Both ways to be served.
const WAYS: [&[&str]; 2] = [&["rpc"], &["rpc", "--ephemeral"]];

fn agent(stage: &AutoStage, words: &[&str]) -> Agent {
    Agent::start(stage.0.command(words))
}

#[test]
fn a_client_is_served_by_a_server_that_is_started_for_it() {
    let stage = AutoStage::playing(WRITE);
    let mut agent = agent(&stage, &["--mode", "rpc", "--path", ".", "--frobnicate", "7"]);
    let state = agent.call("getState", json!({}));
    assert_eq!(
        (&state["status"], &state["workspace"]),
        (&"idle".into(), &stage.0.path("project").to_str().unwrap().into())
    );
    let session = state["sessionId"].as_str().unwrap();
    agent.prompt();
    let question = agent.until("permissionRequest");
    assert_eq!(question["context"]["path"], "greeting.txt");
    assert_eq!(agent.allow(&question), json!({"success": true}));
    agent.until("turnEnd");
    assert_eq!(stage.0.read("project/greeting.txt"), "hello\n");
    // It is there for everybody else, as long as they like.
    assert_eq!(stage.status()["clients"], 1);
    agent.close();
    let ended = agent.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.methods(), ["ping", "hook.sessionEnd", "agentEnd"]);
    let sessions = stage.0.run(&["sessions", "--json"]);
    assert!(sessions.stdout.contains(session), "{sessions}");
    assert_eq!((&stage.status()["auto"], &stage.status()["clients"]), (&true.into(), &0.into()));
}

#[test]
fn it_is_the_agent_under_the_name_that_clients_look_for() {
    let stage = AutoStage::new();
    let autohand = stage.0.path("autohand");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_loggia"), &autohand).unwrap();
    let command = |words: &[&str]| {
        let mut command = stage.0.program(autohand.to_str().unwrap());
        command.args(words);
        command
    };
    for words in [&[][..], &["--rpc"], &["--mode", "rpc", "-y", "--thinking", "extended"]] {
        let mut agent = Agent::start(command(words));
        agent.until("agentStart");
        agent.close();
        assert_eq!(agent.end().code, Some(0));
    }
    let version = stage.0.finish(command(&["--version"]), b"");
    assert_eq!((version.code, version.stdout.as_str()), (Some(0), "loggia [VERSION]\n"));
    // One client looks for these very words.
    let help = stage.0.finish(command(&["--help"]), b"");
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("--mode rpc"), "{help}");
    assert!(stage.0.run(&["--help"]).stdout.contains("--mode rpc"));
}

#[test]
fn the_configuration_shows_changes_before_they_are_written() {
    for way in WAYS {
        let stage = AutoStage::playing(WRITE);
        let mut command = stage.0.command(way);
        command.arg("--yes").env("LOGGIA_RPC_PREVIEW", "true");
        let mut agent = Agent::start(command);
        agent.prompt();
        let batch = agent.until("changesBatchEnd")["batchId"].clone();
        agent.until("turnEnd");
        assert!(!stage.0.path("project/greeting.txt").exists());
        let decided = agent.call("changesDecision", json!({"batchId": batch, "action": "accept_all"}));
        assert_eq!(decided, json!({"success": true, "appliedCount": 1, "skippedCount": 0}));
        assert_eq!(stage.0.read("project/greeting.txt"), "hello\n");
    }
}

#[test]
fn what_has_no_effect_is_told_on_standard_error_and_is_not_fatal() {
    for way in WAYS {
        let stage = AutoStage::playing(WRITE);
        let mut command = stage.0.command(way);
        command
            .args(["--model", "fantail", "--session-id", "my-own"])
            .env("LOGGIA_RPC_MERGE_UPDATES_MS", "60000");
        let mut agent = Agent::start(command);
        assert_eq!(agent.call("getState", json!({}))["status"], "idle");
        agent.prompt();
        agent.until("permissionRequest");
        agent.close();
        let ended = agent.end();
        assert_eq!(ended.code, Some(0));
        for told in [
            "warning: `fantail` names no provider, so the default model is used",
            "warning: there is no session `my-own`; a new one begins",
            "warning: `--merge-updates 60000` is no time, so replies are told as they come",
        ] {
            assert!(ended.stderr.contains(told), "{told} is not in {}", ended.stderr);
        }
    }
}

#[test]
fn an_agent_of_its_own_keeps_nothing() {
    let stage = AutoStage::playing(WRITE);
    let mut agent = agent(&stage, &["rpc", "--ephemeral", "--yes"]);
    agent.prompt();
    agent.until("turnEnd");
    agent.close();
    let ended = agent.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.methods().last(), Some(&"agentEnd"));
    assert_eq!(stage.0.read("project/greeting.txt"), "hello\n");
    assert_eq!(stage.status()["running"], false);
    assert!(!stage.0.path("home/.local/share/loggia/store").exists());
}

/// Ends it in the middle of a turn; what it says then.
fn ended_by(words: &[&str], end: impl FnOnce(&mut Agent)) {
    let stage = AutoStage::playing(HANG);
    let mut agent = agent(&stage, words);
    agent.prompt();
    agent.until("messageUpdate");
    end(&mut agent);
    let ended = agent.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let methods = ended.methods();
    let end = ["messageEnd", "turnEnd", "ping", "hook.sessionEnd", "agentEnd"];
    assert!(methods.ends_with(&end), "{methods:?}");
    let turn = &ended.said[ended.said.len() - 4]["params"];
    assert_eq!(turn["reason"], "aborted", "{ended:?}");
    if words == ["rpc"] {
        // A client that leaves takes its turn along.
        assert_eq!(stage.status()["sessions"]["running"], 0);
    }
}

#[test]
fn end_of_input_ends_it_and_its_turn() {
    WAYS.iter().for_each(|words| ended_by(words, Agent::close));
}

#[test]
fn a_signal_ends_it_and_its_turn() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        WAYS.iter().for_each(|words| ended_by(words, |agent| agent.signal(signal)));
    }
}

/// As most client libraries do it.
#[test]
fn end_of_input_and_a_signal_are_one_wish() {
    let both = |agent: &mut Agent| {
        agent.close();
        agent.signal(Signal::TERM);
    };
    WAYS.iter().for_each(|words| ended_by(words, both));
}

#[test]
fn a_turn_goes_on_if_the_agent_is_killed() {
    let stage = AutoStage::playing(HANG);
    let mut agent = agent(&stage, &["rpc"]);
    let session = agent.session();
    agent.prompt();
    agent.until("messageUpdate");
    agent.signal(Signal::KILL);
    assert_eq!(agent.end().code, None);
    // It can be taken up again, and then it ends with whoever took it up.
    while stage.status()["clients"] != 0 {
        std::thread::yield_now();
    }
    assert_eq!(stage.status()["sessions"]["running"], 1);
    let mut next = Agent::start(stage.0.command(&["rpc", "--resume", &session]));
    assert_eq!(next.until("messageUpdate")["delta"], "So far");
    next.close();
    let ended = next.end();
    assert!(ended.methods().contains(&"turnEnd"), "{ended:?}");
    assert_eq!(stage.status()["sessions"]["running"], 0);
}

#[test]
fn a_client_that_closes_our_output_is_served_until_its_input_ends() {
    for words in WAYS {
        let stage = AutoStage::playing(WRITE);
        let mut command = stage.0.command(&[words, &["--yes"]].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let prompt =
            json!({"jsonrpc": "2.0", "id": 1, "method": "autohand.prompt", "params": {"message": "Go"}});
        writeln!(child.stdin.as_mut().unwrap(), "{prompt}").unwrap();
        while !stage.0.path("project/greeting.txt").exists() {
            assert_eq!(child.try_wait().unwrap(), None, "it went away");
            std::thread::yield_now();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}

#[test]
fn a_server_that_dies_is_told() {
    let stage = AutoStage::playing(HANG);
    let mut agent = agent(&stage, &["rpc"]);
    agent.prompt();
    agent.until("messageUpdate");
    kill_process(Pid::from_raw(stage.pid().unwrap()).unwrap(), Signal::KILL).unwrap();
    // Its input is open all the while.
    let ended = agent.end();
    assert_eq!(ended.code, Some(5));
    assert_eq!(ended.methods(), ["error"]);
    let error = &ended.said[0]["params"];
    assert_eq!((&error["code"], &error["recoverable"]), (&json!(-32000), &json!(false)));
    assert!(error["message"].as_str().unwrap().contains("the Loggia server has gone"), "{error}");
    assert!(error["timestamp"].as_str().unwrap().ends_with('Z'), "{error}");
    assert!(ended.stderr.starts_with("error: the server has gone\n\nhint: "), "{ended:?}");
}

/// Whoever ends the agent does not wait for a server that does nothing any more.
#[test]
fn a_server_that_is_frozen_keeps_nobody_from_leaving() {
    for by_signal in [false, true] {
        let stage = AutoStage::playing(HANG);
        let mut agent = agent(&stage, &["rpc"]);
        agent.prompt();
        agent.until("messageUpdate");
        let server = Pid::from_raw(stage.pid().unwrap()).unwrap();
        kill_process(server, Signal::STOP).unwrap();
        if by_signal {
            agent.signal(Signal::TERM);
        } else {
            agent.close();
        }
        let ended = agent.end();
        kill_process(server, Signal::KILL).unwrap();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}

#[test]
fn a_server_that_stops_says_goodbye() {
    let stage = AutoStage::playing(HANG);
    let mut agent = agent(&stage, &["rpc"]);
    agent.prompt();
    agent.until("messageUpdate");
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    let ended = agent.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.methods().last(), Some(&"agentEnd"));
}

/// Says this with headers around it, as language clients do.
fn with_headers(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn a_client_that_sends_headers_gets_headers_to_the_very_end() {
    let stage = AutoStage::new();
    let mut child = stage.0.command(&["--rpc"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let ask = with_headers(r#"{"jsonrpc":"2.0","id":0,"method":"autohand.getState"}"#);
    stdin.write_all(ask.as_bytes()).unwrap();
    let mut heard = String::new();
    while !heard.contains("\"status\":\"idle\"") {
        let mut piece = [0; 4096];
        let length = stdout.read(&mut piece).unwrap();
        assert_ne!(length, 0, "{heard}");
        heard.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
    kill_process(Pid::from_raw(stage.pid().unwrap()).unwrap(), Signal::KILL).unwrap();
    stdout.read_to_string(&mut heard).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let mut rest = heard.as_str();
    let mut methods = Vec::new();
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let length: usize = head.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let message: Value = serde_json::from_str(&after[..length]).unwrap();
        methods.push(message["method"].as_str().unwrap_or("an answer").to_owned());
        rest = &after[length..];
    }
    assert_eq!(rest, "");
    let expected = ["autohand.agentStart", "autohand.hook.sessionStart", "an answer", "autohand.error"];
    assert_eq!(methods, expected);
}

/// A client asks something and hears why nothing begins; the code it is told, and what people read.
fn refused(stage: &AutoStage, words: &[&str]) -> (i64, String) {
    let mut agent = agent(stage, words);
    let answer = agent.call("getState", json!({}));
    agent.close();
    let ended = agent.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    // Said once unasked, then to the one who asked.
    let unasked = ended.said.iter().find(|message| message["id"].is_null()).unwrap();
    assert_eq!(unasked["error"], answer, "{ended:?}");
    (answer["code"].as_i64().unwrap(), ended.stderr)
}

#[test]
fn what_keeps_it_from_starting_is_told_in_the_protocols_form_and_to_people() {
    for words in WAYS {
        let stage = AutoStage::new();
        let (code, said) = refused(&stage, &[words, &["--path", "/no/such/place"]].concat());
        assert_eq!(code, -32603);
        assert!(said.starts_with("error: ") && said.contains("/no/such/place"), "{said}");
        let (code, said) = refused(&stage, &[words, &["--path", "/usr"]].concat());
        assert!(code == -32603 && said.contains("/usr"), "{said}");
        let (code, said) = refused(&stage, &[words, &["--yolo", "whatever"]].concat());
        assert!(code == -32603 && said.contains("`whatever`"), "{said}");
        let (code, said) = refused(&stage, &[words, &["--system-prompt-file", "nowhere.md"]].concat());
        assert!(code == -32603 && said.contains("nowhere.md`, which `--system-prompt-file` names"), "{said}");
        stage.0.user_file("[model]\ndefualt = 1\n");
        let (code, said) = refused(&stage, words);
        assert_eq!(code, -32010);
        assert!(said.contains("did you mean `model.default`?"), "{said}");
    }
}

#[test]
fn a_server_that_cannot_start_is_told() {
    let stage = AutoStage::new();
    stage.0.user_file("[model]\ndefault = \"scripted:/absent.toml\"\n");
    let (code, said) = refused(&stage, &["rpc"]);
    assert_eq!(code, -32010);
    assert!(said.starts_with("error: cannot read the script `/absent.toml`"), "{said}");
    let data = stage.0.path("home/.local/share/loggia");
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = refused(&stage, &["rpc"]);
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(code == -32010 && said.starts_with("error: others can look into the directory"), "{said}");
}

#[test]
fn a_server_that_has_no_such_door_is_told() {
    let stage = AutoStage::new();
    let run = stage.0.path(RUN);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&run).unwrap();
    let _older = UnixListener::bind(run.join("http.sock")).unwrap();
    let (code, said) = refused(&stage, &["rpc"]);
    assert!(code == -32010 && said.starts_with("error: the server that runs has no rpc door"), "{said}");
    std::fs::remove_file(run.join("http.sock")).unwrap();
}

/// As if somebody else was starting the server.
fn lock_start(stage: &AutoStage) -> std::fs::File {
    let run = stage.0.path(RUN);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&run).unwrap();
    let path = run.join("start.lock");
    let lock = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    lock
}

#[test]
fn end_of_input_while_a_server_is_waited_for_ends_it_without_a_word() {
    let stage = AutoStage::new();
    let lock = lock_start(&stage);
    let mut agent = agent(&stage, &["rpc"]);
    agent.close();
    let ended = agent.end();
    assert_eq!((ended.code, ended.said.len(), ended.stderr.as_str()), (Some(0), 0, ""), "{ended:?}");
    drop(lock);
}

#[test]
fn what_was_asked_before_a_server_was_there_is_answered_by_it() {
    let stage = AutoStage::new();
    let lock = lock_start(&stage);
    let mut agent = agent(&stage, &["rpc"]);
    agent.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"autohand.getState\"}\n");
    agent.close();
    drop(lock);
    let ended = agent.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = ["agentStart", "hook.sessionStart", "an answer", "hook.sessionEnd", "agentEnd"];
    assert_eq!(ended.methods(), expected);
}

/// The name that could be told is that of another directory, which may well be there.
#[test]
fn a_directory_whose_name_is_no_text_is_refused() {
    let name = OsStr::from_bytes(b"caf\xe9");
    for words in WAYS {
        let stage = AutoStage::new();
        let project = stage.0.path("project");
        let directory = project.join(name);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::create_dir_all(project.join("caf\u{fffd}")).unwrap();
        for ahead in [&[][..], &[OsStr::new("--path"), name]] {
            let mut command = stage.0.command(words);
            command.args(ahead).current_dir(if ahead.is_empty() { &directory } else { &project });
            let mut agent = Agent::start(command);
            assert_eq!(agent.call("getState", json!({}))["code"], -32010);
            agent.close();
            let ended = agent.end();
            assert!(ended.code == Some(1) && ended.stderr.contains("is not UTF-8"), "{ended:?}");
        }
    }
}

/// It has nothing to do with where its client is.
#[test]
fn a_server_that_was_started_for_nobody_asks_where_to_work() {
    let stage = AutoStage::new();
    let mut agent = agent(&stage, &["rpc"]);
    agent.session();
    let mut socket = UnixStream::connect(stage.0.path(RUN).join("rpc.sock")).unwrap();
    socket.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"autohand.getState\"}\n").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut told = String::new();
    socket.read_to_string(&mut told).unwrap();
    assert!(told.contains("-32010") && told.contains(r#"\"cwd\""#), "{told}");
    agent.close();
    agent.end();
}

#[test]
fn a_spawn_that_asks_nothing_leaves_no_session() {
    let stage = AutoStage::playing(WRITE);
    let mut first = agent(&stage, &["rpc", "--yes"]);
    let used = first.session();
    first.prompt();
    first.until("turnEnd");
    first.close();
    first.end();
    let mut second = agent(&stage, &["rpc"]);
    let unused = second.session();
    second.close();
    second.end();
    let listed = stage.0.run(&["sessions", "--json"]).stdout;
    assert!(listed.contains(&used) && !listed.contains(&unused), "{listed}");
    assert_eq!(agent(&stage, &["rpc", "--continue"]).session(), used);
}

#[test]
fn a_signal_while_a_server_is_waited_for_ends_it_without_a_word() {
    let stage = AutoStage::new();
    let lock = lock_start(&stage);
    let mut command = stage.0.command(&["rpc"]);
    // It says when it waits for the lock.
    command.env("AUTOHAND_DEBUG", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let mut first = [0; 1];
    child.stderr.as_mut().unwrap().read_exact(&mut first).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));
    drop(lock);
}

#[test]
fn logs_go_to_standard_error_alone() {
    for words in WAYS {
        let stage = AutoStage::playing(WRITE);
        let mut command = stage.0.command(words);
        command.env("AUTOHAND_DEBUG", "1").env("AUTOHAND_YES", "1");
        let mut agent = Agent::start(command);
        agent.prompt();
        agent.until("turnEnd");
        agent.close();
        // Whatever it said on standard output was read as a message.
        let ended = agent.end();
        assert_eq!(ended.code, Some(0));
        assert!(ended.stderr.contains("DEBUG"), "{ended:?}");
        // Wherever the engine runs: what the session is about is not the log's affair.
        for word in ["ses_", "greeting.txt", "hello"] {
            assert!(!ended.stderr.contains(word), "{word}: {ended:?}");
        }
    }
}
