//! The open message and extensions' commands as an agent uses them: under the policy, shown, decided about, undone.

use loggia_domain::{
    Actor, ApprovalScope, DialogAnswer, EventBody, GuestError, Intent, MessageDesk, MessageFormat, Opening,
    Preset, Question, Role, Rule, SessionId, ToolOutcome, TurnEnd,
};
use loggia_engine::dialogs::{AnswerError, Audience, DialogNews, DialogSettings};
use loggia_tests::{World, client, preview};

use crate::world;

/// One turn that calls a tool, with its arguments as inline TOML.
fn calls(tool: &str, arguments: &str) -> String {
    format!(
        "[[reply]]\nparts = [{{ call = {{ tool = \"{tool}\", arguments = {arguments} }} }}]\n\
         [[reply]]\nparts = [{{ text = \"done\" }}]\n"
    )
}

const RENAMES: &str = "{ patches = [{ path = \"NAME\", value = \"ROE\" }], reason = \"a typo\" }";

async fn desk_world(script: &str) -> World {
    let world =
        world().file("a.hl7", "ID=1\nNAME=DOE\n").desks(DialogSettings::default()).start(script).await;
    world.desk().open(Opening::File("a.hl7".to_owned())).await.unwrap();
    world
}

/// How the calls of a session ended.
async fn outcomes(world: &World, session: SessionId) -> Vec<String> {
    let ended = |body| match body {
        EventBody::ToolEnded { outcome: ToolOutcome::Succeeded { output }, .. } => {
            Some(format!("ok: {output}"))
        }
        EventBody::ToolEnded { outcome: ToolOutcome::Failed { message }, .. } => {
            Some(format!("failed: {message}"))
        }
        EventBody::ToolEnded { outcome: ToolOutcome::Denied { reason }, .. } => {
            Some(format!("denied: {reason}"))
        }
        EventBody::ToolEnded { outcome: ToolOutcome::Cancelled, .. } => Some("cancelled".to_owned()),
        _ => None,
    };
    world.journal(session).await.into_iter().filter_map(|event| ended(event.body)).collect()
}

fn offered(world: &World) -> Vec<String> {
    let request = world.model.requests().pop().unwrap();
    let names = request.tools.iter().map(|tool| tool.name.clone());
    names.filter(|name| name.starts_with("message_") || name.starts_with("extension_")).collect()
}

#[tokio::test]
async fn tools_for_desks_are_offered_only_while_there_is_something_on_them() {
    let world = world().start("[[reply]]\nparts = [{ text = \"hello\" }]\n").await;
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("hi").await, TurnEnd::Done);
    assert_eq!(offered(&world), Vec::<String>::new());

    let script = "[[reply]]\nparts = [{ text = \"one\" }]\n[[reply]]\nparts = [{ text = \"two\" }]\n";
    let world = desk_world(script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("hi").await, TurnEnd::Done);
    assert_eq!(offered(&world), ["message_get", "message_patch", "extension_command"]);
    world.desk().close(loggia_domain::Unsaved::Keep).await.unwrap();
    assert_eq!(alice.play("hi").await, TurnEnd::Done);
    assert_eq!(offered(&world), ["extension_command"]);
}

#[tokio::test]
async fn a_message_is_read_whole_or_at_a_place_also_where_nothing_may_be_changed() {
    for (arguments, expected) in [
        ("{}", "ok: [a.hl7, revision 1]\nID=1\nNAME=DOE\n"),
        ("{ format = \"json\" }", "ok: [a.hl7, revision 1]\n{\"ID\":\"1\",\"NAME\":\"DOE\"}"),
        ("{ path = \"NAME\" }", "ok: DOE"),
        ("{ path = \"ELSE\" }", "ok: there is nothing at `ELSE`"),
        ("{ path = \"A B\" }", "failed: `A B` is not a path"),
        ("{ format = \"xml\" }", "failed: message_get: `format` must be hl7, json, yaml or toml"),
        ("{ format = \"toml\" }", "failed: only hl7 and json are pretended"),
    ] {
        let world = desk_world(&calls("message_get", arguments)).await;
        let (session, mut alice) = world.play(Preset::ReadOnly).await;
        assert_eq!(alice.play("look").await, TurnEnd::Done);
        assert_eq!(outcomes(&world, session).await, [expected], "{arguments}");
    }
}

#[tokio::test]
async fn a_message_whose_file_must_not_be_read_is_not_told() {
    let script = calls("message_get", "{}") + &calls("message_patch", RENAMES);
    let world = desk_world(&script).await;
    world.change_policy(|policy| {
        policy.rules.push(Rule {
            tool: None,
            path: Some("*.hl7".to_owned()),
            command: None,
            decision: loggia_domain::Decision::Deny,
            risk: None,
            reason: None,
            examples: Vec::new(),
        });
    });
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("look").await;
    alice.play("change").await;
    let told = outcomes(&world, session).await;
    assert!(
        told.iter().all(|told| told == "denied: the open message, `a.hl7`, must not be read"),
        "{told:?}"
    );
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=DOE\n");
}

#[tokio::test]
async fn a_patched_message_is_asked_about_applied_and_undone_like_any_file() {
    let world = desk_world(&calls("message_patch", RENAMES)).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("change").await.unwrap();
    let approval = alice.until_asked().await;
    let state = alice.state().await;
    let Question::Patches { tool, patches } = &state.pending[&approval].question else {
        panic!("no patches")
    };
    assert_eq!((tool.as_str(), patches.len()), ("message_patch", 1));
    let patch = &state.proposed[&patches[0]];
    assert_eq!((patch.path.as_str(), patch.rationale.as_str()), ("a.hl7", "a typo (`NAME` = `ROE`)"));
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=DOE\n");
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    alice.until_done().await;
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=ROE\n");
    // The desk takes its file over as saved.
    let message = world.desk().current().await.unwrap();
    assert_eq!((message.unsaved, message.revision), (false, 2));
    assert_eq!(world.desk().get("NAME".to_owned()).await, Ok(Some("ROE".to_owned())));
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=DOE\n");
}

#[tokio::test]
async fn a_read_only_policy_and_a_refusal_leave_the_message_as_it_is() {
    let world = desk_world(&calls("message_patch", RENAMES)).await;
    let (session, mut alice) = world.play(Preset::ReadOnly).await;
    alice.play("change").await;
    let told = outcomes(&world, session).await;
    assert!(told[0].starts_with("denied: preset `read-only` denies changing `a.hl7`"), "{told:?}");

    let world = desk_world(&calls("message_patch", RENAMES)).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("change").await.unwrap();
    let approval = alice.until_asked().await;
    alice.decide(approval, ApprovalScope::None).await.unwrap();
    alice.until_done().await;
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=DOE\n");
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing_and_says_which() {
    let arguments = "{ patches = [{ path = \"NAME\", value = \"X\" }, { path = \"ZZZ\", value = \"Y\" }] }";
    let world = desk_world(&calls("message_patch", arguments)).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("change").await;
    let expected = "failed: nothing was changed, since not all changes can be made:\n- patches[1] `ZZZ`: there is no `ZZZ`";
    assert_eq!(outcomes(&world, session).await, [expected]);
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=DOE\n");

    let world = desk_world(&calls("message_patch", RENAMES)).await;
    let new = Opening::New { text: "NAME=DOE\n".to_owned(), format: MessageFormat::Hl7 };
    world.desk().open(new).await.unwrap();
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("change").await;
    let expected = "failed: the message has no file yet; say with `file` where to write it";
    assert_eq!(outcomes(&world, session).await, [expected]);
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_told_with_their_field() {
    let long = "A".repeat(5000);
    for (tool, arguments, expected) in [
        ("message_patch", "{}".to_owned(), "message_patch: `patches` is missing: The changes, in order."),
        (
            "message_patch",
            "{ patches = [] }".to_owned(),
            "message_patch: `patches` must be 1 to 1000 changes, not 0",
        ),
        (
            "message_patch",
            "{ patches = [{ path = \" \" }] }".to_owned(),
            "message_patch: `patches[0].path` is empty or over 4096 bytes long",
        ),
        (
            "message_patch",
            format!("{{ patches = [{{ path = \"{long}\" }}] }}"),
            "message_patch: `patches[0].path` is empty or over 4096 bytes long",
        ),
        (
            "message_patch",
            "{ patches = [{ path = \"A\", create = true, remove = true }] }".to_owned(),
            "message_patch: `patches[0]` both makes its place and takes it away",
        ),
        (
            "message_get",
            "{ path = \"A\", format = \"json\" }".to_owned(),
            "message_get: `format` is for the whole message: leave it out with `path`",
        ),
        (
            "extension_command",
            "{ extension = \"demo\" }".to_owned(),
            "extension_command: `command` is missing; leave out all to see which there are",
        ),
        (
            "extension_command",
            "{ command = \"\" }".to_owned(),
            "extension_command: `command` is empty or over 1024 bytes long",
        ),
    ] {
        let world = desk_world(&calls(tool, &arguments)).await;
        let (session, mut alice) = world.play(Preset::Full).await;
        alice.play("do it").await;
        assert_eq!(outcomes(&world, session).await, [format!("failed: {expected}")], "{arguments}");
        assert!(world.extensions().ran().is_empty());
    }
}

#[tokio::test]
async fn while_changes_are_collected_a_second_patch_does_not_swallow_the_first() {
    let once = |value: &str| {
        format!(
            "{{ tool = \"message_patch\", arguments = {{ patches = [{{ path = \"NAME\", value = \"{value}\" }}] }} }}"
        )
    };
    let script = format!(
        "[[reply]]\nparts = [{{ call = {} }}]\n[[reply]]\nparts = [{{ call = {} }}]\n[[reply]]\nparts = [{{ text = \"done\" }}]\n",
        once("ONE"),
        once("TWO")
    );
    let world = desk_world(&script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("change")).await.unwrap();
    let approval = alice.until_asked().await;
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    alice.until_done().await;
    let told = outcomes(&world, session).await;
    assert!(told[1].starts_with("failed: `a.hl7` has changes that are collected"), "{told:?}");
    assert_eq!(world.read("a.hl7"), "ID=1\nNAME=ONE\n");
}

#[tokio::test]
async fn an_extensions_command_is_asked_about_and_runs_after_a_yes() {
    let world = desk_world(&calls("extension_command", "{ command = \"demo/say\" }")).await;
    let (session, mut alice) = world.play(Preset::AutoEdit).await;
    alice.prompt("say it").await.unwrap();
    let approval = alice.until_asked().await;
    let state = alice.state().await;
    let Question::Tool { tool, arguments } = &state.pending[&approval].question else {
        panic!("another question")
    };
    assert_eq!((tool.as_str(), arguments.0.as_str()), ("extension_command", "{\"command\":\"demo/say\"}"));
    assert!(world.extensions().ran().is_empty());
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    alice.until_done().await;
    assert_eq!(outcomes(&world, session).await, ["ok: `demo` has done it.\nIt said:\nhello"]);
    assert_eq!(world.extensions().ran(), ["demo/say"]);
}

#[tokio::test]
async fn an_extensions_command_that_is_denied_or_refused_does_not_run() {
    let world = desk_world(&calls("extension_command", "{ command = \"demo/say\" }")).await;
    let (session, mut alice) = world.play(Preset::ReadOnly).await;
    alice.play("say it").await;
    let told = outcomes(&world, session).await;
    assert_eq!(told, ["denied: preset `read-only` denies running the extension command `demo/say`"]);

    let world = desk_world(&calls("extension_command", "{ command = \"demo/say\" }")).await;
    let (_, mut bob) = world.play(Preset::Ask).await;
    bob.prompt("say it").await.unwrap();
    let approval = bob.until_asked().await;
    bob.decide(approval, ApprovalScope::None).await.unwrap();
    bob.until_done().await;
    assert!(world.extensions().ran().is_empty());
}

#[tokio::test]
async fn commands_are_listed_without_a_question_and_an_unknown_one_fails() {
    let world = desk_world(&calls("extension_command", "{}")).await;
    let (session, mut alice) = world.play(Preset::ReadOnly).await;
    alice.play("which?").await;
    let told = outcomes(&world, session).await;
    assert!(told[0].starts_with("ok: demo/say (demo): Say something\n"), "{told:?}");

    let world = desk_world(&calls("extension_command", "{ command = \"no/such\" }")).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("run").await;
    assert_eq!(outcomes(&world, session).await, ["failed: there is no command `no/such`"]);
}

#[tokio::test]
async fn what_an_extension_wrote_is_found_and_undone() {
    let world = desk_world(&calls("extension_command", "{ command = \"demo/write\" }")).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("write").await, TurnEnd::Done);
    assert_eq!(world.read("by-extension.txt"), "written\n");
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert!(!world.root().join("by-extension.txt").exists());
}

#[tokio::test]
async fn a_cancelled_turn_does_not_wait_for_an_extension() {
    let world = desk_world(&calls("extension_command", "{ command = \"demo/busy\" }")).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.prompt("run").await.unwrap();
    alice.until_started().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert_eq!(outcomes(&world, session).await, ["cancelled"]);
}

#[tokio::test]
async fn a_dialog_is_answered_by_people_within_the_directories_they_may_use() {
    let world = desk_world(&calls("extension_command", "{ command = \"demo/open\" }")).await;
    let mut feed = world.engine.dialogs().listen(Audience::Answers);
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.prompt("run").await.unwrap();
    let DialogNews::Asked(dialog) = feed.next().await else { panic!("no dialog") };
    let by = |role| Actor::from(&client("bob", role, loggia_domain::Abilities::default()));
    let answer = |path: &str| DialogAnswer::Chosen(Some(vec![path.into()]));
    let engine = &world.engine;
    let refused = engine.answer_dialog(dialog.id, answer("a.hl7"), by(Role::Watch)).await;
    assert_eq!(refused, Err(AnswerError::Forbidden));
    for wrong in [DialogAnswer::Seen, DialogAnswer::Chosen(Some(Vec::new()))] {
        let refused = engine.answer_dialog(dialog.id, wrong, by(Role::Drive)).await;
        assert!(matches!(refused, Err(AnswerError::DoesNotFit(_))), "{refused:?}");
    }
    for outside in ["/etc/passwd", "../data/token", "no such file"] {
        let refused = engine.answer_dialog(dialog.id, answer(outside), by(Role::Drive)).await;
        assert!(matches!(refused, Err(AnswerError::BadChoice { .. })), "{outside}: {refused:?}");
    }
    engine.answer_dialog(dialog.id, answer("a.hl7"), by(Role::Drive)).await.unwrap();
    let late = engine.answer_dialog(dialog.id, DialogAnswer::Chosen(None), by(Role::Drive)).await;
    assert!(matches!(late, Err(AnswerError::AlreadyAnswered { .. })), "{late:?}");
    alice.until_done().await;
    assert_eq!(outcomes(&world, session).await, ["ok: `demo` has done it.\nIt said:\na.hl7"]);
}

#[tokio::test]
async fn without_anybody_an_extension_is_told_so_and_goes_on() {
    let world = desk_world(&calls("extension_command", "{ command = \"demo/ask\" }")).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("run").await, TurnEnd::Done);
    let expected = "ok: `demo` has done it.\nIt said:\nnobody is there to answer: no client that shows dialogs is connected";
    assert_eq!(outcomes(&world, session).await, [expected]);
}

#[tokio::test]
async fn an_engine_without_desks_has_none_and_no_extensions() {
    let world = world().start("").await;
    assert!(world.engine.message_desk(world.workspace.id).await.unwrap().is_none());
    let extensions = world.engine.extensions();
    assert!(extensions.list(world.workspace.clone()).await.unwrap().extensions.is_empty());
    let commands = extensions.commands(world.workspace.clone()).await.unwrap();
    let run = commands.execute("any".to_owned(), None, None).await;
    assert!(matches!(run, Err(GuestError::NotFound(_))), "{run:?}");
}
