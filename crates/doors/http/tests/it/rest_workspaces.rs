//! Registered project directories.

use serde_json::json;

use crate::support::House;

#[tokio::test]
async fn a_directory_is_registered_once() {
    let house = House::new().await;
    let other = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(other.path()).unwrap();
    let body = json!({ "root_path": root, "name": "other" }).to_string();
    let made = house.ask("POST", "/v1/workspaces/register", &body).await.ok(201).json();
    assert_eq!((&made["name"], &made["root_path"]), (&json!("other"), &json!(root)));
    assert_eq!((&made["policy_revision"], &made["trusted"]), (&json!(0), &json!(false)));
    assert_eq!(made["index"]["state"], "empty");
    // The same directory by another way and under another name is the same workspace.
    let link = house.world.data().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    let body = json!({ "root_path": link, "name": "again" }).to_string();
    let again = house.ask("POST", "/v1/workspaces/register", &body).await.ok(200).json();
    assert_eq!(again, made);
    let one = house.get(&format!("/v1/workspaces/{}", made["workspace_id"].as_str().unwrap())).await.ok(200);
    assert_eq!(one.json(), made);
}

#[tokio::test]
async fn what_cannot_be_a_workspace_is_refused_with_a_pointer() {
    let house = House::new().await;
    let file = house.world.root().join("src/main.rs");
    let data = house.world.data();
    for root in [
        json!("/does/not/exist"),
        json!("relative/path"),
        json!(""),
        json!("/"),
        json!("/etc/passwd\u{0}"),
        json!("/tmp/\u{0}"),
        json!(file),
        json!(data),
        json!("/proc/self/fd"),
    ] {
        let body = json!({ "root_path": root }).to_string();
        let answer = house.ask("POST", "/v1/workspaces/register", &body).await;
        assert_eq!(answer.problem(), "422 invalid-body /root_path", "{root}");
    }
    let body = json!({ "root_path": house.world.root(), "name": "a\nb" }).to_string();
    assert_eq!(house.ask("POST", "/v1/workspaces/register", &body).await.problem(), "422 invalid-body /name");
}

#[tokio::test]
async fn workspaces_are_listed_page_by_page() {
    let house = House::new().await;
    let directories: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    for directory in &directories {
        let body = json!({ "root_path": directory.path() }).to_string();
        house.ask("POST", "/v1/workspaces/register", &body).await.ok(201);
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/workspaces?limit=2".to_owned());
    loop {
        let page = house.get(&path).await.ok(200).json();
        let workspaces = page["workspaces"].as_array().unwrap();
        assert!(workspaces.len() <= 2);
        seen.extend(workspaces.iter().map(|workspace| workspace["workspace_id"].clone()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/workspaces?limit=2&cursor={next}");
    }
    let all = house.get("/v1/workspaces").await.ok(200).json();
    let all: Vec<_> =
        all["workspaces"].as_array().unwrap().iter().map(|one| one["workspace_id"].clone()).collect();
    assert_eq!((seen.len(), &seen), (5, &all));
}

#[tokio::test]
async fn trust_is_given_by_an_admin_and_kept() {
    let house = House::new().await;
    assert_eq!(house.get(&house.workspace_path("")).await.json()["trusted"], false);
    let trusted = house.ask("POST", &house.workspace_path("/trust"), "").await.ok(200).json();
    assert_eq!(trusted["trusted"], true);
    assert!(house.world.engine.is_trusted(house.world.root()));
}
