//! The code index and searching, with an index and without.

use std::sync::{Arc, Mutex};

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, IndexBuild, IndexError, IndexState, IndexStatus, QueryKind,
};
use serde_json::json;

use crate::support::{Builder, House};

/// An index that remembers what it was asked.
struct Fake {
    asked: Mutex<Vec<String>>,
}

impl Fake {
    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

impl CodeIndex for Fake {
    fn status(&self) -> IndexStatus {
        IndexStatus {
            state: IndexState::Building,
            files: 3,
            symbols: 4,
            chunks: 5,
            bytes: 6,
            done: 1,
            total: 2,
            last_error: None,
        }
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        self.note(format!("search {} {:?} {}", query.text, query.kind, query.limit));
        let found = CodeFinding {
            path: "src/main.rs".to_owned(),
            start_line: 1,
            end_line: 2,
            symbol: (query.kind == QueryKind::Symbols).then(|| "main".to_owned()),
            snippet: "fn main() {}".to_owned(),
            score: 0.5,
            definition: None,
        };
        Box::pin(std::future::ready(Ok(vec![found])))
    }

    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        self.note(format!("changed {}", paths.join(" ")));
        Box::pin(std::future::ready(Ok(())))
    }

    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        self.note(format!("build {how:?}"));
        Box::pin(std::future::ready(Ok(self.status())))
    }
}

#[tokio::test]
async fn without_an_index_nothing_is_pretended() {
    let house = Builder::new().world(|world| world.file("notes.txt", "a needle here\nhay\n")).start("").await;
    assert_eq!(house.get(&house.workspace_path("/index/status")).await.ok(200).json()["state"], "empty");
    for how in ["rebuild", "refresh"] {
        let status =
            house.ask("POST", &house.workspace_path(&format!("/index/{how}")), "").await.ok(202).json();
        assert_eq!(status["state"], "empty");
        assert!(status["last_error"].as_str().unwrap().contains("no code index"), "{status}");
    }
    let body = r#"{"changes":[{"type":"created","file_path":"a.rs"}]}"#;
    let taken = house.ask("POST", &house.workspace_path("/index/incremental"), body).await.ok(202).json();
    assert_eq!((&taken["accepted"], taken["rejected"].as_array().unwrap().len()), (&json!(0), 1));
    let found = house.get(&house.workspace_path("/search?q=needle")).await.ok(200).json();
    let hit = json!({"kind": "text", "file_path": "notes.txt", "start_line": 1, "end_line": 1, "snippet": "a needle here", "score": 1.0});
    assert_eq!(found["results"], json!([hit]));
    assert_eq!(
        house.get(&house.workspace_path("/search?q=nowhere&kind=text")).await.json()["results"],
        json!([])
    );
    for kind in ["symbol", "vector"] {
        let answer = house.get(&house.workspace_path(&format!("/search?q=main&kind={kind}"))).await;
        assert_eq!(answer.problem(), "409 conflict");
    }
}

#[tokio::test]
async fn a_search_shows_nothing_the_policy_hides() {
    let house = Builder::new()
        .world(|world| world.file(".env", "KEY=needle\n").file("a", "needle\n"))
        .start("")
        .await;
    let policy = r#"{"revision":0,"preset":"ask","rules":[{"decision":"deny","path":"hidden/**"}]}"#;
    house.ask("PUT", &house.workspace_path("/policy"), policy).await.ok(200);
    std::fs::create_dir(house.world.root().join("hidden")).unwrap();
    std::fs::write(house.world.root().join("hidden/b"), "needle\n").unwrap();
    let found = house.get(&house.workspace_path("/search?q=needle")).await.ok(200).json();
    let files: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|hit| hit["file_path"].clone()).collect();
    assert_eq!(files, [json!("a")]);
}

#[tokio::test]
async fn an_index_is_asked_for_everything() {
    let index = Arc::new(Fake { asked: Mutex::default() });
    let house = Builder::new().index(Arc::clone(&index) as Arc<dyn CodeIndex>).start("").await;
    let status = house.get(&house.workspace_path("/index/status")).await.ok(200).json();
    assert_eq!(
        (&status["state"], &status["files"], &status["total"]),
        (&json!("building"), &json!(3), &json!(2))
    );
    assert_eq!(house.get(&house.workspace_path("")).await.json()["index"], status);
    house.ask("POST", &house.workspace_path("/index/rebuild"), "").await.ok(202);
    let body = json!({"changes": [
        {"type": "created", "file_path": "src/a.rs", "content_hash": "sha256:00"},
        {"type": "deleted", "file_path": "b.rs"},
        {"type": "modified", "file_path": "../outside"},
        {"type": "modified", "file_path": "/etc/passwd"},
        {"type": "modified", "file_path": "a\u{0}b"},
        {"type": "modified", "file_path": ""},
        {"type": "smelled", "file_path": "c.rs"},
    ]});
    let taken = house
        .ask("POST", &house.workspace_path("/index/incremental"), &body.to_string())
        .await
        .ok(202)
        .json();
    assert_eq!((&taken["accepted"], taken["rejected"].as_array().unwrap().len()), (&json!(2), 5));
    let found = house.get(&house.workspace_path("/search?q=main&kind=symbol&limit=7")).await.ok(200).json();
    assert_eq!(
        (&found["results"][0]["kind"], &found["results"][0]["name"]),
        (&json!("symbol"), &json!("main"))
    );
    house.get(&house.workspace_path("/search?q=main")).await.ok(200);
    let asked = index.asked.lock().unwrap().clone();
    let wanted = ["build Rebuild", "changed src/a.rs b.rs", "search main Symbols 7", "search main Fused 20"];
    assert_eq!(asked, wanted);
    assert_eq!(house.ask_as(None, "GET", "/v1/health", "").await.json()["status"], "degraded");
    assert!(house.get("/metrics").await.body.contains("loggia_index_files{workspace=\"ws_"));
}

#[tokio::test]
async fn a_search_needs_no_more_than_read() {
    let house = House::new().await;
    let read = house.token("read").await;
    house.ask_as(Some(&read), "GET", &house.workspace_path("/search?q=main"), "").await.ok(200);
}

#[tokio::test]
async fn a_build_is_told_with_its_beginning_and_its_end() {
    let index = Arc::new(Fake { asked: Mutex::default() });
    let house = Builder::new().index(index).start("").await;
    let path = house.workspace_path("/index/status");
    let before = house.get(&path).await.ok(200).json();
    assert_eq!((before.get("started_at"), before.get("finished_at")), (None, None));
    let begun = house.ask("POST", &house.workspace_path("/index/rebuild"), "").await.ok(202).json();
    let started = begun["started_at"].as_str().unwrap().to_owned();
    let ended = loop {
        let status = house.get(&path).await.ok(200).json();
        assert_eq!(status["started_at"], *started);
        if status["finished_at"].is_string() {
            break status;
        }
    };
    assert!(ended["finished_at"].as_str().unwrap() >= started.as_str(), "{ended}");
    assert_eq!(house.get(&house.workspace_path("")).await.json()["index"], ended);
}

#[tokio::test]
async fn a_change_at_no_moment_is_pointed_at() {
    let house = House::new().await;
    let body = json!({"changes": [
        {"type": "created", "file_path": "a.rs", "timestamp": "2025-12-30T10:35:12Z"},
        {"type": "created", "file_path": "b.rs", "timestamp": "yesterday"},
    ]});
    let answer = house.ask("POST", &house.workspace_path("/index/incremental"), &body.to_string()).await;
    assert_eq!(answer.problem(), "422 invalid-body /changes/1/timestamp");
}
