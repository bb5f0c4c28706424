//! How a working tree stands, as git tells it.
//!
//! Pure: bytes in, values out. Paths are bytes here, since a name need not be text.
//!
//! Repositories that lie in the tree without being submodules are somebody else's: they are no change of it.

use loggia_domain::Commit;

/// How a working tree stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Nothing if it is on none.
    pub(crate) branch: Option<String>,
    /// Nothing if there is none yet.
    pub(crate) commit: Option<Commit>,
    pub(crate) changes: Vec<Change>,
    /// Whether there are more changes than were told.
    pub(crate) is_cut: bool,
}

/// A path that changed, relative to the tree's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: Vec<u8>,
    pub(crate) kind: ChangeKind,
}

/// What is to be done about a changed path for the index to have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Nothing: the index has it.
    Staged,
    /// It changed or is new.
    Present,
    /// It is gone.
    Gone,
    /// A merge left it in several versions.
    Unmerged,
}

impl Status {
    /// Reads what `git status --porcelain=v2 --branch -z` prints. Of a cut text the last piece is not whole.
    pub(crate) fn parse(text: &[u8], is_cut: bool) -> Self {
        let mut status = Self { is_cut, ..Self::default() };
        let mut pieces: Vec<&[u8]> = text.split(|byte| *byte == 0).collect();
        // Behind the last end there is nothing, or a piece that was cut.
        pieces.pop();
        let mut pieces = pieces.into_iter();
        while let Some(piece) = pieces.next() {
            status.read(piece);
            if piece.starts_with(b"2 ") {
                // A renamed one is followed by its old name. We ask for no such thing.
                pieces.next();
            }
        }
        status
    }

    fn read(&mut self, piece: &[u8]) {
        if let Some(name) = piece.strip_prefix(b"# branch.oid ") {
            self.commit = (name != b"(initial)").then(|| Commit(text(name)));
        } else if let Some(name) = piece.strip_prefix(b"# branch.head ") {
            self.branch = (name != b"(detached)").then(|| text(name));
        } else if let Some(path) = piece.strip_prefix(b"? ") {
            if !path.ends_with(b"/") {
                self.add(path, ChangeKind::Present);
            }
        } else if piece.starts_with(b"1 ") || piece.starts_with(b"2 ") {
            let fields = if piece.starts_with(b"1 ") { 9 } else { 10 };
            let Some(path) = piece.splitn(fields, |byte| *byte == b' ').nth(fields - 1) else { return };
            // The second letter is about the tree, the first about the index.
            let kind = match piece.get(3) {
                Some(b'.') => ChangeKind::Staged,
                Some(b'D') => ChangeKind::Gone,
                _ => ChangeKind::Present,
            };
            self.add(path, kind);
        } else if piece.starts_with(b"u ")
            && let Some(path) = piece.splitn(11, |byte| *byte == b' ').nth(10)
        {
            self.add(path, ChangeKind::Unmerged);
        }
    }

    fn add(&mut self, path: &[u8], kind: ChangeKind) {
        self.changes.push(Change { path: path.to_vec(), kind });
    }

    /// The first paths that changed, as text.
    pub(crate) fn paths(&self, most: usize) -> Vec<String> {
        self.changes.iter().take(most).map(|change| text(&change.path)).collect()
    }

    pub(crate) fn of_kind(&self, kind: ChangeKind) -> impl Iterator<Item = &[u8]> {
        self.changes.iter().filter(move |change| change.kind == kind).map(|change| change.path.as_slice())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A status from pieces, as lines.
    fn read(pieces: &[&str]) -> String {
        let whole: String = pieces.iter().map(|piece| format!("{piece}\0")).collect();
        let status = Status::parse(whole.as_bytes(), false);
        let mut lines = vec![format!(
            "{} {}",
            status.branch.as_deref().unwrap_or("-"),
            status.commit.as_ref().map_or("-", |commit| &commit.0)
        )];
        lines.extend(
            status.changes.iter().map(|change| format!("{:?} {:?}", change.kind, text(&change.path))),
        );
        lines.join("\n")
    }

    #[test]
    fn a_tree_has_a_branch_and_a_commit_or_not() {
        assert_eq!(read(&["# branch.oid abc", "# branch.head main"]), "main abc");
        assert_eq!(read(&["# branch.oid (initial)", "# branch.head main"]), "main -");
        assert_eq!(read(&["# branch.oid abc", "# branch.head (detached)"]), "- abc");
    }

    #[test]
    fn every_kind_of_change_is_told_apart() {
        let all = read(&[
            "1 M. N... 100644 100644 100644 h h staged",
            "1 .M N... 100644 100644 100644 h h with space\nand line",
            "1 AD N... 000000 100644 000000 h h gone",
            "1 .A N... 000000 000000 100644 h h meant to be added",
            "1 .M SC.. 160000 160000 160000 h h module",
            "u UU N... 100644 100644 100644 100644 h h h both",
            "? new",
            "? other repository/",
            "! ignored",
        ]);
        let expected = "- -\nStaged \"staged\"\nPresent \"with space\\nand line\"\nGone \"gone\"\n\
            Present \"meant to be added\"\nPresent \"module\"\nUnmerged \"both\"\nPresent \"new\"";
        assert_eq!(all, expected);
    }

    #[test]
    fn a_cut_piece_is_no_path() {
        let status = Status::parse(b"? whole\0? cu", true);
        assert_eq!((status.paths(9), status.is_cut), (vec!["whole".to_owned()], true));
        assert_eq!(Status::parse(b"", false), Status::default());
        assert_eq!(Status::parse(b"1 \x00u \x002 x\x00", false).changes, []);
    }
}
