//! Tasks whose server is killed, in every phase there is: the next server knows where they were, and they go on.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::auto::AutoStage;
use crate::plugins::{House, OWN};
use crate::tasks::{FORGE, asked, git, history, house_on, start, status};

/// A check that never ends, the first time.
const MAKEFILE: &str = "quality:\n\t@test -e hung || { touch hung; sleep 1000; }\n";

/// What is done up to the kill and after it.
struct Row {
    /// The habits of the agent and of the workflow.
    habits: [&'static str; 2],
    /// What goes well before.
    before: &'static [&'static str],
    /// What is cut, and the file that is there once it hangs; nothing if the server is killed while nothing runs.
    cut: Option<(&'static str, &'static str)>,
    /// Phase, position, open step, and whether it counts as cut off, as the next server tells it.
    found: (&'static str, &'static str, Option<&'static str>, bool),
    /// What brings the task to its end.
    after: &'static [&'static str],
    /// What the agent and the workflow were asked in all.
    asked: [&'static [&'static str]; 2],
}

/// The place where a plugin's file tells that it hangs.
const CODER_HUNG: &str = "home/.local/share/loggia/plugins/coder/hung";
const GATE_HUNG: &str = "home/.local/share/loggia/plugins/gate/hung";

const APPROVED: &[&str] = &[
    "guard approvalGiven: True",
    "effect notify: phase_entered approval",
    "effect notify: phase_exited approval",
];

fn words(command: &str) -> Vec<&str> {
    ["task"].into_iter().chain(command.split(' ')).collect()
}

/// Runs a command, kills the server once it hangs, and checks what the command says of that.
fn cut(house: &House, id: &str, command: &str, hung: &str) {
    let mut step = house.stage.0.command(&words(command));
    let step = step.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let hung = house.stage.0.path(hung);
    while !hung.exists() {
        std::thread::yield_now();
    }
    house.server.signal(Signal::KILL);
    let told = step.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(9), "{command}: {said}");
    assert!(said.contains(&format!("`loggia task resume --task {id}` goes on")), "{command}: {said}");
}

fn check(row: &Row) {
    let [coder, gate] = row.habits;
    let plugins = [FORGE, ("agent", "coder", coder), ("workflow", "gate", gate)];
    let files = [("Makefile", MAKEFILE), (".gitignore", "hung\n")];
    let house = house_on(AutoStage::new(), &files, &plugins);
    // Only the row about the check hangs in it.
    let checked = row.cut.is_none_or(|(_, hung)| hung.starts_with("home/"));
    if checked {
        house.stage.0.write("project/hung", "");
    }
    let id = start(&house)["task_id"].as_str().unwrap().to_owned();
    row.before.iter().for_each(|command| drop(house.done(&words(command))));
    match row.cut {
        Some((command, hung)) => cut(&house, &id, command, hung),
        None => house.server.signal(Signal::KILL),
    }
    let House { stage, server } = house;
    assert_eq!(server.wait().0, None, "it was killed");

    let server = House::serve(&stage.0);
    let house = House { stage, server };
    let found = status(&house, &id);
    let (phase, position, step, interrupted) = row.found;
    let step = step.map_or(Value::Null, Value::from);
    assert_eq!(
        (&found["phase"], &found["position"], &found["step"], &found["interrupted"]),
        (&phase.into(), &position.into(), &step, &interrupted.into()),
        "{found}"
    );
    assert_eq!(found["running"], false, "nothing goes on by itself: {found}");
    row.after.iter().for_each(|command| drop(house.done(&words(command))));

    let ended = status(&house, &id);
    assert_eq!((&ended["phase"], &ended["delivery"]["into"]), (&"done".into(), &"main".into()), "{ended}");
    let project = &house.stage.0;
    let expected = ["[DEMO-7] Greet people", "[DEMO-7] checkpoint 3: implementing", "first"];
    assert_eq!(history(project, "main"), expected, "each step left its commit once");
    assert_eq!(git(project, &["show", "main:greeting.txt"]), "Hello, you!");
    assert_eq!(git(project, &["status", "--porcelain"]), "");
    assert_eq!(git(project, &["branch", "--show-current"]), "main");
    assert_eq!(asked(&house, "coder"), row.asked[0]);
    assert_eq!(asked(&house, "gate"), row.asked[1]);
    assert!(project.path(OWN).exists());
    house.server.end();
}

#[test]
fn a_task_killed_while_it_is_planned_is_planned_on() {
    check(&Row {
        habits: ["hang-plan", "plain"],
        before: &["set approved true"],
        cut: Some(("plan", CODER_HUNG)),
        found: ("planning", "idle", Some("planning"), true),
        after: &["resume", "implement --yes", "review", "finish --merge"],
        asked: [&["plans", "plans", "implements", "reviews"], APPROVED],
    });
}

#[test]
fn a_task_killed_while_it_is_implemented_is_implemented_on() {
    check(&Row {
        habits: ["hang-implement", "plain"],
        before: &["set approved true", "plan"],
        cut: Some(("implement --yes", CODER_HUNG)),
        found: ("implementing", "planning", Some("implementing"), true),
        after: &["resume --yes", "review", "finish --merge"],
        asked: [&["plans", "implements", "implements", "reviews"], APPROVED],
    });
}

#[test]
fn a_step_that_was_killed_is_also_gone_on_with_by_its_own_command() {
    check(&Row {
        habits: ["hang-implement", "plain"],
        before: &["set approved true", "plan"],
        cut: Some(("implement --yes", CODER_HUNG)),
        found: ("implementing", "planning", Some("implementing"), true),
        after: &["implement --yes", "review", "finish --merge"],
        asked: [&["plans", "implements", "implements", "reviews"], APPROVED],
    });
}

#[test]
fn a_task_killed_while_it_is_reviewed_is_reviewed_on() {
    check(&Row {
        habits: ["hang-review", "plain"],
        before: &["set approved true", "plan", "implement --yes"],
        cut: Some(("review", CODER_HUNG)),
        found: ("reviewing", "implementing", Some("reviewing"), true),
        after: &["resume", "finish --merge"],
        asked: [&["plans", "implements", "reviews", "reviews"], APPROVED],
    });
}

#[test]
fn a_guard_that_was_killed_before_its_answer_is_asked_again() {
    check(&Row {
        habits: ["plain", "hang-guard"],
        before: &["set approved true", "plan", "implement --yes"],
        cut: Some(("review", GATE_HUNG)),
        found: ("idle", "reviewing", None, false),
        after: &["resume", "finish --merge"],
        asked: [
            &["plans", "implements", "reviews"],
            &[
                "guard approvalGiven: True",
                "guard approvalGiven: True",
                "effect notify: phase_entered approval",
                "effect notify: phase_exited approval",
            ],
        ],
    });
}

#[test]
fn an_effect_that_was_killed_before_its_answer_is_run_again_and_no_other() {
    check(&Row {
        habits: ["plain", "hang-effect"],
        before: &["set approved true", "plan", "implement --yes"],
        cut: Some(("review", GATE_HUNG)),
        found: ("approval", "reviewing", Some("approval"), true),
        after: &["resume", "finish --merge"],
        asked: [
            &["plans", "implements", "reviews"],
            &[
                "guard approvalGiven: True",
                "effect notify: phase_entered approval",
                "effect notify: phase_entered approval",
                "effect notify: phase_exited approval",
            ],
        ],
    });
}

#[test]
fn a_task_killed_while_it_is_checked_is_finished_by_saying_how_again() {
    check(&Row {
        habits: ["plain", "plain"],
        before: &["set approved true", "plan", "implement --yes", "review"],
        cut: Some(("finish --merge", "project/hung")),
        found: ("finishing", "approval", Some("done"), true),
        after: &["finish --merge"],
        asked: [&["plans", "implements", "reviews"], APPROVED],
    });
}

#[test]
fn a_question_outlives_the_server() {
    check(&Row {
        habits: ["ask", "plain"],
        before: &["set approved true", "plan"],
        cut: None,
        found: ("waiting", "idle", None, false),
        after: &["answer English, of course", "plan", "implement --yes", "review", "finish --merge"],
        asked: [
            &["plans", "agent.tool_result", "plans in English, of course", "implements", "reviews"],
            APPROVED,
        ],
    });
}

#[test]
fn what_holds_a_task_back_outlives_the_server() {
    check(&Row {
        habits: ["plain", "plain"],
        before: &["plan", "implement --yes", "review"],
        cut: None,
        found: ("paused", "reviewing", None, false),
        after: &["set approved true", "resume", "finish --merge"],
        asked: [
            &["plans", "implements", "reviews"],
            &[
                "guard approvalGiven: False",
                "guard approvalGiven: True",
                "effect notify: phase_entered approval",
                "effect notify: phase_exited approval",
            ],
        ],
    });
}
