//! Images that people show: how they reach a model, and where they stay.

use std::sync::Arc;

use loggia_domain::{
    Abilities, Actor, Image, Instruction, Intent, ModelMessage, Preset, Role, Seq, WhenBusy,
};
use loggia_engine::{IntentError, MAX_IMAGES, MAX_IMAGES_BYTES};
use loggia_tests::{Player, World, last_prompt};

use crate::world;

const SEES: &str = r#"
    images = true

    [[reply]]
    repeat = 100
    parts = [{ text = "I see." }]
"#;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\npicture";

async fn shown(world: &World, name: Option<&str>) -> Image {
    world.engine.keep_image("image/png", name.map(str::to_owned), PNG.to_vec()).await.unwrap()
}

fn look(images: Vec<Image>) -> Intent {
    let instruction = Instruction { text: "Look.".to_owned(), images, ..Instruction::default() };
    Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }
}

/// The images in what the model was asked last.
fn seen(world: &World) -> Vec<(String, Arc<[u8]>)> {
    let request = world.model.requests().pop().unwrap();
    let images = request.messages.into_iter().filter_map(|message| match message {
        ModelMessage::Shown { images, .. } => Some(images),
        _ => None,
    });
    images.flatten().map(|image| (image.media_type, image.bytes)).collect()
}

async fn show(world: &World, alice: &mut Player) {
    let images = vec![shown(world, Some("shot.png")).await];
    alice.seat.intend(look(images)).await.unwrap();
    alice.until_done().await;
}

#[tokio::test]
async fn a_model_that_sees_is_shown_what_people_show() {
    let world = world().start(SEES).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    show(&world, &mut alice).await;
    assert_eq!(seen(&world), [("image/png".to_owned(), Arc::from(PNG))]);
    assert!(last_prompt(&world.model).contains("[Image #1: shot.png]\nLook."));
    alice.play("And now?").await;
    assert_eq!(seen(&world).len(), 1, "it stays in the conversation");
}

#[tokio::test]
async fn images_stay_when_the_daemon_starts_again() {
    let world = world().start(SEES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    show(&world, &mut alice).await;
    drop(alice);
    let world = world.restart(SEES).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    bob.play("And now?").await;
    assert_eq!(seen(&world), [("image/png".to_owned(), Arc::from(PNG))]);
}

#[tokio::test]
async fn a_fork_has_the_images_of_the_session_it_came_from() {
    let world = world().start(SEES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    show(&world, &mut alice).await;
    let at = alice.state().await.last_seq;
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    let mut bob = world.join(fork, "bob", Role::Drive, Abilities::default()).await;
    bob.play("And now?").await;
    assert_eq!(seen(&world).len(), 1);
}

#[tokio::test]
async fn undoing_a_turn_takes_its_images_back_and_redoing_brings_them() {
    let script = r#"
        images = true

        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

        [[reply]]
        repeat = 100
        parts = [{ text = "Done." }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    show(&world, &mut alice).await;
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    alice.seat.intend(Intent::Redo { steps: 1 }).await.unwrap();
    alice.play("And now?").await;
    assert_eq!(seen(&world).len(), 1);
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    alice.play("And now?").await;
    assert!(seen(&world).is_empty());
}

#[tokio::test]
async fn an_imported_journal_names_images_that_are_not_there() {
    let world = world().start(SEES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    show(&world, &mut alice).await;
    let hash = shown(&world, None).await.hash.to_string();
    let elsewhere = hash.chars().rev().collect::<String>();
    let lines = world.engine.export_session(session, Seq(0)).await.unwrap();
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line.replace(&hash, &elsewhere)).collect();
    assert!(lines.iter().any(|line| line.contains(&elsewhere)), "the journal names the image");
    let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
    let mut bob = world.join(imported.id, "bob", Role::Drive, Abilities::default()).await;
    bob.play("And now?").await;
    assert!(seen(&world).is_empty());
    let told = last_prompt(&world.model);
    assert!(told.contains("[Image #1: shot.png, which is not there any more]\nLook."), "{told}");
}

#[tokio::test]
async fn a_model_that_does_not_see_is_told_that_there_was_something() {
    let world = world().start(&SEES.replace("images = true", "")).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    show(&world, &mut alice).await;
    assert!(seen(&world).is_empty());
    let told = last_prompt(&world.model);
    assert!(told.contains("[Image #1: shot.png, which you cannot look at]\nLook."), "{told}");
}

#[tokio::test]
async fn names_of_images_are_masked() {
    let world = world().secret("swordfish-1234").start(SEES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let images = vec![shown(&world, Some("swordfish-1234.png")).await];
    alice.seat.intend(look(images)).await.unwrap();
    alice.until_done().await;
    let told = format!("{:?}{:?}", world.journal(session).await, last_prompt(&world.model));
    assert!(!told.contains("swordfish-1234"), "{told}");
}

#[tokio::test]
async fn more_images_than_a_model_can_be_shown_are_refused() {
    let world = world().start(SEES).await;
    let (_, alice) = world.play(Preset::Ask).await;
    let image = shown(&world, None).await;
    let refused = alice.seat.intend(look(vec![image.clone(); MAX_IMAGES + 1])).await;
    assert!(matches!(refused, Err(IntentError::TooManyImages)), "{refused:?}");
    let large = Image { bytes: MAX_IMAGES_BYTES, ..image.clone() };
    let refused = alice.seat.intend(look(vec![large, image.clone()])).await;
    assert!(matches!(refused, Err(IntentError::TooLong { what: "the images", .. })), "{refused:?}");
    let long = Image { name: Some("x".repeat(257)), ..image };
    let refused = alice.seat.intend(look(vec![long])).await;
    assert!(matches!(refused, Err(IntentError::TooLong { what: "an image's name", .. })), "{refused:?}");
}
