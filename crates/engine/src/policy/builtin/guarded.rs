//! Files that no call may write.
//!
//! Everything in `.git`: its configuration and hooks are programs that run later, outside every sandbox, and the rest
//! is the user's history. `.loggia` and `.mehrhof/config.yaml`: what they say shapes what is allowed and what is
//! started. They are guarded at every depth, since a directory inside a workspace may be a workspace too.

use std::borrow::Cow;

/// Why a path must not be written, if so. Relative or absolute.
pub(crate) fn guarded(path: &str) -> Option<&'static str> {
    let parts: Vec<Cow<'_, str>> = path.split('/').map(fold).collect();
    if parts.iter().any(|part| is_git(part)) {
        return Some("is part of git's own files, which run programs and hold the history");
    }
    if parts.iter().any(|part| part == ".loggia") {
        return Some("is part of what shapes the policy");
    }
    let is_settings = |pair: &[Cow<'_, str>]| pair[0] == ".mehrhof" && pair[1] == "config.yaml";
    if parts.windows(2).any(is_settings) {
        return Some("names programs that are started");
    }
    // Removing or replacing the directory replaces the file.
    (parts.last().is_some_and(|part| part == ".mehrhof")).then_some("names programs that are started")
}

/// Whether a pattern for file names may match a guarded one: `rm -rf .g*`.
pub(crate) fn may_be_guarded(text: &str) -> bool {
    let may_match = |part: &str| {
        // A pattern that is none for us may be one for a shell.
        let matcher = globset::Glob::new(part).ok().map(|glob| glob.compile_matcher());
        matcher
            .is_none_or(|matcher| [".git", ".loggia", ".mehrhof"].iter().any(|name| matcher.is_match(name)))
    };
    // Without a dot of its own, a pattern matches no hidden file.
    text.split('/').any(|part| part.starts_with('.') && part.contains(['*', '?', '[']) && may_match(part))
}

/// `git~1` is how Windows shortens `.git`.
fn is_git(part: &str) -> bool {
    matches!(part, ".git" | "git~1")
}

/// The one spelling of a name on file systems that see several as the same: without case, without characters that
/// some do not see, without the dots and blanks that some drop at the end.
pub(super) fn fold(part: &str) -> Cow<'_, str> {
    let is_folded = part.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    let folded: Cow<'_, str> = if is_folded {
        Cow::Borrowed(part)
    } else {
        let is_seen = |c: &char| {
            !matches!(c,
                '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        };
        Cow::Owned(part.chars().filter(is_seen).flat_map(char::to_lowercase).collect())
    };
    match folded.trim_end_matches(['.', ' ']).len() {
        // `.` and `..` are no names.
        0 => folded,
        length if length == folded.len() => folded,
        length => Cow::Owned(folded[..length].to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_git_is_guarded() {
        for path in [
            ".git",
            ".git/config",
            "sub/.git/hooks/pre-commit",
            ".GIT/config",
            ".Git",
            "GIT~1/config",
            ".g\u{200c}it/config",
            ".git./config",
            ".loggia/policy.toml",
            ".LOGGIA",
            ".mehrhof/config.yaml",
            "a/.mehrhof/Config.YAML",
            ".mehrhof",
        ] {
            assert!(guarded(path).is_some(), "{path}");
        }
        for path in [
            "",
            ".gitignore",
            ".github/workflows/ci.yml",
            "git",
            ".mehrhof/tasks/1.md",
            "src/.gitkeep",
            "loggia",
        ] {
            assert_eq!(guarded(path), None, "{path}");
        }
    }
}
