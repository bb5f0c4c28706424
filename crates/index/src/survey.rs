//! What is on disk beside what is known: which files are to be read, and which are gone.
//!
//! Knows the tree's rules and a snapshot; reads no file. A file whose times are those of its last reading is taken to be
//! the same; everything else is read, and its hash decides.

use std::collections::{BTreeMap, BTreeSet};

use loggia_tree::{Found, Ignoring, Kind, Listed, Meta, Root, TreeError, TreePath, WalkOptions};

use crate::control::Control;
use crate::entry::{Skipped, Stamp};
use crate::fault::Fault;
use crate::inspect::{self, Skip};
use crate::snapshot::Snapshot;

/// How often a walk looks whether it is to end.
const LOOK_UP_EVERY: usize = 256;

/// What is to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Files to be read.
    pub(crate) read: Vec<TreePath>,
    /// Files that are not there any more, or not wanted.
    pub(crate) gone: BTreeSet<Box<str>>,
    /// Files that are not indexed, as can be told without reading them.
    pub(crate) skipped: Vec<Skipped>,
}

impl Survey {
    /// Looks at the whole tree.
    pub(crate) fn whole(root: &Root, known: Option<&Snapshot>, control: &Control) -> Result<Self, Fault> {
        let mut survey = Self::default();
        let mut seen = BTreeSet::new();
        survey.walk(root, &WalkOptions::default(), known, &mut seen, control)?;
        let entries = known.into_iter().flat_map(Snapshot::entries).map(|(_, entry)| &entry.path);
        let skipped = known.into_iter().flat_map(Snapshot::skipped).map(|skipped| &skipped.path);
        survey.gone = entries.chain(skipped).filter(|path| !seen.contains(*path)).cloned().collect();
        if let Some(known) = known {
            survey.skipped.retain(|skipped| !known.is_skipped(skipped));
        }
        Ok(survey)
    }

    /// Looks at some paths: files, directories, or nothing any more.
    pub(crate) fn of_paths(
        root: &Root,
        paths: &BTreeSet<TreePath>,
        known: &Snapshot,
        control: &Control,
    ) -> Result<Self, Fault> {
        let mut survey = Self::default();
        let mut look = Look { root, ignoring: root.ignoring(), listed: BTreeMap::new() };
        for path in paths {
            let mut seen = BTreeSet::new();
            match look.at(path) {
                Some(meta) if meta.kind == Kind::Directory => {
                    let options = WalkOptions { start: path.clone(), ..WalkOptions::default() };
                    survey.walk(root, &options, Some(known), &mut seen, control)?;
                }
                Some(meta) => {
                    survey.found(&Found { path: path.clone(), meta, is_ignored: false }, Some(known));
                    seen.insert(path.as_str().into());
                }
                None => {}
            }
            survey.missing(path, known, &seen);
        }
        Ok(survey)
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.gone.is_empty() && self.skipped.is_empty()
    }

    /// How many files are concerned.
    pub(crate) fn len(&self) -> usize {
        self.read.len() + self.gone.len() + self.skipped.len()
    }

    fn walk(
        &mut self,
        root: &Root,
        options: &WalkOptions,
        known: Option<&Snapshot>,
        seen: &mut BTreeSet<Box<str>>,
        control: &Control,
    ) -> Result<(), Fault> {
        for (count, item) in root.walk(options).enumerate() {
            if count % LOOK_UP_EVERY == 0 {
                control.check()?;
            }
            match item {
                Ok(found) => {
                    seen.insert(found.path.as_str().into());
                    self.found(&found, known);
                }
                Err(TreeError::NotFound { .. }) => {}
                Err(error) => {
                    let path: Box<str> = place_of(&error).into();
                    seen.insert(path.clone());
                    self.skipped.push(Skipped { path, reason: error.to_string().into(), stamp: None });
                }
            }
        }
        Ok(())
    }

    fn found(&mut self, found: &Found, known: Option<&Snapshot>) {
        let path = found.path.as_str();
        let stamp = Stamp::unproven(&found.meta);
        let is_known = known.is_some_and(|known| {
            let entry = known.find(path).and_then(|file| known.entry(file)).and_then(|entry| entry.stamp);
            entry.or_else(|| skipped_stamp(known, path)).is_some_and(|known| Some(known) == stamp)
        });
        if is_known {
            return;
        }
        match inspect::by_meta(&found.meta) {
            Some(skip) => self.skipped.push(skipped(path, &skip, Some(&found.meta))),
            None => self.read.push(found.path.clone()),
        }
    }

    /// What was known at or below a path and was not seen is gone.
    fn missing(&mut self, path: &TreePath, known: &Snapshot, seen: &BTreeSet<Box<str>>) {
        let known = known.paths_below(path.as_str()).into_iter();
        self.gone.extend(known.filter(|path| !seen.contains(*path)).map(Box::from));
    }
}

/// A skipped file.
pub(crate) fn skipped(path: &str, skip: &Skip, meta: Option<&Meta>) -> Skipped {
    // What cannot be read now may be readable tomorrow, and its times would not tell.
    let is_lasting = !matches!(skip, Skip::Unreadable { .. });
    let stamp = meta.filter(|_| is_lasting).and_then(|meta| Stamp::of(meta, crate::entry::now_ns()));
    Skipped { path: path.into(), reason: skip.to_string().into(), stamp }
}

fn skipped_stamp(known: &Snapshot, path: &str) -> Option<Stamp> {
    if let Some(found) = known.delta.skipped.get(path) {
        return found.as_ref().and_then(|skipped| skipped.stamp);
    }
    let skipped = &known.base.catalogue.skipped;
    let found = skipped.binary_search_by(|skipped| (*skipped.path).cmp(path)).ok()?;
    skipped[found].stamp
}

/// What an error of a walk is about.
fn place_of(error: &TreeError) -> String {
    match error {
        TreeError::Unnameable { directory, shown } => format!("{directory}/{shown}"),
        TreeError::Io { path, .. } | TreeError::TooMany { path, .. } | TreeError::TooLarge { path, .. } => {
            path.to_string()
        }
        _ => String::new(),
    }
}

/// Looks at single paths.
struct Look<'r> {
    root: &'r Root,
    ignoring: Ignoring,
    listed: BTreeMap<TreePath, Vec<Listed>>,
}

impl Look<'_> {
    /// What is at a path, if a walk would find it. The directory is asked for its names, since a file system that does
    /// not tell upper from lower case would say that a file is still there under its old name.
    fn at(&mut self, path: &TreePath) -> Option<Meta> {
        let Some(parent) = path.parent() else {
            return self.root.stat(path).ok().flatten();
        };
        // A directory behind a link is indexed where it is.
        if self.root.real_path_of(&parent).ok().as_ref() != Some(&parent) {
            return None;
        }
        let entries = match self.listed.entry(parent) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(vacant) => {
                let listed = self.root.list(vacant.key()).unwrap_or_default();
                vacant.insert(listed)
            }
        };
        let at = entries.binary_search_by(|entry| entry.name.as_str().cmp(path.name().unwrap_or_default()));
        let meta = entries.get(at.ok()?)?.meta;
        let is_ignored = self.ignoring.is_ignored(path, meta.kind == Kind::Directory).unwrap_or(true);
        (!is_ignored && meta.kind != Kind::Other).then_some(meta)
    }
}
