//! Paths as text.

use loggia_tree::{MAX_PART, MAX_PATH, PathError, TreePath};
use proptest::prelude::*;

use crate::support::at;

/// What every path promises.
fn assert_sound(path: &TreePath) {
    let text = path.as_str();
    assert!(!text.starts_with('/') && !text.ends_with('/'), "{text:?}");
    assert!(!text.contains('\0') && !text.contains('\\'), "{text:?}");
    assert!(text.len() <= MAX_PATH);
    for part in text.split('/').filter(|_| !text.is_empty()) {
        assert!(!matches!(part, "" | "." | "..") && part.len() <= MAX_PART, "{text:?}");
    }
    assert!(!std::path::Path::new(text).is_absolute());
    assert_eq!(path.parts().collect::<Vec<_>>().join("/"), text);
}

/// Text made of what paths are made of, so that dots and slashes meet often.
fn path_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "..", ".", "/", "//", "a", "b.c", "\\", "\0", "C:", "c", ":", " ", "~", "%2e", "é", "…", "...", "\n",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn whatever_parses_is_relative_and_goes_nowhere_up(text in prop_oneof![path_like(), any::<String>()]) {
        if let Ok(path) = TreePath::parse(&text) {
            assert_sound(&path);
            prop_assert_eq!(TreePath::parse(path.as_str()), Ok(path.clone()), "reading it again changes nothing");
            if let Some(parent) = path.parent() {
                assert_sound(&parent);
                prop_assert!(path.starts_with(&parent) && !parent.starts_with(&path));
                prop_assert_eq!(parent.join(path.name().unwrap()).ok(), Some(path.clone()).filter(|path| {
                    // A name such as `C:` is no path by itself.
                    TreePath::parse(path.name().unwrap()).is_ok()
                }));
            } else {
                prop_assert!(path.is_root());
            }
        }
    }

    #[test]
    fn what_is_joined_stays_below(above in path_like(), below in path_like()) {
        if let Ok(above) = TreePath::parse(&above) && let Ok(joined) = above.join(&below) {
            assert_sound(&joined);
            prop_assert!(joined.starts_with(&above));
        }
    }

    #[test]
    fn a_part_of_two_dots_never_parses(before in "[a-z/.]{0,8}", after in "[a-z/.]{0,8}") {
        let text = format!("{before}/../{after}");
        prop_assert!(TreePath::parse(&text).is_err());
    }
}

#[test]
fn paths_are_normalised() {
    for (text, path) in [
        ("", ""),
        (".", ""),
        ("./", ""),
        ("a", "a"),
        ("./a", "a"),
        ("a/", "a"),
        ("a//b", "a/b"),
        ("a/./b/.", "a/b"),
        ("a:b", "a:b"),
        ("...", "..."),
        ("..a/b..", "..a/b.."),
        (" a ", " a "),
    ] {
        assert_eq!(at(text).as_str(), path, "{text:?}");
    }
}

#[test]
fn bounds_are_exact() {
    let part = "n".repeat(MAX_PART);
    assert!(TreePath::parse(&part).is_ok());
    assert_eq!(TreePath::parse(&format!("{part}n")), Err(PathError::PartTooLong { len: MAX_PART + 1 }));
    let longest = "a/".repeat(MAX_PATH / 2) + "a";
    assert_eq!(longest.len(), MAX_PATH);
    let path = at(&longest);
    assert_eq!(TreePath::parse(&format!("{longest}a")), Err(PathError::TooLong { len: MAX_PATH + 1 }));
    assert_eq!(path.join("b"), Err(PathError::TooLong { len: MAX_PATH + 2 }));
}

#[test]
fn messages_are_short_and_say_what_to_do() {
    let error = TreePath::parse(&format!("/{}", "x".repeat(3000))).unwrap_err().to_string();
    assert!(error.len() < 250 && error.ends_with("give a path relative to the workspace root"), "{error}");
}

#[test]
fn ancestors_lead_up_to_the_root() {
    let ancestors: Vec<_> = at("a/b/c").ancestors().map(|path| path.as_str().to_owned()).collect();
    assert_eq!(ancestors, ["a/b", "a", ""]);
    assert_eq!(TreePath::root().ancestors().count(), 0);
}

#[test]
fn below_means_whole_parts() {
    assert!(at("a/b").starts_with(&at("a")));
    assert!(at("a").starts_with(&at("")));
    assert!(!at("ab").starts_with(&at("a")));
    assert!(!at("a").starts_with(&at("a/b")));
}
