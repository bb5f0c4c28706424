//! Configuration that does not make sense: each layer, each kind of mistake, always with its place.

use crate::stage::Stage;

const SHOW: [&str; 2] = ["config", "show"];

#[test]
fn an_unknown_key_in_the_users_file() {
    let stage = Stage::new();
    stage.user_file("[server]\naddr = \"127.0.0.1:1\"\nadress = \"127.0.0.1:2\"\n");
    insta::assert_snapshot!(stage.run(&SHOW), @r"
    exit: 3
    --- stderr
    error: unknown key `server.adress` in `[STAGE]/home/.config/loggia/config.toml:3:1`

    hint: did you mean `server.addr`?
    [END]
    ");
}

#[test]
fn an_unknown_key_in_the_workspaces_file() {
    let stage = Stage::with_workspace("[polcy]\npreset = \"read-only\"\n");
    insta::assert_snapshot!(stage.run(&SHOW), @r"
    exit: 3
    --- stderr
    error: unknown key `polcy.preset` in `[STAGE]/project/.loggia/config.toml:2:1`

    hint: did you mean `policy.preset`?
    [END]
    ");
}

#[test]
fn an_unknown_key_in_set() {
    insta::assert_snapshot!(Stage::new().run(&["--set", "sandbox.requird=true", "config", "show"]), @r"
    exit: 3
    --- stderr
    error: unknown key `sandbox.requird` in `--set`

    hint: did you mean `sandbox.required`?
    [END]
    ");
}

#[test]
fn an_unknown_variable() {
    insta::assert_snapshot!(Stage::new().run_with(&[("LOGGIA_SANBOX_NETWORK", "true")], &SHOW), @r"
    exit: 3
    --- stderr
    error: unknown variable `LOGGIA_SANBOX_NETWORK` in the environment

    hint: did you mean `LOGGIA_SANDBOX_NETWORK`?
    [END]
    ");
    insta::assert_snapshot!(Stage::new().run_with(&[("LOGGIA_XYZZY", "true")], &SHOW), @r"
    exit: 3
    --- stderr
    error: unknown variable `LOGGIA_XYZZY` in the environment

    hint: variables that begin with `LOGGIA_` are reserved; unset this one
    [END]
    ");
}

#[test]
fn a_variable_that_only_resembles_ours_is_left_alone() {
    assert_eq!(Stage::new().run_with(&[("LOGGIAN", "x"), ("MY_LOGGIA_X", "y")], &SHOW).code, Some(0));
}

#[test]
fn an_unknown_key_that_is_asked_for() {
    insta::assert_snapshot!(Stage::new().run(&["config", "show", "server.adr"]), @r"
    exit: 2
    --- stderr
    error: there is no key `server.adr`

    hint: did you mean `server.addr`?
    [END]
    ");
    insta::assert_snapshot!(Stage::new().run(&["config", "show", "xyzzy"]), @r"
    exit: 2
    --- stderr
    error: there is no key `xyzzy`

    hint: `loggia config show` lists all keys
    [END]
    ");
}

#[test]
fn a_value_of_the_wrong_type_in_a_file() {
    let stage = Stage::new();
    stage.user_file("[policy]\nmax_steps = \"many\"\n");
    insta::assert_snapshot!(stage.run(&SHOW), @r#"
    exit: 3
    --- stderr
    error: `policy.max_steps` cannot be `"many"` (in `[STAGE]/home/.config/loggia/config.toml:2:13`)

    hint: expected a whole number, zero or more
    [END]
    "#);
}

#[test]
fn a_word_that_is_not_a_choice() {
    let stage = Stage::with_workspace("[policy]\npreset = \"yolo\"\n");
    insta::assert_snapshot!(stage.run(&SHOW), @r#"
    exit: 3
    --- stderr
    error: `policy.preset` cannot be `"yolo"` (in `[STAGE]/project/.loggia/config.toml:2:10`)

    hint: expected one of `read-only`, `ask`, `auto-edit`, `full`
    [END]
    "#);
}

#[test]
fn a_value_of_the_wrong_type_in_a_variable_and_in_set() {
    insta::assert_snapshot!(Stage::new().run_with(&[("LOGGIA_SERVER_ADDR", "here")], &SHOW), @r"
    exit: 3
    --- stderr
    error: `server.addr` cannot be `here` (in `LOGGIA_SERVER_ADDR`)

    hint: expected an address such as `127.0.0.1:3199`
    [END]
    ");
    insta::assert_snapshot!(Stage::new().run(&["--set", "sandbox.required=yes", "config", "show"]), @r"
    exit: 3
    --- stderr
    error: `sandbox.required` cannot be `yes` (in `--set`)

    hint: expected `true` or `false`
    [END]
    ");
}

#[test]
fn a_file_that_is_not_toml() {
    let stage = Stage::new();
    stage.user_file("[server]\naddr = 127.0.0.1\n");
    insta::assert_snapshot!(stage.run(&SHOW), @r"
    exit: 3
    --- stderr
    error: `[STAGE]/home/.config/loggia/config.toml:2:13` cannot be understood
      cause: invalid float, expected nothing
    [END]
    ");
}

#[test]
fn a_file_that_is_not_text_or_not_a_file() {
    let stage = Stage::new();
    stage.write("home/.config/loggia/config.toml", b"\xff\xfe");
    insta::assert_snapshot!(stage.run(&SHOW), @r"
    exit: 3
    --- stderr
    error: cannot read `[STAGE]/home/.config/loggia/config.toml`
      cause: stream did not contain valid UTF-8

    hint: see that `[STAGE]/home/.config/loggia/config.toml` is a file of text
    [END]
    ");
    let stage = Stage::new();
    std::fs::create_dir_all(stage.path("home/.config/loggia/config.toml")).unwrap();
    insta::assert_snapshot!(stage.run(&SHOW), @r"
    exit: 3
    --- stderr
    error: cannot read `[STAGE]/home/.config/loggia/config.toml`
      cause: not a regular file

    hint: see that `[STAGE]/home/.config/loggia/config.toml` is a file of text
    [END]
    ");
}

#[test]
fn a_directory_that_is_not_absolute() {
    insta::assert_snapshot!(Stage::new().run_with(&[("LOGGIA_DATA_DIR", "data")], &SHOW), @r"
    exit: 3
    --- stderr
    error: `LOGGIA_DATA_DIR` must be an absolute path, not `data`
    [END]
    ");
}

#[test]
fn text_from_a_file_cannot_steer_the_terminal() {
    let stage = Stage::with_workspace("model.default = \"\\u001b]0;owned\\u0007\"\n");
    let shown = stage.run(&SHOW);
    assert!(!shown.stdout.contains('\u{1b}') && !shown.stderr.contains('\u{1b}'), "{shown}");
    assert!(shown.stderr.contains("\\u{1b}]0;owned"), "{shown}");
}
