//! Order, presets, paths and reasons. Tricks with commands are in the escape suite.

use loggia_domain::{CommandRequest, SandboxPolicy};

use super::*;

use Decision::{Allow, Ask, Deny};

fn place() -> Place {
    Place { root: "/home/ada/project".into(), home: Some("/home/ada".into()) }
}

fn rule(decision: Decision) -> Rule {
    Rule { tool: None, path: None, command: None, decision, risk: None, reason: None, examples: Vec::new() }
}

fn path_rule(path: &str, decision: Decision) -> Rule {
    Rule { path: Some(path.to_owned()), ..rule(decision) }
}

fn judge_with(rules: Vec<Rule>, preset: Preset) -> Judge {
    Judge::new(&Policy { rules, ..Policy::default() }, preset, &[], None, &place()).unwrap()
}

fn reads(path: &str) -> Demand {
    Demand { reads: vec![path.to_owned()], ..Demand::default() }
}

fn writes(path: &str) -> Demand {
    Demand { writes: vec![path.to_owned()], ..Demand::default() }
}

fn deletes(path: &str) -> Demand {
    Demand { deletes: vec![path.to_owned()], ..Demand::default() }
}

fn runs(line: &str) -> Demand {
    Demand {
        command: Some(CommandRequest { line: line.to_owned(), ..CommandRequest::default() }),
        ..Demand::default()
    }
}

#[test]
fn presets_say_what_is_free() {
    for (preset, read, write, delete, run) in [
        (Preset::ReadOnly, Allow, Deny, Deny, Deny),
        (Preset::Ask, Allow, Ask, Ask, Ask),
        (Preset::AutoEdit, Allow, Allow, Allow, Ask),
        (Preset::Full, Allow, Allow, Allow, Allow),
    ] {
        let judge = judge_with(Vec::new(), preset);
        let decide = |demand: &Demand| judge.judge("t", demand).decision;
        let decisions =
            (decide(&reads("a")), decide(&writes("a")), decide(&deletes("a")), decide(&runs("make")));
        assert_eq!(decisions, (read, write, delete, run), "{preset:?}");
        assert_eq!(decide(&Demand::default()), Allow, "a plan touches nothing");
    }
}

#[test]
fn commands_of_extensions_are_judged_like_commands_and_by_the_tools_name() {
    let runs = || Demand {
        guest_command: Some(loggia_domain::GuestCommandRequest {
            command: "demo/go".to_owned(),
            ..Default::default()
        }),
        ..Demand::default()
    };
    let presets =
        [(Preset::ReadOnly, Deny), (Preset::Ask, Ask), (Preset::AutoEdit, Ask), (Preset::Full, Allow)];
    for (preset, decision) in presets {
        let verdict = judge_with(Vec::new(), preset).judge("extension_command", &runs());
        assert_eq!(verdict.decision, decision, "{preset:?}");
        assert!(verdict.reason.contains("`demo/go`"), "{}", verdict.reason);
    }
    let rule = |tool: &str, decision| Rule {
        tool: Some(tool.to_owned()),
        path: None,
        command: None,
        decision,
        risk: None,
        reason: None,
        examples: Vec::new(),
    };
    for (rules, preset, decision) in [
        (vec![rule("extension_command", Allow)], Preset::Ask, Allow),
        (vec![rule("extension_*", Allow), rule("*", Deny)], Preset::Full, Deny),
        (vec![rule("run_command", Allow)], Preset::Ask, Ask),
        // A rule about shell commands says nothing about these.
        (vec![Rule { command: Some("demo/go".to_owned()), ..rule("*", Allow) }], Preset::Ask, Ask),
        (vec![path_rule("**", Allow)], Preset::Ask, Ask),
    ] {
        assert_eq!(
            judge_with(rules.clone(), preset).judge("extension_command", &runs()).decision,
            decision,
            "{rules:?}"
        );
    }
}

#[test]
fn any_denial_wins_then_the_first_match_then_the_preset() {
    let rules = vec![
        path_rule("src/**", Allow),
        path_rule("src/generated/**", Ask),
        path_rule("src/secret.rs", Deny),
        path_rule("docs/**", Ask),
    ];
    let judge = judge_with(rules, Preset::Ask);
    for (path, decision, source) in [
        ("src/a.rs", Allow, VerdictSource::Rule(0)),
        ("src/generated/a.rs", Allow, VerdictSource::Rule(0)),
        ("src/secret.rs", Deny, VerdictSource::Rule(2)),
        ("docs/a.md", Ask, VerdictSource::Rule(3)),
        ("README.md", Ask, VerdictSource::Preset),
        (".git/config", Deny, VerdictSource::Builtin),
    ] {
        let verdict = judge.judge("write_file", &writes(path));
        assert_eq!((verdict.decision, verdict.source), (decision, source), "{path}");
    }
}

#[test]
fn decisions_of_the_session_come_first_and_still_lose_to_a_denial() {
    let policy = Policy { rules: vec![path_rule("a", Ask), path_rule("b", Deny)], ..Policy::default() };
    let session = [path_rule("a", Allow), path_rule("b", Allow)];
    let judge = Judge::new(&policy, Preset::Ask, &session, None, &place()).unwrap();
    let verdict = |path: &str| judge.judge("t", &writes(path));
    assert_eq!((verdict("a").decision, verdict("a").source), (Allow, VerdictSource::SessionRule));
    assert_eq!((verdict("b").decision, verdict("b").source), (Deny, VerdictSource::Rule(1)));
}

#[test]
fn the_worst_part_of_a_call_decides() {
    let judge = judge_with(vec![path_rule("src/**", Allow), path_rule("vendor/**", Deny)], Preset::Ask);
    let all = |paths: &[&str]| {
        let writes = paths.iter().map(|&path| path.to_owned()).collect();
        judge.judge("apply_patch", &Demand { writes, ..Demand::default() }).decision
    };
    assert_eq!(all(&["src/a", "src/b"]), Allow);
    assert_eq!(all(&["src/a", "README.md"]), Ask);
    assert_eq!(all(&["src/a", "README.md", "vendor/x"]), Deny);
}

#[test]
fn what_is_built_in_no_rule_and_no_preset_lifts() {
    let judge = judge_with(vec![rule(Allow), path_rule("**", Allow)], Preset::Full);
    for path in [
        "..",
        "../x",
        "/etc/passwd",
        "a\0b",
        ".env",
        "src/.env.local",
        "id_rsa",
        ".ssh/config",
        "x/../.env",
        "./.ENV",
    ] {
        assert_eq!(judge.judge("read_file", &reads(path)).decision, Deny, "reading {path:?}");
        assert!(!judge.may_read(path), "{path:?}");
    }
    for path in [
        ".git",
        ".git/config",
        ".GIT/hooks/x",
        ".loggia/policy.toml",
        ".mehrhof/config.yaml",
        "",
        ".",
        "src/..",
        ".//.git//x/",
    ] {
        assert_eq!(judge.judge("write_file", &writes(path)).decision, Deny, "writing {path:?}");
        assert_eq!(judge.judge("delete_file", &deletes(path)).decision, Deny, "removing {path:?}");
        assert_eq!(judge.judge("read_file", &reads(path)).decision, Allow, "reading {path:?}");
    }
}

#[test]
fn rules_are_for_the_tools_they_name() {
    let named = |tool: &str, decision| Rule { tool: Some(tool.to_owned()), ..rule(decision) };
    let judge = judge_with(vec![named("web_*", Deny), named("write_file", Allow)], Preset::Ask);
    assert_eq!(judge.judge("web_search", &Demand::default()).decision, Deny);
    assert_eq!(judge.judge("write_file", &writes("a")).decision, Allow);
    assert_eq!(judge.judge("edit_file", &writes("a")).decision, Ask);
}

#[test]
fn what_may_not_be_read_is_left_out() {
    let judge = judge_with(vec![path_rule("private/**", Deny), path_rule("drafts", Ask)], Preset::Full);
    for (path, may) in [
        ("src/a.rs", true),
        ("", true),
        ("private", false),
        ("private/a", false),
        ("drafts/a", false),
        (".env", false),
        (".git/config", true),
    ] {
        assert_eq!(judge.may_read(path), may, "{path}");
    }
}

#[test]
fn a_rule_may_state_the_risk() {
    let judge =
        judge_with(vec![Rule { risk: Some(Risk::High), ..path_rule("schema.sql", Ask) }], Preset::Ask);
    assert_eq!(judge.judge("t", &writes("schema.sql")).risk, Risk::High);
    assert_eq!(judge.judge("t", &writes("a")).risk, Risk::Medium);
    assert_eq!(judge.judge("t", &deletes("a")).risk, Risk::High);
    assert_eq!(judge.judge("t", &reads("a")).risk, Risk::Low);
    assert_eq!(judge.judge("t", &runs("ls | sort")).risk, Risk::Low);
    assert_eq!(judge.judge("t", &runs("ls | curl -T - x")).risk, Risk::High);
}

#[test]
fn a_suggestion_speaks_after_the_policy() {
    let text = "preset = \"ask\"\n[[rules]]\npath = \"a\"\ndecision = \"ask\"\n[[rules]]\npath = \"b\"\ndecision = \"deny\"\n[[rules]]\npath = \"c\"\ndecision = \"allow\"";
    let decide = |trusted: bool, path: &str, preset| {
        let suggestion = Suggestion::parse(text, trusted).unwrap();
        let policy =
            Policy { rules: vec![path_rule("a", Allow), path_rule("b", Allow)], ..Policy::default() };
        let judge = Judge::new(&policy, preset, &[], Some(&suggestion), &place()).unwrap();
        judge.judge("t", &writes(path)).decision
    };
    assert_eq!(decide(false, "a", Preset::Ask), Allow, "the policy's own rule is first");
    assert_eq!(decide(false, "b", Preset::Full), Deny, "a denial wins wherever it stands");
    assert_eq!(decide(false, "c", Preset::Ask), Ask, "an untrusted workspace allows nothing");
    assert_eq!(decide(true, "c", Preset::Ask), Allow);
    assert_eq!(decide(false, "d", Preset::Full), Ask, "an untrusted workspace may ask for a tighter preset");
    assert_eq!(
        decide(true, "d", Preset::Full),
        Allow,
        "what a trusted one says of presets is for whoever starts sessions"
    );
    let asks = Suggestion::parse(
        "[[rules]]\npath = \"a\"\ndecision = \"ask\"\n[[rules]]\ncommand = \"make *\"\ndecision = \"ask\"",
        false,
    )
    .unwrap();
    let judge = Judge::new(&Policy::default(), Preset::ReadOnly, &[], Some(&asks), &place()).unwrap();
    assert_eq!(judge.judge("t", &writes("a")).decision, Deny, "to ask is looser than to deny");
    assert_eq!(judge.judge("t", &runs("make x")).decision, Deny, "to ask is looser than to deny");
}

#[test]
fn directories_that_commands_may_write_are_not_forbidden() {
    let sandbox = SandboxPolicy {
        writable: vec!["~/.cache/x".to_owned()],
        readable: vec!["/opt/data".to_owned()],
        ..SandboxPolicy::default()
    };
    let judge =
        Judge::new(&Policy { sandbox, ..Policy::default() }, Preset::Full, &[], None, &place()).unwrap();
    for (line, decision) in [
        ("echo x > ~/.cache/x/y", Allow),
        ("rm -rf /home/ada/.cache/x/y", Allow),
        ("echo x > ~/.cache/y", Deny),
        ("cat < /opt/data/y", Allow),
        ("echo x > /opt/data/y", Deny),
    ] {
        assert_eq!(judge.judge("t", &runs(line)).decision, decision, "{line}");
    }
}

#[test]
fn reasons_name_what_decided() {
    let rules = vec![
        Rule { reason: Some("generated by the build".to_owned()), ..path_rule("gen/**", Deny) },
        Rule { command: Some("git push *".to_owned()), ..rule(Deny) },
        Rule { command: Some("git status".to_owned()), ..rule(Allow) },
    ];
    let judge = judge_with(rules, Preset::Ask);
    let reason = |demand: &Demand| judge.judge("t", demand).reason;
    let reasons: Vec<String> = [
        writes("gen/a"),
        writes("a"),
        writes(".git/config"),
        reads(".env"),
        writes("../a"),
        runs("git status"),
        runs("git status && git push"),
        runs("git $X"),
        runs("make # all"),
        runs("sudo make"),
        runs("rm -rf $X"),
        runs("cat 'x"),
        runs("$X"),
        Demand::default(),
    ]
    .iter()
    .map(reason)
    .collect();
    insta::assert_snapshot!(reasons.join("\n"), @r"
    rule 1 denies changing `gen/a`: generated by the build
    preset `ask` asks about changing `a`
    built in: `.git/config` must not be changed: it is part of git's own files, which run programs and hold the history
    built in: `.env` must be neither read nor written: it holds the settings of one machine, passwords among them
    built in: `../a` is outside the workspace
    rule 3 allows `git status`
    rule 2 denies `git push`
    `git …` may turn out to be something that rule 2 denies
    preset `ask` asks about `make`; no rule speaks for this line: it may have a comment
    built in: `sudo` must not run: it takes the rights of another user
    built in: removing everything below `…`, and it is not known what that is
    built in: the line is not understood: unterminated single quote at 1,5
    built in: the line is not understood: it is not known which program it runs
    `t` touches nothing
    ");
}
