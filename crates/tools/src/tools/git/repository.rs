//! An opened repository: its head and its objects.
//!
//! What always holds: it was opened with nothing but its own configuration, as one that is not trusted; no allocation
//! follows a size it claims beyond [`MAX_ALLOCATION`].

use gix::objs::{CommitRef, Kind, TreeRefIter};
use gix::open::Options;
use gix::sec::Trust;
use gix::{ObjectId, Repository};
use loggia_domain::ToolError;

use super::place::{self, Place};
use crate::view::View;

/// How much one object or the index may take in memory: the index of the largest repositories, and no more.
const MAX_ALLOCATION: usize = 256 * 1024 * 1024;

/// A workspace's repository.
pub(super) struct Git<'v> {
    pub(super) view: &'v View,
    pub(super) repository: Repository,
    is_inside: bool,
}

/// What is checked out.
pub(super) enum Head {
    /// A branch, which may have no commit yet.
    Branch { name: String, commit: Option<ObjectId> },
    /// A commit.
    Detached(ObjectId),
}

/// What a log or a comparison needs of a commit.
pub(super) struct Commit {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    /// When it was committed, in seconds.
    pub(super) committed: i64,
    /// When it was written, as people read it.
    pub(super) authored: String,
    pub(super) author: String,
    pub(super) subject: String,
}

impl<'v> Git<'v> {
    /// Opens the workspace's repository.
    pub(super) fn open(view: &'v View) -> Result<Self, ToolError> {
        let place = Place::of(view.root())?;
        let options = Options::isolated().with(Trust::Reduced).open_path_as_is(true).config_overrides([
            format!("gitoxide.objects.allocLimit={MAX_ALLOCATION}"),
            // Replacements are found by going through references that nobody looked at.
            "core.useReplaceRefs=false".to_owned(),
        ]);
        let repository = gix::open_opts(place.path(), options).map_err(failed)?;
        Ok(Self { view, repository, is_inside: matches!(place, Place::Inside(_)) })
    }

    /// What is checked out.
    pub(super) fn head(&self) -> Result<Head, ToolError> {
        let head = self.repository.head().map_err(failed)?;
        let commit = head.id().map(gix::Id::detach);
        match (head.referent_name(), commit) {
            (Some(name), commit) => Ok(Head::Branch { name: name.shorten().to_string(), commit }),
            (None, Some(commit)) => Ok(Head::Detached(commit)),
            (None, None) => Err(ToolError::Failed("HEAD leads to no commit".to_owned())),
        }
    }

    /// Reads a commit.
    pub(super) fn commit(&self, id: ObjectId) -> Result<Commit, ToolError> {
        let data = self.object(id, Kind::Commit)?;
        let commit = CommitRef::from_bytes(&data, self.repository.object_hash()).map_err(failed)?;
        let author = commit.author().map_err(failed)?;
        let time = author.time().map_err(failed)?;
        Ok(Commit {
            id,
            tree: commit.tree(),
            parents: commit.parents().collect(),
            committed: commit.committer().map_err(failed)?.seconds(),
            authored: time.format_or_unix(gix::date::time::format::ISO8601),
            author: author.trim().name.to_string(),
            subject: commit.message_summary().to_string(),
        })
    }

    /// The tree of what is checked out; nothing if there is no commit yet.
    pub(super) fn head_tree(&self) -> Result<Option<ObjectId>, ToolError> {
        let (Head::Branch { commit: Some(commit), .. } | Head::Detached(commit)) = self.head()? else {
            return Ok(None);
        };
        Ok(Some(self.commit(commit)?.tree))
    }

    /// What is at a path of a tree: its mode and its object.
    pub(super) fn entry(&self, tree: ObjectId, path: &[&str]) -> Result<Option<(u16, ObjectId)>, ToolError> {
        let [name, rest @ ..] = path else { return Ok(Some((0o040_000, tree))) };
        let data = self.object(tree, Kind::Tree)?;
        for entry in TreeRefIter::from_bytes(&data, self.repository.object_hash()) {
            let entry = entry.map_err(failed)?;
            if entry.filename == name {
                return match (rest, entry.mode.is_tree()) {
                    ([], _) => Ok(Some((entry.mode.value(), entry.oid.to_owned()))),
                    (_, true) => self.entry(entry.oid.to_owned(), rest),
                    (_, false) => Ok(None),
                };
            }
        }
        Ok(None)
    }

    /// How many bytes an object has.
    pub(super) fn size(&self, id: ObjectId) -> Result<u64, ToolError> {
        self.check(id)?;
        Ok(self.repository.find_header(id).map_err(failed)?.size())
    }

    /// An object's bytes.
    pub(super) fn object(&self, id: ObjectId, kind: Kind) -> Result<Vec<u8>, ToolError> {
        self.view.stop().check()?;
        self.check(id)?;
        let object = self.repository.find_object(id).map_err(failed)?;
        if object.kind != kind {
            return Err(ToolError::Failed(format!("git: {id} is a {}, not a {kind}", object.kind)));
        }
        // It gives its buffer back to the repository when dropped, so the bytes are taken out.
        Ok(object.detach().data)
    }

    /// The commits whose parents are left out of a shallow clone.
    pub(super) fn is_shallow(&self, id: &ObjectId) -> Result<bool, ToolError> {
        let commits = self.repository.shallow_commits().map_err(failed)?;
        Ok(commits.is_some_and(|commits| commits.contains(id)))
    }

    fn check(&self, id: ObjectId) -> Result<(), ToolError> {
        if !self.is_inside {
            return Ok(());
        }
        place::check_object(self.view.root(), &id.to_string())
    }
}

/// The error for a call, of what gix says.
pub(super) fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(format!("git: {error}"))
}
