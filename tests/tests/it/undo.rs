//! Undo and redo: files and conversation together, without the user's git.

use loggia_domain::{Intent, ModelMessage, Preset};
use loggia_engine::IntentError;

use crate::world_with;

/// One turn that writes a file.
fn writes(path: &str, content: &str) -> String {
    format!(
        "[[reply]]\nparts = [{{ call = {{ tool = \"write_file\", arguments = {{ path = \"{path}\", content = \"{content}\" }} }} }}]\n\
         [[reply]]\nparts = [{{ text = \"wrote {path}\" }}]\n"
    )
}

#[tokio::test]
async fn any_number_of_steps_is_undone_and_redone() {
    let script = [writes("a", "1"), writes("a", "2"), writes("d/b", "3")].concat();
    let world = world_with(&[("a", "0")], &script).await;
    let (_, mut alice) = world.play(Preset::AutoEdit).await;
    for turn in ["one", "two", "three"] {
        alice.play(turn).await;
    }
    let undo = |steps| Intent::Undo { steps };
    alice.seat.intend(undo(2)).await.unwrap();
    assert_eq!(world.read("a"), "1");
    assert!(!world.root().join("d").exists(), "a directory that undoing leaves empty goes");
    alice.seat.intend(undo(1)).await.unwrap();
    assert_eq!(world.read("a"), "0");
    let none = alice.seat.intend(undo(1)).await;
    assert!(matches!(none, Err(IntentError::NothingToUndo { available: 0 })));
    alice.seat.intend(Intent::Redo { steps: 3 }).await.unwrap();
    assert_eq!((world.read("a"), world.read("d/b")), ("2".to_owned(), "3".to_owned()));
    let none = alice.seat.intend(Intent::Redo { steps: 1 }).await;
    assert!(matches!(none, Err(IntentError::NothingToRedo { available: 0 })));
}

#[tokio::test]
async fn the_conversation_goes_back_too() {
    let script = [writes("a", "1"), writes("a", "2"), "[[reply]]\nparts = [{ text = \"ok\" }]\n".to_owned()];
    let world = world_with(&[("a", "0")], &script.concat()).await;
    let (_, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("first instruction").await;
    alice.play("second instruction").await;
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    alice.play("third instruction").await;
    let requests = world.model.requests();
    let said: Vec<&str> = requests
        .last()
        .unwrap()
        .messages
        .iter()
        .filter_map(|message| match message {
            ModelMessage::User(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["first instruction", "third instruction"]);
    let none = alice.seat.intend(Intent::Redo { steps: 1 }).await;
    assert!(matches!(none, Err(IntentError::NothingToRedo { .. })), "a new turn makes it unreachable");
}

#[tokio::test]
async fn what_somebody_else_changed_since_is_not_overwritten() {
    let world = world_with(&[("a", "0"), ("b", "0")], &[writes("a", "1")].concat()).await;
    let (_, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("one").await;
    std::fs::write(world.root().join("a"), "mine").unwrap();
    let refused = alice.seat.intend(Intent::Undo { steps: 1 }).await;
    let Err(IntentError::Conflict { paths }) = refused else { panic!("{refused:?}") };
    assert_eq!(paths, ["a"]);
    assert_eq!(world.read("a"), "mine");
    std::fs::write(world.root().join("a"), "1").unwrap();
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a"), "0");
}
