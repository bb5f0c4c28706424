//! Log events and what becomes of one: text for a colour level, pieces, frames.
//!
//! Invariant: an event is rendered at most once for each colour level and framed at most once for each framing, however
//! many clients there are.

use std::borrow::Cow;

use loggia_protocol_endermux::{ColorLevel, Framing, RequestId};
use smallvec::SmallVec;

use super::pieces;
use super::queue::LogPiece;
use crate::frame;

/// Something that was logged.
pub trait Log: Send + Sync {
    /// Its text for a terminal with these colours: whole lines, each with its end.
    fn text(&self, level: ColorLevel) -> Cow<'_, str>;

    /// About how many bytes it holds, for those who keep it.
    fn weight(&self) -> usize;
}

/// The same text for everybody.
impl Log for String {
    fn text(&self, _: ColorLevel) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn weight(&self) -> usize {
        self.len()
    }
}

/// The same text for everybody.
impl Log for &'static str {
    fn text(&self, _: ColorLevel) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn weight(&self) -> usize {
        self.len()
    }
}

/// What frames of a client's logs depend on.
pub(crate) type Look = (ColorLevel, Framing);

/// The looks that are wanted. Most of the time everybody has the same.
pub(crate) type Looks = SmallVec<[Look; 2]>;

/// The frames of one text; most texts are a line and fit one.
pub(crate) type Pieces = SmallVec<[LogPiece; 1]>;

/// The frames of one event, for those looks that were wanted so far. There are ten looks at most.
#[derive(Debug, Default)]
pub(crate) struct Renderings(SmallVec<[(Look, Pieces); 1]>);

impl Renderings {
    pub(crate) fn get(&self, look: Look) -> Option<&[LogPiece]> {
        self.0.iter().find(|(known, _)| *known == look).map(|(_, pieces)| pieces.as_slice())
    }

    /// Makes those that are missing.
    pub(crate) fn add(&mut self, log: &dyn Log, mut looks: Looks) {
        looks.sort_by_key(|(level, _)| *level);
        let mut last: Option<(ColorLevel, Cow<'_, str>)> = None;
        for look in looks {
            let text = match last.take() {
                Some((level, text)) if level == look.0 => text,
                _ => log.text(look.0),
            };
            self.0.push((look, frames(&text, look.1, None)));
            last = Some((look.0, text));
        }
    }
}

/// A text as frames.
pub(crate) fn frames(text: &str, framing: Framing, id: Option<&RequestId>) -> Pieces {
    let shortened = pieces::shorten(text);
    let made = pieces::pieces(&shortened).filter_map(|piece| {
        // A piece always fits; were it otherwise, the others still would.
        let frame = frame::log(framing, piece, id)
            .inspect_err(|error| tracing::warn!(%error, "a log is not sent"))
            .ok()?;
        let lines = piece.bytes().filter(|byte| *byte == b'\n').count() as u64;
        Some(LogPiece { frame, lines, ends_line: piece.ends_with('\n') })
    });
    made.collect()
}

/// The line that stands for those that are missing.
pub(crate) fn gap(lines: u64, mid_line: bool) -> String {
    let start = if mid_line { "\n" } else { "" };
    let noun = if lines == 1 { "line" } else { "lines" };
    format!("{start}… {lines} {noun} skipped\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::limits::LOG_PIECE;

    struct Counted(AtomicUsize);

    impl Log for Counted {
        fn text(&self, level: ColorLevel) -> Cow<'_, str> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Cow::Owned(format!("{level:?}\n"))
        }

        fn weight(&self) -> usize {
            0
        }
    }

    #[test]
    fn a_level_is_rendered_once_for_both_framings() {
        let log = Counted(AtomicUsize::new(0));
        let mut made = Renderings::default();
        let looks = [ColorLevel::None, ColorLevel::TrueColor]
            .map(|level| [(level, Framing::Compressed), (level, Framing::Plain)])
            .concat();
        made.add(&log, looks.iter().copied().collect());
        assert_eq!(log.0.load(Ordering::Relaxed), 2);
        assert!(looks.iter().all(|look| made.get(*look).is_some_and(|pieces| pieces.len() == 1)));
        assert_eq!(made.get((ColorLevel::Indexed8, Framing::Plain)).map(<[_]>::len), None);
    }

    #[test]
    fn a_text_of_control_characters_still_fits_its_frames() {
        let pieces = frames(&"\u{1}".repeat(3 * LOG_PIECE), Framing::Plain, None);
        assert_eq!(pieces.len(), 3);
    }

    #[test]
    fn the_line_for_a_gap_starts_on_a_line_of_its_own() {
        assert_eq!(gap(1, false), "… 1 line skipped\n");
        assert_eq!(gap(12, true), "\n… 12 lines skipped\n");
    }
}
