//! Open messages: found by their ids, read, changed, undone, saved; and where there are none.

use loggia_engine::dialogs::DialogSettings;
use serde_json::{Value, json};

use crate::support::{Builder, House};

async fn house() -> House {
    let files = |world: loggia_tests::WorldBuilder| {
        world
            .desks(DialogSettings::default())
            .file("a.hl7", "ID=1\nNAME=DOE\n")
            .file(".env", "KEY=secret\n")
            .file("b.hl7", "NAME=\n")
    };
    Builder::new().world(files).start("").await
}

async fn opened(house: &House) -> Value {
    let body = json!({"workspace_id": house.world.workspace.id.to_string(), "path": "a.hl7"});
    house.ask("POST", "/v1/messages", &body.to_string()).await.ok(201).json()
}

fn path(message: &Value, rest: &str) -> String {
    format!("/v1/messages/{}{rest}", message["message_id"].as_str().unwrap())
}

#[tokio::test]
async fn a_message_is_opened_read_changed_undone_and_saved() {
    let house = house().await;
    let message = opened(&house).await;
    assert_eq!(
        (&message["path"], &message["format"], &message["revision"], &message["unsaved"]),
        (&json!("a.hl7"), &json!("hl7"), &json!(1), &json!(false))
    );
    let listed = house.get("/v1/messages").await.ok(200).json();
    assert_eq!(listed["messages"], json!([message]));
    let here = format!("/v1/messages?workspace_id={}", house.world.workspace.id);
    assert_eq!(house.get(&here).await.ok(200).json()["messages"], json!([message]));
    assert_eq!(house.get(&path(&message, "")).await.ok(200).json(), message);

    let text = house.get(&path(&message, "/text")).await.ok(200).json();
    assert_eq!((&text["text"], &text["format"]), (&json!("ID=1\nNAME=DOE\n"), &json!("hl7")));
    let text = house.get(&path(&message, "/text?format=json")).await.ok(200).json();
    assert_eq!(text["text"], json!("{\"ID\":\"1\",\"NAME\":\"DOE\"}"));
    let value = house.get(&path(&message, "/value?path=NAME")).await.ok(200).json();
    assert_eq!(value, json!({"path": "NAME", "value": "DOE"}));
    let nothing = house.get(&path(&message, "/value?path=ELSE")).await.ok(200).json();
    assert_eq!(nothing, json!({"path": "ELSE"}));

    let patches = json!({"patches": [{"path": "NAME", "value": "ROE"}, {"path": "ZZZ", "value": "x"}]});
    let patched = house.ask("POST", &path(&message, "/patch"), &patches.to_string()).await.ok(200).json();
    assert_eq!((&patched["applied"], &patched["refused"][0]["index"]), (&json!(1), &json!(1)));
    assert_eq!(patched["message"]["unsaved"], true);
    let undone = house.ask("POST", &path(&message, "/undo"), "").await.ok(200).json();
    assert_eq!((&undone["can_undo"], &undone["can_redo"]), (&json!(false), &json!(true)));
    house.ask("POST", &path(&message, "/redo"), "").await.ok(200);
    let set = json!({"text": "NAME=\n"}).to_string();
    assert_eq!(house.ask("PUT", &path(&message, "/text"), &set).await.ok(200).json()["revision"], 5);
    let doubts = house.get(&path(&message, "/validation")).await.ok(200).json();
    let finding = json!({"path": "NAME", "severity": "error", "message": "it is empty"});
    assert_eq!(doubts, json!({"valid": false, "findings": [finding]}));

    assert_eq!(house.ask("DELETE", &path(&message, ""), "").await.problem(), "409 conflict");
    house.ask("POST", &path(&message, "/save"), r#"{"path":"c.hl7"}"#).await.ok(200);
    assert_eq!(house.world.read("c.hl7"), "NAME=\n");
    assert_eq!(house.world.read("a.hl7"), "ID=1\nNAME=DOE\n");
    house.ask("POST", &path(&message, "/save"), "").await.ok(200);
    house.ask("DELETE", &path(&message, ""), "").await.ok(204);
    assert_eq!(house.get(&path(&message, "")).await.problem(), "404 not-found");
    assert_eq!(house.get("/v1/messages").await.ok(200).json(), json!({"messages": []}));
}

#[tokio::test]
async fn an_id_that_is_not_open_any_more_is_nowhere() {
    let house = house().await;
    let (first, second) = (opened(&house).await, opened(&house).await);
    assert_ne!(first["message_id"], second["message_id"]);
    for (method, rest) in
        [("GET", ""), ("GET", "/text"), ("POST", "/undo"), ("POST", "/save"), ("DELETE", "")]
    {
        let answer = house.ask(method, &path(&first, rest), "").await;
        assert_eq!(answer.problem(), "404 not-found", "{method} {rest}");
        assert_eq!(answer.json()["hint"], "`GET /v1/messages` lists what is open");
    }
    for id in ["doc_1", "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f", "%2e%2e"] {
        assert_eq!(house.get(&format!("/v1/messages/{id}")).await.problem(), "404 not-found", "{id}");
    }
    let set = json!({"text": "NAME=\n"}).to_string();
    house.ask("PUT", &path(&second, "/text"), &set).await.ok(200);
    house.ask("DELETE", &path(&second, "?unsaved=discard"), "").await.ok(204);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_where_it_stands() {
    let house = house().await;
    let workspace = house.world.workspace.id.to_string();
    for (body, expected) in [
        (json!({"workspace_id": workspace}), "422 invalid-body /path"),
        (json!({"workspace_id": workspace, "path": "a", "text": "b"}), "422 invalid-body /text"),
        (json!({"workspace_id": workspace, "path": "a.hl7", "format": "hl7"}), "422 invalid-body /format"),
        (json!({"workspace_id": workspace, "text": "", "format": "xml"}), "422 invalid-body /format"),
        (json!({"workspace_id": workspace, "path": "/etc/passwd"}), "422 invalid-body /path"),
        (json!({"workspace_id": workspace, "path": ""}), "422 invalid-body /path"),
        (json!({"workspace_id": workspace, "path": "nothing.hl7"}), "422 invalid-body"),
        (json!({"workspace_id": workspace, "text": "a\u{0}b"}), "422 invalid-body"),
        (json!({"workspace_id": "ws_1", "path": "a.hl7"}), "422 invalid-body /workspace_id"),
        (json!({"workspace_id": workspace, "paht": "a.hl7"}), "422 invalid-body /paht"),
    ] {
        let answer = house.ask("POST", "/v1/messages", &body.to_string()).await;
        assert_eq!(answer.problem(), expected, "{body}");
    }
    let message = opened(&house).await;
    for (rest, expected) in [
        ("/text?format=xml", "400 bad-request"),
        ("/text?format=toml", "422 invalid-body"),
        ("/value", "400 bad-request"),
        ("/value?path=A%20B", "400 bad-request"),
    ] {
        assert_eq!(house.get(&path(&message, rest)).await.problem(), expected, "{rest}");
    }
    assert_eq!(house.ask("POST", &path(&message, "/undo"), "").await.problem(), "409 conflict");
    assert_eq!(house.ask("DELETE", &path(&message, "?unsaved=no"), "").await.problem(), "400 bad-request");
    let new = json!({"workspace_id": workspace, "text": "NAME=x\n"});
    let new = house.ask("POST", "/v1/messages", &new.to_string()).await.ok(201).json();
    let unsaved = house.ask("POST", &path(&new, "/save"), "").await;
    assert_eq!(unsaved.problem(), "409 conflict");
    assert_eq!(unsaved.json()["hint"], "save it with a `path`");
}

#[tokio::test]
async fn no_message_leads_around_what_is_kept_from_everybody() {
    let house = house().await;
    let workspace = house.world.workspace.id.to_string();
    let secret = json!({"workspace_id": workspace, "path": ".env"}).to_string();
    assert_eq!(house.ask("POST", "/v1/messages", &secret).await.problem(), "403 forbidden");
    std::os::unix::fs::symlink(".env", house.world.root().join("innocent.hl7")).unwrap();
    std::os::unix::fs::symlink(".git", house.world.root().join("notes")).unwrap();
    std::os::unix::fs::symlink("/etc", house.world.root().join("out")).unwrap();
    let linked = json!({"workspace_id": workspace, "path": "innocent.hl7"}).to_string();
    assert_eq!(house.ask("POST", "/v1/messages", &linked).await.problem(), "403 forbidden");
    let message = opened(&house).await;
    for file in [
        "notes/hook",
        "out/hosts",
        "innocent.hl7",
        ".git/hooks/pre-commit",
        ".loggia/config.toml",
        ".env",
        "../out.hl7",
    ] {
        let body = json!({"path": file}).to_string();
        let answer = house.ask("POST", &path(&message, "/save"), &body).await;
        assert_eq!(answer.problem(), "403 forbidden", "{file}");
    }
    // A preset is about the agent, not about people.
    house.world.change_policy(|policy| policy.preset = loggia_domain::Preset::ReadOnly);
    house.ask("POST", &path(&message, "/save"), r#"{"path":"d.hl7"}"#).await.ok(200);
}

#[tokio::test]
async fn whoever_only_watches_looks_and_changes_nothing() {
    let house = house().await;
    let message = opened(&house).await;
    let watcher = house.token("read").await;
    for rest in ["", "/text", "/validation", "/value?path=NAME"] {
        house.ask_as(Some(&watcher), "GET", &path(&message, rest), "").await.ok(200);
    }
    let set = r#"{"text":"NAME=x"}"#;
    for (method, rest, body) in [
        ("PUT", "/text", set),
        ("POST", "/patch", r#"{"patches":[]}"#),
        ("POST", "/undo", ""),
        ("POST", "/save", ""),
        ("DELETE", "", ""),
    ] {
        let answer = house.ask_as(Some(&watcher), method, &path(&message, rest), body).await;
        assert_eq!(answer.problem(), "403 forbidden", "{method} {rest}");
    }
}

#[tokio::test]
async fn a_schema_is_told_and_where_there_is_no_desk_nothing_pretends() {
    let house = house().await;
    let schema = |house: &House| format!("/v1/messages/schema?workspace_id={}", house.world.workspace.id);
    let field = json!({"field": 5, "component": 1, "name": "Name", "required": true, "max_length": 20});
    assert_eq!(house.get(&schema(&house)).await.ok(200).json(), json!({"segments": {"PID": [field]}}));
    assert_eq!(house.get("/v1/messages/schema").await.problem(), "400 bad-request");

    let bare = House::new().await;
    assert_eq!(bare.get("/v1/messages").await.ok(200).json(), json!({"messages": []}));
    assert_eq!(bare.get(&schema(&bare)).await.problem(), "404 not-found");
    let body = json!({"workspace_id": bare.world.workspace.id.to_string(), "path": "src/main.rs"});
    assert_eq!(bare.ask("POST", "/v1/messages", &body.to_string()).await.problem(), "404 not-found");
}
