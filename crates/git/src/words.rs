//! What git says, as errors of ours.
//!
//! Pure: text in, values out. Git is asked to speak English; what is not recognised is passed on in its own words.

use loggia_domain::RepositoryError;
use loggia_wire::child::Exit;

use crate::run::Said;

/// What fits under an error message.
const MAX_LINES: usize = 8;

/// A line of git's has a path in it, at most.
const MAX_CHARACTERS: usize = 500;

/// Git's exit status for arguments it does not know.
const UNKNOWN_ARGUMENTS: i32 = 129;

/// Whether somebody else holds the lock of the index or of a ref.
pub(crate) fn is_locked(complaint: &str) -> bool {
    locked_file(complaint).is_some()
}

/// The lock that is in the way.
fn locked_file(complaint: &str) -> Option<&str> {
    let (_, rest) = complaint.split_once("Unable to create '")?;
    let (file, rest) = rest.split_once("': ")?;
    (file.ends_with(".lock") && rest.starts_with("File exists")).then_some(file)
}

/// Why a call failed. `silenced` are filters that were not run.
pub(crate) fn failure(said: &Said, silenced: &[String]) -> RepositoryError {
    let complaint = &said.complaint;
    if let Some(file) = locked_file(complaint) {
        return RepositoryError::Failed(format!(
            "`{file}` is there: another git is at work here, or one was killed at work; \
             if none is running, remove that file, look at `git status`, and try again"
        ));
    }
    if let Some(filter) = failed_filter(complaint).filter(|name| silenced.iter().any(|own| own == name)) {
        return RepositoryError::Failed(format!(
            "{}; only the repository's own configuration says what `filter.{filter}` runs, and that is not run; \
             if you trust it, put it into your own with `git config --global`",
            in_short(complaint)
        ));
    }
    match said.exit {
        Exit::Code(UNKNOWN_ARGUMENTS) => RepositoryError::NoGit(format!(
            "git 2.38 or newer is needed, and this one says: {}",
            in_short(complaint)
        )),
        Exit::Code(code) if complaint.trim().is_empty() => {
            RepositoryError::Failed(format!("it ended with exit status {code}"))
        }
        Exit::Code(_) if complaint.contains("' not allowed") && complaint.contains("transport '") => {
            RepositoryError::Failed(format!(
                "{}; it lacks something that is only at its remote, or that remote is of a kind that is not used",
                in_short(complaint)
            ))
        }
        Exit::Code(_) => RepositoryError::Failed(in_short(complaint)),
        Exit::Signal(_) | Exit::Lost => RepositoryError::Failed(format!(
            "it was killed at work ({}); look at `git status` before you go on",
            said.exit
        )),
    }
}

/// Which filter failed.
fn failed_filter(complaint: &str) -> Option<&str> {
    let (before, _) = complaint.split_once("' failed")?;
    let (before, name) = before.rsplit_once('\'')?;
    before.ends_with("filter ").then_some(name)
}

/// What git complains about, in one line.
pub(crate) fn in_short(complaint: &str) -> String {
    let lines =
        complaint.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    let bare = |line: &str| {
        let line = line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
        line.chars().take(MAX_CHARACTERS).map(|char| if char.is_control() { '?' } else { char }).collect()
    };
    lines.take(MAX_LINES).map(bare).collect::<Vec<String>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure_of(code: i32, complaint: &str) -> String {
        let said = Said {
            exit: Exit::Code(code),
            output: Vec::new(),
            is_cut: false,
            complaint: complaint.to_owned(),
        };
        failure(&said, &["secret".to_owned()]).to_string()
    }

    #[test]
    fn what_git_says_is_one_line_without_its_hints_and_control_characters() {
        let complaint = "error: one\nhint: try this\n\nfatal: two\x1b[31m\n";
        assert_eq!(failure_of(128, complaint), "git could not do it: one; two?[31m");
        assert_eq!(failure_of(1, "\n"), "git could not do it: it ended with exit status 1");
    }

    #[test]
    fn a_lock_is_told_with_what_to_do() {
        let complaint = "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process…";
        let told = failure_of(128, complaint);
        assert!(told.starts_with("git could not do it: `/r/.git/index.lock` is there:"), "{told}");
        assert!(told.contains("remove that file"), "{told}");
        assert!(!is_locked("fatal: Unable to create '/r/.git/index.lock': Permission denied"));
        let of_a_ref = "fatal: cannot lock ref 'refs/heads/a': Unable to create '/r/a.lock': File exists.";
        assert!(failure_of(128, of_a_ref).contains("`/r/a.lock` is there:"));
    }

    #[test]
    fn a_filter_that_was_not_run_is_named() {
        let told = failure_of(128, "fatal: a.txt: clean filter 'secret' failed\n");
        assert!(told.contains("`filter.secret`") && told.contains("git config --global"), "{told}");
        let told = failure_of(128, "fatal: a.txt: clean filter 'own' failed\n");
        assert_eq!(told, "git could not do it: a.txt: clean filter 'own' failed");
    }

    #[test]
    fn a_git_that_does_not_know_our_words_is_too_old() {
        let told = failure_of(129, "error: unknown option `write-tree'\nusage: git merge-tree…");
        assert!(told.contains("git 2.38 or newer is needed"), "{told}");
    }
}
