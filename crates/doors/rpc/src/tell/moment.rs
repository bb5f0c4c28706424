//! Points in time as text, and stretches of it as numbers.

use loggia_domain::Timestamp;
use loggia_protocol_autohand as wire;

/// Milliseconds in a day.
const DAY: i64 = 86_400_000;

/// A moment as ISO 8601 in UTC, with milliseconds.
pub(crate) fn moment(at: Timestamp) -> wire::Timestamp {
    let (days, rest) = (at.0.div_euclid(DAY), at.0.rem_euclid(DAY));
    let (year, month, day) = date(days);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, milliseconds) = (rest / 1000 % 60, rest % 1000);
    wire::Timestamp(format!(
        "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{milliseconds:03}Z"
    ))
}

/// Milliseconds from one moment to a later one; none if the clock went back.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}

/// Year, month and day of a day counted from 1970, by the civil calendar. Years begin in March here, so that the day
/// of a leap year comes last.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_with_milliseconds_in_utc() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_767_090_645_007, "2025-12-30T10:30:45.007Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(moment(Timestamp(milliseconds)).0, expected);
        }
    }

    #[test]
    fn a_clock_that_goes_back_makes_no_time() {
        assert_eq!(between(Timestamp(5), Timestamp(9)), 4);
        assert_eq!(between(Timestamp(9), Timestamp(5)), 0);
    }
}
