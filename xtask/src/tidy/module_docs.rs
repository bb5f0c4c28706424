//! Every product file begins by saying what it is.

use crate::tidy::{Fault, is_test_file};
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for file in workspace.files.iter().filter(|file| file.ends_with(".rs") && !is_test_file(file)) {
        if let Some(text) = workspace.text(file)?
            && !begins_with_docs(&text)
        {
            let fix =
                "begin it with `//!` and say what it knows, what it refuses to know, and what always holds";
            faults.push(Fault::new(file, 1, "has no module docs", fix));
        }
    }
    Ok(faults)
}

fn begins_with_docs(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_must_come_first() {
        assert!(begins_with_docs("//! Docs.\nuse x;"));
        assert!(begins_with_docs("\n//! Docs."));
        assert!(!begins_with_docs("use x;\n//! Docs."));
        assert!(!begins_with_docs("/// Of an item.\nfn x() {}"));
        assert!(!begins_with_docs(""));
    }
}
