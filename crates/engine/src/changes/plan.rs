//! How to take changes back, and how to make them again. Pure.

use std::collections::BTreeMap;

use loggia_domain::{FileChange, FileState};

/// What is to become of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restore {
    /// The file, relative to the root.
    pub path: String,
    /// What it must be now; nothing if it must not be there.
    pub expect: Option<FileState>,
    /// What it is to be; nothing if it is to go.
    pub target: Option<FileState>,
    /// Whether somebody else changed it between the changes; what they did then is lost with them.
    pub interrupted: bool,
}

/// How to undo changes that were made in this order: each file goes back to what it was before the first of them.
/// Files that end as they began are left out; the others come in the order of their paths.
pub fn plan_undo(changes: &[FileChange]) -> Vec<Restore> {
    fold(changes, |path, whole| Restore {
        path: path.to_owned(),
        expect: whole.after,
        target: whole.before,
        interrupted: whole.interrupted,
    })
}

/// How to make changes again that were made in this order and undone: each file becomes what it was after the last.
pub fn plan_redo(changes: &[FileChange]) -> Vec<Restore> {
    fold(changes, |path, whole| Restore {
        path: path.to_owned(),
        expect: whole.before,
        target: whole.after,
        interrupted: whole.interrupted,
    })
}

/// All changes to one file as one.
struct Whole {
    before: Option<FileState>,
    after: Option<FileState>,
    interrupted: bool,
}

fn fold(changes: &[FileChange], restore: impl Fn(&str, &Whole) -> Restore) -> Vec<Restore> {
    let mut files: BTreeMap<&str, Whole> = BTreeMap::new();
    for change in changes {
        let whole = files.entry(&change.path).or_insert(Whole {
            before: change.before,
            after: change.before,
            interrupted: false,
        });
        whole.interrupted |= whole.after != change.before;
        whole.after = change.after;
    }
    let changed = files.iter().filter(|(_, whole)| whole.before != whole.after);
    changed.map(|(path, whole)| restore(path, whole)).collect()
}

#[cfg(test)]
mod tests {
    use loggia_domain::ContentHash;

    use super::*;

    fn state(text: &str) -> Option<FileState> {
        (!text.is_empty()).then(|| FileState {
            hash: ContentHash::of(text.as_bytes()),
            mode: 0o644,
            is_link: false,
        })
    }

    fn change(path: &str, before: &str, after: &str) -> FileChange {
        FileChange { path: path.to_owned(), before: state(before), after: state(after) }
    }

    #[test]
    fn each_file_goes_from_its_last_state_to_its_first() {
        let changes = [change("b", "1", "2"), change("a", "", "new"), change("b", "2", "3")];
        let restore = |path: &str, expect, target| Restore {
            path: path.to_owned(),
            expect: state(expect),
            target: state(target),
            interrupted: false,
        };
        assert_eq!(plan_undo(&changes), [restore("a", "new", ""), restore("b", "3", "1")]);
        assert_eq!(plan_redo(&changes), [restore("a", "", "new"), restore("b", "1", "3")]);
    }

    #[test]
    fn a_file_that_ends_as_it_began_is_left_alone() {
        let changes = [
            change("a", "", "draft"),
            change("b", "1", "2"),
            change("a", "draft", ""),
            change("b", "2", "1"),
        ];
        assert_eq!(plan_undo(&changes), []);
        assert_eq!(plan_redo(&changes), []);
    }

    #[test]
    fn what_somebody_else_did_in_between_is_pointed_out() {
        let changes = [change("a", "1", "2"), change("a", "theirs", "3"), change("b", "1", "2")];
        let interrupted: Vec<bool> = plan_undo(&changes).iter().map(|restore| restore.interrupted).collect();
        assert_eq!(interrupted, [true, false]);
    }
}
