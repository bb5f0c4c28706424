//! How much this client wants to be asked: its mode, a standing yes, planning only.
//!
//! Pure. It is the client's convenience and never the session's: it answers questions of turns that this client
//! began, in its name. What the policy forbids is never asked, so nothing here can allow it.

use std::time::Duration;

use loggia_domain::{Preset, Question};
use loggia_protocol_autohand::PermissionMode;
use tokio::time::Instant;

use crate::tell::names::tool_name;

/// How much a client wants to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvals {
    mode: PermissionMode,
    yolo: Option<Standing>,
    /// Whether only reading is allowed.
    plan: bool,
    /// Tools that are refused in every mode.
    denied: Vec<String>,
}

/// A standing yes, and when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    yolo: Yolo,
    until: Option<Instant>,
}

/// Which tools need no question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Yolo {
    /// All.
    All,
    /// Only these.
    Only(Vec<String>),
    /// All but these.
    AllBut(Vec<String>),
}

/// A pattern that says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no yolo pattern; give `allow:*`, `allow:tool,tool` or `deny:tool,tool`")]
pub struct YoloError {
    /// What was given.
    pub pattern: String,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// People are asked.
    Ask,
    /// It is allowed.
    Allow,
    /// It is refused, for this reason.
    Refuse(&'static str),
}

impl Default for Approvals {
    /// Everything is asked that the policy wants asked.
    fn default() -> Self {
        Self { mode: PermissionMode::Interactive, yolo: None, plan: false, denied: Vec::new() }
    }
}

impl Yolo {
    /// Reads a pattern; a bare flag has none.
    ///
    /// # Errors
    /// [`YoloError`] if it is none.
    pub fn parse(pattern: Option<&str>) -> Result<Self, YoloError> {
        let wrong = |pattern: &str| YoloError { pattern: pattern.to_owned() };
        let Some(pattern) = pattern.map(str::trim) else { return Ok(Self::All) };
        let names = |list: &str| -> Result<Vec<String>, YoloError> {
            let names: Vec<String> =
                list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
            if names.is_empty() { Err(wrong(pattern)) } else { Ok(names) }
        };
        match pattern.split_once(':') {
            Some(("allow", "*")) => Ok(Self::All),
            Some(("allow", list)) => Ok(Self::Only(names(list)?)),
            Some(("deny", list)) => Ok(Self::AllBut(names(list)?)),
            None if matches!(pattern, "true" | "*") => Ok(Self::All),
            _ => Err(wrong(pattern)),
        }
    }

    /// Whether a tool, by either of its names, needs no question.
    fn covers(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => is_listed(names, tool),
            Self::AllBut(names) => !is_listed(names, tool),
        }
    }
}

/// Whether a tool is named, by either of its names.
fn is_listed(names: &[String], tool: &str) -> bool {
    names.iter().any(|name| name == tool || name == tool_name(tool))
}

impl Approvals {
    /// With this mode. Gives nothing if nobody knows it.
    #[must_use]
    pub fn with_mode(mut self, mode: PermissionMode) -> Option<Self> {
        match mode {
            PermissionMode::Other(_) => return None,
            PermissionMode::Plan => self.plan = true,
            mode => self.mode = mode.modern(),
        }
        Some(self)
    }

    /// With a standing yes, for a while or for good; or without one.
    #[must_use]
    pub fn with_yolo(mut self, yolo: Option<Yolo>, lasts: Option<Duration>) -> Self {
        let until = lasts.map(|lasts| Instant::now() + lasts);
        self.yolo = yolo.map(|yolo| Standing { yolo, until });
        self
    }

    /// With tools that are refused in every mode.
    #[must_use]
    pub fn denying(mut self, tools: Vec<String>) -> Self {
        self.denied = tools;
        self
    }

    /// Without any standing yes, that of the mode included.
    pub(crate) fn interactive(mut self) -> Self {
        (self.mode, self.yolo) = (PermissionMode::Interactive, None);
        self
    }

    /// Planning only, or no longer.
    #[must_use]
    pub fn planning(mut self, plan: bool) -> Self {
        self.plan = plan;
        self
    }

    /// The mode in force, in today's word for it.
    pub(crate) fn mode(&self) -> PermissionMode {
        if self.plan { PermissionMode::Plan } else { self.mode.clone() }
    }

    pub(crate) fn is_planning(&self) -> bool {
        self.plan
    }

    /// Whether it only holds where the policy asks before it lets something be written or run.
    pub(crate) fn needs_questions(&self) -> bool {
        let refuses = matches!(self.mode, PermissionMode::Restricted | PermissionMode::DontAsk);
        self.plan || refuses || !self.denied.is_empty()
    }

    /// Whether it is in force under a preset.
    pub(crate) fn holds_under(&self, preset: Preset) -> bool {
        !self.needs_questions() || preset <= Preset::Ask
    }

    /// What becomes of a question about a tool.
    pub(crate) fn verdict(&self, tool: &str, question: &Question, now: Instant) -> Verdict {
        if self.plan {
            return Verdict::Refuse("only reading is allowed while planning");
        }
        if is_listed(&self.denied, tool) {
            return Verdict::Refuse("the client refuses this tool");
        }
        let standing = self.yolo.as_ref().filter(|yolo| yolo.until.is_none_or(|until| now < until));
        if standing.is_some_and(|standing| standing.yolo.covers(tool)) {
            return Verdict::Allow;
        }
        let edits = matches!(question, Question::Patches { .. });
        match self.mode {
            PermissionMode::Unrestricted | PermissionMode::Yolo => Verdict::Allow,
            PermissionMode::AcceptEdits | PermissionMode::Auto if edits => Verdict::Allow,
            PermissionMode::Restricted | PermissionMode::DontAsk => {
                Verdict::Refuse("the client's mode refuses what would be asked")
            }
            _ => Verdict::Ask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Question {
        Question::Command {
            command: "ls".to_owned(),
            directory: String::new(),
            environment: Vec::new(),
            reason: None,
        }
    }

    #[test]
    fn patterns_are_read_and_nonsense_is_refused() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(Yolo::parse(None), Ok(Yolo::All));
        assert_eq!(Yolo::parse(Some("allow:*")), Ok(Yolo::All));
        assert_eq!(Yolo::parse(Some("true")), Ok(Yolo::All));
        assert_eq!(Yolo::parse(Some("*")), Ok(Yolo::All));
        assert_eq!(Yolo::parse(Some("allow:a, b")), Ok(Yolo::Only(names(&["a", "b"]))));
        assert_eq!(Yolo::parse(Some("deny:a")), Ok(Yolo::AllBut(names(&["a"]))));
        for wrong in ["", "yes", "allow:", "deny: ,", "permit:a"] {
            assert!(Yolo::parse(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_standing_yes_ends_with_its_time() {
        let now = Instant::now();
        let approvals = Approvals::default()
            .with_yolo(Some(Yolo::Only(vec!["run_command".to_owned()])), Some(Duration::from_secs(60)));
        assert_eq!(approvals.verdict("run_command", &command(), now), Verdict::Allow);
        assert_eq!(approvals.verdict("write_file", &command(), now), Verdict::Ask);
        let later = now + Duration::from_secs(120);
        assert_eq!(approvals.verdict("run_command", &command(), later), Verdict::Ask);
    }

    #[test]
    fn tools_are_known_by_either_name() {
        let yolo = Yolo::Only(vec!["search_replace".to_owned()]);
        assert!(yolo.covers("edit_file"));
        assert!(!Yolo::AllBut(vec!["delete_file".to_owned()]).covers("delete_file"));
    }

    #[test]
    fn modes_answer_what_they_say() {
        let edits = Question::Patches { tool: "write_file".to_owned(), patches: Vec::new() };
        let with = |mode| Approvals::default().with_mode(mode).unwrap();
        let now = Instant::now();
        assert_eq!(with(PermissionMode::Default).verdict("run_command", &command(), now), Verdict::Ask);
        assert_eq!(
            with(PermissionMode::BypassPermissions).verdict("run_command", &command(), now),
            Verdict::Allow
        );
        assert_eq!(with(PermissionMode::AcceptEdits).verdict("write_file", &edits, now), Verdict::Allow);
        assert_eq!(with(PermissionMode::AcceptEdits).verdict("run_command", &command(), now), Verdict::Ask);
        for mode in [PermissionMode::Restricted, PermissionMode::Plan] {
            assert!(matches!(with(mode).verdict("write_file", &edits, now), Verdict::Refuse(_)));
        }
        assert_eq!(Approvals::default().with_mode(PermissionMode::Other("x".to_owned())), None);
    }

    #[test]
    fn what_a_client_refuses_is_refused_in_every_mode() {
        let denying = Approvals::default().denying(vec!["run_command".to_owned()]);
        let now = Instant::now();
        for approvals in [
            denying.clone(),
            denying.clone().with_mode(PermissionMode::Unrestricted).unwrap(),
            denying.clone().with_yolo(Some(Yolo::All), None),
            denying.clone().with_yolo(Some(Yolo::All), None).interactive(),
        ] {
            assert!(matches!(approvals.verdict("run_command", &command(), now), Verdict::Refuse(_)));
            assert!(approvals.needs_questions());
        }
        assert_eq!(denying.verdict("write_file", &command(), now), Verdict::Ask);
    }

    #[test]
    fn refusing_modes_hold_only_where_the_policy_asks() {
        let plan = Approvals::default().planning(true);
        assert!(plan.holds_under(Preset::Ask) && plan.holds_under(Preset::ReadOnly));
        assert!(!plan.holds_under(Preset::AutoEdit) && !plan.holds_under(Preset::Full));
        assert!(Approvals::default().holds_under(Preset::Full));
    }
}
