//! What a client may look up.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Client, builder, world};

#[tokio::test]
async fn commands_models_and_tool_servers_are_listed() {
    let world = builder().model("scripted:other").start("").await;
    let mut client = Client::start(&world).await;
    client.call("getSupportedCommands", json!({})).await;
    client.call("getSupportedModels", json!(null)).await;
    client.call("mcp.listServers", json!([])).await;
    client.call("mcp.listTools", json!({"serverName": "any"})).await;
    client.call("mcp.getServerConfigs", json!({})).await;
    assert_snapshot!(client.text());
}

/// Client libraries have typed calls for these, which fail on an error.
#[tokio::test]
async fn what_is_not_there_is_said_not_to_be() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    client.call("getSupportedAgents", json!({})).await;
    client.call("reloadPlugins", json!({})).await;
    client.call("mcp.toggleServer", json!({"serverName": "any", "enabled": true})).await;
    client.call("mcp.reconnectServer", json!({"serverName": "any"})).await;
    client.call("mcp.setServers", json!({"servers": {}})).await;
    client.call("goal.get", json!({})).await;
    client.call("automode.status", json!({})).await;
    client.call("getAccountInfo", json!({})).await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn tools_are_listed_by_the_names_they_are_told_by() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    let registry = client.call("getToolsRegistry", json!({})).await;
    let tools = registry["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["read_file", "write_file", "search_replace", "delete_path", "run_command", "list_tree"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let told = registry.to_string();
    for other in ["list_directory", "search_text", "edit_file", "delete_file"] {
        assert!(!told.contains(other), "{other} in {told}");
    }
    assert!(tools.iter().all(|tool| tool["source"] == "builtin" && tool["description"] != ""));
    assert_eq!(registry["diagnostics"], json!([]));
}

#[tokio::test]
async fn what_fills_the_window_is_told_as_the_model_counts_it() {
    let script = "context_tokens = 10000\n[[reply]]\nparts = [{ text = \"ok\" }]\nusage = { input = 8000, output = 100 }";
    let world = builder().start(script).await;
    let mut client = Client::start(&world).await;
    let number = |value: &Value, field: &str| value[field].as_u64().unwrap();
    let before = client.call("getContextUsage", json!({})).await;
    assert_eq!(number(&before, "total"), number(&before, "tools"));
    assert_eq!((number(&before, "contextWindow"), &before["isCritical"]), (10_000, &json!(false)));
    client.turn("x").await;
    let after = client.call("getContextUsage", json!({})).await;
    assert_eq!((number(&after, "total"), number(&after, "usagePercent")), (8100, 81));
    assert_eq!((&after["isWarning"], &after["isCritical"]), (&json!(true), &json!(false)));
    assert_eq!(client.call("getState", json!({})).await["contextPercent"], 19);
}
