//! Models over the wire.

use std::sync::Arc;

use loggia_domain::ModelName;
use loggia_models::SearchingCatalogue;
use loggia_tests::{FakeAgent, FakeGuests};
use serde_json::json;

use crate::support::Builder;

#[tokio::test]
async fn models_are_listed_and_the_default_is_chosen_for_new_sessions() {
    let house = Builder::new().world(|world| world.model("scripted:small")).start("").await;
    let list = house.get("/v1/models").await.ok(200).json();
    let names: Vec<_> =
        list["models"].as_array().unwrap().iter().map(|model| model["model_name"].clone()).collect();
    assert_eq!(names, [json!("model"), json!("small")]);
    assert_eq!((&list["errors"], &list["models"][0]["local"]), (&json!([]), &json!(true)));
    let current = json!({"provider": "scripted", "model_name": "model"});
    assert_eq!(house.get("/v1/models/current").await.ok(200).json(), current);
    let before = house.session().await;
    let small = json!({"provider": "scripted", "model_name": "small"});
    let chosen = json!({"provider": "scripted", "model_name": "small", "chosen": true});
    assert_eq!(house.ask("PUT", "/v1/models/current", &small.to_string()).await.ok(200).json(), chosen);
    assert_eq!(house.get("/v1/models/current").await.json(), chosen);
    // A session keeps its own.
    let model = async |id: &str| house.get(&format!("/v1/sessions/{id}")).await.json()["model"].clone();
    assert_eq!(model(&before).await, current);
    assert_eq!(model(&house.session().await).await, small);
    // A choice can be taken back, more than once.
    for _ in 0..2 {
        house.ask("DELETE", "/v1/models/current", "").await.ok(204);
        assert_eq!(house.get("/v1/models/current").await.json(), current);
    }
    assert_eq!(model(&house.session().await).await, current);
}

#[tokio::test]
async fn a_choice_that_is_gone_is_told_with_the_way_out() {
    let house = Builder::new().start("").await;
    house.world.engine.set_default_model(ModelName("gone:model".to_owned())).unwrap();
    let current = house.get("/v1/models/current").await.ok(200).json();
    assert_eq!((&current["provider"], &current["chosen"]), (&json!("gone"), &json!(true)));
    assert!(current["problem"].as_str().unwrap().contains("gone:model"), "{current}");
    let report = house.get("/v1/doctor").await.ok(200).json();
    let models: Vec<_> =
        report["checks"].as_array().unwrap().iter().filter(|check| check["name"] == "model").collect();
    let [model] = models.as_slice() else { panic!("{report}") };
    assert_eq!(model["state"], "failed", "{model}");
    assert!(model["message"].as_str().unwrap().contains("`loggia model use`"), "{model}");
    assert!(model["hint"].as_str().unwrap().contains("`loggia model use --unset`"), "{model}");
}

#[tokio::test]
async fn an_unknown_model_is_refused_with_the_nearest_names() {
    let house = Builder::new().world(|world| world.model("scripted:small")).start("").await;
    let refused =
        house.ask("PUT", "/v1/models/current", r#"{"provider":"scripted","model_name":"smal"}"#).await;
    assert_eq!(refused.problem(), "422 invalid-body /model_name");
    let message = refused.json()["errors"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("nearest are: scripted:small, scripted:model"), "{message}");
    // Settings nobody would heed are not taken.
    let body = r#"{"provider":"scripted","model_name":"small","options":{"temperature":1}}"#;
    assert_eq!(house.ask("PUT", "/v1/models/current", body).await.problem(), "422 invalid-body /options");
    assert_eq!(house.get("/v1/models/current").await.json()["model_name"], "model");
}

#[tokio::test]
async fn a_model_is_tested_with_one_short_call() {
    let script = r#"
        [[reply]]
        parts = [{ text = "ok" }]
        usage = { input = 9, cached = 4, output = 1, micro_dollars = 21 }

        [[reply]]
        parts = [{ error = { kind = "permanent", message = "the key is wrong" } }]
    "#;
    let house = Builder::new().world(|world| world.model("scripted:small")).start(script).await;
    let works = house.ask("POST", "/v1/models/test", "").await.ok(200).json();
    assert_eq!((&works["works"], &works["model"]["model_name"]), (&json!(true), &json!("model")));
    assert!(works["first_piece_ms"].is_u64() && works.get("hint").is_none(), "{works}");
    let used = json!({"input_tokens": 9, "output_tokens": 1, "cached_tokens": 4, "cost_usd": 0.000_021});
    assert_eq!(works["usage"], used);
    let request = house.world.model.requests().pop().unwrap();
    assert!(request.tools.is_empty() && request.max_output.is_some());
    let body = json!({"model": {"provider": "scripted", "model_name": "model"}}).to_string();
    let fails = house.ask("POST", "/v1/models/test", &body).await.ok(200).json();
    assert_eq!((&fails["works"], &fails["message"]), (&json!(false), &json!("the key is wrong")));
    assert!(fails["hint"].is_string() && fails.get("usage").is_none(), "{fails}");
    let body = json!({"model": {"provider": "scripted", "model_name": "smal"}}).to_string();
    let unknown = house.ask("POST", "/v1/models/test", &body).await;
    assert_eq!(unknown.problem(), "422 invalid-body /model/model_name");
    let reader = house.token("read").await;
    assert_eq!(house.ask_as(Some(&reader), "POST", "/v1/models/test", "").await.status, 403);
}

#[tokio::test]
async fn no_model_is_told_as_none_everywhere() {
    let house =
        Builder::new().world(|world| world.models(Arc::new(SearchingCatalogue::alone()))).start("").await;
    let list = house.get("/v1/models").await.ok(200).json();
    assert_eq!((&list["models"], &list["errors"][0]["provider"]), (&json!([]), &json!("none")));
    assert_eq!(house.get("/v1/models/current").await.status, 404);
    let health = house.get("/v1/health").await.ok(200).json();
    assert_eq!((&health["status"], &health["checks"]["model"]), (&json!("ok"), &json!("absent")));
    let report = house.get("/v1/doctor").await.ok(200).json();
    let model = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "model").unwrap();
    assert_eq!(model["state"], "absent");
    assert!(model["hint"].as_str().unwrap().contains("loggia model use"), "{model}");
    let test = house.ask("POST", "/v1/models/test", "").await.ok(200).json();
    assert_eq!((&test["works"], test.get("model")), (&json!(false), None));
    let session = house.session().await;
    let session = house.get(&format!("/v1/sessions/{session}")).await.ok(200).json();
    assert_eq!(session.get("model"), None);
}

#[tokio::test]
async fn a_model_is_listed_with_what_it_can_do() {
    let list = Builder::new().start("").await.get("/v1/models").await.ok(200).json();
    assert_eq!(list["models"][0]["abilities"], json!(["tools"]));
    assert_eq!(list["models"][0].get("price"), None, "an unknown price is absent");
}

#[tokio::test]
async fn an_agent_of_a_plugin_is_chosen_for_a_session_and_not_for_all() {
    let agent = FakeAgent::new("helper", Vec::new());
    let house = Builder::new().world(|world| world.guests(Arc::new(FakeGuests(vec![agent])))).start("").await;
    let helper = json!({"provider": "plugin", "model_name": "helper"});
    let nobody = json!({"provider": "plugin", "model_name": "nobody"});
    let open = async |model: &serde_json::Value| {
        let body = json!({"workspace_id": house.world.workspace.id.to_string(), "model": model});
        house.ask("POST", "/v1/sessions", &body.to_string()).await
    };
    assert_eq!(open(&helper).await.ok(201).json()["model"], helper);
    let told = "there is no agent `nobody` in this workspace; there are `plugin:helper`";
    let refused = open(&nobody).await;
    assert_eq!((refused.problem().as_str(), &refused.json()["detail"]), ("422 invalid-body", &json!(told)));
    let path = format!("/v1/sessions/{}/model", house.session().await);
    let refused = house.ask("POST", &path, &nobody.to_string()).await;
    assert_eq!((refused.problem().as_str(), &refused.json()["detail"]), ("422 invalid-body", &json!(told)));
    assert_eq!(house.ask("POST", &path, &helper.to_string()).await.ok(200).json()["model"], helper);
    let refused = house.ask("PUT", "/v1/models/current", &helper.to_string()).await;
    assert_eq!(refused.problem(), "422 invalid-body /provider");
}
