//! Ids as people see and type them.
//!
//! Ids begin with the time, so that those of one day begin alike. What is shown of them is their end, which is
//! different in each; what is typed may be the whole, its beginning or its end.

/// Digits that are shown: enough to tell a few hundred apart.
const SHOWN: usize = 6;

/// Digits without which a beginning or an end is a slip rather than a name.
const LEAST: usize = 4;

/// Which of several is meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant<T> {
    One(T),
    None,
    Several(usize),
    /// What was typed is too short to mean one.
    TooShort,
}

/// The end of an id.
pub(crate) fn short(id: &impl ToString) -> String {
    let id = id.to_string();
    id[id.len().saturating_sub(SHOWN)..].to_owned()
}

/// Whether an id is meant by what was typed.
pub(crate) fn is_meant(id: &str, typed: &str) -> bool {
    let digits = id.split_once('_').map_or(id, |(_, digits)| digits);
    id == typed || id.starts_with(typed) || digits.starts_with(typed) || digits.ends_with(typed)
}

/// The one that is meant.
pub(crate) fn meant<T: ToString>(typed: &str, known: impl IntoIterator<Item = T>) -> Meant<T> {
    let typed = typed.trim().trim_start_matches('…').to_ascii_lowercase();
    if typed.split_once('_').map_or(typed.as_str(), |(_, digits)| digits).len() < LEAST {
        return Meant::TooShort;
    }
    let mut found = known.into_iter().filter(|id| is_meant(&id.to_string(), &typed));
    match (found.next(), found.count()) {
        (None, _) => Meant::None,
        (Some(one), 0) => Meant::One(one),
        (Some(_), more) => Meant::Several(more + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f";
    const OTHER: &str = "ses_0192f7c0a1b27c3d8e4f5a6b7c8d0000";

    #[test]
    fn an_id_is_meant_by_its_whole_its_beginning_or_its_end() {
        let meant = |typed: &str| meant(typed, [ONE, OTHER]);
        assert_eq!(meant(ONE), Meant::One(ONE));
        assert_eq!(meant("8d9e0f"), Meant::One(ONE));
        assert_eq!(meant("8D9E0F"), Meant::One(ONE));
        assert_eq!(meant(&short(&OTHER)), Meant::One(OTHER));
        assert_eq!(meant("ses_0192f7"), Meant::Several(2));
        assert_eq!(meant("0192"), Meant::Several(2));
        assert_eq!(meant("beef"), Meant::None);
        assert_eq!(meant("9e0"), Meant::TooShort);
        assert_eq!(meant("ses_"), Meant::TooShort);
    }
}
