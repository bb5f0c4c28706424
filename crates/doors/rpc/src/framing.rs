//! How this client frames its messages: lines, or headers for clients that were made for language servers.
//!
//! Knows the first byte of such a client. Refuses to know JSON. The reading and the writing side share what was learned.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use bytes::{Buf, BytesMut};
use loggia_protocol_autohand::limits::MAX_LINE_BYTES;
use loggia_wire::framing::{ContentLength, FrameError, Inbound, Lines};
use tokio_util::codec::{Decoder, Encoder};

const UNKNOWN: u8 = 0;
const LINES: u8 = 1;
const HEADERS: u8 = 2;

/// Lines unless the first bytes are a header.
#[derive(Debug, Clone)]
pub(crate) struct Framing {
    lines: Lines,
    headers: ContentLength,
    learned: Arc<AtomicU8>,
}

impl Framing {
    pub(crate) fn new() -> Self {
        Self {
            lines: Lines::new(MAX_LINE_BYTES),
            headers: ContentLength::new(MAX_LINE_BYTES),
            learned: Arc::new(AtomicU8::new(UNKNOWN)),
        }
    }

    /// Learns from the first bytes that are there; false if they tell nothing yet.
    pub(crate) fn look(&self, bytes: &[u8]) -> bool {
        let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else { return false };
        // No JSON begins with the letter of `Content-Length`.
        let learned = if matches!(first, b'C' | b'c') { HEADERS } else { LINES };
        let _ = self.learned.compare_exchange(UNKNOWN, learned, Relaxed, Relaxed);
        true
    }

    /// Whether a message ends with its line.
    pub(crate) fn is_lines(&self) -> bool {
        self.learned.load(Relaxed) != HEADERS
    }
}

impl Decoder for Framing {
    type Item = Inbound;
    type Error = FrameError;

    fn decode(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        if self.learned.load(Relaxed) == UNKNOWN && !self.look(source) {
            source.advance(source.len());
            return Ok(None);
        }
        if self.is_lines() { self.lines.decode(source) } else { self.headers.decode(source) }
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        if self.is_lines() { self.lines.decode_eof(source) } else { self.headers.decode_eof(source) }
    }
}

impl Encoder<&[u8]> for Framing {
    type Error = FrameError;

    fn encode(&mut self, body: &[u8], target: &mut BytesMut) -> Result<(), FrameError> {
        if self.is_lines() { self.lines.encode(body, target) } else { self.headers.encode(body, target) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(input: &str) -> String {
        let (mut reading, mut source) = (Framing::new(), BytesMut::from(input));
        let mut writing = reading.clone();
        assert!(matches!(reading.decode(&mut source), Ok(Some(Inbound::Frame(frame))) if frame == "{}"));
        let mut target = BytesMut::new();
        writing.encode(b"[]", &mut target).unwrap();
        String::from_utf8(target.to_vec()).unwrap()
    }

    #[test]
    fn a_client_is_answered_in_its_own_framing() {
        assert_eq!(answer("{}\n"), "[]\n");
        assert_eq!(answer("\r\n{}\n"), "[]\n");
        assert_eq!(answer("Content-Length: 2\r\n\r\n{}"), "Content-Length: 2\r\n\r\n[]");
        assert_eq!(answer("\r\ncontent-length: 2\r\n\r\n{}"), "Content-Length: 2\r\n\r\n[]");
    }

    #[test]
    fn nothing_is_learned_from_white_space() {
        let framing = Framing::new();
        assert!(!framing.look(b" \r\n"));
        assert!(framing.look(b" [") && framing.is_lines());
        // What was learned stays.
        assert!(framing.look(b"C") && framing.is_lines());
    }
}
