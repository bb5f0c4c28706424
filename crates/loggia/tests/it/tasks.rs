//! Tasks as people have them done: in a real repository, with a provider, an agent and a workflow that are plugins.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::auto::AutoStage;
use crate::plugins::{House, OWN};
use crate::server::body;
use crate::stage::Stage;

const SCRIPT: &str = include_str!("tasks/plugin.py");

/// What the scripted model plans, once, with what that costs.
const PLANS: &str = r##"
[[reply]]
expect = "Say hello to whoever comes."
parts = [{ text = "# Summary\n\nGreet people by name.\n\n# Details\n\nWrite `greeting.txt`." }]
usage = { input = 120, output = 14 }
"##;

/// Runs git in the project, and gives what it says.
pub(crate) fn git(stage: &Stage, arguments: &[&str]) -> String {
    let mut git = stage.program("git");
    git.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(stage.path("project"));
    let done = git.args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// The titles of a branch's commits, the newest first.
pub(crate) fn history(stage: &Stage, branch: &str) -> Vec<String> {
    git(stage, &["log", "--topo-order", "--format=%s", branch]).lines().map(str::to_owned).collect()
}

/// Puts one of the plugins where the user's own are.
fn plugin(stage: &Stage, kind: &str, name: &str, habit: &str) {
    let part = match kind {
        "provider" => {
            "provider:\n  name: forge\n  schemes: [forge]\n  capabilities: [read, list, snapshot]\n"
                .to_owned()
        }
        "agent" => format!("agent:\n  name: {name}\n"),
        _ => "workflow:\n  guards:\n    - name: approvalGiven\n".to_owned(),
    };
    let manifest = format!(
        "version: \"1\"\nname: {name}\ntype: {kind}\nprotocol: \"1\"\n\
         executable:\n  command: [python3, ./plugin.py, {habit}]\n{part}"
    );
    stage.write(&format!("{OWN}/{name}/plugin.yaml"), manifest);
    stage.write(&format!("{OWN}/{name}/plugin.py"), SCRIPT);
    // Where a server keeps its data, nobody else may look in.
    let data = stage.path("home/.local/share/loggia");
    std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// What a plugin was asked, one thing a line.
pub(crate) fn asked(house: &House, name: &str) -> Vec<String> {
    let text = house.stage.0.read(&format!("{OWN}/{name}/asked.log"));
    text.lines().map(str::to_owned).collect()
}

/// A house in a repository with one commit, with plugins that are enabled.
pub(crate) fn house(plugins: &[(&str, &str, &str)]) -> House {
    house_on(AutoStage::new(), &[], plugins)
}

/// The same around a stage whose project holds these files besides.
pub(crate) fn house_on(stage: AutoStage, files: &[(&str, &str)], plugins: &[(&str, &str, &str)]) -> House {
    let project = &stage.0;
    repository(project, files);
    for (kind, name, habit) in plugins {
        plugin(project, kind, name, habit);
    }
    let house = House::around(stage);
    for (_, name, _) in plugins {
        house.done(&["plugin", "enable", name]);
    }
    house
}

/// Makes a repository of the project, with one commit of these files and a page.
pub(crate) fn repository(project: &Stage, files: &[(&str, &str)]) {
    std::fs::remove_dir_all(project.path("project/.git")).unwrap();
    project.write("project/README.md", "Demo\n");
    for (path, text) in files {
        project.write(&format!("project/{path}"), text);
    }
    project.write("home/.gitconfig", "[user]\nname = Alice\nemail = alice@example.org\n");
    git(project, &["init", "--quiet", "--initial-branch=main"]);
    git(project, &["add", "."]);
    git(project, &["commit", "--quiet", "-m", "first"]);
}

pub(crate) const FORGE: (&str, &str, &str) = ("provider", "forge", "plain");
pub(crate) const CODER: (&str, &str, &str) = ("agent", "coder", "plain");
pub(crate) const GATE: (&str, &str, &str) = ("workflow", "gate", "plain");

/// Starts the task of the forge, whose steps the plugin's agent does.
pub(crate) fn start(house: &House) -> Value {
    house.json(&["task", "start", "forge:7", "--agent", "plugin:coder", "--policy", "auto-edit", "--json"])
}

pub(crate) fn status(house: &House, id: &str) -> Value {
    house.json(&["task", "status", "--task", id, "--json"])
}

/// What the session of a task tells of it, in lines, with whoever asked for it left out.
fn told(house: &House, session: &str) -> Vec<String> {
    let page = body(&house.server.get_locally(&format!("/v1/sessions/{session}/events?limit=1000")));
    let events = page["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "task");
    let line = |event: &Value| {
        let line = event["message"].as_str().unwrap().strip_prefix("task: ").unwrap();
        line.split(", says ").next().unwrap().split(" by ").next().unwrap().to_owned()
    };
    events.map(line).collect()
}

#[test]
fn a_task_goes_from_a_plugin_to_a_merged_change() {
    let house = house_on(AutoStage::playing(PLANS), &[], &[FORGE, CODER, GATE]);
    let stage = &house.stage.0;
    let items = house.done(&["task", "browse", "forge"]);
    assert!(items.stdout.contains("forge:7    open    friendly  Greet people"), "{items}");

    // The model plans; the plugin does it and looks at it, by its name in full and by its name alone.
    let agents = ["--implement-agent", "plugin:coder", "--review-agent", "coder", "--policy", "auto-edit"];
    let task = house.json(&[&["task", "start", "forge:7", "--json"][..], &agents].concat());
    let id = task["task_id"].as_str().unwrap();
    assert_eq!(task["branch"]["name"], "feature/DEMO-7--greet-people");
    assert_eq!(git(stage, &["branch", "--show-current"]), "feature/DEMO-7--greet-people");
    assert!(house.done(&["task"]).stdout.contains("Greet people"));

    let planned = house.done(&["task", "plan"]);
    assert!(planned.stdout.contains("Greet people by name."), "{planned}");
    assert!(planned.stderr.contains("`loggia task implement` comes next."), "{planned}");
    let file = |name: &str| stage.read(&format!("project/.loggia/tasks/{id}/{name}"));
    let plan = "# Summary\n\nGreet people by name.\n\n# Details\n\nWrite `greeting.txt`.\n";
    assert_eq!(file("specifications/specification-1.md"), plan);
    assert_eq!(file("source/7.md"), "# Greet people\n\nSay hello to whoever comes.\n");
    let cost = "calls = 1\ninput_tokens = 120\ncached_tokens = 0\noutput_tokens = 14\n";
    let costs = file("costs.toml");
    assert!(costs.contains(&format!("[steps.\"planning\"]\n{cost}")), "{costs}");
    assert!(costs.ends_with(&format!("[total]\n{cost}")), "{costs}");

    let implemented = house.done(&["task", "implement", "--yes"]);
    assert!(implemented.stderr.contains("task: implementing is done"), "{implemented}");
    assert_eq!(stage.read("project/greeting.txt"), "Hello, you!\n");
    assert_eq!(git(stage, &["status", "--porcelain"]), "");

    let undone = house.json(&["task", "undo", "--json"]);
    assert_eq!((&undone["position"], &undone["checkpoint"]), (&"planning".into(), &2.into()));
    assert!(!stage.path("project/greeting.txt").exists());
    assert_eq!(history(stage, "HEAD"), ["first"]);
    let redone = house.json(&["task", "redo", "--json"]);
    assert_eq!((&redone["position"], &redone["checkpoint"]), (&"implementing".into(), &3.into()));
    assert_eq!(stage.read("project/greeting.txt"), "Hello, you!\n");

    // The workflow's step follows the review, and nobody has approved yet.
    house.done(&["task", "review"]);
    assert_eq!(file("reviews/review-1.md"), "There are no faults.\n");
    let held = status(&house, id);
    assert_eq!((&held["phase"], &held["held"]["reason"]), (&"paused".into(), &"nobody approved it".into()));
    let refused = house.run(&["task", "finish", "--merge"]);
    assert_eq!(refused.code, Some(6), "{refused}");
    assert!(refused.stderr.contains("nobody approved it"), "{refused}");
    house.done(&["task", "set", "approved", "true"]);
    house.done(&["task", "note", "approved", "for", "Alice"]);
    assert!(file("notes.md").ends_with("\n\napproved for Alice\n"));
    let finished = house.done(&["task", "finish", "--merge", "--json"]);
    let last: Value = serde_json::from_str(finished.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["outcome"]), (&"task.ended".into(), &"done".into()), "{finished}");
    assert_eq!(last["task"]["delivery"]["into"], "main");

    assert_eq!(git(stage, &["branch", "--show-current"]), "main");
    assert_eq!(git(stage, &["show", "main:greeting.txt"]), "Hello, you!");
    let expected = ["[DEMO-7] Greet people", "[DEMO-7] checkpoint 3: implementing", "first"];
    assert_eq!(history(stage, "main"), expected);
    assert_eq!(
        asked(&house, "forge"),
        ["provider.init", "provider.list", "provider.parse", "provider.fetch", "provider.snapshot"]
    );
    assert_eq!(asked(&house, "coder"), ["implements", "reviews"]);
    assert_eq!(
        asked(&house, "gate"),
        [
            "guard approvalGiven: False",
            "guard approvalGiven: False",
            "guard approvalGiven: True",
            "effect notify: phase_entered approval",
            "effect notify: phase_exited approval",
        ]
    );
    assert_eq!(
        told(&house, task["session_id"].as_str().unwrap()),
        [
            "started",
            "checkpoint 1 after start",
            "start is done",
            "enters planning",
            "has specification 1",
            "checkpoint 2 after planning",
            "planning is done",
            "enters implementing",
            "checkpoint 3 after implementing",
            "implementing is done",
            "went to checkpoint 2",
            "went to checkpoint 3",
            "enters reviewing",
            "has review 1",
            "checkpoint 4 after reviewing",
            "reviewing is done",
            "approvalGiven of gate stops it before approval: nobody approved it",
            "approvalGiven of gate stops it before approval: nobody approved it",
            "approved = true",
            "note",
            "enters approval",
            "ran notify of gate at approval (entered)",
            "ran notify of gate at approval (left)",
            "approval is done",
            "enters done",
            "there is no quality to pass",
            "checkpoint 5 after done",
            "was merged into main",
            "finished",
        ]
    );
    let none = house.run(&["task", "plan"]);
    assert_eq!(none.code, Some(2), "{none}");
    assert!(none.stderr.contains("no task of this workspace is under way"), "{none}");
    house.server.end();
}

#[test]
fn a_task_is_done_while_nobody_looks() {
    let house = house(&[FORGE, CODER]);
    let told = house.done(&[
        "task",
        "auto",
        "forge:7",
        "--agent",
        "plugin:coder",
        "--policy",
        "auto-edit",
        "--yes",
        "--merge",
        "--squash",
    ]);
    assert!(told.stderr.contains("is done: Greet people"), "{told}");
    assert_eq!(git(&house.stage.0, &["show", "main:greeting.txt"]), "Hello, you!");
    assert_eq!(history(&house.stage.0, "main"), ["[DEMO-7] Greet people", "first"]);
    assert_eq!(asked(&house, "coder"), ["plans", "implements"]);
    house.server.end();
}

#[test]
fn an_address_is_claimed_by_the_plugin_that_knows_it() {
    let house = house(&[FORGE]);
    let task = house.json(&["task", "start", "https://forge.example/7", "--json"]);
    assert_eq!((&task["title"], &task["provider"]), (&"Greet people".into(), &"forge".into()), "{task}");
    assert_eq!(
        asked(&house, "forge"),
        ["provider.init", "provider.match", "provider.parse", "provider.fetch", "provider.snapshot"]
    );
    house.server.end();
}

/// A task whose provider fails is told with the plugin, the method and its last words, and leaves nothing behind.
#[test]
fn a_provider_that_dies_leaves_no_task_behind() {
    let house = house(&[("provider", "forge", "die-fetch")]);
    let refused = house.run(&["task", "start", "forge:7"]);
    assert_eq!(refused.code, Some(5), "{refused}");
    for words in
        ["plugin `forge`, `provider.fetch`: it ended with exit status 3", "stderr: the forge is cold"]
    {
        assert!(refused.stderr.contains(words), "{refused}");
    }
    let stage = &house.stage.0;
    assert_eq!(git(stage, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(git(stage, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(house.json(&["task", "list", "--all", "--json"])["tasks"], Value::Array(Vec::new()));
    // The server goes on.
    assert_eq!(house.json(&["task", "start", "text:Something else", "--json"])["title"], "Something else");
    house.end();
}

#[test]
fn a_provider_that_hangs_holds_nobody_else_up() {
    let house = house(&[("provider", "forge", "hang-fetch")]);
    let stage = &house.stage.0;
    let mut start = stage.command(&["task", "start", "forge:7"]);
    let start = start.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let hung = stage.path(&format!("{OWN}/forge/hung"));
    while !hung.exists() {
        std::thread::yield_now();
    }
    assert_eq!(house.json(&["task", "list", "--json"])["tasks"], Value::Array(Vec::new()));
    let other = house.json(&["task", "start", "text:Something else", "--json"]);
    assert_eq!(house.run(&["status"]).code, Some(0));

    let pid = std::fs::read_to_string(hung).unwrap().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let told = start.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(5), "{said}");
    for words in ["plugin `forge`, `provider.fetch`: it ended with", "stderr: waiting in fetch"] {
        assert!(said.contains(words), "{said}");
    }
    let listed = house.json(&["task", "list", "--all", "--json"]);
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["tasks"][0]["task_id"], other["task_id"]);
    house.end();
}

#[test]
fn what_stands_in_the_way_is_told_with_what_to_do() {
    let house = house(&[FORGE]);
    let says = |arguments: &[&str], code: i32, words: &[&str]| {
        let told = house.run(arguments);
        assert_eq!(told.code, Some(code), "{arguments:?}: {told}");
        words.iter().for_each(|word| assert!(told.stderr.contains(word), "{word}: {told}"));
    };
    says(&["task", "start", "jira:1"], 2, &["nobody knows `jira:`", "`forge:`", "hint:"]);
    says(&["task", "start", "forge:8"], 2, &["there is no such item"]);
    says(&["task", "status", "--task", "00000000"], 2, &["there is no task", "`loggia task list --all`"]);
    house.stage.0.write("project/README.md", "mine\n");
    says(&["task", "start", "forge:7"], 6, &["`README.md`", "commit or stash them first"]);
    git(&house.stage.0, &["checkout", "--quiet", "README.md"]);
    house.done(&["task", "start", "forge:7"]);
    says(&["task", "implement"], 6, &["plan it first", "`loggia task status`"]);
    says(&["task", "answer", "yes"], 6, &["cannot answer"]);
    says(&["task", "override"], 6, &["no guard holds the task back"]);
    says(&["task", "start", "forge:7"], 6, &["is under way here"]);
    says(&["task", "abandon"], 2, &["not done without a yes"]);
    let console = house.done(&["attach", "-c", "tasks"]);
    assert!(console.stdout.contains("Greet people"), "{console}");
    house.done(&["task", "abandon", "--yes"]);
    assert_eq!(git(&house.stage.0, &["branch", "--format=%(refname:short)"]), "main");
    assert!(house.done(&["task", "list"]).stderr.contains("There are no tasks under way"));
    house.server.end();
}
