//! Properties of reading and applying diffs, whoever wrote them.

use proptest::prelude::*;
use similar::TextDiff;

use super::apply;
use super::parse::{Diff, Operation};

/// Texts of few different lines, so that hunks have several places to go; some without a last line end.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "b", "-- c", "++ d", "", " e", "@@ f", "ä", "\\ g"]);
    (prop::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, ends)| {
        let text = lines.join("\n");
        if ends && !text.is_empty() { text + "\n" } else { text }
    })
}

fn diff(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().header("a/x", "b/x").to_string()
}

fn applied(old: &str, diff: &str) -> Result<String, String> {
    let diff = Diff::new(diff);
    let changes = diff.changes()?;
    let [change] = changes.as_slice() else { return Err(format!("{} changes", changes.len())) };
    assert_eq!(change.operation, Operation::Modify("x".to_owned()));
    apply(old.as_bytes(), &change.patch).map(|bytes| String::from_utf8(bytes).expect("both texts are UTF-8"))
}

proptest! {
    #[test]
    fn a_diff_makes_the_new_text_of_the_old(old in text(), new in text()) {
        prop_assume!(old != new);
        prop_assert_eq!(applied(&old, &diff(&old, &new)), Ok(new));
    }

    #[test]
    fn a_file_keeps_its_line_ends(old in text(), new in text()) {
        prop_assume!(old != new && old.contains('\n'));
        let crlf = |text: &str| text.replace('\n', "\r\n");
        prop_assert_eq!(applied(&crlf(&old), &diff(&old, &new)), Ok(crlf(&new)));
    }

    #[test]
    fn no_text_is_too_strange(text in "(---|\\+\\+\\+|@@|diff --git|[ +-]|a/|b/|/dev/null|\"|\\\\|[0-9,]|\\n|rename from |new file mode |.){0,60}") {
        let diff = Diff::new(&text);
        if let Ok(changes) = diff.changes() {
            for change in changes {
                let _ = apply(b"a\nb\n", &change.patch);
            }
        }
    }
}
