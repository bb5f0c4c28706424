//! Branches: where work begins, going to them, taking them away.

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, words};

async fn begin(scene: &Scene, branch: &str, base: &str) -> Result<(), RepositoryError> {
    scene.repository().begin_branch(&scene.repo, branch.to_owned(), base.to_owned()).await
}

async fn switch(scene: &Scene, branch: &str) -> Result<(), RepositoryError> {
    scene.repository().switch(&scene.repo, branch.to_owned()).await
}

#[tokio::test]
async fn the_base_is_the_most_usual_branch_ours_before_theirs() {
    let scene = Scene::new();
    let base = async || scene.repository().base().await;
    scene.git(&["branch", "master"]);
    scene.git(&["branch", "develop"]);
    assert_eq!(base().await.unwrap(), "main");
    scene.git(&["switch", "-q", "-c", "zebra"]);
    scene.git(&["branch", "-q", "-D", "main"]);
    assert_eq!(base().await.unwrap(), "master");
    scene.git(&["branch", "-q", "-D", "master"]);
    assert_eq!(base().await.unwrap(), "develop");
    scene.git(&["branch", "-q", "-D", "develop"]);
    scene.git(&["branch", "ape"]);
    assert_eq!(base().await.unwrap(), "ape");
    scene.git(&["update-ref", "refs/remotes/origin/HEAD", "HEAD"]);
    scene.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert_eq!(base().await.unwrap(), "main");
    assert_eq!(Scene::empty().repository().base().await, Err(RepositoryError::Empty));
}

#[tokio::test]
async fn where_branches_are_and_would_begin_is_told() {
    let scene = Scene::new();
    let (repository, head) = (scene.repository(), scene.head());
    let newest = async |branch: &str| repository.newest(branch.to_owned()).await.unwrap();
    assert_eq!(newest("main").await, Some(head.clone()));
    for none in ["gone", "-x", "a..b"] {
        assert_eq!(newest(none).await, None, "{none}");
    }
    scene.git(&["update-ref", "refs/remotes/origin/theirs", "HEAD"]);
    assert_eq!(newest("theirs").await, None, "what only the remote has is no branch of ours");
    for base in ["main", "theirs"] {
        assert_eq!(repository.beginning(base.to_owned()).await.unwrap(), head, "{base}");
    }
    assert_eq!(
        repository.beginning("gone".to_owned()).await,
        Err(RepositoryError::NoBranch("gone".to_owned()))
    );
}

#[tokio::test]
async fn what_no_commit_holds_is_thrown_away_on_one_branch_only() {
    let scene = Scene::new();
    let repository = scene.repository();
    let discard = async |branch: &str| repository.discard(&scene.repo, branch.to_owned()).await;
    scene.write(".gitignore", "kept.log\n");
    scene.write("gone.txt", "gone");
    scene.commit("More");
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("a.txt", "changed");
    scene.write("new/deep.txt", "new");
    scene.write("staged.txt", "staged");
    scene.git(&["add", "staged.txt"]);
    scene.write("kept.log", "kept");
    std::fs::remove_file(scene.repo.join("gone.txt")).unwrap();
    let moved = discard("main").await.unwrap_err();
    assert_eq!(moved.to_string(), "the branch `main` is not where it was left: the tree is on `task`");
    assert!(scene.has("new/deep.txt"), "nothing is lost by a mistake");
    discard("task").await.unwrap();
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    assert!(scene.has("gone.txt") && scene.has("kept.log") && !scene.has("new") && !scene.has("staged.txt"));
    discard("task").await.unwrap();
}

#[tokio::test]
async fn a_branch_begins_at_its_base_wherever_the_tree_is() {
    let scene = Scene::new();
    let base = scene.head();
    scene.git(&["switch", "-q", "-c", "other"]);
    scene.write("b.txt", "x");
    scene.commit("Elsewhere");
    begin(&scene, "task/1--first", "main").await.unwrap();
    assert_eq!(scene.git(&["branch", "--show-current"]), "task/1--first");
    assert_eq!((scene.head(), scene.has("b.txt")), (base.clone(), false));
    // A base that only the remote has.
    scene.git(&["update-ref", "refs/remotes/origin/theirs", "other"]);
    begin(&scene, "second", "theirs").await.unwrap();
    assert!(scene.has("b.txt"));
    let (tracks, _) = scene.try_git(&scene.repo, &["config", "branch.second.merge"]);
    assert!(!tracks, "it follows nothing");
}

#[tokio::test]
async fn a_branch_does_not_begin_where_it_cannot() {
    let scene = Scene::new();
    scene.git(&["branch", "taken"]);
    let before = scene.state();
    assert_eq!(begin(&scene, "taken", "main").await, Err(RepositoryError::BranchExists("taken".to_owned())));
    assert_eq!(begin(&scene, "new", "none").await, Err(RepositoryError::NoBranch("none".to_owned())));
    assert_eq!(begin(&scene, "new", "a..b").await, Err(RepositoryError::NoBranch("a..b".to_owned())));
    for name in ["", "-x", "a..b", "a b", "HEAD", "x.lock", "a\nb", "a\0b", "@{-1}", "/x", "x/"] {
        let told = words(begin(&scene, name, "main").await);
        assert!(told.contains("is no name for a branch"), "{name:?}: {told}");
    }
    let told = words(begin(&scene, "taken/below", "main").await);
    assert!(told.contains("taken"), "{told}");
    scene.write("a.txt", "changed\n");
    assert_eq!(begin(&scene, "new", "main").await, Err(RepositoryError::Dirty(vec!["a.txt".to_owned()])));
    scene.write("a.txt", "one\n");
    assert_eq!(scene.state(), before);
    assert_eq!(begin(&Scene::empty(), "new", "main").await, Err(RepositoryError::Empty));
}

#[tokio::test]
async fn what_somebody_began_with_git_is_finished_first() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "other"]);
    scene.write("b.txt", "x");
    scene.commit("Other");
    scene.git(&["switch", "-q", "main"]);
    scene.git(&["merge", "-q", "--no-ff", "--no-commit", "other"]);
    for told in [
        words(begin(&scene, "new", "main").await),
        words(switch(&scene, "other").await),
        words(scene.checkpoint("m").await),
        words(scene.merge("other", "main", false).await),
    ] {
        assert!(told.contains("a merge is not finished"), "{told}");
    }
}

#[tokio::test]
async fn a_tree_goes_to_a_branch_that_is_there() {
    let scene = Scene::new();
    scene.git(&["branch", "other"]);
    // A mark of the same name is something else.
    scene.git(&["tag", "other", "HEAD"]);
    switch(&scene, "other").await.unwrap();
    assert_eq!(scene.git(&["branch", "--show-current"]), "other");
    scene.git(&["update-ref", "refs/remotes/origin/theirs", "HEAD"]);
    for none in ["none", "theirs", "-", "@{-1}", "HEAD~1"] {
        assert_eq!(switch(&scene, none).await, Err(RepositoryError::NoBranch(none.to_owned())));
    }
    scene.write("new.txt", "x");
    assert_eq!(switch(&scene, "main").await, Err(RepositoryError::Dirty(vec!["new.txt".to_owned()])));
}

#[tokio::test]
async fn an_ignored_file_is_not_overwritten_by_going_to_a_branch() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "other"]);
    scene.write("settings.local", "of the branch");
    scene.commit("Settings");
    scene.git(&["switch", "-q", "main"]);
    scene.write(".git/info/exclude", "*.local\n");
    scene.write("settings.local", "mine");
    let told = words(switch(&scene, "other").await);
    assert!(told.contains("settings.local"), "{told}");
    assert_eq!(scene.read("settings.local"), "mine");
}

#[tokio::test]
async fn a_branch_that_no_tree_is_on_is_taken_away_whatever_it_holds() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("b.txt", "x");
    scene.commit("Work");
    let drop = async |branch: &str| scene.repository().drop_branch(branch.to_owned()).await;
    let told = words(drop("task").await);
    assert!(told.contains("task"), "{told}");
    scene.git(&["switch", "-q", "main"]);
    drop("task").await.unwrap();
    assert_eq!(drop("task").await, Err(RepositoryError::NoBranch("task".to_owned())));
    assert_eq!(drop("-f").await, Err(RepositoryError::NoBranch("-f".to_owned())));
    assert_eq!(scene.git(&["branch", "--format=%(refname:short)"]), "main");
}
