//! What must hold for lines nobody thought of.

use loggia_domain::{CommandRequest, Decision, Demand, Policy, Preset, Rule};
use proptest::prelude::*;

use super::{Judge, Place};

fn judge(preset: Preset, allowed: &[&str]) -> Judge {
    let rule = |pattern: &&str| Rule {
        tool: None,
        path: None,
        command: Some((*pattern).to_owned()),
        decision: Decision::Allow,
        risk: None,
        reason: None,
        examples: Vec::new(),
    };
    let policy = Policy { rules: allowed.iter().map(rule).collect(), ..Policy::default() };
    let place = Place { root: "/home/ada/project".into(), home: Some("/home/ada".into()) };
    Judge::new(&policy, preset, &[], None, &place).unwrap()
}

fn demand(line: String) -> Demand {
    Demand { command: Some(CommandRequest { line, ..CommandRequest::default() }), ..Demand::default() }
}

/// What lines are made of, with everything in it that has a meaning for a shell.
const TOKENS: &[&str] = &[
    "git",
    "status",
    "git status",
    "git status",
    "curl",
    "sudo",
    " ",
    " ",
    " ",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "'",
    "\"",
    "\\",
    "$",
    "$(",
    ")",
    "(",
    "`",
    "{ ",
    "; }",
    "{",
    "}",
    "#",
    "<",
    ">",
    ">out",
    "<<E\n",
    "\nE\n",
    "<<<",
    "=",
    "A=1 ",
    "if ",
    "; then ",
    "; fi",
    "for x in a; do ",
    "; done",
    "while ",
    "case x in x) ",
    ";; esac",
    "! ",
    "[[ ",
    " ]]",
    "((",
    "))",
    "$'",
    "$\"",
    "~",
    "*",
    ",",
    "env ",
    "sh -c '",
    "bash -c \"",
    "eval ",
    "command ",
    "time ",
    "coproc ",
    "f() ",
    "function f ",
    "\\\n",
    "\t",
    "|&",
    "&>",
    "2>&1",
    "xargs ",
    "cd ..",
    "exec ",
    "${x:-",
    "$x",
    "\"$(",
    "\r",
    "!",
    "''",
    "\"\"",
    "\\'",
    "\u{200b}",
    "\0",
    "99999999999>",
    "a[$(",
    "$((",
    "<(",
    ">(",
    "alias git=curl\n",
    "é",
    "~9999999999999999999999",
];

fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(TOKENS), 0..12).prop_map(|tokens| tokens.concat())
}

/// A reader of its own, that only knows lines nobody could misread: `git status`, carriers without options, and what
/// stands between commands. Anything else is not what was allowed.
fn is_plainly_git_status(line: &str) -> bool {
    let line = line.replace("\\\n", "");
    let plain: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let plain = without_inputs(&plain.replace("2>&1", " ").replace("|&", "|"));
    plain.split([';', '&', '|', '\n', '(', ')']).all(|command| {
        let carriers = [
            "!", "{", "}", "if", "then", "fi", "else", "time", "env", "command", "exec", "eval", "sh",
            "bash", "-c", "do", "done", "while", "for", "x", "in", "a",
        ];
        let words: Vec<&str> = command.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        let carried = words.iter().position(|word| !carriers.contains(word)).unwrap_or(words.len());
        let rest = &words[carried..];
        // A group's closing brace may follow.
        let rest = rest.strip_suffix(&["}"]).unwrap_or(rest);
        rest.is_empty() || rest == ["git", "status"]
    })
}

/// Reading a file of the workspace is free.
fn without_inputs(line: &str) -> String {
    let Some((before, after)) = line.split_once('<') else { return line.to_owned() };
    let file = after.trim_start_matches([' ', '\t']);
    let ends = file.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c)).unwrap_or(file.len());
    format!("{before} {}", without_inputs(&file[ends..]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn only_the_allowed_command_is_allowed(line in lines()) {
        let verdict = judge(Preset::Ask, &["git status"]).judge("run_command", &demand(line.clone()));
        if verdict.decision == Decision::Allow {
            prop_assert!(is_plainly_git_status(&line), "{:?}: {:?}", line, verdict);
        }
    }

    #[test]
    fn a_forbidden_word_that_stands_plainly_in_a_line_is_never_run(before in lines(), after in lines()) {
        // Wherever a command can begin after a new line, this one is a command.
        let line = format!("{before}\nsudo ls\n{after}");
        let verdict = judge(Preset::Full, &["*"]).judge("run_command", &demand(line.clone()));
        let hidden = line.contains(['\'', '"', '`', '#', '\\']) || line.contains("<<") || line.contains("((") || line.contains("${") || line.contains("case") || line.contains("[[") || line.contains("in ");
        if !hidden {
            prop_assert_ne!(verdict.decision, Decision::Allow, "{:?}: {:?}", line, verdict);
        }
    }

    #[test]
    fn judging_is_total(line in any::<String>(), directory in any::<String>(), path in any::<String>(), tool in any::<String>()) {
        let judge = judge(Preset::Full, &["git status", "*"]);
        let request = CommandRequest { line, directory, ..CommandRequest::default() };
        let paths = vec![path.clone()];
        let demand = Demand { reads: paths.clone(), writes: paths.clone(), deletes: paths, command: Some(request), ..Demand::default() };
        let verdict = judge.judge(&tool, &demand);
        prop_assert!(!verdict.reason.is_empty());
        judge.may_read(&path);
    }

    #[test]
    fn a_tighter_preset_never_allows_more(line in lines()) {
        let presets = [Preset::ReadOnly, Preset::Ask, Preset::AutoEdit, Preset::Full];
        let decide = |preset| judge(preset, &["git status"]).judge("run_command", &demand(line.clone())).decision;
        let decisions = presets.map(decide);
        prop_assert!(decisions.is_sorted_by(|tighter, looser| tighter >= looser), "{:?}: {:?}", line, decisions);
    }
}
