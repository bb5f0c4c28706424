//! Newline-delimited framing: one message per line.
//!
//! Tolerant in: CR LF counts as LF, blank lines are nothing, a last line without its newline is still a line.
//! Strict out: one body, one LF.
//!
//! Invariant: a line over the cap is reported once, at the byte that crosses it, and then skipped up to its
//! newline without being kept.

use bytes::{BufMut, BytesMut};
use memchr::memchr;
use tokio_util::codec::{Decoder, Encoder};

use super::{FrameError, Inbound};

/// One message per line.
#[derive(Debug, Clone)]
pub struct Lines {
    max_line: usize,
    /// How much of the buffer is known to hold no newline, so that no byte is searched twice.
    searched: usize,
    /// Inside a line that was refused already.
    skipping: bool,
}

impl Lines {
    /// Lines of at most `max_line` bytes, not counting their ending.
    pub fn new(max_line: usize) -> Self {
        Self { max_line, searched: 0, skipping: false }
    }

    fn too_long(&self) -> FrameError {
        FrameError::LineTooLong { limit: self.max_line as u64 }
    }

    /// A line without its newline becomes a frame, a refusal, or nothing if it is blank.
    fn finish(&self, mut line: BytesMut) -> Option<Inbound> {
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.max_line {
            return Some(Inbound::Refused(self.too_long()));
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then(|| Inbound::Frame(line.freeze()))
    }

    /// Whether an unfinished line is over the cap whatever comes next: a last CR may still be part of the ending.
    fn is_over(&self, unfinished: &[u8]) -> bool {
        unfinished.len() > self.max_line + usize::from(unfinished.last() == Some(&b'\r'))
    }
}

impl Decoder for Lines {
    type Item = Inbound;
    type Error = FrameError;

    fn decode(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        loop {
            let Some(offset) = memchr(b'\n', &source[self.searched..]) else {
                if self.skipping {
                    source.clear();
                } else if self.is_over(source) {
                    source.clear();
                    self.searched = 0;
                    self.skipping = true;
                    return Ok(Some(Inbound::Refused(self.too_long())));
                }
                self.searched = source.len();
                return Ok(None);
            };
            let mut line = source.split_to(self.searched + offset + 1);
            line.truncate(line.len() - 1);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if let Some(inbound) = self.finish(line) {
                return Ok(Some(inbound));
            }
        }
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        if let Some(inbound) = self.decode(source)? {
            return Ok(Some(inbound));
        }
        let last = source.split();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) { Ok(None) } else { Ok(self.finish(last)) }
    }
}

impl Encoder<&[u8]> for Lines {
    type Error = FrameError;

    fn encode(&mut self, body: &[u8], target: &mut BytesMut) -> Result<(), FrameError> {
        if body.len() > self.max_line {
            return Err(FrameError::TooLarge { declared: body.len() as u64, limit: self.max_line as u64 });
        }
        target.reserve(body.len() + 1);
        let start = target.len();
        target.put_slice(body);
        // JSON holds raw line breaks only between its tokens (somebody's pretty-printed parameters), where a
        // space means the same. A CR stays: it may stand in an id, which goes back exactly as it came.
        let mut from = start;
        while let Some(offset) = memchr(b'\n', &target[from..]) {
            target[from + offset] = b' ';
            from += offset + 1;
        }
        target.put_u8(b'\n');
        Ok(())
    }
}
