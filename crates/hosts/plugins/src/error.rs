//! How plugins fail, in words that name the plugin, the method and what the plugin said last.

use std::fmt;
use std::time::Duration;

use loggia_domain::GuestError;
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_mehrhof::codes;
use loggia_wire::child::SpawnError;

use crate::executable::ExecutableError;

/// As many of a plugin's last lines as fit under a message.
const SHOWN_LINES: usize = 5;

/// As much of each.
const SHOWN_CHARACTERS: usize = 300;

/// A plugin did not do what it was asked.
#[derive(Debug)]
pub struct PluginError {
    /// Which plugin.
    pub plugin: String,
    /// What it was asked.
    pub method: &'static str,
    /// What went wrong.
    pub fault: Fault,
    /// The last lines of its stderr, oldest first.
    pub stderr: Vec<String>,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Its workspace is not trusted.
    #[error("it is not trusted; `loggia trust` in its workspace lets it run")]
    Untrusted,
    /// It ended or hung too often.
    #[error(
        "it is not started any more after {ends} failures in a row, until `loggia plugin enable` turns it on again; the last: {last}"
    )]
    GivenUp {
        /// How often.
        ends: u32,
        /// What went wrong last.
        last: String,
    },
    /// There is nothing to start.
    #[error("it cannot be started: {0}")]
    Executable(#[source] ExecutableError),
    /// Starting it failed.
    #[error("it cannot be started: {0}")]
    NotStarted(#[source] SpawnError),
    /// It answered that it failed.
    #[error("it answered: {0}")]
    Answered(ErrorObject),
    /// It answered that it has no access.
    #[error("it has no access: {error}{}", wanted(variables))]
    NoAccess {
        /// What it answered.
        error: ErrorObject,
        /// The variables it reads.
        variables: Vec<String>,
    },
    /// It does not take what it was given.
    #[error("it refuses: {0}")]
    Refused(String),
    /// It said that it failed, in an answer that looks well.
    #[error("it failed: {0}")]
    Failed(String),
    /// It cannot do this at all.
    #[error("this is nothing it can do")]
    Unsupported,
    /// It did not answer in time, and was stopped.
    #[error("it did not answer within {} s and was stopped", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It ended.
    #[error("it ended with {0}")]
    Ended(String),
    /// It wrote a line that is too long, and was stopped.
    #[error("it wrote a line of more than {0} bytes and was stopped")]
    LineTooLong(u64),
    /// It wrote too much that is no message, and was stopped.
    #[error("it wrote more than {0} lines that are no messages and was stopped")]
    StrayLines(u64),
    /// It said more in one run than is kept, and was stopped.
    #[error("it said more than {0} bytes in one run and was stopped")]
    TooMuch(usize),
    /// Its answer is not what the method promises.
    #[error("its answer has the wrong shape: {0}")]
    WrongShape(String),
    /// What it should be told cannot be sent.
    #[error("it cannot be told: {0}")]
    NotSent(String),
    /// We are stopping.
    #[error("it is being stopped")]
    Stopping,
}

fn wanted(variables: &[String]) -> String {
    if variables.is_empty() {
        return String::new();
    }
    format!("; it reads {}", variables.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin `{}`, `{}`: {}", self.plugin, self.method, self.fault)?;
        if let Fault::Answered(ErrorObject { code: codes::VALIDATION_ERROR, data: Some(data), .. }) =
            &self.fault
        {
            write!(f, " {}", cut(&data.0.to_string()))?;
        }
        let shown = &self.stderr[self.stderr.len().saturating_sub(SHOWN_LINES)..];
        shown.iter().try_for_each(|line| write!(f, "\n  stderr: {}", cut(line)))
    }
}

impl std::error::Error for PluginError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.fault)
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl From<PluginError> for GuestError {
    fn from(error: PluginError) -> Self {
        let words = error.to_string();
        match error.fault {
            Fault::Unsupported => Self::Unsupported(words),
            Fault::Answered(ErrorObject { code: codes::NOT_FOUND, .. }) => Self::NotFound(words),
            Fault::Answered(ErrorObject { code: codes::VALIDATION_ERROR, .. }) | Fault::Refused(_) => {
                Self::Refused(words)
            }
            Fault::NoAccess { .. } => Self::NoAccess(words),
            Fault::Untrusted => Self::Untrusted(words),
            Fault::TimedOut(_) => Self::TimedOut(words),
            Fault::GivenUp { .. }
            | Fault::Executable(_)
            | Fault::NotStarted(_)
            | Fault::Ended(_)
            | Fault::LineTooLong(_)
            | Fault::StrayLines(_)
            | Fault::TooMuch(_)
            | Fault::Stopping => Self::Gone(words),
            Fault::Answered(_) | Fault::Failed(_) | Fault::WrongShape(_) | Fault::NotSent(_) => {
                Self::Failed(words)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_plugin_and_method_and_ends_with_the_last_lines() {
        let error = PluginError {
            plugin: "jira".to_owned(),
            method: "provider.fetch",
            fault: Fault::NoAccess {
                error: ErrorObject::new(-32003, "bad token"),
                variables: vec!["JIRA_TOKEN".to_owned()],
            },
            stderr: (0..9).map(|number| format!("line {number} {}", "x".repeat(400))).collect(),
        };
        let words = error.to_string();
        let mut lines = words.lines();
        assert_eq!(
            lines.next().unwrap(),
            "plugin `jira`, `provider.fetch`: it has no access: bad token (-32003); it reads `JIRA_TOKEN`"
        );
        let rest: Vec<&str> = lines.collect();
        assert_eq!(rest.len(), 5);
        assert!(rest[0].starts_with("  stderr: line 4 xxx") && rest[0].chars().count() == 311, "{}", rest[0]);
        assert!(matches!(GuestError::from(error), GuestError::NoAccess(_)));
    }
}
