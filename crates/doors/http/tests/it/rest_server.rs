//! Health, doctor, metrics, stop.

use crate::support::{Builder, House};

#[tokio::test]
async fn health_tells_whether_it_works_and_no_paths() {
    let house = House::new().await;
    let answer = house.ask_as(None, "GET", "/v1/health", "").await.ok(200);
    let health = answer.json();
    assert_eq!((health["status"].as_str(), health["version"].as_str()), (Some("ok"), Some("1.2.3")));
    assert_eq!(health["checks"], serde_json::json!({"store": "ok", "index": "absent", "model": "ok"}));
    assert!(health["uptime_ms"].is_u64());
    assert!(!answer.body.contains('/') && !answer.body.contains(&house.token), "{}", answer.body);
}

#[tokio::test]
async fn the_doctor_looks_at_every_workspace() {
    let house = House::new().await;
    let gone = tempfile::tempdir().unwrap();
    let body = serde_json::json!({ "root_path": gone.path(), "name": "gone" }).to_string();
    house.ask("POST", "/v1/workspaces/register", &body).await.ok(201);
    drop(gone);
    let report = house.get("/v1/doctor").await.ok(200).json();
    let lines: Vec<String> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| format!("{}: {}", check["name"].as_str().unwrap(), check["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        lines,
        ["store: ok", "model: ok", "index: absent", "workspace work: ok", "workspace gone: failed"]
    );
}

#[tokio::test]
async fn the_doctor_tells_what_others_found() {
    use loggia_domain::{Finding, FindingLevel};
    let findings = vec![
        Finding::ok("git", "`/usr/bin/git`"),
        Finding::of("sandbox", FindingLevel::Error, "none works", "install bubblewrap"),
        Finding::of("room", FindingLevel::Warning, "little is left", "make room"),
        Finding { level: FindingLevel::Absent, ..Finding::ok("configuration directory", "there is none") },
    ];
    let house = Builder::new().examine(findings).start("").await;
    let report = house.get("/v1/doctor").await.ok(200).json();
    assert_eq!(report["version"], "1.2.3");
    let checks = report["checks"].as_array().unwrap();
    let of = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap().clone();
    assert_eq!(of("git"), serde_json::json!({"name": "git", "state": "ok", "message": "`/usr/bin/git`"}));
    let states = ["sandbox", "room", "configuration directory"].map(|name| of(name)["state"].clone());
    assert_eq!(states, ["failed", "degraded", "absent"]);
    assert_eq!(of("sandbox")["hint"], "install bubblewrap");
    // Paths are for those who run the server.
    let driver = house.token("drive").await;
    assert_eq!(house.ask_as(Some(&driver), "GET", "/v1/doctor", "").await.status, 403);
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let script = "[[reply]]\nparts = [{ text = \"Done.\" }]\nusage = { input = 5, output = 2 }\n";
    let house = Builder::new().start(script).await;
    let id = house.session().await;
    house.turn(&id, "go").await;
    let answer = house.get("/metrics").await.ok(200);
    assert!(answer.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    for row in [
        "loggia_turns_started_total 1",
        "loggia_turns_ended_total 1",
        "loggia_tokens_in_total 5",
        "loggia_tokens_out_total 2",
        "loggia_sessions_loaded 1",
        "loggia_workspaces 1",
        "loggia_http_answers_total{class=\"2xx\"} 1",
    ] {
        assert!(answer.body.lines().any(|line| line == row), "{row}\n{}", answer.body);
    }
    for line in answer.body.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[tokio::test]
async fn stopping_is_answered_before_it_happens() {
    let house = House::new().await;
    let drive = house.token("drive").await;
    assert_eq!(house.ask_as(Some(&drive), "POST", "/v1/stop", "").await.problem(), "403 forbidden");
    assert!(!house.stop.is_cancelled());
    assert_eq!(house.ask("POST", "/v1/stop", "").await.ok(202).body, "");
    assert!(house.stop.is_cancelled());
}

#[tokio::test]
async fn an_engine_that_stops_is_unavailable() {
    let house = House::new().await;
    let id = house.session().await;
    house.world.engine.stop().await;
    assert_eq!(house.get(&format!("/v1/sessions/{id}")).await.problem(), "503 unavailable");
}
