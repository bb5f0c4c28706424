//! Rules, ready to be matched.
//!
//! A rule that allows matches only what it surely means. A rule that asks or denies also matches what lies below a
//! directory it names, and programs by their bare name: better one question too many.

use globset::{GlobBuilder, GlobMatcher};
use loggia_domain::{Decision, Risk, Rule};

use super::builtin::sharp_words;
use super::check::{PolicyError, RuleField, RuleList};
use super::paths::{Directory, Spot};
use super::pattern::{CommandPattern, MayMatch};
use super::shell::{self, Command, CommandRole, Word};
use super::{Place, VerdictSource};

/// A rule whose globs and patterns are compiled.
#[derive(Debug, Clone)]
pub(crate) struct CompiledRule {
    list: RuleList,
    /// Counted from 1 in its list.
    pub(crate) number: usize,
    pub(crate) source: VerdictSource,
    pub(crate) decision: Decision,
    pub(crate) risk: Option<Risk>,
    reason: Option<String>,
    tool: Option<GlobMatcher>,
    path: Option<GlobMatcher>,
    command: Option<CommandPattern>,
}

impl CompiledRule {
    pub(crate) fn new(
        rule: &Rule,
        list: RuleList,
        number: usize,
        source: VerdictSource,
    ) -> Result<Self, PolicyError> {
        if rule.path.is_some() && rule.command.is_some() {
            return Err(PolicyError::PathAndCommand { list, number });
        }
        let glob = |field: RuleField, text: &Option<String>| {
            let compiled = text.as_ref().map(|text| {
                compile_glob(text).map_err(|source| PolicyError::Glob {
                    list,
                    number,
                    field,
                    glob: text.clone(),
                    source,
                })
            });
            compiled.transpose()
        };
        let pattern = rule.command.as_ref().map(|text| {
            CommandPattern::parse(text).map_err(|problem| PolicyError::Pattern {
                list,
                number,
                pattern: text.clone(),
                problem,
            })
        });
        Ok(Self {
            list,
            number,
            source,
            decision: rule.decision,
            risk: rule.risk,
            reason: rule.reason.clone(),
            tool: glob(RuleField::Tool, &rule.tool)?,
            path: glob(RuleField::Path, &rule.path)?,
            command: pattern.transpose()?,
        })
    }

    /// Whether it asks or denies, and so may match on suspicion.
    pub(crate) fn tightens(&self) -> bool {
        self.decision != Decision::Allow
    }

    pub(crate) fn names_path(&self) -> bool {
        self.path.is_some()
    }

    pub(crate) fn matches_tool(&self, tool: &str) -> bool {
        self.tool.as_ref().is_none_or(|glob| glob.is_match(tool))
    }

    /// Whether it speaks about a call that touches nothing.
    pub(crate) fn matches_bare(&self) -> bool {
        self.path.is_none() && self.command.is_none()
    }

    /// Whether it speaks about a path inside the root, tidied.
    pub(crate) fn matches_path(&self, path: &str) -> bool {
        if self.command.is_some() {
            return false;
        }
        let Some(glob) = &self.path else { return true };
        if !self.tightens() {
            return glob.is_match(path);
        }
        // A directory's rule holds below it, and `x/**` means `x` too.
        let mut ancestors =
            std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(parent, _)| parent));
        ancestors.any(|ancestor| glob.is_match(ancestor))
            || glob.is_match(format!("{path}/-").trim_start_matches('/'))
                && glob.glob().glob().ends_with("/**")
    }

    /// Whether it speaks about a command. What it allows, it must match surely.
    pub(crate) fn matches_command(&self, command: &Command) -> MayMatch {
        if self.path.is_some() {
            return MayMatch::No;
        }
        match &self.command {
            None if self.tightens() => MayMatch::Yes,
            Some(pattern) if self.tightens() => pattern.may_match(command),
            // Any command at all, as long as it is known which.
            None if command.assignments.is_empty()
                && command.words.iter().all(|word| word.certain().is_some()) =>
            {
                MayMatch::Yes
            }
            Some(pattern) if pattern.surely_matches(command, &sharp_words(&command.words)) => MayMatch::Yes,
            None | Some(_) => MayMatch::No,
        }
    }

    /// Whether it stands anywhere among the words of a line that could not be read.
    pub(crate) fn stands_in(&self, words: &[Word]) -> bool {
        self.tightens()
            && self.path.is_none()
            && self.command.as_ref().is_none_or(|pattern| pattern.stands_in(words))
    }

    /// Says what it decides about something.
    pub(crate) fn reason_about(&self, subject: &str) -> String {
        let verb = match self.decision {
            Decision::Allow => "allows",
            Decision::Ask => "asks about",
            Decision::Deny => "denies",
        };
        let told = format!("{} {} {verb} {subject}", self.list, self.number);
        match &self.reason {
            Some(reason) => format!("{told}: {reason}"),
            None => told,
        }
    }

    /// Says that something may be what it decides about.
    pub(crate) fn reason_for_doubt(&self, subject: &str) -> String {
        let verb = if self.decision == Decision::Deny { "denies" } else { "asks about" };
        format!("{subject} may turn out to be something that {} {} {verb}", self.list, self.number)
    }

    /// Whether an example is something this rule matches.
    pub(crate) fn matches_example(&self, text: &str) -> bool {
        // Any root will do: examples are relative to it.
        let place = Place { root: "/project".into(), home: None };
        if self.path.is_some() {
            return matches!(place.locate(text.trim_start_matches('/')), Spot::Inside(path) if self.matches_path(&path));
        }
        if self.command.is_none() {
            return self.matches_tool(text);
        }
        let reading = shell::read(text, &Directory::Inside(String::new()), &place);
        let yes = |command: &Command| self.matches_command(command) == MayMatch::Yes;
        if self.tightens() {
            return reading.commands.iter().any(yes);
        }
        let mut runs = reading.commands.iter().filter(|command| command.role == CommandRole::Runs).peekable();
        reading.unread.is_none() && reading.unruled.is_none() && runs.peek().is_some() && runs.all(yes)
    }
}

/// Globs are over paths relative to the root, so what stands before the first part says nothing; a `/` at the end
/// means everything below.
fn compile_glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    let trimmed = text.trim_start_matches("./").trim_start_matches('/');
    let whole = if trimmed.ends_with('/') { format!("{trimmed}**") } else { trimmed.to_owned() };
    Ok(GlobBuilder::new(&whole).literal_separator(true).backslash_escape(true).build()?.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: &str, decision: Decision) -> CompiledRule {
        let rule = Rule {
            tool: None,
            path: Some(path.to_owned()),
            command: None,
            decision,
            risk: None,
            reason: None,
            examples: Vec::new(),
        };
        CompiledRule::new(&rule, RuleList::Policy, 1, VerdictSource::Rule(0)).unwrap()
    }

    #[test]
    fn an_allowed_glob_means_exactly_its_paths() {
        for (glob, path, matches) in [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src", false),
            ("src/", "src/a", true),
            ("./src/*", "src/a", true),
            ("/src/*", "src/a/b", false),
            ("*.md", "README.md", true),
            ("*.md", "docs/a.md", false),
            ("**/*.md", "docs/a.md", true),
            ("**", "", true),
            ("src", "src/a", false),
        ] {
            assert_eq!(rule(glob, Decision::Allow).matches_path(path), matches, "{glob} {path}");
        }
    }

    #[test]
    fn a_denied_directory_is_denied_with_all_that_is_below() {
        for (glob, path, matches) in [
            ("secrets", "secrets/a/b", true),
            ("secrets", "secrets", true),
            ("secrets/**", "secrets", true),
            ("secrets/", "secrets", true),
            ("secrets/*", "secrets/a/b", true),
            ("secrets/*", "secrets", false),
            ("secrets", "secrets2", false),
            ("**/private", "a/private/b", true),
            ("**", "", true),
        ] {
            assert_eq!(rule(glob, Decision::Deny).matches_path(path), matches, "{glob} {path}");
        }
    }
}
