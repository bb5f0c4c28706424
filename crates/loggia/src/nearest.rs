//! "Did you mean…": the known name nearest to one that is not known.

/// Below this likeness (1 is equal) a suggestion would be a guess.
const WHOLE_LIKENESS: f64 = 0.7;
/// The same for the last part of a dotted name, by a measure that values equal beginnings.
const PART_LIKENESS: f64 = 0.78;

/// The nearest of the known names, if one is near enough.
///
/// A name is compared as a whole and, with dotted names, by its last part: `addr` finds `server.addr`.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .filter_map(|candidate| Some((likeness(name, candidate)?, candidate)))
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

/// How near a name is, if near enough.
fn likeness(name: &str, candidate: &str) -> Option<f64> {
    let whole = strsim::normalized_damerau_levenshtein(name, candidate);
    let part = candidate.rsplit_once('.').map_or(0.0, |(_, candidate)| {
        strsim::jaro_winkler(name.rsplit('.').next().unwrap_or_default(), candidate)
    });
    let is_near = whole >= WHOLE_LIKENESS || part >= PART_LIKENESS;
    // The sum lets the section decide between equal last parts; a name without parts is its own last one.
    let sum = if candidate.contains('.') { whole + part } else { whole * 2.0 };
    is_near.then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] =
        ["server.addr", "log.level", "policy.preset", "sandbox.required", "LOGGIA_MODEL"];

    #[test]
    fn near_names_are_suggested() {
        for (name, expected) in [
            ("server.adr", Some("server.addr")),
            ("sevrer.addr", Some("server.addr")),
            ("addr", Some("server.addr")),
            ("server.adress", Some("server.addr")),
            ("server.zzz", None),
            ("LOGGIA_XYZZY", None),
            ("logging.level", Some("log.level")),
            ("policy.presets", Some("policy.preset")),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, KNOWN), expected, "for {name}");
        }
    }
}
