//! Trust in a workspace: what it would mean, given, lent and taken back.

use serde_json::json;

use crate::rest_plugins::Shelf;
use crate::support::{Builder, House};

async fn is_trusted(house: &House) -> bool {
    let report = house.get(&house.workspace_path("/trust")).await.ok(200).json();
    let body = house.get(&house.workspace_path("")).await.ok(200).json();
    assert_eq!(report["trusted"], body["trusted"]);
    report["trusted"].as_bool().unwrap()
}

#[tokio::test]
async fn what_would_run_and_hold_is_told_before() {
    let house = Builder::new().plugins(Shelf::new()).start("").await;
    let report = house.get(&house.workspace_path("/trust")).await.ok(200).json();
    assert_eq!(report["trusted"], false);
    let plugins = report["plugins"].as_array().unwrap();
    assert_eq!(plugins.iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>(), ["bad", "gate"]);
    assert_eq!(plugins[1]["command"], json!(["python3", "./link.py"]));
    let setting = json!({ "file": ".loggia/config.toml", "effect": "model.default = \"a:b\"" });
    assert_eq!(report["settings"], json!([setting]));
}

#[tokio::test]
async fn trust_is_given_and_taken_back_and_whoever_has_plugins_hears_of_it() {
    let shelf = Shelf::new();
    let house = Builder::new().plugins(shelf.clone()).start("").await;
    let (path, name) = (house.workspace_path("/trust"), house.world.workspace.name.clone());
    let given = house.ask("POST", &path, "").await.ok(200).json();
    assert_eq!(given["trusted"], true);
    assert!(is_trusted(&house).await);
    house.ask("DELETE", &path, "").await.ok(204);
    assert!(!is_trusted(&house).await);
    house.ask("DELETE", &path, "").await.ok(204);
    assert_eq!(shelf.asked(), vec![format!("trust for good {name}"); 3]);
}

#[tokio::test]
async fn trust_for_a_run_ends_with_it_and_is_not_kept() {
    let shelf = Shelf::new();
    let house = Builder::new().plugins(shelf.clone()).start("").await;
    let (path, name) = (house.workspace_path("/trust"), house.world.workspace.name.clone());
    let lend = |run: &str, seconds: u64| json!({ "run": run, "for_seconds": seconds }).to_string();
    house.ask("POST", &path, &lend("one", 60)).await.ok(200);
    house.ask("POST", &path, &lend("two", 60)).await.ok(200);
    assert!(is_trusted(&house).await);
    house.ask("POST", &path, &lend("one", 0)).await.ok(200);
    assert!(is_trusted(&house).await);
    house.ask("POST", &path, &lend("two", 0)).await.ok(200);
    assert!(!is_trusted(&house).await);
    assert!(!house.world.data().join("trust.toml").exists());
    let expected = ["60", "60", "0", "0"].map(|time| format!("trust for {time} s {name}"));
    assert_eq!(shelf.asked(), expected);
    for (body, pointer) in [
        (r#"{"run":"x"}"#, "/for_seconds"),
        (r#"{"for_seconds":5}"#, "/run"),
        (r#"{"run":"","for_seconds":5}"#, "/run"),
        (r#"{"run":"x","for_seconds":3601}"#, "/for_seconds"),
        (r#"{"run":"x","for_seconds":-1}"#, "/for_seconds"),
        (r#"{"trusted":false}"#, "/trusted"),
    ] {
        let answer = house.ask("POST", &path, body).await;
        assert_eq!(answer.problem(), format!("422 invalid-body {pointer}"), "{body}");
    }
    assert!(!is_trusted(&house).await);
}
