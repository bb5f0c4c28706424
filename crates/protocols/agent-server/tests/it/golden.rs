use std::path::{Path, PathBuf};

use loggia_jsonrpc::{Origin, canonical};
use loggia_protocol_agent_server::{BODIES, CLIENT, ClientMessage, MESSAGES, STRICT_BODIES, ServerMessage};
use loggia_testkit::golden;

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The messages in a golden file.
fn lines(directory_name: &str, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(directory(directory_name).join(format!("{name}.jsonl")))
        .expect("a golden file");
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn golden_messages_read_and_write_back() {
    golden::check_messages(&directory("golden"), MESSAGES);
}

#[test]
fn golden_bodies_read_and_write_back() {
    golden::check_messages(&directory("golden-http"), BODIES);
}

#[test]
fn golden_policies_read_and_write_back_and_refuse_unknown_keys() {
    for body in STRICT_BODIES {
        for line in lines("golden-http-strict", body.name) {
            assert_eq!(canonical(&line).unwrap(), canonical(&body.rewrite(&line).unwrap()).unwrap());
            let extended = line.replacen('{', r#"{"an_unknown_key":1,"#, 1);
            let error = body.rewrite(&extended).unwrap_err();
            assert!(error.message().starts_with("unknown field `an_unknown_key`"), "{error}");
        }
    }
}

#[test]
fn decoding_by_type_gives_the_same_messages_as_the_table() {
    for message in MESSAGES {
        for line in lines("golden", message.name) {
            let written = if message.sender == CLIENT {
                ClientMessage::decode(&line).unwrap().encode()
            } else {
                ServerMessage::decode(&line).unwrap().encode()
            };
            assert_eq!(written, message.rewrite(&line).unwrap());
        }
    }
}

#[test]
fn every_message_writes_its_type_first() {
    for message in MESSAGES {
        for line in lines("golden", message.name) {
            let written = message.rewrite(&line).unwrap();
            assert!(written.starts_with(&format!(r#"{{"type":"{}""#, message.name)), "{written}");
        }
    }
}

#[test]
fn a_table_row_refuses_another_type() {
    let [hello, ..] = MESSAGES else { panic!("rows") };
    let check = |text: &str, expected: &str| {
        assert_eq!(hello.rewrite(text).unwrap_err().to_string(), expected);
    };
    let info = r#""client_info":{"name":"n","version":"1"}"#;
    check(&format!(r#"{{"type":"client.bye",{info}}}"#), "is of type `client.bye`, not `client.hello`");
    check(&format!(r#"{{{info},"type":7}}"#), "type: invalid type: integer `7`, expected a string");
    check(&format!("{{{info}}}"), "missing field `type`");
    check(
        r#"{"client_info":{"name":1,"version":"1"},"type":"client.hello"}"#,
        "client_info.name: invalid type: integer `1`, expected a string",
    );
    check("[]", "invalid type: sequence, expected an object of type `client.hello`");
}

#[test]
fn the_table_lists_both_sides_and_marks_what_is_ours() {
    let ours: Vec<_> =
        MESSAGES.iter().filter(|row| row.origin == Origin::Peers).map(|row| row.name).collect();
    assert_eq!(
        ours,
        [
            "tool.output",
            "client.echo",
            "session.notice",
            "ui.dialog.request",
            "ui.dialog.response",
            "ui.dialog.closed",
            "ui.window.opened",
            "ui.window.closed"
        ]
    );
    assert_eq!(MESSAGES.iter().filter(|row| row.sender == CLIENT).count(), 9);
    assert_eq!(MESSAGES.len(), 28);
}

#[test]
fn words_nobody_knows_are_kept_as_they_came() {
    let text = r#"{"type":"assistant.thinking","phase":"reflecting","message":"m"}"#;
    assert_eq!(ServerMessage::decode(text).unwrap().encode(), text);
}
