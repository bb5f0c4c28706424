//! What a workspace brings counts only while the workspace is trusted.

use crate::auto::AutoStage;
use crate::plugins::{House, PROJECT, noted, plugin, until_gone};
use crate::pty::screen::OnTerminal;

const STARTS: &str = "project/.mehrhof/plugins/echo/starts.log";

/// A workspace in Mehrhof's own form: an agent that is enabled and configured there, and a secret.
fn workspace() -> AutoStage {
    let stage = AutoStage::new();
    plugin(&stage.0, PROJECT, "agent", "echo", &[]);
    let config = "plugins:\n  enabled: [echo]\n  config:\n    echo: {city: Ulm}\n";
    stage.0.write("project/.mehrhof/config.yaml", config);
    stage.0.write("project/.mehrhof/.env", "# secret\nPLUGIN_TOKEN=abc\n");
    stage.0.write("project/.loggia/config.toml", "[policy]\nmax_steps = 500\n");
    stage
}

fn house() -> House {
    House::around(workspace())
}

const ASK: &[&str] = &["-q", "ask", "-m", "plugin:echo", "hello"];
const SAID: &str = "The plugin has token abc and is in Ulm.";

#[test]
fn asking_for_trust_shows_exactly_what_would_run() {
    let house = house();
    insta::assert_snapshot!(house.run(&["-q", "plugin", "list"]), @"
    exit: 0
    --- stdout
    NAME  TYPE   SCOPE    ENABLED  STATE        DESCRIPTION
    echo  agent  project  no       not trusted  The echo of tests
    --- stderr
    warning: plugins of this workspace are not trusted; `loggia trust` shows what would run, and lets it
    [END]
    ");
    insta::assert_snapshot!(house.run(&["-q", "trust"]), @"
    exit: 2
    --- stderr
    These programs of [STAGE]/project would run when they are needed:
      echo: python3 ./plugin.py  [STAGE]/project/.mehrhof/plugins/echo
    And this would hold:
      .loggia/config.toml: policy.max_steps = 500
      .mehrhof/config.yaml: enables the plugin `echo`
      .mehrhof/config.yaml: configures the plugin `echo`
      .mehrhof/.env: sets `PLUGIN_TOKEN` for plugins
    What is added to it later is trusted as well, until `loggia trust --revoke`.
    error: not done without a yes: Trust [STAGE]/project?

    hint: say yes beforehand, with `--yes`, or run it in a terminal
    [END]
    ");
    assert_eq!(house.state("echo"), "untrusted");
    insta::assert_snapshot!(house.run(&["-q", "trust", "--yes"]), @"
    exit: 0
    --- stdout
    [STAGE]/project is trusted
    --- stderr
    These programs of [STAGE]/project would run when they are needed:
      echo: python3 ./plugin.py  [STAGE]/project/.mehrhof/plugins/echo
    And this would hold:
      .loggia/config.toml: policy.max_steps = 500
      .mehrhof/config.yaml: enables the plugin `echo`
      .mehrhof/config.yaml: configures the plugin `echo`
      .mehrhof/.env: sets `PLUGIN_TOKEN` for plugins
    What is added to it later is trusted as well, until `loggia trust --revoke`.
    [END]
    ");
    assert_eq!(house.state("echo"), "ready");
    insta::assert_snapshot!(house.run(&["trust", "--list"]), @"
    exit: 0
    --- stdout
    [STAGE]/project
    [END]
    ");
    insta::assert_snapshot!(house.run(&["trust"]), @"
    exit: 0
    --- stdout
    [STAGE]/project is trusted already
    [END]
    ");
    assert!(noted(&house.stage.0, STARTS).is_empty(), "nothing was started by that");
    house.end();
}

#[test]
fn a_key_on_a_terminal_decides() {
    let house = house();
    for (key, code, state) in [("n", 6, "untrusted"), ("y", 0, "ready")] {
        let terminal = OnTerminal::start(&house.stage.0.command(&["-q", "trust"]), 24, 100);
        terminal.until("y yes  n no");
        terminal.press(key);
        let ended = terminal.end();
        assert_eq!(ended.code(), Some(code), "{}", ended.shown.text());
        assert_eq!(house.state("echo"), state);
    }
    house.end();
}

#[test]
fn a_plugin_of_the_workspace_runs_when_it_is_trusted_and_stops_when_it_is_not() {
    let house = house();
    let refused = house.run(ASK);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(noted(&house.stage.0, STARTS).is_empty(), "{refused}");
    house.done(&["-q", "trust", "--yes"]);
    let told = house.done(ASK);
    assert!(told.stdout.contains(SAID), "{told}");
    assert_eq!(house.state("echo"), "running");
    insta::assert_snapshot!(house.run(&["trust", "--revoke"]), @"
    exit: 0
    --- stdout
    [STAGE]/project is trusted no longer
    [END]
    ");
    assert_eq!(house.state("echo"), "untrusted");
    let started = noted(&house.stage.0, STARTS);
    until_gone(&started);
    assert_eq!(house.json(&["trust", "--list", "--json"]), serde_json::json!([]));
    assert_ne!(house.run(ASK).code, Some(0));
    assert_eq!(noted(&house.stage.0, STARTS), started, "it was not started again");
    house.end();
}

#[test]
fn trust_for_one_run_ends_with_it() {
    let house = house();
    let told = house.done(&["-q", "ask", "--trust", "-m", "plugin:echo", "hello"]);
    assert!(told.stdout.contains(SAID), "{told}");
    assert_eq!(house.state("echo"), "untrusted");
    until_gone(&noted(&house.stage.0, STARTS));
    assert!(!house.stage.0.path("home/.local/share/loggia/trust.toml").exists());
    house.end();
}

#[test]
fn settings_of_mehrhof_that_cannot_be_read_are_told() {
    let house = house();
    house.stage.0.write("project/.mehrhof/config.yaml", "plugins: [\n");
    house.done(&["-q", "trust", "--yes"]);
    let told = house.done(&["plugin"]);
    assert!(told.stderr.contains(".mehrhof/config.yaml`: "), "{told}");
    let refused = house.run(ASK);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(refused.stderr.contains("which plugins are on cannot be told"), "{refused}");
    house.end();
}
