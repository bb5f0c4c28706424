//! Tasks at the console: from a reference to a merged change, with what stands in the way.

use std::sync::Arc;

use loggia_domain::{
    Guests, Preset, ProviderAbility, StepPlace, Verdict, WorkflowGuard, WorkflowParts, WorkflowStep,
};
use loggia_tests::{PretendGuests, PretendHook, PretendProvider, WorldBuilder, item};

use crate::support::{House, Terminal};

const PLAN: &str = "[[reply]]\nparts = [{ text = \"# Summary\\n\\nChange it.\" }]\n";
const DONE: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"It is fine.\" }]\n";

fn writes(path: &str) -> String {
    let arguments = format!("{{ path = {path:?}, content = \"hello\\n\" }}");
    format!("[[reply]]\nparts = [{{ call = {{ tool = \"write_file\", arguments = {arguments} }} }}]\n")
}

/// A console in a repository, with a provider of one item, and with hooks; nothing is asked about files.
async fn house(hooks: &[Arc<PretendHook>], script: &str) -> House {
    let mut provider = PretendProvider::new("link").item(item("42", "Fix login bug", "It says 500."));
    provider.abilities.push(ProviderAbility::List);
    let hooks = hooks.iter().map(|hook| Arc::clone(hook) as _).collect();
    let guests = Arc::new(PretendGuests(Guests { hooks, ..Guests::default() }));
    let world = WorldBuilder::new("/bin/false").file("notes.txt", "one\ntwo\n").in_repository();
    let world = world.source(Arc::new(provider)).guests(guests).start(script).await;
    world.change_policy(|policy| policy.preset = Preset::AutoEdit);
    House::around(world).await
}

/// A hook that wants an approval after the review, and does not give it.
fn gate() -> Arc<PretendHook> {
    let place = StepPlace::After("reviewing".to_owned());
    let step = WorkflowStep { name: "approval".to_owned(), description: None, place };
    let steps = vec!["approval".to_owned()];
    let guard = WorkflowGuard { name: "approvalGiven".to_owned(), description: None, steps };
    let parts = WorkflowParts { steps: vec![step], guards: vec![guard], ..WorkflowParts::default() };
    let gate = PretendHook::new("gate", parts);
    gate.guard_says("approvalGiven", Ok(Verdict::Stop("nobody has approved".to_owned())));
    gate
}

/// Starts the task; its name.
async fn started(terminal: &Terminal) -> String {
    let told = terminal.run("task start link:42").await;
    assert!(told.ends_with("[0]"), "{told}");
    told[..8].to_owned()
}

/// Gives a command about a task; what it says, with the task's name left out.
async fn says(terminal: &Terminal, id: &str, command: &str) -> String {
    terminal.run(&command.replace("ID", id)).await.replace(id, "ID")
}

#[tokio::test]
async fn a_task_goes_from_its_reference_to_a_merged_change() {
    let house = house(&[], &[PLAN, &writes("new.txt"), DONE].concat()).await;
    let mut terminal = house.terminal().await;
    assert_eq!(terminal.run("task browse link").await, "link:42  open  Fix login bug\n[0]");
    assert_eq!(terminal.run("tasks").await, "no tasks under way\n[0]");
    let begun = terminal.run("task start link:42").await;
    let id = &begun[..8];
    let expected = "ID is idle, after idle: Fix login bug\n`task plan ID` comes next\n";
    assert!(begun.replace(id, "ID").starts_with(expected), "{begun}");
    assert!(begun.contains(" is in use in "), "its session is taken: {begun}");
    assert!(terminal.run("tasks").await.starts_with(&format!("{id}  idle, after idle  Fix login bug\n")));

    let planned = "ID is idle, after planning: Fix login bug\n`task implement ID` comes next\n[0]";
    assert_eq!(says(&terminal, id, "task plan ID").await, planned);
    // What happens is told while it does, and the agent's words, since its session is in use.
    let heard = terminal.until("planning is done").await;
    assert!(heard.contains("has specification 1") && heard.contains("│ Change it."), "{heard}");
    let noted = says(&terminal, id, "task note ID mind the \"tests\"").await;
    assert_eq!(noted, planned);
    let done = "ID is idle, after implementing: Fix login bug\n`task review ID` comes next\n[0]";
    assert_eq!(says(&terminal, id, "task implement ID").await, done);
    assert_eq!(house.world.read("new.txt"), "hello\n");
    assert_eq!(says(&terminal, id, "task undo ID").await, planned);
    assert!(!house.world.root().join("new.txt").exists());
    assert_eq!(says(&terminal, id, "task redo ID 1").await, done);
    // A beginning of its name is enough.
    let reviewed = says(&terminal, id, &format!("task review {}", &id[..5])).await;
    assert_eq!(reviewed, "ID is idle, after reviewing: Fix login bug\n`task finish ID` comes next\n[0]");
    let status = says(&terminal, id, "task status ID").await;
    for line in ["ID Fix login bug\n", "\n  phase      idle, after reviewing\n", "\n  from       link:42\n"] {
        assert!(status.contains(line), "{status}");
    }
    let finished = says(&terminal, id, "task finish ID squash").await;
    assert_eq!(finished, "ID is done: Fix login bug\n[0]");
    assert_eq!(house.world.repository().head(house.world.root()).as_deref(), Some("main"));
    assert_eq!(terminal.run("tasks").await, "no tasks under way\n[0]");
}

#[tokio::test]
async fn a_task_is_done_by_one_command_or_given_up() {
    let house = house(&[], &[PLAN, &writes("new.txt"), DONE].concat()).await;
    let terminal = house.terminal().await;
    let id = started(&terminal).await;
    assert_eq!(says(&terminal, &id, "task abandon ID").await, "ID is abandoned: Fix login bug\n[0]");
    assert_eq!(house.world.repository().branches(), ["main: first"]);
    let over = says(&terminal, &id, "task note ID too late").await;
    assert_eq!(over, "error: the task `ID` is over\n[6]");
    let told = terminal.run("task auto merge link:42").await;
    assert!(told.ends_with(" is done: Fix login bug\n[0]"), "{told}");
    assert_eq!(house.world.read("new.txt"), "hello\n");
}

#[tokio::test]
async fn an_agents_question_is_answered() {
    let asks = "[[reply]]\nparts = [{ text = \"QUESTION: Which one?\\n- this\\n- that\" }]\n";
    let house = house(&[], &format!("{asks}{PLAN}")).await;
    let terminal = house.terminal().await;
    let id = started(&terminal).await;
    let asked = says(&terminal, &id, "task plan ID").await;
    assert_eq!(
        asked,
        "ID is waiting, after idle: Fix login bug\nit asks: Which one? (this, that); `task answer ID TEXT` answers it\n[0]"
    );
    let answered = says(&terminal, &id, "task answer ID that one").await;
    assert_eq!(answered, "ID is idle, after idle: Fix login bug\n`task plan ID` comes next\n[0]");
    let none = says(&terminal, &id, "task answer ID again").await;
    assert_eq!(none, "error: a task that is idle cannot answer\n[6]");
    assert!(says(&terminal, &id, "task plan ID").await.starts_with("ID is idle, after planning:"));
}

#[tokio::test]
async fn what_holds_a_task_back_is_told_settled_or_overridden() {
    let gate = gate();
    let house = house(&[Arc::clone(&gate)], &[PLAN, &writes("new.txt"), DONE].concat()).await;
    let terminal = house.terminal().await;
    let id = started(&terminal).await;
    assert_eq!(says(&terminal, &id, "task override ID").await, "error: no guard holds the task back\n[6]");
    for step in ["plan", "implement"] {
        assert!(says(&terminal, &id, &format!("task {step} ID")).await.ends_with("[0]"));
    }
    assert_eq!(
        says(&terminal, &id, "task review ID").await,
        "ID is paused, after reviewing: Fix login bug\napprovalGiven of gate holds it back: nobody has approved; \
         `task resume ID` asks again, `task override ID` goes past it\n[0]"
    );
    let held = says(&terminal, &id, "task resume ID").await;
    assert_eq!(
        held,
        "error: `approvalGiven` of `gate` holds the task back before approval: nobody has approved\n\
         `task resume TASK` asks again, `task override TASK` goes past a guard\n[6]"
    );
    for (command, fact) in [
        ("task set ID approved by alice", r#""metadata":{"approved":"by alice"}"#),
        ("task set ID approved {\"by\": [1]}", r#""metadata":{"approved":{"by":[1]}}"#),
        ("task set ID approved", r#""metadata":{}"#),
    ] {
        assert!(says(&terminal, &id, command).await.ends_with("[0]"), "{command}");
        assert!(says(&terminal, &id, "task resume ID").await.ends_with("[6]"));
        assert!(gate.facts().contains(fact), "{command}: {}", gate.facts());
    }
    let past = says(&terminal, &id, "task override ID").await;
    assert_eq!(past, "ID is idle, after reviewing: Fix login bug\n`task finish ID` comes next\n[0]");
    assert!(says(&terminal, &id, "task finish ID keep").await.starts_with("ID is done:"));
}

#[tokio::test]
async fn what_makes_no_sense_is_told_with_what_does() {
    let house = house(&[], "").await;
    let terminal = house.terminal().await;
    let known = "browse, start, status, plan, implement, review, finish, note, answer, undo, redo, resume, set, \
                 override, abandon, auto";
    let scheme = "nobody knows `jira:`; there are `link:`\nwrite it as `SCHEME:REST`, as in `file:tasks/login.md`; \
                  `loggia plugin list` tells which plugins bring tasks\n[2]";
    let item = "there is no item `7`\nsee that the reference is right; `loggia task browse SCHEME` lists what a provider \
                has\n[2]";
    for (command, expected) in [
        ("task", format!("there is no `task`\n`task` goes on with {known}\n[2]")),
        ("task dance", format!("there is no `task dance`\n`task` goes on with {known}\n[2]")),
        ("task plan", "`task plan` needs TASK\nusage: task plan TASK [AGENT]\n[2]".to_owned()),
        (
            "task plan 00000000",
            "there is no task `00000000`\n`tasks` lists those that are under way\n[5]".to_owned(),
        ),
        ("task plan beef", "there is no task `beef`\n`tasks` lists those that are under way\n[5]".to_owned()),
        (
            "task plan x",
            "`x` is too short for a task's name\n`tasks` lists those that are under way\n[2]".to_owned(),
        ),
        ("task start jira:1", scheme.to_owned()),
        ("task start link:7", item.to_owned()),
        ("task browse jira", scheme.to_owned()),
        (
            "task auto burn link:42",
            "`burn` is no way to end a task\nthere are keep, merge, squash, propose\n[2]".to_owned(),
        ),
    ] {
        assert_eq!(terminal.run(command).await, format!("error: {expected}"), "{command}");
    }
    let id = started(&terminal).await;
    let unplanned = says(&terminal, &id, "task implement ID").await;
    assert_eq!(unplanned, "error: the task has no specification yet: plan it first\n[6]");
    let taken = terminal.run("task start link:42").await;
    assert!(taken.contains("is under way here") && taken.ends_with("[6]"), "{taken}");
}

#[tokio::test]
async fn tasks_and_ways_to_end_them_are_offered() {
    let house = house(&[], "").await;
    let terminal = house.terminal().await;
    let id = started(&terminal).await;
    let offered = async |line: String| {
        let found = terminal.client.complete(&line, line.len()).await.unwrap();
        found.into_iter().map(|candidate| candidate.value).collect::<Vec<_>>()
    };
    assert_eq!(offered("task plan ".to_owned()).await, [id.as_str()]);
    assert_eq!(offered(format!("task note {}", &id[..3])).await, [id.as_str()]);
    assert_eq!(offered(format!("task finish {id} ")).await, ["keep", "merge", "squash", "propose"]);
    assert_eq!(offered("task re".to_owned()).await, ["review", "redo", "resume"]);
    assert_eq!(offered("ta".to_owned()).await, ["tasks", "task"]);
    let help = terminal.run("help task").await;
    assert_eq!(help.matches("usage: task ").count(), 16, "{help}");
}
