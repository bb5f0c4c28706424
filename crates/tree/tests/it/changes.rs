//! Putting files in place and removing them, where nothing is wrong.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use loggia_tree::{Content, TreeError};

use crate::support::{Fixture, INSIDE, at};

#[test]
fn a_commit_replaces_the_file_and_a_drop_leaves_it() {
    let fixture = Fixture::new();
    fixture.file("a", "old");
    let staged = fixture.root.stage(&at("a"), &Content::Bytes(b"new"), 0o644).unwrap();
    assert_eq!(fixture.text("a"), "old");
    assert_eq!(fixture.unfinished().len(), 1);
    drop(staged);
    assert_eq!(fixture.text("a"), "old");
    assert_eq!(fixture.unfinished(), [""; 0]);
    fixture.put("a", "new", 0o644).unwrap();
    assert_eq!(fixture.text("a"), "new");
    assert_eq!(fixture.unfinished(), [""; 0]);
}

#[test]
fn who_has_the_old_file_open_keeps_the_old_content() {
    use std::io::Read;
    let fixture = Fixture::new();
    fixture.file("a", "old");
    let mut open = fs::File::open(fixture.inside("a")).unwrap();
    fixture.put("a", "new", 0o644).unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old");
}

#[test]
fn mode_bits_are_exactly_those_given() {
    let fixture = Fixture::new();
    for mode in [0o644, 0o600, 0o777, 0o755, 0o400, 0o000, 0o4755, 0o2755, 0o1644, 0o666] {
        fixture.put("a", "text", mode).unwrap();
        assert_eq!(fixture.mode("a"), mode, "{mode:o}");
    }
}

#[test]
fn mode_bits_beyond_permissions_are_dropped() {
    let fixture = Fixture::new();
    fixture.put("a", "text", 0o100_640).unwrap();
    assert_eq!(fixture.mode("a"), 0o640);
    assert!(fixture.inside("a").is_file());
}

#[test]
fn a_replaced_file_keeps_its_owner() {
    let fixture = Fixture::new();
    fixture.file("a", "old");
    // Only root can give files away; others show that they keep theirs.
    let _ = std::os::unix::fs::chown(fixture.inside("a"), Some(12_345), Some(23_456));
    let before = fs::metadata(fixture.inside("a")).unwrap();
    fixture.put("a", "new", 0o4755).unwrap();
    let after = fs::metadata(fixture.inside("a")).unwrap();
    assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), 0o104_755));
}

#[test]
fn an_unfinished_file_is_for_its_owner_only_until_it_has_its_mode() {
    let fixture = Fixture::new();
    let _staged = fixture.root.stage(&at("a"), &Content::Bytes(b"x"), 0o600).unwrap();
    let unfinished = fs::read_dir(fixture.inside("")).unwrap().next().unwrap().unwrap();
    assert_eq!(unfinished.metadata().unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn links_are_put_in_place_and_replaced() {
    let fixture = Fixture::new();
    fixture.file("a", INSIDE);
    let link = |target: &'static [u8]| {
        let staged = fixture.root.stage(&at("l"), &Content::Link(target), 0o777).unwrap();
        fixture.root.commit(staged).unwrap();
        fixture.root.read_link(&at("l")).unwrap()
    };
    assert_eq!(link(b"a"), b"a");
    assert_eq!(link(b"not\xfftext"), b"not\xfftext");
    fixture.put("l", "a file now", 0o644).unwrap();
    assert_eq!(fixture.text("l"), "a file now");
    assert_eq!(link(b"a"), b"a");
    assert_eq!(fixture.text("a"), INSIDE);
}

#[test]
fn directories_are_made_on_the_way_and_taken_back() {
    let fixture = Fixture::new();
    fixture.dir("old");
    let staged = fixture.root.stage(&at("old/new/deep/a"), &Content::Bytes(b"x"), 0o644).unwrap();
    assert_eq!(staged.made_directories(), [at("old/new/deep"), at("old/new")]);
    assert!(fixture.exists("old/new/deep"));
    drop(staged);
    assert!(fixture.exists("old") && !fixture.exists("old/new"));
}

#[test]
fn directories_made_for_a_committed_file_stay() {
    let fixture = Fixture::new();
    fixture.put("new/deep/a", "x", 0o644).unwrap();
    assert_eq!(fixture.text("new/deep/a"), "x");
}

#[test]
fn a_set_that_is_given_up_leaves_nothing_in_whatever_order() {
    for backwards in [false, true] {
        let fixture = Fixture::new();
        let mut set: Vec<_> = ["n/a", "n/d/b", "n/d/c", "n/e/f/g"]
            .iter()
            .map(|path| fixture.root.stage(&at(path), &Content::Bytes(b"x"), 0o644).unwrap())
            .collect();
        assert_eq!(set[2].made_directories(), [at("n/d"), at("n")], "shared with the one before");
        if backwards {
            set.reverse();
        }
        drop(set);
        assert_eq!(fs::read_dir(fixture.inside("")).unwrap().count(), 0, "backwards: {backwards}");
    }
}

#[test]
fn a_set_that_fails_half_way_can_be_taken_back_to_the_directory() {
    let fixture = Fixture::new();
    fixture.dir("keep");
    let set: Vec<_> = ["n/a", "n/d/b", "keep/c"]
        .iter()
        .map(|path| fixture.root.stage(&at(path), &Content::Bytes(b"x"), 0o644).unwrap())
        .collect();
    let mut made: Vec<_> = set.iter().flat_map(loggia_tree::Staged::made_directories).collect();
    made.push(at("not there"));
    fixture.dir("keep/c");
    let mut placed = Vec::new();
    let failure = set.into_iter().find_map(|staged| {
        placed.push(staged.path().clone());
        fixture.root.commit_unsynced(staged).err()
    });
    assert!(matches!(failure, Some(TreeError::NotAFile { .. })));
    for path in &placed[..2] {
        fixture.root.remove_unsynced(path).unwrap();
    }
    fixture.root.remove_directories(&made).unwrap();
    fixture.root.sync_directories(&placed).unwrap();
    assert!(fixture.exists("keep/c") && !fixture.exists("n"));
    assert_eq!(fixture.unfinished(), [""; 0]);
}

#[test]
fn a_change_of_many_files_holds_no_file_open() {
    let fixture = Fixture::new();
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = count();
    let set: Vec<_> = (0..500)
        .map(|n| fixture.root.stage(&at(&format!("d{}/f{n}", n % 7)), &Content::Bytes(b"x"), 0o644).unwrap())
        .collect();
    // Other tests run meanwhile and have some open.
    assert!(count() < before + 200);
    let paths: Vec<_> = set.iter().map(|staged| staged.path().clone()).collect();
    for staged in set {
        fixture.root.commit_unsynced(staged).unwrap();
    }
    fixture.root.sync_directories(&paths).unwrap();
    assert_eq!(fixture.root.walk(&loggia_tree::WalkOptions::default()).count(), 500);
}

#[test]
fn directories_in_use_are_not_removed() {
    let fixture = Fixture::new();
    fixture.file("a/b/file", "x").dir("a/c");
    fixture.root.remove_directories(&[at("a"), at("a/b"), at("a/c")]).unwrap();
    assert!(fixture.exists("a/b/file") && !fixture.exists("a/c"));
}

#[test]
fn empty_parents_are_removed_up_to_one_in_use() {
    let fixture = Fixture::new();
    fixture.file("a/b/c/file", "x").file("a/other", "y");
    fixture.root.remove(&at("a/b/c/file")).unwrap();
    fixture.root.remove_empty_parents(&at("a/b/c/file")).unwrap();
    assert!(fixture.exists("a/other") && !fixture.exists("a/b"));
    fixture.root.remove(&at("a/other")).unwrap();
    fixture.root.remove_empty_parents(&at("a/other")).unwrap();
    assert!(!fixture.exists("a"));
    assert!(fixture.root.path().is_dir());
    fixture.root.remove_empty_parents(&at("x/y/z")).unwrap();
}

#[test]
fn what_is_not_there_cannot_be_removed() {
    let fixture = Fixture::new();
    assert!(matches!(fixture.root.remove(&at("x")), Err(TreeError::NotFound { .. })));
    assert!(matches!(fixture.root.remove(&at("x/y")), Err(TreeError::NotFound { .. })));
}

#[test]
fn a_directory_that_may_not_be_written_is_an_error_with_the_path() {
    let fixture = Fixture::new();
    fixture.dir("d");
    fs::set_permissions(fixture.inside("d"), Permissions::from_mode(0o500)).unwrap();
    // Root may write anywhere.
    if let Err(error) = fixture.put("d/new/a", "x", 0o644) {
        assert!(matches!(error, TreeError::Io { .. }), "{error:?}");
        assert!(error.to_string().starts_with("`d/new/a`: "), "{error}");
    }
}

#[test]
fn a_file_that_may_not_be_written_is_replaced_all_the_same() {
    let fixture = Fixture::new();
    fixture.file("a", "old");
    fs::set_permissions(fixture.inside("a"), Permissions::from_mode(0o400)).unwrap();
    fixture.put("a", "new", 0o400).unwrap();
    assert_eq!((fixture.text("a").as_str(), fixture.mode("a")), ("new", 0o400));
}
