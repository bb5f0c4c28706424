//! Content-Length framing: any bytes, any pieces, one meaning; no declared length costs memory.

use loggia_wire::framing::ContentLength;

use super::stream;

/// Crossed by many inputs.
const SMALL: usize = 48;
/// Never reached: a length below it may be declared, and must cost nothing until the bytes come.
const LARGE: usize = 1 << 30;

/// Tries one input.
pub fn target(data: &[u8]) {
    let small = stream::check(&ContentLength::new(SMALL), data, SMALL);
    let large = stream::check(&ContentLength::new(LARGE), data, LARGE);
    // A smaller cap only makes the stream end earlier.
    assert!(small.items.len() <= large.items.len(), "a smaller cap found more frames");
    assert!(
        small.items.iter().zip(&large.items).all(|(small, large)| small == large),
        "a smaller cap found other frames"
    );
}
