//! What "remember this" becomes: rules that match the same again and nothing else.
//!
//! Knows how to write paths and words so that globs and patterns take them plainly. A call that cannot be said exactly
//! is not remembered: the answer is an empty list, and the question is asked again next time.
//!
//! What always holds: of a command line, only one simple command at the root becomes a rule. Rules speak of single
//! commands and of no directory, so that one made of anything else would allow more than somebody was shown.

use loggia_domain::{Decision, Demand, Policy, Preset, Rule};

use super::paths::{Directory, Spot};
use super::pattern::quoted;
use super::shell::{self, Command, CommandRole};
use super::{Judge, Place};

/// Rules that decide the same about the same call: its paths, and its command word by word with the files it is
/// redirected to.
///
/// Empty if that cannot be said: if a word is not certain, if the line runs several commands or one inside another, if
/// it runs elsewhere than at the root, or if several things were refused together, since no rule says "these, but only
/// together".
pub fn rules_like(tool: &str, demand: &Demand, decision: Decision) -> Vec<Rule> {
    let place = anywhere();
    let mut rules = Vec::new();
    for path in [&demand.reads, &demand.writes, &demand.deletes].into_iter().flatten() {
        match place.locate(path) {
            // An absolute path is left to whoever tidies paths before they are judged.
            Spot::Inside(inside) if !path.starts_with('/') => {
                push(&mut rules, path_rule(tool, &inside, decision));
            }
            _ => return Vec::new(),
        }
    }
    let Some(request) = &demand.command else { return rules };
    let Spot::Inside(directory) = place.locate(&request.directory) else { return Vec::new() };
    let start = Directory::Inside(directory.into_owned());
    let reading = shell::read_request(request, &start, &place);
    if reading.unread.is_some() || reading.unruled.is_some() {
        return Vec::new();
    }
    let [command] = &reading.commands[..] else { return Vec::new() };
    let Some(found) = rules_for(tool, command, decision, &place) else { return Vec::new() };
    for rule in found {
        push(&mut rules, rule);
    }
    if decision != Decision::Allow && rules.len() > 1 {
        return Vec::new();
    }
    rules
}

/// Whether the same call is decided so from now on, once there are the rules that [`rules_like`] makes. Some things stay
/// questions, whatever the rules say.
pub fn is_settled(tool: &str, demand: &Demand, decision: Decision) -> bool {
    let rules = rules_like(tool, demand, decision);
    let judge = Judge::new(&Policy::default(), Preset::Ask, &rules, None, &anywhere());
    !rules.is_empty() && judge.is_ok_and(|judge| judge.judge(tool, demand).decision == decision)
}

/// Any root will do: only what lies inside it, wherever it is, can be said in a rule.
fn anywhere() -> Place {
    Place { root: "/project".into(), home: None }
}

/// The rules for one simple command and the files it is redirected to; nothing if it is not at the root, if it stands
/// for another one, or if a word is not certain.
fn rules_for(tool: &str, command: &Command, decision: Decision, place: &Place) -> Option<Vec<Rule>> {
    let root = Directory::Inside(String::new());
    if command.role == CommandRole::Carries || command.directories.iter().any(|directory| *directory != root)
    {
        return None;
    }
    let mut rules = Vec::new();
    for redirection in &command.redirections {
        let file = redirection.target.certain()?;
        match place.locate_from(&root, file)? {
            Spot::Inside(path) if !file.starts_with('/') => rules.push(path_rule(tool, &path, decision)),
            _ if file.starts_with("/dev/") => {}
            _ => return None,
        }
    }
    if command.words.is_empty() && command.assignments.is_empty() {
        return Some(rules);
    }
    let words = command.assignments.iter().chain(&command.words).map(|word| word.certain().map(quoted));
    let pattern = words.collect::<Option<Vec<_>>>()?.join(" ");
    rules.push(Rule { command: Some(pattern), ..rule(tool, decision) });
    Some(rules)
}

fn path_rule(tool: &str, path: &str, decision: Decision) -> Rule {
    Rule { path: Some(globset::escape(path)), ..rule(tool, decision) }
}

fn rule(tool: &str, decision: Decision) -> Rule {
    Rule {
        tool: Some(globset::escape(tool)),
        path: None,
        command: None,
        decision,
        risk: None,
        reason: None,
        examples: Vec::new(),
    }
}

fn push(rules: &mut Vec<Rule>, rule: Rule) {
    if !rules.contains(&rule) {
        rules.push(rule);
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::CommandRequest;

    use super::*;

    fn line(text: &str) -> Demand {
        Demand {
            command: Some(CommandRequest { line: text.to_owned(), ..CommandRequest::default() }),
            ..Demand::default()
        }
    }

    fn patterns(text: &str, decision: Decision) -> Vec<String> {
        let rules = rules_like("run_command", &line(text), decision);
        rules.into_iter().filter_map(|rule| rule.command.or(rule.path)).collect()
    }

    #[test]
    fn a_simple_command_is_remembered_word_by_word() {
        assert_eq!(patterns("cargo test", Decision::Allow), ["cargo test"]);
        assert_eq!(patterns("echo 'a b' '*' \"it's\"", Decision::Allow), ["echo 'a b' '*' 'it'\\''s'"]);
        assert_eq!(patterns("(ls)", Decision::Allow), ["ls"]);
        assert_eq!(patterns("A=1 make -j8", Decision::Allow), ["A=1 make -j8"]);
        assert_eq!(patterns("make > build/log 2>/dev/null", Decision::Allow), ["build/log", "make"]);
    }

    #[test]
    fn what_cannot_be_said_exactly_is_not_remembered() {
        for text in [
            "ls $X",
            "ls *.rs",
            "$X",
            "ls # x",
            "cat <<E\nx\nE",
            "f() { ls; }",
            "ls 'x",
            "ls > /etc/x",
            "export A=1",
        ] {
            assert!(patterns(text, Decision::Allow).is_empty(), "{text}");
        }
        assert_eq!(patterns("rm x", Decision::Deny), ["rm x"]);
        assert!(patterns("cargo build && rm x", Decision::Deny).is_empty());
    }

    #[test]
    fn a_line_of_several_commands_is_not_remembered() {
        for text in [
            "cd sub && rm -f x.txt",
            "test -f nofile && rm -f x.txt; true",
            "ls && ls",
            "echo a | grep a",
            "if true; then rm x; fi",
            "timeout 5 cargo test",
            "sh -c 'rm x'",
            "env -C sub rm x",
            "(ls) > log",
        ] {
            assert!(patterns(text, Decision::Allow).is_empty(), "{text}");
            assert!(patterns(text, Decision::Deny).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_command_is_remembered_at_the_root_only() {
        let remembered = |directory: &str| {
            let (line, directory) = ("rm -f x.txt".to_owned(), directory.to_owned());
            let request = CommandRequest { line, directory, ..CommandRequest::default() };
            let demand = Demand { command: Some(request), ..Demand::default() };
            !rules_like("run_command", &demand, Decision::Allow).is_empty()
        };
        for root in ["", ".", "sub/.."] {
            assert!(remembered(root), "{root}");
        }
        for elsewhere in ["sub", "./sub", "..", "/tmp"] {
            assert!(!remembered(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn variables_are_part_of_what_is_remembered() {
        let with = |name: &str| {
            let environment = vec![(name.to_owned(), "1".to_owned())];
            let request =
                CommandRequest { line: "ls -l".to_owned(), environment, ..CommandRequest::default() };
            let demand = Demand { command: Some(request), ..Demand::default() };
            let rules = rules_like("x", &demand, Decision::Allow);
            rules.into_iter().filter_map(|rule| rule.command).collect::<Vec<_>>()
        };
        assert_eq!(with("A"), ["A=1 ls -l"]);
        assert!(with("BASH_FUNC_ls%%").is_empty());
    }

    #[test]
    fn what_was_remembered_is_allowed_the_next_time_and_its_like_is_not() {
        let place = Place { root: "/home/ada/project".into(), home: Some("/home/ada".into()) };
        let decide = |remembered: &Demand, asked: &Demand| {
            let rules = rules_like("t", remembered, Decision::Allow);
            let judge = Judge::new(&Policy::default(), Preset::Ask, &rules, None, &place).unwrap();
            judge.judge("t", asked).decision
        };
        let writes = |path: &str| Demand { writes: vec![path.to_owned()], ..Demand::default() };
        for (remembered, asked, decision) in [
            (line("git commit -m 'a * b'"), line("git commit -m 'a * b'"), Decision::Allow),
            (line("git commit -m 'a * b'"), line("git commit -m 'a x b'"), Decision::Ask),
            (line("echo hi > a[1].txt"), line("echo hi > 'a[1].txt'"), Decision::Ask),
            (line("echo hi > 'a[1].txt'"), line("echo hi > 'a[1].txt'"), Decision::Allow),
            (line("echo hi > a.txt"), line("echo hi > b.txt"), Decision::Ask),
            (writes("src/[a].rs"), writes("./src/[a].rs"), Decision::Allow),
            (writes("src/[a].rs"), writes("src/a.rs"), Decision::Ask),
            (writes("src/*"), writes("src/a"), Decision::Ask),
        ] {
            assert_eq!(decide(&remembered, &asked), decision, "{remembered:?} {asked:?}");
        }
    }
}
