//! What can go wrong with a task, as people see it: each with words that fit, and a way on.

use crate::auto::AutoStage;
use crate::plugins::House;
use crate::stage::Transcript;
use crate::tasks::{CODER, FORGE, git, history, house, house_on, start, status};

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

/// Whether something was said on standard error, and nothing with a line's end spelt out.
fn says(told: &Transcript, code: i32, words: &[&str]) {
    assert_eq!(told.code, Some(code), "{told}");
    words.iter().for_each(|word| assert!(told.stderr.contains(word), "{word}: {told}"));
    assert!(!told.stderr.contains("\\n"), "{told}");
}

#[test]
fn without_a_model_a_step_says_how_to_set_one_and_nothing_is_merged() {
    let stage = AutoStage::new();
    stage.0.user_file("[sandbox]\nrequired = false\n");
    let house = house_on(stage, &[], &[]);
    let id =
        house.json(&["task", "start", "text:Say hello", "--json"])["task_id"].as_str().unwrap().to_owned();
    let words = ["no model is set", "loggia model use PROVIDER:MODEL", "--agent plugin:NAME"];
    says(&house.run(&["task", "plan"]), 6, &words);
    says(&house.run(&["task", "auto", "text:Say hello", "--merge", "--yes"]), 6, &words);
    let found = status(&house, &id);
    assert_eq!((&found["phase"], &found["specifications"]), (&"idle".into(), &0.into()), "{found}");
    assert_eq!(history(&house.stage.0, "main"), ["first"]);
    house.server.end();
}

#[test]
fn somebodys_own_files_do_not_go_into_a_checkpoint() {
    let house = house_on(AutoStage::playing(WRITES), &[], &[]);
    let stage = &house.stage.0;
    house.done(&["task", "start", "text:Write a greeting", "--policy", "auto-edit"]);
    house.done(&["task", "plan"]);
    stage.write("project/mine.txt", "mine\n");
    says(&house.run(&["task", "implement", "--yes"]), 6, &["`mine.txt`", "git stash -u", "--place worktree"]);
    git(stage, &["stash", "--include-untracked", "--quiet"]);
    house.done(&["task", "implement", "--yes"]);
    assert_eq!(git(stage, &["show", "--format=", "--name-only", "HEAD"]), "greeting.txt");
    git(stage, &["stash", "pop", "--quiet"]);
    says(&house.run(&["task", "finish", "--merge"]), 6, &["`mine.txt`"]);
    assert_eq!(history(stage, "main"), ["first"]);
    house.server.end();
}

#[test]
fn a_change_that_was_refused_fails_its_step() {
    let house = house_on(AutoStage::playing(WRITES), &[], &[]);
    house.done(&["task", "start", "text:Write a greeting"]);
    house.done(&["task", "plan"]);
    // There is no keyboard, and so the answer is no.
    let refused = house.run(&["task", "implement"]);
    says(&refused, 6, &["was refused: `greeting.txt`", "loggia task note TEXT", "--yes"]);
    assert!(!refused.stderr.contains("implementing is done"), "{refused}");
    let shown = house.done(&["task", "status"]);
    assert!(shown.stdout.contains("idle after planning"), "{shown}");
    assert!(shown.stdout.contains("trouble"), "{shown}");
    house.server.end();
}

#[test]
fn an_agents_words_are_shown_once_though_its_changes_come_after_them() {
    let house = house(&[FORGE, CODER]);
    start(&house);
    house.done(&["task", "plan"]);
    let done = house.done(&["task", "implement", "--yes"]);
    assert_eq!(done.stdout.matches("I wrote the greeting.").count(), 1, "{done}");
    house.server.end();
}

#[test]
fn an_agent_that_dies_is_told_line_by_line_with_a_hint_about_plugins() {
    let house = house(&[FORGE, ("agent", "coder", "die-run")]);
    start(&house);
    let died = house.run(&["task", "plan"]);
    says(&died, 8, &["\n  stderr: the coder is tired\n", "`loggia plugin validate NAME`", "`--agent NAME`"]);
    assert!(!died.stderr.contains("-m PROVIDER:MODEL"), "{died}");
    let unknown = house.run(&["task", "plan", "--agent", "plugin:nobody"]);
    says(&unknown, 6, &["there is no agent `nobody`", "`plugin:coder`", "`loggia plugin list`"]);
    let shown = house.done(&["task", "status"]);
    assert!(!shown.stdout.contains("cut off"), "{shown}");
    house.end();
}

#[test]
fn branches_that_do_not_fit_are_brought_together_with_the_commands_that_are_told() {
    for place in ["branch", "worktree"] {
        let house = house_on(AutoStage::playing(WRITES), &[], &[]);
        conflict(&house, place);
        house.server.end();
    }
}

fn conflict(house: &House, place: &str) {
    let stage = &house.stage.0;
    house.done(&[
        "task",
        "start",
        "text:Write a greeting",
        "--key",
        "HI-1",
        "--policy",
        "auto-edit",
        "--place",
        place,
    ]);
    house.done(&["task", "plan"]);
    house.done(&["task", "implement", "--yes"]);
    let branch = "task/HI-1--write-a-greeting";
    git(stage, &["switch", "--quiet", "main"]);
    stage.write("project/greeting.txt", "Good morning!\n");
    git(stage, &["add", "."]);
    git(stage, &["commit", "--quiet", "-m", "other"]);

    let refused = house.run(&["task", "finish", "--merge"]);
    says(&refused, 6, &["both changed `greeting.txt`", "nothing was merged", "loggia task finish --merge"]);
    assert_eq!(git(stage, &["status", "--porcelain"]), "");
    assert_eq!(history(stage, "main"), ["other", "first"]);
    let trouble = house.done(&["task", "status"]);
    assert!(trouble.stdout.contains("`greeting.txt`") && trouble.stdout.contains(" merge main"), "{trouble}");

    // What the hint says, word for word; the file is settled in between.
    let told = refused.stderr.lines().map(str::trim);
    let commands: Vec<&str> = told.filter(|line| line.starts_with("git -C ")).collect();
    assert_eq!(commands.len(), 3, "{refused}");
    for (number, command) in commands.iter().enumerate() {
        let command = command.replace("[STAGE]", &stage.path("").display().to_string());
        let tree = command.split('\'').nth(1).unwrap().to_owned();
        let mut shell = stage.program("sh");
        shell.env("PATH", std::env::var_os("PATH").unwrap()).args(["-c", &command]);
        let ran = shell.output().unwrap();
        // The merge itself says that it needs somebody.
        assert_eq!(ran.status.success(), number > 0, "{command}: {ran:?}");
        if number == 0 {
            let halfway = house.run(&["task", "finish", "--merge"]);
            says(&halfway, 6, &["`greeting.txt`"]);
            std::fs::write(std::path::Path::new(&tree).join("greeting.txt"), "Good morning, hello!\n")
                .unwrap();
        }
    }
    house.done(&["task", "finish", "--merge"]);
    assert_eq!(git(stage, &["show", "main:greeting.txt"]), "Good morning, hello!");
    assert_eq!(git(stage, &["branch", "--show-current"]), "main");
    assert!(history(stage, "main").contains(&"other".to_owned()), "{branch}");
    assert_eq!(git(stage, &["status", "--porcelain"]), "");
}
