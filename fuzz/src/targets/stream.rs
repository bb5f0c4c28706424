//! Decoding a stream the way a connection does, with an eye on what comes out and on the buffer.
//!
//! Knows the promises all framings share. Refuses to know any framing.

use bytes::BytesMut;
use loggia_wire::framing::{Codec, Inbound};

use crate::Random;

/// How far the framings let a buffer grow ahead of the bytes that have arrived.
const GROWTH: usize = 64 * 1024;

/// What became of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Frames and refusals, in order.
    pub(super) items: Vec<Item>,
    /// The error that ended it, as text; nothing after a clean end.
    pub(super) error: Option<String>,
}

/// What a codec found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Frame(bytes::Bytes),
    Refused(String),
}

impl Outcome {
    /// The frames alone.
    pub(super) fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.items.iter().filter_map(|item| match item {
            Item::Frame(frame) => Some(&frame[..]),
            Item::Refused(_) => None,
        })
    }
}

/// Decodes `data` whole and in pieces; both must tell the same. Gives what they tell.
pub(super) fn check<C: Codec>(codec: &C, data: &[u8], largest_frame: usize) -> Outcome {
    let whole = decode(codec.clone(), std::iter::once(data), data.len(), largest_frame);
    let in_pieces = decode(codec.clone(), pieces(data).into_iter(), data.len(), largest_frame);
    assert_eq!(whole, in_pieces, "the bytes came in other pieces and meant something else ({codec:?})");
    whole
}

/// Cuts the data at places that depend on nothing else.
pub(super) fn pieces(data: &[u8]) -> Vec<&[u8]> {
    let mut random = Random::from_bytes(data);
    // Some streams come byte by byte, some in a few large pieces.
    let longest = [1, 7, 64, 4096][random.below(4)];
    let mut pieces = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(1 + random.below(longest)));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Decodes pieces as they come, then the end of the stream.
fn decode<'a, C: Codec>(
    mut codec: C,
    pieces: impl Iterator<Item = &'a [u8]>,
    total: usize,
    largest_frame: usize,
) -> Outcome {
    let mut outcome = Outcome { items: Vec::new(), error: None };
    let mut buffer = BytesMut::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        if !take(&mut outcome, &mut buffer, largest_frame, |buffer| codec.decode(buffer)) {
            break;
        }
        // A buffer doubles when it grows; apart from that, only bytes that arrived may make it larger.
        let allowed = 2 * (total + GROWTH);
        assert!(
            buffer.capacity() <= allowed,
            "the buffer grew to {} bytes, {total} had been sent",
            buffer.capacity()
        );
    }
    if outcome.error.is_none() {
        take(&mut outcome, &mut buffer, largest_frame, |buffer| codec.decode_eof(buffer));
    }
    if outcome.error.is_some() {
        // Nobody reads on after an error; somebody who does must still not be thrown out of the program.
        let _ = codec.decode(&mut buffer);
    }
    outcome
}

/// Takes what is there; false after an error.
fn take(
    outcome: &mut Outcome,
    buffer: &mut BytesMut,
    largest_frame: usize,
    mut next: impl FnMut(&mut BytesMut) -> Result<Option<Inbound>, loggia_wire::framing::FrameError>,
) -> bool {
    loop {
        match next(buffer) {
            Ok(Some(Inbound::Frame(frame))) => {
                assert!(frame.len() <= largest_frame, "a frame of {} bytes is over the cap", frame.len());
                outcome.items.push(Item::Frame(frame));
            }
            Ok(Some(Inbound::Refused(error))) => outcome.items.push(Item::Refused(format!("{error:?}"))),
            Ok(None) => return true,
            Err(error) => {
                outcome.error = Some(format!("{error:?}"));
                return false;
            }
        }
    }
}
