//! How far a build is, in one line.

use loggia_protocol_agent_server::{IndexStatus, IndexStep};

use crate::paint::{ASIDE, CODE, Paint, cut, grouped, printable, width_of};

/// How many columns the bar has at most.
const WIDEST: usize = 30;

/// A bar that is narrower tells nothing.
const NARROWEST: usize = 8;

/// What a build is doing, how much of it is done, how fast and how long still; with a bar where there is room for one.
pub(super) fn line(status: &IndexStatus, paint: Paint, width: usize) -> String {
    let (before, after) = (doing(status), how_far(status));
    // The last column stays free: some terminals go on to the next line when it is written.
    let width = width.saturating_sub(1);
    let room = width.saturating_sub(width_of(&before) + width_of(&after) + 4).min(WIDEST);
    if status.total == 0 || room < NARROWEST {
        return cut(&format!("{before}  {after}"), width).into_owned();
    }
    let part = u128::from(status.done.min(status.total)) * room as u128 / u128::from(status.total);
    let full = usize::try_from(part).unwrap_or(room);
    let bar = format!("{}{}", paint.text(CODE, "█".repeat(full)), paint.text(ASIDE, "░".repeat(room - full)));
    format!("{before}  {bar}  {after}")
}

/// The same without a bar, for a line that stays.
pub(super) fn words(status: &IndexStatus) -> String {
    format!("{}  {}", doing(status), how_far(status))
}

fn doing(status: &IndexStatus) -> String {
    match &status.step {
        None => "indexing".to_owned(),
        Some(IndexStep::Walking) => "indexing: looking for files".to_owned(),
        Some(IndexStep::Text) => "indexing: words".to_owned(),
        Some(IndexStep::Symbols) => "indexing: definitions".to_owned(),
        Some(IndexStep::Writing) => "indexing: writing".to_owned(),
        Some(IndexStep::Other(step)) => format!("indexing: {}", printable(step)),
    }
}

fn how_far(status: &IndexStatus) -> String {
    let mut text = match status.total {
        0 if status.done == 0 => String::new(),
        0 => format!("{} files", grouped(status.done)),
        total => format!("{} of {} files", grouped(status.done), grouped(total)),
    };
    let mut add = |more: String| {
        let between = if text.is_empty() { "" } else { "  " };
        text.push_str(&format!("{between}{more}"));
    };
    if status.paused == Some(true) {
        add("held up".to_owned());
        return text;
    }
    if let Some(rate) = status.per_second.filter(|rate| *rate >= 0.5) {
        add(format!("{}/s", grouped(whole(rate))));
    }
    // Of what is all but done, nobody needs to know how long it takes.
    if let Some(left) = status.seconds_left.filter(|left| *left >= 0.5 && left.is_finite()) {
        add(format!("{} left", lasting(whole(left))));
    }
    text
}

/// Seconds as people say them.
fn lasting(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A rate or a time, rounded. What is not a number is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, which is right")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
pub(super) mod tests {
    use loggia_protocol_agent_server::IndexState;

    use super::*;

    /// A status that has nothing to tell.
    pub(in crate::commands::index) fn status(state: IndexState) -> IndexStatus {
        IndexStatus {
            state,
            files: 0,
            symbols: 0,
            chunks: 0,
            bytes: 0,
            done: 0,
            total: 0,
            started_at: None,
            finished_at: None,
            last_error: None,
            step: None,
            per_second: None,
            seconds_left: None,
            paused: None,
            cancelled: None,
            skipped: None,
            notes: Vec::new(),
            vectors: None,
        }
    }

    fn building(step: IndexStep, done: u64, total: u64) -> IndexStatus {
        IndexStatus { step: Some(step), done, total, ..status(IndexState::Building) }
    }

    fn shown(status: &IndexStatus, width: usize) -> String {
        line(status, Paint { color: false }, width)
    }

    #[test]
    fn step_bar_rate_and_time_are_in_one_line() {
        let status = IndexStatus {
            per_second: Some(512.4),
            seconds_left: Some(81.6),
            ..building(IndexStep::Text, 1_400, 5_600)
        };
        assert_eq!(
            shown(&status, 80),
            "indexing: words  ████░░░░░░░░░░░░  1,400 of 5,600 files  512/s  1 min 22 s left"
        );
        assert_eq!(shown(&status, 60), "indexing: words  1,400 of 5,600 files  512/s  1 min 22 s l…");
        assert_eq!(shown(&status, 200).matches(['█', '░']).count(), WIDEST);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        assert_eq!(shown(&building(IndexStep::Walking, 0, 0), 80), "indexing: looking for files  ");
        assert_eq!(shown(&building(IndexStep::Walking, 12, 0), 80), "indexing: looking for files  12 files");
        let rushing = IndexStatus {
            per_second: Some(f64::NAN),
            seconds_left: Some(f64::INFINITY),
            ..building(IndexStep::Other("a\u{1b}b".to_owned()), 3, 0)
        };
        assert_eq!(shown(&rushing, 80), "indexing: a\\u{1b}b  3 files");
    }

    #[test]
    fn a_build_that_is_held_up_has_no_rate() {
        let status = IndexStatus {
            paused: Some(true),
            per_second: Some(9.0),
            seconds_left: Some(9.0),
            ..building(IndexStep::Symbols, 9, 9)
        };
        assert_eq!(words(&status), "indexing: definitions  9 of 9 files  held up");
    }

    #[test]
    fn times_are_told_as_people_say_them() {
        assert_eq!([59, 60, 3_725].map(lasting), ["59 s", "1 min 0 s", "1 h 2 min"]);
    }
}
