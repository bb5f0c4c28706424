//! Every message as text, read and written back.

use std::path::{Path, PathBuf};

use loggia_protocol_endermux::{Envelope, MESSAGES, Message};
use loggia_testkit::golden;

use crate::text;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

#[test]
fn golden_messages_read_and_write_back() {
    golden::check_messages(&directory(), MESSAGES);
}

#[test]
fn every_golden_message_survives_dispatch_byte_for_byte() {
    let mut count = 0;
    for row in MESSAGES {
        let file = std::fs::read_to_string(directory().join(format!("{}.jsonl", row.name))).unwrap();
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let any: Envelope<Message> = Envelope::decode(line.as_bytes()).unwrap();
            let again: Envelope<Message> = Envelope::decode(text(&any).as_bytes()).unwrap();
            assert_eq!(any, again);
            // Lists of capabilities have no order of their own; all else is written in the order shown.
            if !matches!(row.name, "HELLO" | "WELCOME") {
                assert_eq!(text(&any), line);
            }
            count += 1;
        }
    }
    assert!(count >= 16);
}

#[test]
fn a_message_of_another_type_does_not_pass_as_this_one() {
    for row in MESSAGES {
        let other = if row.name == "PING" { "PONG" } else { "PING" };
        let error = row.rewrite(&format!(r#"{{"type":"{other}","requestId":"1","data":{{}}}}"#)).unwrap_err();
        assert_eq!(error.to_string(), format!("expected {}, got {other}", row.name));
    }
}
