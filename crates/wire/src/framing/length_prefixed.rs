//! Length-prefixed framing: a 4-byte signed big-endian length, then the body.
//!
//! Two layouts share the prefix. *Plain*: the length counts the body. *Tagged*: the length counts one
//! compression byte (0 none, 1 gzip) and the stored body. No JSON text begins with byte 0 or 1, so the first
//! frame shows which layout a peer speaks; a codec made with [`LengthPrefixed::detect`] learns it there and
//! answers in the same.
//!
//! Invariants: 0, negative and over-limit lengths are errors before the body is read; a compressed body is
//! inflated no further than its own cap. The end of the stream inside the prefix is a clean end, inside the body
//! an error.

use std::io::{Read, Write};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tokio_util::codec::{Decoder, Encoder};

use super::{FrameError, Inbound, reserve_gradually};

const PREFIX: usize = 4;
const NOT_COMPRESSED: u8 = 0;
const GZIP: u8 = 1;

/// What follows the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The body.
    Plain,
    /// A compression byte, then the stored body.
    Tagged,
}

/// Length-prefixed framing.
#[derive(Debug, Clone)]
pub struct LengthPrefixed {
    layout: Option<Layout>,
    max_stored: usize,
    max_inflated: usize,
    compress_from: Option<usize>,
    /// The length of the frame whose prefix is read already.
    length: Option<usize>,
}

impl LengthPrefixed {
    /// Bodies of at most `max_stored` bytes as they are.
    pub fn plain(max_stored: usize) -> Self {
        Self { layout: Some(Layout::Plain), ..Self::detect(max_stored, max_stored) }
    }

    /// Bodies behind a compression byte: at most `max_stored` bytes on the wire, `max_inflated` in memory.
    pub fn tagged(max_stored: usize, max_inflated: usize) -> Self {
        Self { layout: Some(Layout::Tagged), ..Self::detect(max_stored, max_inflated) }
    }

    /// The layout is taken from the first frame that arrives; until then frames are written plain. A clone
    /// learns it for itself, so reading and writing must go through one codec: [`crate::peer::connect`], which
    /// gives each half a clone, takes only codecs that have nothing to learn.
    pub fn detect(max_stored: usize, max_inflated: usize) -> Self {
        Self { layout: None, max_stored, max_inflated, compress_from: None, length: None }
    }

    /// Compresses bodies of at least this many bytes when the layout allows it.
    pub fn compress_from(mut self, bytes: usize) -> Self {
        self.compress_from = Some(bytes);
        self
    }

    /// The layout, once it is known.
    pub fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// Writes a frame whose body is written straight into its place: nothing is copied unless it is compressed. On an
    /// error the target is as it was.
    ///
    /// # Errors
    /// Those of the body's writer, and [`FrameError`] for a body that is empty or too large.
    pub fn encode_with(
        &mut self,
        target: &mut BytesMut,
        write: impl FnOnce(&mut BytesMut) -> Result<(), FrameError>,
    ) -> Result<(), FrameError> {
        let start = target.len();
        let done = self.put_with(start, target, write);
        if done.is_err() {
            target.truncate(start);
        }
        done
    }

    fn put_with(
        &mut self,
        start: usize,
        target: &mut BytesMut,
        write: impl FnOnce(&mut BytesMut) -> Result<(), FrameError>,
    ) -> Result<(), FrameError> {
        let is_tagged = self.layout == Some(Layout::Tagged);
        target.put_i32(0);
        if is_tagged {
            target.put_u8(NOT_COMPRESSED);
        }
        let begin = target.len();
        write(target)?;
        let length = target.len() - begin;
        let is_small = self.compress_from.is_none_or(|from| length < from);
        if length == 0 || length > self.max_stored || (is_tagged && !is_small) {
            // Refused or compressed there.
            let body = target.split_off(begin);
            target.truncate(start);
            return self.encode(&body, target);
        }
        let stored = length + usize::from(is_tagged);
        let prefix = i32::try_from(stored)
            .map_err(|_| FrameError::TooLarge { declared: stored as u64, limit: i32::MAX as u64 })?;
        target[start..start + PREFIX].copy_from_slice(&prefix.to_be_bytes());
        Ok(())
    }

    fn read_prefix(&self, source: &mut BytesMut) -> Result<Option<usize>, FrameError> {
        if source.len() < PREFIX {
            return Ok(None);
        }
        let declared = source.get_i32();
        if declared <= 0 {
            return Err(FrameError::NotPositive { declared });
        }
        let length = declared as usize;
        let limit = match self.layout {
            Some(Layout::Plain) => self.max_stored,
            Some(Layout::Tagged) | None => self.max_stored + 1,
        };
        if length > limit {
            return Err(FrameError::TooLarge { declared: length as u64, limit: limit as u64 });
        }
        Ok(Some(length))
    }

    /// Looks at a frame's first byte as soon as it is there; the rest need not come if it is wrong.
    fn read_first_byte(&mut self, first: u8, length: usize) -> Result<(), FrameError> {
        if self.layout.is_none() {
            self.layout = Some(layout_of(first)?);
            if self.layout == Some(Layout::Plain) && length > self.max_stored {
                return Err(FrameError::TooLarge { declared: length as u64, limit: self.max_stored as u64 });
            }
        }
        match (self.layout, first) {
            (Some(Layout::Tagged), tag) if tag > GZIP => Err(FrameError::UnknownCompression { tag }),
            _ => Ok(()),
        }
    }

    fn unpack(&self, mut stored: Bytes) -> Result<Bytes, FrameError> {
        if self.layout != Some(Layout::Tagged) {
            return Ok(stored);
        }
        match stored.get_u8() {
            GZIP => self.inflate(&stored),
            _ => Ok(stored),
        }
    }

    fn inflate(&self, stored: &[u8]) -> Result<Bytes, FrameError> {
        let mut body = Vec::new();
        let cap = self.max_inflated as u64;
        GzDecoder::new(stored)
            .take(cap + 1)
            .read_to_end(&mut body)
            .map_err(|source| FrameError::Damaged { source })?;
        if body.len() as u64 > cap {
            return Err(FrameError::InflatesTooLarge { limit: cap });
        }
        Ok(body.into())
    }

    fn put(&self, tag: Option<u8>, stored: &[u8], target: &mut BytesMut) -> Result<(), FrameError> {
        if stored.len() > self.max_stored {
            return Err(FrameError::TooLarge {
                declared: stored.len() as u64,
                limit: self.max_stored as u64,
            });
        }
        let length = stored.len() + usize::from(tag.is_some());
        let prefix = i32::try_from(length)
            .map_err(|_| FrameError::TooLarge { declared: length as u64, limit: i32::MAX as u64 })?;
        target.reserve(PREFIX + length);
        target.put_i32(prefix);
        if let Some(tag) = tag {
            target.put_u8(tag);
        }
        target.put_slice(stored);
        Ok(())
    }
}

fn layout_of(first: u8) -> Result<Layout, FrameError> {
    match first {
        NOT_COMPRESSED | GZIP => Ok(Layout::Tagged),
        // An object, or what may stand before one: white space or a byte order mark.
        b'{' | b' ' | b'\t' | b'\r' | b'\n' | 0xEF => Ok(Layout::Plain),
        byte => Err(FrameError::UnknownLayout { byte }),
    }
}

impl Decoder for LengthPrefixed {
    type Item = Inbound;
    type Error = FrameError;

    fn decode(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        let length = match self.length {
            Some(length) => length,
            None => match self.read_prefix(source)? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        self.length = Some(length);
        if let Some(first) = source.first() {
            self.read_first_byte(*first, length)?;
        }
        if source.len() < length {
            reserve_gradually(source, length - source.len());
            return Ok(None);
        }
        self.length = None;
        let stored = source.split_to(length).freeze();
        self.unpack(stored).map(|body| Some(Inbound::Frame(body)))
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> Result<Option<Inbound>, FrameError> {
        if let Some(inbound) = self.decode(source)? {
            return Ok(Some(inbound));
        }
        match self.length {
            Some(length) => Err(FrameError::Truncated { missing: (length - source.len()) as u64 }),
            None => {
                source.clear();
                Ok(None)
            }
        }
    }
}

impl Encoder<&[u8]> for LengthPrefixed {
    type Error = FrameError;

    fn encode(&mut self, body: &[u8], target: &mut BytesMut) -> Result<(), FrameError> {
        if self.layout != Some(Layout::Tagged) {
            if body.is_empty() {
                return Err(FrameError::NotPositive { declared: 0 });
            }
            return self.put(None, body, target);
        }
        if body.len() > self.max_inflated {
            return Err(FrameError::TooLarge {
                declared: body.len() as u64,
                limit: self.max_inflated as u64,
            });
        }
        if self.compress_from.is_none_or(|from| body.len() < from) {
            return self.put(Some(NOT_COMPRESSED), body, target);
        }
        let mut gzip = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::fast());
        gzip.write_all(body)?;
        self.put(Some(GZIP), &gzip.finish()?, target)
    }
}
