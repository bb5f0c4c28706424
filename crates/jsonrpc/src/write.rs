//! Writing messages: always compact, always `jsonrpc`, `id`, `method`, `params` in that order.
//!
//! Everything appends to a buffer the caller owns, so a connection can reuse one buffer for all it sends.
//! On an error the buffer may hold half a message; the caller truncates it.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

use crate::{Dialect, EmptyParams, Encoding, ErrorObject, RequestId};

const VERSION: &str = "2.0";

/// Appends a request.
///
/// # Errors
/// When the parameters cannot be written as JSON.
pub fn write_request<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    dialect: &Dialect,
    id: &RequestId,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    #[derive(Serialize)]
    struct Request<'a, P: ?Sized> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        method: &'a str,
        params: &'a P,
    }
    let start = out.len();
    write_json(out, dialect.encoding, &Request { jsonrpc: VERSION, id, method, params })?;
    tidy_params(out, start, dialect);
    Ok(())
}

/// Appends a notification.
///
/// # Errors
/// When the parameters cannot be written as JSON.
pub fn write_notification<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    dialect: &Dialect,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    #[derive(Serialize)]
    struct Notification<'a, P: ?Sized> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a P,
    }
    let start = out.len();
    write_json(out, dialect.encoding, &Notification { jsonrpc: VERSION, method, params })?;
    tidy_params(out, start, dialect);
    Ok(())
}

/// Brings empty parameters at the end of a message into the dialect's form.
///
/// `()` and `None` are written as `null`, [`crate::NoParams`] as `{}`; neither may reach a peer that wants the other.
fn tidy_params(out: &mut Vec<u8>, start: usize, dialect: &Dialect) {
    const NULL: &[u8] = b",\"params\":null}";
    const OBJECT: &[u8] = b",\"params\":{}}";
    let written = &out[start..];
    let end: Option<&[u8]> = if written.ends_with(NULL) {
        Some(NULL)
    } else if written.ends_with(OBJECT) {
        Some(OBJECT)
    } else {
        None
    };
    if let Some(end) = end {
        out.truncate(out.len() - end.len());
        out.extend_from_slice(match dialect.empty_params {
            EmptyParams::Object => OBJECT,
            EmptyParams::Omitted => b"}",
        });
    }
}

/// Appends a successful answer.
///
/// # Errors
/// When the result cannot be written as JSON.
pub fn write_response<R: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    dialect: &Dialect,
    id: &RequestId,
    result: &R,
) -> Result<(), serde_json::Error> {
    #[derive(Serialize)]
    struct Response<'a, R: ?Sized> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        result: &'a R,
    }
    write_json(out, dialect.encoding, &Response { jsonrpc: VERSION, id, result })
}

/// Appends a failed answer.
///
/// # Errors
/// When the error's data cannot be written as JSON.
pub fn write_error(
    out: &mut Vec<u8>,
    dialect: &Dialect,
    id: &RequestId,
    error: &ErrorObject,
) -> Result<(), serde_json::Error> {
    #[derive(Serialize)]
    struct Failure<'a> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        error: &'a ErrorObject,
    }
    write_json(out, dialect.encoding, &Failure { jsonrpc: VERSION, id, error })
}

/// Appends an array of messages that are written already.
pub fn write_batch<'a>(out: &mut Vec<u8>, members: impl IntoIterator<Item = &'a [u8]>) {
    out.push(b'[');
    for (position, member) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        out.extend_from_slice(member);
    }
    out.push(b']');
}

/// Appends any value as compact JSON in the given encoding.
///
/// # Errors
/// When the value cannot be written as JSON.
pub fn write_json<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    encoding: Encoding,
    value: &T,
) -> Result<(), serde_json::Error> {
    match encoding {
        Encoding::Utf8 => serde_json::to_writer(out, value),
        Encoding::Ascii => value
            .serialize(&mut serde_json::Serializer::with_formatter(out, AsciiFormatter(CompactFormatter))),
    }
}

/// Writes compact JSON in which every character outside ASCII is a `\uXXXX` escape.
#[derive(Debug, Clone)]
pub struct AsciiFormatter(CompactFormatter);

impl Formatter for AsciiFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        write_ascii(writer, text)
    }

    // Raw JSON can hold characters outside ASCII only inside its strings, where an escape means the same.
    fn write_raw_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        write_ascii(writer, text)
    }
}

fn write_ascii<W: ?Sized + io::Write>(writer: &mut W, mut text: &str) -> io::Result<()> {
    while let Some(position) = text.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, rest) = text.split_at(position);
        writer.write_all(plain.as_bytes())?;
        let mut characters = rest.chars();
        if let Some(character) = characters.next() {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        text = characters.as_str();
    }
    writer.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    const WITH_OBJECT: Dialect = Dialect { empty_params: EmptyParams::Object, ..Dialect::STANDARD };
    const ASCII: Dialect = Dialect { encoding: Encoding::Ascii, ..Dialect::STANDARD };

    fn text(write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) -> String {
        let mut out = b"before".to_vec();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn messages_have_their_fields_in_order() {
        let id = RequestId::from(3);
        assert_eq!(
            text(|out| write_request(out, &Dialect::STANDARD, &id, "go", &[1])),
            r#"{"jsonrpc":"2.0","id":3,"method":"go","params":[1]}"#
        );
        assert_eq!(
            text(|out| write_response(out, &Dialect::STANDARD, &id, &true)),
            r#"{"jsonrpc":"2.0","id":3,"result":true}"#
        );
        assert_eq!(
            text(|out| write_error(out, &Dialect::STANDARD, &RequestId::null(), &ErrorObject::new(-1, "m"))),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#
        );
    }

    #[test]
    fn empty_params_take_the_dialects_form() {
        for written in [
            text(|o| write_notification(o, &WITH_OBJECT, "n", &())),
            text(|o| write_notification(o, &WITH_OBJECT, "n", &crate::NoParams {})),
        ] {
            assert_eq!(written, r#"{"jsonrpc":"2.0","method":"n","params":{}}"#);
        }
        for written in [
            text(|o| write_notification(o, &Dialect::STANDARD, "n", &())),
            text(|o| write_notification(o, &Dialect::STANDARD, "n", &crate::NoParams {})),
        ] {
            assert_eq!(written, r#"{"jsonrpc":"2.0","method":"n"}"#);
        }
        assert_eq!(
            text(|o| write_notification(
                o,
                &Dialect::STANDARD,
                "n",
                &serde_json::json!({"s": "\"params\":null}"})
            )),
            r#"{"jsonrpc":"2.0","method":"n","params":{"s":"\"params\":null}"}}"#
        );
    }

    #[test]
    fn ascii_output_escapes_strings_keys_and_raw_values() {
        let raw = RawValue::from_string("{\"é\": \"😀\"}".to_owned()).unwrap();
        let written = text(|out| write_notification(out, &ASCII, "né", &raw));
        assert!(written.is_ascii());
        assert_eq!(
            written,
            "{\"jsonrpc\":\"2.0\",\"method\":\"n\\u00e9\",\"params\":{\"\\u00e9\": \"\\ud83d\\ude00\"}}"
        );
        let back: serde_json::Value = serde_json::from_str(&written).unwrap();
        assert_eq!(back["params"]["é"], "😀");
    }

    #[test]
    fn batches_are_arrays() {
        let mut out = Vec::new();
        write_batch(&mut out, [b"1".as_slice(), b"2".as_slice()]);
        assert_eq!(out, b"[1,2]");
    }
}
