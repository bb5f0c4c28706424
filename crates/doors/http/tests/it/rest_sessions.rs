//! Sessions over the wire.

use serde_json::{Value, json};

use crate::support::{Builder, House};

const TALK: &str =
    "[[reply]]\nrepeat = true\nparts = [{ text = \"Done.\" }]\nusage = { input = 5, output = 2 }\n";

#[tokio::test]
async fn a_session_is_opened_read_listed_and_removed() {
    let house = Builder::new().start(TALK).await;
    let workspace = house.world.workspace.id.to_string();
    let body = json!({"workspace_id": workspace, "title": "Fix it", "policy_preset": "read-only",
        "model": {"provider": "scripted", "model_name": "model"}, "budget": {"max_tokens": 1000, "max_cost_usd": 0.5}});
    let made = house.ask("POST", "/v1/sessions", &body.to_string()).await.ok(201).json();
    let id = made["session_id"].as_str().unwrap();
    assert!(id.starts_with("ses_"));
    assert_eq!(made["workspace_id"], workspace);
    assert_eq!((&made["title"], &made["status"]), (&json!("Fix it"), &json!("idle")));
    assert_eq!(made["model"], json!({"provider": "scripted", "model_name": "model"}));
    assert_eq!(made["created_at"], made["updated_at"]);
    let state = json!({"pending_patches": [], "applied_patches": [], "pending_approvals": [], "current_step": 0, "total_steps": 0});
    assert_eq!(made["state"], state);
    assert_eq!(house.get(&format!("/v1/sessions/{id}")).await.ok(200).json(), made);
    let other = house.session().await;
    let list = house.get(&format!("/v1/sessions?workspace_id={workspace}")).await.ok(200).json();
    let ids: Vec<&str> =
        list["sessions"].as_array().unwrap().iter().map(|one| one["session_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [other.as_str(), id], "newest first");
    let none =
        house.get("/v1/sessions?workspace_id=ws_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f").await.ok(200).json();
    assert_eq!(none["sessions"], json!([]));
    assert_eq!(house.ask("DELETE", &format!("/v1/sessions/{id}"), "").await.ok(204).body, "");
    assert_eq!(house.get(&format!("/v1/sessions/{id}")).await.problem(), "404 not-found");
    assert_eq!(house.ask("DELETE", &format!("/v1/sessions/{id}"), "").await.problem(), "404 not-found");
}

#[tokio::test]
async fn a_session_without_a_title_is_called_after_its_first_instruction() {
    let house = Builder::new().start(TALK).await;
    let id = house.session().await;
    let before = house.get(&format!("/v1/sessions/{id}")).await.json();
    assert_eq!(before["title"], "New session");
    house.turn(&id, "Make the\ntests pass").await;
    let after = house.get(&format!("/v1/sessions/{id}")).await.json();
    assert_eq!(after["title"], "Make the");
    assert!(after["last_seq"].as_u64() > before["last_seq"].as_u64());
}

#[tokio::test]
async fn what_a_session_cannot_be_opened_with_is_refused() {
    let house = House::new().await;
    let workspace = house.world.workspace.id.to_string();
    let with = |key: &str, value: Value| {
        let mut body = json!({"workspace_id": workspace});
        body[key] = value;
        body.to_string()
    };
    for (body, fault) in [
        (
            with("workspace_id", json!("ws_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f")),
            "422 invalid-body /workspace_id",
        ),
        (with("title", json!("")), "422 invalid-body /title"),
        (with("title", json!("x".repeat(2000))), "422 invalid-body /title"),
        (
            with("model", json!({"provider": "scripted", "model_name": "modle"})),
            "422 invalid-body /model/model_name",
        ),
        (with("policy_preset", json!("yolo")), "422 invalid-body /policy_preset"),
        (with("budget", json!({"max_cost_usd": -1})), "422 invalid-body /budget/max_cost_usd"),
        (with("budget", json!({"max_steps": 3})), "422 invalid-body /budget/max_steps"),
    ] {
        assert_eq!(house.ask("POST", "/v1/sessions", &body).await.problem(), fault, "{body}");
    }
}

#[tokio::test]
async fn only_an_admin_loosens_the_workspaces_preset() {
    let house = House::new().await;
    let drive = house.token("drive").await;
    let body = |preset: &str| {
        json!({"workspace_id": house.world.workspace.id.to_string(), "policy_preset": preset}).to_string()
    };
    house.ask_as(Some(&drive), "POST", "/v1/sessions", &body("ask")).await.ok(201);
    house.ask_as(Some(&drive), "POST", "/v1/sessions", &body("read-only")).await.ok(201);
    let refused = house.ask_as(Some(&drive), "POST", "/v1/sessions", &body("full")).await;
    assert_eq!(refused.problem(), "403 forbidden");
    house.ask("POST", "/v1/sessions", &body("full")).await.ok(201);
}

#[tokio::test]
async fn sessions_are_listed_page_by_page_without_gap_or_repeat() {
    let house = House::new().await;
    for _ in 0..5 {
        house.session().await;
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/sessions?limit=2".to_owned());
    loop {
        let page = house.get(&path).await.ok(200).json();
        seen.extend(page["sessions"].as_array().unwrap().iter().map(|one| one["session_id"].to_string()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/sessions?limit=2&cursor={next}");
    }
    let listed = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((listed, seen.len()), (5, 5));
}

#[tokio::test]
async fn a_session_goes_on_with_another_model() {
    let house = Builder::new().world(|world| world.model("scripted:small")).start(TALK).await;
    let id = house.session().await;
    let path = format!("/v1/sessions/{id}/model");
    let small = r#"{"provider":"scripted","model_name":"small"}"#;
    let changed = house.ask("POST", &path, small).await.ok(200).json();
    assert_eq!(changed["model"], json!({"provider": "scripted", "model_name": "small"}));
    assert_eq!(house.ask("GET", &format!("/v1/sessions/{id}"), "").await.ok(200).json(), changed);
    let unknown = house.ask("POST", &path, r#"{"provider":"scripted","model_name":"smal"}"#).await;
    assert_eq!(unknown.problem(), "422 invalid-body /model_name");
    let events = house.ask("GET", &format!("/v1/sessions/{id}/events"), "").await.ok(200).json();
    let notice = events["events"].as_array().unwrap().iter().find(|event| event["type"] == "session.notice");
    let notice = notice.unwrap_or_else(|| panic!("{events}"));
    assert_eq!((&notice["kind"], &notice["model"]), (&json!("model_changed"), &json!("scripted:small")));
}

#[tokio::test]
async fn a_session_is_renamed_and_split() {
    let house = Builder::new().start(TALK).await;
    let id = house.session().await;
    house.turn(&id, "one").await;
    let renamed =
        house.ask("POST", &format!("/v1/sessions/{id}/rename"), r#"{"title":"Better"}"#).await.ok(200).json();
    assert_eq!(renamed["title"], "Better");
    let bad = house.ask("POST", &format!("/v1/sessions/{id}/rename"), r#"{"title":"\u0007"}"#).await;
    assert_eq!(bad.problem(), "422 invalid-body /title");
    // Without a body: all of it.
    let fork = house.ask("POST", &format!("/v1/sessions/{id}/fork"), "").await.ok(201).json();
    assert_ne!(fork["session_id"], renamed["session_id"]);
    assert_eq!((&fork["title"], &fork["last_seq"]), (&json!("Better"), &renamed["last_seq"]));
    let fork = house
        .ask("POST", &format!("/v1/sessions/{id}/fork"), r#"{"seq":1,"title":"Start"}"#)
        .await
        .ok(201)
        .json();
    assert_eq!(fork["title"], "Start");
    assert!(fork["last_seq"].as_u64() < renamed["last_seq"].as_u64());
    for seq in [0, 9999] {
        let bad =
            house.ask("POST", &format!("/v1/sessions/{id}/fork"), &json!({ "seq": seq }).to_string()).await;
        assert_eq!(bad.problem(), "422 invalid-body /seq");
    }
}

#[tokio::test]
async fn a_running_turn_is_cancelled_continued_and_cut_by_removing_the_session() {
    let script = "[[reply]]\nparts = [{ text = \"well\" }, { hang = true }]\n\
                  [[reply]]\nparts = [{ hang = true }]\n";
    let house = Builder::new().start(script).await;
    let id = house.session().await;
    let path = |what: &str| format!("/v1/sessions/{id}/{what}");
    assert_eq!(house.ask("POST", &path("cancel"), "").await.problem(), "409 conflict");
    assert_eq!(house.ask("POST", &path("continue"), "").await.problem(), "409 conflict");
    let player = house.player(&id).await;
    player.prompt("go").await.unwrap();
    assert_eq!(house.get(&format!("/v1/sessions/{id}")).await.json()["status"], "running");
    assert_eq!(house.ask("POST", &path("continue"), "").await.problem(), "409 conflict");
    let cancelled = house.ask("POST", &path("cancel"), "").await.ok(200).json();
    assert_eq!((&cancelled["status"], &cancelled["can_continue"]), (&json!("idle"), &json!(true)));
    let goes_on = house.ask("POST", &path("continue"), "").await.ok(200).json();
    assert_eq!((&goes_on["status"], goes_on.get("can_continue")), (&json!("running"), None));
    house.ask("DELETE", &format!("/v1/sessions/{id}"), "").await.ok(204);
    assert_eq!(house.get(&format!("/v1/sessions/{id}")).await.problem(), "404 not-found");
}

#[tokio::test]
async fn a_waiting_session_says_what_it_waits_for() {
    let script = "[[reply]]\nparts = [{ call = { tool = \"write_file\", arguments = { path = \"a\", content = \"1\" } } }]\n";
    let house = Builder::new().start(script).await;
    let id = house.session().await;
    let mut player = house.player(&id).await;
    player.prompt("write").await.unwrap();
    let asked = player.until_asked().await;
    let session = house.get(&format!("/v1/sessions/{id}")).await.json();
    assert_eq!(session["status"], "waiting_approval");
    assert_eq!(session["state"]["pending_approvals"], json!([asked.to_string()]));
    assert_eq!(session["state"]["pending_patches"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn events_are_read_page_by_page_and_none_is_split() {
    let house = Builder::new().start(TALK).await;
    let id = house.session().await;
    for text in ["one", "two", "three"] {
        house.turn(&id, text).await;
    }
    let whole = house.get(&format!("/v1/sessions/{id}/events")).await.ok(200).json();
    assert!(whole.get("next_after").is_none());
    let whole = whole["events"].as_array().unwrap().clone();
    let said: Vec<&str> = whole
        .iter()
        .filter(|event| event["type"] == "client.echo")
        .map(|event| event["message"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["one", "two", "three"]);
    assert!(whole.iter().all(|event| event["seq"].is_u64()), "{whole:?}");
    for limit in 1..4 {
        let (mut read, mut after) = (Vec::new(), 0);
        loop {
            let page = house
                .get(&format!("/v1/sessions/{id}/events?after={after}&limit={limit}"))
                .await
                .ok(200)
                .json();
            read.extend(page["events"].as_array().unwrap().clone());
            let Some(next) = page["next_after"].as_u64() else { break };
            assert!(next > after);
            after = next;
        }
        assert_eq!(read, whole, "in pages of {limit}");
    }
}

#[tokio::test]
async fn sessions_of_a_workspace_that_is_gone_can_still_be_read() {
    let short = std::time::Duration::from_millis(1);
    let house = Builder::new().world(|world| world.unload_after(short)).start(TALK).await;
    let gone = tempfile::tempdir().unwrap();
    let body = json!({ "root_path": gone.path() }).to_string();
    let workspace = house.ask("POST", "/v1/workspaces/register", &body).await.ok(201).json();
    let body = json!({ "workspace_id": workspace["workspace_id"] }).to_string();
    let made = house.ask("POST", "/v1/sessions", &body).await.ok(201).json();
    let id = made["session_id"].as_str().unwrap();
    house.turn(id, "one").await;
    // Once it has left memory, it cannot come back there.
    while house.world.engine.loaded_sessions() > 0 {
        tokio::time::sleep(short).await;
    }
    drop(gone);
    let list = house.get("/v1/sessions").await.ok(200).json();
    assert_eq!(list["sessions"][0]["session_id"], id);
    let one = house.get(&format!("/v1/sessions/{id}")).await.ok(200).json();
    assert_eq!((&one["title"], &one["status"]), (&json!("one"), &json!("idle")));
    assert_eq!(
        house.get(&format!("/v1/sessions/{id}/events")).await.ok(200).json()["events"][0]["message"],
        "one"
    );
    // Nothing new can be done there, and no session is made that could do nothing.
    assert_eq!(house.ask("POST", "/v1/sessions", &body).await.problem(), "409 conflict");
    let rename = house.ask("POST", &format!("/v1/sessions/{id}/rename"), r#"{"title":"x"}"#).await;
    assert_eq!(rename.problem(), "409 conflict");
    assert_eq!(house.get("/v1/sessions").await.json()["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn listing_sessions_brings_none_of_them_into_memory() {
    let house = Builder::new().start(TALK).await;
    let engine = &house.world.engine;
    let by = loggia_domain::Actor::from(&loggia_domain::Client {
        id: loggia_domain::ClientId::new(),
        name: "alice".to_owned(),
        door: loggia_domain::Door::Http,
        role: loggia_domain::Role::Drive,
        abilities: loggia_domain::Abilities::default(),
    });
    for _ in 0..5 {
        let new = loggia_engine::NewSession::new(house.world.workspace.id);
        engine.open_session(new, by.clone()).await.unwrap();
    }
    assert_eq!(engine.loaded_sessions(), 0);
    let list = house.get("/v1/sessions").await.ok(200).json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 5);
    assert_eq!(engine.loaded_sessions(), 0);
    // What the list says of one is what it says itself.
    for listed in list["sessions"].as_array().unwrap() {
        let path = format!("/v1/sessions/{}", listed["session_id"].as_str().unwrap());
        assert_eq!(house.get(&path).await.ok(200).json(), *listed);
    }
    assert_eq!(house.get("/v1/sessions").await.json(), list, "in memory and not in memory are the same");
}

#[tokio::test]
async fn a_list_tells_what_sessions_in_memory_do() {
    let script = "[[reply]]\nparts = [{ text = \"well\" }, { hang = true }]\n\
                  [[reply]]\nparts = [{ call = { tool = \"write_file\", arguments = { path = \"a\", content = \"1\" } } }]\n";
    let house = Builder::new().start(script).await;
    let (running, waiting) = (house.session().await, house.session().await);
    let first = house.player(&running).await;
    first.prompt("go").await.unwrap();
    while house.world.engine.state(running.parse().unwrap()).await.unwrap().history.items().is_empty() {
        tokio::task::yield_now().await;
    }
    let list = house.get("/v1/sessions").await.ok(200).json();
    let status = |list: &Value, id: &str| {
        let all = list["sessions"].as_array().unwrap();
        all.iter().find(|one| one["session_id"] == id).unwrap()["status"].clone()
    };
    assert_eq!((status(&list, &running), status(&list, &waiting)), (json!("running"), json!("idle")));
}
