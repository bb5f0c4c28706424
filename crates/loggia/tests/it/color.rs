//! Colours: when they are there and when they are not.

use crate::stage::Stage;

fn coloured(variables: &[(&str, &str)], arguments: &[&str]) -> bool {
    let shown = Stage::new().run_with(variables, arguments);
    assert_eq!(shown.code, Some(0));
    shown.stdout.contains('\u{1b}')
}

#[test]
fn a_pipe_is_not_coloured_unless_asked_for() {
    assert!(!coloured(&[], &["config", "show"]));
    assert!(coloured(&[], &["--color", "always", "config", "show"]));
    assert!(coloured(&[], &["config", "show", "--color=always"]));
    assert!(coloured(&[("LOGGIA_UI_COLOR", "always")], &["config", "show"]));
    assert!(coloured(&[], &["--set", "ui.color=always", "config", "show"]));
}

#[test]
fn the_conventional_variables_are_respected_and_the_flag_is_stronger() {
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &["config", "show"]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &["config", "show"]));
    assert!(coloured(&[("NO_COLOR", "1")], &["--color", "always", "config", "show"]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never", "config", "show"]));
}

#[test]
fn help_follows_the_flag() {
    assert!(coloured(&[], &["--color", "always", "--help"]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never", "--help"]));
}

#[test]
fn the_users_file_is_heard() {
    let stage = Stage::new();
    stage.user_file("ui.color = \"always\"");
    assert!(stage.run(&["config", "show"]).stdout.contains('\u{1b}'));
}

#[test]
fn errors_and_hints_are_coloured_alike() {
    let arguments = ["--color=always", "--set", "polcy.preset=ask", "config", "show"];
    insta::assert_snapshot!(Stage::new().run(&arguments), @r"
    exit: 3
    --- stderr
    ␛[1m␛[31merror:␛[0m unknown key `polcy.preset` in `--set`

    ␛[1m␛[36mhint:␛[0m did you mean `policy.preset`?
    [END]
    ");
}
