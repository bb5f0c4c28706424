//! What tasks go by: settings, trust for one command, and what a workspace brings for them.

use crate::auto::AutoStage;
use crate::plugins::{House, OWN, PROJECT, plugin};
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

/// Makes the project a repository with all there is in its first commit.
fn repository(stage: &Stage) {
    std::fs::remove_dir_all(stage.path("project/.git")).unwrap();
    stage.write("home/.gitconfig", "[user]\nname = Alice\nemail = alice@example.org\n");
    git(stage, &["init", "--quiet", "--initial-branch=main"]);
    git(stage, &["add", "."]);
    git(stage, &["commit", "--quiet", "-m", "first"]);
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
    let expected = ".mehrhof/config.yaml: has tasks done by `echo`, if an agent is called so";
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
    project.write("project/README.md", "Demo\n");
    repository(project);
    // What was installed here is no change of the project.
    project.write("project/.loggia/plugins/forge/plugin.yaml", MANIFEST);
    let house = House::around(stage);
    let task = house.json(&["-q", "task", "start", "greet people kindly", "--json"]);
    assert_eq!(task["branch"]["name"], "work/greet-people-kindly");
    assert_eq!(task["provider"], "text");
    house.end();
}

const MEHRHOF: &str = "plugins: {enabled: [echo]}\nagent: {default: quick}\n\
    agents:\n  quick: {extends: echo, description: For small things, args: [--fast], env: {PLUGIN_TOKEN: 'from-${HOUSE}'}}\n  \
      lost: {extends: claude}\n\
    env: {ECHO_PLUGIN_TOKEN: plain, CLAUDE_KEY: k}\n\
    git: {branch_pattern: 'm/{slug}', commit_prefix: ''}\nproviders: {default: text}\n";

/// A repository whose files say what Mehrhof goes by.
fn mehrhofs(more: &str) -> House {
    let stage = AutoStage::new();
    plugin(&stage.0, OWN, "agent", "echo", &[]);
    let settings = stage.0.read("home/.config/loggia/config.toml");
    stage.0.user_file(&format!("{settings}{more}"));
    stage.0.write("project/.mehrhof/config.yaml", MEHRHOF);
    stage.0.write("project/.mehrhof/.env", "HOUSE=abc\n");
    repository(&stage.0);
    House::around(stage)
}

#[test]
fn what_mehrhofs_file_says_of_agents_and_names_holds_where_the_workspace_is_trusted() {
    let house = mehrhofs("");
    let start = ["-q", "task", "start", "greet people", "--json"];
    assert_eq!(house.run(&start).code, Some(2), "there is no such file");
    let told = house.done(&["-q", "trust", "--yes"]).stderr;
    let told: Vec<&str> =
        told.lines().filter_map(|line| line.trim().strip_prefix(".mehrhof/config.yaml: ")).collect();
    assert_eq!(
        told,
        [
            "enables the plugin `echo`",
            "has tasks done by `quick`, if an agent is called so",
            "gives `PLUGIN_TOKEN` to the agent `echo`",
            "adds the agent `quick` (For small things), which is `echo` with `PLUGIN_TOKEN`",
            "reads references of tasks without a scheme as `text:`",
            "calls branches of tasks `m/{slug}`",
            "begins commits of tasks with ``",
        ]
    );
    let task = house.json(&start);
    assert_eq!((&task["provider"], &task["branch"]["name"]), (&"text".into(), &"m/greet-people".into()));
    let planned = house.done(&["-q", "task", "plan"]);
    assert!(planned.stdout.contains("The plugin has token from-abc"), "{planned}");
    let planned = house.done(&["-q", "task", "plan", "--agent", "echo"]);
    assert!(planned.stdout.contains("The plugin has token plain"), "{planned}");
    let refused = house.run(&["-q", "task", "plan", "--agent", "lost"]);
    let why = "it extends `claude`, and no plugin's agent is called so";
    assert!(refused.code != Some(0) && refused.stderr.contains(why), "{refused}");
    let listed = house.done(&["plugin"]).stderr;
    let left_out =
        "`.mehrhof/config.yaml`: the `args` of `agents.quick` are left out: agents of plugins take none";
    assert!(listed.contains(left_out), "{listed}");
    house.done(&["-q", "trust", "--revoke"]);
    let refused = house.run(&["-q", "task", "plan", "--agent", "quick"]);
    assert!(refused.code != Some(0), "{refused}");
    house.end();
}

#[test]
fn our_own_settings_of_tasks_count_before_mehrhofs() {
    let house = mehrhofs(
        "[tasks]\nbranch = \"own/{slug}\"\nagent = \"plugin:echo\"\n[plugins]\nenabled = [\"echo\"]\n",
    );
    let told = house.done(&["-q", "trust", "--yes"]).stderr;
    assert!(told.contains("without a scheme as `text:`") && !told.contains("calls branches"), "{told}");
    let task = house.json(&["-q", "task", "start", "greet people", "--json"]);
    assert_eq!((&task["provider"], &task["branch"]["name"]), (&"text".into(), &"own/greet-people".into()));
    let planned = house.done(&["-q", "task", "plan"]);
    assert!(planned.stdout.contains("The plugin has token plain"), "{planned}");
    house.end();
}
