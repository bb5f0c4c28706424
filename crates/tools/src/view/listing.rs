//! What is in one directory.

use std::collections::BTreeMap;

use loggia_domain::ToolError;
use loggia_tree::{Kind, TreeError, TreePath};

use super::{View, refusal};

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: EntryKind,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A directory.
    Directory,
    /// A file of so many bytes.
    File(u64),
    /// A link, with what it says.
    Link(String),
    /// A fifo, socket or device.
    Other,
}

impl View {
    /// The entries of a directory that may be read, sorted by name.
    pub(crate) fn list(&self, path: &TreePath) -> Result<Vec<Entry>, ToolError> {
        let real = self.real_path(path)?;
        if self.kind(&real)? == Some(Kind::File) {
            return Err(ToolError::Failed(format!("`{path}` is a file; read it with read_file")));
        }
        let mut entries = self.listed(&real)?;
        self.overlay_entries(&real, &mut entries);
        let in_order = entries.into_iter().map(|(name, kind)| Entry { name, kind });
        Ok(in_order.filter(|entry| self.may_see(&real, &entry.name)).collect())
    }

    fn listed(&self, directory: &TreePath) -> Result<BTreeMap<String, EntryKind>, ToolError> {
        let listed = match self.root.list(directory) {
            Ok(listed) => listed,
            Err(TreeError::NotFound { .. }) if self.has_overlaid_below(directory) => Vec::new(),
            Err(error) => return Err(refusal(&error)),
        };
        let mut entries = BTreeMap::new();
        for entry in listed {
            self.stop.check()?;
            let kind = match entry.meta.kind {
                Kind::Directory => EntryKind::Directory,
                Kind::File => EntryKind::File(entry.meta.len),
                Kind::Link => EntryKind::Link(self.link_text(entry.path.as_ref())),
                Kind::Other => EntryKind::Other,
            };
            entries.insert(entry.name, kind);
        }
        Ok(entries)
    }

    /// What a link says. One that went away meanwhile says nothing.
    fn link_text(&self, path: Option<&TreePath>) -> String {
        let target = path.and_then(|path| self.root.read_link(path).ok()).unwrap_or_default();
        String::from_utf8_lossy(&target).into_owned()
    }

    fn overlay_entries(&self, directory: &TreePath, entries: &mut BTreeMap<String, EntryKind>) {
        let prefix = if directory.is_root() { String::new() } else { format!("{directory}/") };
        let below =
            self.context.overlay.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        for (path, content) in below {
            let rest = &path[prefix.len()..];
            match (rest.split_once('/'), content) {
                (Some((name, _)), Some(_)) => {
                    entries.insert(name.to_owned(), EntryKind::Directory);
                }
                (None, Some(bytes)) => {
                    entries.insert(rest.to_owned(), EntryKind::File(bytes.len() as u64));
                }
                (None, None) => {
                    entries.remove(rest);
                }
                (Some(_), None) => {}
            }
        }
    }

    /// A name that cannot be written as a path cannot be asked about either, and is not shown.
    fn may_see(&self, directory: &TreePath, name: &str) -> bool {
        directory.join(name).is_ok_and(|path| self.may_read(path.as_str()))
    }
}
