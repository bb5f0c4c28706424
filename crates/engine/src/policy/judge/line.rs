//! What a command line comes to: a verdict on everything it runs and on every file it opens.

use loggia_domain::{CommandRequest, Decision, Risk};

use super::super::VerdictSource;
use super::super::builtin::{
    self, CredentialArgument, Objection, Touch, credentials, file_in, forbidden_name, guarded,
    may_be_guarded, named_files, names_credentials, names_guarded, touched,
};
use super::super::paths::{Directory, Spot};
use super::super::pattern::MayMatch;
use super::super::risk;
use super::super::rule::CompiledRule;
use super::super::shell::{
    self, Certainty, Command, CommandRole, HOLE, Reading, Redirection, RedirectionAccess, Word, program_name,
    raw_words,
};
use super::{Access, Law, Part, forbidden, preset_for_commands, shorten};

/// The tools whose rules over paths also hold for what commands do to files.
const READERS: &[&str] = &["read_file"];
const WRITERS: &[&str] = &["write_file", "edit_file", "apply_patch"];
const REMOVERS: &[&str] = &["delete_file", "write_file", "edit_file", "apply_patch"];

/// Files that are no files: writing them changes nothing, reading them tells nothing.
const HARMLESS_DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
    "/dev/full",
];

impl Law {
    /// A command line: one part for each command and each file it opens, at least one in all.
    pub(super) fn line(&self, tool: &str, request: &CommandRequest, parts: &mut Vec<Part>) {
        let start = match self.place.locate(&request.directory) {
            Spot::Inside(directory) => Directory::Inside(directory.into_owned()),
            Spot::Outside(_) => {
                let shown = shorten(&request.directory);
                parts.push(forbidden(format!(
                    "`{shown}`, where the command would run, is outside the workspace"
                )));
                return;
            }
            Spot::Impossible(why) => {
                parts.push(forbidden(format!("the path where the command would run {why}")));
                return;
            }
        };
        let reading = shell::read_request(request, &start, &self.place);
        if reading.fork_bomb {
            parts.push(forbidden("it starts itself over and over".to_owned()));
        }
        if let Some(why) = &reading.unread {
            parts.push(self.unread(tool, &request.line, why));
        }
        let count = parts.len();
        for command in &reading.commands {
            self.command(tool, command, &reading, parts);
        }
        let runs_something =
            reading.commands.iter().any(|command| command.role == CommandRole::Runs && !is_bare(command));
        if parts.len() == count || !runs_something {
            parts.push(self.by_preset("running commands", Risk::Low, preset_for_commands(self.preset)));
        }
    }

    /// A line that could not be read whole: what its raw words say against it, or a question.
    fn unread(&self, tool: &str, line: &str, why: &str) -> Part {
        let words = raw_words(line);
        let name = |word: &Word| program_name(std::slice::from_ref(word)).and_then(forbidden_name);
        if let Some(reason) = words.iter().find_map(name) {
            return forbidden(format!(
                "the line cannot be read ({why}), and something in it must not run: {reason}"
            ));
        }
        if let Some((word, reason)) =
            words.iter().find_map(|word| Some((&word.text, credentials(&word.text)?)))
        {
            return forbidden(format!("the line cannot be read ({why}), and `{}` {reason}", shorten(word)));
        }
        let denies = |rule: &&CompiledRule| {
            rule.decision == Decision::Deny && rule.matches_tool(tool) && rule.stands_in(&words)
        };
        match self.rules.iter().find(denies) {
            Some(rule) => self.told(
                rule,
                &format!("something in a line that cannot be read ({why})"),
                Risk::High,
                Decision::Deny,
            ),
            None => self.doubt(&format!("the line is not understood: {why}")),
        }
    }

    fn command(&self, tool: &str, command: &Command, reading: &Reading, parts: &mut Vec<Part>) {
        match builtin::objection(command, reading, &self.place) {
            Some(Objection::Forbidden(why)) => parts.push(forbidden(why)),
            Some(Objection::Doubtful(why)) => parts.push(self.doubt(&why)),
            None => {}
        }
        match names_credentials(command) {
            Some(CredentialArgument::Names { word, reason }) => {
                parts.push(forbidden(format!(
                    "`{}` must be neither read nor written: it {reason}",
                    shorten(&word)
                )));
            }
            Some(CredentialArgument::MayMatch { word }) => {
                parts.push(self.doubt(&format!("`{}` may match a file with credentials", shorten(&word))));
            }
            None => {}
        }
        if let Some(word) = names_guarded(command) {
            let shown = shorten(&word.replace(HOLE, "…"));
            parts.push(self.doubt(&format!("it may change `{shown}`, which must not be changed")));
        }
        for (touch, word) in touched(command) {
            self.touched(tool, touch, word, command, parts);
        }
        for file in named_files(command) {
            self.named(tool, file, command, parts);
        }
        for redirection in &command.redirections {
            self.redirection(tool, redirection, command, parts);
        }
        if !is_bare(command) {
            parts.extend(self.by_command_rules(tool, command, reading));
        }
    }

    /// What the rules, or else the preset, say to a command.
    fn by_command_rules(&self, tool: &str, command: &Command, reading: &Reading) -> Option<Part> {
        let subject = format!("`{}`", shown(command));
        let risk = risk::of_command(command);
        let preset = preset_for_commands(self.preset);
        let rules = || self.rules.iter().filter(|rule| rule.matches_tool(tool));
        let is_inside = |directory: &Directory| matches!(directory, Directory::Inside(_));
        let is_ruled = reading.unread.is_none()
            && reading.unruled.is_none()
            && command.directories.iter().all(is_inside)
            && command.role == CommandRole::Runs
            && !reads_unknown(command);
        let mut first = None;
        let mut perhaps = None;
        for rule in rules() {
            match rule.matches_command(command) {
                MayMatch::Yes if rule.decision == Decision::Deny => {
                    return Some(self.told(rule, &subject, risk, preset));
                }
                MayMatch::Yes if first.is_none() && (rule.tightens() || is_ruled) => first = Some(rule),
                MayMatch::Perhaps if perhaps.is_none() => perhaps = Some(rule),
                _ => {}
            }
        }
        if let Some(rule) = perhaps {
            let reason = rule.reason_for_doubt(&subject);
            return Some(Part {
                decision: Decision::Ask.max(preset),
                risk: Risk::High,
                reason,
                source: rule.source,
            });
        }
        if let Some(rule) = first {
            return Some(self.told(rule, &subject, risk, preset));
        }
        (command.role == CommandRole::Runs).then(|| {
            let mut part = self.by_preset(&subject, risk, preset);
            if let (Decision::Ask, Some(why)) = (part.decision, &reading.unruled) {
                part.reason.push_str(&format!("; no rule speaks for this line: {why}"));
            }
            part
        })
    }

    /// A file that a program is known to change.
    fn touched(&self, tool: &str, touch: Touch, word: &Word, command: &Command, parts: &mut Vec<Part>) {
        let file = file_in(word);
        let shown = shorten(&file.replace(HOLE, "…"));
        // Whatever stands before it.
        if let Some(reason) = guarded(file) {
            parts.push(forbidden(format!("`{shown}` must not be changed: it {reason}")));
            return;
        }
        if word.certainty != Certainty::Known && may_be_guarded(file) {
            parts.push(self.doubt(&format!("`{shown}` may match files that must not be changed")));
        }
        if file.contains(HOLE) || file.is_empty() {
            return;
        }
        let (access, tools) = match touch {
            Touch::Writes => (Access::Writes, WRITERS),
            Touch::Removes => (Access::Removes, REMOVERS),
        };
        for directory in &command.directories {
            match self.place.locate_from(directory, file) {
                Some(Spot::Inside(path)) => {
                    if let Some(reason) = guarded(&path) {
                        parts.push(forbidden(format!("`{shown}` must not be changed: it {reason}")));
                    }
                    parts.extend(self.tightened(tool, tools, access, &path));
                }
                Some(Spot::Outside(path)) if !self.may_write_outside(&path) => {
                    parts.push(forbidden(format!("`{shown}` is outside the workspace and would be changed")));
                }
                Some(Spot::Impossible(why)) => parts.push(forbidden(format!("a path {why}"))),
                Some(Spot::Outside(_)) | None => {}
            }
        }
    }

    /// A file that a program may open.
    fn named(&self, tool: &str, file: &str, command: &Command, parts: &mut Vec<Part>) {
        for directory in &command.directories {
            if let Some(Spot::Inside(path)) = self.place.locate_from(directory, file) {
                parts.extend(self.tightened(tool, READERS, Access::Reads, &path));
            }
        }
    }

    fn redirection(&self, tool: &str, redirection: &Redirection, command: &Command, parts: &mut Vec<Part>) {
        let (access, tools) = match redirection.access {
            RedirectionAccess::Reads => (Access::Reads, READERS),
            RedirectionAccess::Writes => (Access::Writes, WRITERS),
        };
        let text = &redirection.target.text;
        let shown = shorten(&text.replace(HOLE, "…"));
        if let Some(reason) = credentials(text) {
            parts.push(forbidden(format!("`{shown}` must be neither read nor written: it {reason}")));
            return;
        }
        if access == Access::Writes
            && let Some(reason) = guarded(text)
        {
            parts.push(forbidden(format!("`{shown}` must not be changed: it {reason}")));
            return;
        }
        let Some(file) = redirection.target.likely() else {
            if access == Access::Writes {
                parts.push(
                    self.doubt(&format!("it is not known which file `{shown}` is, and it would be written")),
                );
            }
            return;
        };
        for directory in &command.directories {
            match self.place.locate_from(directory, file) {
                Some(Spot::Inside(path)) => {
                    parts.push(self.inside(tool, access, &path));
                    parts.extend(self.tightened(tool, tools, access, &path));
                }
                Some(Spot::Outside(path)) => {
                    let allowed = match access {
                        Access::Reads => self.may_read_outside(&path),
                        Access::Writes | Access::Removes => self.may_write_outside(&path),
                    };
                    if !allowed {
                        parts.push(forbidden(format!("`{shown}` is outside the workspace")));
                    }
                }
                Some(Spot::Impossible(why)) => parts.push(forbidden(format!("a path {why}"))),
                None if access == Access::Writes => {
                    parts.push(self.doubt(&format!("it is not known where `{shown}` would be written")));
                }
                None => {}
            }
        }
    }

    /// What rules over paths say against a file that a command touches. They loosen nothing: the command itself must be
    /// allowed as well.
    fn tightened(&self, tool: &str, tools: &[&str], access: Access, path: &str) -> Option<Part> {
        let subject = format!("{} `{}`", access.verb(), super::shown_path(path));
        let matches_tool =
            |rule: &CompiledRule| rule.matches_tool(tool) || tools.iter().any(|tool| rule.matches_tool(tool));
        self.by_rules(&subject, access.risk(), Decision::Allow, |rule| {
            rule.tightens() && rule.names_path() && matches_tool(rule) && rule.matches_path(path)
        })
    }

    fn may_write_outside(&self, path: &std::path::Path) -> bool {
        is_harmless_device(path) || self.writable.iter().any(|directory| path.starts_with(directory))
    }

    fn may_read_outside(&self, path: &std::path::Path) -> bool {
        self.may_write_outside(path) || self.readable.iter().any(|directory| path.starts_with(directory))
    }

    /// Something that only a person can settle.
    fn doubt(&self, why: &str) -> Part {
        Part {
            decision: Decision::Ask.max(preset_for_commands(self.preset)),
            risk: Risk::High,
            reason: format!("built in: {why}"),
            source: VerdictSource::Builtin,
        }
    }
}

/// `/dev/null` and its like, and descriptors the command has anyway.
fn is_harmless_device(path: &std::path::Path) -> bool {
    path.to_str().is_some_and(|path| {
        HARMLESS_DEVICES.contains(&path)
            || path
                .strip_prefix("/dev/fd/")
                .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Nothing but redirections.
fn is_bare(command: &Command) -> bool {
    command.words.is_empty() && command.assignments.is_empty()
}

/// Whether it reads a file that is not known.
fn reads_unknown(command: &Command) -> bool {
    command.redirections.iter().any(|redirection| redirection.target.certain().is_none())
}

fn shown(command: &Command) -> String {
    let words: Vec<&str> =
        command.assignments.iter().chain(&command.words).map(|word| word.text.as_str()).collect();
    shorten(&words.join(" ").replace(HOLE, "…"))
}
