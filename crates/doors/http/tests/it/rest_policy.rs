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
        format!("{} {} {}", answer["decision"], answer["risk"], answer["rule"])
    };
    assert_eq!(check(json!({"path": "src/main.rs"})).await, r#""allow" "low" null"#);
    assert_eq!(check(json!({"tool": "write_file", "path": "src/main.rs"})).await, r#""ask" "medium" null"#);
    assert_eq!(check(json!({"tool": "write_file", "path": ".git/config"})).await, r#""deny" "high" null"#);
    assert_eq!(check(json!({"command": "rm -rf /"})).await.split(' ').next(), Some("\"deny\""));
    let draft = json!({"revision": 0, "preset": "read-only", "rules": [
        {"decision": "ask", "tool": "nothing"}, {"decision": "allow", "command": "cargo test *"}]});
    let tried = check(json!({"command": "cargo test -p x", "policy": draft})).await;
    assert!(tried.starts_with("\"allow\"") && tried.ends_with(" 1"), "{tried}");
    // A draft is not kept.
    assert_eq!(check(json!({"command": "cargo test -p x"})).await.split(' ').next(), Some("\"ask\""));
    assert_eq!(house.ask("POST", &path, "{}").await.problem(), "422 invalid-body ");
    let bad = json!({"path": "a", "policy": {"revision": 0, "preset": "ask", "rules": [{"decision": "deny", "path": "["}]}});
    assert_eq!(house.ask("POST", &path, &bad.to_string()).await.problem(), "422 invalid-body /rules/0/path");
}
