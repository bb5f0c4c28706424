//! `cargo xtask tidy`: what the compiler does not check. Fast, because nothing is compiled.
//!
//! Each check is a module with a function from the workspace to faults, and pure functions beneath it that
//! are tested on small made inputs. A fault is one line: where, what, and how to put it right.

mod conformance;
pub(crate) mod edges;
mod forgotten_tests;
mod generated;
mod licences;
mod module_docs;
mod words;

use std::fmt;

use anyhow::bail;

use crate::workspace::Workspace;

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    file: String,
    line: usize,
    what: String,
    fix: String,
}

impl Fault {
    fn new(file: impl Into<String>, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { file: file.into(), line, what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} – {}", self.file, self.line, self.what, self.fix)
    }
}

/// What a check found.
#[derive(Debug, Default)]
struct Report {
    faults: Vec<Fault>,
    /// Lines worth printing even when all is well.
    notes: Vec<String>,
}

impl From<Vec<Fault>> for Report {
    fn from(faults: Vec<Fault>) -> Self {
        Self { faults, notes: Vec::new() }
    }
}

/// Runs every check and prints what it found.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let report = check(workspace)?;
    for note in &report.notes {
        println!("{note}");
    }
    for fault in &report.faults {
        println!("{fault}");
    }
    if !report.faults.is_empty() {
        bail!("tidy found {} faults", report.faults.len());
    }
    println!("tidy: {} files and {} packages are in order", workspace.files.len(), workspace.packages.len());
    Ok(())
}

fn check(workspace: &Workspace) -> anyhow::Result<Report> {
    let reports = [
        edges::check(workspace).into(),
        module_docs::check(workspace)?.into(),
        forgotten_tests::check(workspace)?.into(),
        licences::check(workspace)?.into(),
        conformance::check(workspace)?,
        generated::check(workspace)?.into(),
        words::check(workspace)?.into(),
    ];
    let mut whole = Report::default();
    for report in reports {
        whole.faults.extend(report.faults);
        whole.notes.extend(report.notes);
    }
    Ok(whole)
}

/// Whether a file is part of a test and not of a product.
fn is_test_file(file: &str) -> bool {
    file.starts_with("tests/")
        || file.contains("/tests/")
        || file.ends_with("/tests.rs")
        || file.ends_with("_tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let report = check(&Workspace::load().unwrap()).unwrap();
        let lines: Vec<String> = report.faults.iter().map(Fault::to_string).collect();
        assert!(lines.is_empty(), "{} faults:\n{}", lines.len(), lines.join("\n"));
    }

    #[test]
    fn a_fault_is_one_line() {
        let fault = Fault::new("a.rs", 3, "is wrong", "mend it");
        assert_eq!(fault.to_string(), "a.rs:3: is wrong – mend it");
    }
}
