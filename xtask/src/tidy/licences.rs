//! Every package we build with has a licence we can live with.

use crate::tidy::Fault;
use crate::workspace::Workspace;

/// Permissive licences, and the file-level copyleft of MPL-2.0, which does not reach our files.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    // MIT without the duty to name the authors: it asks for less than MIT does.
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Fault>> {
    let lock = workspace.text("Cargo.lock")?.unwrap_or_default();
    let mut faults = Vec::new();
    for package in &workspace.packages {
        if let Err(what) = judge(package.license.as_deref()) {
            let named = format!("name = \"{}\"", package.name);
            let line = lock.lines().position(|line| line == named).map_or(1, |index| index + 1);
            let what = format!("`{}` {} {what}", package.name, package.version);
            let fix = "use another package, or add the licence to xtask/src/tidy/licences.rs and say why";
            faults.push(Fault::new("Cargo.lock", line, what, fix));
        }
    }
    Ok(faults)
}

fn judge(licence: Option<&str>) -> Result<(), String> {
    let Some(expression) = licence else { return Err("names no licence".to_owned()) };
    match is_allowed(expression) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("has the licence `{expression}`, which is not allowed")),
        Err(reason) => Err(format!("has a licence that cannot be read, `{expression}`: {reason}")),
    }
}

/// Whether an SPDX expression can be met with allowed licences: one side of each `OR`, both of each `AND`.
fn is_allowed(expression: &str) -> Result<bool, String> {
    // Old packages write `MIT/Apache-2.0` and mean `OR`.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words };
    let allowed = reader.any()?;
    match reader.words {
        [] => Ok(allowed),
        [word, ..] => Err(format!("`{word}` is not expected")),
    }
}

/// Reads from the left; `AND` binds closer than `OR`.
struct Reader<'a> {
    words: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Result<bool, String> {
        let mut allowed = self.all()?;
        while self.take("OR") {
            allowed |= self.all()?;
        }
        Ok(allowed)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut allowed = self.one()?;
        while self.take("AND") {
            allowed &= self.one()?;
        }
        Ok(allowed)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let allowed = self.any()?;
            return if self.take(")") { Ok(allowed) } else { Err("a `)` is missing".to_owned()) };
        }
        let name = self.name()?;
        if self.take("WITH") {
            let whole = format!("{name} WITH {}", self.name()?);
            return Ok(ALLOWED.contains(&whole.as_str()));
        }
        Ok(ALLOWED.contains(&name))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.words {
            [] => Err("a licence is missing at the end".to_owned()),
            [word @ ("OR" | "AND" | "WITH" | "(" | ")"), ..] => {
                Err(format!("a licence is missing before `{word}`"))
            }
            [name, rest @ ..] => {
                self.words = rest;
                Ok(name)
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words {
            [first, rest @ ..] if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: Result<bool, &str>) {
        assert_eq!(is_allowed(expression), expected.map_err(str::to_owned), "{expression}");
    }

    #[test]
    fn one_allowed_alternative_is_enough() {
        check("MIT", Ok(true));
        check("GPL-3.0-only", Ok(false));
        check("MIT OR GPL-3.0-only", Ok(true));
        check("GPL-3.0-only OR LGPL-2.1-or-later OR MIT", Ok(true));
        check("MIT/Apache-2.0", Ok(true));
    }

    #[test]
    fn every_part_of_a_conjunction_must_be_allowed() {
        check("MIT AND ISC", Ok(true));
        check("MIT AND GPL-3.0-only", Ok(false));
        check("(MIT OR Apache-2.0) AND Unicode-3.0", Ok(true));
        check("(MIT OR Apache-2.0) AND (GPL-2.0-only OR AGPL-3.0-only)", Ok(false));
    }

    #[test]
    fn and_binds_closer_than_or() {
        check("MIT OR GPL-3.0-only AND GPL-2.0-only", Ok(true));
        check("GPL-3.0-only AND MIT OR GPL-2.0-only", Ok(false));
        check("(MIT OR GPL-3.0-only) AND GPL-2.0-only", Ok(false));
    }

    #[test]
    fn exceptions_belong_to_their_licence() {
        check("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", Ok(true));
        check("Apache-2.0 WITH LLVM-exception", Ok(true));
        check("Apache-2.0 WITH Other-exception", Ok(false));
        check("GPL-2.0-only WITH LLVM-exception", Ok(false));
    }

    #[test]
    fn broken_expressions_are_refused() {
        check("", Err("a licence is missing at the end"));
        check("MIT OR", Err("a licence is missing at the end"));
        check("OR MIT", Err("a licence is missing before `OR`"));
        check("(MIT", Err("a `)` is missing"));
        check("MIT)", Err("`)` is not expected"));
        check("MIT ISC", Err("`ISC` is not expected"));
    }

    #[test]
    fn a_package_without_a_licence_is_refused() {
        assert_eq!(judge(None), Err("names no licence".to_owned()));
        assert_eq!(
            judge(Some("GPL-3.0-only")),
            Err("has the licence `GPL-3.0-only`, which is not allowed".to_owned())
        );
    }
}
