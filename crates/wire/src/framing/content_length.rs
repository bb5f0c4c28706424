//! Content-Length framing: a header block, an empty line, then exactly that many bytes.
//!
//! Tolerant in: any header besides, any case, lines that end in LF, CR LF or CR CR LF (what a text-mode stdout
//! on Windows makes of CR LF), empty lines between frames. Strict out: exactly `Content-Length: N`, CR LF twice,
//! the body, nothing after it.
//!
//! Invariant: a length is compared with the cap before the buffer grows; a header block is never longer than
//! [`MAX_HEADER`].

use bytes::{Buf, BufMut, BytesMut};
use memchr::memchr;
use tokio_util::codec::{Decoder, Encoder};

use super::{FrameError, Inbound, reserve_gradually};

/// A real header block is some 25 bytes; this leaves room for any that carry types and dates as well.
const MAX_HEADER: usize = 8 * 1024;

/// Content-Length framing.
#[derive(Debug, Clone)]
pub struct ContentLength {
    max_body: usize,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    Header(Header),
    Body { length: usize },
}

/// What is known of a header block that has not ended yet.
#[derive(Debug, Clone, Default)]
struct Header {
    /// The length, once a line has said it.
    length: Option<u64>,
    /// Bytes taken for this block so far.
    taken: usize,
    /// Whether any line of the block was not empty.
    begun: bool,
    /// How much of the buffer is known to hold no newline.
    searched: usize,
}

impl ContentLength {
    /// Frames with bodies of at most `max_body` bytes.
    pub fn new(max_body: usize) -> Self {
        Self { max_body, state: State::Header(Header::default()) }
    }
}

impl Header {
    /// Takes lines until the block ends; gives the body's length, or nothing while bytes are missing.
    fn read(&mut self, source: &mut BytesMut, max_body: usize) -> Result<Option<usize>, FrameError> {
        while let Some(offset) = memchr(b'\n', &source[self.searched..]) {
            let end = self.searched + offset;
            self.searched = 0;
            self.count(end + 1)?;
            let line = source[..end].trim_ascii();
            let ends_block = line.is_empty() && self.begun;
            if !line.is_empty() {
                self.begun = true;
                self.read_line(line, max_body)?;
            }
            source.advance(end + 1);
            if ends_block {
                let length = self.length.ok_or(FrameError::MissingLength)?;
                return Ok(Some(length as usize));
            }
        }
        self.searched = source.len();
        if self.taken + source.len() > MAX_HEADER {
            return Err(FrameError::HeaderTooLong { limit: MAX_HEADER as u64 });
        }
        Ok(None)
    }

    fn count(&mut self, bytes: usize) -> Result<(), FrameError> {
        self.taken += bytes;
        if self.taken > MAX_HEADER {
            return Err(FrameError::HeaderTooLong { limit: MAX_HEADER as u64 });
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8], max_body: usize) -> Result<(), FrameError> {
        let Some(colon) = memchr(b':', line) else { return Ok(()) };
        if !line[..colon].trim_ascii().eq_ignore_ascii_case(b"content-length") {
            return Ok(());
        }
        let length = parse_length(line[colon + 1..].trim_ascii())?;
        if length > max_body as u64 {
            return Err(FrameError::TooLarge { declared: length, limit: max_body as u64 });
        }
        match self.length {
            Some(first) if first != length => Err(FrameError::ConflictingLengths { first, second: length }),
            _ => {
                self.length = Some(length);
                Ok(())
            }
        }
    }
}

fn parse_length(value: &[u8]) -> Result<u64, FrameError> {
    let text = || String::from_utf8_lossy(value).into_owned();
    match value {
        [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            Err(FrameError::NegativeLength { text: text() })
        }
        [] => Err(FrameError::InvalidLength { text: text() }),
        digits if digits.iter().all(u8::is_ascii_digit) => {
            // A number too large even for 64 bits is over any cap.
            Ok(digits
                .iter()
                .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
        }
        _ => Err(FrameError::InvalidLength { text: text() }),
    }
}

impl Decoder for ContentLength {
    type Item = Inbound;
    type Error = FrameError;

    fn decode(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        if let State::Header(header) = &mut self.state {
            match header.read(source, self.max_body)? {
                Some(length) => self.state = State::Body { length },
                None => return Ok(None),
            }
        }
        let State::Body { length } = self.state else { return Ok(None) };
        if source.len() < length {
            reserve_gradually(source, length - source.len());
            return Ok(None);
        }
        self.state = State::Header(Header::default());
        Ok(Some(Inbound::Frame(source.split_to(length).freeze())))
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        if let Some(inbound) = self.decode(source)? {
            return Ok(Some(inbound));
        }
        match &self.state {
            State::Body { length } => {
                Err(FrameError::Truncated { missing: length.saturating_sub(source.len()) as u64 })
            }
            State::Header(header) if header.begun || !source.trim_ascii().is_empty() => {
                Err(FrameError::TruncatedHeader)
            }
            State::Header(_) => {
                source.clear();
                Ok(None)
            }
        }
    }
}

impl Encoder<&[u8]> for ContentLength {
    type Error = FrameError;

    fn encode(&mut self, body: &[u8], target: &mut BytesMut) -> Result<(), FrameError> {
        if body.len() > self.max_body {
            return Err(FrameError::TooLarge { declared: body.len() as u64, limit: self.max_body as u64 });
        }
        target.reserve(body.len() + 40);
        target.put_slice(b"Content-Length: ");
        put_decimal(target, body.len());
        target.put_slice(b"\r\n\r\n");
        target.put_slice(body);
        Ok(())
    }
}

fn put_decimal(target: &mut BytesMut, mut number: usize) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    target.put_slice(&digits[start..]);
}
