//! `apply_patch`.

use serde_json::json;

use crate::support::{Workspace, numbered};

fn patch(files: &[(&str, &str)], diff: &str) -> String {
    Workspace::new(files).call("apply_patch", json!({"diff": diff}))
}

#[test]
fn several_files_are_changed_made_and_deleted() {
    let diff = "\
diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+TWO
diff --git a/new/b.txt b/new/b.txt
new file mode 100644
--- /dev/null
+++ b/new/b.txt
@@ -0,0 +1,2 @@
+made
+here
diff --git a/c.txt b/c.txt
deleted file mode 100644
--- a/c.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
";
    let files = [("a.txt", "one\ntwo\n"), ("c.txt", "gone\n")];
    assert_eq!(
        patch(&files, diff),
        "a.txt: \"one\\ntwo\\n\" -> \"one\\nTWO\\n\"\n\
         c.txt: \"gone\\n\" -> nothing\n\
         new/b.txt: nothing -> \"made\\nhere\\n\""
    );
    let demand = Workspace::new(&files).demand("apply_patch", &json!({"diff": diff}));
    assert_eq!(demand.reads, ["a.txt", "c.txt"]);
    assert_eq!(demand.writes, ["a.txt", "new/b.txt"]);
    assert_eq!(demand.deletes, ["c.txt"]);
}

#[test]
fn renames_and_copies_are_two_files() {
    let files = [("old", "a\nb\n"), ("other", "x\n")];
    let diff = "diff --git a/old b/new\nsimilarity index 50%\nrename from old\nrename to new\n--- a/old\n+++ b/new\n\
                @@ -1,2 +1,2 @@\n a\n-b\n+B\ndiff --git a/other b/copy\ncopy from other\ncopy to copy\n";
    assert_eq!(
        patch(&files, diff),
        "copy: nothing -> \"x\\n\"\nnew: nothing -> \"a\\nB\\n\"\nold: \"a\\nb\\n\" -> nothing"
    );
    let demand = Workspace::new(&files).demand("apply_patch", &json!({"diff": diff}));
    assert_eq!(
        (demand.deletes, demand.writes),
        (vec!["old".to_owned()], vec!["copy".to_owned(), "new".to_owned()])
    );
}

#[test]
fn prefixes_git_lines_and_counts_may_be_left_out_or_wrong() {
    let files = [("src/a", "one\ntwo\nthree\n"), ("a/b", "x\n")];
    let expected = r#"src/a: "one\ntwo\nthree\n" -> "one\n2\nthree\n""#;
    for diff in [
        "--- src/a\n+++ src/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        "--- a/src/a\n+++ b/src/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
        "--- a/src/a\t2024-01-01\n+++ b/src/a\t2024-01-01\n@@ -1,3 +1,3 @@ fn x\n one\n-two\n+2\n three\n",
        "```diff\n--- a/src/a\n+++ b/src/a\n@@ -1,9 +1,2 @@\n one\n-two\n+2\n three\n```\n",
        "Here:\n\ndiff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n one\n-two\n+2\n three\n\n",
        "--- a/src/a\n+++ b/src/a\n@@ -40,3 +40,3 @@\n one\n-two\n+2\n three\n",
    ] {
        assert_eq!(patch(&files, diff), expected, "{diff}");
    }
    let same_name = "--- a/b\n+++ a/b\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(patch(&files, same_name), r#"a/b: "x\n" -> "y\n""#);
}

#[test]
fn line_ends_stay_the_files_own() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n";
    assert_eq!(patch(&[("x", "a\r\nb\r\n")], diff), r#"x: "a\r\nb\r\n" -> "a\r\nB\r\nC\r\n""#);
    let exact = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n";
    assert_eq!(patch(&[("x", "a\r\nb\r\n")], exact), r#"x: "a\r\nb\r\n" -> "a\r\nB\r\n""#);
    assert_eq!(
        patch(&[("x", "a\nb\n")], exact),
        "failed: `x`: hunk 1 (@@ -1,2 +1,2 @@) does not apply: the hunk has CRLF line ends where the file has LF"
    );
}

#[test]
fn a_missing_last_line_end_is_kept_and_made() {
    let keep = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n";
    assert_eq!(patch(&[("x", "a\nb")], keep), r#"x: "a\nb" -> "A\nb""#);
    let make = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
    assert_eq!(patch(&[("x", "a\n")], make), r#"x: "a\n" -> "b""#);
    let unicode = "--- a/größe\n+++ b/größe\n@@ -1 +1 @@\n-ä 漢\n+ö 🦀\n";
    assert_eq!(patch(&[("größe", "ä 漢\n")], unicode), r#"größe: "ä 漢\n" -> "ö 🦀\n""#);
}

#[test]
fn empty_files_are_made_and_deleted() {
    let make = "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n";
    assert_eq!(patch(&[], make), r#"x: nothing -> """#);
    let delete = "diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n";
    assert_eq!(patch(&[("x", "")], delete), r#"x: "" -> nothing"#);
}

#[test]
fn hunks_are_found_where_they_belong() {
    let text = numbered(50);
    let diff = "--- a/x\n+++ b/x\n@@ -10,3 +10,3 @@\n line 20\n-line 21\n+LINE 21\n line 22\n\
                @@ -40,2 +40,1 @@\n line 40\n-line 41\n";
    let patched = patch(&[("x", &text)], diff);
    let expected = text.replace("line 21\n", "LINE 21\n").replace("line 41\n", "");
    assert_eq!(patched, format!("x: {text:?} -> {expected:?}"));
}

#[test]
fn two_parts_for_one_file_are_one_change() {
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n";
    assert_eq!(patch(&[("x", "a\n")], diff), r#"x: "a\n" -> "c\n""#);
}

#[test]
fn the_overlay_is_what_is_patched() {
    let mut workspace = Workspace::new(&[("x", "disk\n")]);
    workspace.overlay("x", Some("overlay\n"));
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-overlay\n+new\n";
    assert_eq!(workspace.call("apply_patch", json!({"diff": diff})), r#"x: "overlay\n" -> "new\n""#);
}

#[test]
fn a_hunk_that_does_not_apply_is_named_and_explained() {
    let files = [("x", "a\nb\nc\n"), ("tabs", "\tif x {\n\t}\n"), ("y", "y\n")];
    let cases = [
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -3,1 +3,1 @@\n-z\n+Z\n",
            "failed: `x`: hunk 2 (@@ -3 +3 @@) does not apply: its context and removed lines are not in the file; \
             read the file again",
        ),
        (
            "--- a/tabs\n+++ b/tabs\n@@ -1,2 +1,2 @@\n-    if x {\n+    if y {\n     }\n",
            "failed: `tabs`: hunk 1 (@@ -1,2 +1,2 @@) does not apply: lines 1-2 differ in white space only; the file \
             has there:\n\tif x {\n\t}",
        ),
        ("--- a/nowhere\n+++ b/nowhere\n@@ -1 +1 @@\n-a\n+b\n", "failed: `nowhere` does not exist"),
        (
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            "failed: `x`: the diff makes the file, but it already exists",
        ),
        (
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "failed: `x`: the diff deletes the file, but 2 lines would be left in it",
        ),
        (
            "diff --git a/y b/x\nrename from y\nrename to x\n",
            "failed: `x`: the diff makes the file, but it already exists",
        ),
    ];
    for (diff, expected) in cases {
        assert_eq!(patch(&files, diff), expected, "{diff}");
    }
}

#[test]
fn what_is_no_usable_diff_is_explained() {
    let no_diff = "wrong: apply_patch: `diff` is not a unified diff: every file begins with a `--- a/PATH` and a \
                   `+++ b/PATH` line, /dev/null for none, and hunks begin with `@@ -START,COUNT +START,COUNT @@`";
    let cases = [
        ("", no_diff),
        ("*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch\n", no_diff),
        (
            "--- a/x\n+++ b/x\n@@\n-a\n+b\n",
            "wrong: apply_patch: file 1 of the diff (`b/x`): only 0 of 1 hunks can be read; each begins with \
             `@@ -START,COUNT +START,COUNT @@`",
        ),
        (
            "--- /dev/null\n+++ b/x\n+a\n+b\n",
            "wrong: apply_patch: file 1 of the diff (`b/x`): lines are added or removed outside any hunk; begin each \
             hunk with `@@ -START,COUNT +START,COUNT @@` (`@@ -0,0 +1,COUNT @@` in a new file)",
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ fn y @@\n-a\n+b\n",
            "wrong: apply_patch: file 2 of the diff (`b/y`): unable to parse hunk header",
        ),
        ("--- a/x\n+++ b/x\n", "wrong: apply_patch: file 1 of the diff (`b/x`): there are no hunks"),
        (
            "--- a/x\n+++ b/x\n@@ -5 +5 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
            "wrong: apply_patch: file 1 of the diff (`b/x`): hunks not in order or overlap",
        ),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
            "wrong: apply_patch: file 1 of the diff (`a/x b/x`): file modes cannot be set; leave the mode out and run \
             chmod with run_command",
        ),
        (
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+target\n",
            "wrong: apply_patch: file 1 of the diff (`b/x`): symbolic links and submodules cannot be patched",
        ),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
            "wrong: apply_patch: file 1 of the diff (`a/x b/x`): binary files cannot be patched",
        ),
    ];
    for (diff, expected) in cases {
        assert_eq!(patch(&[("x", "a\n"), ("y", "a\n")], diff), expected, "{diff}");
    }
}

#[test]
fn nothing_is_proposed_if_one_file_fails() {
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-no\n+b\n";
    assert!(patch(&[("x", "a\n"), ("y", "a\n")], diff).starts_with("failed: `y`: hunk 1"));
}

#[test]
fn an_enormous_patch_is_refused_in_time() {
    let text = "a\n".repeat(100_000);
    let lines = " a\n".repeat(50_000);
    let diff = format!("--- a/x\n+++ b/x\n@@ -1,50001 +1,50000 @@\n{lines}-b\n");
    let patched = patch(&[("x", &text)], &diff);
    assert_eq!(patched, "failed: `x`: the file and its hunks are too long; change it in smaller steps");
}
