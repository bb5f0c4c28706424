//! `import` of Go: packages of a module in the workspace.

use std::sync::LazyLock;

use regex::Regex;

use super::{Import, Lines, MOST};
use crate::turn::gather::language::{directory, name};
use crate::turn::gather::listing::Listing;

/// How many files of a package are told; a reader begins with a few.
const MOST_OF_A_PACKAGE: usize = 8;

/// A module: a directory and the name with which imports of its packages begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::turn::gather) struct Module {
    directory: String,
    name: String,
}

impl Module {
    /// The module that a `go.mod` describes.
    pub(in crate::turn::gather) fn parse(path: &str, text: &str) -> Option<Self> {
        let name = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
        let name = name.trim().trim_matches('"').to_owned();
        Some(Self { directory: directory(path).to_owned(), name })
    }

    /// The directory of a package, if it is one of this module.
    fn package(&self, import: &str) -> Option<String> {
        let below = import.strip_prefix(&self.name)?;
        match (below.strip_prefix('/'), self.directory.as_str()) {
            (None, directory) => below.is_empty().then(|| directory.to_owned()),
            (Some(below), "") => Some(below.to_owned()),
            (Some(below), directory) => Some(format!("{directory}/{below}")),
        }
    }
}

static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^import\s*(?:\((?<group>[^)]*)\)|(?<one>[^\n(]*"[^"\n]*"))"#)
        .expect("the expression is right")
});
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""([^"\n]+)""#).expect("the expression is right"));

pub(super) fn imports(path: &str, text: &str, files: &Listing, modules: &[Module]) -> Vec<Import> {
    let mut found = Vec::new();
    let mut lines = Lines::of(text.as_bytes());
    for captures in IMPORT.captures_iter(text).take(MOST) {
        let Some(part) = captures.name("group").or_else(|| captures.name("one")) else { continue };
        for quoted in QUOTED.find_iter(part.as_str()) {
            if found.len() >= MOST {
                return found;
            }
            let import = quoted.as_str().trim_matches('"');
            let Some(package) = modules.iter().find_map(|module| module.package(import)) else { continue };
            if package == directory(path) {
                continue;
            }
            let line = lines.line(part.start() + quoted.start());
            let names = vec![name(import).to_owned()];
            let sources = files
                .in_directory(&package)
                .filter(|file| file.ends_with(".go") && !file.ends_with("_test.go"));
            let import = |path: &str| Import { path: path.to_owned(), line, names: names.clone() };
            found.extend(sources.take(MOST_OF_A_PACKAGE).map(import));
        }
    }
    found
}
