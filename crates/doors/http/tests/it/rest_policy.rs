//! Policies over the wire.

use serde_json::{Value, json};

use crate::support::House;

#[tokio::test]
async fn a_policy_read_and_put_back_is_the_same_and_a_stale_one_is_refused() {
    let house = House::new().await;
    let path = house.workspace_path("/policy");
    let first = house.get(&path).await.ok(200);
    assert_eq!(first.header("etag"), Some("\"0\""));
    let mut policy = first.json();
    // Everything a policy can say, so that nothing can be lost.
    policy["preset"] = json!("auto-edit");
    policy["command_mode"] = json!("server_runner");
    policy["fallback_to_server_runner"] = json!(false);
    policy["hard_links"] = json!("read");
    policy["sandbox"] = json!({"required": false, "network": true, "unix_sockets": true,
        "readable": ["~/.cargo"], "writable": ["/var/cache/x"], "environment": ["LANG"]});
    policy["limits"] = json!({"command_timeout_s": 7, "output_bytes": 8, "max_steps": 9, "max_tokens": 10, "approval_timeout_s": 11});
    policy["rules"] = json!([
        {"tool": "write_file", "path": "docs/**", "decision": "allow", "risk": "low", "reason": "docs are harmless",
         "examples": [{"path": "docs/a.md", "matches": true}, {"path": "src/a.rs", "matches": false}]},
        {"command": "git push *", "decision": "deny", "examples": [{"command": "git push origin", "matches": true}]},
        {"tool": "read_*", "decision": "ask", "risk": "high", "examples": [{"tool": "read_file", "matches": true}]},
    ]);
    let headers = "content-type: application/json\r\nif-match: \"0\"\r\n";
    let put = house.ask_more("PUT", &path, headers, policy.to_string()).await.ok(200);
    assert_eq!(put.header("etag"), Some("\"1\""));
    policy["revision"] = json!(1);
    assert_eq!(put.json(), policy);
    assert_eq!(house.get(&path).await.json(), policy);
    // Read and put back as it is: only the revision rises. Without `if-match` the body's revision counts.
    let again = house.ask("PUT", &path, &policy.to_string()).await.ok(200).json();
    policy["revision"] = json!(2);
    assert_eq!(again, policy);
    // Somebody who read revision 0 or 1 is too late, whichever way it is said.
    assert_eq!(
        house.ask_more("PUT", &path, headers, policy.to_string()).await.problem(),
        "412 stale-revision"
    );
    let mut stale = policy.clone();
    stale["revision"] = json!(1);
    assert_eq!(house.ask("PUT", &path, &stale.to_string()).await.problem(), "412 stale-revision");
    let nonsense = "content-type: application/json\r\nif-match: W/\"2\", \"abc\"\r\n";
    assert_eq!(
        house.ask_more("PUT", &path, nonsense, policy.to_string()).await.problem(),
        "412 stale-revision"
    );
    let unquoted = "content-type: application/json\r\nif-match: 2\r\n";
    assert_eq!(house.ask_more("PUT", &path, unquoted, policy.to_string()).await.problem(), "400 bad-request");
    let any = "content-type: application/json\r\nif-match: *\r\n";
    house.ask_more("PUT", &path, any, stale.to_string()).await.ok(200);
    assert_eq!(house.get(&house.workspace_path("")).await.json()["policy_revision"], 3);
}

#[tokio::test]
async fn a_policy_with_a_fault_changes_nothing_and_says_where_it_is() {
    let house = House::new().await;
    let path = house.workspace_path("/policy");
    let with = |rule: Value| json!({"revision": 0, "preset": "ask", "rules": [{"decision": "ask"}, rule]});
    for (policy, fault) in [
        (json!({"revision": 0, "preset": "yolo"}), "422 invalid-body /preset"),
        (json!({"revision": 0}), "422 invalid-body "),
        (json!({"revision": -1, "preset": "ask"}), "422 invalid-body /revision"),
        (with(json!({"decision": "alow"})), "422 invalid-body /rules/1/decision"),
        (with(json!({"decision": "allow", "path": "src/["})), "422 invalid-body /rules/1/path"),
        (with(json!({"decision": "allow", "tool": "{a"})), "422 invalid-body /rules/1/tool"),
        (with(json!({"decision": "allow", "command": "ls | sh"})), "422 invalid-body /rules/1/command"),
        (with(json!({"decision": "allow", "path": "a", "command": "b"})), "422 invalid-body /rules/1"),
        (
            with(json!({"decision": "allow", "path": "a", "examples": [{"path": "b", "matches": true}]})),
            "422 invalid-body /rules/1/examples",
        ),
        (
            with(json!({"decision": "allow", "path": "a", "examples": [{"matches": true}]})),
            "422 invalid-body /rules/1/examples/0",
        ),
    ] {
        assert_eq!(house.ask("PUT", &path, &policy.to_string()).await.problem(), fault, "{policy}");
    }
    for policy in [
        json!({"revision": 0, "preset": "ask", "ruels": []}),
        json!({"revision": 0, "preset": "ask", "sandbox": {"requierd": true}}),
    ] {
        let answer = house.ask("PUT", &path, &policy.to_string()).await;
        assert!(answer.problem().starts_with("422 invalid-body"), "{answer:?}");
    }
    assert_eq!(house.get(&path).await.json()["revision"], 0);
    assert!(!house.world.policy_file().exists());
}

#[tokio::test]
async fn a_short_policy_does_not_loosen_what_it_leaves_out() {
    let house = House::new().await;
    let path = house.workspace_path("/policy");
    let put = house.ask("PUT", &path, r#"{"revision":0,"preset":"ask"}"#).await.ok(200).json();
    assert_eq!(put["sandbox"]["required"], true);
    assert_eq!(put["sandbox"]["network"], false);
}

#[tokio::test]
async fn a_call_can_be_tried_against_the_policy_and_against_a_draft() {
    let house = House::new().await;
    let path = house.workspace_path("/policy/check");
    let check = async |call: Value| {
        let answer = house.ask("POST", &path, &call.to_string()).await.ok(200).json();
        assert!(!answer["reason"].as_str().unwrap().is_empty());
        // The number in the words is the number in the field.
        let told = answer["rule"].as_u64().map(|number| format!("rule {number}"));
        let reason = answer["reason"].as_str().unwrap();
        assert!(told.is_none_or(|told| reason.contains(&told)), "{answer}");
        format!("{} {} {}", answer["decision"], answer["risk"], answer["rule"])
    };
    assert_eq!(check(json!({"path": "src/main.rs"})).await, r#""allow" "low" null"#);
    assert_eq!(check(json!({"tool": "write_file", "path": "src/main.rs"})).await, r#""ask" "medium" null"#);
    assert_eq!(check(json!({"tool": "write_file", "path": ".git/config"})).await, r#""deny" "high" null"#);
    assert_eq!(check(json!({"command": "rm -rf /"})).await.split(' ').next(), Some("\"deny\""));
    let draft = json!({"revision": 0, "preset": "read-only", "rules": [
        {"decision": "ask", "tool": "nothing"}, {"decision": "allow", "command": "cargo test *"}]});
    let tried = check(json!({"command": "cargo test -p x", "policy": draft})).await;
    assert!(tried.starts_with("\"allow\"") && tried.ends_with(" 2"), "{tried}");
    // A draft is not kept.
    assert_eq!(check(json!({"command": "cargo test -p x"})).await.split(' ').next(), Some("\"ask\""));
    assert_eq!(house.ask("POST", &path, "{}").await.problem(), "422 invalid-body ");
    let bad = json!({"path": "a", "policy": {"revision": 0, "preset": "ask", "rules": [{"decision": "deny", "path": "["}]}});
    assert_eq!(house.ask("POST", &path, &bad.to_string()).await.problem(), "422 invalid-body /rules/0/path");
}

#[tokio::test]
async fn a_slow_disk_holds_up_nobody_else() {
    let house = House::new().await;
    let file = house.world.policy_file();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    // Reading it waits until somebody writes into it.
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let workspace = house.world.workspace.id.to_string();
    let new = json!({"workspace_id": workspace, "policy_preset": "read-only"}).to_string();
    let drive = house.token("drive").await;
    let policy = house.workspace_path("/policy");
    let one = house.workspace_path("");
    let put = r#"{"revision":0,"preset":"ask"}"#;
    let any = "content-type: application/json\r\nif-match: *\r\n";
    let mut waiting = tokio::task::JoinSet::new();
    for request in [
        house.bytes("GET", &policy, &house.bearer(), ""),
        house.bytes("GET", &one, &house.bearer(), ""),
        house.bytes("GET", "/v1/workspaces", &house.bearer(), ""),
        house.bytes("PUT", &policy, &format!("{}{any}", house.bearer()), put),
        house.bytes(
            "POST",
            "/v1/sessions",
            &format!("authorization: Bearer {drive}\r\ncontent-type: application/json\r\n"),
            &new,
        ),
    ] {
        waiting.spawn(crate::support::exchange(house.address, request));
    }
    // All of them are under way or waiting for the file, and the one thread of this test is free.
    for _ in 0..50 {
        house.get("/v1/models").await.ok(200);
        house.get("/v1/sessions").await.ok(200);
    }
    assert!(waiting.try_join_next().is_none(), "nobody has waited for the file");
    // Whoever waits gets an empty file, which is no policy; whoever comes later finds none.
    let release = tokio::task::spawn_blocking(move || {
        let writer = std::fs::OpenOptions::new().read(true).write(true).open(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        drop(writer);
    });
    release.await.unwrap();
    let mut statuses = Vec::new();
    while let Some(answer) = waiting.join_next().await {
        statuses.push(answer.unwrap().status);
    }
    assert_eq!(statuses.len(), 5);
    assert!(statuses.iter().all(|status| *status < 500), "{statuses:?}");
}
