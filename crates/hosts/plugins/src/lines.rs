//! The lines of a plugin's output.
//!
//! Stray prints are taken out here and counted; a line that is too long ends the stream, because its plugin is not
//! going to do better and what it answered is lost.
//!
//! Invariant: nothing of a stray line is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::BytesMut;
use loggia_wire::framing::{FrameError, Inbound, Lines};
use tokio_util::codec::{Decoder, Encoder};

/// A plugin that prints this much beside its answers does nothing else.
pub(crate) const MAX_STRAY_LINES: u64 = 100_000;

/// As much of a stray line as says what it is.
const SHOWN: usize = 200;

/// One message per line, with stray lines between them.
#[derive(Debug, Clone)]
pub(crate) struct PluginLines {
    lines: Lines,
    stray: Arc<AtomicU64>,
}

impl PluginLines {
    /// Lines of at most `limit` bytes; `stray` counts those that are no message.
    pub(crate) fn new(limit: usize, stray: Arc<AtomicU64>) -> Self {
        Self { lines: Lines::new(limit), stray }
    }

    /// A frame that may be a message; nothing for a stray line.
    fn sift(&self, inbound: Inbound) -> Result<Option<Inbound>, FrameError> {
        let frame = match inbound {
            Inbound::Refused(error) => return Err(error),
            Inbound::Frame(frame) => frame,
        };
        let text = frame.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&frame);
        if text.trim_ascii_start().first() == Some(&b'{') {
            return Ok(Some(Inbound::Frame(frame)));
        }
        let line = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
        tracing::debug!(%line, "a stray line of a plugin");
        if self.stray.fetch_add(1, Relaxed) >= MAX_STRAY_LINES {
            let source = std::io::Error::other("too many lines that are no messages");
            return Err(FrameError::Io { source });
        }
        Ok(None)
    }
}

impl Decoder for PluginLines {
    type Item = Inbound;
    type Error = FrameError;

    fn decode(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        while let Some(inbound) = self.lines.decode(source)? {
            if let Some(message) = self.sift(inbound)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        while let Some(inbound) = self.lines.decode_eof(source)? {
            if let Some(message) = self.sift(inbound)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }
}

impl Encoder<&[u8]> for PluginLines {
    type Error = FrameError;

    fn encode(&mut self, body: &[u8], target: &mut BytesMut) -> Result<(), FrameError> {
        self.lines.encode(body, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, u64) {
        let stray = Arc::default();
        let mut lines = PluginLines::new(32, Arc::clone(&stray));
        let mut source = BytesMut::from(text);
        let mut found = Vec::new();
        while let Ok(Some(Inbound::Frame(frame))) = lines.decode_eof(&mut source) {
            found.push(String::from_utf8_lossy(&frame).into_owned());
        }
        (found, stray.load(Relaxed))
    }

    #[test]
    fn only_what_may_be_a_message_is_passed_on() {
        let (found, stray) = read("hello\n\n{\"a\":1}\r\n[1]\n  {\"b\":2}\n\u{feff}{}\n7\nbye");
        assert_eq!(found, ["{\"a\":1}", "  {\"b\":2}", "\u{feff}{}"]);
        assert_eq!(stray, 4);
    }

    #[test]
    fn a_line_that_is_too_long_ends_the_stream() {
        let mut lines = PluginLines::new(8, Arc::default());
        let error = lines.decode(&mut BytesMut::from("{\"a\":\"bcdefgh\"}\n")).unwrap_err();
        assert_eq!(error.to_string(), "line is over the limit of 8 bytes");
    }

    #[test]
    fn endless_stray_lines_end_the_stream() {
        let stray = Arc::new(AtomicU64::new(MAX_STRAY_LINES - 1));
        let mut lines = PluginLines::new(8, stray);
        let mut source = BytesMut::from("a\nb\n{}\n");
        assert!(lines.decode(&mut source).is_err());
    }
}
