//! What waits to be written to one client.
//!
//! Knows an order and a bound; refuses to know messages, locks and streams. Logs and replies leave in the order in which
//! they came. Invariants: at most [`Queue::log_limit`] bytes of logs wait, the newest event excepted; dropped are the
//! oldest, and the gap is told where it is; replies are never dropped; at most one status waits, the latest.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::limits::FRAME_COST;

/// A queue of frames.
#[derive(Debug)]
pub(crate) struct Queue {
    log_limit: usize,
    replies: VecDeque<Reply>,
    logs: VecDeque<LogFrame>,
    next: u64,
    reply_bytes: usize,
    log_bytes: usize,
    /// Lines that were dropped since a log was taken.
    skipped: u64,
    dropped: bool,
    /// The log taken last did not end its line.
    mid_line: bool,
    /// Logs wait until what came before them is known.
    held: bool,
}

/// What leaves a queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outgoing {
    /// A frame.
    Frame(Bytes),
    /// Logs are missing here.
    Gap {
        /// So many lines; at least one.
        lines: u64,
        /// The log before the gap did not end its line.
        mid_line: bool,
    },
}

/// A piece of a log event as a frame.
#[derive(Debug, Clone)]
pub(crate) struct LogPiece {
    /// The frame.
    pub(crate) frame: Bytes,
    /// How many lines end in it.
    pub(crate) lines: u64,
    /// Whether its last line ends in it.
    pub(crate) ends_line: bool,
}

#[derive(Debug)]
struct Reply {
    number: u64,
    frame: Bytes,
    is_status: bool,
}

#[derive(Debug)]
struct LogFrame {
    number: u64,
    piece: LogPiece,
}

impl Queue {
    pub(crate) fn new(log_limit: usize) -> Self {
        Self {
            log_limit,
            replies: VecDeque::new(),
            logs: VecDeque::new(),
            next: 0,
            reply_bytes: 0,
            log_bytes: 0,
            skipped: 0,
            dropped: false,
            mid_line: false,
            held: false,
        }
    }

    /// Adds what must arrive.
    pub(crate) fn push_reply(&mut self, frame: Bytes) {
        self.add_reply(frame, false);
    }

    /// Adds a status; one that still waits is out of date.
    pub(crate) fn push_status(&mut self, frame: Bytes) {
        if let Some(at) = self.replies.iter().position(|reply| reply.is_status)
            && let Some(old) = self.replies.remove(at)
        {
            self.reply_bytes -= cost(&old.frame);
        }
        self.add_reply(frame, true);
    }

    /// Adds the pieces of one log event.
    pub(crate) fn push_log(&mut self, pieces: &[LogPiece]) {
        for piece in pieces {
            self.log_bytes += cost(&piece.frame);
            self.logs.push_back(LogFrame { number: self.next, piece: piece.clone() });
            self.next += 1;
        }
        self.drop_oldest(pieces.len());
    }

    /// Lets no log out until [`Self::release`].
    pub(crate) fn hold(&mut self) {
        self.held = true;
    }

    /// Puts logs before all that wait, and lets them out.
    pub(crate) fn release(&mut self, earlier: Vec<LogPiece>) {
        self.held = false;
        let number = self.logs.front().map_or(self.next, |log| log.number);
        for piece in earlier.into_iter().rev() {
            self.log_bytes += cost(&piece.frame);
            self.logs.push_front(LogFrame { number, piece });
        }
        self.next = self.next.max(number + 1);
        self.drop_oldest(1);
    }

    /// What to write next.
    pub(crate) fn pop(&mut self) -> Option<Outgoing> {
        let log = self.logs.front().filter(|_| !self.held).map(|log| log.number);
        let reply = self.replies.front().map(|reply| reply.number);
        match (reply, log) {
            (Some(reply), log) if log.is_none_or(|log| reply < log) => self.pop_reply(),
            (_, Some(_)) => self.pop_log(),
            _ => None,
        }
    }

    /// Bytes of replies that wait.
    pub(crate) fn reply_bytes(&self) -> usize {
        self.reply_bytes
    }

    /// Bytes of logs that wait.
    pub(crate) fn log_bytes(&self) -> usize {
        self.log_bytes
    }

    fn add_reply(&mut self, frame: Bytes, is_status: bool) {
        self.reply_bytes += cost(&frame);
        self.replies.push_back(Reply { number: self.next, frame, is_status });
        self.next += 1;
    }

    /// Drops logs until they are within the bound, except for that many of the newest.
    fn drop_oldest(&mut self, keep: usize) {
        while self.log_bytes > self.log_limit && self.logs.len() > keep {
            let Some(oldest) = self.logs.pop_front() else { break };
            self.log_bytes -= cost(&oldest.piece.frame);
            self.skipped += oldest.piece.lines;
            self.dropped = true;
        }
    }

    fn pop_reply(&mut self) -> Option<Outgoing> {
        let reply = self.replies.pop_front()?;
        self.reply_bytes -= cost(&reply.frame);
        Some(Outgoing::Frame(reply.frame))
    }

    fn pop_log(&mut self) -> Option<Outgoing> {
        if self.dropped {
            self.dropped = false;
            let gap = Outgoing::Gap { lines: self.skipped.max(1), mid_line: self.mid_line };
            self.skipped = 0;
            self.mid_line = false;
            return Some(gap);
        }
        let log = self.logs.pop_front()?;
        self.log_bytes -= cost(&log.piece.frame);
        self.mid_line = !log.piece.ends_line;
        Some(Outgoing::Frame(log.piece.frame))
    }
}

fn cost(frame: &Bytes) -> usize {
    frame.len() + FRAME_COST
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for three logs of ten bytes.
    const LIMIT: usize = 3 * (10 + FRAME_COST);

    fn piece(text: &str) -> LogPiece {
        let frame = Bytes::from(format!("{text:10}").replace('\n', "/"));
        LogPiece { frame, lines: text.matches('\n').count() as u64, ends_line: text.ends_with('\n') }
    }

    fn drain(queue: &mut Queue) -> String {
        let show = |out| match out {
            Outgoing::Frame(frame) => String::from_utf8(frame.to_vec()).unwrap().trim_end().to_owned(),
            Outgoing::Gap { lines, mid_line } => format!("({lines}{})", if mid_line { " mid" } else { "" }),
        };
        std::iter::from_fn(|| queue.pop()).map(show).collect::<Vec<_>>().join(" ")
    }

    fn log(queue: &mut Queue, text: &str) {
        queue.push_log(&[piece(text)]);
    }

    fn reply(queue: &mut Queue, text: &str) {
        queue.push_reply(Bytes::from(text.to_owned()));
    }

    #[test]
    fn replies_and_logs_leave_in_the_order_they_came() {
        let mut queue = Queue::new(LIMIT);
        log(&mut queue, "a\n");
        reply(&mut queue, "1");
        log(&mut queue, "b\n");
        reply(&mut queue, "2");
        assert_eq!(drain(&mut queue), "a/ 1 b/ 2");
        assert_eq!((queue.reply_bytes(), queue.log_bytes()), (0, 0));
    }

    #[test]
    fn the_oldest_logs_are_dropped_and_the_gap_is_told_where_it_is() {
        let mut queue = Queue::new(LIMIT);
        for text in ["a\n", "b\nb\n", "c\n", "d\n", "e\n"] {
            log(&mut queue, text);
        }
        assert!(queue.log_bytes() <= LIMIT);
        assert_eq!(drain(&mut queue), "(3) c/ d/ e/");
        log(&mut queue, "f\n");
        assert_eq!(drain(&mut queue), "f/");
    }

    #[test]
    fn replies_are_never_dropped() {
        let mut queue = Queue::new(LIMIT);
        for number in 0..100 {
            reply(&mut queue, &number.to_string());
            log(&mut queue, "log\n");
        }
        let out = drain(&mut queue);
        for number in 0..100 {
            assert!(out.split(' ').any(|word| word == number.to_string()), "{number} is missing");
        }
        assert_eq!(out.matches("log/").count(), 3);
        assert!(out.contains("(97)"));
    }

    #[test]
    fn a_gap_in_the_middle_of_a_line_is_told_as_such() {
        let mut queue = Queue::new(LIMIT);
        log(&mut queue, "begin");
        assert_eq!(drain(&mut queue), "begin");
        for text in ["end\n", "b\n", "c\n", "d\n"] {
            log(&mut queue, text);
        }
        assert_eq!(drain(&mut queue), "(1 mid) b/ c/ d/");
    }

    #[test]
    fn an_event_over_the_bound_is_kept_whole_and_pushes_all_others_out() {
        let mut queue = Queue::new(LIMIT);
        log(&mut queue, "a\n");
        queue.push_log(&["1", "2", "3", "4\n"].map(piece));
        assert_eq!(drain(&mut queue), "(1) 1 2 3 4/");
    }

    #[test]
    fn only_the_latest_status_waits() {
        let mut queue = Queue::new(LIMIT);
        for number in 0..1000 {
            queue.push_status(Bytes::from(number.to_string()));
        }
        reply(&mut queue, "reply");
        assert_eq!(drain(&mut queue), "999 reply");
        assert_eq!(queue.reply_bytes(), 0);
    }

    #[test]
    fn earlier_logs_come_before_live_ones_and_are_dropped_first() {
        let mut queue = Queue::new(LIMIT);
        queue.hold();
        log(&mut queue, "live\n");
        reply(&mut queue, "1");
        assert_eq!(drain(&mut queue), "1");
        queue.release(["a\n", "b\n", "c\n"].map(piece).into());
        assert_eq!(drain(&mut queue), "(1) b/ c/ live/");
        log(&mut queue, "d\n");
        assert_eq!(drain(&mut queue), "d/");
    }

    #[test]
    fn earlier_logs_alone_are_bounded_as_well() {
        let mut queue = Queue::new(LIMIT);
        queue.hold();
        queue.release(["a\n", "b\n", "c\n", "d\n", "e\n"].map(piece).into());
        reply(&mut queue, "1");
        assert!(queue.log_bytes() <= LIMIT);
        assert_eq!(drain(&mut queue), "(2) c/ d/ e/ 1");
    }
}
