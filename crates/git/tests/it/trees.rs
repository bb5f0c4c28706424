//! Working trees beside the main one.

use std::path::Path;

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, words};

async fn begin(scene: &Scene, tree: &Path, branch: &str) -> Result<(), RepositoryError> {
    scene.repository().begin_tree(tree.to_owned(), branch.to_owned(), "main".to_owned()).await
}

async fn drop_tree(scene: &Scene, tree: &Path, force: bool) -> Result<(), RepositoryError> {
    scene.repository().drop_tree(tree.to_owned(), force).await
}

#[tokio::test]
async fn a_tree_of_its_own_leaves_the_main_one_alone() {
    let scene = Scene::new();
    scene.write("a.txt", "mine, and not committed\n");
    let tree = scene.home.join("repo-worktrees/with space");
    begin(&scene, &tree, "task/1").await.unwrap();
    assert_eq!(std::fs::read_to_string(tree.join("a.txt")).unwrap(), "one\n");
    assert_eq!(scene.read("a.txt"), "mine, and not committed\n");
    let repository = scene.repository();
    std::fs::write(tree.join("b.txt"), "work").unwrap();
    let commit = repository.checkpoint(&tree, "Work".to_owned(), "m/1".to_owned()).await.unwrap();
    let found = repository.standing(&tree).await.unwrap();
    assert_eq!(
        (found.branch.as_deref(), found.commit, found.is_linked),
        (Some("task/1"), Some(commit), true)
    );
    assert_eq!(scene.git(&["branch", "--show-current"]), "main");
    drop_tree(&scene, &tree, false).await.unwrap();
    assert!(!tree.exists());
    // And once more: what is not there is gone already.
    drop_tree(&scene, &tree, false).await.unwrap();
    repository.drop_branch("task/1".to_owned()).await.unwrap();
}

#[tokio::test]
async fn a_tree_with_changes_stays_unless_forced() {
    let scene = Scene::new();
    let tree = scene.home.join("tree");
    begin(&scene, &tree, "task").await.unwrap();
    std::fs::write(tree.join("new.txt"), "x").unwrap();
    let dirty = RepositoryError::Dirty(vec!["new.txt".to_owned()]);
    assert_eq!(drop_tree(&scene, &tree, false).await, Err(dirty));
    assert!(tree.join("new.txt").exists());
    drop_tree(&scene, &tree, true).await.unwrap();
    assert!(!tree.exists());
}

#[tokio::test]
async fn what_begin_tree_did_not_make_is_not_taken_away() {
    let scene = Scene::new();
    let other = scene.home.join("other");
    std::fs::create_dir(&other).unwrap();
    let told = words(drop_tree(&scene, &other, true).await);
    assert!(told.contains("is no working tree of this repository"), "{told}");
    let told = words(drop_tree(&scene, &scene.repo, true).await);
    assert!(told.contains("the main working tree"), "{told}");
    assert!(other.exists() && scene.has("a.txt"));
}

#[tokio::test]
async fn a_tree_that_cannot_be_made_leaves_no_branch() {
    let scene = Scene::new();
    let tree = scene.home.join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("file"), "in the way").unwrap();
    let before = scene.state();
    let told = words(begin(&scene, &tree, "task").await);
    assert!(told.contains("tree"), "{told}");
    assert_eq!(begin(&scene, &tree, "main").await, Err(RepositoryError::BranchExists("main".to_owned())));
    let told = words(begin(&scene, Path::new("relative"), "task").await);
    assert!(told.contains("no absolute path"), "{told}");
    assert_eq!(scene.state(), before);
    assert_eq!(std::fs::read_to_string(tree.join("file")).unwrap(), "in the way");
    let missing = scene.repository().begin_tree(scene.home.join("t"), "task".into(), "none".into()).await;
    assert_eq!(missing, Err(RepositoryError::NoBranch("none".to_owned())));
    let empty = Scene::empty();
    assert_eq!(begin(&empty, &empty.home.join("t"), "task").await, Err(RepositoryError::Empty));
}

#[tokio::test]
async fn a_tree_whose_directory_is_gone_can_be_taken_away() {
    let scene = Scene::new();
    let tree = scene.home.join("tree");
    begin(&scene, &tree, "task").await.unwrap();
    std::fs::remove_dir_all(&tree).unwrap();
    drop_tree(&scene, &tree, false).await.unwrap();
    scene.repository().drop_branch("task".to_owned()).await.unwrap();
}

#[tokio::test]
async fn a_tree_that_git_was_killed_while_making_is_told_and_can_be_forced_away() {
    let scene = Scene::new();
    let tree = scene.home.join("tree");
    begin(&scene, &tree, "task").await.unwrap();
    // As git leaves it in that moment.
    scene.write(".git/worktrees/tree/locked", "initializing");
    assert_eq!(begin(&scene, &tree, "task").await, Err(RepositoryError::BranchExists("task".to_owned())));
    let told = words(drop_tree(&scene, &tree, false).await);
    assert!(told.contains("initializing"), "{told}");
    drop_tree(&scene, &tree, true).await.unwrap();
    scene.repository().drop_branch("task".to_owned()).await.unwrap();
    begin(&scene, &tree, "task").await.unwrap();
}

#[tokio::test]
async fn trees_have_checkpoints_at_the_same_time() {
    let scene = Scene::new();
    let repository = scene.repository();
    let trees: Vec<_> = (0..4).map(|number| scene.home.join(format!("tree-{number}"))).collect();
    for (number, tree) in trees.iter().enumerate() {
        begin(&scene, tree, &format!("task/{number}")).await.unwrap();
        std::fs::write(tree.join("new.txt"), number.to_string()).unwrap();
    }
    let make = async |number: usize| {
        repository.checkpoint(&trees[number], format!("Work {number}"), format!("m/{number}/1")).await
    };
    let (one, two, three, four) = tokio::join!(make(0), make(1), make(2), make(3));
    for (number, commit) in [one, two, three, four].into_iter().enumerate() {
        assert_eq!(scene.git(&["rev-parse", &format!("task/{number}")]), commit.unwrap().0);
    }
    assert_eq!(scene.git(&["tag"]), "m/0/1\nm/1/1\nm/2/1\nm/3/1");
}
