//! What tasks go by: settings, trust for one command, and what a workspace brings for them.

use crate::auto::AutoStage;
use crate::plugins::{House, PROJECT, plugin};
use crate::stage::Stage;

const FORGE: &str = include_str!("tasks/plugin.py");

const MANIFEST: &str = "version: \"1\"\nname: forge\ntype: provider\nprotocol: \"1\"\n\
    executable:\n  command: [python3, ./plugin.py, plain]\n\
    provider:\n  name: forge\n  schemes: [forge]\n  capabilities: [read, list, snapshot]\n";

fn git(stage: &Stage, arguments: &[&str]) {
    let mut git = stage.program("git");
    git.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(stage.path("project"));
    let done = git.args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

#[test]
fn trust_for_one_command_lets_a_plugin_of_the_workspace_bring_a_task() {
    let stage = AutoStage::new();
    stage.0.write(&format!("{PROJECT}/forge/plugin.yaml"), MANIFEST);
    stage.0.write(&format!("{PROJECT}/forge/plugin.py"), FORGE);
    stage.0.write(
        "project/.mehrhof/config.yaml",
        "plugins:\n  enabled: [forge]\n  config:\n    forgge: {a: 1}\n",
    );
    let house = House::around(stage);
    let start = ["-q", "task", "start", "forge:7", "--place", "here", "--json"];
    let refused = house.run(&start);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("nobody knows `forge:`"), "{refused}");
    let why = "the plugin `forge` has it and may not run: its workspace is not trusted; `loggia trust`";
    assert!(refused.stderr.contains(why), "{refused}");
    assert!(refused.stderr.contains("hint: do that, and start the task again"), "{refused}");
    let task = house.json(&[&start[..], &["--trust"]].concat());
    assert_eq!((&task["provider"], &task["title"]), (&"forge".into(), &"Greet people".into()));
    assert_eq!(house.state("forge"), "untrusted", "it was for that command alone");
    house.done(&["-q", "trust", "--yes"]);
    let listed = house.done(&["plugin"]);
    let expected = "PLUGIN_NOT_FOUND: `.mehrhof/config.yaml` configures `forgge`, which is not enabled here";
    assert!(listed.stderr.contains(expected), "{listed}");
    house.end();
}

#[test]
fn the_agent_that_mehrhofs_file_names_does_tasks_where_the_workspace_is_trusted() {
    let stage = AutoStage::new();
    plugin(&stage.0, PROJECT, "agent", "echo", &[]);
    let config =
        "plugins:\n  enabled: [echo]\nagent:\n  default: echo\n  steps:\n    reviewing: {name: claude}\n";
    stage.0.write("project/.mehrhof/config.yaml", config);
    let house = House::around(stage);
    let told = house.done(&["-q", "trust", "--yes"]);
    let expected = ".mehrhof/config.yaml: has tasks done by `echo`, if a plugin is called so";
    assert!(told.stderr.contains(expected), "{told}");
    house.json(&["-q", "task", "start", "text:Greet", "--place", "here", "--json"]);
    let planned = house.done(&["-q", "task", "plan"]);
    assert!(planned.stdout.contains("The plugin has token"), "{planned}");
    house.done(&["-q", "trust", "--revoke"]);
    let planned = house.done(&["-q", "task", "plan"]);
    assert!(!planned.stdout.contains("The plugin has token"), "{planned}");
    house.end();
}

#[test]
fn branches_and_commits_are_called_as_the_settings_say() {
    let stage = AutoStage::new();
    let project = &stage.0;
    let settings = project.read("home/.config/loggia/config.toml");
    project.user_file(&format!("{settings}\n[tasks]\nbranch = \"work/{{slug}}\"\nscheme = \"text\"\n"));
    std::fs::remove_dir_all(project.path("project/.git")).unwrap();
    project.write("project/README.md", "Demo\n");
    project.write("home/.gitconfig", "[user]\nname = Alice\nemail = alice@example.org\n");
    git(project, &["init", "--quiet", "--initial-branch=main"]);
    git(project, &["add", "."]);
    git(project, &["commit", "--quiet", "-m", "first"]);
    // What was installed here is no change of the project.
    project.write("project/.loggia/plugins/forge/plugin.yaml", MANIFEST);
    let house = House::around(stage);
    let task = house.json(&["-q", "task", "start", "greet people kindly", "--json"]);
    assert_eq!(task["branch"]["name"], "work/greet-people-kindly");
    assert_eq!(task["provider"], "text");
    house.end();
}
