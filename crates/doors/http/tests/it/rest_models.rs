//! Models over the wire.

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
    assert_eq!(house.ask("PUT", "/v1/models/current", &small.to_string()).await.ok(200).json(), small);
    assert_eq!(house.get("/v1/models/current").await.json(), small);
    // A session keeps its own.
    let model = async |id: &str| house.get(&format!("/v1/sessions/{id}")).await.json()["model"].clone();
    assert_eq!(model(&before).await, current);
    assert_eq!(model(&house.session().await).await, small);
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
