//! How important a line is, and where it says so itself.
//!
//! Servers of the Minecraft family begin their lines with brackets: `[12:00:00 WARN]: …`, or
//! `[12:00:00] [Server thread/WARN]: …`. Nothing else is looked at.

/// How many pairs of brackets a line may begin with: the time, then the thread.
const BRACKETS: usize = 2;

/// How far the brackets may reach. What is longer is text.
const REACH: usize = 120;

/// How important a line is, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Usual; nothing is added to the line.
    Info,
    /// Something to look at.
    Warn,
    /// Something is wrong.
    Error,
}

impl Level {
    /// Its name as lines have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }

    /// The level a line begins with, and where the rest of the line begins.
    pub(crate) fn at_start_of(line: &str) -> Option<(Self, usize)> {
        let mut at = 0;
        for _ in 0..BRACKETS {
            let inside = line[at..].strip_prefix('[')?;
            let length = inside.find(']').filter(|length| at + length < REACH)?;
            at += length + 2;
            if let Some(level) = inside[..length].rsplit([' ', '/']).next().and_then(Self::named) {
                return Some((level, at + usize::from(line[at..].starts_with(':'))));
            }
            at += usize::from(line[at..].starts_with(" ["));
        }
        None
    }

    fn named(word: &str) -> Option<Self> {
        match word {
            "TRACE" | "DEBUG" | "INFO" => Some(Self::Info),
            "WARN" | "WARNING" => Some(Self::Warn),
            "ERROR" | "SEVERE" | "FATAL" => Some(Self::Error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn brackets_at_the_start_tell_the_level() {
        let of = |line| Level::at_start_of(line).map(|(level, at)| (level, &line[at..]));
        assert_eq!(of("[12:00:00 WARN]: Can't keep up!"), Some((Level::Warn, " Can't keep up!")));
        assert_eq!(of("[12:00:00] [Server thread/ERROR]: no"), Some((Level::Error, " no")));
        assert_eq!(of("[12:00:00] [main/INFO] [mod]: yes"), Some((Level::Info, " [mod]: yes")));
        assert_eq!(of("[WARN]: x"), Some((Level::Warn, " x")));
        assert_eq!(of("[FATAL"), None);
        assert_eq!(of("[see the WARNINGS] x"), None);
        assert_eq!(of("WARN: x"), None);
        assert_eq!(of("say [12:00:00 WARN]: x"), None);
        assert_eq!(of(""), None);
    }

    proptest! {
        #[test]
        fn the_rest_of_any_line_begins_between_two_characters(line in "[\\[\\] /:WARNé]{0,30}") {
            if let Some((_, at)) = Level::at_start_of(&line) {
                prop_assert!(line.is_char_boundary(at));
            }
        }
    }
}
