//! The workspace as the journal says it must be.
//!
//! Knows what each event did to files, and what somebody outside did between events. Refuses to know how the engine
//! writes them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use loggia_domain::{ContentHash, Event, EventBody, FileChange, FileState, Seq, Store};

/// Files by their paths.
pub(super) type Tree = BTreeMap<String, FileState>;

/// Something that was done to a file by nobody the journal knows.
#[derive(Debug, Clone)]
pub(super) struct Outside {
    /// The last event before it.
    pub(super) after: Seq,
    pub(super) path: String,
    pub(super) state: FileState,
}

/// What a directory holds.
pub(super) fn on_disk(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true => directories.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    tree.insert(name, state_of(&path));
                }
            }
        }
    }
    tree
}

/// What a file is.
pub(super) fn state_of(path: &Path) -> FileState {
    let mode = std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    FileState { hash: ContentHash::of(&std::fs::read(path).unwrap()), mode, is_link: false }
}

/// What the workspace must hold after a journal, beginning with what was there before it.
///
/// # Errors
/// If an event says that a file was something else than it was.
pub(super) fn expected(before: &Tree, journal: &[Event], outside: &[Outside]) -> Result<Tree, String> {
    let mut tree = before.clone();
    let mut outside = outside.iter().peekable();
    for event in journal {
        match &event.body {
            EventBody::PatchApplied { change: Some(change), .. } => take(&mut tree, event, change, true)?,
            EventBody::FilesChanged { changes, beyond_undo, .. } => {
                if *beyond_undo > 0 {
                    return Err(format!("{event:?} says that something cannot be undone"));
                }
                for observed in changes {
                    take(&mut tree, event, &observed.change, true)?;
                }
            }
            // What somebody outside did between two changes of one step is lost with the step, so that these need
            // not join each other.
            EventBody::Undone { files, .. } | EventBody::Redone { files, .. } => {
                for change in files {
                    take(&mut tree, event, change, false)?;
                }
            }
            _ => {}
        }
        while let Some(edit) = outside.next_if(|edit| edit.after <= event.seq) {
            tree.insert(edit.path.clone(), edit.state);
        }
    }
    Ok(tree)
}

fn take(tree: &mut Tree, event: &Event, change: &FileChange, joins: bool) -> Result<(), String> {
    let was = tree.get(&change.path).copied();
    if joins && was != change.before {
        return Err(format!("event {}: {change:?}, but it was {was:?}", event.seq.0));
    }
    match change.after {
        Some(state) => drop(tree.insert(change.path.clone(), state)),
        None => drop(tree.remove(&change.path)),
    }
    Ok(())
}

/// That the store has the bytes of both sides of every change.
///
/// # Errors
/// The change whose bytes are not there.
pub(super) async fn kept(journal: &[Event], store: &dyn Store) -> Result<(), String> {
    for event in journal {
        let changes: Vec<&FileChange> = match &event.body {
            EventBody::PatchApplied { change, .. } => change.iter().collect(),
            EventBody::FilesChanged { changes, .. } => changes.iter().map(|seen| &seen.change).collect(),
            _ => continue,
        };
        for state in changes.iter().flat_map(|change| [change.before, change.after]).flatten() {
            store.blob(state.hash).await.map_err(|error| format!("event {}: {error}", event.seq.0))?;
        }
    }
    Ok(())
}
