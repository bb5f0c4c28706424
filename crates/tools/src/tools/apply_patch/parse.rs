//! A git-style diff of several files, as the changes it asks for.
//!
//! Knows diffs (through diffy) and refuses to know files. What always holds: every hunk of the text is in a change,
//! or there is an error; nothing is dropped on the way.

use std::borrow::Cow;

use diffy::Patch;
use diffy::patch_set::{FileMode, FileOperation, ParseOptions, PatchKind, PatchSet};

use super::mend::{self, Section};

/// A diff, mended, whose changes can be asked for.
#[derive(Debug)]
pub(super) struct Diff {
    sections: Vec<Section>,
}

/// What a diff asks of one file.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// To do what.
    pub(super) operation: Operation,
    /// How the content changes; no hunks if it does not.
    pub(super) patch: Patch<'a, [u8]>,
}

/// What is done to which file. Paths are without the `a/` and `b/` of diffs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Create(String),
    Delete(String),
    Modify(String),
    Move { from: String, to: String },
    Copy { from: String, to: String },
}

impl Diff {
    /// Finds the files' parts of a text.
    pub(super) fn new(text: &str) -> Self {
        Self { sections: mend::sections(text) }
    }

    /// Reads every part.
    ///
    /// # Errors
    /// Which file's part cannot be used, and why.
    pub(super) fn changes(&self) -> Result<Vec<Change<'_>>, String> {
        if self.sections.is_empty() {
            return Err("`diff` is not a unified diff: every file begins with a `--- a/PATH` and a `+++ b/PATH` line, \
                        /dev/null for none, and hunks begin with `@@ -START,COUNT +START,COUNT @@`"
                .to_owned());
        }
        let numbered = self.sections.iter().enumerate();
        numbered
            .map(|(number, section)| change(section).map_err(|why| named(section, number, &why)))
            .collect()
    }
}

fn change(section: &Section) -> Result<Change<'_>, String> {
    let mut parts = PatchSet::parse_bytes(section.text.as_bytes(), ParseOptions::gitdiff());
    let part = match parts.next() {
        Some(Ok(part)) => part,
        Some(Err(error)) => return Err(bare(&error.to_string())),
        None => return Err("there is nothing to read".to_owned()),
    };
    let operation = operation(part.operation())?;
    refuse_modes(part.old_mode(), part.new_mode())?;
    let PatchKind::Text(patch) = part.into_patch() else {
        return Err("binary files cannot be patched".to_owned());
    };
    if patch.hunks().len() != section.hunks {
        return Err(format!(
            "only {} of {} hunks can be read; each begins with `@@ -START,COUNT +START,COUNT @@`",
            patch.hunks().len(),
            section.hunks
        ));
    }
    if section.stray > 0 {
        return Err("lines are added or removed outside any hunk; begin each hunk with \
                    `@@ -START,COUNT +START,COUNT @@` (`@@ -0,0 +1,COUNT @@` in a new file)"
            .to_owned());
    }
    let only_names = section.named || matches!(operation, Operation::Modify(_));
    if section.hunks == 0 && only_names {
        return Err("there are no hunks".to_owned());
    }
    Ok(Change { operation, patch })
}

fn operation(operation: &FileOperation<'_, [u8]>) -> Result<Operation, String> {
    let text = |path: &Cow<'_, [u8]>| {
        String::from_utf8(path.to_vec()).map_err(|_| "the file's name is not UTF-8".to_owned())
    };
    Ok(match operation {
        FileOperation::Create(path) => Operation::Create(stripped(&text(path)?, "b/")),
        FileOperation::Delete(path) => Operation::Delete(stripped(&text(path)?, "a/")),
        FileOperation::Modify { original, modified } => {
            let (original, modified) = (text(original)?, text(modified)?);
            // Both or none: a directory may be called `a`.
            let (from, to) = match (original.strip_prefix("a/"), modified.strip_prefix("b/")) {
                (Some(from), Some(to)) => (from.to_owned(), to.to_owned()),
                _ => (original, modified),
            };
            if from == to { Operation::Modify(to) } else { Operation::Move { from, to } }
        }
        FileOperation::Rename { from, to } => Operation::Move { from: text(from)?, to: text(to)? },
        FileOperation::Copy { from, to } => Operation::Copy { from: text(from)?, to: text(to)? },
    })
}

fn stripped(path: &str, prefix: &str) -> String {
    path.strip_prefix(prefix).unwrap_or(path).to_owned()
}

/// A change carries content only; a mode that would be lost is refused, not forgotten.
fn refuse_modes(old: Option<&FileMode>, new: Option<&FileMode>) -> Result<(), String> {
    let special = |mode: Option<&FileMode>| matches!(mode, Some(FileMode::Symlink | FileMode::Gitlink));
    if special(old) || special(new) {
        return Err("symbolic links and submodules cannot be patched".to_owned());
    }
    match (old, new) {
        (Some(_), None) | (None, None | Some(FileMode::Regular)) => Ok(()),
        (Some(old), Some(new)) if old == new => Ok(()),
        _ => Err("file modes cannot be set; leave the mode out and run chmod with run_command".to_owned()),
    }
}

/// diffy's message without the byte offset, which is one into the mended text.
fn bare(message: &str) -> String {
    message.rsplit(": ").next().unwrap_or(message).to_owned()
}

fn named(section: &Section, number: usize, why: &str) -> String {
    let name = |prefix: &str| section.text.lines().find_map(|line| line.strip_prefix(prefix));
    let shown = name("+++ ")
        .filter(|name| *name != "/dev/null")
        .or_else(|| name("--- "))
        .or_else(|| name("diff --git "))
        .unwrap_or_default();
    format!("file {} of the diff (`{shown}`): {why}", number + 1)
}
