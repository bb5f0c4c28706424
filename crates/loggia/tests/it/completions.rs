//! `loggia completions SHELL`.

use crate::stage::Stage;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands_and_none_of_the_hidden_ones() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let shown = stage.run(&["completions", shell]);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["inspect", "config", "completions", "log-level"] {
            assert!(shown.stdout.contains(word), "{shell} does not know {word}");
        }
        assert!(!shown.stdout.contains("supervise"), "{shell} knows a hidden command");
    }
}

#[test]
fn completions_do_not_need_a_sound_configuration() {
    let stage = Stage::new();
    stage.user_file("this is not TOML");
    assert_eq!(stage.run_with(&[("LOGGIA_NONSENSE", "1")], &["completions", "bash"]).code, Some(0));
}

#[test]
fn an_unknown_shell_is_a_usage_error() {
    insta::assert_snapshot!(Stage::new().run(&["completions", "tcsh"]), @r"
    exit: 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    [END]
    ");
}
