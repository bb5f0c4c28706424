//! Bytes in pieces to text in pieces.
//!
//! What always holds: whatever way the bytes are cut, the text is the same, and the same as if it were decoded whole.

/// Turns the bytes of a stream into whole characters; bytes that are none become U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The beginning of a character whose end has not come; at most three bytes.
    begun: Vec<u8>,
}

impl Decoder {
    /// Hands on the text that is complete with these bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut text: impl FnMut(&str)) {
        let joined;
        let mut rest = if self.begun.is_empty() {
            bytes
        } else {
            self.begun.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.begun);
            &joined[..]
        };
        while !rest.is_empty() {
            let error = match std::str::from_utf8(rest) {
                Ok(whole) => return text(whole),
                Err(error) => error,
            };
            let (valid, broken) = rest.split_at(error.valid_up_to());
            if let Ok(valid) = std::str::from_utf8(valid)
                && !valid.is_empty()
            {
                text(valid);
            }
            match error.error_len() {
                Some(length) => {
                    text("\u{fffd}");
                    rest = &broken[length..];
                }
                None => {
                    self.begun = broken.to_vec();
                    return;
                }
            }
        }
    }

    /// Hands on what is left when nothing comes any more.
    pub(crate) fn finish(&mut self, mut text: impl FnMut(&str)) {
        if !std::mem::take(&mut self.begun).is_empty() {
            text("\u{fffd}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut all = String::new();
        for piece in pieces {
            decoder.feed(piece, |text| all.push_str(text));
        }
        decoder.finish(|text| all.push_str(text));
        all
    }

    #[test]
    fn any_cut_gives_the_same_text() {
        let bytes = "aé€😀\n".as_bytes().iter().copied().chain([0xff, b'x', 0xf0, 0x9f, b'y', 0xe2, 0x82]);
        let bytes: Vec<u8> = bytes.collect();
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(decode(&pieces), whole, "cut at {first} and {second}");
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), whole);
    }

    #[test]
    fn a_character_is_handed_on_whole() {
        let mut decoder = Decoder::default();
        let mut pieces = Vec::new();
        for piece in [&b"a\xe2"[..], b"\x82", b"\xacb"] {
            decoder.feed(piece, |text| pieces.push(text.to_owned()));
        }
        assert_eq!(pieces, ["a", "€b"]);
    }
}
