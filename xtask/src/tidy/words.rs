//! Words that have no place in the repository: paths of somebody's machine, and promises to do it later.
//!
//! The words are put together from halves, so that this file does not hold them.

use crate::tidy::Fault;
use crate::workspace::Workspace;

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// In Rust files: work that is put off and tests that do not run.
const PUT_OFF: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ig", "nore"), concat!("to", "do!(")];

pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for file in &workspace.files {
        if let Some(text) = workspace.text(file)? {
            faults.extend(check_text(file, &text));
        }
    }
    Ok(faults)
}

fn check_text(file: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut report = |word: &str, what: &str, fix: &str| {
            faults.push(Fault::new(file, index + 1, format!("`{word}` {what}"), fix));
        };
        for word in MACHINE_PATHS.iter().filter(|word| begins_a_path(line, word)) {
            report(word, "is a path of one machine", "name a path that everybody has");
        }
        if file.ends_with(".rs") {
            for word in PUT_OFF.iter().filter(|word| stands_alone(line, word)) {
                report(word, "puts work off", "do it now, or write it down where work is planned");
            }
        }
    }
    faults
}

/// Whether the word is there and is not the middle of a longer path.
fn begins_a_path(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        !before.is_some_and(|char| char.is_alphanumeric() || "._-/]}>*".contains(char))
    })
}

/// Whether the word is there and is not part of a longer one.
fn stands_alone(line: &str, word: &str) -> bool {
    let joins = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let open_end = word.ends_with(|char: char| !joins(char));
        !before.is_some_and(joins) && (open_end || word.starts_with('#') || !after.is_some_and(joins))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines with a fault; `~` is left out of the text, so that this file stays clean.
    fn lines(file: &str, text: &str) -> Vec<usize> {
        check_text(file, &text.replace('~', "")).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn machine_paths_are_found_in_every_file() {
        assert_eq!(lines("a.md", "see /wo~rk/x\n`/ro~ot/y`\n\"/wo~rk/z\""), [1, 2, 3]);
    }

    #[test]
    fn longer_paths_and_words_are_no_machine_paths() {
        assert_eq!(
            lines("a.md", "/workspace/x\nsrc/wo~rk/x\n/home/ro~ot/x\n../ro~ot/y\n[HOME]/wo~rk/z"),
            [0_usize; 0]
        );
    }

    #[test]
    fn work_put_off_is_found_in_rust_files_only() {
        let text =
            "// TO~DO: later\n// FIX~ME\n#[ig~nore]\n#[ig~nore = \"slow\"]\nto~do!()\nlet mastodon = 1;";
        assert_eq!(lines("a.rs", text), [1, 2, 3, 4, 5]);
        assert_eq!(lines("a.md", text), [0_usize; 0]);
    }
}
