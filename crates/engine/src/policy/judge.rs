//! The judge: a policy, compiled once, asked for every call.
//!
//! Takes a call apart and puts the verdicts on its parts together. What parts a command line has is in `line`.

mod line;

use std::path::PathBuf;
use std::sync::Arc;

use loggia_domain::{Decision, Demand, GuestCommandRequest, Policy, Preset, Risk, Rule};

use super::builtin::{credentials, guarded};
use super::check::{RuleList, compile};
use super::paths::Spot;
use super::rule::CompiledRule;
use super::{Place, PolicyError, Suggestion, Verdict, VerdictSource, confine, preset_name};

/// A policy ready to judge calls. Clones share what was compiled.
#[derive(Debug, Clone)]
pub struct Judge {
    law: Arc<Law>,
}

#[derive(Debug)]
struct Law {
    place: Place,
    preset: Preset,
    /// Those of the session, of the policy, of the suggestion.
    rules: Vec<CompiledRule>,
    /// Directories outside the root that commands may write, and read.
    writable: Vec<PathBuf>,
    /// Directories outside the root that commands may only read.
    readable: Vec<PathBuf>,
}

/// The verdict on one part of a call.
#[derive(Debug)]
struct Part {
    decision: Decision,
    risk: Risk,
    reason: String,
    source: VerdictSource,
}

/// What a part of a call does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Reads,
    Writes,
    Removes,
}

impl Judge {
    /// Compiles a policy for a session with this preset. Decisions remembered for the session come before the policy's
    /// rules; what the workspace suggests comes after them.
    ///
    /// # Errors
    /// A rule that cannot be read.
    pub fn new(
        policy: &Policy,
        preset: Preset,
        session_rules: &[Rule],
        suggestion: Option<&Suggestion>,
        place: &Place,
    ) -> Result<Self, PolicyError> {
        let mut rules = compile(session_rules, RuleList::Session)?;
        rules.extend(compile(&policy.rules, RuleList::Policy)?);
        let mut preset = preset;
        if let Some(suggestion) = suggestion {
            rules.extend(compile(suggestion.rules(), RuleList::Suggestion)?);
            preset = suggestion.tightened(preset);
        }
        let resolved = |directories: &[String]| confine::resolve(directories, place);
        let law = Law {
            place: place.clone(),
            preset,
            rules,
            writable: resolved(&policy.sandbox.writable),
            readable: resolved(&policy.sandbox.readable),
        };
        Ok(Self { law: Arc::new(law) })
    }

    /// Judges a call: the worst verdict over everything it would touch.
    pub fn judge(&self, tool: &str, demand: &Demand) -> Verdict {
        let law = &self.law;
        let mut parts = Vec::new();
        for (access, paths) in [
            (Access::Reads, &demand.reads),
            (Access::Writes, &demand.writes),
            (Access::Removes, &demand.deletes),
        ] {
            parts.extend(paths.iter().map(|path| law.path(tool, access, path)));
        }
        if let Some(command) = &demand.command {
            law.line(tool, command, &mut parts);
        }
        if let Some(request) = &demand.guest_command {
            parts.push(law.guest_command(tool, request));
        }
        if parts.is_empty() {
            parts.push(law.bare(tool));
        }
        worst(parts)
    }

    /// Whether a path may be read without asking: what may not is left out of listings and searches.
    pub fn may_read(&self, path: &str) -> bool {
        /// What reads one file, as rules name it.
        const READER: &str = "read_file";
        let law = &self.law;
        let Spot::Inside(path) = law.place.locate(path) else { return false };
        if credentials(&path).is_some() {
            return false;
        }
        let matching =
            || law.rules.iter().filter(|rule| rule.matches_tool(READER) && rule.matches_path(&path));
        !matching().any(|rule| rule.decision == Decision::Deny)
            && matching().next().is_none_or(|rule| rule.decision == Decision::Allow)
    }
}

/// The worst part decides; the riskiest part tells the risk.
fn worst(parts: Vec<Part>) -> Verdict {
    let risk = parts.iter().map(|part| part.risk).max().unwrap_or(Risk::Low);
    // Of equals the first is told: it stands first in the call.
    let worst = parts.into_iter().reduce(|worst, part| {
        if (part.decision, part.risk) > (worst.decision, worst.risk) { part } else { worst }
    });
    match worst {
        Some(Part { decision, reason, source, .. }) => Verdict { decision, risk, reason, source },
        None => Verdict {
            decision: Decision::Ask,
            risk,
            reason: "nothing to judge".to_owned(),
            source: VerdictSource::Builtin,
        },
    }
}

impl Law {
    /// A path of a call, relative to the root.
    fn path(&self, tool: &str, access: Access, path: &str) -> Part {
        match self.place.locate(path) {
            Spot::Inside(inside) => self.inside(tool, access, &inside),
            Spot::Outside(_) => forbidden(format!("`{}` is outside the workspace", shorten(path))),
            Spot::Impossible(why) => forbidden(format!("a path {why}")),
        }
    }

    /// A path inside the root, tidied.
    fn inside(&self, tool: &str, access: Access, path: &str) -> Part {
        if let Some(part) = self.against(access, path) {
            return part;
        }
        let subject = format!("{} `{}`", access.verb(), shown_path(path));
        let matching = |rule: &CompiledRule| rule.matches_tool(tool) && rule.matches_path(path);
        let preset = access.preset(self.preset);
        self.by_rules(&subject, access.risk(), preset, matching)
            .unwrap_or_else(|| self.by_preset(&subject, access.risk(), preset))
    }

    /// What is built in against touching a path inside the root.
    fn against(&self, access: Access, path: &str) -> Option<Part> {
        let shown = shown_path(path);
        if let Some(reason) = credentials(path) {
            return Some(forbidden(format!("`{shown}` must be neither read nor written: it {reason}")));
        }
        if access == Access::Reads {
            return None;
        }
        if path.is_empty() {
            return Some(forbidden("the workspace itself cannot be changed or removed".to_owned()));
        }
        guarded(path).map(|reason| forbidden(format!("`{shown}` must not be changed: it {reason}")))
    }

    /// A call that touches nothing.
    fn bare(&self, tool: &str) -> Part {
        let matching = |rule: &CompiledRule| rule.matches_tool(tool) && rule.matches_bare();
        self.by_rules(&format!("`{tool}`"), Risk::Low, Decision::Allow, matching).unwrap_or_else(|| Part {
            decision: Decision::Allow,
            risk: Risk::Low,
            reason: format!("`{tool}` touches nothing"),
            source: VerdictSource::Builtin,
        })
    }

    /// A command of an extension. No rule can say what it does: only whether such calls are made at all.
    fn guest_command(&self, tool: &str, request: &GuestCommandRequest) -> Part {
        let subject = format!("running the extension command `{}`", shorten(&request.command));
        let matching = |rule: &CompiledRule| rule.matches_tool(tool) && rule.matches_bare();
        let preset = preset_for_commands(self.preset);
        self.by_rules(&subject, Risk::High, preset, matching)
            .unwrap_or_else(|| self.by_preset(&subject, Risk::High, preset))
    }

    /// Any rule that denies, else the first that matches.
    fn by_rules(
        &self,
        subject: &str,
        risk: Risk,
        preset: Decision,
        matching: impl Fn(&CompiledRule) -> bool,
    ) -> Option<Part> {
        let denies = |rule: &&CompiledRule| rule.decision == Decision::Deny && matching(rule);
        let rule =
            self.rules.iter().find(denies).or_else(|| self.rules.iter().find(|rule| matching(rule)))?;
        Some(self.told(rule, subject, risk, preset))
    }

    fn told(&self, rule: &CompiledRule, subject: &str, risk: Risk, preset: Decision) -> Part {
        // A workspace that may only tighten does not loosen a denial by asking.
        let tightens = rule.source == VerdictSource::Suggestion && rule.tightens();
        Part {
            decision: if tightens { rule.decision.max(preset) } else { rule.decision },
            risk: rule.risk.unwrap_or(risk),
            reason: rule.reason_about(subject),
            source: rule.source,
        }
    }

    fn by_preset(&self, subject: &str, risk: Risk, decision: Decision) -> Part {
        let verb = match decision {
            Decision::Allow => "allows",
            Decision::Ask => "asks about",
            Decision::Deny => "denies",
        };
        let reason = format!("preset `{}` {verb} {subject}", preset_name(self.preset));
        Part { decision, risk, reason, source: VerdictSource::Preset }
    }
}

impl Access {
    fn verb(self) -> &'static str {
        match self {
            Self::Reads => "reading",
            Self::Writes => "changing",
            Self::Removes => "removing",
        }
    }

    fn risk(self) -> Risk {
        match self {
            Self::Reads => Risk::Low,
            Self::Writes => Risk::Medium,
            Self::Removes => Risk::High,
        }
    }

    fn preset(self, preset: Preset) -> Decision {
        match (self, preset) {
            (Self::Reads, _) | (_, Preset::AutoEdit | Preset::Full) => Decision::Allow,
            (_, Preset::Ask) => Decision::Ask,
            (_, Preset::ReadOnly) => Decision::Deny,
        }
    }
}

/// What a preset says to commands.
fn preset_for_commands(preset: Preset) -> Decision {
    match preset {
        Preset::ReadOnly => Decision::Deny,
        Preset::Ask | Preset::AutoEdit => Decision::Ask,
        Preset::Full => Decision::Allow,
    }
}

fn forbidden(why: String) -> Part {
    Part {
        decision: Decision::Deny,
        risk: Risk::High,
        reason: format!("built in: {why}"),
        source: VerdictSource::Builtin,
    }
}

fn shown_path(path: &str) -> String {
    if path.is_empty() { ".".to_owned() } else { shorten(path) }
}

/// Reasons are read by people: more of a word or a line helps nobody.
fn shorten(text: &str) -> String {
    const MOST_CHARACTERS: usize = 120;
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
