//! What was looked at, how it is, and what to do: plain facts for whoever shows them.

/// One thing that was looked at. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in a word or two.
    pub about: String,
    /// How it is.
    pub level: FindingLevel,
    /// In words.
    pub message: String,
    /// What to do, if something is to be done.
    pub hint: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingLevel {
    /// It works.
    Ok,
    /// Nothing is set up, which is no fault.
    Absent,
    /// It works in part, or not as well as it could.
    Warning,
    /// It does not work.
    Error,
}

impl Finding {
    /// Something that works.
    pub fn ok(about: &str, message: impl Into<String>) -> Self {
        Self { about: about.to_owned(), level: FindingLevel::Ok, message: message.into(), hint: None }
    }

    /// Something about which something can be done.
    pub fn of(about: &str, level: FindingLevel, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { about: about.to_owned(), level, message: message.into(), hint: Some(hint.into()) }
    }
}
