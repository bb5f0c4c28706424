//! What a crash leaves behind.

use loggia_tree::Content;

use crate::support::{Fixture, at};

const LEFT: &str = ".loggia-0123456789abcdef.tmp";

#[test]
fn what_a_crash_left_is_removed_from_the_directories_given() {
    let fixture = Fixture::new();
    fixture.file(&format!("a/{LEFT}"), "").file(&format!("b/{LEFT}"), "").file("a/mine", "");
    let swept = fixture.root.sweep_staged(&[at("a"), at("not there")]);
    assert_eq!((swept.files, swept.directories, swept.is_partial), (1, 1, false));
    assert!(
        !fixture.exists(&format!("a/{LEFT}"))
            && fixture.exists(&format!("b/{LEFT}"))
            && fixture.exists("a/mine")
    );
}

#[test]
fn what_a_crash_left_is_removed_from_the_whole_tree() {
    let fixture = Fixture::new();
    fixture.file(LEFT, "").file(&format!("a/b/c/{LEFT}"), "").link(&format!("a/{LEFT}"), "x");
    // Ignored directories are written to as well.
    fixture.file(".gitignore", "target/").file(&format!("target/{LEFT}"), "");
    let swept = fixture.root.sweep_all_staged();
    assert_eq!((swept.files, swept.directories, swept.is_partial), (4, 5, false));
    assert_eq!(fixture.unfinished(), [""; 0]);
}

#[test]
fn what_is_not_ours_stays() {
    let fixture = Fixture::new();
    let names = [
        ".loggia-0123456789abcdef.tmp.txt",
        ".loggia-0123456789ABCDEF.tmp",
        ".loggia-0123456789abcde.tmp",
        ".loggia-.tmp",
        ".loggia.toml",
        "loggia-0123456789abcdef.tmp",
    ];
    for name in names {
        fixture.file(name, "");
    }
    fixture.dir(&format!("d/{LEFT}")).file(&format!(".git/{LEFT}"), "");
    assert_eq!(fixture.root.sweep_all_staged().files, 0);
    assert!(names.iter().all(|name| fixture.exists(name)));
}

#[test]
fn what_has_another_name_stays() {
    let fixture = Fixture::new();
    fixture.hard_link(LEFT, "secret.txt");
    assert_eq!(fixture.root.sweep_all_staged().files, 0);
    assert!(fixture.exists(LEFT));
}

#[test]
fn what_is_being_staged_stays() {
    let fixture = Fixture::new();
    let staged = fixture.root.stage(&at("a"), &Content::Bytes(b"x"), 0o644).unwrap();
    assert_eq!(fixture.root.sweep_all_staged().files, 0);
    fixture.root.commit(staged).unwrap();
    assert_eq!(fixture.text("a"), "x");
}

#[test]
fn what_a_killed_process_left_is_hidden_and_then_swept() {
    let fixture = Fixture::new();
    // As a killed process does, this one never runs the drop.
    let staged = fixture.root.stage(&at("d/a"), &Content::Bytes(b"x"), 0o644).unwrap();
    let left = std::fs::read_dir(fixture.inside("d")).unwrap().next().unwrap().unwrap().path();
    let copy = fixture.inside(&format!("d/{LEFT}"));
    std::fs::rename(&left, &copy).unwrap();
    std::mem::forget(staged);
    assert!(fixture.root.list(&at("d")).unwrap().is_empty());
    assert_eq!(fixture.walked(&loggia_tree::WalkOptions::default()), "");
    assert_eq!(fixture.root.sweep_staged(&[at("d")]).files, 1);
}
