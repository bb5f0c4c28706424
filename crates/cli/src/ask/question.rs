//! A question of the agent, and the keys that answer it.
//!
//! Knows no terminal: keys in, decisions and text out.

use loggia_protocol_agent_server::{
    ApprovalId, ApprovalResponse, ApprovalScope, CommandRequestApproval, Hunk, PatchProposed, Remember,
    RiskLevel, ToolRequestApproval,
};
use serde_json::Value;

use crate::paint::{ASIDE, BAD, CODE, PLAIN, Paint, QUESTION, SUBJECT, printable};
use crate::{Key, describe, diff};

/// What chooses a hunk, in order; a change with more of them is answered as a whole or elsewhere.
const LABELS: &str = "123456789abcdefghijklmnopqrstuvwxyz";

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) id: ApprovalId,
    about: About,
    risk: Option<RiskLevel>,
    /// Whether the next key chooses a hunk.
    choosing: bool,
}

#[derive(Debug, Clone)]
enum About {
    Changes(Vec<PatchProposed>),
    Command(CommandRequestApproval),
    Tool { name: String, args: Value },
}

/// What a key does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pressed {
    /// It answers.
    Decided(Decision),
    /// Everything is to be shown.
    Show,
    /// The hunks are to be shown, and one of them chosen.
    Choose,
    /// Back to the question as a whole.
    Back,
    /// Nothing.
    Nothing,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) approved: bool,
    remember: Option<Remember>,
    /// Only this hunk of this file.
    hunk: Option<(String, u32)>,
}

impl Decision {
    pub(super) fn yes() -> Self {
        Self { approved: true, remember: None, hunk: None }
    }

    pub(super) fn no() -> Self {
        Self { approved: false, ..Self::yes() }
    }

    fn remembered(remember: Remember) -> Self {
        Self { remember: Some(remember), ..Self::yes() }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        match (self.approved, self.remember, &self.hunk) {
            (false, ..) => "no".to_owned(),
            (true, _, Some((path, _))) => format!("yes, to this part of {}", printable(path)),
            (true, Some(Remember::Session), None) => "yes, for this session".to_owned(),
            (true, Some(Remember::Workspace), None) => "yes, always in this workspace".to_owned(),
            (true, ..) => "yes".to_owned(),
        }
    }

    /// As it is told to the server.
    pub(super) fn response(&self, id: &ApprovalId) -> ApprovalResponse {
        let (file_path, hunk_index) = self.hunk.clone().unzip();
        ApprovalResponse {
            request_id: id.clone(),
            approved: self.approved,
            scope: self.hunk.as_ref().map(|_| ApprovalScope::Hunk),
            file_path,
            hunk_index,
            hunk_indexes: None,
            remember: self.remember,
            comment: None,
        }
    }
}

impl Question {
    /// May this tool run? A write has its changes, found by their ids.
    pub(super) fn of_tool(
        request: &ToolRequestApproval,
        mut patch: impl FnMut(&str) -> Option<PatchProposed>,
    ) -> Self {
        let args = &request.args.0;
        let several = args.get("patch_ids").and_then(Value::as_array);
        let ids: Vec<&str> = match several {
            Some(ids) => ids.iter().filter_map(Value::as_str).collect(),
            None => args.get("patch_id").and_then(Value::as_str).into_iter().collect(),
        };
        let patches: Vec<PatchProposed> = ids.iter().filter_map(|id| patch(id)).collect();
        let about = match patches.is_empty() {
            true => About::Tool { name: request.tool_name.clone(), args: args.clone() },
            false => About::Changes(patches),
        };
        Self { id: request.request_id.clone(), about, risk: Some(request.risk_level), choosing: false }
    }

    /// May this command run?
    pub(super) fn of_command(request: &CommandRequestApproval) -> Self {
        let id = ApprovalId(request.command_id.0.clone());
        Self { id, about: About::Command(request.clone()), risk: None, choosing: false }
    }

    /// What is asked, in a line.
    pub(super) fn title(&self, paint: Paint) -> String {
        let what = match &self.about {
            About::Changes(patches) => match &patches[..] {
                [one] => format!("Change {}?", printable(&one.file_path)),
                several => format!("Change {} files?", several.len()),
            },
            About::Command(command) => format!("Run {}?", printable(&command.command)),
            About::Tool { name, args } => format!("{}?", describe::call(name, args)),
        };
        let risk = match self.risk {
            Some(RiskLevel::High) => paint.text(BAD, " (high risk)"),
            _ => "".into(),
        };
        let reason = match &self.about {
            About::Changes(patches) => patches.first().map(|patch| patch.rationale.as_str()),
            About::Command(command) => Some(command.reason.as_str()),
            About::Tool { .. } => None,
        };
        let reason = reason.map(|reason| format!(" {}", printable(reason))).unwrap_or_default();
        format!(
            "{} {}{risk}{}",
            paint.text(QUESTION, "?"),
            paint.text(SUBJECT, what),
            paint.text(ASIDE, reason)
        )
    }

    /// What it is about: changes in colour, a command with all that belongs to it.
    pub(super) fn details(&self, paint: Paint, all: bool) -> String {
        let limit = if all { usize::MAX } else { diff::SHOWN_LINES };
        match &self.about {
            About::Changes(patches) => patches.iter().map(|patch| diff::patch(patch, paint, limit)).collect(),
            About::Command(command) => command_details(command, paint, all),
            About::Tool { args, .. } if all => {
                let text = serde_json::to_string_pretty(args).unwrap_or_default();
                text.lines().map(|line| format!("  {}\n", printable(line))).collect()
            }
            About::Tool { .. } => String::new(),
        }
    }

    /// The hunks, each under its label.
    pub(super) fn choices(&self, paint: Paint) -> String {
        let hunks = LABELS.chars().zip(self.hunks());
        hunks.map(|(label, (path, _, hunk))| diff::labelled(label, path, hunk, paint)).collect()
    }

    /// The keys that answer it.
    pub(super) fn keys(&self, paint: Paint) -> String {
        let key = |key: &str, words: &str| format!("{} {words}", paint.text(CODE, key.to_owned()));
        if self.choosing {
            let last = LABELS.chars().nth(self.hunks().count().saturating_sub(1)).unwrap_or('z');
            return [key(&format!("1-{last}"), "only this part"), key("esc", "back")].join("  ");
        }
        let mut keys = vec![key("o", "once"), key("s", "session"), key("a", "always"), key("n", "no")];
        if self.has_choices() {
            keys.push(key("h", "hunks"));
        }
        keys.push(key("d", "show all"));
        keys.join("  ")
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: Key) -> Pressed {
        if std::mem::take(&mut self.choosing) {
            let Key::Char(label) = key else { return Pressed::Back };
            let chosen = LABELS.find(label).and_then(|index| self.hunks().nth(index));
            return match chosen {
                Some((path, index, _)) => {
                    let hunk = Some((path.to_owned(), index));
                    Pressed::Decided(Decision { hunk, ..Decision::yes() })
                }
                None => Pressed::Back,
            };
        }
        match key {
            Key::Char('o' | 'y' | 'O' | 'Y') => Pressed::Decided(Decision::yes()),
            Key::Char('s' | 'S') => Pressed::Decided(Decision::remembered(Remember::Session)),
            Key::Char('a' | 'A') => Pressed::Decided(Decision::remembered(Remember::Workspace)),
            Key::Char('n' | 'N') => Pressed::Decided(Decision::no()),
            Key::Char('d' | 'D') => Pressed::Show,
            Key::Char('h' | 'H') if self.has_choices() => {
                self.choosing = true;
                Pressed::Choose
            }
            _ => Pressed::Nothing,
        }
    }

    fn has_choices(&self) -> bool {
        (2..=LABELS.len()).contains(&self.hunks().count())
    }

    /// Path, number in its file and content.
    fn hunks(&self) -> impl Iterator<Item = (&str, u32, &Hunk)> {
        let patches = match &self.about {
            About::Changes(patches) => &patches[..],
            About::Command(_) | About::Tool { .. } => &[],
        };
        patches.iter().flat_map(|patch| {
            let path = patch.file_path.as_str();
            (0..).zip(&patch.hunks).map(move |(index, hunk)| (path, index, hunk))
        })
    }
}

/// A command of several lines, or all about one.
fn command_details(command: &CommandRequestApproval, paint: Paint, all: bool) -> String {
    let mut text = String::new();
    if all || command.command.trim().contains('\n') {
        for line in command.command.lines() {
            text.push_str(&format!("  {}\n", paint.foreign(CODE, line)));
        }
    }
    for (name, value) in &command.environment {
        text.push_str(&format!("  {}={}\n", paint.foreign(PLAIN, name), printable(value)));
    }
    if all {
        text.push_str(&format!("  in {}\n", printable(&command.working_directory)));
    }
    text
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::{CommandId, PatchId, Stamp};
    use serde_json::json;

    use super::*;

    const PAINT: Paint = Paint { color: false };

    fn patch(id: &str, path: &str, hunks: usize) -> PatchProposed {
        let hunk =
            Hunk { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, content: "-a\n+b\n".to_owned() };
        PatchProposed {
            patch_id: PatchId(id.to_owned()),
            file_path: path.to_owned(),
            diff: String::new(),
            rationale: "louder".to_owned(),
            acceptance_criteria: Vec::new(),
            requires_approval: true,
            hunks: vec![hunk; hunks],
            stamp: Stamp::default(),
        }
    }

    fn write(args: Value, patches: &[PatchProposed]) -> Question {
        let request = ToolRequestApproval {
            request_id: ApprovalId("req_1".to_owned()),
            tool_name: "write_file".to_owned(),
            args: args.into(),
            risk_level: RiskLevel::High,
            stamp: Stamp::default(),
        };
        Question::of_tool(&request, |id| patches.iter().find(|patch| patch.patch_id.0 == id).cloned())
    }

    fn run(command: &str) -> Question {
        Question::of_command(&CommandRequestApproval {
            command_id: CommandId("cmd_1".to_owned()),
            command: command.to_owned(),
            working_directory: "/src".to_owned(),
            environment: [("CI".to_owned(), "1".to_owned())].into(),
            requires_approval: true,
            reason: "to see".to_owned(),
            risk_level: None,
            stamp: Stamp::default(),
        })
    }

    fn pressed(question: &mut Question, keys: &str) -> String {
        let told = |pressed| match pressed {
            Pressed::Decided(decision) => decision.words(),
            other => format!("{other:?}").to_lowercase(),
        };
        let key = |character| if character == '!' { Key::Escape } else { Key::Char(character) };
        keys.chars().map(|character| told(question.press(key(character)))).collect::<Vec<_>>().join(" / ")
    }

    #[test]
    fn keys_answer() {
        let mut question = run("cargo test");
        assert_eq!(question.title(PAINT), "? Run cargo test? to see");
        assert_eq!(question.keys(PAINT), "o once  s session  a always  n no  d show all");
        assert_eq!(
            pressed(&mut question, "oysand"),
            "yes / yes / yes, for this session / yes, always in this workspace / no / show"
        );
        assert_eq!(pressed(&mut question, "xh! 1"), "nothing / nothing / nothing / nothing / nothing");
    }

    #[test]
    fn enter_says_nothing() {
        assert_eq!(run("ls").press(Key::Enter), Pressed::Nothing);
    }

    #[test]
    fn one_hunk_is_chosen_by_its_label() {
        let patches = [patch("patch_1", "a.rs", 2), patch("patch_2", "b.rs", 1)];
        let mut question =
            write(json!({"patch_id": "patch_1", "patch_ids": ["patch_1", "patch_2"]}), &patches);
        assert_eq!(question.title(PAINT), "? Change 2 files? (high risk) louder");
        assert_eq!(pressed(&mut question, "h!h9h"), "choose / back / choose / back / choose");
        assert_eq!(question.keys(PAINT), "1-3 only this part  esc back");
        let Pressed::Decided(decision) = question.press(Key::Char('3')) else { panic!("no decision") };
        let response = decision.response(&question.id);
        assert_eq!((response.file_path.as_deref(), response.hunk_index), (Some("b.rs"), Some(0)));
        assert_eq!(response.scope, Some(ApprovalScope::Hunk));
        assert!(question.choices(PAINT).contains("[3] b.rs\n"));
    }

    #[test]
    fn a_change_of_one_hunk_has_no_choice() {
        let mut question = write(json!({"patch_id": "patch_1"}), &[patch("patch_1", "a.rs", 1)]);
        assert_eq!(pressed(&mut question, "h"), "nothing");
        assert_eq!(question.details(PAINT, false), "a.rs +1 -1\n  @@ -1,1 +1,1 @@\n  -a\n  +b\n");
    }

    #[test]
    fn a_command_cannot_hide_what_it_is() {
        let question = run("ls \u{1b}[8m\nrm -r /\u{202e}");
        assert!(
            question.title(PAINT).contains("ls \\u{1b}[8m\\nrm -r /\\u{202e}"),
            "{}",
            question.title(PAINT)
        );
        assert_eq!(question.details(PAINT, false), "  ls \\u{1b}[8m\n  rm -r /\\u{202e}\n  CI=1\n");
        assert!(question.details(PAINT, true).ends_with("  in /src\n"));
    }

    #[test]
    fn a_tool_without_changes_is_shown_with_its_arguments() {
        let question = write(json!({"file_path": "a.rs"}), &[]);
        assert_eq!(question.title(PAINT), "? Write a.rs? (high risk)");
        assert!(question.details(PAINT, true).contains("\"file_path\": \"a.rs\""));
    }
}
