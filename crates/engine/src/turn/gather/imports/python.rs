//! `import` and `from … import` of Python.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Import, LONGEST_NAME, Lines, MOST, MOST_LOOKED_UP};
use crate::turn::gather::language::{Language, directory};
use crate::turn::gather::listing::Listing;
use crate::turn::gather::plain::plain;

/// In how many of the directories above a file packages are looked for.
const MOST_ABOVE: usize = 16;

/// Where packages are kept besides the root and the directories of the file itself.
const ROOTS: [&str; 3] = ["src", "lib", "python"];

static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    let text = concat!(
        r"(?m)^[ \t]*(?:from[ \t]+(?<dots>\.*)(?<module>[\w.]*)[ \t]+import[ \t]+(?:(?<open>\()|(?<names>[^\n;]*))",
        r"|import[ \t]+(?<modules>[^\n;]*))"
    );
    Regex::new(text).expect("the expression is right")
});

pub(super) fn imports(path: &str, text: &str, files: &Listing) -> Vec<Import> {
    let plain = plain(text, Language::Python);
    let bases = bases(path);
    let mut lines = Lines::of(&plain);
    let (mut at, mut left, mut is_closed) = (0, MOST_LOOKED_UP, true);
    let mut found = Vec::new();
    for _ in 0..MOST {
        let Some(captures) = IMPORT.captures_at(&plain, at) else { break };
        let part = |name: &str| {
            captures.name(name).map(|part| String::from_utf8_lossy(part.as_bytes()).into_owned())
        };
        let whole = captures.get(0).expect("the whole match is always there");
        let line = lines.line(whole.start());
        at = whole.end();
        let group = captures.name("open").map(|_| {
            // What was not closed once is not closed later either.
            let rest = if is_closed { &plain[at..] } else { &[] };
            let end = rest.iter().position(|byte| *byte == b')');
            is_closed = end.is_some();
            at += end.unwrap_or(0);
            String::from_utf8_lossy(&rest[..end.unwrap_or(0)]).into_owned()
        });
        if let Some(modules) = part("modules") {
            for module in names(&modules, &mut left) {
                let path = bases.iter().find_map(|base| longest(base, &module, files));
                found.extend(path.map(|path| Import { path, line, names: vec![module.clone()] }));
            }
            continue;
        }
        let (dots, module) = (part("dots").unwrap_or_default().len(), part("module").unwrap_or_default());
        let bases = match dots {
            0 => bases.clone(),
            dots => (1..dots)
                .try_fold(directory(path), |base, _| (!base.is_empty()).then(|| directory(base)))
                .map(|base| vec![base.to_owned()])
                .unwrap_or_default(),
        };
        if module.len() > LONGEST_NAME {
            continue;
        }
        for name in names(&group.or_else(|| part("names")).unwrap_or_default(), &mut left) {
            // What is imported is a module of the package, or something in the package itself.
            let dotted = [module.as_str(), name.as_str()].into_iter().filter(|part| !part.is_empty());
            let dotted = dotted.collect::<Vec<_>>().join(".");
            let path = bases
                .iter()
                .find_map(|base| exact(base, &dotted, files).or_else(|| exact(base, &module, files)));
            found.extend(path.map(|path| Import { path, line, names: vec![name] }));
        }
    }
    found
}

/// Where a module may be that is named from the outside: the outermost first.
fn bases(path: &str) -> Vec<String> {
    let mut bases: Vec<String> = vec![String::new()];
    bases.extend(ROOTS.map(str::to_owned));
    let mut above = Vec::new();
    let mut here = directory(path);
    while !here.is_empty() {
        above.push(here.to_owned());
        here = directory(here);
    }
    above.truncate(MOST_ABOVE);
    bases.extend(above.into_iter().rev());
    bases
}

/// The names in a list, as many as may still be looked up.
fn names(list: &str, left: &mut usize) -> Vec<String> {
    let name = |part: &str| part.split_whitespace().next().unwrap_or_default().to_owned();
    let is_name = |name: &String| {
        (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(|char| char.is_alphanumeric() || "_.".contains(char))
    };
    let names: Vec<String> = list.split(',').map(name).filter(is_name).take(*left).collect();
    *left -= names.len();
    names
}

fn exact(base: &str, dotted: &str, files: &Listing) -> Option<String> {
    let parts = std::iter::once(base).chain(dotted.split('.')).filter(|part| !part.is_empty());
    let path = parts.collect::<Vec<_>>().join("/");
    files.first([format!("{path}.py"), format!("{path}.pyi"), format!("{path}/__init__.py")])
}

/// `import a.b.c` names a module; the last names may be in it and no file.
fn longest(base: &str, dotted: &str, files: &Listing) -> Option<String> {
    let ends = dotted.match_indices('.').map(|(place, _)| place).chain([dotted.len()]);
    ends.collect::<Vec<_>>().into_iter().rev().find_map(|end| exact(base, &dotted[..end], files))
}
