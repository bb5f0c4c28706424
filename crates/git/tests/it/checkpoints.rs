//! Checkpoints and their marks.

use std::os::unix::ffi::OsStrExt;

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, words};

#[tokio::test]
async fn a_checkpoint_holds_all_that_changed_under_its_mark() {
    let scene = Scene::new();
    scene.write("gone.txt", "x");
    scene.write("turns/into/file", "x");
    scene.write("turns into directory", "x");
    scene.write("dir/linked away", "x");
    scene.write(".gitignore", "*.log\n");
    scene.commit("More");
    scene.write("a.txt", "two\n");
    std::fs::remove_file(scene.repo.join("gone.txt")).unwrap();
    std::fs::remove_dir_all(scene.repo.join("turns/into")).unwrap();
    scene.write("turns/into", "now a file");
    std::fs::remove_file(scene.repo.join("turns into directory")).unwrap();
    scene.write("turns into directory/deep", "x");
    std::fs::remove_dir_all(scene.repo.join("dir")).unwrap();
    std::os::unix::fs::symlink("turns", scene.repo.join("dir")).unwrap();
    scene.write("new\nline", "x");
    scene.write(" -odd *?[name] ", "x");
    scene.write("ignored.log", "x");
    std::fs::write(scene.repo.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    let before = scene.head();
    let commit = scene.checkpoint("task-checkpoint/0a1b2c3d/1").await.unwrap();
    assert_eq!(scene.head(), commit);
    assert_eq!(scene.git(&["rev-parse", "HEAD~1"]), before.0);
    assert_eq!(scene.git(&["rev-parse", "refs/tags/task-checkpoint/0a1b2c3d/1"]), commit.0);
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    let files = scene.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]).replace('\0', "|");
    let expected =
        " -odd *?[name] |.gitignore|a.txt|caf\u{fffd}|dir|new\nline|turns into directory/deep|turns/into|";
    assert_eq!(files, expected);
    assert_eq!(
        scene.git(&["log", "-1", "--format=%an <%ae> %s"]),
        "Ada <ada@example.org> Checkpoint task-checkpoint/0a1b2c3d/1"
    );
    assert_eq!(scene.git(&["reflog", "-1", "--format=%gs"]), "loggia: checkpoint task-checkpoint/0a1b2c3d/1");
}

#[tokio::test]
async fn where_nothing_changed_the_newest_commit_is_marked() {
    let scene = Scene::new();
    assert_eq!(scene.checkpoint("m/1").await.unwrap(), scene.head());
    // As often as anybody likes.
    assert_eq!(scene.checkpoint("m/1").await.unwrap(), scene.head());
    // Staged, and changed back in the tree.
    scene.write("a.txt", "two\n");
    scene.git(&["add", "a.txt"]);
    scene.write("a.txt", "one\n");
    assert_eq!(scene.checkpoint("m/2").await.unwrap(), scene.head());
    assert_eq!(scene.git(&["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(scene.git(&["tag"]), "m/1\nm/2");
}

#[tokio::test]
async fn a_mark_is_not_moved_and_a_bad_one_not_made() {
    let scene = Scene::new();
    scene.checkpoint("m/1").await.unwrap();
    scene.write("a.txt", "two\n");
    let head = scene.head();
    let told = words(scene.checkpoint("m/1").await);
    assert!(told.contains("the mark `m/1` is at"), "{told}");
    for mark in ["", "a..b", "-d", "a\0b", "x.lock", "m/1/below"] {
        words(scene.checkpoint(mark).await);
    }
    assert_eq!((scene.head(), scene.git(&["tag"])), (head, "m/1".to_owned()));
    assert_eq!(scene.read("a.txt"), "two\n");
}

#[tokio::test]
async fn a_message_is_kept_as_it_is() {
    let scene = Scene::new();
    scene.write("a.txt", "two\n");
    let message = "[X-1] checkpoint 1: ümläut\n\n# no comment\n  indented".to_owned();
    scene.repository().checkpoint(&scene.repo, message.clone(), "m".to_owned()).await.unwrap();
    assert_eq!(scene.git(&["log", "-1", "--format=%B"]), message);
}

#[tokio::test]
async fn without_an_identity_commits_are_loggias() {
    let scene = Scene::new();
    scene.git(&["config", "--global", "--unset", "user.email"]);
    scene.write("a.txt", "two\n");
    scene.checkpoint("m").await.unwrap();
    let who = scene.git(&["log", "-1", "--format=%an <%ae>, %cn <%ce>"]);
    assert_eq!(who, "Loggia <loggia@localhost>, Loggia <loggia@localhost>");
}

#[tokio::test]
async fn a_checkpoint_is_signed_if_the_user_signs() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let gpg = scene.home.join("gpg");
    std::fs::write(&gpg, "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho SIGNED\n")
        .unwrap();
    std::fs::set_permissions(&gpg, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.git(&["config", "--global", "gpg.program", gpg.to_str().unwrap()]);
    scene.git(&["config", "--global", "commit.gpgSign", "true"]);
    scene.write("a.txt", "two\n");
    scene.checkpoint("m").await.unwrap();
    let commit = scene.git(&["cat-file", "commit", "HEAD"]);
    assert!(commit.contains("gpgsig SIGNED"), "{commit}");
}

#[tokio::test]
async fn a_tree_on_no_branch_and_one_without_a_commit_have_checkpoints() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "--detach"]);
    scene.write("a.txt", "two\n");
    let commit = scene.checkpoint("m").await.unwrap();
    assert_eq!(scene.head(), commit);
    assert_ne!(scene.git(&["rev-parse", "main"]), commit.0, "no branch moves");
    let scene = Scene::empty();
    assert_eq!(scene.checkpoint("m").await, Err(RepositoryError::Empty));
    scene.write("a.txt", "one\n");
    let commit = scene.checkpoint("m").await.unwrap();
    assert_eq!((scene.git(&["branch", "--show-current"]), scene.head()), ("main".to_owned(), commit));
}

#[tokio::test]
async fn a_submodule_is_kept_by_its_commit_and_another_repository_not_at_all() {
    let scene = Scene::new();
    scene.git_in(&scene.home, &["clone", "-q", "repo", "other"]);
    let other = scene.home.join("other");
    scene.git(&["submodule", "--quiet", "add", other.to_str().unwrap(), "module"]);
    scene.commit("With a submodule");
    scene.write("module/a.txt", "inside\n");
    let module = scene.repo.join("module");
    scene.git_in(&module, &["commit", "-q", "-a", "-m", "Inside"]);
    scene.git(&["init", "-q", "inner"]);
    scene.write("inner/file", "x");
    scene.checkpoint("m").await.unwrap();
    let inside = scene.git_in(&module, &["rev-parse", "HEAD"]);
    assert_eq!(scene.git(&["rev-parse", "HEAD:module"]), inside);
    assert_eq!(scene.git(&["ls-tree", "HEAD", "inner"]), "");
    assert!(scene.has("inner/file"));
}

#[tokio::test]
async fn files_with_conflicts_are_no_checkpoint() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "other"]);
    scene.write("a.txt", "theirs\n");
    scene.commit("Theirs");
    scene.git(&["switch", "-q", "main"]);
    scene.write("a.txt", "ours\n");
    scene.commit("Ours");
    scene.try_git(&scene.repo, &["merge", "other"]);
    // Also if what git keeps about the merge is gone.
    std::fs::remove_file(scene.repo.join(".git/MERGE_HEAD")).unwrap();
    let told = words(scene.checkpoint("m").await);
    assert!(told.contains("`a.txt` has conflicts"), "{told}");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_told_and_nothing_is_committed() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.write("secret", "x");
    std::fs::set_permissions(scene.repo.join("secret"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(scene.repo.join("secret")).is_ok() {
        // For whoever may read everything there is no such file.
        return;
    }
    let head = scene.head();
    let told = words(scene.checkpoint("m").await);
    assert!(told.contains("secret"), "{told}");
    assert_eq!((scene.head(), scene.git(&["tag"])), (head, String::new()));
}

#[tokio::test]
async fn marks_are_taken_away_if_they_are_there() {
    let scene = Scene::new();
    for mark in ["m/1", "m/2", "m/3"] {
        scene.checkpoint(mark).await.unwrap();
    }
    let unmark = async |marks: &[&str]| {
        scene.repository().unmark(marks.iter().map(|mark| (*mark).to_owned()).collect()).await
    };
    unmark(&["m/1", "never", "m/3"]).await.unwrap();
    assert_eq!(scene.git(&["tag"]), "m/2");
    unmark(&[]).await.unwrap();
    words(unmark(&["m/2\0\0delete refs/heads/main"]).await);
    assert_eq!(scene.git(&["branch", "--format=%(refname:short)"]), "main");
}
