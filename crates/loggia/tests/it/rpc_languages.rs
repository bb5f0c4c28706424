//! The agent as programs in other languages use it, with nothing but their standard libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::auto::AutoStage;
use crate::rpc_agent::WRITE;

/// What each of them sees.
const SEEN: &str = "\
state: idle
accepted: yes
asked: write_file greeting.txt
tool started: write_file
file: create greeting.txt
tool ended: write_file well
said: Done.
turn ended: completed
agent ended: aborted
exit: 0
";

/// A client in a language whose interpreter has this name.
fn client(stage: &AutoStage, interpreter: &str, script: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found: Option<PathBuf> =
        std::env::split_paths(&path).map(|directory| directory.join(interpreter)).find(|path| path.is_file());
    let Some(found) = found else {
        panic!("there is no `{interpreter}` on the path; install it to run this test, see CONTRIBUTING.md")
    };
    let mut command = stage.0.program(found.to_str().unwrap());
    // A shim that chooses between versions needs the path, too.
    command.env("PATH", path).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/rpc").join(script));
    command
}

/// Without blank lines, which a step of the model that says nothing leaves, and with one word for yes.
fn told(text: &str) -> String {
    let lines = text.lines().filter(|line| line.trim() != "said:");
    lines.map(|line| line.replace("True", "yes").replace("true", "yes") + "\n").collect()
}

#[test]
fn a_client_in_python_has_a_turn() {
    let stage = AutoStage::playing(WRITE);
    let mut python = client(&stage, "python3", "client.py");
    python.args([env!("CARGO_BIN_EXE_loggia"), "--mode", "rpc", "--skills", "a,b", "--no-such-flag"]);
    let shown = stage.0.finish(python, b"");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown}");
    assert_eq!(told(&shown.stdout), SEEN);
    assert_eq!(stage.0.read("project/greeting.txt"), "hello\n");
}

#[test]
fn a_client_in_javascript_has_a_turn_with_the_agent_it_looks_for() {
    let stage = AutoStage::playing(WRITE);
    let autohand = stage.0.path("autohand");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_loggia"), &autohand).unwrap();
    let mut node = client(&stage, "node", "client.mjs");
    node.arg(&autohand).arg("--rpc");
    let shown = stage.0.finish(node, b"");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown}");
    assert_eq!(told(&shown.stdout), SEEN);
    assert_eq!(stage.0.read("project/greeting.txt"), "hello\n");
}
