//! Which paths a query is about.
//!
//! Knows globs: without a slash they are about the name alone, wherever the file is; one that begins with `!` leaves
//! files out.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use loggia_domain::IndexError;

/// How many globs a query may have.
const MAX_GLOBS: usize = 100;

/// Which paths are wanted.
#[derive(Debug)]
pub(super) struct PathFilter {
    wanted: Option<GlobSet>,
    unwanted: GlobSet,
}

impl PathFilter {
    pub(super) fn new(globs: &[String]) -> Result<Self, IndexError> {
        let bad = |error: globset::Error| IndexError::BadQuery(format!("a path: {error}"));
        if globs.len() > MAX_GLOBS {
            return Err(IndexError::BadQuery(format!("it has over {MAX_GLOBS} paths")));
        }
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut has_wanted = false;
        for glob in globs {
            let (is_wanted, text) =
                glob.strip_prefix('!').map_or((true, glob.as_str()), |rest| (false, rest));
            // From the root, however that is said.
            let text = if text == "." { "**" } else { text };
            let text = text.strip_prefix("./").unwrap_or(text);
            let (text, is_from_root) = text.strip_prefix('/').map_or((text, false), |rest| (rest, true));
            if text.is_empty() {
                return Err(IndexError::BadQuery("a path has nothing in it".to_owned()));
            }
            let all = match (text.strip_suffix('/'), text.contains('/')) {
                (Some(directory), _) => vec![format!("{directory}/**")],
                (None, has_slash) if has_slash || is_from_root => with_what_is_in_it(text.to_owned()),
                (None, _) => with_what_is_in_it(format!("**/{text}")),
            };
            has_wanted |= is_wanted;
            for text in all {
                let glob = GlobBuilder::new(&text).literal_separator(true).build().map_err(bad)?;
                if is_wanted { &mut wanted } else { &mut unwanted }.add(glob);
            }
        }
        let wanted = if has_wanted { Some(wanted.build().map_err(bad)?) } else { None };
        Ok(Self { wanted, unwanted: unwanted.build().map_err(bad)? })
    }

    /// Whether it leaves nothing out.
    pub(super) fn wants_all(&self) -> bool {
        self.wanted.is_none() && self.unwanted.is_empty()
    }

    /// Wants everything.
    pub(super) fn all() -> Self {
        Self { wanted: None, unwanted: GlobSet::empty() }
    }

    pub(super) fn is_wanted(&self, path: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(path)) && !self.unwanted.is_match(path)
    }
}

/// A glob, and, since it may name a directory, one for what lies below.
fn with_what_is_in_it(glob: String) -> Vec<String> {
    let below = format!("{glob}/**");
    vec![glob, below]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_choose_and_leave_out() {
        let check = |globs: &[&str], path: &str, expected: bool| {
            let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
            assert_eq!(PathFilter::new(&globs).unwrap().is_wanted(path), expected, "{globs:?} {path}");
        };
        check(&[], "a/b.rs", true);
        check(&["*.rs"], "a/b.rs", true);
        check(&["*.rs"], "a/b.py", false);
        check(&["src/**"], "src/a/b.rs", true);
        check(&["src/"], "src/a/b.rs", true);
        check(&["src/*.rs"], "src/a/b.rs", false);
        check(&["/src/"], "src/a/b.rs", true);
        check(&["/src/"], "a/src/b.rs", false);
        check(&["/b.rs"], "b.rs", true);
        check(&["/b.rs"], "a/b.rs", false);
        check(&["."], "a/b.rs", true);
        check(&["!tests/"], "tests/a.rs", false);
        check(&["!tests/"], "src/a.rs", true);
        check(&["*.rs", "!src/gen.rs"], "src/gen.rs", false);
        assert!(PathFilter::new(&["[".to_owned()]).is_err());
    }
}
