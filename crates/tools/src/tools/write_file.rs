//! `write_file`: a whole file, new or in place of the old one.

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::proposal::{Proposal, Reasons};
use crate::view::View;

/// Writes a whole file: makes it, or replaces all of it. Directories are made as needed. To change part of a file
/// use edit_file or apply_patch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// The file, relative to the workspace.
    path: String,
    /// All of its text, with a line end after the last line.
    content: String,
    /// Why the change is made, in a sentence.
    reason: Option<String>,
    /// How to tell that the change is right.
    #[serde(default)]
    acceptance_criteria: Vec<String>,
}

/// A checked call.
pub(crate) struct Write {
    path: ModelPath,
    content: String,
    reasons: Reasons,
}

impl Arguments for WriteFile {
    const NAME: &'static str = "write_file";
    type Call = Write;

    fn check(self) -> Result<Write, ArgumentError> {
        if self.content.contains('\0') {
            return Err(ArgumentError(
                "`content` holds a NUL character; only text can be written".to_owned(),
            ));
        }
        let reasons = Reasons::new(self.reason, self.acceptance_criteria);
        Ok(Write { path: ModelPath::new(self.path), content: self.content, reasons })
    }
}

impl Call for Write {
    fn demand(&self) -> Demand {
        Demand { writes: vec![self.path.named()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.path.tree()?;
        let mut proposal = Proposal::new(view);
        proposal.set(path, Some(self.content.into_bytes()))?;
        Ok(proposal.into_effect(&self.reasons))
    }
}
