//! A quick look at a message that is written the usual way.
//!
//! Reading an envelope properly means going over the parameters once to find their end and once more to read
//! them as their type. Nearly every message has its `params` or `result` last, and then the end is simply the end
//! of the message. [`presume`] reads the short fields before and presumes that. Whoever uses it reads the presumed
//! text as one whole JSON value: if that succeeds, the message is exactly what it seemed to be, because text that
//! ends too late holds a comma after its value and text that ends too early is no value. If it fails, the message
//! is read properly and nothing is lost but time.
//!
//! Invariant: whatever is unusual gives nothing: escapes in names or ids, a missing version, other fields.

use crate::{Dialect, RequestId, Version};

/// A message as it seems to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Presumed<'a> {
    /// A call; without an id, a notification.
    Call {
        /// The id, if there is one.
        id: Option<RequestId>,
        /// The method.
        method: &'a str,
        /// What should be the parameters.
        params: &'a str,
    },
    /// A successful answer.
    Result {
        /// The call it answers.
        id: RequestId,
        /// What should be the result.
        result: &'a str,
    },
}

/// JSON's white space; a form feed, which ASCII also counts, is none.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Looks at a message; nothing if it is not written the usual way.
pub fn presume<'a>(bytes: &'a [u8], dialect: &Dialect) -> Option<Presumed<'a>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_matches(SPACE);
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut version = dialect.version == Version::Optional;
    let (mut id, mut method) = (None, None);
    loop {
        let (key, value) = take_string(rest.trim_start_matches(SPACE))?;
        let value = value.trim_start_matches(SPACE).strip_prefix(':')?.trim_start_matches(SPACE);
        rest = match key {
            "jsonrpc" => {
                let (found, rest) = take_string(value)?;
                version = found == "2.0";
                rest
            }
            "id" => {
                let (found, rest) = take_id(value)?;
                id = Some(found);
                rest
            }
            "method" => {
                let (found, rest) = take_string(value)?;
                method = Some(found);
                rest
            }
            "params" => {
                return version.then_some(Presumed::Call { id, method: method?, params: value });
            }
            "result" => {
                return (version && method.is_none()).then_some(Presumed::Result { id: id?, result: value });
            }
            _ => return None,
        };
        rest = rest.trim_start_matches(SPACE).strip_prefix(',')?;
    }
}

/// A string without escapes, and what follows it.
fn take_string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let end = text.find(['"', '\\'])?;
    let (string, rest) = text.split_at(end);
    let control = string.bytes().any(|byte| byte < 0x20);
    if control { None } else { Some((string, rest.strip_prefix('"')?)) }
}

/// A plain integer or a string without escapes, and what follows it.
fn take_id(text: &str) -> Option<(RequestId, &str)> {
    if text.starts_with('"') {
        let (_, rest) = take_string(text)?;
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(&text[..text.len() - rest.len()]).ok()?;
        return Some((RequestId::from_raw(raw), rest));
    }
    let end = text.find(|character: char| !character.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    // Only digits that are written back the same; a fraction or an exponent would follow and is no comma.
    let canonical = digits == "0" || !digits.starts_with('0');
    let number: u64 = digits.parse().ok()?;
    canonical.then(|| (RequestId::from(number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let seen = match presume(text.as_bytes(), &Dialect::STANDARD) {
            None => "nothing".to_owned(),
            Some(Presumed::Call { id, method, params }) => format!("call {id:?} {method} {params}"),
            Some(Presumed::Result { id, result }) => format!("result {id} {result}"),
        };
        assert_eq!(seen, expected, "for {text}");
    }

    #[test]
    fn usual_messages_are_seen() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}"#, r#"call Some(1) a {"x":1}"#);
        check(
            r#" { "jsonrpc" : "2.0" , "id" : "q" , "method" : "a" , "params" : [ ] } "#,
            r#"call Some("q") a [ ] "#,
        );
        check(r#"{"jsonrpc":"2.0","method":"a","params":7}"#, "call None a 7");
        check(r#"{"id":0,"jsonrpc":"2.0","result":null}"#, "result 0 null");
    }

    #[test]
    fn what_follows_the_parameters_makes_them_no_value() {
        // The presumed text is not JSON, so whoever reads it falls back to reading properly.
        check(r#"{"jsonrpc":"2.0","method":"a","params":{"x":1},"id":1}"#, r#"call None a {"x":1},"id":1"#);
        assert!(serde_json::from_str::<serde_json::Value>(r#"{"x":1},"id":1"#).is_err());
    }

    #[test]
    fn unusual_messages_are_not_seen() {
        for text in [
            "",
            "{}",
            "[]",
            "{",
            "7",
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
            r#"{"id":1,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":01,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"\u0061","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"extra":0,"method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\nb\",\"params\":{}}",
            "{\"jsonrpc\":\"2.0\",\u{c}\"method\":\"a\",\"params\":{}}",
        ] {
            check(text, "nothing");
        }
    }
}
