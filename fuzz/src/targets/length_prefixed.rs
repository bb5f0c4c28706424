//! Length-prefixed framing in both layouts: any bytes, any pieces, one meaning; no declared length and no
//! compressed body costs more memory than its cap.

use loggia_wire::framing::LengthPrefixed;

use super::stream;

/// Crossed by many inputs.
const SMALL: usize = 48;
/// What compressed bodies may inflate to beside [`SMALL`].
const INFLATED: usize = 256;
/// Never reached.
const LARGE: usize = 1 << 30;
/// A compressed body inflates to a thousand times its size; the inputs' size bounds it well enough.
const INFLATED_LARGE: usize = 1 << 20;

/// Tries one input.
pub fn target(data: &[u8]) {
    stream::check(&LengthPrefixed::plain(SMALL), data, SMALL);
    stream::check(&LengthPrefixed::tagged(SMALL, INFLATED), data, INFLATED.max(SMALL));
    stream::check(&LengthPrefixed::detect(SMALL, INFLATED), data, INFLATED.max(SMALL));
    let plain = stream::check(&LengthPrefixed::plain(LARGE), data, LARGE);
    let tagged = stream::check(&LengthPrefixed::tagged(LARGE, INFLATED_LARGE), data, LARGE);
    let detected = stream::check(&LengthPrefixed::detect(LARGE, INFLATED_LARGE), data, LARGE);
    // Whoever detects the layout reads as one who knew it, or refuses the first frame.
    assert!(
        detected.items == plain.items || detected.items == tagged.items || detected.items.is_empty(),
        "the detected layout reads like neither of the two"
    );
}
