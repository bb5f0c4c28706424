//! The commands about tasks, one by one: what they do, and what they print for programs.

use serde_json::{Value, json};

use crate::auto::AutoStage;
use crate::plugins::House;
use crate::tasks::{CODER, FORGE, GATE, asked, git, history, house, house_on, start, status};

/// A model that plans, writes a greeting, and is done.
const WRITES: &str = r##"
[[reply]]
parts = [{ text = "# Summary\n\nWrite a greeting." }]

[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "greeting.txt", content = "Hello!\n" } } }]

[[reply]]
repeat = true
parts = [{ text = "Done." }]
"##;

/// Every line of a command as JSON, with the last one apart: how all of it ended.
fn lines(house: &House, arguments: &[&str], code: i32) -> (Vec<Value>, Value) {
    let told = house.run(&[arguments, &["--json"]].concat());
    assert_eq!(told.code, Some(code), "{arguments:?}: {told}");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{arguments:?}: {told}"));
    let mut lines: Vec<Value> = told.stdout.lines().map(parse).collect();
    let last = lines.pop().unwrap();
    assert_eq!(last["type"], "task.ended", "{arguments:?}: {told}");
    (lines, last)
}

/// A task as a command tells it.
fn task(house: &House, arguments: &[&str]) -> Value {
    house.json(&[&["task"], arguments, &["--json"]].concat())
}

/// Some fields of a value.
fn fields(value: &Value, names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| value[name].clone()).collect()
}

#[test]
fn every_command_about_a_task_tells_programs_what_came_of_it() {
    let house = house(&[FORGE, CODER, GATE]);
    let items = task(&house, &["browse", "forge"]);
    let item = fields(&items["items"][0], &["reference", "title", "status", "tags"]);
    assert_eq!(item, [json!("forge:7"), json!("Greet people"), json!("open"), json!(["friendly"])]);
    assert_eq!(task(&house, &["list"]), json!({ "tasks": [] }));
    let id = start(&house)["task_id"].clone();
    assert_eq!(task(&house, &["list"])["tasks"][0]["task_id"], id);
    assert_eq!(task(&house, &["list", "--global"])["tasks"][0]["task_id"], id);

    let (events, planned) = lines(&house, &["task", "plan"], 0);
    assert_eq!(planned["outcome"], "done");
    assert_eq!(fields(&planned["task"], &["position", "specifications"]), [json!("planning"), json!(1)]);
    assert!(events.iter().all(|event| event["type"].is_string()), "{events:?}");
    let messages: Vec<&str> = events.iter().filter_map(|event| event["message"].as_str()).collect();
    assert!(messages.contains(&"task: has specification 1"), "{events:?}");

    let (_, implemented) = lines(&house, &["task", "implement", "--yes"], 0);
    assert_eq!(fields(&implemented["task"], &["position", "checkpoint"]), [json!("implementing"), json!(3)]);
    let undone = task(&house, &["undo", "--steps", "2"]);
    assert_eq!(fields(&undone, &["position", "checkpoint"]), [json!("idle"), json!(1)]);
    let redone = task(&house, &["redo", "--steps", "2"]);
    assert_eq!(fields(&redone, &["position", "checkpoint"]), [json!("implementing"), json!(3)]);

    let (_, reviewed) = lines(&house, &["task", "review", "--agent", "coder"], 0);
    let held = json!({
        "name": "approvalGiven",
        "plugin": "gate",
        "step": "approval",
        "reason": "nobody approved it",
        "can_override": true,
    });
    assert_eq!(fields(&reviewed["task"], &["phase", "held", "reviews"]), [json!("paused"), held, json!(1)]);
    let (_, refused) = lines(&house, &["task", "resume"], 6);
    assert_eq!(refused, json!({ "type": "task.ended", "outcome": "failed", "task": null }));

    assert_eq!(task(&house, &["note", "mind", "the", "umlauts"])["notes"], 1);
    assert_eq!(task(&house, &["set", "approved", "no, not yet"])["metadata"]["approved"], "no, not yet");
    assert_eq!(task(&house, &["set", "approved", "--unset"]).get("metadata"), None);
    let overridden = task(&house, &["override"]);
    assert_eq!(fields(&overridden, &["phase", "position"]), [json!("idle"), json!("reviewing")]);
    assert_eq!(overridden.get("held"), None);
    let (_, resumed) = lines(&house, &["task", "resume"], 0);
    assert_eq!(fields(&resumed["task"], &["phase", "position"]), [json!("idle"), json!("approval")]);

    let (_, kept) = lines(&house, &["task", "finish"], 0);
    assert_eq!(fields(&kept["task"], &["phase"]), [json!("done")]);
    assert_eq!(kept["task"]["delivery"]["how"], "keep");
    assert_eq!(task(&house, &["list"]), json!({ "tasks": [] }));
    assert_eq!(task(&house, &["list", "--all"])["tasks"][0]["task_id"], id);
    assert_eq!(history(&house.stage.0, "main"), ["first"], "it stays on its branch");
    house.server.end();
}

#[test]
fn a_task_is_done_from_beginning_to_end_and_programs_hear_of_it() {
    let house = house(&[FORGE, CODER]);
    let auto = ["task", "auto", "forge:7", "--agent", "coder", "--policy", "auto-edit", "--yes", "--merge"];
    let (events, ended) = lines(&house, &auto, 0);
    assert_eq!(ended["outcome"], "done");
    assert_eq!(ended["task"]["delivery"]["into"], "main");
    let messages: Vec<&str> = events.iter().filter_map(|event| event["message"].as_str()).collect();
    for line in ["task: planning is done", "task: implementing is done", "task: was merged into main"] {
        assert!(messages.contains(&line), "{line}: {messages:?}");
    }
    house.server.end();
}

#[test]
fn a_task_that_is_given_up_is_gone_with_its_branch_unless_that_is_to_stay() {
    let house = house(&[]);
    let branches = || git(&house.stage.0, &["branch", "--format=%(refname:short)"]);
    let files = |id: &Value| house.stage.0.path(&format!("project/.loggia/tasks/{}", id.as_str().unwrap()));
    let id = task(&house, &["start", "text:Say hello"])["task_id"].clone();
    assert!(files(&id).join("plan.md").exists());
    assert_eq!(task(&house, &["abandon", "--yes"])["phase"], "abandoned");
    assert_eq!((branches().as_str(), files(&id).exists()), ("main", false));

    let begun = task(&house, &["start", "text:Say goodbye", "--key", "BYE-1"]);
    let (id, branch) = (begun["task_id"].clone(), begun["branch"]["name"].clone());
    let abandoned = task(&house, &["abandon", "--yes", "--keep-branch", "--keep-files"]);
    assert_eq!(abandoned["task_id"], id);
    assert_eq!(branches(), format!("main\n{}", branch.as_str().unwrap()));
    assert!(files(&id).join("plan.md").exists());
    house.server.end();
}

#[test]
fn an_agent_asks_while_it_plans_and_goes_on_with_the_answer() {
    let house = house(&[FORGE, ("agent", "coder", "ask")]);
    let id = start(&house)["task_id"].as_str().unwrap().to_owned();
    let planned = house.done(&["task", "plan"]);
    for words in [
        "It asks: In which language? (English, French: as at court)",
        "`loggia task answer TEXT` answers it.",
    ] {
        assert!(planned.stderr.contains(words), "{planned}");
    }
    let waiting = status(&house, &id);
    let question = json!({ "text": "In which language?", "options": ["English", "French: as at court"] });
    assert_eq!(
        fields(&waiting, &["phase", "question", "specifications"]),
        [json!("waiting"), question, json!(0)]
    );
    let page = house.stage.0.read(&format!("project/.loggia/tasks/{id}/plan.md"));
    assert!(
        page.contains("\n## Question\n\nIn which language?\n- English\n- French: as at court\n"),
        "{page}"
    );
    let refused = house.run(&["task", "implement"]);
    assert_eq!(refused.code, Some(6), "{refused}");
    assert!(refused.stderr.contains("answer its question, or plan again"), "{refused}");

    let answered = task(&house, &["answer", "French,", "please"]);
    assert_eq!(fields(&answered, &["phase", "position"]), [json!("idle"), json!("idle")]);
    assert_eq!(answered.get("question"), None);
    let twice = house.run(&["task", "answer", "German"]);
    assert_eq!(twice.code, Some(6), "{twice}");
    let planned = house.done(&["task", "plan"]);
    assert!(planned.stdout.contains("Greet people by name."), "{planned}");
    assert_eq!(asked(&house, "coder"), ["plans", "agent.tool_result", "plans in French, please"]);
    assert_eq!(status(&house, &id)["specifications"], 1);
    house.server.end();
}

#[test]
fn a_task_comes_from_a_file_a_directory_or_plain_words() {
    let login = "---\ntitle: Fix the login\nkey: LOGIN-1\ntype: fix\n---\nIt says 500.\n";
    let files = [
        ("tasks/login.md", login),
        ("docs/README.md", "# Write more\n\nMore pages.\n"),
        ("notes.txt", "x\n"),
    ];
    let house = house_on(AutoStage::new(), &files, &[]);
    for (reference, title, provider, branch) in [
        ("file:tasks/login.md", "Fix the login", "file", Some("fix/LOGIN-1--fix-the-login")),
        ("tasks/login.md", "Fix the login", "file", Some("fix/LOGIN-1--fix-the-login")),
        ("dir:docs", "Write more", "directory", None),
        ("text:Say hello to all", "Say hello to all", "text", None),
    ] {
        let begun = task(&house, &["start", reference]);
        assert_eq!(fields(&begun, &["title", "provider"]), [json!(title), json!(provider)], "{reference}");
        let own = begun["branch"]["name"].as_str().unwrap();
        assert_eq!(git(&house.stage.0, &["branch", "--show-current"]), own);
        assert!(branch.is_none_or(|branch| branch == own), "{reference}: {own}");
        task(&house, &["abandon", "--yes"]);
    }
    let refused = house.run(&["task", "start", "file:tasks/absent.md"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("tasks/absent.md"), "{refused}");
    let listed = task(&house, &["browse", "dir"]);
    let first = fields(&listed["items"][0], &["reference", "title"]);
    assert!(listed["items"].as_array().unwrap().len() >= 2, "{first:?}");
    house.server.end();
}

#[test]
fn a_task_with_a_tree_of_its_own_leaves_ours_alone() {
    let house = house_on(AutoStage::playing(WRITES), &[], &[]);
    let stage = &house.stage.0;
    // What nobody has committed is no trouble there.
    stage.write("project/README.md", "mine\n");
    let begun =
        task(&house, &["start", "text:Write a greeting", "--place", "worktree", "--policy", "auto-edit"]);
    let tree = begun["branch"]["worktree"].as_str().unwrap().strip_prefix("[STAGE]/").unwrap();
    assert!(!tree.starts_with("project/"), "it is beside the repository: {tree}");
    let tree = stage.path(tree);
    assert_eq!(std::fs::read_to_string(tree.join("README.md")).unwrap(), "Demo\n");
    assert_eq!(git(stage, &["branch", "--show-current"]), "main");
    // Another one can begin beside it.
    let other = task(&house, &["start", "text:Something else", "--place", "worktree"]);
    let (id, other) = (begun["task_id"].as_str().unwrap(), other["task_id"].as_str().unwrap());
    let several = house.run(&["task", "plan"]);
    assert_eq!(several.code, Some(2), "{several}");
    assert!(several.stderr.contains(id) && several.stderr.contains(other), "{several}");
    task(&house, &["abandon", "--yes", "--task", other]);

    house.done(&["task", "plan"]);
    house.done(&["task", "implement", "--yes"]);
    assert_eq!(std::fs::read_to_string(tree.join("greeting.txt")).unwrap(), "Hello!\n");
    assert!(!stage.path("project/greeting.txt").exists());
    assert_eq!(stage.read("project/README.md"), "mine\n");
    git(stage, &["checkout", "--quiet", "README.md"]);
    let (_, merged) = lines(&house, &["task", "finish", "--merge", "--squash", "--drop-branch"], 0);
    assert_eq!(merged["task"]["delivery"]["into"], "main");
    assert_eq!(stage.read("project/greeting.txt"), "Hello!\n");
    assert_eq!(git(stage, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(git(stage, &["worktree", "list"]).lines().count(), 1);
    assert!(!tree.exists());
    house.server.end();
}

#[test]
fn a_task_can_work_where_it_is_without_a_branch() {
    let house = house_on(AutoStage::playing(WRITES), &[], &[]);
    let stage = &house.stage.0;
    let begun = task(&house, &["start", "text:Write a greeting", "--place", "here", "--policy", "auto-edit"]);
    assert_eq!(begun.get("branch"), None);
    house.done(&["task", "plan"]);
    house.done(&["task", "implement", "--yes"]);
    assert_eq!(stage.read("project/greeting.txt"), "Hello!\n");
    assert_eq!(task(&house, &["undo"])["position"], "planning");
    assert!(!stage.path("project/greeting.txt").exists());
    task(&house, &["redo"]);
    assert_eq!(stage.read("project/greeting.txt"), "Hello!\n");
    let refused = house.run(&["task", "finish", "--merge"]);
    assert_eq!(refused.code, Some(6), "{refused}");
    assert!(refused.stderr.contains("the task has no branch"), "{refused}");
    lines(&house, &["task", "finish"], 0);
    assert_eq!(history(stage, "main"), ["first"]);
    house.server.end();
}
