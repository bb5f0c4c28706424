//! `git_status`: what is checked out, and what differs from it.

use std::collections::{BTreeMap, BTreeSet};

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use loggia_tree::TreePath;
use schemars::JsonSchema;
use serde::Deserialize;

use super::changes::{Change, Changes, but_for_the_rest};
use super::index::Index;
use super::repository::{Git, Head};
use crate::call::{Arguments, Call};
use crate::text::{Lines, counted};
use crate::view::View;

/// How much is shown: some hundred files, and more changes are not looked at one by one.
const MAX_OUTPUT: usize = 32 * 1024;

/// Shows the state of the git repository, as `git status --porcelain --branch` does: the branch, then changed files with
/// two letters (staged, not staged), then untracked ones with ??. Renames are shown as D and A.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitStatus {}

/// A checked call.
pub(crate) struct Status;

impl Arguments for GitStatus {
    const NAME: &'static str = "git_status";
    type Call = Status;

    fn check(self) -> Result<Status, ArgumentError> {
        Ok(Status)
    }
}

impl Call for Status {
    fn demand(&self) -> Demand {
        Demand { reads: vec![".".to_owned()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let git = Git::open(view)?;
        let index = git.index()?;
        let mut lines = vec![branch(&git.head()?)];
        let (staged, unstaged) = (git.staged(&index)?, git.unstaged(&index)?);
        let leaves_out = staged.leaves_out || unstaged.leaves_out;
        lines.extend(tracked(&git, &index, staged, unstaged));
        lines.extend(untracked(view, &index)?.into_iter().map(|path| format!("?? {path}")));
        let mut output = Lines::within(MAX_OUTPUT);
        let shown = lines.iter().take_while(|line| output.push(line)).count();
        if lines.len() == 1 {
            output.note(&format!("nothing to commit{}", but_for_the_rest(leaves_out)));
        }
        if shown < lines.len() {
            output.note(&format!("{} more", counted(lines.len() - shown, "change")));
        }
        Ok(ToolEffect::Output(output.finish()))
    }
}

fn branch(head: &Head) -> String {
    match head {
        Head::Branch { name, commit: Some(_) } => format!("## {name}"),
        Head::Branch { name, commit: None } => format!("## No commits yet on {name}"),
        Head::Detached(_) => "## HEAD (no branch)".to_owned(),
    }
}

fn tracked(git: &Git<'_>, index: &Index, staged: Changes, unstaged: Changes) -> Vec<String> {
    let mut letters: BTreeMap<TreePath, [char; 2]> = BTreeMap::new();
    let mut mark = |change: Change, column: usize| {
        let letter = change.letter();
        letters.entry(change.path).or_insert([' '; 2])[column] = letter;
    };
    staged.seen.into_iter().for_each(|change| mark(change, 0));
    unstaged.seen.into_iter().for_each(|change| mark(change, 1));
    let mut shown: BTreeMap<TreePath, String> =
        letters.into_iter().map(|(path, letters)| (path, letters.iter().collect())).collect();
    shown.extend(git.conflicts(index).into_iter().map(|(path, letters)| (path, letters.to_owned())));
    shown.into_iter().map(|(path, letters)| format!("{letters} {path}")).collect()
}

/// Files that git does not keep; a directory with nothing that it keeps stands for all in it.
fn untracked(view: &View, index: &Index) -> Result<BTreeSet<String>, ToolError> {
    let mut untracked = BTreeSet::new();
    let mut files = view.files();
    while let Some(file) = files.next()? {
        let path = file.path.as_str();
        if index.has(path) {
            continue;
        }
        let mut directories = path.match_indices('/').map(|(end, _)| &path[..=end]);
        match directories.find(|directory| !index.has_below(directory)) {
            Some(directory) if index.is_submodule(directory.trim_end_matches('/')) => {}
            Some(directory) => {
                untracked.insert(directory.to_owned());
            }
            None => {
                untracked.insert(path.to_owned());
            }
        }
    }
    Ok(untracked)
}
