//! What came of a conformance run, for people and for programs.
//!
//! Invariant: rendering is pure, and what an extension said is cut before it is kept.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use crate::entry::ExtensionEntry;

/// What came of a conformance run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What the extension calls itself, or what it is started with if it did not say.
    pub extension: String,
    /// Its version, if it said that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What is started.
    pub command: Vec<String>,
    /// What was looked at, in order.
    pub cases: Vec<Case>,
    /// The last lines that it wrote to stderr.
    pub stderr: Vec<String>,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// What.
    pub name: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How long the extension took, in milliseconds.
    pub took_ms: u64,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Passed,
    /// Not as the protocol says, but hosts put up with it.
    Noted {
        /// What should have come.
        expected: String,
        /// What came.
        came: String,
    },
    /// Hosts cannot work with this.
    Failed {
        /// What should have come.
        expected: String,
        /// What came.
        came: String,
    },
    /// Not looked at.
    Skipped {
        /// Why.
        reason: String,
    },
}

impl Report {
    pub(super) fn new(entry: &ExtensionEntry) -> Self {
        let command = entry.shown_command();
        Self { extension: command.join(" "), version: None, command, cases: Vec::new(), stderr: Vec::new() }
    }

    pub(super) fn is_of(&mut self, name: &str, version: &str) {
        (self.extension, self.version) = (name.to_owned(), Some(version.to_owned()));
    }

    pub(super) fn tell(&mut self, name: impl Into<String>, took: Duration, outcome: Outcome) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.cases.push(Case { name: name.into(), outcome, took_ms });
    }

    /// Whether hosts can work with it.
    pub fn has_passed(&self) -> bool {
        self.count("failed") == 0
    }

    /// How many cases came out so: `passed`, `noted`, `failed` or `skipped`.
    pub fn count(&self, word: &str) -> usize {
        self.cases.iter().filter(|case| case.outcome.word() == word).count()
    }

    /// The report as people read it. What the extension said is in it as it is.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let version = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "extension `{}`{version}, started with `{}`\n",
            self.extension,
            self.command.join(" ")
        );
        for case in &self.cases {
            case.render(&mut text);
        }
        if !self.has_passed() && !self.stderr.is_empty() {
            text.push_str("\nthe last of its stderr:\n");
            for line in &self.stderr {
                let _ = writeln!(text, "  {line}");
            }
        }
        let _ = write!(
            text,
            "\n{} passed, {} noted, {} skipped, {} failed",
            self.count("passed"),
            self.count("noted"),
            self.count("skipped"),
            self.count("failed")
        );
        text
    }
}

impl Case {
    fn render(&self, text: &mut String) {
        let word = match &self.outcome {
            Outcome::Passed => "ok",
            Outcome::Noted { .. } => "note",
            Outcome::Failed { .. } => "FAILED",
            Outcome::Skipped { .. } => "skipped",
        };
        let _ = write!(text, "  {word:<8} {}", self.name);
        match &self.outcome {
            Outcome::Passed if self.took_ms == 0 => {}
            Outcome::Passed => {
                let _ = write!(text, " ({} ms)", self.took_ms);
            }
            Outcome::Skipped { reason } => {
                let _ = write!(text, ": {reason}");
            }
            Outcome::Noted { expected, came } | Outcome::Failed { expected, came } => {
                let _ = write!(text, "\n           expected  {expected}\n           came      {came}");
            }
        }
        text.push('\n');
    }
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Noted { .. } => "noted",
            Self::Failed { .. } => "failed",
            Self::Skipped { .. } => "skipped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::new(&ExtensionEntry::new("python3 lab.py"));
        report.is_of("Lab", "1.0.0");
        report.tell("command line", Duration::ZERO, Outcome::Passed);
        report.tell("initialize", Duration::from_millis(84), Outcome::Passed);
        let (expected, came) = ("its end".to_owned(), "it is still there after 2 s".to_owned());
        report.tell("the end of its input", Duration::ZERO, Outcome::Noted { expected, came });
        report.tell("broken bodies", Duration::ZERO, Outcome::Skipped { reason: "not asked for".to_owned() });
        report
    }

    #[test]
    fn a_report_reads_like_a_test_suite() {
        let expected = "\
extension `Lab` 1.0.0, started with `python3 lab.py`

  ok       command line
  ok       initialize (84 ms)
  note     the end of its input
           expected  its end
           came      it is still there after 2 s
  skipped  broken bodies: not asked for

2 passed, 1 noted, 1 skipped, 0 failed";
        assert_eq!(report().render(), expected);
        assert!(report().has_passed());
    }

    #[test]
    fn a_failure_comes_with_what_the_extension_said_last() {
        let mut report = report();
        let (expected, came) = ("rest".to_owned(), "its end with status 3".to_owned());
        report.tell("command `go`", Duration::from_millis(7), Outcome::Failed { expected, came });
        report.stderr = vec!["dying".to_owned()];
        assert!(!report.has_passed());
        let text = report.render();
        let end = "  FAILED   command `go`\n           expected  rest\n           came      its end with status 3\n\
                   \nthe last of its stderr:\n  dying\n\n2 passed, 1 noted, 1 skipped, 1 failed";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn programs_get_the_same_as_json() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!((&json["extension"], &json["version"]), (&"Lab".into(), &"1.0.0".into()));
        assert_eq!(json["cases"][1].to_string(), r#"{"name":"initialize","outcome":"passed","took_ms":84}"#);
        assert_eq!(json["cases"][3]["reason"], "not asked for");
    }
}
