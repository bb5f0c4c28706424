//! Changes that a call proposes: several files, each before and after.
//!
//! Knows how files are read for editing and what may be edited at all; refuses to change anything. What always holds:
//! `before` is what was there when the call looked; a file is proposed once, whatever a call does to it; nothing is
//! edited through a link, and nothing that is not text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use loggia_domain::{FileEdit, ToolEffect, ToolError};
use loggia_tree::{Kind, TreeError, TreePath};

use crate::text::{binary_kind, is_binary};
use crate::view::{View, refusal};

/// How large a file may be that is edited, before and after: both are kept whole, with the session, to be undone.
pub(crate) const MAX_EDITED: u64 = 8 * 1024 * 1024;

/// Why a change is made, in the model's words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reasons {
    rationale: Option<String>,
    acceptance_criteria: Vec<String>,
}

impl Reasons {
    /// What of these says something.
    pub(crate) fn new(rationale: Option<String>, acceptance_criteria: Vec<String>) -> Self {
        let says_something = |text: &String| !text.trim().is_empty();
        Self {
            rationale: rationale.filter(says_something),
            acceptance_criteria: acceptance_criteria.into_iter().filter(says_something).collect(),
        }
    }
}

/// The changes so far.
pub(crate) struct Proposal<'v> {
    view: &'v View,
    files: BTreeMap<TreePath, Planned>,
}

struct Planned {
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

impl<'v> Proposal<'v> {
    /// No changes yet.
    pub(crate) fn new(view: &'v View) -> Self {
        Self { view, files: BTreeMap::new() }
    }

    /// A file's text with the changes so far; nothing if it is not there.
    ///
    /// # Errors
    /// If it may not be edited.
    pub(crate) fn text(&mut self, path: &TreePath) -> Result<Option<&[u8]>, ToolError> {
        let planned = self.load(path)?;
        refuse_binary(path, planned.after.as_deref())?;
        Ok(planned.after.as_deref())
    }

    /// Makes a file hold this, or be gone.
    ///
    /// # Errors
    /// If it may not be edited.
    pub(crate) fn set(&mut self, path: &TreePath, after: Option<Vec<u8>>) -> Result<(), ToolError> {
        let len = after.as_ref().map_or(0, Vec::len) as u64;
        if len > MAX_EDITED {
            return Err(refusal(&TreeError::TooLarge { path: path.clone(), len, limit: MAX_EDITED }));
        }
        if after.is_some() {
            self.check_directories(path)?;
        }
        let view = self.view;
        let planned = self.load(path)?;
        if after.is_none() && planned.after.is_none() {
            return Err(view.no_such_file(path));
        }
        if after.is_some() {
            refuse_binary(path, planned.after.as_deref())?;
        }
        planned.after = after;
        Ok(())
    }

    /// The changes as the engine takes them.
    pub(crate) fn into_effect(self, reasons: &Reasons) -> ToolEffect {
        let changed = self.files.into_iter().filter(|(_, planned)| planned.before != planned.after);
        let edits: Vec<FileEdit> = changed
            .map(|(path, planned)| FileEdit {
                path: path.as_str().to_owned(),
                before: planned.before,
                after: planned.after,
                rationale: reasons.rationale.clone(),
                acceptance_criteria: reasons.acceptance_criteria.clone(),
            })
            .collect();
        if edits.is_empty() {
            return ToolEffect::Output("nothing to change: the files already are like this".to_owned());
        }
        ToolEffect::Edits(edits)
    }

    fn load(&mut self, path: &TreePath) -> Result<&mut Planned, ToolError> {
        if !self.files.contains_key(path) {
            self.check_file(path)?;
            let before = self.view.read(path, MAX_EDITED)?.map(Cow::into_owned);
            self.files.insert(path.clone(), Planned { after: before.clone(), before });
        }
        Ok(self.files.get_mut(path).expect("it was put in above"))
    }

    /// Whether there is a file, or nothing, that can be changed by this name.
    fn check_file(&self, path: &TreePath) -> Result<(), ToolError> {
        if path.is_root() {
            return Err(refusal(&TreeError::NotAFile { path: path.clone(), kind: Kind::Directory }));
        }
        if self.view.overlaid(path.as_str()).is_some() {
            return Ok(());
        }
        let real = self.view.root().real_path_of(path).map_err(|error| refusal(&error))?;
        if real != *path {
            return Err(ToolError::Failed(format!(
                "`{path}` goes through a link; its real path is `{real}`: use that"
            )));
        }
        let meta = self.view.root().stat(path).map_err(|error| refusal(&error))?;
        match meta {
            // Another name of the file may be outside, where nothing of ours may change anything.
            Some(meta) if meta.kind == Kind::File && meta.links > 1 => {
                Err(refusal(&TreeError::HardLinked { path: path.clone() }))
            }
            Some(meta) if meta.kind != Kind::File => {
                Err(refusal(&TreeError::NotAFile { path: path.clone(), kind: meta.kind }))
            }
            _ => Ok(()),
        }
    }

    /// Whether every directory on the way to a file is one, or can be made.
    fn check_directories(&self, path: &TreePath) -> Result<(), ToolError> {
        for directory in path.ancestors().filter(|directory| !directory.is_root()) {
            let is_file = match self.files.get(&directory) {
                Some(planned) => planned.after.is_some(),
                None => matches!(self.view.overlaid(directory.as_str()), Some(Some(_))),
            };
            if is_file {
                return Err(ToolError::Failed(format!(
                    "`{directory}` is a file, so `{path}` cannot be made"
                )));
            }
        }
        Ok(())
    }
}

fn refuse_binary(path: &TreePath, content: Option<&[u8]>) -> Result<(), ToolError> {
    match content {
        Some(bytes) if is_binary(bytes) => Err(ToolError::Failed(format!(
            "`{path}` is not text but {} of {} bytes, and cannot be edited",
            binary_kind(bytes),
            bytes.len()
        ))),
        _ => Ok(()),
    }
}
