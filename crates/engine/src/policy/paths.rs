//! Where a path leads, judged by its words alone.
//!
//! Knows `.` and `..`, doubled slashes and the root. Refuses to look at the disk: links are the business of whoever
//! opens files through a handle on the root, and who asks the judge again about where they really lead.
//!
//! What always holds: a [`Spot::Inside`] has no empty part, no `.` and no `..`.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::Place;

/// Longer paths are refused: no file system has them.
const MAX_PATH_BYTES: usize = 4096;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spot<'a> {
    /// Inside the root, relative to it; empty for the root itself.
    Inside(Cow<'a, str>),
    /// Elsewhere, absolute.
    Outside(PathBuf),
    /// Nowhere a path may lead, and why.
    Impossible(&'static str),
}

/// A directory a command may find itself in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Directory {
    /// Inside the root, relative to it.
    Inside(String),
    /// Elsewhere, absolute.
    Outside(PathBuf),
    /// Only running the command would tell.
    Unknown,
}

impl Place {
    /// Where a path leads that is relative to the root, or absolute.
    pub(crate) fn locate<'a>(&self, path: &'a str) -> Spot<'a> {
        if let Some(problem) = problem_with(path) {
            return Spot::Impossible(problem);
        }
        if is_tidy(path) {
            return Spot::Inside(Cow::Borrowed(path));
        }
        self.relate(&tidy(&self.root.join(path)))
    }

    /// Where a path leads for a command in a directory; nothing if that cannot be known.
    pub(crate) fn locate_from(&self, directory: &Directory, path: &str) -> Option<Spot<'static>> {
        if let Some(problem) = problem_with(path) {
            return Some(Spot::Impossible(problem));
        }
        let base = match directory {
            _ if path.starts_with('/') => Cow::Borrowed(Path::new("/")),
            Directory::Inside(directory) => Cow::Owned(self.root.join(directory)),
            Directory::Outside(directory) => Cow::Borrowed(directory.as_path()),
            Directory::Unknown => return None,
        };
        Some(self.relate(&tidy(&base.join(path))))
    }

    fn relate(&self, absolute: &Path) -> Spot<'static> {
        match absolute.strip_prefix(&self.root) {
            Ok(relative) => Spot::Inside(Cow::Owned(relative.to_string_lossy().into_owned())),
            Err(_) => Spot::Outside(absolute.to_owned()),
        }
    }

    /// Whether removing this directory would take the root, the home directory or the whole system with it.
    pub(crate) fn is_precious(&self, spot: &Spot<'_>) -> bool {
        match spot {
            Spot::Inside(path) => path.is_empty(),
            Spot::Outside(path) => {
                self.root.starts_with(path) || self.home.as_ref().is_some_and(|home| home.starts_with(path))
            }
            Spot::Impossible(_) => false,
        }
    }
}

fn problem_with(path: &str) -> Option<&'static str> {
    if path.len() > MAX_PATH_BYTES {
        return Some("is too long for a path");
    }
    path.chars().any(char::is_control).then_some("has control characters")
}

/// Most paths need no work.
fn is_tidy(path: &str) -> bool {
    path.is_empty() || path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Takes `.` and `..` out of an absolute path by its words; `..` at the top stays at the top, as on Unix.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(part) => tidied.push(part),
            Component::ParentDir => {
                tidied.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { root: "/home/ada/project".into(), home: Some("/home/ada".into()) }
    }

    #[test]
    fn paths_are_tidied_by_their_words() {
        for (path, inside) in [
            ("", ""),
            (".", ""),
            ("src/main.rs", "src/main.rs"),
            ("./src//main.rs/", "src/main.rs"),
            ("src/../lib.rs", "lib.rs"),
            ("/home/ada/project/src", "src"),
            ("../project/src", "src"),
            ("~/x", "~/x"),
        ] {
            assert_eq!(place().locate(path), Spot::Inside(inside.into()), "{path}");
        }
        for (path, outside) in [
            ("..", "/home/ada"),
            ("/etc/passwd", "/etc/passwd"),
            ("src/../../other", "/home/ada/other"),
            ("../project-2", "/home/ada/project-2"),
            ("/../..", "/"),
        ] {
            assert_eq!(place().locate(path), Spot::Outside(outside.into()), "{path}");
        }
        assert!(matches!(place().locate("a\0b"), Spot::Impossible(_)));
        assert!(matches!(place().locate(&"x/".repeat(4000)), Spot::Impossible(_)));
    }

    #[test]
    fn a_command_resolves_paths_from_where_it_is() {
        let place = place();
        let src = Directory::Inside("src".into());
        assert_eq!(place.locate_from(&src, "a"), Some(Spot::Inside("src/a".into())));
        assert_eq!(place.locate_from(&src, "../.."), Some(Spot::Outside("/home/ada".into())));
        assert_eq!(place.locate_from(&Directory::Unknown, "a"), None);
        assert_eq!(place.locate_from(&Directory::Unknown, "/a"), Some(Spot::Outside("/a".into())));
        assert_eq!(
            place.locate_from(&Directory::Outside("/home".into()), "ada/project/a"),
            Some(Spot::Inside("a".into()))
        );
    }

    #[test]
    fn the_root_and_what_holds_it_are_precious() {
        let place = place();
        for path in [".", "..", "/", "/home", "/home/ada", "src/.."] {
            assert!(place.is_precious(&place.locate(path)), "{path}");
        }
        for path in ["src", "/opt", "../other"] {
            assert!(!place.is_precious(&place.locate(path)), "{path}");
        }
    }
}
