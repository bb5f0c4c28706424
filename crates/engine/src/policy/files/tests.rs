//! Policies survive the disk, and nobody overwrites what they have not seen.

use std::os::unix::fs::PermissionsExt;

use loggia_domain::{
    CommandMode, Decision, HardLinks, PolicyLimits, Preset, Risk, Rule, RuleExample, SandboxPolicy,
};
use proptest::prelude::*;

use super::*;

fn files() -> (tempfile::TempDir, PolicyFiles) {
    let directory = tempfile::tempdir().unwrap();
    let files = PolicyFiles::new(directory.path().join("policies"), Policy::default());
    (directory, files)
}

#[test]
fn an_unwritten_policy_is_the_default_one() {
    let (_directory, files) = files();
    assert_eq!(files.load(WorkspaceId::new()).unwrap(), Policy::default());
}

#[test]
fn what_nobody_wrote_is_as_in_the_base_and_what_was_written_whole_stays() {
    let directory = tempfile::tempdir().unwrap();
    let limits = PolicyLimits { max_tokens: Some(9), max_steps: 3, ..PolicyLimits::default() };
    let base = Policy { preset: Preset::ReadOnly, limits, ..Policy::default() };
    let files = PolicyFiles::new(directory.path(), base.clone());
    let workspace = WorkspaceId::new();
    assert_eq!(files.load(workspace).unwrap(), base);
    std::fs::write(files.path(workspace), "[limits]\nmax_steps = 5\n").unwrap();
    let by_hand = files.load(workspace).unwrap();
    assert_eq!(
        (by_hand.preset, by_hand.limits.max_steps, by_hand.limits.max_tokens),
        (Preset::ReadOnly, 5, Some(9))
    );
    // Whoever took a limit away through a client has it away, also after the next start.
    let lifted = files.save(workspace, Policy::default(), 0).unwrap();
    assert_eq!(files.load(workspace).unwrap(), lifted);
    assert_eq!(lifted.limits.max_tokens, None);
}

#[test]
fn a_saved_policy_is_loaded_again_with_its_new_revision() {
    let (_directory, files) = files();
    let workspace = WorkspaceId::new();
    let first = files.save(workspace, Policy { preset: Preset::Full, ..Policy::default() }, 0).unwrap();
    assert_eq!((first.revision, first.preset), (1, Preset::Full));
    assert_eq!(files.load(workspace).unwrap(), first);
    let second = files.save(workspace, Policy::default(), 1).unwrap();
    assert_eq!(second.revision, 2);
}

#[test]
fn a_stale_change_is_refused_and_names_both_revisions() {
    let (_directory, files) = files();
    let workspace = WorkspaceId::new();
    files.save(workspace, Policy::default(), 0).unwrap();
    let error = files.save(workspace, Policy { preset: Preset::Full, ..Policy::default() }, 0).unwrap_err();
    insta::assert_snapshot!(error, @"the policy is at revision 1, and the change was made to revision 0; read it again");
    assert_eq!(files.load(workspace).unwrap().preset, Preset::Ask);
}

#[test]
fn a_policy_that_cannot_be_used_is_not_written() {
    let (_directory, files) = files();
    let workspace = WorkspaceId::new();
    let policy = Policy { rules: vec![allow("ls |")], ..Policy::default() };
    assert!(matches!(files.save(workspace, policy, 0), Err(PolicyFileError::Rules(_))));
    assert!(!files.path(workspace).exists());
}

/// A rule that allows a command.
fn allow(pattern: &str) -> Rule {
    Rule {
        tool: None,
        path: None,
        command: Some(pattern.to_owned()),
        decision: Decision::Allow,
        risk: None,
        reason: None,
        examples: Vec::new(),
    }
}

#[test]
fn only_the_owner_may_read_a_policy() {
    let (_directory, files) = files();
    let workspace = WorkspaceId::new();
    files.save(workspace, Policy::default(), 0).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files.path(workspace)), 0o600);
    assert_eq!(mode(files.path(workspace).parent().unwrap()), 0o700);
}

#[test]
fn a_damaged_file_is_an_error_and_is_not_overwritten() {
    let (_directory, files) = files();
    let workspace = WorkspaceId::new();
    files.save(workspace, Policy::default(), 0).unwrap();
    fs::write(files.path(workspace), "preset = ").unwrap();
    assert!(matches!(files.load(workspace), Err(PolicyFileError::Damaged { .. })));
    assert!(matches!(files.save(workspace, Policy::default(), 0), Err(PolicyFileError::Damaged { .. })));
    assert_eq!(fs::read_to_string(files.path(workspace)).unwrap(), "preset = ");
    fs::write(files.path(workspace), vec![b' '; 2 << 20]).unwrap();
    assert!(matches!(files.load(workspace), Err(PolicyFileError::Io { .. })));
}

#[test]
fn mistakes_in_a_file_are_explained() {
    let problem = |text: &str| format::policy_from(text, &Policy::default()).unwrap_err();
    insta::assert_snapshot!(problem("preset = \"ask\"\nrule = []"), @"line 2: unknown field `rule`, expected one of `revision`, `preset`, `command_mode`, `fallback_to_server_runner`, `hard_links`, `sandbox`, `limits`, `rules`; did you mean `rules`?");
    insta::assert_snapshot!(problem("preset = \"aks\""), @"line 1: unknown variant `aks`, expected one of `read-only`, `ask`, `auto-edit`, `full`; did you mean `ask`?");
    insta::assert_snapshot!(problem("[sandbox]\n\nnetwrok = true"), @"line 3: unknown field `netwrok`, expected one of `required`, `network`, `unix_sockets`, `readable`, `writable`, `environment`; did you mean `network`?");
    insta::assert_snapshot!(problem("[[rules]]\ntool = \"x\""), @"line 1: missing field `decision`");
    insta::assert_snapshot!(problem("quite_another_thing = 1"), @"line 1: unknown field `quite_another_thing`, expected one of `revision`, `preset`, `command_mode`, `fallback_to_server_runner`, `hard_links`, `sandbox`, `limits`, `rules`");
}

#[test]
fn a_written_file_reads_well() {
    let policy = Policy {
        revision: 3,
        rules: vec![Rule {
            decision: Decision::Deny,
            risk: Some(Risk::High),
            reason: Some("pushes are mine".to_owned()),
            examples: vec![RuleExample { text: "git push origin".to_owned(), matches: true }],
            ..allow("git push *")
        }],
        ..Policy::default()
    };
    insta::assert_snapshot!(format::text_of(&policy).unwrap(), @r#"
    revision = 3
    preset = "ask"
    command_mode = "local_terminal"
    fallback_to_server_runner = true
    hard_links = "refuse"

    [sandbox]
    required = true
    network = false
    unix_sockets = false
    readable = []
    writable = []
    environment = []

    [limits]
    command_timeout_s = 120
    output_bytes = 1048576
    max_steps = 100

    [[rules]]
    command = "git push *"
    decision = "deny"
    risk = "high"
    reason = "pushes are mine"

    [[rules.examples]]
    text = "git push origin"
    matches = true
    "#);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z0-9/*._-]{0,12}"]
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let decision = prop_oneof![Just(Decision::Allow), Just(Decision::Ask), Just(Decision::Deny)];
    let risk = proptest::option::of(prop_oneof![Just(Risk::Low), Just(Risk::Medium), Just(Risk::High)]);
    let example = (text(), any::<bool>()).prop_map(|(text, matches)| RuleExample { text, matches });
    let words = [(); 4].map(|()| proptest::option::of(text()));
    let rule = (words, decision, risk, proptest::collection::vec(example, 0..3)).prop_map(
        |([tool, path, command, reason], decision, risk, examples)| Rule {
            tool,
            path,
            command,
            decision,
            risk,
            reason,
            examples,
        },
    );
    proptest::collection::vec(rule, 0..4)
}

prop_compose! {
    fn policies()(
        revision in 0..=u64::MAX / 2,
        preset in prop_oneof![Just(Preset::ReadOnly), Just(Preset::Ask), Just(Preset::AutoEdit), Just(Preset::Full)],
        rules in rules(),
        flags in any::<[bool; 6]>(),
        lists in [(); 3].map(|()| proptest::collection::vec(text(), 0..3)),
        numbers in [(); 2].map(|()| 0..=u64::MAX / 2),
        max_steps in any::<u32>(),
        most in [(); 2].map(|()| proptest::option::of(0..=u64::MAX / 2)),
    ) -> Policy {
        let [readable, writable, environment] = lists;
        Policy {
            revision,
            preset,
            rules,
            command_mode: if flags[0] { CommandMode::LocalTerminal } else { CommandMode::ServerRunner },
            fallback_to_server_runner: flags[1],
            sandbox: SandboxPolicy {
                required: flags[2],
                network: flags[3],
                unix_sockets: flags[4],
                readable,
                writable,
                environment,
            },
            limits: PolicyLimits {
                command_timeout_s: numbers[0],
                output_bytes: numbers[1],
                max_steps,
                max_tokens: most[0],
                approval_timeout_s: most[1],
            },
            hard_links: if flags[5] { HardLinks::Refuse } else { HardLinks::Read },
        }
    }
}

proptest! {
    #[test]
    fn a_policy_loses_nothing_on_its_way_through_the_file(policy in policies()) {
        let text = format::text_of(&policy).unwrap();
        prop_assert_eq!(format::policy_from(&text, &Policy::default()), Ok(policy));
    }

    #[test]
    fn any_text_is_a_policy_or_an_explained_mistake(text in any::<String>()) {
        let _ = format::policy_from(&text, &Policy::default());
    }
}
