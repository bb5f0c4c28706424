//! `#include` of C and C++: beside the file, else wherever a header with this path is.

use std::sync::LazyLock;

use regex::Regex;

use super::{Import, Lines, MOST};
use crate::turn::gather::language::{directory, join};
use crate::turn::gather::listing::Listing;

static INCLUDE: LazyLock<Regex> = LazyLock::new(|| {
    let text = r#"(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*(?:"(?<beside>[^"\n]+)"|<(?<system>[^>\n]+)>)"#;
    Regex::new(text).expect("the expression is right")
});

pub(super) fn imports(path: &str, text: &str, files: &Listing) -> Vec<Import> {
    let mut lines = Lines::of(text.as_bytes());
    let import = |captures: regex::Captures<'_>| {
        let line = lines.line(captures.get(0)?.start());
        let found = match (captures.name("beside"), captures.name("system")) {
            (Some(header), _) => {
                let beside = join(directory(path), header.as_str()).filter(|beside| files.has(beside));
                beside.or_else(|| files.ending(header.as_str(), path))
            }
            // A bare name in brackets is the system's.
            (None, header) => header
                .filter(|header| header.as_str().contains('/'))
                .and_then(|header| files.ending(header.as_str(), path)),
        };
        found.map(|path| Import { path, line, names: Vec::new() })
    };
    INCLUDE.captures_iter(text).take(MOST).filter_map(import).collect()
}
