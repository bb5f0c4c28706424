//! What differs: between the last commit and the index, and between the index and the work tree.
//!
//! What always holds: paths that may not be read, and those that cannot be written as one, are left out, and that they
//! were is told.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use gix::ObjectId;
use gix::objs::Kind as ObjectKind;
use loggia_domain::ToolError;
use loggia_tree::{Kind, TreePath};

use super::index::{FileKind, Index, IndexEntry, Stored};
use super::repository::{Git, failed};

/// How large a changed file may be for its content to be compared; a larger one counts as changed.
const MAX_COMPARED: u64 = 256 * 1024 * 1024;

/// Executable for whoever owns it: the one permission that git keeps.
const EXECUTABLE: u32 = 0o100;

/// What is not the same in two places.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The files that may be shown.
    pub(super) seen: Vec<Change>,
    /// Whether files were left out that have changed, or may have: nobody looked into them.
    pub(super) leaves_out: bool,
}

/// A file that is not the same in two places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: TreePath,
    /// What it was; nothing if it is new.
    pub(super) old: Option<Stored>,
    /// What it is; nothing if it is gone.
    pub(super) new: Option<Side>,
}

/// What a file is in the place that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) kind: FileKind,
    /// Its content in the repository; nothing if that is in the work tree.
    pub(super) id: Option<ObjectId>,
}

/// The sides of a conflict, as `git status` writes them.
pub(super) type Conflicts = BTreeMap<TreePath, &'static str>;

impl Change {
    /// As `git status` writes it.
    pub(super) fn letter(&self) -> char {
        match (&self.old, &self.new) {
            (None, _) => 'A',
            (Some(_), None) => 'D',
            (Some(old), Some(new)) if old.kind.is_like(new.kind) => 'M',
            _ => 'T',
        }
    }
}

/// What is to be said after "nothing" if something was left out.
pub(super) fn but_for_the_rest(leaves_out: bool) -> &'static str {
    if leaves_out { " among the files that may be shown; others are left out" } else { "" }
}

impl Git<'_> {
    /// What the next commit would change.
    pub(super) fn staged(&self, index: &Index) -> Result<Changes, ToolError> {
        let head = match self.head_tree()? {
            Some(tree) => self.tree_files(tree)?,
            None => Vec::new(),
        };
        let mut old = head.iter().map(|(path, stored)| (path.as_slice(), *stored)).peekable();
        let in_index = index.entries.iter().filter(|entry| !entry.is_intended);
        let mut new = in_index.map(|entry| (entry.path.as_slice(), entry)).peekable();
        let mut changes = Changes::default();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return Ok(changes),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let (path, old) = if order.is_le() { old.next().unzip() } else { (None, None) };
            let (new_path, new) = if order.is_ge() { new.next().unzip() } else { (None, None) };
            // The sides of a conflict are told apart from changes; only the first meets the commit's file.
            if new.is_some_and(|entry: &IndexEntry| entry.stage != 0) {
                continue;
            }
            let new = new.map(|entry| entry.stored);
            let Some(path) = path.or(new_path).filter(|_| old != new) else { continue };
            match self.seen(path) {
                Some(path) => changes.seen.push(Change { path, old, new: new.map(Side::stored) }),
                None => changes.leaves_out = true,
            }
        }
    }

    /// What the work tree changes over the index.
    pub(super) fn unstaged(&self, index: &Index) -> Result<Changes, ToolError> {
        let mut changes = Changes::default();
        for entry in index.entries.iter().filter(|entry| entry.stage == 0 && !entry.is_assumed) {
            self.view.stop().check()?;
            if entry.stored.kind == FileKind::Submodule {
                continue;
            }
            let Some(path) = self.seen(&entry.path) else {
                changes.leaves_out = true;
                continue;
            };
            let old = (!entry.is_intended).then_some(entry.stored);
            let new = match self.in_work_tree(index, entry, &path)? {
                WorkTree::Same if old.is_some() => continue,
                WorkTree::Same => Some(Side::file(entry.stored.kind)),
                WorkTree::Changed(kind) => Some(Side::file(kind)),
                WorkTree::Gone => None,
            };
            changes.seen.push(Change { path, old, new });
        }
        Ok(changes)
    }

    /// Which files are in conflict.
    pub(super) fn conflicts(&self, index: &Index) -> Conflicts {
        let mut sides: BTreeMap<&[u8], u8> = BTreeMap::new();
        for entry in index.entries.iter().filter(|entry| entry.stage != 0) {
            *sides.entry(&entry.path).or_default() |= 1 << entry.stage;
        }
        // By whether the base, ours and theirs have it.
        let letters = |sides: u8| match (sides & 0b0010 != 0, sides & 0b0100 != 0, sides & 0b1000 != 0) {
            (true, true, true) => "UU",
            (false, true, true) => "AA",
            (true, true, false) => "UD",
            (true, false, true) => "DU",
            (false, true, false) => "AU",
            (false, false, _) => "UA",
            (true, false, false) => "DD",
        };
        let seen = sides.into_iter().filter_map(|(path, sides)| Some((self.seen(path)?, letters(sides))));
        seen.collect()
    }

    fn in_work_tree(
        &self,
        index: &Index,
        entry: &IndexEntry,
        path: &TreePath,
    ) -> Result<WorkTree, ToolError> {
        let stored = entry.stored;
        match self.view.overlaid(path.as_str()) {
            Some(None) => return Ok(WorkTree::Gone),
            Some(Some(bytes)) => return self.compared(stored, stored.kind, bytes),
            None => {}
        }
        // A link or a file where a directory was leads elsewhere or nowhere: the file is not there.
        let Ok(Some(meta)) = self.view.root().stat(path) else { return Ok(WorkTree::Gone) };
        if self.view.root().real_path_of(&path.parent().unwrap_or_default()).ok() != path.parent() {
            return Ok(WorkTree::Gone);
        }
        let kind = match meta.kind {
            Kind::Directory | Kind::Other => return Ok(WorkTree::Gone),
            Kind::Link => FileKind::Link,
            Kind::File if !self.keeps_modes() && stored.kind.is_like(FileKind::File) => stored.kind,
            Kind::File if meta.mode & EXECUTABLE != 0 => FileKind::Executable,
            Kind::File => FileKind::File,
        };
        if kind != stored.kind {
            return Ok(WorkTree::Changed(kind));
        }
        if index.is_untouched(entry, &meta) {
            return Ok(WorkTree::Same);
        }
        let content = match kind {
            FileKind::Link => self.view.root().read_link(path),
            _ => self.view.root().read(path, MAX_COMPARED).map(|file| file.bytes),
        };
        match content {
            Ok(bytes) => self.compared(stored, kind, &bytes),
            // Too large or not to be read; the file system says that it was touched.
            Err(_) => Ok(WorkTree::Changed(kind)),
        }
    }

    fn compared(&self, stored: Stored, kind: FileKind, bytes: &[u8]) -> Result<WorkTree, ToolError> {
        let hash = self.repository.object_hash();
        let id = gix::objs::compute_hash(hash, ObjectKind::Blob, bytes).map_err(failed)?;
        Ok(if id == stored.id { WorkTree::Same } else { WorkTree::Changed(kind) })
    }

    /// Whether the file system keeps permissions, as far as the repository knows.
    fn keeps_modes(&self) -> bool {
        let config = self.repository.config_snapshot();
        // It decides nothing but how much is shown, so the repository's own word is good enough.
        config.plumbing().boolean_filter("core.fileMode", |_| true).ok().flatten().unwrap_or(true)
    }

    fn seen(&self, path: &[u8]) -> Option<TreePath> {
        let text = std::str::from_utf8(path).ok()?;
        let path = TreePath::parse(text).ok().filter(|path| path.as_str() == text)?;
        self.view.may_read(path.as_str()).then_some(path)
    }
}

impl Side {
    fn stored(stored: Stored) -> Self {
        Self { kind: stored.kind, id: Some(stored.id) }
    }

    fn file(kind: FileKind) -> Self {
        Self { kind, id: None }
    }
}

/// What became of a file of the index.
enum WorkTree {
    Same,
    Gone,
    Changed(FileKind),
}
