//! Messages as frames, for both sides.

use std::cell::Cell;

use bytes::{BufMut as _, Bytes, BytesMut};
use loggia_protocol_endermux::{Envelope, Framing, Message, RequestId, limits, write_log};
use loggia_wire::framing::{FrameError, Layout, LengthPrefixed};

use crate::limits::FRAME_SLAB;

/// Bytes of a log event's frame besides its text, with a few to spare.
const AROUND: usize = 80;

/// A frame that takes more than this part of a slab is made on its own: it would keep the rest from being used.
const LARGE: usize = 8;

/// What a server reads with: the first frame shows the framing.
pub(crate) fn detecting() -> LengthPrefixed {
    LengthPrefixed::detect(limits::MAX_FRAME, limits::MAX_INFLATED)
}

/// What a peer reads and writes with once the framing is known.
pub(crate) fn codec(framing: Framing) -> LengthPrefixed {
    match framing {
        Framing::Plain => LengthPrefixed::plain(limits::MAX_FRAME),
        Framing::Compressed => LengthPrefixed::tagged(limits::MAX_FRAME, limits::MAX_INFLATED),
    }
}

/// The framing of a peer, from its first frame. Only a layout that was never seen is unknown, and that is plain.
pub(crate) fn framing_of(codec: &LengthPrefixed) -> Framing {
    match codec.layout() {
        Some(Layout::Tagged) => Framing::Compressed,
        Some(Layout::Plain) | None => Framing::Plain,
    }
}

/// A message of a server: compressed where that helps and the framing has a place for it.
pub(crate) fn from_server(framing: Framing, message: &Envelope<Message>) -> Result<Bytes, FrameError> {
    write(codec(framing).compress_from(limits::COMPRESS_FROM), message)
}

/// A message of a client; clients never compress, because what they say is short.
pub(crate) fn from_client(framing: Framing, message: &Envelope<Message>) -> Result<Bytes, FrameError> {
    write(codec(framing), message)
}

thread_local! {
    /// What the next log frames of this thread are cut from.
    static SLAB: Cell<BytesMut> = Cell::new(BytesMut::new());
}

/// A log event of a server, from text that stays where it is.
pub(crate) fn log(framing: Framing, text: &str, id: Option<&RequestId>) -> Result<Bytes, FrameError> {
    // Room for what stands around a line and for some escapes, so that it is made once.
    let room = text.len() + AROUND;
    if room > FRAME_SLAB / LARGE {
        return encode_log(&mut BytesMut::with_capacity(room), framing, text, id);
    }
    let mut slab = SLAB.take();
    if slab.capacity() < room {
        slab = BytesMut::with_capacity(FRAME_SLAB);
    }
    let frame = encode_log(&mut slab, framing, text, id);
    SLAB.set(slab);
    frame
}

/// Cuts a frame from the front of what is empty.
fn encode_log(
    from: &mut BytesMut,
    framing: Framing,
    text: &str,
    id: Option<&RequestId>,
) -> Result<Bytes, FrameError> {
    let mut codec = codec(framing).compress_from(limits::COMPRESS_FROM);
    codec.encode_with(from, |body| {
        write_log(text, id, &mut body.writer()).map_err(|source| FrameError::Io { source })
    })?;
    Ok(from.split().freeze())
}

fn write(mut codec: LengthPrefixed, message: &Envelope<Message>) -> Result<Bytes, FrameError> {
    let mut frame = BytesMut::new();
    codec.encode_with(&mut frame, |body| {
        serde_json::to_writer(body.writer(), message).map_err(|error| FrameError::Io { source: error.into() })
    })?;
    Ok(frame.freeze())
}
