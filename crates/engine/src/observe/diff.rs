//! What changed in a file, for people: a unified diff as git writes it.
//!
//! Knows bytes of two sides and nothing of where they come from; the lines are compared as for proposed changes, and
//! kinds and modes are told besides. A diff is whole or empty, never cut: bytes that are not text, and what is too large to show, have none.

use std::time::Instant;

use loggia_domain::FileState;

use super::bounds::{ALL_DIFF_BYTES, ALL_DIFF_TIME, DIFF_BYTES, DIFF_SIDE_BYTES, DIFF_TIME};
use crate::changes::{UnifiedDiff, quoted};

/// One side of a change.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) state: FileState,
    pub(super) bytes: Vec<u8>,
}

/// Makes the diffs of one command within the bounds for all of them.
#[derive(Debug)]
pub(super) struct Differ {
    bytes_left: usize,
    end: Instant,
}

impl Differ {
    pub(super) fn new() -> Self {
        Self { bytes_left: ALL_DIFF_BYTES, end: Instant::now() + ALL_DIFF_TIME }
    }

    /// Whether nothing more is shown.
    pub(super) fn is_spent(&self) -> bool {
        self.bytes_left == 0 || Instant::now() >= self.end
    }

    /// The diff of one file; empty if there is none to show.
    pub(super) fn diff(&mut self, path: &str, before: Option<&Side>, after: Option<&Side>) -> String {
        let deadline = self.end.min(Instant::now() + DIFF_TIME);
        match diff(path, before, after, deadline) {
            Some(diff) if diff.len() <= self.bytes_left.min(DIFF_BYTES) => {
                self.bytes_left -= diff.len();
                diff
            }
            _ => String::new(),
        }
    }
}

fn diff(path: &str, before: Option<&Side>, after: Option<&Side>, deadline: Instant) -> Option<String> {
    // Git has no change from a file to a link: one goes, the other comes.
    if let (Some(old), Some(new)) = (before, after)
        && old.state.is_link != new.state.is_link
    {
        let gone = diff(path, before, None, deadline)?;
        return Some(gone + &diff(path, None, after, deadline)?);
    }
    let old = before.map_or(Some(""), text)?;
    let new = after.map_or(Some(""), text)?;
    let (old_name, new_name) = (quoted("a/", path), quoted("b/", path));
    let mut out = format!("diff --git {old_name} {new_name}\n");
    match (before.map(git_mode), after.map(git_mode)) {
        (None, Some(new)) => out += &format!("new file mode {new:06o}\n"),
        (Some(old), None) => out += &format!("deleted file mode {old:06o}\n"),
        (Some(old), Some(new)) if old != new => out += &format!("old mode {old:06o}\nnew mode {new:06o}\n"),
        _ => {}
    }
    let (old, new) = (before.map(|_| old.as_bytes()), after.map(|_| new.as_bytes()));
    let lines = UnifiedDiff::between_by(deadline, path, old, new).ok()?;
    // An empty file that comes or goes has no lines to show, only the mode above.
    if !lines.hunks.is_empty() {
        out += &lines.text;
    }
    Some(out)
}

fn text(side: &Side) -> Option<&str> {
    let text = str::from_utf8(&side.bytes).ok()?;
    (text.len() <= DIFF_SIDE_BYTES && !text.contains('\0')).then_some(text)
}

fn git_mode(side: &Side) -> u32 {
    match side.state.is_link {
        true => 0o120_000,
        false => 0o100_000 | side.state.mode,
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::ContentHash;
    use proptest::prelude::*;

    use super::*;

    fn file(text: &[u8]) -> Side {
        let state = FileState { hash: ContentHash::of(text), mode: 0o644, is_link: false };
        Side { state, bytes: text.to_vec() }
    }

    fn show(path: &str, before: Option<&str>, after: Option<&str>) -> String {
        let [before, after] = [before, after].map(|text| text.map(|text| file(text.as_bytes())));
        Differ::new().diff(path, before.as_ref(), after.as_ref())
    }

    #[test]
    fn an_edit_shows_its_lines_with_context() {
        insta::assert_snapshot!(show("a b.txt", Some("1\n2\n3\n4\n5\n6\n"), Some("1\n2\n3\n4\nfive\n6")), @r"
        diff --git a/a b.txt b/a b.txt
        --- a/a b.txt	
        +++ b/a b.txt	
        @@ -2,5 +2,5 @@
         2
         3
         4
        -5
        -6
        +five
        +6
        \ No newline at end of file
        ");
    }

    #[test]
    fn a_creation_and_a_deletion_name_the_mode() {
        insta::assert_snapshot!(show("new", None, Some("x\n")), @r"
        diff --git a/new b/new
        new file mode 100644
        --- /dev/null
        +++ b/new
        @@ -0,0 +1 @@
        +x
        ");
        insta::assert_snapshot!(show("empty", Some(""), None), @r"
        diff --git a/empty b/empty
        deleted file mode 100644
        ");
    }

    #[test]
    fn a_file_that_becomes_a_link_goes_and_comes() {
        let mut link = file(b"target");
        link.state.is_link = true;
        insta::assert_snapshot!(Differ::new().diff("it", Some(&file(b"x\n")), Some(&link)), @r"
        diff --git a/it b/it
        deleted file mode 100644
        --- a/it
        +++ /dev/null
        @@ -1 +0,0 @@
        -x
        diff --git a/it b/it
        new file mode 120000
        --- /dev/null
        +++ b/it
        @@ -0,0 +1 @@
        +target
        \ No newline at end of file
        ");
    }

    #[test]
    fn a_new_mode_alone_is_shown() {
        let mut runnable = file(b"x");
        runnable.state.mode = 0o755;
        insta::assert_snapshot!(Differ::new().diff("run", Some(&file(b"x")), Some(&runnable)), @r"
        diff --git a/run b/run
        old mode 100644
        new mode 100755
        ");
    }

    #[test]
    fn an_odd_name_is_quoted() {
        insta::assert_snapshot!(show("a\"b\n\u{1}é", None, Some("")), @r#"
        diff --git "a/a\"b\n\001é" "b/a\"b\n\001é"
        new file mode 100644
        "#);
    }

    #[test]
    fn bytes_that_are_no_text_and_large_sides_have_no_diff() {
        let large = vec![b'x'; DIFF_SIDE_BYTES + 1];
        for bytes in [&b"a\0b"[..], b"\xff", &large] {
            assert_eq!(Differ::new().diff("x", Some(&file(b"a")), Some(&file(bytes))), "");
        }
    }

    #[test]
    fn a_diff_is_whole_or_empty_and_a_small_one_still_fits() {
        let mut differ = Differ::new();
        let text = "line\n".repeat(20_000);
        let sizes: Vec<usize> =
            (0..20).map(|_| differ.diff("x", None, Some(&file(text.as_bytes()))).len()).collect();
        let shown = sizes.iter().filter(|size| **size > 0).count();
        assert!(shown > 0 && shown < 20, "{sizes:?}");
        assert!(sizes.iter().sum::<usize>() <= ALL_DIFF_BYTES);
        assert_ne!(differ.diff("x", None, Some(&file(b"small\n"))), "");
    }

    proptest! {
        #[test]
        fn a_diff_applied_gives_the_new_text(old in "([ab]?[\r]?\n){0,12}[ab\r]{0,2}", new in "([ab]?[\r]?\n){0,12}[ab\r]{0,2}") {
            let diff = show("x", Some(&old), Some(&new));
            let applied = match diff.find("---") {
                Some(start) => {
                    let patch = diffy::Patch::from_bytes(&diff.as_bytes()[start..]).unwrap();
                    diffy::apply_bytes(old.as_bytes(), &patch).unwrap()
                }
                None => old.clone().into_bytes(),
            };
            prop_assert_eq!(applied, new.into_bytes());
        }
    }
}
