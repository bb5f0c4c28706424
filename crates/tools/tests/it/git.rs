//! The git tools, compared with git itself.

use std::path::Path;

use serde_json::json;

use crate::support::Workspace;

/// Runs git as nobody in particular, with no configuration but the repository's.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = loggia_testkit::git::git(directory)
        .args(["-c", "core.quotePath=false", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .envs([("GIT_AUTHOR_NAME", "Ada Löve"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
        .envs([("GIT_COMMITTER_NAME", "Bob"), ("GIT_COMMITTER_EMAIL", "bob@example.org")])
        .envs(dates())
        .output()
        .unwrap();
    assert!(output.status.success() || arguments[0] == "merge", "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every commit is a minute younger than the one before, so that their order is known.
fn dates() -> [(&'static str, String); 2] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static MINUTES: AtomicU64 = AtomicU64::new(0);
    let time = 1_700_000_000 + 60 * MINUTES.fetch_add(1, Ordering::Relaxed);
    [("GIT_AUTHOR_DATE", format!("{time} +0200")), ("GIT_COMMITTER_DATE", format!("{time} +0200"))]
}

/// A repository with these files committed.
pub(crate) fn repository(files: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(files);
    git(&workspace.path(), &["init", "--quiet", "--initial-branch=main"]);
    git(&workspace.path(), &["add", "--all"]);
    git(&workspace.path(), &["commit", "--quiet", "--allow-empty", "--message=first"]);
    workspace
}

fn same_status(workspace: &Workspace) -> String {
    let real = git(&workspace.path(), &["status", "--porcelain", "--branch", "--no-renames"]);
    let ours = workspace.call("git_status", json!({}));
    // Git puts names with spaces in quotes.
    assert_eq!(ours.trim_end_matches("\n[nothing to commit]"), real.trim_end().replace('"', ""));
    ours
}

/// Without what we leave out: hashes, the function a hunk is in, and the tab after names with spaces.
fn real_diff(workspace: &Workspace, arguments: &[&str]) -> String {
    let real = git(&workspace.path(), &[&["diff", "--no-renames"], arguments].concat());
    let lines = real.split('\n').filter(|line| !line.starts_with("index ")).map(|line| {
        match line.strip_prefix("@@ ").and_then(|rest| rest.split_once(" @@")) {
            Some((ranges, _)) => format!("@@ {ranges} @@"),
            None => line.trim_end_matches('\t').to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n").trim_end_matches('\n').to_owned()
}

fn same_diffs(workspace: &Workspace) {
    assert_eq!(workspace.call("git_diff", json!({})), real_diff(workspace, &[]));
    same_staged_diff(workspace);
}

fn same_staged_diff(workspace: &Workspace) {
    let ours = workspace.call("git_diff", json!({"staged": true}));
    assert_eq!(ours.trim_end_matches("[nothing is staged]"), real_diff(workspace, &["--staged"]));
}

/// Every kind of change, staged and not.
fn changed() -> Workspace {
    let long: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    let workspace = repository(&[
        ("a.txt", &long),
        ("both.txt", "one\ntwo\n"),
        ("deleted", "gone\n"),
        ("deleted staged", "gone\n"),
        ("dir/ignored.log", ""),
        ("dir/kept", "kept\n"),
        ("executable.sh", "#!/bin/sh\n"),
        ("empty", ""),
        ("größe", "ä"),
        ("link_to_be", "a file\n"),
        ("binary", "\0one"),
        ("crlf", "a\r\nb\r\n"),
        (".gitignore", "*.log\n/target\n"),
    ]);
    let path = workspace.path();
    let put = |name: &str, content: &str| workspace.write(name, content.as_bytes());
    put("both.txt", "ONE\ntwo\n");
    put("added", "new\nfile\n");
    put("added empty", "");
    std::fs::remove_file(path.join("deleted staged")).unwrap();
    git(&path, &["add", "--all"]);
    put("both.txt", "ONE\nTWO");
    put("a.txt", &long.replace("line 3\n", "LINE 3\n").replace("line 30\n", ""));
    put("größe", "ä\nö\n");
    put("binary", "\0two");
    put("crlf", "a\r\nB\r\n");
    put("untracked", "");
    put("new dir/deep/x", "");
    put("new dir/y", "");
    put("dir/other", "");
    put("target/out", "");
    std::fs::remove_file(path.join("deleted")).unwrap();
    std::fs::remove_file(path.join("link_to_be")).unwrap();
    workspace.link("link_to_be", "a.txt");
    workspace.link("untracked link", "/nowhere");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path.join("executable.sh"), mode).unwrap();
    workspace
}

#[test]
fn a_status_of_everything_is_gits() {
    let status = same_status(&changed());
    assert!(status.contains("MM both.txt"), "{status}");
    assert!(status.contains(" T link_to_be"), "{status}");
    assert!(status.contains("?? new dir/\n"), "{status}");
}

#[test]
fn diffs_of_everything_are_gits() {
    same_diffs(&changed());
}

#[test]
fn our_diff_can_be_applied_by_git_and_by_us() {
    let workspace = repository(&[("a", "one\ntwo\nthree"), ("b", "b\n")]);
    workspace.write("a", b"one\n2\nthree\n");
    workspace.write("b", b"");
    let diff = workspace.call("git_diff", json!({}));
    git(&workspace.path(), &["checkout", "--quiet", "."]);
    let proposed = workspace.call("apply_patch", json!({"diff": diff}));
    assert_eq!(proposed, "a: \"one\\ntwo\\nthree\" -> \"one\\n2\\nthree\\n\"\nb: \"b\\n\" -> \"\"");
    std::fs::write(workspace.outside().join("patch"), format!("{diff}\n")).unwrap();
    git(&workspace.path(), &["apply", "../patch"]);
    assert_eq!(workspace.call("git_diff", json!({})), diff);
}

#[test]
fn a_clean_and_an_unborn_repository_are_told() {
    let workspace = repository(&[("a", "")]);
    assert_eq!(same_status(&workspace), "## main\n[nothing to commit]");
    assert_eq!(workspace.call("git_diff", json!({})), "[no changes that are not staged]");
    assert_eq!(workspace.call("git_diff", json!({"staged": true})), "[nothing is staged]");
    let unborn = Workspace::new(&[("a", "x\n"), ("b", "x\n")]);
    git(&unborn.path(), &["init", "--quiet", "--initial-branch=trunk"]);
    git(&unborn.path(), &["add", "a"]);
    assert_eq!(same_status(&unborn), "## No commits yet on trunk\nA  a\n?? b");
    same_staged_diff(&unborn);
    assert_eq!(unborn.call("git_log", json!({})), "[no commits]");
}

#[test]
fn touched_files_are_compared_by_content() {
    let workspace = repository(&[("a", "one\n"), ("b", "two\n")]);
    // Same length and a new time: only the content tells.
    workspace.write("a", b"one\n");
    workspace.write("b", b"TWO\n");
    assert_eq!(same_status(&workspace), "## main\n M b");
}

#[test]
fn a_detached_head_packed_objects_and_names_only_added_are_read() {
    let workspace = repository(&[("a", "one\n"), ("dir/b", "two\n")]);
    let path = workspace.path();
    workspace.write("a", b"1\n");
    git(&path, &["commit", "--quiet", "--all", "--message=second"]);
    git(&path, &["gc", "--quiet"]);
    git(&path, &["pack-refs", "--all"]);
    git(&path, &["checkout", "--quiet", "--detach"]);
    workspace.write("intended", b"x\n");
    git(&path, &["add", "--intent-to-add", "intended"]);
    workspace.write("dir/b", b"2\n");
    assert_eq!(same_status(&workspace), "## HEAD (no branch)\n M dir/b\n A intended");
    same_diffs(&workspace);
}

#[test]
fn conflicts_are_told() {
    let workspace = repository(&[("both", "x\n"), ("ours", "x\n"), ("theirs", "x\n"), ("fine", "x\n")]);
    let path = workspace.path();
    git(&path, &["checkout", "--quiet", "-b", "other"]);
    workspace.write("both", b"theirs\n");
    workspace.write("theirs", b"theirs\n");
    workspace.write("added", b"theirs\n");
    std::fs::remove_file(path.join("ours")).unwrap();
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "--message=theirs"]);
    git(&path, &["checkout", "--quiet", "main"]);
    workspace.write("both", b"ours\n");
    workspace.write("ours", b"ours\n");
    workspace.write("added", b"ours\n");
    std::fs::remove_file(path.join("theirs")).unwrap();
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "--message=ours"]);
    git(&path, &["merge", "--quiet", "other"]);
    let status = same_status(&workspace);
    assert_eq!(status, "## main\nAA added\nUU both\nUD ours\nDU theirs");
    assert!(
        workspace.call("git_diff", json!({})).starts_with("* Unmerged path added\n* Unmerged path both\n")
    );
}

#[test]
fn a_log_is_gits() {
    let workspace = repository(&[("a", "1\n"), ("dir/b", "1\n")]);
    let path = workspace.path();
    let commit = |file: &str, message: &str| {
        let old = std::fs::read_to_string(path.join(file)).unwrap_or_default();
        workspace.write(file, format!("{old}{message}\n").as_bytes());
        git(&path, &["add", "--all"]);
        git(&path, &["commit", "--quiet", "--message", message]);
    };
    commit("a", "change a\n\nwith a body");
    git(&path, &["checkout", "--quiet", "-b", "side"]);
    commit("dir/b", "b on the side\ntwo lines of subject");
    git(&path, &["checkout", "--quiet", "main"]);
    commit("c", "größe of c");
    git(&path, &["merge", "--quiet", "--no-ff", "--message=merge", "side"]);
    commit("a", "a again");
    let real = |arguments: &[&str]| {
        let format = ["log", "--abbrev=10", "--format=%h %ai %an: %s"];
        git(&path, &[&format, arguments].concat()).trim_end().to_owned()
    };
    let ours = |arguments| workspace.call("git_log", arguments);
    assert_eq!(ours(json!({})), real(&[]));
    assert_eq!(ours(json!({})).lines().count(), 6);
    for name in ["a", "dir", "dir/b", "c"] {
        assert_eq!(ours(json!({"path": name})), real(&["--", name]), "{name}");
    }
    assert_eq!(ours(json!({"path": "nowhere"})), "[no commits]");
    let two =
        format!("{}\n[older commits are not shown; give a limit of up to 200 or a path]", real(&["-2"]));
    assert_eq!(ours(json!({"limit": "2"})), two);
}

#[test]
fn a_shallow_clone_ends_where_it_was_cut() {
    let origin = repository(&[("a", "1\n")]);
    origin.write("a", b"2\n");
    git(&origin.path(), &["commit", "--quiet", "--all", "--message=second"]);
    let workspace = Workspace::new(&[]);
    let url = format!("file://{}", origin.path().display());
    git(&workspace.path(), &["clone", "--quiet", "--depth=1", &url, "."]);
    let log = workspace.call("git_log", json!({}));
    assert!(log.ends_with(": second"), "{log}");
    assert_eq!(log.lines().count(), 1);
}

#[test]
fn a_path_limits_a_diff() {
    let workspace = repository(&[("a", "1\n"), ("dir/b", "1\n"), ("dir.txt", "1\n")]);
    for name in ["a", "dir/b", "dir.txt"] {
        workspace.write(name, b"2\n");
    }
    let ours = |path: &str| workspace.call("git_diff", json!({"path": path}));
    assert_eq!(ours("dir"), real_diff(&workspace, &["--", "dir"]));
    assert_eq!(ours("dir/b"), real_diff(&workspace, &["--", "dir/b"]));
    assert_eq!(ours("."), real_diff(&workspace, &[]));
    assert!(ours("../x").starts_with("forbidden: "));
    assert_eq!(workspace.demand("git_diff", &json!({"path": "dir"})).reads, ["dir"]);
}

#[test]
fn a_long_diff_is_cut() {
    let lines = |word: &str| (0..4000).map(|number| format!("{word} {number}\n")).collect::<String>();
    let workspace = repository(&[("a", &lines("old")), ("b", "1\n")]);
    workspace.write("a", lines("new").as_bytes());
    workspace.write("b", b"2\n");
    let diff = workspace.call("git_diff", json!({}));
    assert!(diff.len() < 64 * 1024 + 100);
    assert!(
        diff.ends_with("[cut here; 2 files not shown whole; give a path]"),
        "{}",
        diff.lines().last().unwrap()
    );
}

#[test]
fn the_overlay_and_the_policy_hold_for_git_too() {
    let mut workspace = repository(&[("a", "1\n"), ("b", "1\n"), ("secret", "1\n"), ("gone", "1\n")]);
    workspace.write("secret", b"changed\n");
    workspace.write("secret new", b"");
    workspace.overlay("a", Some("2\n"));
    workspace.overlay("made/x", Some("2\n"));
    workspace.overlay("gone", None);
    workspace.deny("secret");
    assert_eq!(workspace.call("git_status", json!({})), "## main\n M a\n D gone\n?? made/");
    let diff = workspace.call("git_diff", json!({}));
    assert!(diff.contains("-1\n+2\n"), "{diff}");
    assert!(!diff.contains("secret"), "{diff}");
    git(&workspace.path(), &["add", "secret"]);
    assert_eq!(
        workspace.call("git_diff", json!({"staged": true})),
        "[nothing is staged among the files that may be shown; others are left out]"
    );
}

#[test]
fn what_is_left_out_is_not_called_unchanged() {
    let mut workspace = repository(&[("a", "1\n"), ("secret", "1\n")]);
    workspace.write("secret", b"changed\n");
    workspace.deny("secret");
    const REST: &str = "among the files that may be shown; others are left out]";
    assert_eq!(workspace.call("git_diff", json!({})), format!("[no changes that are not staged {REST}"));
    assert_eq!(workspace.call("git_status", json!({})), format!("## main\n[nothing to commit {REST}"));
    // Nothing hidden has been staged, and that is known without looking into it.
    assert_eq!(workspace.call("git_diff", json!({"staged": true})), "[nothing is staged]");
}

#[test]
fn line_ends_that_git_converts_do_not_fill_a_diff() {
    let workspace = repository(&[("x.bat", "a\nb\nc\n")]);
    workspace.write("x.bat", b"a\r\nB\r\nc\r\n");
    assert_eq!(
        workspace.call("git_diff", json!({})),
        "diff --git a/x.bat b/x.bat\n--- a/x.bat\n+++ b/x.bat\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\
         [lines end in CRLF now and in LF before; that difference is left out]"
    );
}

#[test]
fn submodules_and_nested_repositories_are_left_alone() {
    let inner = repository(&[("x", "1\n")]);
    let workspace = repository(&[("a", "1\n")]);
    let path = workspace.path();
    git(&path, &["submodule", "--quiet", "add", inner.path().to_str().unwrap(), "sub"]);
    git(&path, &["clone", "--quiet", inner.path().to_str().unwrap(), "nested"]);
    assert_eq!(same_status(&workspace), "## main\nA  .gitmodules\nA  sub\n?? nested/");
}
