//! `use` and `mod` of Rust.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Import, Lines, MOST, MOST_LOOKED_UP};
use crate::turn::gather::language::{Language, directory, name};
use crate::turn::gather::listing::Listing;
use crate::turn::gather::plain::plain;

/// Deeper groups are no program, and neither are longer paths.
const DEEPEST: usize = 16;
const LONGEST: usize = 32;

static USE: LazyLock<Regex> = LazyLock::new(|| {
    let text = r"(?m)^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+(?<tree>[^;]+);|mod\s+(?<module>\w+)\s*;)";
    Regex::new(text).expect("the expression is right")
});

pub(super) fn imports(path: &str, text: &str, files: &Listing) -> Vec<Import> {
    let plain = plain(text, Language::Rust);
    let place = Place::of(path, files);
    let mut lines = Lines::of(&plain);
    let mut left = MOST_LOOKED_UP;
    let mut found = Vec::new();
    for captures in USE.captures_iter(&plain).take(MOST) {
        let whole = captures.get(0).expect("the whole match is always there");
        let before = whole.as_bytes().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let line = lines.line(whole.start() + before);
        let mut paths = Vec::new();
        if let Some(module) = captures.name("module") {
            paths.push(vec!["self".to_owned(), String::from_utf8_lossy(module.as_bytes()).into_owned()]);
        } else if let Some(tree) = captures.name("tree") {
            expand(&String::from_utf8_lossy(tree.as_bytes()), &[], 0, &mut paths);
        }
        paths.truncate(left);
        left -= paths.len();
        for segments in paths {
            if let Some(path) = place.resolve(&segments, files) {
                let names = segments.last().filter(|name| *name != "*" && *name != "self").cloned();
                found.push(Import { path, line, names: names.into_iter().collect() });
            }
        }
    }
    found
}

/// Every path of a tree like `a::{b, c::{d as e, *}}`.
fn expand(tree: &str, before: &[String], depth: usize, paths: &mut Vec<Vec<String>>) {
    if depth > DEEPEST {
        return;
    }
    for branch in branches(tree) {
        if paths.len() >= MOST {
            return;
        }
        let (head, group) = match branch.split_once('{') {
            Some((head, group)) => (head, Some(group.trim_end().strip_suffix('}').unwrap_or(group))),
            None => (branch, None),
        };
        let head = head.split(" as ").next().unwrap_or_default();
        let mut segments = before.to_vec();
        let parts = head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned);
        segments.extend(parts.take(LONGEST + 1));
        if segments.len() > LONGEST {
            continue;
        }
        match group {
            Some(group) => expand(group, &segments, depth + 1, paths),
            None if segments.is_empty() => {}
            None => paths.push(segments),
        }
    }
}

/// The parts between commas that are in no group.
fn branches(tree: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0_usize, 0, Vec::new());
    for (place, byte) in tree.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(&tree[from..place]);
                from = place + 1;
            }
            _ => {}
        }
    }
    found.push(&tree[from..]);
    found.into_iter().map(str::trim).filter(|branch| !branch.is_empty()).collect()
}

/// Where a file is in its crate, by directories.
struct Place {
    /// Where the modules below the file are.
    own: String,
    /// Where the crate's first modules are.
    root: String,
}

impl Place {
    fn of(path: &str, files: &Listing) -> Self {
        let here = directory(path);
        let own = match name(path) {
            "lib.rs" | "main.rs" | "mod.rs" => here.to_owned(),
            _ => path.strip_suffix(".rs").unwrap_or(path).to_owned(),
        };
        let mut root = here;
        while root_file(root, files).is_none() && !root.is_empty() {
            root = directory(root);
        }
        let root = if root_file(root, files).is_some() { root.to_owned() } else { own.clone() };
        Self { own, root }
    }

    fn resolve(&self, segments: &[String], files: &Listing) -> Option<String> {
        let mut base = self.own.as_str();
        let mut rest = segments;
        let mut is_ours = false;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => base = &self.root,
                "super" => base = directory(base),
                "self" => {}
                _ => break,
            }
            is_ours = true;
            rest = others;
        }
        let below = |count: usize| {
            let path = std::iter::once(base).filter(|base| !base.is_empty());
            let path = path.chain(rest[..count].iter().map(String::as_str)).collect::<Vec<_>>().join("/");
            files.first([format!("{path}.rs"), format!("{path}/mod.rs")])
        };
        let found = (1..=rest.len()).rev().find_map(below);
        // What is no module of ours is an item in the one that was reached, or another crate's.
        found.or_else(|| if is_ours { module_file(base, files) } else { None })
    }
}

fn module_file(base: &str, files: &Listing) -> Option<String> {
    files.first([format!("{base}.rs"), format!("{base}/mod.rs")]).or_else(|| root_file(base, files))
}

fn root_file(base: &str, files: &Listing) -> Option<String> {
    let in_base = |name: &str| if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") };
    files.first([in_base("lib.rs"), in_base("main.rs")])
}
