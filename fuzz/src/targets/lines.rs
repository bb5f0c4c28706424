//! Newline-delimited framing: any bytes, any pieces, one meaning; a line that is too long costs only itself.

use loggia_wire::framing::Lines;

use super::stream;

/// Crossed by many inputs.
const SMALL: usize = 32;
/// Never reached.
const LARGE: usize = 1 << 30;

/// Tries one input.
pub fn target(data: &[u8]) {
    let small = stream::check(&Lines::new(SMALL), data, SMALL);
    assert_eq!(small.error, None, "lines cannot break a stream");
    let large = stream::check(&Lines::new(LARGE), data, LARGE);
    let short = large.frames().filter(|frame| frame.len() <= SMALL);
    assert!(small.frames().eq(short), "a line that is too long took another one with it");
    assert!(
        large.frames().all(|frame| !frame.contains(&b'\n') && !frame.trim_ascii().is_empty()),
        "a frame is blank or holds a newline"
    );
}
