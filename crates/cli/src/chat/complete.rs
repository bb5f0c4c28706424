//! What the word at the cursor may become: a command, or a file of the workspace.

use std::path::Path;

use super::COMMANDS;

/// How many names are offered: a menu of more helps nobody.
const MAX_NAMES: usize = 200;

/// How many entries of a directory are looked at.
const MAX_ENTRIES: usize = 10_000;

/// Where the word begins, and what it may become, each with a remark.
pub(super) fn complete(
    line: &str,
    cursor: usize,
    root: &Path,
) -> (usize, Vec<(String, Option<&'static str>)>) {
    let before = line.get(..cursor).unwrap_or(line);
    let start = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    if start == 0 && word.starts_with('/') {
        let known = COMMANDS.iter().filter(|(name, _)| name.starts_with(word));
        return (start, known.map(|(name, what)| ((*name).to_owned(), Some(*what))).collect());
    }
    match word.strip_prefix('@') {
        Some(path) => (start, files(path, root)),
        None => (start, Vec::new()),
    }
}

/// The entries of the directory a path is in that go on as it begins. Hidden ones are offered to who asks for them.
fn files(path: &str, root: &Path) -> Vec<(String, Option<&'static str>)> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    // Only what is beneath the workspace can be named.
    if directory.split('/').any(|part| part == "..") || path.starts_with('/') {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(root.join(directory)) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .take(MAX_ENTRIES)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let fits = found.starts_with(name) && (!found.starts_with('.') || name.starts_with('.'));
            let is_word = !found.chars().any(|character| character.is_whitespace() || character.is_control());
            let slash = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            let place = if directory.is_empty() { String::new() } else { format!("{directory}/") };
            (fits && is_word).then(|| format!("@{place}{found}{slash}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(MAX_NAMES);
    found.into_iter().map(|name| (name, None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str, root: &Path) -> String {
        let (start, names) = complete(line, line.len(), root);
        let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        format!("{start}:{}", names.join(" "))
    }

    #[test]
    fn commands_and_files_are_offered() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        for file in ["src/main.rs", "src/map.rs", "src/two words", "Cargo.toml", ".hidden"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        assert_eq!(names("/re", root), "0:/refactor /redo");
        assert_eq!(names("why /re", root), "4:");
        assert_eq!(names("@", root), "0:@Cargo.toml @src/");
        assert_eq!(names("see @src/ma", root), "4:@src/main.rs @src/map.rs");
        assert_eq!(names("@src/", root), "0:@src/deep/ @src/main.rs @src/map.rs");
        assert_eq!(names("@.h", root), "0:@.hidden");
        assert_eq!(names("@../", root), "0:");
        assert_eq!(names("@/etc/", root), "0:");
        assert_eq!(names("@none/", root), "0:");
    }
}
