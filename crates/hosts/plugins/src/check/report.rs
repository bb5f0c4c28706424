//! What came of a conformance run, for people and for programs.
//!
//! Invariant: rendering is pure, and what a plugin said is cut before it is kept.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::manifest::Manifest;

/// What came of a conformance run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The plugin's name, or its directory's if nobody can read its manifest.
    pub plugin: String,
    /// `provider`, `agent` or `workflow`, if that is known.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")] // As manifests have it.
    pub kind: Option<&'static str>,
    /// Where it lies.
    pub directory: PathBuf,
    /// What was looked at, in order.
    pub cases: Vec<Case>,
    /// How many lines it wrote to stderr.
    pub stderr_lines: u64,
    /// The last of them.
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
    /// How long the plugin took, in milliseconds.
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
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            plugin: directory.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            kind: None,
            directory: directory.to_owned(),
            cases: Vec::new(),
            stderr_lines: 0,
            stderr: Vec::new(),
        }
    }

    pub(super) fn is_of(&mut self, manifest: &Manifest) {
        self.plugin.clone_from(&manifest.name);
        self.kind = Some(manifest.kind().name());
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

    /// The report as people read it. What the plugin said is in it as it is.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let kind = self.kind.map(|kind| format!(", {kind}")).unwrap_or_default();
        let _ = writeln!(text, "plugin `{}`{kind}, in {}\n", self.plugin, self.directory.display());
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
        let mut report = Report::new(Path::new("/plugins/shop"));
        report.kind = Some("provider");
        report.tell("manifest", Duration::ZERO, Outcome::Passed);
        report.tell("provider.init", Duration::from_millis(84), Outcome::Passed);
        let (expected, came) = ("a `pong`".to_owned(), "nothing within 5 s".to_owned());
        report.tell("ping", Duration::ZERO, Outcome::Noted { expected, came });
        report.tell(
            "provider.list",
            Duration::ZERO,
            Outcome::Skipped { reason: "it is not declared".to_owned() },
        );
        report
    }

    #[test]
    fn a_report_reads_like_a_test_suite() {
        let expected = "\
plugin `shop`, provider, in /plugins/shop

  ok       manifest
  ok       provider.init (84 ms)
  note     ping
           expected  a `pong`
           came      nothing within 5 s
  skipped  provider.list: it is not declared

2 passed, 1 noted, 1 skipped, 0 failed";
        assert_eq!(report().render(), expected);
        assert!(report().has_passed());
    }

    #[test]
    fn a_failure_comes_with_what_the_plugin_said_last() {
        let mut report = report();
        let (expected, came) = ("a task".to_owned(), "its end with status 3".to_owned());
        report.tell("provider.fetch", Duration::from_millis(7), Outcome::Failed { expected, came });
        report.stderr = vec!["dying".to_owned()];
        assert!(!report.has_passed());
        let text = report.render();
        let end = "  FAILED   provider.fetch\n           expected  a task\n           came      its end with status 3\n\
                   \nthe last of its stderr:\n  dying\n\n2 passed, 1 noted, 1 skipped, 1 failed";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn programs_get_the_same_as_json() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!(json["type"], "provider");
        assert_eq!(
            json["cases"][1].to_string(),
            r#"{"name":"provider.init","outcome":"passed","took_ms":84}"#
        );
        assert_eq!(json["cases"][3]["reason"], "it is not declared");
    }
}
