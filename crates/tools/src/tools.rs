//! The tools, one in each file: its arguments with what a model is told, its checks and its work.

mod apply_patch;
mod delete_file;
mod edit_file;
mod find_files;
mod git;
mod list_directory;
mod read_file;
mod run_command;
mod search_text;
mod update_plan;
mod write_file;

use std::sync::Arc;

use loggia_domain::Tool;
use loggia_tree::Root;

use crate::call::Standard;

/// Every tool, in the order in which models are told of them.
pub(crate) fn all(root: &Arc<Root>) -> Vec<Arc<dyn Tool>> {
    vec![
        Standard::<read_file::ReadFile>::over(root),
        Standard::<list_directory::ListDirectory>::over(root),
        Standard::<find_files::FindFiles>::over(root),
        Standard::<search_text::SearchText>::over(root),
        Standard::<edit_file::EditFile>::over(root),
        Standard::<write_file::WriteFile>::over(root),
        Standard::<apply_patch::ApplyPatch>::over(root),
        Standard::<delete_file::DeleteFile>::over(root),
        Standard::<run_command::RunCommand>::over(root),
        Standard::<git::GitStatus>::over(root),
        Standard::<git::GitDiff>::over(root),
        Standard::<git::GitLog>::over(root),
        Standard::<update_plan::UpdatePlan>::over(root),
    ]
}
