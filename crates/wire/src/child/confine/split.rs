//! A directory without some of what is in it: the list of everything beside.
//!
//! For rules that can only allow. A directory on the way to something hidden is not in the list itself, so it cannot
//! be listed, and nothing new can be made in it.

use std::io;
use std::path::{Path, PathBuf};

/// Each entry is a rule in the kernel and costs some microseconds; a directory this full is somebody's data.
const MOST_ENTRIES: usize = 8192;

/// What of `path` is left without `hidden`. What lies inside something hidden was granted on purpose and stays.
pub(super) fn around(path: &Path, hidden: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    // A name that does not lead anywhere now may be that of a socket to come.
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let hidden: Vec<PathBuf> = hidden.iter().map(real).filter(|hidden| hidden.starts_with(&path)).collect();
    let mut left = Vec::new();
    walk(path, &hidden, &mut left)?;
    Ok(left)
}

fn walk(path: PathBuf, hidden: &[PathBuf], left: &mut Vec<PathBuf>) -> io::Result<()> {
    if hidden.contains(&path) {
        return Ok(());
    }
    if left.len() >= MOST_ENTRIES {
        return Err(io::Error::other("too much lies beside what is hidden in it"));
    }
    if hidden.iter().all(|hidden| !hidden.starts_with(&path)) {
        left.push(path);
        return Ok(());
    }
    for entry in path.read_dir()? {
        let entry = entry?;
        // A rule for a link would be one for what it leads to.
        if !entry.file_type()?.is_symlink() {
            walk(entry.path(), hidden, left)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the paths (`/` at the end: a directory; `->`: a link), hides some, and lists what is left.
    fn left(paths: &[&str], hidden: &[&str]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for path in paths {
            if let Some((link, target)) = path.split_once(" -> ") {
                std::os::unix::fs::symlink(root.join(target), root.join(link)).unwrap();
            } else if path.ends_with('/') {
                std::fs::create_dir_all(root.join(path)).unwrap();
            } else {
                std::fs::write(root.join(path), "").unwrap();
            }
        }
        let hidden: Vec<PathBuf> = hidden.iter().map(|path| root.join(path)).collect();
        let mut left: Vec<String> = around(&root, &hidden)
            .unwrap()
            .iter()
            .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
            .collect();
        left.sort();
        left
    }

    #[test]
    fn a_directory_with_nothing_hidden_is_left_whole() {
        assert_eq!(left(&["a/", "b"], &["/elsewhere"]), [""]);
    }

    #[test]
    fn what_lies_beside_something_hidden_is_left() {
        assert_eq!(left(&["a/", "a/keys/", "a/x", "b/", "c"], &["a/keys"]), ["a/x", "b", "c"]);
    }

    #[test]
    fn a_hidden_directory_leaves_nothing_of_itself() {
        assert_eq!(left(&["a"], &[""]), Vec::<String>::new());
    }

    #[test]
    fn links_are_not_followed_into_a_rule() {
        assert_eq!(left(&["keys/", "a", "link -> keys"], &["keys"]), ["a"]);
    }

    #[test]
    fn something_hidden_behind_a_link_is_found() {
        assert_eq!(left(&["keys/", "a", "link -> keys"], &["link"]), ["a"]);
    }

    #[test]
    fn a_hidden_name_that_is_not_there_yet_still_splits() {
        assert_eq!(left(&["a", "b"], &["socket"]), ["a", "b"]);
    }
}
