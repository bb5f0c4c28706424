//! `ext new` and `ext check`, as authors see them.

use crate::stage::{Stage, Transcript};

/// A stage on which programs are found.
fn run(stage: &Stage, arguments: &[&str]) -> Transcript {
    let path = std::env::var("PATH").unwrap();
    stage.run_with(&[("PATH", &path), ("PYTHONDONTWRITEBYTECODE", "1")], arguments)
}

#[test]
fn a_new_extension_passes_the_check_and_tells_programs_so() {
    let stage = Stage::new();
    insta::assert_snapshot!(run(&stage, &["ext", "new", "mine"]), @r#"
    exit: 0
    --- stdout
    wrote mine/extension.py
    wrote mine/loggia_extension.py
    wrote mine/example.hl7
    --- stderr
    next: loggia ext check "python3 mine/extension.py"
    next: add this to your configuration, which `loggia config path` names:
    [[extensions]]
    name = "mine"
    path = "python3"
    args = ["[STAGE]/outside/mine/extension.py"]
    [END]
    "#);
    let shown = run(&stage, &["ext", "check", "python3 mine/extension.py", "--json"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    let report: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (report["ok"].as_bool(), report["extension"].as_str()),
        (Some(true), Some("mine")),
        "{report}"
    );
    let with_arguments = run(&stage, &["ext", "check", "python3", "--", "mine/extension.py"]);
    assert_eq!(with_arguments.code, Some(0), "{with_arguments}");
}

#[test]
fn the_table_that_is_printed_is_one_that_works() {
    let stage = Stage::new();
    let shown = run(&stage, &["ext", "new", "mine", "--json"]);
    let written: serde_json::Value =
        serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    let table = written["settings"].as_str().unwrap();
    stage.user_file(&table.replace("[STAGE]", stage.path("").to_str().unwrap().trim_end_matches('/')));
    let shown = run(&stage, &["config", "show", "extensions", "--json"]);
    assert!(shown.stdout.contains("mine/extension.py"), "{shown}");
}

#[test]
fn what_is_there_is_not_written_over_and_bad_names_are_refused() {
    let stage = Stage::new();
    run(&stage, &["ext", "new", "mine", "--language", "rust"]);
    insta::assert_snapshot!(run(&stage, &["ext", "new", "mine"]), @"
    exit: 2
    --- stderr
    error: `mine` is there already

    hint: name another directory with `--directory DIR`
    [END]
    ");
    insta::assert_snapshot!(run(&stage, &["ext", "new", "My Extension"]), @"
    exit: 2
    --- stderr
    error: `My Extension` is no name for an extension: it begins with a letter and has letters, digits and `-`, all small

    hint: call it something like `lab-results`
    [END]
    ");
    insta::assert_snapshot!(run(&stage, &["ext", "new", "other", "--language", "rust", "--kit", "."]), @"
    exit: 2
    --- stderr
    error: `.` is not the directory of the kit: it has no `Cargo.toml` of `loggia-extension-kit`

    hint: name `sdk/rust/extension` of a copy of Loggia's source
    [END]
    ");
}

#[test]
fn an_extension_that_cannot_be_started_or_does_not_answer_is_a_fault() {
    let stage = Stage::new();
    insta::assert_snapshot!(run(&stage, &["ext", "check", "/nowhere/wizard"]), @"
    exit: 4
    --- stdout
    extension `/nowhere/wizard`, started with `/nowhere/wizard`

      ok       command line
      FAILED   start
               expected  a process
               came      cannot start `/nowhere/wizard`: No such file or directory (os error 2)

    1 passed, 0 noted, 0 skipped, 1 failed
    [END]
    ");
    let shown = run(&stage, &["ext", "check", "python3 -c 'print(1)'"]);
    assert_eq!(shown.code, Some(4), "{shown}");
    let unclosed = run(&stage, &["ext", "check", "python3 'x.py"]);
    assert_eq!(unclosed.code, Some(4), "{unclosed}");
    let missing = run(&stage, &["ext", "check", "python3 x.py", "--message", "nothing.hl7"]);
    assert_eq!(missing.code, Some(2), "{missing}");
}
