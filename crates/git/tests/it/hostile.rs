//! Repositories that want to run something.

use std::os::unix::fs::PermissionsExt;

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, words};

fn set(scene: &Scene, key: &str, value: &str) {
    scene.git(&["config", key, value]);
}

fn add_hooks(scene: &Scene, directory: &std::path::Path) {
    std::fs::create_dir_all(directory).unwrap();
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "post-merge",
        "post-index-change",
        "reference-transaction",
        "pre-push",
        "prepare-commit-msg",
        "pre-merge-commit",
    ] {
        let file = directory.join(hook);
        std::fs::write(&file, format!("#!/bin/sh\n{} >/dev/null\n", scene.canary())).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A scene whose configuration names a program wherever it can.
fn scene() -> Scene {
    let scene = Scene::new();
    let canary = scene.canary();
    scene.git_in(&scene.home, &["clone", "-q", "--bare", "repo", "origin.git"]);
    scene.git(&["remote", "add", "origin", scene.home.join("origin.git").to_str().unwrap()]);
    add_hooks(&scene, &scene.repo.join(".git/hooks"));
    add_hooks(&scene, &scene.repo.join(".git/more-hooks"));
    set(&scene, "core.hooksPath", scene.repo.join(".git/more-hooks").to_str().unwrap());
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        "core.pager",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "gpg.program",
        "remote.origin.receivepack",
        "remote.origin.uploadpack",
        "sequence.editor",
        "hook.evil.command",
        "trailer.evil.command",
    ] {
        set(&scene, key, &canary);
    }
    set(&scene, "hook.evil.event", "pre-commit");
    set(&scene, "credential.helper", &format!("!{canary}"));
    for alias in ["status", "switch", "commit-tree", "push", "update-index", "worktree"] {
        set(&scene, &format!("alias.{alias}"), &format!("!{canary}"));
    }
    scene
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let scene = scene();
    let repository = scene.repository();
    let tree = scene.repo.clone();
    scene.write(".gitattributes", "* diff=evil\n");
    repository.standing(&tree).await.unwrap();
    repository.base().await.unwrap();
    let first = scene.checkpoint("m/1").await.unwrap();
    repository.begin_branch(&tree, "task".into(), "main".into()).await.unwrap();
    scene.write("b.txt", "b\n");
    let second = scene.checkpoint("m/2").await.unwrap();
    repository.changes(first.clone(), second.clone(), 1000).await.unwrap();
    repository.move_to(&tree, "task".into(), second.clone(), first.clone()).await.unwrap();
    repository.move_to(&tree, "task".into(), first, second).await.unwrap();
    repository.switch(&tree, "main".into()).await.unwrap();
    scene.merge("task", "main", false).await.unwrap();
    let linked = scene.home.join("linked");
    repository.begin_tree(linked.clone(), "other".into(), "main".into()).await.unwrap();
    repository.drop_tree(linked, false).await.unwrap();
    repository.drop_branch("other".into()).await.unwrap();
    repository.push("task".into()).await.unwrap();
    repository.unmark(vec!["m/1".into()]).await.unwrap();
    repository.exclude(".loggia/".into()).await.unwrap();
    assert!(!scene.canary_sang());
    // The canary can sing: people's own git hears it.
    scene.try_git(&scene.repo, &["commit", "-q", "--allow-empty", "-m", "x"]);
    assert!(scene.canary_sang());
}

#[tokio::test]
async fn a_file_that_only_the_repositorys_own_filter_can_read_is_an_error() {
    for program in ["clean", "process"] {
        let scene = Scene::new();
        scene.write(".gitattributes", "*.secret filter=crypt.1\n");
        scene.commit("Attributes");
        set(&scene, &format!("filter.crypt.1.{program}"), &scene.canary());
        scene.write("x.secret", "plain");
        let told = words(scene.checkpoint("m").await);
        assert!(told.contains("filter.crypt.1") && told.contains("git config --global"), "{told}");
        assert!(!scene.canary_sang());
        assert_eq!(scene.git(&["tag"]), "");
        // Whoever trusts it says so.
        scene.git(&["config", "--global", "filter.crypt.1.clean", "tr a-z A-Z"]);
        if program == "clean" {
            scene.checkpoint("m").await.unwrap();
            assert_eq!(scene.git(&["cat-file", "blob", "HEAD:x.secret"]), "PLAIN");
            assert!(!scene.canary_sang());
        }
    }
}

#[tokio::test]
async fn files_that_only_the_repositorys_own_program_can_merge_do_not_fit_together() {
    let scene = Scene::new();
    scene.write(".gitattributes", "a.txt merge=evil\n");
    scene.commit("Attributes");
    set(&scene, "merge.evil.driver", &scene.canary());
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("a.txt", "theirs\n");
    scene.commit("Theirs");
    scene.git(&["switch", "-q", "main"]);
    scene.write("a.txt", "ours\n");
    scene.commit("Ours");
    let before = scene.state();
    assert!(matches!(scene.merge("task", "main", false).await, Err(RepositoryError::Conflict(_))));
    assert_eq!(scene.state(), before);
    assert!(!scene.canary_sang());
}

#[tokio::test]
async fn programs_of_a_submodule_are_not_run() {
    let scene = Scene::new();
    scene.git_in(&scene.home, &["clone", "-q", "repo", "other"]);
    let other = scene.home.join("other");
    scene.git(&["submodule", "--quiet", "add", other.to_str().unwrap(), "module"]);
    scene.commit("With a submodule");
    let module = scene.repo.join("module");
    scene.git_in(&module, &["config", "filter.evil.clean", &scene.canary()]);
    scene.git_in(&module, &["config", "core.fsmonitor", &scene.canary()]);
    std::fs::write(module.join(".gitattributes"), "* filter=evil\n").unwrap();
    scene.write("module/a.txt", "changed\n");
    set(&scene, "submodule.module.ignore", "none");
    set(&scene, "submodule.recurse", "true");
    set(&scene, "status.submoduleSummary", "true");
    scene.write("b.txt", "b\n");
    let first = scene.head();
    let second = scene.checkpoint("m").await.unwrap();
    let repository = scene.repository();
    repository.move_to(&scene.repo, "main".into(), second.clone(), first.clone()).await.unwrap();
    repository.move_to(&scene.repo, "main".into(), first, second).await.unwrap();
    repository.begin_branch(&scene.repo, "task".into(), "main".into()).await.unwrap();
    assert!(!scene.canary_sang());
    assert_eq!(scene.read("module/a.txt"), "changed\n");
}

#[tokio::test]
async fn a_remote_that_is_a_program_or_a_part_of_the_repository_is_not_sent_to() {
    let scene = scene();
    let address = |url: &str| scene.git(&["remote", "set-url", "origin", url]);
    let push = async || words(scene.repository().push("main".to_owned()).await);
    set(&scene, "protocol.ext.allow", "always");
    address(&format!("ext::sh -c {}", scene.canary().replace(' ', "% ")));
    let told = push().await;
    assert!(told.contains("not allowed"), "{told}");
    scene.git_in(&scene.repo, &["clone", "-q", "--bare", ".", "inner.git"]);
    add_hooks(&scene, &scene.repo.join("inner.git/hooks"));
    let _ = std::fs::remove_file(scene.home.join("canary"));
    for url in ["inner.git", "./inner.git", scene.repo.join("inner.git").to_str().unwrap(), ".git"] {
        address(url);
        let told = push().await;
        assert!(told.contains("a part of the repository itself"), "{url}: {told}");
    }
    set(&scene, "url.ext::sh -c evil.insteadOf", "https://example.org/");
    address("https://example.org/x");
    let told = push().await;
    assert!(told.contains("not allowed"), "{told}");
    assert!(!scene.canary_sang());
}

#[tokio::test]
async fn ssh_is_the_users_own() {
    let scene = scene();
    let own = scene.home.join("own-ssh");
    std::fs::write(&own, "#!/bin/sh\ntouch \"$HOME/own-ssh-ran\"\nexit 1\n").unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.git(&["config", "--global", "core.sshCommand", own.to_str().unwrap()]);
    scene.git(&["remote", "set-url", "origin", "git@example.org:x/y.git"]);
    words(scene.repository().push("main".to_owned()).await);
    assert!(scene.home.join("own-ssh-ran").exists());
    assert!(!scene.canary_sang());
}

#[tokio::test]
async fn a_directory_that_only_looks_like_a_repository_is_none() {
    let scene = Scene::new();
    // Files of a tree that anybody can commit.
    let trap = scene.repo.join("docs");
    scene.git_in(&scene.repo, &["init", "-q", "--bare", "docs"]);
    scene.git_in(&trap, &["config", "core.fsmonitor", &scene.canary()]);
    scene.git_in(&trap, &["config", "core.bare", "false"]);
    scene.git_in(&trap, &["config", "core.worktree", ".."]);
    let told = words(scene.repository_at(&trap).standing(&trap).await);
    assert!(told.contains("without a working tree"), "{told}");
    assert!(!scene.canary_sang());
}

#[tokio::test]
async fn what_a_partial_clone_lacks_is_not_fetched() {
    let scene = Scene::new();
    scene.write("large.bin", "large\n");
    scene.commit("Large");
    scene.git(&["rm", "-q", "large.bin"]);
    scene.commit("Without");
    scene.git(&["config", "uploadpack.allowFilter", "true"]);
    scene.git(&["branch", "old", "HEAD~1"]);
    let url = format!("file://{}", scene.repo.display());
    scene.git_in(&scene.home, &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    let partial = scene.home.join("partial");
    scene.git_in(&partial, &["config", "remote.origin.uploadpack", &scene.canary()]);
    scene.git_in(&partial, &["branch", "old", "origin/old"]);
    let told = words(scene.repository_at(&partial).switch(&partial, "old".to_owned()).await);
    assert!(!told.is_empty() && !scene.canary_sang(), "{told}");
}
