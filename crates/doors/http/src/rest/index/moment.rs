//! Whether a text is a moment.

/// What a moment looks like, for those who sent something else.
pub(super) const MOMENT: &str = "must be a moment as RFC 3339 has it, like `2025-12-30T10:35:12Z`";

/// Whether a text is a date and a time with its distance from UTC, as RFC 3339 has them.
pub(super) fn is_moment(text: &str) -> bool {
    // The parts before the fraction and the zone stand at fixed places.
    let Some((head, tail)) = text.split_at_checked(19) else { return false };
    let plain = head.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        10 => matches!(byte, b'T' | b't' | b' '),
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let number = |from: usize, to: usize| head.get(from..to).and_then(|digits| digits.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (number(11, 13), number(14, 16), number(17, 19)) else {
        return false;
    };
    // A second of 60 is a leap second.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    plain && is_time && (1..=days(year, month)).contains(&day) && is_zone(without_fraction(tail))
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap),
        1..=12 => 31,
        _ => 0,
    }
}

/// What follows the fraction of a second; all of it if there is none, or none with a digit in it.
fn without_fraction(tail: &str) -> &str {
    let Some(fraction) = tail.strip_prefix('.') else { return tail };
    let rest = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
    if rest.len() == fraction.len() { tail } else { rest }
}

fn is_zone(zone: &str) -> bool {
    if zone.eq_ignore_ascii_case("z") {
        return true;
    }
    let Some(away) = zone.strip_prefix(['+', '-']) else { return false };
    let two = |text: &str, most: u32| {
        text.len() == 2
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|number| number <= most)
    };
    away.split_once(':').is_some_and(|(hours, minutes)| two(hours, 23) && two(minutes, 59))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dates_with_times_and_zones_are_moments() {
        for text in [
            "2025-12-30T10:35:12Z",
            "2025-12-30t10:35:12.123456z",
            "2024-02-29 23:59:60+05:30",
            "2025-12-30T10:35:12-00:00",
        ] {
            assert!(is_moment(text), "{text}");
        }
        for text in [
            "",
            "AAA",
            "2025-12-30",
            "2025-12-30T10:35:12",
            "2025-02-29T10:35:12Z",
            "2025-13-01T10:35:12Z",
            "2025-00-01T10:35:12Z",
            "2025-12-30T24:00:00Z",
            "2025-12-30T10:35:12.Z",
            "2025-12-30T10:35:12+5:30",
            "2025-12-30T10:35:12+05:60",
            "2025-12-30T+1:35:12Z",
            "é025-12-30T10:35:12Z",
            "2025-12-30T10:35:1éZ",
        ] {
            assert!(!is_moment(text), "{text}");
        }
    }
}
