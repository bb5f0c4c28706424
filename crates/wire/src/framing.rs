//! Cutting messages out of a stream of bytes, three ways.
//!
//! Knows where a frame begins and ends; knows nothing of JSON, methods or who is on the other end. The codecs
//! are [`tokio_util::codec`] decoders and encoders, so they work on any `AsyncRead` and `AsyncWrite`.
//!
//! What always holds:
//! - the bytes may arrive in any pieces; the frames that come out are the same;
//! - a declared length is compared with its cap before the buffer grows, and the buffer then grows with the
//!   bytes that really arrive: a peer that declares much and sends little costs little;
//! - an error ends the stream, because nobody knows where the next frame would begin. The one exception is a
//!   line that is too long: lines stay in step, so it comes out as [`Inbound::Refused`].

mod content_length;
mod length_prefixed;
mod lines;

pub use content_length::ContentLength;
pub use length_prefixed::{Layout, LengthPrefixed};
pub use lines::Lines;

use bytes::{Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

/// How far a buffer grows ahead of the bytes that have arrived.
///
/// Large enough that a 64 KiB message is one allocation, small enough that a thousand peers that declare
/// a large frame and then stall cost 64 MiB, not 64 GiB.
const GROWTH: usize = 64 * 1024;

/// What a codec finds in a stream.
#[derive(Debug)]
pub enum Inbound {
    /// One whole frame, without its framing.
    Frame(Bytes),
    /// One frame that was dropped; the stream is still in step.
    Refused(FrameError),
}

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The declared or written size is over the cap.
    #[error("frame of {declared} bytes is over the limit of {limit}")]
    TooLarge {
        /// What the peer declared or we tried to write.
        declared: u64,
        /// The cap.
        limit: u64,
    },
    /// A line went over the cap before it ended.
    #[error("line is over the limit of {limit} bytes")]
    LineTooLong {
        /// The cap.
        limit: u64,
    },
    /// A length prefix of zero or less.
    #[error("frame length {declared} is not positive")]
    NotPositive {
        /// What the prefix said.
        declared: i32,
    },
    /// A header block without `Content-Length`.
    #[error("`Content-Length` header is missing")]
    MissingLength,
    /// Two `Content-Length` headers that differ.
    #[error("`Content-Length` is given twice, as {first} and as {second}")]
    ConflictingLengths {
        /// The earlier value.
        first: u64,
        /// The later value.
        second: u64,
    },
    /// A `Content-Length` below zero.
    #[error("`Content-Length` is negative: `{text}`")]
    NegativeLength {
        /// The header's value.
        text: String,
    },
    /// A `Content-Length` that is no number.
    #[error("`Content-Length` is not a number: `{text}`")]
    InvalidLength {
        /// The header's value.
        text: String,
    },
    /// Headers without end.
    #[error("header is over the limit of {limit} bytes")]
    HeaderTooLong {
        /// The cap.
        limit: u64,
    },
    /// The stream ended inside a header.
    #[error("stream ended inside a header")]
    TruncatedHeader,
    /// The stream ended inside a body.
    #[error("stream ended {missing} bytes before the frame did")]
    Truncated {
        /// How many bytes were still owed.
        missing: u64,
    },
    /// The first byte of the first frame fits no known layout.
    #[error("first byte {byte:#04x} of the first frame belongs to no known layout")]
    UnknownLayout {
        /// That byte.
        byte: u8,
    },
    /// A compression nobody defined.
    #[error("compression {tag} is unknown")]
    UnknownCompression {
        /// The tag on the frame.
        tag: u8,
    },
    /// A compressed body that cannot be inflated.
    #[error("compressed frame is damaged")]
    Damaged {
        /// What the decompressor said.
        #[source]
        source: std::io::Error,
    },
    /// A compressed body that grows over its own cap.
    #[error("compressed frame is over the limit of {limit} bytes once inflated")]
    InflatesTooLarge {
        /// The cap after inflating.
        limit: u64,
    },
    /// The stream itself failed.
    #[error("cannot read from or write to the peer")]
    Io {
        /// Why.
        #[from]
        source: std::io::Error,
    },
}

/// A way of framing: reads [`Inbound`], writes bodies.
pub trait Codec:
    Decoder<Item = Inbound, Error = FrameError>
    + for<'a> Encoder<&'a [u8], Error = FrameError>
    + Clone
    + Send
    + std::fmt::Debug
    + 'static
{
}

impl<C> Codec for C where
    C: Decoder<Item = Inbound, Error = FrameError>
        + for<'a> Encoder<&'a [u8], Error = FrameError>
        + Clone
        + Send
        + std::fmt::Debug
        + 'static
{
}

/// Makes room for what is still missing of a frame, without trusting that it will come.
fn reserve_gradually(buffer: &mut BytesMut, missing: usize) {
    buffer.reserve(missing.min(buffer.len().max(GROWTH)));
}
