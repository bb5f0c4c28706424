//! A body as lines.
//!
//! What always holds: of a line that has not ended, no more than [`MAX_LINE_BYTES`] are kept.

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};

use super::web::WebError;

/// One line: a call with the longest arguments, every letter of them escaped.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// A body as lines.
pub(super) struct Lines<B> {
    pieces: BoxStream<'static, Result<B, reqwest::Error>>,
    /// What came and was not handed on.
    kept: Vec<u8>,
    /// How much of that is known to hold no end of a line.
    seen: usize,
    over: bool,
}

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum LineError {
    /// It is too long.
    TooLong,
    /// The body broke.
    Web(WebError),
}

impl<B: AsRef<[u8]>> Lines<B> {
    pub(super) fn new(pieces: impl Stream<Item = Result<B, reqwest::Error>> + Send + 'static) -> Self {
        Self { pieces: pieces.boxed(), kept: Vec::new(), seen: 0, over: false }
    }

    /// The next line that is not blank, without its end; none after the last. What follows the last end is a line, too.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        loop {
            if let Some(place) = self.kept[self.seen..].iter().position(|byte| *byte == b'\n') {
                let rest = self.kept.split_off(self.seen + place + 1);
                let line = std::mem::replace(&mut self.kept, rest);
                self.seen = 0;
                if !is_blank(&line) {
                    return Ok(Some(line));
                }
                continue;
            }
            self.seen = self.kept.len();
            if self.over {
                let line = std::mem::take(&mut self.kept);
                self.seen = 0;
                return Ok((!is_blank(&line)).then_some(line));
            }
            match self.pieces.next().await {
                Some(Ok(piece)) => self.kept.extend_from_slice(piece.as_ref()),
                Some(Err(error)) => return Err(LineError::Web(WebError::Http(error))),
                None => self.over = true,
            }
            if self.kept.len() > MAX_LINE_BYTES && !self.kept[self.seen..].contains(&b'\n') {
                return Err(LineError::TooLong);
            }
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn read(pieces: Vec<Vec<u8>>) -> Result<Vec<String>, LineError> {
        let mut lines = Lines::new(stream::iter(pieces.into_iter().map(Ok)));
        let mut told = Vec::new();
        while let Some(line) = lines.next().await? {
            told.push(String::from_utf8(line).unwrap().trim_end().to_owned());
        }
        Ok(told)
    }

    #[tokio::test]
    async fn lines_are_put_together_however_they_come() {
        let text = b"one\r\n\n two\nthree";
        for size in 1..=text.len() {
            let pieces = text.chunks(size).map(<[u8]>::to_vec).collect();
            assert_eq!(read(pieces).await.unwrap(), ["one", " two", "three"], "{size}");
        }
        assert_eq!(read(Vec::new()).await.unwrap(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_not_kept() {
        let pieces = vec![vec![b'x'; 1 << 20]; MAX_LINE_BYTES / (1 << 20) + 1];
        assert!(matches!(read(pieces).await, Err(LineError::TooLong)));
        // Many short ones in one piece are fine.
        let lines = read(vec![b"x\n".repeat(1000)]).await.unwrap();
        assert_eq!(lines.len(), 1000);
    }
}
