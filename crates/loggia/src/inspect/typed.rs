//! Checking messages that say their `type` against a protocol's table of messages.

use std::collections::HashMap;

use loggia_jsonrpc::{FieldError, MessageInfo};
use serde_json::value::RawValue;

use super::message::{Checked, MessageKind};
use crate::nearest::nearest;

/// Checks the messages of one stream.
#[derive(Debug)]
pub(crate) struct TypedChecker {
    /// The protocol's messages.
    pub(crate) messages: &'static [MessageInfo],
    /// The fields that may hold an id, the first one present counts.
    pub(crate) id_fields: &'static [&'static str],
}

impl TypedChecker {
    /// Checks one frame.
    pub(crate) fn frame(&self, frame: &[u8]) -> Checked {
        let broken = |error: String| {
            Checked::new(MessageKind::Broken, frame.len()).with_fault(FieldError::whole(error))
        };
        let text = match std::str::from_utf8(frame) {
            Ok(text) => text,
            Err(error) => return broken(error.to_string()),
        };
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            return broken(format!("Parse error: {error}"));
        }
        match serde_json::from_str(text) {
            Ok(fields) => self.object(text, &fields),
            Err(_) => Checked::new(MessageKind::Invalid, text.len())
                .with_fault(FieldError::whole("a message must be a JSON object")),
        }
    }

    fn object(&self, text: &str, fields: &HashMap<String, &RawValue>) -> Checked {
        let mut checked = Checked::new(MessageKind::Message, text.len());
        checked.id = self.id_fields.iter().find_map(|field| fields.get(*field)).map(|id| id.get().to_owned());
        let Some(raw) = fields.get("type") else {
            checked.kind = MessageKind::Invalid;
            return checked.with_fault(FieldError::at("type", "missing"));
        };
        let Ok(name) = serde_json::from_str::<String>(raw.get()) else {
            checked.kind = MessageKind::Invalid;
            return checked.with_fault(FieldError::at("type", "must be a string"));
        };
        match self.messages.iter().find(|row| row.name == name) {
            Some(row) => {
                checked.sender = Some(row.sender);
                checked.faults.extend(row.rewrite(text).err());
            }
            None => checked.faults.push(self.unknown(&name)),
        }
        checked.name = Some(name);
        checked
    }

    fn unknown(&self, name: &str) -> FieldError {
        match nearest(name, self.messages.iter().map(|row| row.name)) {
            Some(nearest) => FieldError::at("type", format!("unknown; the nearest known one is `{nearest}`")),
            None => FieldError::at("type", "unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Hello {
        name: String,
    }
    const CHECKER: TypedChecker =
        TypedChecker { messages: &[MessageInfo::new::<Hello>("hello", "client")], id_fields: &["a", "b"] };

    fn check(frame: &[u8], expected: &str) {
        let message = CHECKER.frame(frame);
        let mut line = format!(
            "{} {} {} {}",
            message.sender.unwrap_or("?"),
            message.kind.word(),
            message.name.as_deref().unwrap_or("-"),
            message.id.as_deref().unwrap_or("-")
        );
        line.extend(message.faults.iter().map(|fault| format!(" ! {fault}")));
        assert_eq!(line, expected);
    }

    #[test]
    fn a_message_is_checked_by_its_type() {
        check(br#"{"type":"hello","name":"x","b":"2"}"#, r#"client message hello "2""#);
        check(
            br#"{"type":"hello","name":7,"a":1,"b":2}"#,
            "client message hello 1 ! name: invalid type: integer `7`, expected a string",
        );
        check(br#"{"type":"hallo"}"#, "? message hallo - ! type: unknown; the nearest known one is `hello`");
    }

    #[test]
    fn what_is_no_message_says_why() {
        check(b"{}", "? invalid - - ! type: missing");
        check(br#"{"type":1}"#, "? invalid - - ! type: must be a string");
        check(b"[1]", "? invalid - - ! a message must be a JSON object");
        check(b"\xff", "? broken - - ! invalid utf-8 sequence of 1 bytes from index 0");
        check(b"{", "? broken - - ! Parse error: EOF while parsing an object at line 1 column 1");
    }
}
