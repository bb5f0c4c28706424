//! `git_log`: the commits that lead to what is checked out.
//!
//! Commits come as git shows them: the youngest first among those whose children were shown. With a path, only those
//! that changed it, and of a merge only the side it took the path from.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use gix::ObjectId;
use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use loggia_tree::TreePath;
use schemars::JsonSchema;
use serde::Deserialize;

use super::repository::{Commit, Git, Head};
use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::text::{Lines, cut};
use crate::view::View;

/// How many commits are shown if nobody says.
const DEFAULT_LIMIT: u32 = 20;

/// How many commits are shown at most.
const MAX_LIMIT: u32 = 200;

/// How many commits are looked at for those that changed a path: some seconds' worth.
const MAX_LOOKED_AT: usize = 200_000;

/// How much is shown.
const MAX_OUTPUT: usize = 64 * 1024;

/// How many characters of a name or a subject are shown.
const MAX_TEXT: usize = 200;

/// How much of a commit's hash is shown: unique in any repository there is.
const SHOWN_HASH: usize = 10;

/// Shows commits of the git repository, the youngest first, one a line: hash, date, author: subject.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitLog {
    /// How many commits to show at most; 20 if left out, 200 at most.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
    /// Only commits that changed this file or directory, relative to the workspace.
    path: Option<String>,
}

/// A checked call.
pub(crate) struct Log {
    limit: usize,
    path: Option<ModelPath>,
}

impl Arguments for GitLog {
    const NAME: &'static str = "git_log";
    type Call = Log;

    fn check(self) -> Result<Log, ArgumentError> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        Ok(Log { limit: limit as usize, path: self.path.map(ModelPath::new) })
    }
}

impl Call for Log {
    fn demand(&self) -> Demand {
        let path = self.path.as_ref().map_or_else(|| ".".to_owned(), ModelPath::named);
        Demand { reads: vec![path], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.path.as_ref().map(ModelPath::tree).transpose()?.filter(|path| !path.is_root());
        let git = Git::open(view)?;
        let mut walk = Walk::new(&git, path)?;
        let mut output = Lines::within(MAX_OUTPUT);
        let mut shown = 0;
        while let Some(commit) = walk.next()? {
            if shown == self.limit || !output.push(&line(&commit)) {
                output.note(&format!(
                    "older commits are not shown; give a limit of up to {MAX_LIMIT} or a path"
                ));
                break;
            }
            shown += 1;
        }
        if shown == 0 {
            output.note("no commits");
        }
        if walk.is_cut {
            output.note(&format!("only the last {MAX_LOOKED_AT} commits were looked at"));
        }
        Ok(ToolEffect::Output(output.finish()))
    }
}

fn line(commit: &Commit) -> String {
    let hash = commit.id.to_hex_with_len(SHOWN_HASH);
    let author = cut(&commit.author, MAX_TEXT);
    let line = format!("{hash} {} {author}: {}", commit.authored, cut(&commit.subject, MAX_TEXT));
    line.replace(char::is_control, " ")
}

/// A walk along the parents of commits.
struct Walk<'g> {
    git: &'g Git<'g>,
    /// The path that matters, in parts; none if all do.
    path: Vec<&'g str>,
    ahead: BinaryHeap<Ahead>,
    seen: HashSet<ObjectId>,
    is_cut: bool,
}

/// A commit still to be looked at; the youngest first, then whichever was met first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Ahead {
    committed: i64,
    met: Reverse<usize>,
    id: ObjectId,
}

impl<'g> Walk<'g> {
    fn new(git: &'g Git<'g>, path: Option<&'g TreePath>) -> Result<Self, ToolError> {
        let path = path.map(|path| path.parts().collect()).unwrap_or_default();
        let mut walk = Self { git, path, ahead: BinaryHeap::new(), seen: HashSet::new(), is_cut: false };
        if let Head::Branch { commit: Some(id), .. } | Head::Detached(id) = git.head()? {
            let commit = git.commit(id)?;
            walk.meet(&commit);
        }
        Ok(walk)
    }

    /// The next commit that is to be shown.
    fn next(&mut self) -> Result<Option<Commit>, ToolError> {
        while let Some(ahead) = self.ahead.pop() {
            let commit = self.git.commit(ahead.id)?;
            if self.look_at(&commit)? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Goes on to the parents; says whether the commit is to be shown.
    fn look_at(&mut self, commit: &Commit) -> Result<bool, ToolError> {
        let mut parents = Vec::new();
        if !self.git.is_shallow(&commit.id)? {
            for parent in &commit.parents {
                parents.push(self.git.commit(*parent)?);
            }
        }
        if self.path.is_empty() {
            parents.iter().for_each(|parent| self.meet(parent));
            return Ok(true);
        }
        let here = self.git.entry(commit.tree, &self.path)?;
        for parent in &parents {
            if self.git.entry(parent.tree, &self.path)? == here {
                self.meet(parent);
                return Ok(false);
            }
        }
        parents.iter().for_each(|parent| self.meet(parent));
        Ok(!parents.is_empty() || here.is_some())
    }

    fn meet(&mut self, commit: &Commit) {
        if self.seen.len() >= MAX_LOOKED_AT {
            self.is_cut = true;
        } else if self.seen.insert(commit.id) {
            let met = Reverse(self.seen.len());
            self.ahead.push(Ahead { committed: commit.committed, met, id: commit.id });
        }
    }
}
