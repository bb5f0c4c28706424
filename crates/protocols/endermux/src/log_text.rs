//! Log events written from text that stays where it is.
//!
//! A server that logs a lot writes nothing else as often. Invariant: what comes out are the bytes of
//! [`Envelope::encode`](crate::Envelope::encode) for the same event.

use std::io::{self, Write};

use crate::{MessageType, RequestId};

/// Bytes that are looked at together; compilers make one or two instructions of such a look.
const CHUNK: usize = 32;

/// Writes the envelope of a log event with this text, without a status.
///
/// # Errors
/// Those of the writer.
pub fn write_log(rendered: &str, id: Option<&RequestId>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(br#"{"type":""#)?;
    out.write_all(MessageType::LogForward.name().as_bytes())?;
    if let Some(id) = id {
        out.write_all(br#"","requestId":""#)?;
        escaped(&id.0, out)?;
    }
    out.write_all(br#"","data":{"rendered":""#)?;
    escaped(rendered, out)?;
    out.write_all(br#""}}"#)
}

/// Writes what stands between the quotes of a JSON text.
fn escaped(text: &str, out: &mut impl Write) -> io::Result<()> {
    let bytes = text.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while at < bytes.len() {
        if let Some(chunk) = bytes.get(at..at + CHUNK)
            && !chunk.iter().fold(false, |any, byte| any | is_special(*byte))
        {
            at += CHUNK;
            continue;
        }
        // Somewhere in the next few.
        let end = bytes.len().min(at + CHUNK);
        for (place, byte) in bytes.iter().enumerate().take(end).skip(at) {
            if is_special(*byte) {
                out.write_all(&bytes[written..place])?;
                escape(*byte, out)?;
                written = place + 1;
            }
        }
        at = end;
    }
    out.write_all(&bytes[written..])
}

const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn escape(byte: u8, out: &mut impl Write) -> io::Result<()> {
    match byte {
        b'"' => out.write_all(br#"\""#),
        b'\\' => out.write_all(br"\\"),
        b'\n' => out.write_all(br"\n"),
        b'\r' => out.write_all(br"\r"),
        b'\t' => out.write_all(br"\t"),
        0x08 => out.write_all(br"\b"),
        0x0c => out.write_all(br"\f"),
        byte => write!(out, "\\u{byte:04x}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Envelope, LogForward};

    fn written(text: &str, id: Option<&RequestId>) -> String {
        let mut out = Vec::new();
        write_log(text, id, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_byte_that_needs_it_is_escaped() {
        let text: String = (0..=0x7f).map(char::from).collect();
        let expected = Envelope::plain(LogForward::new(text.clone())).encode().unwrap();
        assert_eq!(written(&text, None).as_bytes(), expected);
        assert_eq!(written("", None), r#"{"type":"LOG_FORWARD","data":{"rendered":""}}"#);
    }

    proptest! {
        #[test]
        fn these_are_the_bytes_of_the_envelope(
            text in "[a-z\"\\\\\n\t\u{1}\u{1b}é😀 ]{0,100}",
            id in prop::option::of("[a\"é\n]{0,4}"),
        ) {
            let id = id.map(RequestId);
            let envelope = Envelope { request_id: id.clone(), data: LogForward::new(text.clone()) };
            prop_assert_eq!(written(&text, id.as_ref()).into_bytes(), envelope.encode().unwrap());
        }
    }
}
