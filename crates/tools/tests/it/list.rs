//! `list_directory` and `find_files`.

use std::path::Path;

use serde_json::json;

use crate::support::Workspace;

#[test]
fn entries_are_listed_with_what_they_are() {
    let workspace =
        Workspace::new(&[("b.txt", "12345"), ("a/deep", ""), (".hidden", ""), (".gitignore", "b.txt\n")]);
    workspace.link("link", "b.txt");
    make_fifo(&workspace.path().join("fifo"));
    assert_eq!(
        workspace.call("list_directory", json!({"path": "."})),
        ".gitignore (6 bytes)\n.hidden (0 bytes)\na/\nb.txt (5 bytes)\nfifo (not a regular file)\nlink -> b.txt"
    );
    assert_eq!(workspace.call("list_directory", json!({"path": "a/"})), "deep (0 bytes)");
}

#[expect(clippy::disallowed_methods, reason = "there is no other safe way to make a fifo here")]
pub(crate) fn make_fifo(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn what_is_no_directory_is_told() {
    let workspace = Workspace::new(&[("x", ""), ("full/y", "")]);
    std::fs::create_dir(workspace.path().join("empty")).unwrap();
    workspace.link("to_full", "full");
    workspace.link("to_x", "x");
    let list = |path: &str| workspace.call("list_directory", json!({"path": path}));
    assert_eq!(list("empty"), "[the directory is empty]");
    assert_eq!(list("x"), "failed: `x` is a file; read it with read_file");
    assert_eq!(list("to_x"), "failed: `to_x` is a file; read it with read_file");
    assert_eq!(list("to_full"), "y (0 bytes)");
    assert_eq!(list("nowhere"), "failed: `nowhere` does not exist");
}

#[test]
fn a_long_listing_is_cut() {
    let workspace = Workspace::new(&[]);
    for number in 0..1005 {
        workspace.write(&format!("{number:04}"), b"");
    }
    let listed = workspace.call("list_directory", json!({"path": ""}));
    assert_eq!(listed.lines().count(), 1001);
    assert!(listed.ends_with("[1000 of 1005 entries shown; find files with find_files]"));
}

#[test]
fn the_overlay_changes_listings() {
    let mut workspace = Workspace::new(&[("gone", ""), ("kept", "1")]);
    workspace.overlay("gone", None);
    workspace.overlay("kept", Some("123"));
    workspace.overlay("made/deep/x", Some("12"));
    assert_eq!(workspace.call("list_directory", json!({"path": ""})), "kept (3 bytes)\nmade/");
    assert_eq!(workspace.call("list_directory", json!({"path": "made/deep"})), "x (2 bytes)");
    assert_eq!(workspace.call("find_files", json!({"glob": "**"})), "kept\nmade/deep/x");
}

#[test]
fn files_are_found_by_name_and_by_path() {
    let workspace = Workspace::new(&[
        ("lib.rs", ""),
        ("src/lib.rs", ""),
        ("src/deep/lib.rs", ""),
        ("src/deep/größe.txt", ""),
        ("target/lib.rs", ""),
        (".gitignore", "/target\n"),
    ]);
    let find = |glob: &str| workspace.call("find_files", json!({"glob": glob}));
    assert_eq!(find("*.rs"), "lib.rs\nsrc/deep/lib.rs\nsrc/lib.rs");
    assert_eq!(find("src/*.rs"), "src/lib.rs");
    assert_eq!(find("./src/**/*.rs"), "src/deep/lib.rs\nsrc/lib.rs");
    assert_eq!(find("src/deep/"), "src/deep/größe.txt\nsrc/deep/lib.rs");
    assert_eq!(find("*.{txt,md}"), "src/deep/größe.txt");
    assert_eq!(find("*.py"), "[no file matches; ignored files are not looked at]");
}

#[test]
fn a_glob_that_matches_too_much_is_cut() {
    let workspace = Workspace::new(&[]);
    for number in 0..502 {
        workspace.write(&format!("{number:03}"), b"");
    }
    let found = workspace.call("find_files", json!({"glob": "*"}));
    assert!(found.ends_with("\n499\n[500 of 502 files shown; narrow the glob]"), "{found}");
}
