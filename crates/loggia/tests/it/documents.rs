//! The reference pages say what the code says.

use crate::stage::{Stage, documents};

#[test]
fn generated_parts_of_the_pages_are_current() {
    let shown = Stage::new().run(&["__docs", documents().to_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "{shown}");
}

#[test]
fn a_stale_page_is_told_and_can_be_rewritten() {
    let stage = Stage::new();
    for page in ["configuration.md", "reference/exit-codes.md", "reference/command-line.md"] {
        stage.write(&format!("docs/{page}"), std::fs::read(documents().join(page)).unwrap());
    }
    let page = std::fs::read_to_string(stage.path("docs/reference/exit-codes.md")).unwrap();
    let page = stage.write("docs/reference/exit-codes.md", page.replace("| 4 |", "| 44 |"));
    let docs = stage.path("docs");
    let docs = docs.to_str().unwrap();

    insta::assert_snapshot!(stage.run(&["__docs", docs]), @r"
    exit: 1
    --- stderr
    error: not current: `exit-codes` in reference/exit-codes.md

    hint: run `cargo run --quiet --package loggia -- __docs docs --write`
    [END]
    ");
    assert!(std::fs::read_to_string(&page).unwrap().contains("| 44 |"), "telling must not write");
    insta::assert_snapshot!(stage.run(&["__docs", docs, "--write"]), @r"
    exit: 0
    --- stderr
    rewrote `exit-codes` in reference/exit-codes.md
    [END]
    ");
    assert_eq!(stage.run(&["__docs", docs]).code, Some(0));
}
