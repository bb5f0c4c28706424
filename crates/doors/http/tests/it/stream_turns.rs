//! Turns on the wire: what is said, to whom, and what the model is told.

use std::sync::Arc;
use std::sync::Mutex;

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, IndexBuild, IndexError, IndexState, IndexStatus, Preset,
};
use loggia_http::Timing;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::stream_support::{calls, says, world, world_with};

#[tokio::test]
async fn a_turn_is_told_from_its_beginning_to_its_end() {
    let world = world(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("What does a.txt say?").await;
    client.until_done().await;
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn everybody_hears_the_same_and_nobody_its_own_words() {
    let world = world(&[], &says(&["Hello."])).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    let mut bob = world.join(session, "bob", &[]).await;
    alice.prompt("Hi there").await;
    alice.until_done().await;
    bob.until_done().await;
    let (alice, bob) = (alice.transcript.numbered, bob.transcript.numbered);
    assert_eq!((bob[0]["type"].as_str(), bob[0]["from"].as_str()), (Some("client.echo"), Some("alice")));
    assert_eq!(bob[0]["message"], "Hi there");
    assert_eq!(alice, bob[1..]);
}

#[tokio::test]
async fn pieces_of_a_reply_add_up_with_and_without_the_text_so_far() {
    let script = "[[reply]]\nparts = [{ tokens = { count = 500, text = \"tok \" } }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut plain = world.join(session, "plain", &[]).await;
    let mut frugal = world.join(session, "frugal", &["delta_only"]).await;
    plain.prompt("talk").await;
    for (client, frugal) in [(&mut plain, false), (&mut frugal, true)] {
        let mut text = String::new();
        let last = loop {
            let message = client.next().await;
            match message["type"].as_str().unwrap() {
                "assistant.token" => {
                    text.push_str(message["token"].as_str().unwrap());
                    match frugal {
                        true => assert!(message.get("cumulative_text").is_none()),
                        false => assert_eq!(message["cumulative_text"], text.as_str()),
                    }
                }
                "assistant.message_final" => break message,
                _ => {}
            }
        };
        assert_eq!(last["message"], text.as_str());
        assert_eq!(text, "tok ".repeat(500));
    }
}

#[tokio::test]
async fn one_who_comes_late_gets_the_text_so_far() {
    let script = "[[reply]]\nparts = [{ text = \"The beginning\" }, { hang = true }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    alice.prompt("talk").await;
    alice.until("assistant.token").await;
    for after in ["", "?after=0"] {
        let path = format!("/v1/sessions/{session}/stream{after}");
        let mut bob = world.join_as(&crate::stream_support::DRIVER, &path, "bob", &[]).await;
        let token = bob.until("assistant.token").await;
        assert_eq!(
            (&token["token"], &token["cumulative_text"]),
            (&json!("The beginning"), &json!("The beginning"))
        );
    }
}

#[tokio::test]
async fn a_message_during_a_turn_is_refused_or_waits_as_the_client_wishes() {
    let script =
        "[[reply]]\nparts = [{ text = \"One\" }, { hang = true }]\n[[reply]]\nparts = [{ text = \"Two\" }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    let mut bob = world.join(session, "bob", &["queue"]).await;
    alice.prompt("first").await;
    alice.until("assistant.token").await;
    alice.prompt("impatient").await;
    let error = alice.until_error().await;
    assert_eq!((&error["code"], &error["recoverable"]), (&json!("SESSION_BUSY"), &json!(true)));
    bob.prompt("later").await;
    assert_eq!(alice.until("client.echo").await["message"], "later");
    alice.say(json!({"type": "client.cancel"})).await;
    assert_eq!(bob.until_done().await["message"], "One");
    assert_eq!(bob.until_done().await["message"], "Two");
    // It was said once, when it was said.
    alice.until_done().await;
    alice.until_done().await;
    assert_eq!(alice.text().matches("client.echo").count(), 1, "{}", alice.text());
}

#[tokio::test]
async fn a_cancelled_turn_ends_at_once_with_what_there_was() {
    let script = "[[reply]]\nparts = [{ text = \"Half a rep\" }, { hang = true }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    client.until("assistant.token").await;
    client.say(json!({"type": "client.cancel", "reason": "user_cancelled"})).await;
    let error = client.until_error().await;
    assert_eq!((&error["code"], &error["recoverable"]), (&json!("CANCELLED"), &json!(true)));
    let last = client.until_done().await;
    assert_eq!((&last["message"], &last["metadata"]["success"]), (&json!("Half a rep"), &json!(false)));
}

#[tokio::test]
async fn a_model_that_fails_is_told_as_such() {
    let script = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no such key\" } }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    let error = client.until_error().await;
    assert_eq!(error, json!({"code": "MODEL_ERROR", "message": "no such key", "recoverable": false}));
    assert_eq!(client.until_done().await["metadata"]["success"], false);
}

#[tokio::test]
async fn the_plan_and_its_step_are_told() {
    let script = calls(
        "update_plan",
        "{ steps = [{ description = \"Look\", files_involved = [\"a.txt\"] }, { description = \"Change\" }], current = 1, rationale = \"Look first\" }",
    );
    let world = world(&[], &script).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    client.until_done().await;
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn the_editors_context_reaches_the_model() {
    let world = world(&[("src/login.ts", "old\n")], &says(&["ok", "ok", "ok"])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &["git_integration"]).await;
    let hash = |content: &str| format!("sha256:{}", loggia_domain::ContentHash::of(content.as_bytes()));
    let message = |hash: String| {
        json!({"type": "client.user_message", "message": "Fix the bug", "context": {
            "active_editor": {
                "file_path": "src/login.ts", "language": "typescript",
                "selection": {"start": {"line": 23, "character": 0}, "end": {"line": 45, "character": 12}},
                "visible_range": {"start": 1, "end": 100}, "content_hash": hash,
            },
            "open_editors": [{"file_path": "src/session.ts", "is_dirty": true, "visible": true}],
            "diagnostics": [{
                "file_path": "src/login.ts", "severity": "error", "message": "used before being defined",
                "line": 23, "character": 15, "source": "typescript",
            }],
            "terminal_output": {"command": "npm test", "exit_code": 1, "stdout": "FAIL login.test.ts", "stderr": ""},
            "git_context": {"branch": "feature/auth-fix", "modified_files": ["src/login.ts"]},
            "mentions": [{"type": "symbol", "name": "validatePassword", "file_path": "src/v.ts", "line": 12}],
            "command": "/fix",
        }})
    };
    client.say(message(hash("unsaved\n"))).await;
    client.until_done().await;
    let prompt = world.last_prompt();
    for part in [
        "Fix the bug",
        "\"file_path\":\"src/login.ts\"",
        "\"line\":45",
        "used before being defined",
        "FAIL login.test.ts",
        "feature/auth-fix",
        "validatePassword",
        "/fix: find the cause",
        "`src/login.ts` has changes in the editor that are not saved: the disk is older",
        "`src/session.ts` has changes in the editor that are not saved",
    ] {
        assert!(prompt.contains(part), "{part} is missing from\n{prompt}");
    }
    assert!(!prompt.contains("No diagnostics were sent"), "{prompt}");
    // The same content on the disk is no news.
    client.say(message(hash("old\n"))).await;
    client.until_done().await;
    assert_eq!(world.last_prompt().matches("`src/login.ts` has changes in the editor").count(), 1);
}

#[tokio::test]
async fn news_of_the_editor_reach_the_model_with_its_next_step() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\" }");
    let world = world(&[], &script).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    let asked = client.until("tool.request_approval").await;
    let news = json!({"terminal_output": {"command": "npm test", "exit_code": 0, "stdout": "all green"}});
    client.say(json!({"type": "client.context_update", "updates": news})).await;
    client.approve(&asked["request_id"]).await;
    client.until_done().await;
    assert!(world.last_prompt().contains("all green"), "{}", world.last_prompt());
}

/// An index that finds one thing and remembers what it was told.
#[derive(Default)]
struct OneFinding {
    changed: Mutex<Vec<String>>,
}

impl CodeIndex for OneFinding {
    fn status(&self) -> IndexStatus {
        IndexStatus {
            state: IndexState::Ready,
            files: 1,
            symbols: 1,
            chunks: 1,
            bytes: 1,
            done: 1,
            total: 1,
            last_error: None,
        }
    }

    fn search(&self, _: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        let finding = CodeFinding {
            path: "a.rs".to_owned(),
            start_line: 1,
            end_line: 2,
            symbol: None,
            snippet: "fn main() {}".to_owned(),
            score: 1.0,
            definition: None,
        };
        Box::pin(async { Ok(vec![finding]) })
    }

    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        self.changed.lock().unwrap().extend(paths);
        Box::pin(async { Ok(()) })
    }

    fn build(&self, _: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        Box::pin(async { Ok(self.status()) })
    }
}

#[tokio::test]
async fn an_index_is_named_asked_and_told_what_changed() {
    let index = Arc::new(OneFinding::default());
    let world =
        world_with(&[], &says(&["ok"]), Timing::default(), Some(Arc::clone(&index) as Arc<dyn CodeIndex>))
            .await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    assert!(client.text().contains("agentic_rag"), "{}", client.text());
    let change = |kind: &str, path: &str| json!({"type": kind, "file_path": path});
    client
        .say(json!({"type": "client.file_changes", "changes": [
            change("created", "src/new.rs"), change("modified", "/etc/passwd"), change("modified", "../x"),
            change("deleted", "src/old.rs"), change("moved", "src/odd.rs"), change("modified", ""),
        ]}))
        .await;
    client.prompt("go").await;
    client.until_done().await;
    assert_eq!(*index.changed.lock().unwrap(), ["src/new.rs", "src/old.rs"]);
    insta::assert_snapshot!(client.text());
}

/// An index that is too busy to take changes in, until somebody lets it.
struct Busy {
    told: mpsc::UnboundedSender<Vec<String>>,
    is_free: watch::Sender<bool>,
}

impl CodeIndex for Busy {
    fn status(&self) -> IndexStatus {
        OneFinding::default().status()
    }

    fn search(&self, _: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        self.told.send(paths).unwrap();
        Box::pin(async {
            self.is_free.subscribe().wait_for(|is_free| *is_free).await.unwrap();
            Err(IndexError::Unavailable("it is damaged".to_owned()))
        })
    }

    fn build(&self, _: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        Box::pin(async { Ok(self.status()) })
    }
}

#[tokio::test]
async fn an_editor_is_heard_while_the_index_is_busy_with_its_changes() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let index = Arc::new(Busy { told, is_free: watch::Sender::new(false) });
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\" }");
    let world =
        world_with(&[], &script, Timing::default(), Some(Arc::clone(&index) as Arc<dyn CodeIndex>)).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let change = |path: &str| json!({"type": "client.file_changes", "changes": [{"type": "modified", "file_path": path}]});
    client.prompt("go").await;
    let asked = client.until("tool.request_approval").await;
    client.say(change("a.rs")).await;
    assert_eq!(heard.recv().await.unwrap(), ["a.rs"]);
    for path in ["c.rs", "b.rs", "c.rs"] {
        client.say(change(path)).await;
    }
    client.approve(&asked["request_id"]).await;
    client.until_done().await;
    assert!(heard.try_recv().is_err(), "what comes meanwhile waits together");
    index.is_free.send_replace(true);
    let error = client.until("server.error").await;
    assert_eq!(error["error"]["code"], "RETRIEVAL_FAILED", "{error}");
    assert_eq!(heard.recv().await.unwrap(), ["b.rs", "c.rs"]);
}

#[tokio::test]
async fn file_changes_without_an_index_are_dropped_in_silence() {
    let world = world(&[], &says(&["ok"])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client
        .say(json!({"type": "client.file_changes", "changes": [{"type": "created", "file_path": "a"}]}))
        .await;
    client.prompt("go").await;
    client.until_done().await;
    assert!(!client.text().contains("server.error"), "{}", client.text());
}
