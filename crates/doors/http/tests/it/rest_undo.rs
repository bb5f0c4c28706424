//! Undo and redo over the wire.

use serde_json::{Value, json};

use crate::support::Builder;

fn writes(path: &str, content: &str) -> String {
    format!(
        "[[reply]]\nparts = [{{ call = {{ tool = \"write_file\", arguments = {{ path = \"{path}\", content = \"{content}\" }} }} }}]\n\
         [[reply]]\nparts = [{{ text = \"wrote {path}\" }}]\n"
    )
}

#[tokio::test]
async fn changes_are_undone_and_redone_and_named() {
    let script = [writes("a", "1"), writes("b", "2")].concat();
    let house = Builder::new().world(|world| world.file("a", "0")).start(&script).await;
    let id = house.session().await;
    for text in ["one", "two"] {
        house.turn(&id, text).await;
    }
    let path = |what: &str| format!("/v1/sessions/{id}/{what}");
    let applied = async || {
        let session = house.get(&format!("/v1/sessions/{id}")).await.json();
        session["state"]["applied_patches"].as_array().unwrap().len()
    };
    assert_eq!(house.ask("POST", &path("redo"), "").await.problem(), "409 conflict");
    assert_eq!(applied().await, 2);
    let undone = house.ask("POST", &path("undo"), "").await.ok(200).json();
    assert_eq!(undone, json!({"steps": 1, "files": ["b"], "out_of_reach": []}));
    assert!(!house.world.root().join("b").exists());
    assert_eq!(applied().await, 1);
    let redone = house.ask("POST", &path("redo"), "{}").await.ok(200).json();
    assert_eq!((&redone["steps"], &redone["files"]), (&json!(1), &json!(["b"])));
    assert_eq!(applied().await, 2);
    let undone = house.ask("POST", &path("undo"), r#"{"steps":2}"#).await.ok(200).json();
    assert_eq!(undone["files"], json!(["a", "b"]));
    assert_eq!(house.world.read("a"), "0");
    assert_eq!(house.ask("POST", &path("undo"), "").await.problem(), "409 conflict");
    assert_eq!(house.ask("POST", &path("undo"), r#"{"steps":0}"#).await.problem(), "422 invalid-body /steps");
    assert_eq!(house.ask("POST", &path("redo"), r#"{"steps":4294967295}"#).await.problem(), "409 conflict");
}

#[tokio::test]
async fn what_somebody_else_changed_since_is_not_overwritten() {
    let house = Builder::new().world(|world| world.file("a", "0")).start(&writes("a", "1")).await;
    let id = house.session().await;
    house.turn(&id, "one").await;
    std::fs::write(house.world.root().join("a"), "mine").unwrap();
    let refused = house.ask("POST", &format!("/v1/sessions/{id}/undo"), "").await;
    assert_eq!(refused.problem(), "409 conflict");
    assert_eq!(house.world.read("a"), "mine");
}

#[tokio::test]
async fn a_session_keeps_its_name_when_its_first_turn_is_undone() {
    let house = Builder::new().start(&writes("a", "new")).await;
    let id = house.session().await;
    house.turn(&id, "Write it").await;
    let look = async || house.get(&format!("/v1/sessions/{id}")).await.json();
    let written = look().await;
    assert_eq!((&written["can_undo"], &written["can_redo"]), (&json!(1), &Value::Null));
    house.ask("POST", &format!("/v1/sessions/{id}/undo"), "").await.ok(200);
    let undone = look().await;
    assert_eq!((&undone["can_undo"], &undone["can_redo"]), (&Value::Null, &json!(1)));
    assert_eq!(undone["title"], "Write it");
}
