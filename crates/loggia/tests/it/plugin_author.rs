//! `plugin new` and `plugin check`, as authors see them.

use crate::stage::Stage;

/// A stage on which programs are found.
fn run(stage: &Stage, arguments: &[&str]) -> crate::stage::Transcript {
    let path = std::env::var("PATH").unwrap();
    stage.run_with(&[("PATH", &path), ("PYTHONDONTWRITEBYTECODE", "1")], arguments)
}

#[test]
fn a_new_plugin_passes_the_check_and_tells_programs_so() {
    let stage = Stage::new();
    insta::assert_snapshot!(run(&stage, &["plugin", "new", "mine", "--type", "agent"]), @r"
    exit: 0
    --- stdout
    wrote mine/plugin.yaml
    wrote mine/plugin.py
    wrote mine/loggia_plugin.py
    --- stderr
    next: loggia plugin check mine
    [END]
    ");
    let shown = run(&stage, &["plugin", "check", "mine", "--json"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    let report: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((report["ok"].as_bool(), report["type"].as_str()), (Some(true), Some("agent")));
    let run = report["cases"].as_array().unwrap().iter().find(|case| case["name"] == "agent.run").unwrap();
    assert_eq!(run["outcome"], "passed");
}

#[test]
fn what_is_there_is_not_written_over() {
    let stage = Stage::new();
    run(&stage, &["plugin", "new", "mine", "--type", "workflow", "--language", "rust"]);
    insta::assert_snapshot!(run(&stage, &["plugin", "new", "mine", "--type", "workflow"]), @r"
    exit: 2
    --- stderr
    error: `mine` is there already

    hint: name another directory with `--directory DIR`
    [END]
    ");
}

#[test]
fn names_and_kits_that_are_none_are_refused() {
    let stage = Stage::new();
    insta::assert_snapshot!(run(&stage, &["plugin", "new", "My Plugin", "--type", "agent"]), @r"
    exit: 2
    --- stderr
    error: `My Plugin` is no name for a plugin: it begins with a letter and has letters, digits and `-`, all small

    hint: call it something like `my-tasks`
    [END]
    ");
    let arguments = ["plugin", "new", "mine", "--type", "agent", "--language", "rust", "--kit", "."];
    insta::assert_snapshot!(run(&stage, &arguments), @r"
    exit: 2
    --- stderr
    error: `.` is not the directory of the kit: it has no `Cargo.toml` of `loggia-plugin-kit`

    hint: name `sdk/rust/plugin` of a copy of Loggia's source
    [END]
    ");
}

#[test]
fn a_plugin_that_cannot_be_started_is_a_fault() {
    let stage = Stage::new();
    stage.write(
        "outside/broken/plugin.yaml",
        "version: 1\nname: broken\ntype: agent\nprotocol: 1\nexecutable:\n  command: [no-such-program]\nagent:\n  name: broken\n",
    );
    insta::assert_snapshot!(run(&stage, &["plugin", "check", "broken"]), @r"
    exit: 4
    --- stdout
    plugin `broken`, agent, in [STAGE]/outside/broken

      ok       manifest
      FAILED   executable
               expected  a program that can be started
               came      `no-such-program` is in no directory of PATH; is it installed?

    1 passed, 0 noted, 0 skipped, 1 failed
    [END]
    ");
}

#[test]
fn a_directory_that_is_not_there_and_a_configuration_that_is_none_are_refused() {
    let stage = Stage::new();
    insta::assert_snapshot!(run(&stage, &["plugin", "check", "nothing"]), @r"
    exit: 5
    --- stderr
    error: cannot read `nothing`
      cause: No such file or directory (os error 2)

    hint: see that it exists and can be read
    [END]
    ");
    let shown = run(&stage, &["plugin", "check", "--config", "[1]"]);
    assert_eq!(shown.code, Some(2), "{shown}");
    assert!(shown.stderr.contains("expected a JSON object"), "{shown}");
}
