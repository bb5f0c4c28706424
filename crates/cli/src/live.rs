//! The last line of the screen while something runs: it moves, and goes when something else is to be said.

use std::time::Duration;

use tokio::time::Instant;

use crate::paint::{ASIDE, CODE, Paint, cut, printable};

/// How often it moves.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// What it looks like, one after the other.
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// From when on it tells how long it has been: before, nobody waits.
const TELLS_TIME_AFTER: Duration = Duration::from_secs(2);

/// Goes to the line's beginning and wipes it.
pub(crate) const WIPE: &str = "\r\u{1b}[K";

/// The line.
#[derive(Debug, Default)]
pub(crate) struct Live {
    words: Option<String>,
    since: Option<Instant>,
    frame: usize,
    shown: bool,
}

impl Live {
    /// What runs from now on. The same again goes on as before.
    pub(crate) fn set(&mut self, words: &str) {
        if self.words.as_deref() != Some(words) {
            self.words = Some(words.to_owned());
            self.since = Some(Instant::now());
        }
    }

    /// Nothing runs.
    pub(crate) fn clear(&mut self) {
        self.words = None;
    }

    /// Whether it has something to show.
    pub(crate) fn is_on(&self) -> bool {
        self.words.is_some()
    }

    /// What takes it off the screen; nothing if it is not there.
    pub(crate) fn wipe(&mut self) -> &'static str {
        if std::mem::take(&mut self.shown) { WIPE } else { "" }
    }

    /// The line as it is now.
    pub(crate) fn draw(&mut self, paint: Paint, width: usize) -> String {
        let (Some(words), Some(since)) = (&self.words, self.since) else { return String::new() };
        let frame = FRAMES[self.frame % FRAMES.len()];
        self.frame += 1;
        self.shown = true;
        let waited = since.elapsed();
        let time = if waited < TELLS_TIME_AFTER { String::new() } else { format!(" {}s", waited.as_secs()) };
        // The last column stays free: some terminals go on to the next line when it is written.
        let words = printable(words);
        let words = cut(&words, width.saturating_sub(3 + time.len()));
        format!("{WIPE}{} {words}{}", paint.text(CODE, frame.to_string()), paint.text(ASIDE, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_moves_tells_time_and_goes() {
        let mut live = Live::default();
        assert_eq!(live.wipe(), "");
        live.set("Read a.rs");
        assert_eq!(live.draw(Paint { color: false }, 80), "\r\u{1b}[K⠋ Read a.rs");
        tokio::time::advance(Duration::from_secs(3)).await;
        live.set("Read a.rs");
        assert_eq!(live.draw(Paint { color: false }, 80), "\r\u{1b}[K⠙ Read a.rs 3s");
        assert_eq!(live.draw(Paint { color: false }, 10), "\r\u{1b}[K⠹ Rea… 3s");
        assert_eq!(live.wipe(), "\r\u{1b}[K");
        assert_eq!(live.wipe(), "");
    }
}
