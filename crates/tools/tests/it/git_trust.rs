//! Repositories are not trusted: what leads outside is refused, and nothing they name is run.

use std::fs;

use serde_json::json;

use crate::git::{git, repository};
use crate::list::make_fifo;
use crate::support::Workspace;

fn log(workspace: &Workspace) -> String {
    workspace.call("git_log", json!({}))
}

/// A repository outside, with something in it that is nobody's business.
fn private(workspace: &Workspace) -> std::path::PathBuf {
    let path = workspace.outside().join("private");
    fs::create_dir(&path).unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(path.join("secret"), "secret\n").unwrap();
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "--message=secret"]);
    path
}

#[test]
fn a_workspace_without_a_repository_is_told() {
    let workspace = Workspace::new(&[("x/y", "")]);
    git(workspace.outside(), &["init", "--quiet"]);
    for tool in ["git_status", "git_diff", "git_log"] {
        let told = "failed: the workspace is no git repository: it has no .git";
        assert_eq!(workspace.call(tool, json!({})), told);
    }
}

#[test]
fn a_repository_that_leads_outside_is_refused() {
    let told = "is a link or leads elsewhere, which is not followed; use git with run_command";
    for (name, target) in [
        (".git", ".git"),
        (".git/HEAD", ".git/HEAD"),
        (".git/refs", ".git/refs"),
        (".git/objects", ".git/objects"),
        (".git/index", ".git/index"),
        (".git/config", ".git/config"),
        (".git/refs/heads/main", ".git/refs/heads/main"),
    ] {
        let workspace = repository(&[("a", "1\n")]);
        let private = private(&workspace);
        let path = workspace.path().join(name);
        fs::rename(&path, workspace.outside().join("moved")).unwrap();
        std::os::unix::fs::symlink(private.join(target), &path).unwrap();
        let outcome = log(&workspace);
        assert!(outcome.starts_with("forbidden: "), "{name}: {outcome}");
        assert!(
            outcome.contains(told) || outcome.contains("leads outside the workspace"),
            "{name}: {outcome}"
        );
    }
}

#[test]
fn objects_of_others_are_not_borrowed() {
    let workspace = repository(&[("a", "1\n")]);
    let private = private(&workspace);
    let objects = private.join(".git/objects");
    let alternates = workspace.path().join(".git/objects/info/alternates");
    fs::write(&alternates, format!("{}\n", objects.display())).unwrap();
    assert!(log(&workspace).starts_with("failed: the repository borrows objects from another one"));
    fs::remove_file(alternates).unwrap();
    fs::write(workspace.path().join(".git/commondir"), format!("{}\n", private.join(".git").display()))
        .unwrap();
    assert!(log(&workspace).starts_with("forbidden: `.git/commondir`"), "{}", log(&workspace));
}

#[test]
fn links_among_the_objects_are_refused() {
    let workspace = repository(&[("a", "1\n")]);
    let private = private(&workspace);
    let id = git(&private, &["rev-parse", "HEAD"]);
    let (directory, name) = id.trim().split_at(2);
    let objects = workspace.path().join(".git/objects");
    fs::create_dir_all(objects.join(directory)).unwrap();
    let object = private.join(".git/objects").join(directory).join(name);
    std::os::unix::fs::symlink(object, objects.join(directory).join(name)).unwrap();
    fs::write(workspace.path().join(".git/refs/heads/main"), &id).unwrap();
    let outcome = log(&workspace);
    assert!(outcome.starts_with("forbidden: "), "{outcome}");
    assert!(!outcome.contains("secret"), "{outcome}");
    std::os::unix::fs::symlink(private.join(".git/objects"), objects.join("ff")).unwrap_or(());
    assert!(log(&workspace).starts_with("forbidden: "));
}

#[test]
fn a_fifo_in_a_repository_does_not_hold_a_call() {
    for name in [".git/HEAD", ".git/index", ".git/packed-refs"] {
        let workspace = repository(&[("a", "1\n")]);
        let path = workspace.path().join(name);
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        make_fifo(&path);
        let outcome = workspace.call("git_status", json!({}));
        assert!(outcome.starts_with("forbidden: "), "{name}: {outcome}");
    }
}

#[test]
fn a_worktree_that_leads_back_is_read() {
    let mut workspace = Workspace::new(&[]);
    let main = private(&workspace);
    fs::remove_dir(workspace.path()).unwrap();
    git(&main, &["worktree", "add", "--quiet", "-b", "side", workspace.path().to_str().unwrap()]);
    // The directory is another one now, so the root is opened anew.
    let root = loggia_tree::Root::open(&workspace.path(), loggia_tree::RootSettings::default()).unwrap();
    workspace.tools = loggia_tools::standard(std::sync::Arc::new(root));
    workspace.write("secret", b"changed\n");
    assert_eq!(workspace.call("git_status", json!({})), "## side\n M secret");
    assert!(log(&workspace).ends_with(": secret"));
}

#[test]
fn a_git_file_that_leads_elsewhere_is_refused() {
    let workspace = Workspace::new(&[]);
    let private = private(&workspace);
    let elsewhere = workspace.outside().join("elsewhere");
    git(&private, &["worktree", "add", "--quiet", "-b", "side", elsewhere.to_str().unwrap()]);
    let worktree = private.join(".git/worktrees/elsewhere");
    let made_up = workspace.path().join("worktrees/x");
    fs::create_dir_all(&made_up).unwrap();
    fs::write(made_up.join("gitdir"), workspace.path().join(".git").to_str().unwrap()).unwrap();
    fs::write(made_up.join("commondir"), private.join(".git").to_str().unwrap()).unwrap();
    for target in [private.join(".git"), worktree, made_up, "/nowhere".into()] {
        fs::write(workspace.path().join(".git"), format!("gitdir: {}\n", target.display())).unwrap();
        let outcome = log(&workspace);
        assert!(outcome.starts_with("forbidden: `.git` is a file that leads outside"), "{outcome}");
    }
}

#[test]
fn nothing_that_a_repository_names_is_run_or_believed() {
    let workspace =
        repository(&[("a", "1\n"), ("b", "1\n"), (".gitattributes", "* filter=evil diff=evil\n")]);
    let path = workspace.path();
    let trap = "touch \"$PWD/ran\"; touch ran; exit 1";
    for (key, value) in [
        ("core.fsmonitor", trap),
        ("core.hooksPath", "hooks"),
        ("core.worktree", "/"),
        ("core.pager", trap),
        ("diff.external", trap),
        ("diff.evil.command", trap),
        ("diff.evil.textconv", trap),
        ("filter.evil.clean", trap),
        ("filter.evil.smudge", trap),
        ("filter.evil.process", trap),
        ("filter.evil.required", "true"),
        ("core.sshCommand", trap),
        ("gitoxide.core.indexFile", "/nowhere"),
        ("include.path", "/nowhere"),
    ] {
        git(&path, &["config", key, value]);
    }
    workspace.write("a", b"2\n");
    assert_eq!(workspace.call("git_status", json!({})), "## main\n M a");
    assert!(workspace.call("git_diff", json!({})).ends_with("-1\n+2"));
    assert!(log(&workspace).ends_with(": first"));
    assert!(!path.join("ran").exists());
}

#[test]
fn a_broken_repository_is_an_error() {
    let workspace = repository(&[("a", "1\n")]);
    let index = workspace.path().join(".git/index");
    let mut bytes = fs::read(&index).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(&index, bytes).unwrap();
    assert!(workspace.call("git_status", json!({})).starts_with("failed: git: "));
    fs::write(workspace.path().join(".git/refs/heads/main"), "0123456789012345678901234567890123456789\n")
        .unwrap();
    assert!(log(&workspace).starts_with("failed: git: "));
    fs::write(workspace.path().join(".git/HEAD"), "ref: ../../outside\n").unwrap();
    assert!(log(&workspace).starts_with("forbidden: "));
    fs::write(workspace.path().join(".git/HEAD"), "ref: HEAD\n").unwrap();
    assert!(log(&workspace).starts_with("failed: "));
}
