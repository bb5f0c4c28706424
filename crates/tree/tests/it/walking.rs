//! Walks, and the ignore rules they honour.

use std::os::unix::ffi::OsStrExt;

use loggia_tree::{IgnoreRules, Kind, Root, RootSettings, TreeError, WalkOptions};

use crate::support::{Fixture, INSIDE, at};

fn walked(fixture: &Fixture) -> String {
    fixture.walked(&WalkOptions::default())
}

fn from(start: &str) -> WalkOptions {
    WalkOptions { start: at(start), ..WalkOptions::default() }
}

#[test]
fn files_and_links_are_found_sorted_by_whole_path() {
    let fixture = Fixture::new();
    fixture.file("a/z", "").file("a.b", "").file("a-b", "").file("a0", "").file("B", "").file("a/b/c", "");
    fixture.file(".hidden/x", "").link("l", "a").dir("empty").fifo("p");
    assert_eq!(walked(&fixture), ".hidden/x\nB\na-b\na.b\na/b/c\na/z\na0\nl\n");
    let text = walked(&fixture);
    assert!(text.lines().is_sorted());
}

#[test]
fn what_is_found_says_what_it_is() {
    let fixture = Fixture::new();
    fixture.file("f", "123").link("l", "f");
    let found: Vec<_> = fixture.root.walk(&WalkOptions::default()).map(Result::unwrap).collect();
    assert_eq!((found[0].meta.kind, found[0].meta.len), (Kind::File, 3));
    assert_eq!(found[1].meta.kind, Kind::Link);
    assert_eq!(fixture.root.stat(&at("f")).unwrap(), Some(found[0].meta));
}

#[test]
fn git_itself_is_never_entered() {
    let fixture = Fixture::new();
    fixture
        .file(".git/config", "")
        .file("sub/.git", "gitdir: elsewhere")
        .file("sub/a", "")
        .file(".github/b", "");
    assert_eq!(walked(&fixture), ".github/b\nsub/a\n");
    assert_eq!(fixture.walked(&from(".git")), "");
    let all = WalkOptions { rules: IgnoreRules::Skip, ..WalkOptions::default() };
    assert_eq!(fixture.walked(&all), ".github/b\nsub/a\n");
}

#[test]
fn gitignore_rules_are_honoured() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "\u{feff}# build\n*.log\n/top\ntarget/\n!keep.log\ndocs/*.html\n**/deep/x\n");
    for path in [
        "a.log",
        "keep.log",
        "s/b.log",
        "top",
        "s/top",
        "target/debug/x",
        "s/target/y",
        "u/target",
        "docs/a.html",
        "docs/b/c.html",
        "p/q/deep/x",
        "p/q/deep/y",
    ] {
        fixture.file(path, "");
    }
    assert_eq!(walked(&fixture), ".gitignore\ndocs/b/c.html\nkeep.log\np/q/deep/y\ns/top\nu/target\n");
}

#[test]
fn nearer_rules_win() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "*.log\n").file("a/.gitignore", "!*.log\n").file("a/b/.gitignore", "x.log\n");
    for path in ["x.log", "a/x.log", "a/b/x.log", "a/b/y.log"] {
        fixture.file(path, "");
    }
    assert_eq!(walked(&fixture), ".gitignore\na/.gitignore\na/b/.gitignore\na/b/y.log\na/x.log\n");
}

#[test]
fn a_file_below_an_ignored_directory_cannot_be_taken_back() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "out/\n!out/keep\n").file("out/keep", "").file("a", "");
    assert_eq!(walked(&fixture), ".gitignore\na\n");
}

#[test]
fn ignore_is_stronger_than_gitignore_and_that_than_exclude() {
    let fixture = Fixture::new();
    fixture
        .file(".ignore", "!one\ntwo\n")
        .file("s/.gitignore", "one\n!two\n")
        .file(".git/info/exclude", "three\nfour\n")
        .file(".gitignore", "!four\n");
    for path in ["s/one", "s/two", "three", "four", "s/five"] {
        fixture.file(path, "");
    }
    assert_eq!(walked(&fixture), ".gitignore\n.ignore\nfour\ns/.gitignore\ns/five\ns/one\n");
}

#[test]
fn a_repository_inside_does_not_hear_the_outer_git_rules() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "x\n").file(".ignore", "y\n").file(".git/info/exclude", "z\n");
    fixture.file("sub/.git/info/exclude", "w\n");
    for name in ["x", "y", "z", "w"] {
        fixture.file(&format!("sub/{name}"), "").file(name, "");
    }
    assert_eq!(walked(&fixture), ".gitignore\n.ignore\nsub/x\nsub/z\nw\n");
}

#[test]
fn rules_can_be_left_aside() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "*\n").file("a", "");
    assert_eq!(walked(&fixture), "");
    let all = WalkOptions { rules: IgnoreRules::Skip, ..WalkOptions::default() };
    assert_eq!(fixture.walked(&all), ".gitignore\na\n");
}

#[test]
fn a_walk_from_below_hears_the_rules_above() {
    let fixture = Fixture::new();
    fixture
        .file(".gitignore", "*.log\n/a/b/skip\nout/\n")
        .file("a/b/x.log", "")
        .file("a/b/skip", "")
        .file("a/b/y", "");
    fixture.file("a/other", "").file("out/x", "").file("out/x.log", "").link("l", "a/b");
    assert_eq!(fixture.walked(&from("a/b")), "a/b/y\n");
    assert_eq!(fixture.walked(&from("a/b/y")), "a/b/y\n");
    assert_eq!(fixture.walked(&from("l")), "a/b/y\n", "told by its real path");
    assert_eq!(fixture.walked(&from("out")), "out/x\n", "asked for by name");
    assert_eq!(fixture.walked(&from("none")), "! `none` does not exist\n");
}

#[test]
fn rules_behind_a_link_are_not_believed() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.outside("info")).unwrap();
    std::fs::write(fixture.outside("info/exclude"), "*\n").unwrap();
    fixture.link(".gitignore", fixture.outside("info/exclude")).link(".git", fixture.outside(""));
    fixture.file("rules", "*\n").link(".ignore", "rules").file("a", "");
    assert_eq!(walked(&fixture), ".gitignore\n.ignore\na\nrules\n");
}

#[test]
fn a_line_that_is_no_pattern_is_passed_over() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", b"a{\n[z-a]\n\xff\nb\n").file("b", "").file("c", "");
    assert_eq!(walked(&fixture), ".gitignore\nc\n");
}

#[test]
fn rules_without_end_are_told_and_the_walk_goes_on() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "a\n".repeat(1 << 20)).file("a", "");
    assert_eq!(
        walked(&fixture),
        "! `.gitignore` has 2097152 bytes and at most 1048576 are read\n.gitignore\na\n"
    );
}

#[test]
fn names_that_are_no_paths_are_told_and_the_walk_goes_on() {
    let fixture = Fixture::new();
    fixture.file("a", "").file("b\\c", "").file("z", "");
    std::fs::write(fixture.root.path().join(std::ffi::OsStr::from_bytes(b"d\xff")), "").unwrap();
    assert_eq!(
        walked(&fixture),
        "a\n! `b\\c` in `.` has a name that cannot be given as a path\n\
         ! `d\u{fffd}` in `.` has a name that cannot be given as a path\nz\n"
    );
}

#[test]
fn a_walk_ends_at_its_limit_and_says_so() {
    let fixture = Fixture::new();
    fixture.file("a", "").file("b/c", "").file("d", "");
    let three = WalkOptions { limit: 3, ..WalkOptions::default() };
    assert_eq!(fixture.walked(&three), "a\nb/c\nd\n");
    let two = WalkOptions { limit: 2, ..WalkOptions::default() };
    assert_eq!(fixture.walked(&two), "a\nb/c\n! `.` has more than 2 entries\n");
}

#[test]
fn what_goes_away_during_a_walk_is_passed_over() {
    let fixture = Fixture::new();
    fixture.file("a", "").file("b/c", "").file("d", "");
    let mut walk = fixture.root.walk(&WalkOptions::default());
    assert_eq!(walk.next().unwrap().unwrap().path, at("a"));
    std::fs::remove_dir_all(fixture.inside("b")).unwrap();
    assert_eq!(walk.next().unwrap().unwrap().path, at("d"));
    assert!(walk.next().is_none());
}

#[test]
fn a_directory_swapped_for_a_link_during_a_walk_is_not_entered() {
    let fixture = Fixture::new();
    fixture.file("a", "").file("b/c", "").file("d", "");
    let mut walk = fixture.root.walk(&WalkOptions::default());
    walk.next().unwrap().unwrap();
    std::fs::remove_dir_all(fixture.inside("b")).unwrap();
    fixture.link("b", fixture.outside(""));
    assert!(matches!(walk.next(), Some(Err(TreeError::ThroughLink { .. }))));
    assert_eq!(walk.next().unwrap().unwrap().path, at("d"));
}

#[test]
fn a_walk_outlives_its_root() {
    let fixture = Fixture::new();
    fixture.file("a", INSIDE);
    let root = Root::open(fixture.root.path(), RootSettings::default()).unwrap();
    let walk = root.walk(&WalkOptions::default());
    drop(root);
    assert_eq!(walk.count(), 1);
}

#[test]
fn a_path_asked_for_alone_is_ignored_if_and_only_if_a_walk_does_not_find_it() {
    let fixture = Fixture::new();
    for (path, text) in [
        (".gitignore", "made\n*.log\n!keep.log\n"),
        (".ignore", "secret/\n"),
        ("made/a", ""),
        ("src/a.rs", ""),
        ("src/x.log", ""),
        ("src/keep.log", ""),
        ("src/.gitignore", "deep/*\n!deep/b\n"),
        ("src/deep/a", ""),
        ("src/deep/b", ""),
        ("secret/a", ""),
        (".git/HEAD", ""),
        ("inner/.git/HEAD", ""),
        ("inner/a.log", ""),
    ] {
        fixture.file(path, text);
    }
    let every = WalkOptions { rules: IgnoreRules::Skip, ..WalkOptions::default() };
    let found = walked(&fixture);
    let mut ignoring = fixture.root.ignoring();
    let mut asked = 0;
    for item in fixture.root.walk(&every) {
        let path = item.unwrap().path;
        let is_found = found.lines().any(|line| line == path.as_str());
        assert_eq!(ignoring.is_ignored(&path, false).unwrap(), !is_found, "{path}");
        asked += 1;
    }
    assert!(asked > 8);
    assert!(ignoring.is_ignored(&".git/HEAD".parse().unwrap(), false).unwrap());
    assert!(ignoring.is_ignored(&"made".parse().unwrap(), true).unwrap());
    assert!(!ignoring.is_ignored(&"src".parse().unwrap(), true).unwrap());
}
