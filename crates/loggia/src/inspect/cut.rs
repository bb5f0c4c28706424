//! Cutting a recording into frames.
//!
//! The codecs are the ones that serve live connections, fed from a file. Nothing is held but the frame in
//! hand, so a recording may be of any length.

use std::io::{self, Read};

use bytes::{Bytes, BytesMut};
use loggia_wire::framing::{ContentLength, FrameError, Inbound, LengthPrefixed, Lines};
use tokio_util::codec::Decoder;

use super::Framing;

/// How much is asked of the file at a time.
const CHUNK: usize = 64 * 1024;

/// What was found next in a recording.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A frame.
    Frame(Bytes),
    /// Something that is not a frame. The stream may go on behind it.
    Broken(FrameError),
}

/// The frames of a recording, one after the other.
pub(crate) struct Cutter<R> {
    recording: R,
    decoder: Box<dyn Decoder<Item = Inbound, Error = FrameError>>,
    buffer: BytesMut,
    chunk: Vec<u8>,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    /// More may be read.
    Reading,
    /// The file has ended; the decoder may hold something yet.
    Ended,
    /// Nobody knows where the next frame would begin.
    Lost,
}

impl<R: Read> Cutter<R> {
    /// Begins at the recording's start.
    pub(crate) fn new(recording: R, framing: Framing) -> Self {
        let decoder: Box<dyn Decoder<Item = Inbound, Error = FrameError>> = match framing {
            Framing::Lines { max_line } => Box::new(Lines::new(max_line)),
            Framing::ContentLength { max_body } => Box::new(ContentLength::new(max_body)),
            Framing::LengthPrefixed { max_stored, max_inflated } => {
                Box::new(LengthPrefixed::detect(max_stored, max_inflated))
            }
        };
        Self { recording, decoder, buffer: BytesMut::new(), chunk: vec![0; CHUNK], state: State::Reading }
    }

    /// The next piece, or `None` at the end.
    ///
    /// # Errors
    /// When the recording cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece>> {
        while self.state != State::Lost {
            let found = match self.state {
                State::Reading => self.decoder.decode(&mut self.buffer),
                _ => self.decoder.decode_eof(&mut self.buffer),
            };
            match found {
                Ok(Some(Inbound::Frame(frame))) => return Ok(Some(Piece::Frame(frame))),
                Ok(Some(Inbound::Refused(error))) => return Ok(Some(Piece::Broken(error))),
                Ok(None) if self.state == State::Ended => return Ok(None),
                Ok(None) => self.fill()?,
                Err(error) => {
                    self.state = State::Lost;
                    return Ok(Some(Piece::Broken(error)));
                }
            }
        }
        Ok(None)
    }

    fn fill(&mut self) -> io::Result<()> {
        let count = loop {
            match self.recording.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if count == 0 {
            self.state = State::Ended;
        }
        self.buffer.extend_from_slice(&self.chunk[..count]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts and says in one line what was found.
    fn check(framing: Framing, recording: &[u8], expected: &str) {
        let mut cutter = Cutter::new(recording, framing);
        let mut found = Vec::new();
        while let Some(piece) = cutter.next().unwrap() {
            found.push(match piece {
                Piece::Frame(frame) => String::from_utf8_lossy(&frame).into_owned(),
                Piece::Broken(error) => format!("<{error}>"),
            });
        }
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn each_framing_is_cut_with_its_own_codec() {
        check(Framing::Lines { max_line: 10 }, b"one\r\n\ntwo\nlast", "one two last");
        let headers = b"Content-Length: 3\r\n\r\noneContent-Length: 3\r\n\r\ntwo";
        check(Framing::ContentLength { max_body: 10 }, headers, "one two");
        let prefixed = b"\0\0\0\x02{}\0\0\0\x03{ }";
        check(Framing::LengthPrefixed { max_stored: 10, max_inflated: 10 }, prefixed, "{} { }");
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_skipped() {
        check(
            Framing::Lines { max_line: 4 },
            b"one\nfar too long\ntwo\n",
            "one <line is over the limit of 4 bytes> two",
        );
    }

    #[test]
    fn a_stream_that_is_out_of_step_ends_there() {
        let headers = b"Content-Length: 3\r\n\r\noneContent-Length: x\r\n\r\ntwo";
        check(
            Framing::ContentLength { max_body: 10 },
            headers,
            "one <`Content-Length` is not a number: `x`>",
        );
        check(
            Framing::ContentLength { max_body: 10 },
            b"Content-Length: 5\r\n\r\none",
            "<stream ended 2 bytes before the frame did>",
        );
    }

    #[test]
    fn an_empty_recording_has_no_frames() {
        check(Framing::Lines { max_line: 4 }, b"", "");
        check(Framing::ContentLength { max_body: 4 }, b"", "");
    }
}
