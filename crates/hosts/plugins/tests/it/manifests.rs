//! Manifests: what is read, what is forgiven, what is refused and in which words.

use std::path::Path;

use loggia_plugins::{Executable, Manifest, ManifestError, PluginKind, Role};

use crate::support::manifest;

fn parse(text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(Path::new("p/plugin.yaml"), text)
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// A manifest without the lines that begin with a key.
fn without(kind: &str, key: &str) -> String {
    let text = manifest(kind, "x", &[]);
    let mut kept = true;
    let lines = text.lines().filter(|line| {
        if !line.starts_with(' ') {
            kept = !line.starts_with(key);
        }
        kept
    });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn all_fields_of_a_manifest_are_read() {
    let read = parse(
        r#"
version: "1"
name: jira
type: provider
description: Tasks from Jira
author: Ann
homepage: https://example.com
requires: ">=0.1"
protocol: "1"
executable:
  path: ./bin/jira
  command: ["python3", "./jira.py"]
provider:
  name: jira
  schemes: [jira, "JIRA:", "test://"]
  priority: 30
  capabilities: [read, list, teleport]
env:
  JIRA_TOKEN: {description: The token, required: true}
  JIRA_URL: {default: "https://jira"}
  JIRA_BARE:
unknown: {keys: [are, ignored]}
"#,
    )
    .unwrap();
    assert_eq!((read.kind(), read.author.as_deref()), (PluginKind::Provider, Some("Ann")));
    assert_eq!(read.executable, Executable::Command(vec!["python3".to_owned(), "./jira.py".to_owned()]));
    let Role::Provider(role) = &read.role else { panic!("a provider") };
    assert_eq!((role.schemes.join(" ").as_str(), role.priority), ("jira JIRA test", 30));
    assert_eq!(role.capabilities.len(), 3, "words nobody knows stand for themselves");
    assert_eq!(
        read.warnings(|_| false),
        [
            "it needs the variable `JIRA_TOKEN`, which the server does not have; `plugins.variables` names those that it is given"
        ]
    );
    assert_eq!(read.warnings(|name| name == "JIRA_TOKEN"), [""; 0]);
}

#[test]
fn numbers_stand_for_text_and_lists_may_be_missing() {
    let read = parse(
        "version: 1.10\nname: 7\ntype: provider\nprotocol: 1.2\nexecutable: {path: p}\n\
         provider: {name: x, schemes: [x], capabilities: }\nenv:\n",
    )
    .unwrap();
    assert_eq!((read.version.as_str(), read.name.as_str(), read.protocol.as_str()), ("1.10", "7", "1.2"));
    let Role::Provider(role) = &read.role else { panic!("a provider") };
    assert_eq!((role.priority, role.capabilities.len()), (50, 0));
    assert!(read.warnings(|_| false).is_empty(), "1.x is a protocol we speak");
}

#[test]
fn a_protocol_nobody_knows_is_warned_of() {
    let text = manifest("agent", "x", &[]).replace("protocol: \"1\"", "protocol: \"2\"");
    assert_eq!(
        parse(&text).unwrap().warnings(|_| true),
        ["it speaks version `2` of the protocol; we speak 1"]
    );
}

#[test]
fn the_three_kinds_are_told_apart() {
    for (word, kind) in
        [("provider", PluginKind::Provider), ("agent", PluginKind::Agent), ("workflow", PluginKind::Workflow)]
    {
        let read = parse(&manifest(word, "x", &[])).unwrap();
        assert_eq!((read.kind(), read.kind().name()), (kind, word));
    }
}

#[test]
fn a_workflow_section_may_be_empty_but_must_be_there() {
    let empty = manifest("workflow", "x", &[]).replace("workflow: {}", "workflow:");
    assert!(matches!(parse(&empty).unwrap().role, Role::Workflow(_)));
    assert_eq!(refused(&without("workflow", "workflow:")), "`p/plugin.yaml`: `workflow` is required");
}

#[test]
fn what_is_missing_is_named() {
    for (kind, key, field) in [
        ("agent", "version:", "version"),
        ("agent", "name:", "name"),
        ("agent", "type:", "type"),
        ("agent", "protocol:", "protocol"),
        ("agent", "executable:", "executable"),
        ("agent", "agent:", "agent"),
        ("provider", "provider:", "provider"),
    ] {
        assert_eq!(refused(&without(kind, key)), format!("`p/plugin.yaml`: `{field}` is required"));
    }
    let provider = manifest("provider", "x", &[]);
    let nameless = provider.replace("  name: jira\n", "");
    assert_eq!(refused(&nameless), "`p/plugin.yaml`: `provider.name` is required");
    for schemes in ["", "  schemes: []\n", "  schemes: [\" \", \"://\"]\n"] {
        let text = provider.replace("  schemes: [jira]\n", schemes);
        assert_eq!(refused(&text), "`p/plugin.yaml`: `provider.schemes` is required");
    }
    let nameless = manifest("agent", "x", &[]).replace("  name: openai\n", "");
    assert_eq!(refused(&nameless), "`p/plugin.yaml`: `agent.name` is required");
    assert_eq!(refused(&manifest("agent", "\" \"", &[])), "`p/plugin.yaml`: `name` is required");
}

#[test]
fn an_unknown_type_is_refused() {
    let text = manifest("agent", "x", &[]).replace("type: agent", "type: theme");
    assert_eq!(
        refused(&text),
        "`p/plugin.yaml`: `type` is `theme`; it must be `provider`, `agent` or `workflow`"
    );
}

#[test]
fn a_name_that_cannot_be_shown_is_refused() {
    assert!(refused(&manifest("agent", "\"a\\nb\"", &[])).contains("`name` is"));
    assert!(refused(&manifest("agent", &"x".repeat(200), &[])).contains("at most 128 characters"));
}

#[test]
fn broken_yaml_is_refused_with_its_place() {
    let words = refused("version: \"1\"\nname: [x\ntype: agent\n");
    assert!(words.starts_with("`p/plugin.yaml`, line ") && !words.contains('\n'), "{words}");
    let words = refused("version: \"1\"\nname: x\nprovider:\n  schemes: jira\n");
    assert_eq!(words, "`p/plugin.yaml`, line 4, column 12: a list is needed here");
    let words = refused("version: \"1\"\nname: x\nexecutable: python3\n");
    assert_eq!(words, "`p/plugin.yaml`, line 3, column 13: keys with values are needed here");
    let words = refused(": : :{\n");
    assert_eq!(words, "`p/plugin.yaml`, line 1, column 1: a text is needed here");
    for text in ["", "- a\n", "7", "a: b: c", "\u{0}"] {
        parse(text).unwrap_err();
    }
}

#[test]
fn yaml_that_grows_without_end_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let previous = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![previous; 10].join(", ")));
    }
    text.push_str("name: *a11\n");
    parse(&text).unwrap_err();
    parse(&"[".repeat(100_000)).unwrap_err();
}
