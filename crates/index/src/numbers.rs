//! Numbers and texts as bytes: the small ones in few, the large ones in more.
//!
//! Knows no record. A reader gives back what a writer wrote, or an error; no length is believed before the bytes it
//! promises are seen to be there.

use std::io;

/// Appends.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    #[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes.extend_from_slice(&bytes);
    }
}

/// Takes from the front.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn damage() -> io::Error {
        io::Error::from(io::ErrorKind::InvalidData)
    }

    pub(crate) fn byte(&mut self) -> io::Result<u8> {
        let (first, rest) = self.rest.split_first().ok_or_else(Self::damage)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // What does not fit is not ours.
            if bits.leading_zeros() < shift {
                return Err(Self::damage());
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Self::damage())
    }

    pub(crate) fn small(&mut self) -> io::Result<u32> {
        u32::try_from(self.number()?).map_err(|_| Self::damage())
    }

    /// How many things follow: at most as many as there are bytes.
    pub(crate) fn count(&mut self) -> io::Result<usize> {
        let count = usize::try_from(self.number()?).map_err(|_| Self::damage())?;
        if count > self.rest.len() { Err(Self::damage()) } else { Ok(count) }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> io::Result<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(Self::damage)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn text(&mut self) -> io::Result<&'b str> {
        let count = self.count()?;
        std::str::from_utf8(self.bytes(count)?).map_err(|_| Self::damage())
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        self.bytes(N)?.try_into().map_err(|_| Self::damage())
    }

    /// Nothing may follow.
    pub(crate) fn end(&self) -> io::Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(Self::damage()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut out = Writer::default();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.iter().for_each(|number| out.number(*number));
        out.text("größe");
        out.fixed([1, 2, 3]);
        let mut reader = Reader::new(&out.bytes);
        numbers.iter().for_each(|number| assert_eq!(reader.number().unwrap(), *number));
        assert_eq!(reader.text().unwrap(), "größe");
        assert_eq!(reader.fixed().unwrap(), [1, 2, 3]);
        reader.end().unwrap();
        assert!(reader.byte().is_err());
    }

    #[test]
    fn lengths_that_promise_too_much_are_not_believed() {
        let mut out = Writer::default();
        out.number(1 << 40);
        assert!(Reader::new(&out.bytes).text().is_err());
        assert!(Reader::new(&out.bytes).count().is_err());
        assert!(Reader::new(&[0xff; 11]).number().is_err());
    }
}
