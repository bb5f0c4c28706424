//! Scripts that models of several tests reply by, and the files they are about.
//!
//! A script is text: pieces of it are put together by writing one after the other.

/// Twenty numbered lines: enough between two changes for a hunk each.
pub fn twenty_lines() -> String {
    (1..=20).map(|number| format!("line {number}\n")).collect()
}

/// A change to [`twenty_lines`] in `a.txt`: its first and its last line.
pub const TWO_HUNKS: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
-line 1
+LINE 1
 line 2
 line 3
@@ -18,3 +18,3 @@
 line 18
 line 19
-line 20
+LINE 20
";

/// A change to [`twenty_lines`] in `a.txt`: its first, its tenth and its last line.
pub const THREE_HUNKS: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
-line 1
+LINE 1
 line 2
@@ -9,3 +9,3 @@
 line 9
-line 10
+LINE 10
 line 11
@@ -19,2 +19,2 @@
 line 19
-line 20
+LINE 20
";

/// A change to `a.txt`, which says `one`, and to `b.txt`, which says `two`: both in capitals.
pub const TWO_FILES: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+ONE
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-two
+TWO
";

/// A reply that proposes a change.
pub fn proposes(diff: &str) -> String {
    reply(&patch(diff, ""))
}

/// A reply that proposes a change and says what for.
pub fn proposes_for(diff: &str, reason: &str) -> String {
    reply(&patch(diff, &format!(", reason = {reason:?}")))
}

/// A reply in words.
pub fn says(text: &str) -> String {
    reply(&format!("{{ text = {text:?} }}"))
}

/// A reply that begins with words and calls a tool, whose arguments are given as TOML.
pub fn calls(tool: &str, arguments: &str) -> String {
    let call = format!("{{ call = {{ tool = \"{tool}\", arguments = {arguments} }} }}");
    reply(&format!("{{ text = \"Let me see. \" }}, {call}"))
}

fn patch(diff: &str, more: &str) -> String {
    format!("{{ call = {{ tool = \"apply_patch\", arguments = {{ diff = {diff:?}{more} }} }} }}")
}

fn reply(parts: &str) -> String {
    format!("[[reply]]\nparts = [{parts}]\n")
}
