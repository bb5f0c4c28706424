//! The code index and searching, with an index and without.

use std::sync::{Arc, Mutex};

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeReference, Definition, IndexBuild, IndexControl,
    IndexDetails, IndexError, IndexProgress, IndexState, IndexStatus, IndexStep, QueryKind, ReferenceKind,
    ReferenceQuery, SkippedFile, SymbolKind, TextMatch,
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
        if query.matching != TextMatch::Words || !query.symbols.is_empty() || !query.paths.is_empty() {
            self.note(format!("by {:?} {:?} {:?}", query.matching, query.symbols, query.paths));
        }
        let definition = Definition {
            kind: SymbolKind::Function,
            container: None,
            signature: "fn main()".to_owned(),
            doc: String::new(),
        };
        let found = CodeFinding {
            path: "src/main.rs".to_owned(),
            start_line: 1,
            end_line: 2,
            symbol: (query.kind == QueryKind::Symbols).then(|| "main".to_owned()),
            snippet: "fn main() {}".to_owned(),
            score: 0.5,
            definition: (query.kind == QueryKind::Symbols).then_some(definition),
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

    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        self.note(format!("references {} {} {:?}", query.name, query.limit, query.paths));
        let (path, text) = ("src/a.rs".to_owned(), "main();".to_owned());
        let found = CodeReference { path, line: 3, kind: ReferenceKind::Call, text };
        Box::pin(std::future::ready(Ok(vec![found])))
    }

    fn details(&self) -> IndexDetails {
        let progress = IndexProgress {
            step: IndexStep::Symbols,
            done: 1,
            total: 2,
            per_second: 2.5,
            seconds_left: Some(0.5),
            is_paused: true,
        };
        IndexDetails {
            progress: Some(progress),
            skipped: 2,
            notes: vec!["a note".to_owned()],
            is_paused: true,
            ..IndexDetails::default()
        }
    }

    fn skipped(&self, limit: usize) -> Vec<SkippedFile> {
        self.note(format!("skipped {limit}"));
        vec![SkippedFile { path: "big.bin".to_owned(), reason: "too large".to_owned() }]
    }

    fn control(&self, control: IndexControl) {
        self.note(format!("{control:?}"));
    }

    fn forget(&self) -> BoxFuture<'_, Result<(), IndexError>> {
        self.note("forget".to_owned());
        Box::pin(std::future::ready(Ok(())))
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

/// An index that knows of files that are nobody's business, and finds those first.
struct Leaky;

/// What it finds, in its order.
const LEAKS: [&str; 6] = [".env", "id_rsa", "hidden/a", "hidden/b", "hidden/c", "src/main.rs"];

/// What stands in each of them, and is secret also where the file may be read.
const KEY: &str = "orchard-gate-key";

impl CodeIndex for Leaky {
    fn status(&self) -> IndexStatus {
        IndexStatus { state: IndexState::Ready, ..Fake { asked: Mutex::default() }.status() }
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        let text = format!("let needle = \"{KEY}\";");
        let finding = |path: &&str| CodeFinding {
            path: (*path).to_owned(),
            start_line: 1,
            end_line: 1,
            symbol: Some("needle".to_owned()),
            snippet: text.clone(),
            score: 1.0,
            definition: Some(Definition {
                kind: SymbolKind::Variable,
                container: None,
                signature: text.clone(),
                doc: format!("It is {KEY}."),
            }),
        };
        Box::pin(std::future::ready(Ok(LEAKS.iter().take(query.limit).map(finding).collect())))
    }

    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        let used = |path: &&str| CodeReference {
            path: (*path).to_owned(),
            line: 1,
            kind: ReferenceKind::Value,
            text: format!("open(needle, \"{KEY}\")"),
        };
        Box::pin(std::future::ready(Ok(LEAKS.iter().take(query.limit).map(used).collect())))
    }

    fn changed(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn build(&self, _: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        Box::pin(std::future::ready(Ok(self.status())))
    }
}

#[tokio::test]
async fn of_what_an_index_finds_only_what_the_policy_lets_be_read_is_told_and_without_secrets() {
    let house = Builder::new().world(|world| world.secret(KEY)).index(Arc::new(Leaky)).start("").await;
    let policy = r#"{"revision":0,"preset":"ask","rules":[{"decision":"deny","path":"hidden/**"}]}"#;
    house.ask("PUT", &house.workspace_path("/policy"), policy).await.ok(200);
    let read = house.token("read").await;
    // Files that are denied come first and would fill every one of these answers.
    let paths = [
        "/search?q=needle&limit=1",
        "/search?q=needle&match=phrase&limit=2",
        "/search?q=needle&match=regex",
        "/search?q=needle&kind=symbol&limit=1",
        "/search?q=needle&kind=vector&limit=1",
        "/references?name=needle&limit=1",
    ];
    for path in paths {
        let answer = house.ask_as(Some(&read), "GET", &house.workspace_path(path), "").await.ok(200);
        let found = answer.json();
        let found = found["results"].as_array().or(found["references"].as_array()).unwrap();
        let files: Vec<_> = found.iter().map(|found| &found["file_path"]).collect();
        assert_eq!(files, ["src/main.rs"], "{path}");
        assert!(!answer.body.contains(KEY), "{path}: {}", answer.body);
        assert!(answer.body.contains("[masked: known secret]"), "{path}: {}", answer.body);
    }
}

#[tokio::test]
async fn lines_that_are_read_without_an_index_are_masked_too() {
    let house = Builder::new()
        .world(|world| world.secret(KEY).file("notes.txt", format!("the needle is {KEY}\n")))
        .start("")
        .await;
    let found = house.get(&house.workspace_path("/search?q=needle")).await.ok(200).json();
    assert_eq!(found["results"][0]["snippet"], "the needle is [masked: known secret]");
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

#[tokio::test]
async fn a_build_is_told_with_its_step_and_can_be_steered() {
    let index = Arc::new(Fake { asked: Mutex::default() });
    let house = Builder::new().index(Arc::clone(&index) as Arc<dyn CodeIndex>).start("").await;
    let status = house.get(&house.workspace_path("/index/status")).await.ok(200).json();
    let told = ["step", "per_second", "seconds_left", "paused", "skipped", "notes"].map(|name| &status[name]);
    assert_eq!(json!(told), json!(["symbols", 2.5, 0.5, true, 2, ["a note"]]));
    assert_eq!(status.get("vectors"), None);
    for how in ["pause", "resume", "cancel"] {
        let path = house.workspace_path(&format!("/index/{how}"));
        assert_eq!(house.ask("POST", &path, "").await.ok(200).json(), status);
    }
    assert_eq!(house.ask("DELETE", &house.workspace_path("/index"), "").await.ok(200).json(), status);
    let skipped = house.get(&house.workspace_path("/index/skipped?limit=7")).await.ok(200).json();
    assert_eq!(skipped, json!({"skipped": [{"file_path": "big.bin", "reason": "too large"}]}));
    let asked = index.asked.lock().unwrap().clone();
    assert_eq!(asked, ["Pause", "Resume", "Cancel", "forget", "skipped 7"]);
}

#[tokio::test]
async fn a_search_is_narrowed_and_uses_of_a_name_are_found() {
    let index = Arc::new(Fake { asked: Mutex::default() });
    let house = Builder::new().index(Arc::clone(&index) as Arc<dyn CodeIndex>).start("").await;
    house.get(&house.workspace_path("/search?q=a&match=regex&path=*.rs,!b.rs")).await.ok(200);
    let path = house.workspace_path("/search?q=a&kind=symbol&symbol_kind=function,struct");
    let hit = house.get(&path).await.ok(200).json()["results"][0].clone();
    assert_eq!((&hit["symbol_kind"], &hit["signature"]), (&json!("function"), &json!("fn main()")));
    assert_eq!((hit.get("container"), hit.get("doc")), (None, None));
    let used =
        house.get(&house.workspace_path("/references?name=main&limit=3&path=src/*")).await.ok(200).json();
    let place = json!({"file_path": "src/a.rs", "line": 3, "kind": "call", "text": "main();"});
    // Its state is that of a build.
    assert_eq!(used, json!({"references": [place], "partial": "building"}));
    let asked = index.asked.lock().unwrap().clone();
    let wanted = [
        "search a Text 20",
        "by Regex [] [\"*.rs\", \"!b.rs\"]",
        "search a Symbols 20",
        "by Words [Function, Struct] []",
        "references main 3 [\"src/*\"]",
    ];
    assert_eq!(asked, wanted);
    for wrong in ["match=fuzzy", "match=regex&kind=symbol", "symbol_kind=function,verb"] {
        let answer = house.get(&house.workspace_path(&format!("/search?q=a&{wrong}"))).await;
        assert_eq!(answer.problem(), "400 bad-request");
    }
    assert_eq!(house.get(&house.workspace_path("/references?name=%20")).await.problem(), "400 bad-request");
}

#[tokio::test]
async fn without_an_index_filters_and_uses_are_refused() {
    let house = House::new().await;
    for path in ["/search?q=a&match=regex", "/search?q=a&path=*.rs", "/references?name=main"] {
        assert_eq!(house.get(&house.workspace_path(path)).await.problem(), "409 conflict");
    }
    assert_eq!(house.ask("DELETE", &house.workspace_path("/index"), "").await.problem(), "409 conflict");
    let skipped = house.get(&house.workspace_path("/index/skipped")).await.ok(200).json();
    assert_eq!(skipped, json!({"skipped": []}));
}

#[tokio::test]
async fn steering_a_build_needs_more_than_read() {
    let house = House::new().await;
    let read = house.token("read").await;
    for (verb, path) in [("POST", "/index/pause"), ("POST", "/index/cancel"), ("DELETE", "/index")] {
        let answer = house.ask_as(Some(&read), verb, &house.workspace_path(path), "").await;
        assert_eq!(answer.problem(), "403 forbidden");
    }
}
