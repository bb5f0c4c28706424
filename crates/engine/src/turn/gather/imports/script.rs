//! `import`, `export … from` and `require` of JavaScript and TypeScript, of files beside the file.

use std::sync::LazyLock;

use regex::Regex;

use super::{Import, Lines, MOST, MOST_NAMES};
use crate::turn::gather::language::{directory, join};
use crate::turn::gather::listing::Listing;

/// In the order in which they are tried.
const EXTENSIONS: [&str; 11] =
    ["ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"];

static FROM: LazyLock<Regex> = LazyLock::new(|| {
    let text = concat!(
        r#"(?:\b(?:import|export)\s+(?<names>[^'"`;()]*?)\s*from\s*|\bimport\s*\(?\s*|"#,
        r#"(?:\b(?:const|let|var)\s+(?<bound>[^'"`;()=]*?)\s*=\s*)?\brequire\s*\(\s*)['"](?<path>\.[^'"\n]*)['"]"#
    );
    Regex::new(text).expect("the expression is right")
});

pub(super) fn imports(path: &str, text: &str, files: &Listing) -> Vec<Import> {
    let mut lines = Lines::of(text.as_bytes());
    let import = |captures: regex::Captures<'_>| {
        let (whole, specifier) = (captures.get(0)?, captures.name("path")?);
        let path = resolve(directory(path), specifier.as_str(), files)?;
        let names = captures.name("names").or_else(|| captures.name("bound"));
        let names = names.map(|names| words(names.as_str())).unwrap_or_default();
        Some(Import { path, line: lines.line(whole.start()), names })
    };
    FROM.captures_iter(text).take(MOST).filter_map(import).collect()
}

fn resolve(directory: &str, specifier: &str, files: &Listing) -> Option<String> {
    let path = join(directory, specifier)?;
    // Sources of TypeScript name what they are compiled to.
    let compiled = [("js", "ts"), ("jsx", "tsx"), ("mjs", "mts"), ("cjs", "cts")];
    let source = compiled.into_iter().find_map(|(to, from)| {
        path.strip_suffix(to).filter(|rest| rest.ends_with('.')).map(|rest| format!("{rest}{from}"))
    });
    let with = |base: String| EXTENSIONS.into_iter().map(move |extension| format!("{base}.{extension}"));
    let index = if path.is_empty() { "index".to_owned() } else { format!("{path}/index") };
    files.first([path.clone()].into_iter().chain(source).chain(with(path)).chain(with(index)))
}

/// The names in `a, { b as c }` or `* as d`.
fn words(names: &str) -> Vec<String> {
    let words = names.split(|char: char| !char.is_alphanumeric() && char != '_' && char != '$');
    words
        .filter(|word| !word.is_empty() && !["as", "type", "default"].contains(word))
        .map(str::to_owned)
        .take(MOST_NAMES)
        .collect()
}
