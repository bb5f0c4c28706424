//! How trees stand, in every state they can be in.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use loggia_domain::{Commit, Repository, RepositoryError, Standing};

use crate::support::{Scene, words};

async fn standing(scene: &Scene) -> Standing {
    scene.repository().standing(&scene.repo).await.unwrap()
}

#[tokio::test]
async fn a_tree_is_clean_on_a_branch() {
    let scene = Scene::new();
    let expected = Standing {
        branch: Some("main".to_owned()),
        commit: Some(scene.head()),
        changed: Vec::new(),
        is_linked: false,
        main: scene.repo.clone(),
    };
    assert_eq!(standing(&scene).await, expected);
}

#[tokio::test]
async fn changed_staged_gone_and_new_paths_are_told_and_ignored_ones_are_not() {
    let scene = Scene::new();
    scene.write("gone.txt", "x");
    scene.write(".gitignore", "*.log\n");
    scene.commit("More");
    scene.write("a.txt", "two\n");
    scene.write("staged.txt", "x");
    scene.git(&["add", "staged.txt"]);
    std::fs::remove_file(scene.repo.join("gone.txt")).unwrap();
    scene.write("new dir/deep/new file\nwith a line.txt", "x");
    scene.write("ignored.log", "x");
    std::fs::write(scene.repo.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    let expected =
        ["a.txt", "gone.txt", "staged.txt", "caf\u{fffd}", "new dir/deep/new file\nwith a line.txt"];
    assert_eq!(standing(&scene).await.changed, expected);
}

#[tokio::test]
async fn only_the_first_thousand_changes_are_told() {
    let scene = Scene::new();
    for number in 0..1010 {
        scene.write(&format!("new/{number}"), "");
    }
    assert_eq!(standing(&scene).await.changed.len(), 1000);
}

#[tokio::test]
async fn a_repository_without_a_commit_has_a_branch_and_nothing_else() {
    let scene = Scene::empty();
    let found = standing(&scene).await;
    assert_eq!((found.branch.as_deref(), found.commit), (Some("main"), None));
}

#[tokio::test]
async fn a_detached_tree_has_a_commit_and_no_branch() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "--detach"]);
    let found = standing(&scene).await;
    assert_eq!((found.branch, found.commit), (None, Some(scene.head())));
}

#[tokio::test]
async fn a_directory_below_is_in_the_same_tree() {
    let scene = Scene::new();
    scene.write("deep/down/b.txt", "x");
    let below = scene.repo.join("deep/down");
    let found = scene.repository_at(&below).standing(&below).await.unwrap();
    assert_eq!((found.changed, found.main), (vec!["deep/down/b.txt".to_owned()], scene.repo.clone()));
}

#[tokio::test]
async fn a_linked_tree_knows_the_main_one() {
    let scene = Scene::new();
    let linked = scene.home.join("linked");
    scene.git(&["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    let found = scene.repository().standing(&linked).await.unwrap();
    assert_eq!(
        (found.branch.as_deref(), found.is_linked, found.main),
        (Some("other"), true, scene.repo.clone())
    );
    // Also if it is the workspace itself.
    let found = scene.repository_at(&linked).standing(&linked).await.unwrap();
    assert!(found.is_linked);
}

#[tokio::test]
async fn a_repository_whose_path_has_a_line_in_it_is_found() {
    let mut scene = Scene::new();
    let odd = scene.home.join("with\na line");
    std::fs::rename(&scene.repo, &odd).unwrap();
    scene.repo = odd.clone();
    let found = standing(&scene).await;
    assert_eq!((found.main, found.commit), (odd, Some(scene.head())));
}

#[tokio::test]
async fn a_submodule_is_a_change_only_by_its_commit() {
    let scene = Scene::new();
    let other = scene.home.join("other");
    scene.git_in(&scene.home, &["clone", "-q", "repo", "other"]);
    scene.git(&["submodule", "--quiet", "add", other.to_str().unwrap(), "module"]);
    scene.commit("With a submodule");
    scene.write("module/a.txt", "changed\n");
    assert_eq!(standing(&scene).await.changed, [""; 0]);
    scene.git_in(&scene.repo.join("module"), &["commit", "-q", "-a", "-m", "Inside"]);
    assert_eq!(standing(&scene).await.changed, ["module"]);
    // The submodule as a workspace is a repository like any other.
    let module = scene.repo.join("module");
    let found = scene.repository_at(&module).standing(&module).await.unwrap();
    assert_eq!((found.is_linked, found.main), (false, module));
}

#[tokio::test]
async fn another_repository_inside_is_no_change() {
    let scene = Scene::new();
    scene.git(&["init", "-q", "inner"]);
    scene.write("inner/file", "x");
    assert_eq!(standing(&scene).await.changed, [""; 0]);
}

#[tokio::test]
async fn what_is_in_no_repository_is_told_apart() {
    let scene = Scene::new();
    let none = scene.home.join("none");
    std::fs::create_dir(&none).unwrap();
    let ask = async |directory: &Path| scene.repository_at(directory).standing(directory).await;
    assert_eq!(ask(&none).await, Err(RepositoryError::NoRepository(none.clone())));
    let missing = scene.home.join("missing");
    assert_eq!(ask(&missing).await, Err(RepositoryError::NoRepository(missing.clone())));
    scene.git_in(&scene.home, &["clone", "-q", "--bare", "repo", "bare.git"]);
    let told = words(ask(&scene.home.join("bare.git")).await);
    assert!(told.contains("without a working tree"), "{told}");
    let told = words(ask(&scene.repo.join(".git")).await);
    assert!(told.contains("without a working tree"), "{told}");
    // A tree that is linked to a bare repository is one.
    let linked = scene.home.join("linked");
    let bare = scene.home.join("bare.git");
    scene.git_in(&bare, &["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    let found = ask(&linked).await.unwrap();
    assert_eq!((found.branch.as_deref(), found.is_linked, found.main), (Some("other"), true, bare));
}

#[tokio::test]
async fn a_configuration_that_points_at_another_tree_is_refused() {
    let scene = Scene::new();
    let victim = scene.home.join("victim");
    std::fs::create_dir(&victim).unwrap();
    for elsewhere in [victim.to_str().unwrap(), scene.home.to_str().unwrap(), "/"] {
        scene.git(&["config", "core.worktree", elsewhere]);
        let told = words(scene.repository().standing(&scene.repo).await);
        assert!(told.contains("core.worktree"), "{elsewhere}: {told}");
        std::fs::remove_file(scene.repo.join(".git/config")).unwrap();
        scene.git_in(&scene.home, &["init", "-q", "repo"]);
    }
}

#[tokio::test]
async fn without_git_that_is_what_is_told() {
    let scene = Scene::new();
    let repository = scene.repository_in(vec![("PATH".into(), scene.home.clone().into())], &scene.repo);
    let end = repository.standing(&scene.repo).await;
    assert!(matches!(&end, Err(RepositoryError::NoGit(why)) if why.contains("PATH")), "{end:?}");
}

#[tokio::test]
async fn a_git_that_lies_in_the_tree_is_not_taken() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.write("git", &format!("#!/bin/sh\n{}\n", scene.canary()));
    std::fs::set_permissions(scene.repo.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(".:{}", std::env::var("PATH").unwrap());
    let environment = vec![("PATH".into(), path.into()), ("HOME".into(), scene.home.clone().into())];
    let found = scene.repository_in(environment, &scene.repo).standing(&scene.repo).await.unwrap();
    assert_eq!(found.changed, ["git"]);
    assert!(!scene.canary_sang());
}

#[tokio::test]
async fn commits_are_known_by_their_full_names() {
    let scene = Scene::new();
    let Commit(name) = standing(&scene).await.commit.unwrap();
    assert_eq!(name.len(), 40);
}
