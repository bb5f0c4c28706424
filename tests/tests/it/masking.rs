//! Secrets, wherever they may come from: masked in the journal, in what is told and in what models are sent.

use std::collections::BTreeMap;

use loggia_domain::{
    Abilities, Actor, ApprovalAnswer, ApprovalScope, EventBody, Instruction, Intent, JsonText, ModelMessage,
    PatchReport, Preset, Remember, Role, TurnEnd, WhenBusy,
};
use loggia_engine::{NewSession, Told};
use loggia_tests::{Player, World};

use crate::commands::runs;
use crate::world;

const SECRET: &str = "correct-horse-battery-staple";
const MARK: &str = "[masked: known secret]";

/// Says the secret wherever a model can.
const SCRIPT: &str = r#"
    [[reply]]
    parts = [
        { thought = "They said SECRET." },
        { text = "You said SECRET." },
        { call = { tool = "update_plan", arguments = { steps = [{ description = "use SECRET", files_involved = [] }], current = 0, rationale = "SECRET is needed" } } },
    ]

    [[reply]]
    parts = [
        { call = { tool = "read_file", arguments = { path = "notes.txt" } } },
        { call = { tool = "read_file", arguments = { path = "SECRET.txt" } } },
        { call = { tool = "edit_file", arguments = { path = "notes.txt", old = "first\nkey: 1\n", new = "x" } } },
    ]

    [[reply]]
    parts = [{ call = { tool = "run_command", arguments = { command = "echo SECRET; echo SECRET >&2; echo SECRET > out.txt; exit 1", reason = "to say SECRET" } } }]

    [[reply]]
    parts = [{ call = { tool = "run_command", arguments = { command = "true" } } }]

    [[reply]]
    parts = [{ thought = "Hm, HALF" }, { thought = "OTHER?" }, { text = "So HALF" }, { text = "OTHER it is. " }, { text = "And" }, { hang = true }]

    [[reply]]
    parts = [{ error = { kind = "permanent", message = "SECRET is no key" } }]

    [[reply]]
    parts = [{ error = { kind = "too_long", message = "too much" } }]

    [[reply]]
    parts = [{ text = "They spoke of SECRET." }]

    [[reply]]
    parts = [{ text = "Go on." }]

    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "new.txt", content = "SECRET\n" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

fn spell(text: &str) -> String {
    let (half, other) = SECRET.split_at(SECRET.len() / 2);
    text.replace("SECRET", SECRET).replace("HALF", half).replace("OTHER", other)
}

fn json(text: &str) -> JsonText {
    JsonText(format!("{{\"key\":\"{text}\"}}"))
}

fn instruction(when_busy: WhenBusy) -> Intent {
    let instruction =
        Instruction { text: spell("Use SECRET."), context: Some(json(SECRET)), ..Instruction::default() };
    Intent::Prompt { instruction, when_busy }
}

async fn decide(player: &mut Player, scope: ApprovalScope) {
    let approval = player.until_asked().await;
    let answer = ApprovalAnswer { scope, remember: Remember::Once, comment: Some(spell("mind SECRET")) };
    player.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
}

/// Plays a session in which everybody says the secret wherever they can.
async fn everybody_says_it() -> (World, Player) {
    let world =
        world().file("notes.txt", spell("first\nkey: SECRET\n")).secret(SECRET).start(&spell(SCRIPT)).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(instruction(WhenBusy::Refuse)).await.unwrap();
    decide(&mut alice, ApprovalScope::All).await;
    decide(&mut alice, ApprovalScope::None).await;
    alice.until(|told| matches!(told, Told::Reply(piece) if piece.text.contains("And")).then_some(())).await;
    alice.seat.intend(Intent::UpdateContext { context: json(SECRET) }).await.unwrap();
    alice.seat.intend(instruction(WhenBusy::Queue)).await.unwrap();
    alice.seat.intend(Intent::Cancel { reason: Some(spell("enough of SECRET")) }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert!(matches!(alice.until_done().await, TurnEnd::Failed(_)));
    assert_eq!(alice.play("and now?").await, TurnEnd::Done);
    alice.prompt("write").await.unwrap();
    decide(&mut alice, ApprovalScope::All).await;
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("new.txt"), spell("SECRET\n"), "what is carried out is not masked");
    alice.seat.intend(Intent::Rename { title: spell("once SECRET") }).await.unwrap();
    alice.until_event(|event| matches!(event.body, EventBody::SessionRenamed { .. }).then_some(())).await;
    (world, alice)
}

/// An event without what is carried out as it stands: the arguments of calls and the lines of proposed changes.
fn without_deeds(mut body: EventBody) -> EventBody {
    match &mut body {
        EventBody::MessageEnded { message, .. } => message.calls.clear(),
        EventBody::ToolRequested { call } => call.arguments.0.clear(),
        EventBody::PatchProposed { patch } => {
            patch.diff.clear();
            patch.hunks.clear();
        }
        _ => {}
    }
    body
}

/// Something with a name, as text; nothing if the secret has nothing to do with it.
fn trace(thing: &impl std::fmt::Debug) -> Option<(String, bool)> {
    let text = format!("{thing:?}");
    let name = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
    let leaks = text.contains(SECRET);
    (leaks || text.contains(MARK)).then_some((name, leaks))
}

#[tokio::test]
async fn a_secret_is_masked_in_every_kind_of_event() {
    let (world, alice) = everybody_says_it().await;
    let journal = world.journal(alice.seat.session()).await;
    let traces: Vec<_> = journal.into_iter().filter_map(|event| trace(&without_deeds(event.body))).collect();
    let leaks: Vec<_> = traces.iter().filter(|(_, leaks)| *leaks).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
    let mut masked = BTreeMap::new();
    for (name, _) in &traces {
        *masked.entry(name.as_str()).or_insert(0) += 1;
    }
    let expected = [
        ("ApprovalAsked", 1),
        ("ApprovalDecided", 3),
        ("ContextUpdated", 1),
        ("FilesChanged", 1),
        ("HistoryCompacted", 1),
        ("InstructionQueued", 1),
        // One that came to its end and one that was cut.
        ("MessageEnded", 2),
        // Its reason is the plan's step.
        ("PatchProposed", 1),
        ("PlanChanged", 1),
        ("SessionRenamed", 1),
        // A file read, a path that is not there, a hint, a command's output, a refusal, a comment.
        ("ToolEnded", 6),
        ("TurnEnded", 1),
        ("TurnStarted", 2),
    ];
    assert_eq!(masked, BTreeMap::from(expected));
}

#[tokio::test]
async fn a_secret_is_masked_in_what_is_told_and_not_kept() {
    let (_, alice) = everybody_says_it().await;
    let traces: Vec<_> = alice
        .heard
        .iter()
        .filter_map(|told| match told {
            Told::Passing(passing) => trace(&**passing),
            Told::Reply(piece) => trace(piece),
            Told::Event(_) => None,
        })
        .collect();
    let leaks: Vec<_> = traces.iter().filter(|(_, leaks)| *leaks).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
    for kind in ["ToolOutput", "ReplyPiece"] {
        assert!(traces.iter().any(|(name, _)| name == kind), "{kind} in {traces:?}");
    }
}

#[tokio::test]
async fn the_pieces_of_a_reply_with_a_secret_are_the_whole() {
    let script = spell(
        r#"
        [[reply]]
        parts = [
            { thought = "hm HALF" }, { thought = "OTHER hm, the password is well known" },
            { text = "so HALF" }, { text = "OTHER it is, and API_" }, { text = "KEY" }, { text = "=f00ba7f00ba7" },
            { text = " was it; the to" }, { text = "ken is no secr" }, { text = "et at all" },
        ]
        "#,
    );
    let world = world().secret(SECRET).start(&script).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("go").await;
    let (mut text, mut thought) = (String::new(), String::new());
    for told in &alice.heard {
        if let Told::Reply(piece) = told {
            text.push_str(&piece.text);
            thought.push_str(&piece.thought);
        }
    }
    let whole = world.journal(session).await.into_iter().find_map(|event| match event.body {
        EventBody::MessageEnded { message, .. } => Some(message),
        _ => None,
    });
    let whole = whole.unwrap();
    assert_eq!(
        text,
        format!("so {MARK} it is, and API_KEY=[masked: secret] was it; the token is no secret at all")
    );
    assert_eq!(thought, format!("hm {MARK} hm, the password is well known"));
    assert_eq!((text, Some(thought)), (whole.text, whole.thought));
}

#[tokio::test]
async fn a_secret_is_masked_in_what_is_kept_of_a_running_reply() {
    let script = spell("[[reply]]\nparts = [{ text = \"so SECRET it is \" }, { hang = true }]");
    let world = world().secret(SECRET).start(&script).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.prompt("go").await.unwrap();
    alice.until_reply().await;
    let kept = loop {
        if let Some(kept) = world.store.kept_reply(session).await.unwrap() {
            break kept;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(kept.text, format!("so {MARK} it is "));
}

#[tokio::test]
async fn a_secret_in_a_title_is_masked_from_the_start() {
    let world = world().secret(SECRET).start("").await;
    let new = NewSession { title: Some(SECRET.to_owned()), ..NewSession::new(world.workspace.id) };
    let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
    assert_eq!(world.engine.session(session).await.unwrap().title.as_deref(), Some(MARK));
}

#[tokio::test]
async fn a_secret_is_masked_in_reasons_of_changes_and_in_why_they_failed() {
    let script = spell(
        r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a", content = "x", reason = "for SECRET", acceptance_criteria = ["SECRET works"] } } }]

        [[reply]]
        parts = [{ text = "Done." }]
        "#,
    );
    let world = world().secret(SECRET).start(&script).await;
    let session = world.open(Preset::Full).await;
    let abilities = Abilities { applies_patches: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("write").await.unwrap();
    alice.until_started().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    let report = PatchReport::Failed { message: SECRET.to_owned() };
    alice.seat.intend(Intent::ReportPatch { patch, report }).await.unwrap();
    alice.until_done().await;
    let journal = world.journal(session).await;
    let traces: Vec<_> = journal.into_iter().filter_map(|event| trace(&without_deeds(event.body))).collect();
    assert!(traces.iter().all(|(_, leaks)| !leaks), "{traces:?}");
    for kind in ["PatchProposed", "PatchDropped"] {
        assert!(traces.iter().any(|(name, _)| name == kind), "{kind} in {traces:?}");
    }
}

#[tokio::test]
async fn a_secret_is_masked_in_an_error_that_is_tried_again() {
    let script = spell(
        r#"
        [[reply]]
        parts = [{ error = { kind = "transient", message = "SECRET is slow", retry_after_ms = 1 } }]

        [[reply]]
        parts = [{ text = "Done." }]
        "#,
    );
    let world = world().secret(SECRET).start(&script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("go").await;
    assert!(alice.text().contains(&format!("{MARK} is slow")), "{}", alice.text());
}

#[tokio::test]
async fn a_secret_is_masked_in_the_variables_a_question_shows() {
    let script = spell(
        r#"
        [[reply]]
        parts = [{ call = { tool = "run_command", arguments = { command = "true", env = { KEY = "SECRET" } } } }]
        "#,
    );
    let world = world().secret(SECRET).start(&script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until_asked().await;
    let journal = world.journal(session).await;
    let traces: Vec<_> = journal.into_iter().filter_map(|event| trace(&without_deeds(event.body))).collect();
    assert_eq!(traces, [("ApprovalAsked".to_owned(), false)]);
}

#[tokio::test]
async fn an_answer_about_a_command_with_a_secret_is_no_rule() {
    let world = world().secret(SECRET).start(&runs(&format!("echo {SECRET}"))).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let rules = world.engine.policy(world.workspace.id).unwrap().rules.len();
    alice.prompt("go").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Workspace, comment: None };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    alice.until_done().await;
    assert_eq!(world.engine.policy(world.workspace.id).unwrap().rules.len(), rules);
}

#[tokio::test]
async fn a_secret_is_masked_in_what_models_are_sent() {
    let (world, _) = everybody_says_it().await;
    // One that is to summarise is sent its own calls as text.
    let requests = world.model.requests().into_iter().filter(|request| !request.tools.is_empty());
    let texts = requests.flat_map(|request| request.messages).map(|message| match message {
        ModelMessage::System(text) | ModelMessage::User(text) => text,
        ModelMessage::Shown { text, .. } | ModelMessage::Assistant { text, .. } => text,
        ModelMessage::ToolResult { output, .. } => output,
    });
    let traces: Vec<String> = texts.filter(|text| text.contains(MARK) || text.contains(SECRET)).collect();
    assert!(traces.len() > 10, "{traces:#?}");
    assert!(traces.iter().all(|text| !text.contains(SECRET)), "{traces:#?}");
}
