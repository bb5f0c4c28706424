//! Points in time as text, and stretches of it as numbers.

use loggia_domain::Timestamp;
use loggia_protocol_autohand as wire;

/// A moment as it is on the wire.
pub(crate) fn moment(at: Timestamp) -> wire::Timestamp {
    wire::Timestamp(at.to_string())
}

/// Milliseconds from one moment to a later one; none if the clock went back.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_makes_no_time() {
        assert_eq!(between(Timestamp(5), Timestamp(9)), 4);
        assert_eq!(between(Timestamp(9), Timestamp(5)), 0);
    }
}
