//! The recorded conversations in `schemas/examples/`: every line is a message of the side it names, in its shape.
//!
//! A transcript is JSON Lines: `{"from":"client"|"server","message":{…}}`, one message a line, in the order in which
//! they passed over the socket. `schemas/README.md` says more.

use std::collections::BTreeSet;

use loggia_protocol_agent_server::{CLIENT, ClientMessage, MESSAGES, SERVER, ServerMessage};
use serde_json::Value;

use crate::schemas::{directory, validator};

/// What is wrong with a line; nothing when it is in order.
fn fault(line: &str) -> Option<String> {
    let line: Value = match serde_json::from_str(line) {
        Ok(line) => line,
        Err(error) => return Some(format!("not JSON: {error}")),
    };
    let message = &line["message"];
    let Some(from) = line["from"].as_str().filter(|from| [CLIENT, SERVER].contains(from)) else {
        return Some("does not say who sent it".to_owned());
    };
    let Some(name) = message["type"].as_str() else {
        return Some("its message has no type".to_owned());
    };
    if !MESSAGES.iter().any(|row| row.name == name && row.sender == from) {
        return Some(format!("a {from} does not send `{name}`"));
    }
    if let Some(fault) = validator(name).iter_errors(message).next() {
        return Some(format!("`{name}`: {}: {fault}", fault.instance_path()));
    }
    let text = message.to_string();
    let read = if from == CLIENT {
        ClientMessage::decode(&text).map(drop)
    } else {
        ServerMessage::decode(&text).map(drop)
    };
    read.err().map(|error| error.to_string())
}

/// The transcripts there are.
fn names() -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory().join("examples")).expect("the transcripts");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_feature_has_a_transcript() {
    let found = names();
    let found: Vec<&str> = found.iter().filter_map(|name| name.strip_suffix(".jsonl")).collect();
    let features = [
        "approval",
        "cancel",
        "command-local-terminal",
        "command-server-runner",
        "error",
        "patch-by-client",
        "patch-by-hunk",
        "prompt",
        "resume",
    ];
    assert_eq!(found, features);
}

#[test]
fn every_line_of_a_transcript_is_a_message_of_its_sender() {
    let mut faults = Vec::new();
    for name in names() {
        let text = std::fs::read_to_string(directory().join("examples").join(&name)).unwrap();
        assert!(text.lines().count() > 0, "`{name}` is empty");
        let numbered = text.lines().enumerate();
        faults.extend(numbered.filter_map(|(at, line)| Some(format!("{name}:{}: {}", at + 1, fault(line)?))));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_faulty_line_of_a_transcript_is_told() {
    let check = |line: &str, expected: Option<&str>| assert_eq!(fault(line).as_deref(), expected, "{line}");
    check(r#"{"from":"client","message":{"type":"client.cancel","reason":"user_cancelled"}}"#, None);
    check(r#"{"from":"client","message":"#, Some("not JSON: EOF while parsing a value at line 1 column 27"));
    check(r#"{"message":{"type":"client.cancel"}}"#, Some("does not say who sent it"));
    check(r#"{"from":"nobody","message":{"type":"client.cancel"}}"#, Some("does not say who sent it"));
    check(r#"{"from":"client","message":{}}"#, Some("its message has no type"));
    check(
        r#"{"from":"server","message":{"type":"client.cancel"}}"#,
        Some("a server does not send `client.cancel`"),
    );
    check(
        r#"{"from":"server","message":{"type":"assistant.token","token":7}}"#,
        Some("`assistant.token`: /token: 7 is not of type \"string\""),
    );
}
