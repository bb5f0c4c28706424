//! Globs over the paths of a tree.
//!
//! `*` stays within a directory and `**` crosses them. A glob without a slash is about names, wherever they are; one
//! that ends in a slash is about everything below that directory.

use globset::{GlobBuilder, GlobMatcher};
use loggia_domain::ArgumentError;

/// A glob, ready to match.
#[derive(Debug)]
pub(crate) struct PathGlob(GlobMatcher);

impl PathGlob {
    /// Reads a glob.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(written: &str) -> Result<Self, ArgumentError> {
        let trimmed = written.trim().trim_start_matches("./");
        if trimmed.is_empty() {
            return Err(ArgumentError("`glob` is empty; `**` matches every file".to_owned()));
        }
        if trimmed.starts_with(['/', '!']) || trimmed.split('/').any(|part| part == "..") {
            return Err(ArgumentError(format!(
                "`glob`: `{trimmed}` must be relative to the workspace, without `..` or a leading `!`"
            )));
        }
        let mut pattern = String::new();
        if !trimmed.contains('/') {
            pattern.push_str("**/");
        }
        pattern.push_str(trimmed);
        if trimmed.ends_with('/') {
            pattern.push_str("**");
        }
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| ArgumentError(format!("`glob`: {}", error.kind())))?;
        Ok(Self(glob.compile_matcher()))
    }

    /// Whether a path matches.
    pub(crate) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        PathGlob::parse(glob).is_ok_and(|glob| glob.matches(path))
    }

    #[test]
    fn a_glob_without_a_slash_is_about_names_anywhere() {
        assert!(matches("*.rs", "lib.rs"));
        assert!(matches("*.rs", "src/deep/lib.rs"));
        assert!(!matches("*.rs", "src/lib.rst"));
        assert!(matches("{a,b}.txt", "x/b.txt"));
    }

    #[test]
    fn a_glob_with_a_slash_is_about_whole_paths() {
        assert!(matches("src/*.rs", "src/lib.rs"));
        assert!(!matches("src/*.rs", "src/deep/lib.rs"));
        assert!(matches("src/**/*.rs", "src/lib.rs"));
        assert!(matches("./src/", "src/deep/lib.rs"));
        assert!(!matches("src/", "other/src/lib.rs"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for wrong in ["", "/etc/*", "../*", "!a", "a/{b", "[z-a]"] {
            assert!(PathGlob::parse(wrong).is_err(), "{wrong}");
        }
    }
}
