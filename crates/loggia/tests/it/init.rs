//! `loggia init`, and what commands say of settings that a server does not hear of.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::auto::AutoStage;
use crate::pty::screen::OnTerminal;
use crate::server::Server;
use crate::stage::{Stage, Transcript};

const CONFIG: &str = "home/.config/loggia/config.toml";
const KEY: &str = "home/.config/loggia/keys/openai";

/// A project without a model, and two scripts that could be one.
fn stage() -> AutoStage {
    let stage = Stage::new();
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    for name in ["one", "two"] {
        let script = format!("[[reply]]\nrepeat = true\nparts = [{{ text = \"I am {name}.\" }}]\n");
        stage.write(&format!("{name}.toml"), script);
    }
    AutoStage(stage)
}

fn model(stage: &AutoStage, name: &str) -> String {
    format!("scripted:{}", stage.0.path(&format!("{name}.toml")).display())
}

fn config(stage: &AutoStage) -> String {
    std::fs::read_to_string(stage.0.path(CONFIG)).unwrap()
}

fn ask(stage: &AutoStage) -> Transcript {
    stage.0.run(&["ask", "who are you?"])
}

#[test]
fn a_model_is_set_and_a_server_that_nobody_needs_follows() {
    let stage = stage();
    let shown = ask(&stage);
    assert!(shown.stdout.starts_with("No model is set") && shown.stdout.contains("`loggia init`"), "{shown}");
    let before = stage.pid();

    insta::assert_snapshot!(stage.0.run(&["init", "--model", &model(&stage, "one")]), @r"
    exit: 0
    --- stdout
    New sessions use scripted:[STAGE]/one.toml.
    --- stderr
    ✓ scripted:[STAGE]/one.toml is set in `[STAGE]/home/.config/loggia/config.toml`
    [END]
    ");
    assert_eq!(config(&stage), format!("[model]\ndefault = \"{}\"\n", model(&stage, "one")));
    assert_ne!(stage.pid(), before, "the old one had no model");
    assert_eq!(ask(&stage).stdout, "I am one.\n");

    let pid = stage.pid();
    insta::assert_snapshot!(stage.0.run(&["init", "--model", &model(&stage, "one")]), @r"
    exit: 0
    --- stdout
    New sessions use scripted:[STAGE]/one.toml.
    --- stderr
    ✓ nothing had to be changed: scripted:[STAGE]/one.toml is set already
    [END]
    ");
    assert_eq!(stage.pid(), pid, "nothing changed, so the server stays");
}

#[test]
fn what_is_set_is_replaced_only_with_a_yes() {
    let stage = stage();
    let written = format!("# Mine.\n[model]\ndefault = {:?} # good\n", model(&stage, "one"));
    stage.0.user_file(&written);
    insta::assert_snapshot!(stage.0.run(&["init", "--model", &model(&stage, "two")]), @r"
    exit: 2
    --- stderr
    error: not done without a yes: Use scripted:[STAGE]/two.toml for new sessions instead of scripted:[STAGE]/one.toml?

    hint: say yes beforehand, with `--yes`, or run it in a terminal
    [END]
    ");
    assert_eq!(config(&stage), written);
    let shown = stage.0.run(&["init", "--yes", "--json", "--test", "--model", &model(&stage, "two")]);
    let told: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    assert_eq!((&told["changed"], &told["effective"]), (&true.into(), &true.into()), "{told}");
    assert_eq!((&told["test"]["works"], &told["key_kept_in"]), (&true.into(), &Value::Null), "{told}");
    assert_eq!(config(&stage), written.replace("one.toml", "two.toml"));
    assert_eq!(ask(&stage).stdout, "I am two.\n");
}

#[test]
fn a_choice_that_was_made_at_the_server_is_made_anew() {
    let stage = stage();
    assert_eq!(stage.0.run(&["init", "--model", &model(&stage, "one")]).code, Some(0));
    assert_eq!(stage.0.run(&["model", "use", &model(&stage, "one")]).code, Some(0));
    let shown = stage.0.run(&["init", "--yes", "--model", &model(&stage, "two")]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert_eq!(ask(&stage).stdout, "I am two.\n");
}

#[test]
fn a_key_is_kept_where_only_its_owner_can_read_it() {
    let stage = stage();
    let shown = stage.0.run_on(b"sk-first\n", &["init", "--model", "openai:gpt-5", "--key-stdin"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "New sessions use openai:gpt-5.\n"), "{shown}");
    assert!(!shown.to_string().contains("sk-first"), "{shown}");
    let path = stage.0.path(KEY);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "sk-first\n");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(stage.status()["model"], "openai:gpt-5");
    let log = std::fs::read_to_string(stage.0.path("home/.local/share/loggia/daemon.log")).unwrap();
    assert!(!log.contains("sk-first"), "{log}");
    // Another one is not put in its place without a word.
    let other = b"sk-second";
    let shown = stage.0.run_on(other, &["init", "--model", "openai:gpt-5", "--key-stdin"]);
    assert_eq!(shown.code, Some(2), "{shown}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "sk-first\n");
    let shown = stage.0.run_on(other, &["init", "--yes", "--model", "openai:gpt-5", "--key-stdin"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "sk-second\n");
    // With the key there, none is needed any more.
    assert_eq!(stage.0.run(&["init", "--model", "openai:gpt-5"]).code, Some(0));
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let stage = stage();
    insta::assert_snapshot!(stage.0.run(&["init"]), @r"
    exit: 2
    --- stderr
    error: no model was named, and nobody can be asked

    hint: run it in a terminal, or name one: `loggia init --model PROVIDER:MODEL`, with `--key-stdin` if it needs a key
    [END]
    ");
    insta::assert_snapshot!(stage.0.run(&["init", "--model", "openai:gpt-5"]), @r"
    exit: 2
    --- stderr
    error: openai needs a key, and none is set

    hint: pipe it in with `--key-stdin`, or set `OPENAI_API_KEY`
    [END]
    ");
    insta::assert_snapshot!(stage.0.run_on(b"two words", &["init", "--model", "openai:gpt-5", "--key-stdin"]), @r"
    exit: 2
    --- stderr
    error: this is no key: a key is one word

    hint: copy it whole, without quotes, from the provider's page
    [END]
    ");
    insta::assert_snapshot!(stage.0.run_on(b"sk", &["init", "--model", "ollama:qwen3", "--key-stdin"]), @r"
    exit: 2
    --- stderr
    error: a key was given, and `ollama` is no provider that is known to take one

    hint: leave out `--key-stdin`; an endpoint of your own names its key in `models.NAME.key_file`
    [END]
    ");
    let shown = stage.0.run(&["init", "--model", "opnai:gpt-5"]);
    assert!(shown.code == Some(3) && shown.stderr.contains("did you mean `openai:gpt-5`?"), "{shown}");
    assert!(!stage.0.path(CONFIG).exists(), "nothing was set up");
}

#[test]
fn a_server_that_was_started_by_hand_stays_and_that_is_told() {
    let stage = stage();
    let server = Server::start(&stage.0, &[]);
    let shown = stage.0.run(&["init", "--model", &model(&stage, "one")]);
    let follows_later = "New sessions will use scripted:[STAGE]/one.toml once the server is started again, after `loggia stop`.\n";
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), follows_later), "{shown}");
    assert!(shown.stderr.contains("run `loggia stop` and start it again"), "{shown}");
    // It is no more in use the second time.
    let shown = stage.0.run(&["init", "--model", &model(&stage, "one")]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), follows_later), "{shown}");
    assert!(shown.stderr.contains("run `loggia stop` and start it again"), "{shown}");
    assert_eq!(stage.pid(), Some(i32::try_from(server.pid()).unwrap()));
}

#[test]
fn a_key_file_that_is_relative_is_refused() {
    let stage = stage();
    let written = "[models.openai]\nkey_file = \"rel/key\"\n";
    stage.0.user_file(written);
    insta::assert_snapshot!(stage.0.run_on(b"sk-test", &["init", "--model", "openai:gpt-5", "--key-stdin"]), @r"
    exit: 3
    --- stderr
    error: `models.openai.key_file` is not an absolute path: `rel/key`

    hint: write the whole path, from `/` on, since the server runs elsewhere; or remove `models.openai.key_file` from your configuration
    [END]
    ");
    assert_eq!(config(&stage), written);
    assert!(!stage.0.path("project/rel").exists());
}

#[test]
fn where_a_key_is_kept_is_told_to_programs_as_a_path() {
    let stage = stage();
    let flags = ["init", "--json", "--model", "openai:gpt-5", "--key-stdin"];
    let shown = stage.0.run_on(b"sk-test", &flags);
    let told: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    assert_eq!(told["key_kept_in"], "[STAGE]/home/.config/loggia/keys/openai");
}

#[test]
fn a_models_name_cannot_steer_the_terminal() {
    let stage = stage();
    stage.0.write("o\u{1b}[31mdd.toml", "[[reply]]\nrepeat = true\nparts = [{ text = \"ok\" }]\n");
    let name = model(&stage, "o\u{1b}[31mdd");
    for arguments in [&["init", "--model", &name][..], &["model", "use", &name], &["model", "test"]] {
        let shown = stage.0.run(arguments);
        assert_eq!(shown.code, Some(0), "{shown}");
        assert!(!format!("{}{}", shown.stdout, shown.stderr).contains('\u{1b}'), "{shown}");
        assert!(shown.stdout.contains("o\\u{1b}[31mdd.toml"), "{shown}");
    }
}

#[test]
fn a_set_up_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let stage = stage();
    let terminal = OnTerminal::start(&stage.0.command(&["init", "--model", "openai:gpt-5"]), 24, 100);
    terminal.until("(it is not shown)");
    assert!(!terminal.is_restored());
    terminal.signal(Signal::TERM);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(7), true), "{}", ended.shown.text());
    assert!(!stage.0.path(CONFIG).exists());
}

#[test]
fn ctrl_c_is_heard_while_a_keyring_is_waited_for() {
    let stage = stage();
    let socket = stage.0.path("bus");
    let bus = UnixListener::bind(&socket).unwrap();
    let mut command = stage.0.command(&["init", "--model", "openai:gpt-5"]);
    command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
    let terminal = OnTerminal::start(&command, 24, 100);
    let _never_answered = bus.accept().unwrap();
    terminal.press("\x03");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(7), true), "{}", ended.shown.text());
    assert!(!ended.shown.has("The key of"), "it went on: {}", ended.shown.text());
}

/// A bus with a keyring that does not start, and its address; nothing where no bus is installed.
fn bus_without_keyring(stage: &AutoStage) -> Option<(Bus, String)> {
    stage.0.write(
        "bus/org.freedesktop.secrets.service",
        "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/false\n",
    );
    let configuration = format!(
        r#"<busconfig><type>session</type><listen>unix:path={0}/socket</listen><servicedir>{0}</servicedir>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>"#,
        stage.0.path("bus").display()
    );
    let configuration = stage.0.write("bus/bus.conf", configuration);
    let mut bus = stage.0.program("dbus-daemon");
    bus.arg("--config-file").arg(configuration).args(["--nofork", "--print-address"]);
    let mut bus = bus.env("PATH", "/usr/bin:/bin").stdout(Stdio::piped()).spawn().ok()?;
    let mut address = String::new();
    BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
    assert!(!address.is_empty(), "the bus did not start");
    Some((Bus(bus), address.trim().to_owned()))
}

/// A bus that ends with its test.
struct Bus(Child);

impl Drop for Bus {
    fn drop(&mut self) {
        // One that has ended already is as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_key_that_the_keyring_does_not_take_is_kept_in_a_file() {
    let stage = stage();
    let Some((_bus, address)) = bus_without_keyring(&stage) else { return };
    let mut command = stage.0.command(&["init", "--model", "openai:gpt-5", "--key-stdin"]);
    command.env("DBUS_SESSION_BUS_ADDRESS", address);
    let shown = stage.0.finish(command, b"sk-test");
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.stderr.starts_with("! the key is kept in a file instead: "), "{shown}");
    assert_eq!(stage.0.read(KEY), "sk-test\n");
}

#[test]
fn a_server_without_a_model_is_started_anew_where_a_key_is_set() {
    let stage = stage();
    ask(&stage);
    let before = stage.pid();
    assert_eq!(stage.0.run(&["model", "test"]).code, Some(8));
    assert_eq!(stage.pid(), before, "nothing here would help it");
    // Nobody is there, so nothing leaves this machine.
    let key = [("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")];
    let shown = stage.0.run_with(&key, &["doctor"]);
    assert!(!shown.stderr.contains("warning"), "{shown}");
    let after = stage.pid();
    assert_ne!(after, before);
    let environment = std::fs::read(format!("/proc/{}/environ", after.unwrap())).unwrap();
    assert!(String::from_utf8(environment).unwrap().contains("OPENAI_API_KEY=sk-test\0"));
    stage.0.run_with(&key, &["doctor"]);
    assert_eq!(stage.pid(), after, "it has the key, and no model at that address all the same");
}

#[test]
fn a_server_without_a_model_that_was_started_by_hand_stays_and_that_is_told() {
    let stage = stage();
    let server = Server::start(&stage.0, &[]);
    assert_eq!(ask(&stage).stderr, "", "nothing here would help it");
    let shown = stage.0.run_with(&[("OPENAI_API_KEY", "sk-test")], &["ask", "who are you?"]);
    assert!(shown.stdout.starts_with("No model is set"), "{shown}");
    assert!(shown.stderr.contains("keeps the keys it was started with"), "{shown}");
    assert!(shown.stderr.contains("hint: run `loggia stop`"), "{shown}");
    assert_eq!(stage.pid(), Some(i32::try_from(server.pid()).unwrap()));
}

#[test]
fn a_server_without_the_key_is_started_anew_when_its_model_is_chosen() {
    let stage = stage();
    ask(&stage);
    let before = stage.pid();
    let choose = ["model", "use", "openai:gpt-5"];
    assert_eq!(stage.0.run(&choose).code, Some(2));
    assert_eq!(stage.pid(), before, "nothing here would help it");
    let shown = stage.0.run_with(&[("OPENAI_API_KEY", "sk-test")], &choose);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "New sessions use openai:gpt-5.\n"), "{shown}");
    assert_ne!(stage.pid(), before);
}

#[test]
fn settings_that_the_server_does_not_hear_of_are_told_once() {
    let stage = AutoStage::new();
    let set = ["ask", "--set", "sandbox.network=true", "hello"];
    insta::assert_snapshot!(stage.0.run_with(&[("LOGGIA_POLICY_MAX_STEPS", "3")], &set), @r"
    exit: 0
    --- stdout
    Hello from the script.
    --- stderr
    warning: the server has its own settings, so this has no effect: `policy.max_steps` (by LOGGIA_POLICY_MAX_STEPS), `sandbox.network` (by --set)

    hint: put it into your configuration and run `loggia stop`; the next command starts a server that follows it. `loggia ask --ephemeral` follows it without a server
    [END]
    ");
    assert_eq!(stage.0.run(&["ask", "--set", "policy.preset=full", "hello"]).stderr, "", "it is passed on");
    let shown = stage.0.run(&["ask", "--ephemeral", "--set", "sandbox.network=true", "hello"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown}");
}

#[test]
fn a_server_that_was_started_by_hand_may_have_the_same_variables() {
    let stage = AutoStage::new();
    let _server = Server::start(&stage.0, &[]);
    let variables = [("LOGGIA_POLICY_MAX_STEPS", "3")];
    assert_eq!(stage.0.run_with(&variables, &["ask", "hello"]).stderr, "");
    let shown = stage.0.run(&["--set", "policy.max_steps=3", "sessions"]);
    assert!(shown.stderr.starts_with("warning: the server has its own settings"), "{shown}");
}

#[test]
fn a_script_that_the_server_does_not_play_is_told() {
    let stage = AutoStage::new();
    stage.0.write("other.toml", "[[reply]]\nparts = [{ text = \"Other.\" }]\n");
    let other = format!("scripted:{}", stage.0.path("other.toml").display());
    insta::assert_snapshot!(stage.0.run(&["ask", "-m", &other, "hello"]), @r"
    exit: 2
    --- stderr
    error: the server has no model `scripted:[STAGE]/other.toml`

    hint: a script is played by the process that is started with it: add `--ephemeral`, or run `loggia stop` and `loggia serve --model scripted:[STAGE]/other.toml`
    [END]
    ");
    let shown = stage.0.run(&["ask", "--ephemeral", "-m", &other, "hello"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "Other.\n"), "{shown}");
}
