//! Looking and reading, where nothing is wrong.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use loggia_tree::{Kind, TreeError};

use crate::support::{Fixture, INSIDE, at};

#[test]
fn a_file_is_read_with_what_is_known_of_it() {
    let fixture = Fixture::new();
    fixture.file("a/b.txt", INSIDE);
    fs::set_permissions(fixture.inside("a/b.txt"), Permissions::from_mode(0o640)).unwrap();
    let file = fixture.root.read(&at("a/b.txt"), 100).unwrap();
    assert_eq!(file.bytes, INSIDE.as_bytes());
    assert_eq!((file.meta.kind, file.meta.mode, file.meta.links), (Kind::File, 0o640, 1));
    assert_eq!(file.meta.len, INSIDE.len() as u64);
    assert_eq!(fixture.root.stat(&at("a/b.txt")).unwrap(), Some(file.meta));
    let modified = fs::metadata(fixture.inside("a/b.txt")).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(file.meta.modified_ns, i128::try_from(since.as_nanos()).unwrap());
}

#[test]
fn the_limit_is_exact() {
    let fixture = Fixture::new();
    fixture.file("a", "12345");
    assert_eq!(fixture.root.read(&at("a"), 5).unwrap().bytes, b"12345");
    let error = fixture.root.read(&at("a"), 4).unwrap_err();
    assert!(matches!(error, TreeError::TooLarge { len: 5, limit: 4, .. }), "{error}");
    assert!(!error.is_forbidden());
}

#[test]
fn an_empty_file_is_read_within_a_limit_of_nothing() {
    let fixture = Fixture::new();
    fixture.file("a", "");
    assert_eq!(fixture.root.read(&at("a"), 0).unwrap().bytes, b"");
}

#[test]
fn links_that_stay_inside_are_followed() {
    let fixture = Fixture::new();
    fixture
        .file("a/b/real.txt", INSIDE)
        .link("plain", "a/b/real.txt")
        .link("a/up", "../a/b/real.txt")
        .link("dir", "a")
        .link("chain", "dir/b/again")
        .link("a/b/again", "./../../plain")
        .link("absolute", fixture.inside("a/b/real.txt"))
        .link("top", fixture.inside(""));
    for path in ["plain", "a/up", "dir/b/real.txt", "chain", "absolute", "top/dir/up"] {
        assert_eq!(fixture.root.read(&at(path), 100).unwrap().bytes, INSIDE.as_bytes(), "{path}");
        assert_eq!(fixture.root.real_path_of(&at(path)).unwrap(), at("a/b/real.txt"), "{path}");
    }
}

#[test]
fn a_file_is_read_plainly_only_where_no_link_is() {
    let fixture = Fixture::new();
    fixture
        .file("a/b", INSIDE)
        .link("file", "a/b")
        .link("dir", "a")
        .link("a/out", fixture.outside("secret.txt"));
    assert_eq!(
        fixture.root.read_plain(&at("a/b"), 100).unwrap(),
        fixture.root.read(&at("a/b"), 100).unwrap()
    );
    for path in ["file", "dir/b", "a/out"] {
        let error = fixture.root.read_plain(&at(path), 100).unwrap_err();
        assert!(matches!(error, TreeError::ThroughLink { .. }), "{path}: {error}");
    }
    assert!(matches!(fixture.root.read_plain(&at("a/c"), 100), Err(TreeError::NotFound { .. })));
    assert!(matches!(fixture.root.read_plain(&at("a"), 100), Err(TreeError::NotAFile { .. })));
    assert!(matches!(fixture.root.read_plain(&at("a/b"), 1), Err(TreeError::TooLarge { .. })));
}

#[test]
fn a_link_is_looked_at_itself() {
    let fixture = Fixture::new();
    fixture.link("l", "nowhere/at all").dir("d").link("d/m", "../l").link("e", "d");
    let meta = fixture.root.stat(&at("l")).unwrap().unwrap();
    assert_eq!((meta.kind, meta.len), (Kind::Link, 14));
    assert_eq!(fixture.root.read_link(&at("l")).unwrap(), b"nowhere/at all");
    assert_eq!(fixture.root.read_link(&at("e/m")).unwrap(), b"../l");
    assert!(matches!(
        fixture.root.read_link(&at("d")),
        Err(TreeError::NotALink { kind: Kind::Directory, .. })
    ));
    assert!(matches!(fixture.root.read_link(&at("x")), Err(TreeError::NotFound { .. })));
}

#[test]
fn what_is_not_there_is_no_error_to_look_at() {
    let fixture = Fixture::new();
    fixture.file("a", "").link("gone", "nowhere");
    for path in ["x", "x/y/z", "a/b", "a/b/c", "gone/x"] {
        assert_eq!(fixture.root.stat(&at(path)).unwrap(), None, "{path}");
    }
    assert!(matches!(fixture.root.read(&at("gone"), 1), Err(TreeError::NotFound { .. })));
    assert!(matches!(fixture.root.read(&at("x/y"), 1), Err(TreeError::NotFound { .. })));
    assert!(matches!(fixture.root.list(&at("x")), Err(TreeError::NotFound { .. })));
}

#[test]
fn the_root_is_a_directory_like_others() {
    let fixture = Fixture::new();
    fixture.file("a", "");
    assert_eq!(fixture.root.stat(&at("")).unwrap().unwrap().kind, Kind::Directory);
    assert_eq!(fixture.root.list(&at("")).unwrap().len(), 1);
    assert_eq!(fixture.root.real_path_of(&at("")).unwrap(), at(""));
}

#[test]
fn the_real_path_of_what_is_to_be_made_follows_what_exists() {
    let fixture = Fixture::new();
    fixture.dir("a/b").link("l", "a").link("a/file", "b/new.txt").link("m", "none/../a");
    for (path, real) in [
        ("new", "new"),
        ("x/y/z", "x/y/z"),
        ("l/new", "a/new"),
        ("l/b/x/new", "a/b/x/new"),
        ("l/file", "a/b/new.txt"),
    ] {
        assert_eq!(fixture.root.real_path_of(&at(path)).unwrap(), at(real), "{path}");
    }
    assert!(matches!(fixture.root.real_path_of(&at("m")), Err(TreeError::NotFound { .. })));
}

#[test]
fn a_real_path_that_is_no_text_is_told_of() {
    let fixture = Fixture::new();
    fixture.link("l", std::ffi::OsStr::from_bytes(b"not\xfftext"));
    assert!(matches!(fixture.root.real_path_of(&at("l")), Err(TreeError::Unnameable { .. })));
}

#[test]
fn a_listing_is_sorted_and_shows_all_but_unfinished_files() {
    let fixture = Fixture::new();
    fixture.file("b", "12").dir("a").link("c", "b").file(".hidden", "").dir(".git").fifo("p");
    fixture.file(".loggia-0123456789abcdef.tmp", "").file(".loggia-notours.tmp", "");
    fixture.file("back\\slash", "");
    fs::write(fixture.root.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
    let shown: Vec<_> = fixture
        .root
        .list(&at(""))
        .unwrap()
        .into_iter()
        .map(|entry| {
            let path = entry.path.map_or("-".to_owned(), |path| path.to_string());
            format!("{} {path} {}", entry.name, entry.meta.kind)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ".git .git a directory",
            ".hidden .hidden a file",
            ".loggia-notours.tmp .loggia-notours.tmp a file",
            "a a a directory",
            "b b a file",
            "back\\slash - a file",
            "c c a link",
            "p p a fifo, socket or device",
            "\u{fffd} - a file",
        ]
    );
}

#[test]
fn a_listing_through_a_link_inside_names_the_entries_as_asked() {
    let fixture = Fixture::new();
    fixture.file("d/a", "").link("l", "d");
    assert_eq!(fixture.root.list(&at("l")).unwrap()[0].path, Some(at("l/a")));
}

#[test]
fn a_deep_tree_is_reached() {
    let fixture = Fixture::new();
    let path = "d/".repeat(300) + "f";
    let staged = fixture.root.stage(&at(&path), &loggia_tree::Content::Bytes(b"deep"), 0o644).unwrap();
    fixture.root.commit(staged).unwrap();
    assert_eq!(fixture.root.read(&at(&path), 10).unwrap().bytes, b"deep");
    assert_eq!(fixture.root.walk(&loggia_tree::WalkOptions::default()).count(), 1);
    fixture.root.remove(&at(&path)).unwrap();
    fixture.root.remove_empty_parents(&at(&path)).unwrap();
    assert!(!fixture.exists("d"));
}
