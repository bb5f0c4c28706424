//! `search_text`.

use serde_json::json;

use crate::support::{Workspace, numbered};

#[test]
fn matching_lines_come_with_path_and_number() {
    let workspace = Workspace::new(&[
        ("a.rs", "fn one() {}\nfn two() {}\n"),
        ("src/b.rs", "let x = one();"),
        ("c.txt", "One\r\ngröße one\r\n"),
    ]);
    let search = |query: &str| workspace.call("search_text", json!({"query": query}));
    assert_eq!(
        search("one"),
        "a.rs:1:fn one() {}\nc.txt:1:One\nc.txt:2:größe one\nsrc/b.rs:1:let x = one();"
    );
    assert_eq!(search("One"), "c.txt:1:One");
    assert_eq!(search("GRÖSSE"), "[no line matches; ignored and binary files are not searched]");
    assert_eq!(search("one()"), "a.rs:1:fn one() {}\nsrc/b.rs:1:let x = one();");
}

#[test]
fn a_query_may_be_an_expression_and_files_may_be_chosen() {
    let workspace = Workspace::new(&[("a.rs", "fn one() {}\n"), ("b.txt", "fn two\r\n")]);
    let search = |query: &str, glob: Option<&str>| {
        workspace.call("search_text", json!({"query": query, "regex": true, "glob": glob}))
    };
    assert_eq!(search(r"^fn \w+", None), "a.rs:1:fn one() {}\nb.txt:1:fn two");
    assert_eq!(search(r"\bfn\b", Some("*.txt")), "b.txt:1:fn two");
    assert_eq!(search("two$", None), "b.txt:1:fn two");
}

#[test]
fn ignored_binary_and_linked_files_are_left_out() {
    let workspace =
        Workspace::new(&[("seen", "needle\n"), ("ignored", "needle\n"), (".gitignore", "ignored\n")]);
    workspace.write("binary", b"needle\0");
    workspace.link("link", "seen");
    assert_eq!(workspace.call("search_text", json!({"query": "needle"})), "seen:1:needle");
}

#[test]
fn too_many_matches_are_counted_and_not_shown() {
    let workspace = Workspace::new(&[("a", &numbered(150)), ("b", &numbered(150))]);
    let found = workspace.call("search_text", json!({"query": "line"}));
    assert_eq!(found.lines().count(), 201);
    let end = "b:50:line 50\n[200 of 300 lines in 2 files shown; narrow the query or give a glob]";
    assert!(found.ends_with(end), "{found}");
    let endless = Workspace::new(&[("a", &numbered(12_000))]);
    let found = endless.call("search_text", json!({"query": "line"}));
    assert!(found.ends_with("[200 of more than 10000 lines shown; narrow the query or give a glob]"));
}

#[test]
fn long_lines_are_shown_around_the_match() {
    let line = format!("{}needle{}\n", "ä".repeat(500), "ö".repeat(500));
    let workspace = Workspace::new(&[("x", &line)]);
    let found = workspace.call("search_text", json!({"query": "needle"}));
    assert!(found.starts_with(&format!("x:1:…{}needleö", "ä".repeat(50))), "{found}");
    assert!(found.ends_with("ö…"), "{found}");
    assert!(found.len() < 420);
}

#[test]
fn output_is_bounded_by_bytes_too() {
    let line = format!("needle {}\n", "x".repeat(390));
    let workspace = Workspace::new(&[("x", &line.repeat(190))]);
    let found = workspace.call("search_text", json!({"query": "needle"}));
    assert!(found.len() < 64 * 1024 + 200);
    assert!(found.contains("of 190 lines in 1 file shown"), "{}", found.lines().last().unwrap());
}

#[test]
fn large_files_are_skipped_and_counted() {
    let workspace = Workspace::new(&[("small", "needle\n")]);
    workspace.write("large", "needle\n".repeat(1_200_000).as_bytes());
    assert_eq!(
        workspace.call("search_text", json!({"query": "needle"})),
        "small:1:needle\n[1 file too large or not readable]"
    );
}

#[test]
fn the_overlay_is_searched_in_place_of_the_disk() {
    let mut workspace = Workspace::new(&[("a", "needle\n"), ("b", "needle\n"), ("c", "needle\n")]);
    workspace.overlay("a", Some("hay\n"));
    workspace.overlay("b", None);
    workspace.overlay("bb", Some("a new needle\n"));
    assert_eq!(workspace.call("search_text", json!({"query": "needle"})), "bb:1:a new needle\nc:1:needle");
}
