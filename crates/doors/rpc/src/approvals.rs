//! How much this client wants to be asked: its mode, a standing yes, planning only.
//!
//! Pure. It is the client's convenience and never the session's: it answers questions of turns that this client
//! began, in its name. What the policy forbids is never asked, so nothing here can allow it. What the client refuses
//! for good goes with each of its prompts, so that it holds where the policy would not ask.

use std::time::Duration;

use loggia_domain::{Question, Restraint};
use loggia_protocol_autohand::PermissionMode;
use tokio::time::Instant;

use crate::tell::names::{engine_name, tool_name};

/// How much a client wants to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvals {
    mode: PermissionMode,
    yolo: Option<Standing>,
    /// Whether only reading is allowed besides, until the client says that planning is over. Other modes do not end it.
    plan: bool,
    /// Whether only reading is allowed, whatever the client says later.
    reading_only: bool,
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
        Self {
            mode: PermissionMode::Interactive,
            yolo: None,
            plan: false,
            reading_only: false,
            denied: Vec::new(),
        }
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
    /// With this mode. Gives nothing if nobody knows it, or if it would promise more than reading to whoever reads only.
    #[must_use]
    pub fn with_mode(mut self, mode: PermissionMode) -> Option<Self> {
        let only_reads = matches!(mode, PermissionMode::Restricted | PermissionMode::Plan);
        if matches!(mode, PermissionMode::Other(_)) || (self.reading_only && !only_reads) {
            return None;
        }
        self.mode = mode.modern();
        Some(self)
    }

    /// With a standing yes, for a while or for good; or without one.
    #[must_use]
    pub fn with_yolo(mut self, yolo: Option<Yolo>, lasts: Option<Duration>) -> Self {
        // A time that no clock reaches is no end.
        let until = lasts.and_then(|lasts| Instant::now().checked_add(lasts));
        self.yolo = yolo.map(|yolo| Standing { yolo, until });
        self
    }

    /// With tools that are refused in every mode.
    #[must_use]
    pub fn denying(mut self, tools: Vec<String>) -> Self {
        self.denied = tools;
        self
    }

    /// For reading only, in every mode.
    #[must_use]
    pub fn reading_only(mut self) -> Self {
        self.reading_only = true;
        self
    }

    /// Without any standing yes, that of the mode included. Planning goes on.
    pub(crate) fn interactive(mut self) -> Self {
        self.yolo = None;
        if self.mode != PermissionMode::Plan {
            self.mode = PermissionMode::Interactive;
        }
        self
    }

    /// Planning only, or no longer, by whichever word it began.
    #[must_use]
    pub fn planning(mut self, plan: bool) -> Self {
        self.plan = plan;
        if !plan && self.mode == PermissionMode::Plan {
            self.mode = PermissionMode::Interactive;
        }
        self
    }

    /// The mode in force, in today's word for it.
    pub(crate) fn mode(&self) -> PermissionMode {
        let only_reads = self.reading_only && self.mode != PermissionMode::Plan;
        if only_reads { PermissionMode::Restricted } else { self.mode.clone() }
    }

    /// Whether the client plans, by whichever word it said so.
    fn is_planning(&self) -> bool {
        self.plan || self.mode == PermissionMode::Plan
    }

    /// What the turns of this client are held to, whatever the policy allows.
    pub(crate) fn restraint(&self) -> Restraint {
        let reading_only = self.is_planning() || self.reading_only || self.mode == PermissionMode::Restricted;
        let without = self.denied.iter().map(|name| engine_name(name).to_owned()).collect();
        Restraint { reading_only, without }
    }

    /// What becomes of a question about a tool.
    pub(crate) fn verdict(&self, tool: &str, question: &Question, now: Instant) -> Verdict {
        if self.is_planning() || self.reading_only {
            return Verdict::Refuse("the client allows reading only");
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

    /// More seconds than a clock has room for are no accident: whoever sends them means for good.
    #[test]
    fn a_standing_yes_may_have_any_time() {
        let approvals = Approvals::default().with_yolo(Some(Yolo::All), Some(Duration::from_secs(u64::MAX)));
        assert_eq!(approvals.verdict("run_command", &command(), Instant::now()), Verdict::Allow);
    }

    /// Planning and how much is asked are two things: no mode that is set meanwhile, and no standing yes, ends it.
    #[test]
    fn planning_ends_only_by_its_own_word() {
        let is_planning = |approvals: &Approvals| approvals.restraint().reading_only;
        let planning = Approvals::default().planning(true);
        for mode in [PermissionMode::Unrestricted, PermissionMode::AcceptEdits, PermissionMode::Interactive] {
            let set = planning.clone().with_mode(mode.clone()).unwrap();
            assert!(is_planning(&set) && set.mode() == mode, "{mode:?}");
            assert!(!is_planning(&set.planning(false)), "{mode:?}");
        }
        // The mode of that name is a mode like any other.
        let planning = Approvals::default().with_mode(PermissionMode::Plan).unwrap();
        assert!(is_planning(&planning.clone().interactive()));
        assert!(!is_planning(&planning.clone().planning(false)));
        assert!(!is_planning(&planning.with_mode(PermissionMode::Interactive).unwrap()));
    }

    /// What holds whatever the client says is not told to have been lifted.
    #[test]
    fn whoever_reads_only_is_given_no_freer_mode() {
        let reading = Approvals::default().reading_only();
        assert_eq!(reading.mode(), PermissionMode::Restricted);
        assert_eq!(reading.clone().with_mode(PermissionMode::Unrestricted), None);
        assert!(reading.with_mode(PermissionMode::Plan).is_some());
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
            assert_eq!(approvals.restraint().without, ["run_command"]);
        }
        assert_eq!(denying.verdict("write_file", &command(), now), Verdict::Ask);
    }

    #[test]
    fn what_is_refused_for_good_goes_with_each_prompt() {
        let restricted = || Approvals::default().with_mode(PermissionMode::Restricted).unwrap();
        for held in [Approvals::default().planning(true), Approvals::default().reading_only(), restricted()] {
            assert!(held.restraint().reading_only);
        }
        // What has been allowed before is not asked, and so not refused.
        let asks_nothing = Approvals::default().with_mode(PermissionMode::DontAsk).unwrap();
        for free in [Approvals::default(), asks_nothing, restricted().interactive()] {
            assert!(free.restraint().is_none());
        }
        let denied = ["delete_path".to_owned(), "edit_file".to_owned(), "search".to_owned()];
        let denying = Approvals::default().denying(denied.into());
        assert_eq!(denying.restraint().without, ["delete_file", "edit_file", "search_text"]);
    }
}
