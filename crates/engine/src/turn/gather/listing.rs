//! The files of a workspace by name, to look others up among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::turn::gather::language::name;

/// Paths relative to the root.
#[derive(Debug, Default)]
pub(super) struct Listing {
    paths: BTreeSet<String>,
    by_name: BTreeMap<String, Vec<String>>,
}

impl FromIterator<String> for Listing {
    fn from_iter<I: IntoIterator<Item = String>>(paths: I) -> Self {
        let paths: BTreeSet<String> = paths.into_iter().collect();
        let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in &paths {
            by_name.entry(name(path).to_owned()).or_default().push(path.clone());
        }
        Self { paths, by_name }
    }
}

impl Listing {
    /// Every path, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The first of these paths that is there.
    pub(super) fn first<I: IntoIterator<Item = String>>(&self, paths: I) -> Option<String> {
        paths.into_iter().find(|path| self.has(path))
    }

    /// The files with this name, in any directory.
    pub(super) fn named(&self, name: &str) -> &[String] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The file that ends like this path; of several the one that shares most of its directories with another.
    pub(super) fn ending(&self, end: &str, near: &str) -> Option<String> {
        let ends = |path: &&String| {
            path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let found = self.named(name(end)).iter().filter(ends);
        found.max_by_key(|path| (shared(path, near), std::cmp::Reverse(path.len()))).cloned()
    }

    /// The files right in a directory.
    pub(super) fn in_directory<'a>(&'a self, directory: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let length = prefix.len();
        let below = self.paths.range(prefix.clone()..).take_while(move |path| path.starts_with(&prefix));
        below.map(String::as_str).filter(move |path| !path[length..].contains('/'))
    }
}

/// How many directories two paths have in common from the root on.
pub(super) fn shared(one: &str, other: &str) -> usize {
    one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other).count()
}
