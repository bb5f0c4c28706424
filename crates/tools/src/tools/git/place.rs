//! Where a workspace's repository is, and whether it may be opened there.
//!
//! gix opens files by name and follows links, so this looks first, through the root: nothing that gix will open may be
//! a link, a fifo or the like. Two ways lead out of a `.git` directory by design, a `commondir` and borrowed objects;
//! neither is followed. A linked worktree's repository is outside, and taken only if it names this workspace itself:
//! what is out there nobody in here can write.
//!
//! A process that swaps files of `.git` while a call runs could get between the look and the opening. Commands of the
//! same session do not run beside calls, so that takes somebody who needs no tool to do harm.

use std::fs;
use std::path::{Path, PathBuf};

use loggia_domain::ToolError;
use loggia_tree::{Kind, Root, TreeError, TreePath};

use crate::view::refusal;

/// How long a file that holds one line may be: a path or the name of a branch.
const MAX_LINE_FILE: u64 = 8 * 1024;

/// How many references may lead to one another: as many as git follows.
const MAX_REFERENCES: usize = 5;

/// What gix opens in a `.git` directory.
const OPENED: [&str; 10] = [
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "objects",
    "objects/info",
    "objects/pack",
    "packed-refs",
    "refs",
    "shallow",
];

/// A place where a repository may be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A `.git` directory of the workspace.
    Inside(PathBuf),
    /// A linked worktree's own directory in the main repository.
    Linked(PathBuf),
}

impl Place {
    /// Finds the workspace's repository.
    pub(super) fn of(root: &Root) -> Result<Self, ToolError> {
        let meta = root.stat(&dot_git("")?).map_err(|error| refusal(&error))?;
        match meta.map(|meta| meta.kind) {
            None => Err(ToolError::Failed("the workspace is no git repository: it has no .git".to_owned())),
            Some(Kind::Directory) => {
                check(root)?;
                Ok(Self::Inside(root.path().join(".git")))
            }
            Some(Kind::File) => linked(root).map(Self::Linked),
            Some(Kind::Link | Kind::Other) => Err(leads_elsewhere(".git")),
        }
    }

    /// The directory to open.
    pub(super) fn path(&self) -> &Path {
        let (Self::Inside(path) | Self::Linked(path)) = self;
        path
    }
}

/// Checks that an object is stored in a file, if it is stored by itself; anything else by that name is refused.
pub(super) fn check_object(root: &Root, id: &str) -> Result<(), ToolError> {
    let (directory, name) = id.split_at(2);
    check_plain(root, &format!("objects/{directory}/{name}"))
}

fn check(root: &Root) -> Result<(), ToolError> {
    if exists(root, "commondir")? {
        return Err(leads_elsewhere(".git/commondir"));
    }
    if exists(root, "objects/info/alternates")? {
        return Err(ToolError::Failed(
            "the repository borrows objects from another one (.git/objects/info/alternates), which is not \
             followed; use git with run_command"
                .to_owned(),
        ));
    }
    for name in OPENED {
        check_plain(root, name)?;
    }
    check_entries(root, "", |name| name.starts_with("sharedindex."))?;
    check_entries(root, "objects", |_| true)?;
    check_entries(root, "objects/pack", |_| true)?;
    check_references(root)
}

/// What leads from `HEAD` to a commit.
fn check_references(root: &Root) -> Result<(), ToolError> {
    let mut name = "HEAD".to_owned();
    for _ in 0..MAX_REFERENCES {
        check_plain(root, &name)?;
        let content = match root.read(&dot_git(&name)?, MAX_LINE_FILE) {
            Ok(file) => file.bytes,
            // Packed, or not born yet.
            Err(TreeError::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(refusal(&error)),
        };
        let text = String::from_utf8_lossy(&content);
        let Some(next) = text.strip_prefix("ref:") else { return Ok(()) };
        name = next.trim().to_owned();
    }
    Err(ToolError::Failed("HEAD leads through too many references".to_owned()))
}

/// Checks that a path in `.git` is what it seems: a file or a directory reached without links, or nothing.
fn check_plain(root: &Root, name: &str) -> Result<(), ToolError> {
    let path = dot_git(name)?;
    match root.real_path_of(&path) {
        Ok(real) if real == path => {}
        Ok(_) => return Err(leads_elsewhere(path.as_str())),
        Err(error) => return Err(refusal(&error)),
    }
    match root.stat(&path).map_err(|error| refusal(&error))?.map(|meta| meta.kind) {
        None | Some(Kind::File | Kind::Directory) => Ok(()),
        Some(Kind::Link | Kind::Other) => Err(leads_elsewhere(path.as_str())),
    }
}

fn check_entries(root: &Root, directory: &str, matters: impl Fn(&str) -> bool) -> Result<(), ToolError> {
    let entries = match root.list(&dot_git(directory)?) {
        Ok(entries) => entries,
        Err(TreeError::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(refusal(&error)),
    };
    let plain = [Kind::File, Kind::Directory];
    match entries.iter().find(|entry| matters(&entry.name) && !plain.contains(&entry.meta.kind)) {
        Some(entry) => Err(leads_elsewhere(&format!(".git/{directory}/{}", entry.name))),
        None => Ok(()),
    }
}

fn exists(root: &Root, name: &str) -> Result<bool, ToolError> {
    let meta = root.stat(&dot_git(name)?).map_err(|error| refusal(&error))?;
    Ok(meta.is_some())
}

fn dot_git(name: &str) -> Result<TreePath, ToolError> {
    let path = TreePath::parse(".git").and_then(|path| path.join(name));
    path.map_err(|error| refusal(&TreeError::Path(error)))
}

/// The directory of a linked worktree, if its `.git` file leads to one that leads back.
fn linked(root: &Root) -> Result<PathBuf, ToolError> {
    let file = root.read(&dot_git("")?, MAX_LINE_FILE).map_err(|error| refusal(&error))?;
    let text = String::from_utf8_lossy(&file.bytes);
    let target = text.strip_prefix("gitdir:").map(|target| root.path().join(target.trim()));
    target.and_then(|target| leading_back(root, &target)).ok_or_else(|| {
        ToolError::Forbidden(
            "`.git` is a file that leads outside the workspace, and not to a worktree of `git worktree add` that leads \
             back; use git with run_command"
                .to_owned(),
        )
    })
}

fn leading_back(root: &Root, target: &Path) -> Option<PathBuf> {
    let target = fs::canonicalize(target).ok()?;
    let is_worktree = target.parent()?.file_name()? == "worktrees" && !target.starts_with(root.path());
    let back = target.join(one_line(&target.join("gitdir"))?);
    let common = target.join(one_line(&target.join("commondir"))?);
    let leads_back = fs::canonicalize(back).ok()? == root.path().join(".git");
    // What is inside the workspace could have been made up by whoever wrote the `.git` file.
    let common = fs::canonicalize(common).ok()?;
    (is_worktree && leads_back && target.starts_with(&common) && !common.starts_with(root.path()))
        .then_some(target)
}

fn one_line(path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_LINE_FILE {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn leads_elsewhere(name: &str) -> ToolError {
    ToolError::Forbidden(format!(
        "`{name}` is a link or leads elsewhere, which is not followed; use git with run_command"
    ))
}
