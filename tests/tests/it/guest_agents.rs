//! Turns that an agent of a plugin takes: what it says, what it calls, what it is told.

use std::sync::Arc;

use loggia_domain::{
    Abilities, Actor, AgentPart, ApprovalScope, EventBody, Image, Instruction, Intent, ModelName, Preset,
    Role, SessionId, TurnEnd, Usage, WhenBusy,
};
use loggia_engine::{EngineError, IntentError, NewSession, Told};
use loggia_tests::{Act, FakeAgent, FakeGuests, Player, World, WorldBuilder};

use crate::world;

/// A world with one agent besides its model.
pub(crate) fn hosting(agent: &Arc<FakeAgent>) -> WorldBuilder {
    world().guests(Arc::new(FakeGuests(vec![Arc::clone(agent)])))
}

/// Somebody on a session whose turns the agent takes.
pub(crate) async fn play(world: &World, preset: Preset) -> (SessionId, Player) {
    play_with(world, preset, "plugin:helper").await
}

pub(crate) async fn play_with(world: &World, preset: Preset, model: &str) -> (SessionId, Player) {
    let model = Some(ModelName(model.to_owned()));
    let new = NewSession { preset: Some(preset), model, ..NewSession::new(world.workspace.id) };
    let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
    let player = world.join(session, "alice", Role::Drive, Abilities::default()).await;
    (session, player)
}

fn used(input: u64, output: u64) -> Act {
    Act::Say(AgentPart::Usage(Usage { input, output, ..Usage::default() }))
}

#[tokio::test]
async fn what_an_agent_says_streams_like_a_reply_and_its_thoughts_are_no_part_of_it() {
    let agent = FakeAgent::new(
        "helper",
        vec![vec![
            Act::Say(AgentPart::Thought("hm. ".to_owned())),
            Act::text("All "),
            used(10, 2),
            Act::Say(AgentPart::Note("the key ends soon".to_owned())),
            Act::Say(AgentPart::OwnCall { id: "own_1".to_owned(), result: "12 files".to_owned() }),
            Act::text("is well."),
            used(5, 3),
        ]],
    );
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    assert_eq!(alice.play("How is it?").await, TurnEnd::Done);
    let pieces: String = alice
        .heard
        .iter()
        .filter_map(|told| match told {
            Told::Reply(piece) => Some(piece.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, "All is well.");
    let message = alice.heard.iter().find_map(|told| match told {
        Told::Event(event) => match &event.body {
            EventBody::MessageEnded { message, .. } => Some(message.clone()),
            _ => None,
        },
        _ => None,
    });
    let message = message.unwrap();
    assert_eq!(message.text, "All is well.");
    assert_eq!(
        message.thought.as_deref(),
        Some("hm. [the key ends soon]\n[its own tool call `own_1` came to: 12 files]\n")
    );
    let state = alice.state().await;
    assert_eq!((state.usage.input, state.usage.output), (15, 5));
    assert!(world.model.requests().is_empty(), "no model was asked");
}

#[tokio::test]
async fn an_agent_is_handed_the_conversation_as_one_text() {
    let agent = FakeAgent::new("helper", vec![vec![Act::text("Two files.")], vec![Act::text("Both.")]]);
    let world = hosting(&agent).file("AGENTS.md", "Write tests.").start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.play("How many files?").await;
    alice.play("Which are tested?").await;
    let requests = agent.requests();
    assert_eq!(
        requests[0].text,
        "You work in one directory, the workspace. All paths are relative to its root. Changes and commands may need \
         a person's approval. When you are done, say briefly what you did.\n\n\
         The workspace's own instructions:\n\nWrite tests.\n\nHow many files?"
    );
    let second = requests[1].text.split_once("\n\n# What was said so far\n\n").unwrap().1;
    assert_eq!(second, "User: How many files?\n\nYou: Two files.\n\n# What to do now\n\nWhich are tested?");
    let tools: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut sorted = tools.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [
            "apply_patch",
            "delete_file",
            "edit_file",
            "list_directory",
            "read_file",
            "run_command",
            "search_text",
            "write_file"
        ]
    );
}

#[tokio::test]
async fn images_are_left_out_with_a_note() {
    let agent = FakeAgent::new("helper", vec![vec![Act::text("I see nothing.")]]);
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    let image = Image {
        hash: loggia_domain::ContentHash::of(b"png"),
        media_type: "image/png".to_owned(),
        bytes: 3,
        name: Some("plan.png".to_owned()),
    };
    let instruction = Instruction { text: "Look.".to_owned(), images: vec![image], ..Instruction::default() };
    alice.seat.intend(Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let text = &agent.requests()[0].text;
    assert!(text.ends_with("[Image #1: plan.png, which you cannot look at]\nLook."), "{text}");
}

#[tokio::test]
async fn a_call_is_judged_asked_about_and_answered_like_a_models() {
    let agent = FakeAgent::new(
        "helper",
        vec![vec![
            Act::text("I look. "),
            Act::Call("c1", "read_file", r#"{"path":"a.txt"}"#),
            Act::text("I write. "),
            Act::Call("c2", "write_file", r#"{"path":"a.txt","content":"two\n"}"#),
            Act::text("I write again. "),
            Act::Call("c3", "write_file", r#"{"path":"b.txt","content":"b\n"}"#),
            Act::text("Enough."),
        ]],
    );
    let world = hosting(&agent).file("a.txt", "one\n").start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    let asked = alice.until_asked().await;
    alice.decide(asked, ApprovalScope::All).await.unwrap();
    let asked = alice.until_asked().await;
    alice.decide(asked, ApprovalScope::None).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
    let given: Vec<String> =
        agent.given().into_iter().map(|(call, result)| format!("{call}: {result}")).collect();
    insta::assert_snapshot!(given.join("\n"));
    assert_eq!(world.read("a.txt"), "two\n");
    assert!(!world.root().join("b.txt").exists());
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_to_the_agent() {
    let agent = FakeAgent::new(
        "helper",
        vec![vec![
            Act::Call("c1", "frobnicate", "{}"),
            Act::Call("c2", "read_file", r#"{"path":"absent.txt"}"#),
            Act::Call("c3", "write_file", r#"{"path":".git/config","content":"x"}"#),
            Act::Call("c4", "read_file", "nonsense"),
            Act::text("I give up."),
        ]],
    );
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    assert_eq!(alice.play("go").await, TurnEnd::Done);
    let given = agent.given();
    let result = |place: usize| given[place].1.as_str();
    assert!(result(0).starts_with("The call failed: there is no tool `frobnicate`; there are "), "{given:?}");
    assert!(result(1).starts_with("The call failed: ") && result(1).contains("absent.txt"), "{given:?}");
    assert!(result(2).starts_with("Not allowed: "), "{given:?}");
    assert!(result(3).starts_with("The call failed: "), "{given:?}");
}

#[tokio::test]
async fn a_question_to_people_is_a_call_like_others_and_ends_the_reply() {
    let agent = FakeAgent::new(
        "helper",
        vec![vec![
            Act::text("I need to know."),
            Act::Call(
                "q1",
                "AskUserQuestion",
                r#"{"questions":[{"question":"Which one?","options":[{"label":"A","description":"the first"},{"label":"B"}]}]}"#,
            ),
            Act::text("I wait."),
        ]],
    );
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    assert_eq!(alice.play("go").await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
    assert!(agent.given()[0].1.contains("answers later"), "{:?}", agent.given());
}

#[tokio::test]
async fn an_agent_uses_up_steps_and_budget_like_a_model() {
    let calls = || {
        let call = |id| Act::Call(id, "list_directory", r#"{"path":"."}"#);
        vec![used(60, 0), call("c1"), used(60, 0), call("c2"), used(60, 0), call("c3"), Act::text("done")]
    };
    let agent = FakeAgent::new("helper", vec![calls()]);
    let world = hosting(&agent).start("").await;
    world.change_policy(|policy| policy.limits.max_steps = 2);
    let (_, mut alice) = play(&world, Preset::Ask).await;
    assert_eq!(alice.play("go").await, TurnEnd::StepLimit);
    agent.until_cut().await;

    let agent = FakeAgent::new("helper", vec![calls()]);
    let world = hosting(&agent).start("").await;
    let budget = loggia_domain::Budget { tokens: Some(100), micro_dollars: None };
    let model = Some(ModelName("plugin:helper".to_owned()));
    let new = NewSession { model, budget, ..NewSession::new(world.workspace.id) };
    let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
    let mut alice = world.join(session, "alice", Role::Drive, Abilities::default()).await;
    assert_eq!(alice.play("go").await, TurnEnd::BudgetLimit);
    assert_eq!(agent.given().len(), 1);
}

#[tokio::test]
async fn an_agent_is_chosen_like_a_model_and_an_unknown_one_is_refused() {
    let agent = FakeAgent::new("helper", vec![vec![Act::text("Here I am.")]]);
    let world = hosting(&agent).start("[[reply]]\nparts = [{ text = \"model\" }]\n").await;
    let names = world.engine.agents(world.workspace.id).await.unwrap();
    assert_eq!(names, [ModelName("plugin:helper".to_owned())]);
    let unknown = Some(ModelName("plugin:nobody".to_owned()));
    let new = NewSession { model: unknown.clone(), ..NewSession::new(world.workspace.id) };
    let refused = world.engine.open_session(new, Actor::Engine).await.unwrap_err();
    assert!(matches!(refused, EngineError::Agent(_)), "{refused:?}");
    assert_eq!(
        refused.to_string(),
        "there is no agent `nobody` in this workspace; there are `plugin:helper`"
    );
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("who?").await;
    let set = |name: &str| Intent::SetModel { model: ModelName(name.to_owned()) };
    let refused = alice.seat.intend(set("plugin:nobody")).await.unwrap_err();
    assert!(matches!(refused, IntentError::Agent(_)), "{refused:?}");
    alice.seat.intend(set("plugin:helper")).await.unwrap();
    alice.play("who?").await;
    assert!(alice.text().ends_with("message: Here I am.\nturn ended: done"), "{}", alice.text());
    // It is told what the model said.
    assert!(agent.requests()[0].text.contains("You: model"), "{:?}", agent.requests());

    let nobody = crate::world().start("").await;
    let new = NewSession { model: unknown, ..NewSession::new(nobody.workspace.id) };
    let refused = nobody.engine.open_session(new, Actor::Engine).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "there is no agent `nobody` in this workspace; no plugin that is one is enabled and trusted"
    );
}
