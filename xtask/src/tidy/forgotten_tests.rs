//! Every file is part of something: no test and no module that the compiler never sees.
//!
//! Textual: a module counts as named when a line of its parent reads `mod name;`. Also holds the layout: one
//! integration test program per crate, `tests/it/`, and no `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::Fault;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for package in &workspace.members {
        let folder = workspace.folder(package);
        let mut files = BTreeMap::new();
        for file in workspace.files_of(package).filter(|file| file.ends_with(".rs")) {
            files.insert(file.clone(), workspace.text(file)?.unwrap_or_default());
        }
        let roots = package.targets.iter().map(|target| workspace.relative(&target.src_path)).collect();
        faults.extend(check_package(&folder, &files, &roots));
    }
    Ok(faults)
}

/// `roots` are the files the compiler starts from.
fn check_package(folder: &str, files: &BTreeMap<String, String>, roots: &BTreeSet<String>) -> Vec<Fault> {
    let source = format!("{folder}/src/");
    let tests = format!("{folder}/tests/");
    let mut faults = Vec::new();
    for file in files.keys() {
        let (parent_folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        if format!("{parent_folder}/") == tests {
            let fix = "move it to `tests/it/` and name it in `tests/it/main.rs`";
            faults.push(Fault::new(file, 1, "is a test program of its own", fix));
            continue;
        }
        if !(file.starts_with(&source) || file.starts_with(&tests)) || roots.contains(file) {
            continue;
        }
        if name == "mod.rs" {
            let fix = format!("rename it to `{parent_folder}.rs`");
            faults.push(Fault::new(file, 1, "hides its module's name", fix));
            continue;
        }
        let module = name.trim_end_matches(".rs");
        let parents = parents(parent_folder, files, roots);
        if !parents.iter().any(|parent| names_module(&files[parent], module)) {
            let owner = parents.first().cloned().unwrap_or_else(|| format!("{parent_folder}.rs"));
            let what = "is never compiled".to_owned();
            faults.push(Fault::new(
                file,
                1,
                what,
                format!("write `mod {module};` in `{owner}`, or delete it"),
            ));
        }
    }
    faults
}

/// The files that can name a module in this folder: the folder's own module, or a root inside it.
fn parents(folder: &str, files: &BTreeMap<String, String>, roots: &BTreeSet<String>) -> Vec<String> {
    let own = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
    let inside =
        roots.iter().filter(|root| root.rsplit_once('/').is_some_and(|(parent, _)| parent == folder));
    inside.chain(&own).filter(|parent| files.contains_key(*parent)).cloned().collect()
}

fn names_module(text: &str, module: &str) -> bool {
    let wanted = format!("mod {module};");
    text.lines().map(str::trim).any(|line| match line.strip_suffix(wanted.as_str()) {
        Some(before) => before.is_empty() || before.starts_with("pub") || before.starts_with("#["),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package `c` from `path=text` lines; roots are the usual ones. The faults as lines.
    fn faults(listing: &[(&str, &str)]) -> Vec<String> {
        let files: BTreeMap<String, String> =
            listing.iter().map(|(path, text)| (format!("c/{path}"), (*text).to_owned())).collect();
        let is_root = |file: &&String| file.ends_with("/lib.rs") || file.ends_with("/main.rs");
        let roots: BTreeSet<String> = files.keys().filter(is_root).cloned().collect();
        check_package("c", &files, &roots).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn modules_that_are_named_pass() {
        let none: Vec<String> = Vec::new();
        let listing = [
            ("src/lib.rs", "mod a;\npub(crate) mod b;\n#[cfg(unix)] mod d;"),
            ("src/a.rs", "mod c;"),
            ("src/a/c.rs", ""),
            ("src/b.rs", ""),
            ("src/d.rs", ""),
            ("tests/it/main.rs", "mod e;"),
            ("tests/it/e.rs", ""),
            ("examples/f.rs", ""),
        ];
        assert_eq!(faults(&listing), none);
    }

    #[test]
    fn a_forgotten_test_module_is_a_fault() {
        assert_eq!(
            faults(&[("tests/it/main.rs", "// mod e;"), ("tests/it/e.rs", "")]),
            ["c/tests/it/e.rs:1: is never compiled – write `mod e;` in `c/tests/it/main.rs`, or delete it"]
        );
        assert_eq!(
            faults(&[("tests/it/e.rs", "")]),
            ["c/tests/it/e.rs:1: is never compiled – write `mod e;` in `c/tests/it.rs`, or delete it"]
        );
    }

    #[test]
    fn a_second_test_program_is_a_fault() {
        assert_eq!(
            faults(&[("tests/more.rs", "")]),
            [
                "c/tests/more.rs:1: is a test program of its own – move it to `tests/it/` and name it in `tests/it/main.rs`"
            ]
        );
    }

    #[test]
    fn a_forgotten_source_file_is_a_fault() {
        assert_eq!(
            faults(&[("src/lib.rs", "mod a;"), ("src/a.rs", ""), ("src/a/b.rs", "")]),
            ["c/src/a/b.rs:1: is never compiled – write `mod b;` in `c/src/a.rs`, or delete it"]
        );
    }

    #[test]
    fn a_mod_rs_is_a_fault() {
        assert_eq!(
            faults(&[("src/lib.rs", "mod a;"), ("src/a/mod.rs", "")]),
            ["c/src/a/mod.rs:1: hides its module's name – rename it to `c/src/a.rs`"]
        );
    }
}
