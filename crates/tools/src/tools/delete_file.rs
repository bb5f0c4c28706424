//! `delete_file`: one file away.

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::proposal::{Proposal, Reasons};
use crate::view::View;

/// Deletes one file; a directory cannot be deleted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {
    /// The file, relative to the workspace.
    path: String,
    /// Why the file is deleted, in a sentence.
    reason: Option<String>,
}

/// A checked call.
pub(crate) struct Delete {
    path: ModelPath,
    reasons: Reasons,
}

impl Arguments for DeleteFile {
    const NAME: &'static str = "delete_file";
    type Call = Delete;

    fn check(self) -> Result<Delete, ArgumentError> {
        let reasons = Reasons::new(self.reason, Vec::new());
        Ok(Delete { path: ModelPath::new(self.path), reasons })
    }
}

impl Call for Delete {
    fn demand(&self) -> Demand {
        Demand { deletes: vec![self.path.named()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.path.tree()?;
        let mut proposal = Proposal::new(view);
        proposal.set(path, None)?;
        Ok(proposal.into_effect(&self.reasons))
    }
}
