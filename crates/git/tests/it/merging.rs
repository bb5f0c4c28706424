//! Merging: what fits together, and what does not.

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, words};

/// A scene on `task`, where `b.txt` is new; `main` has gone on in `c.txt`.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("b.txt", "b\n");
    scene.commit("Work 1");
    scene.write("b.txt", "bb\n");
    scene.commit("Work 2");
    scene.git(&["switch", "-q", "main"]);
    scene.write("c.txt", "c\n");
    scene.commit("Meanwhile");
    scene.git(&["switch", "-q", "task"]);
    scene
}

#[tokio::test]
async fn a_branch_is_merged_and_the_tree_is_on_the_other_one() {
    let scene = scene();
    let [task, main] = ["task", "main"].map(|branch| scene.git(&["rev-parse", branch]));
    let merged = scene.merge("task", "main", false).await.unwrap();
    assert_eq!(scene.git(&["branch", "--show-current"]), "main");
    assert_eq!(scene.head(), merged);
    assert_eq!(scene.git(&["log", "-1", "--format=%P %s"]), format!("{main} {task} Merge task"));
    assert_eq!((scene.read("b.txt"), scene.read("c.txt")), ("bb\n".to_owned(), "c\n".to_owned()));
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    // Once more there is nothing to merge.
    assert_eq!(scene.merge("task", "main", false).await.unwrap(), merged);
    assert_eq!(scene.merge("task", "main", true).await.unwrap(), merged);
}

#[tokio::test]
async fn a_squashed_branch_is_one_commit() {
    let scene = scene();
    let main = scene.git(&["rev-parse", "main"]);
    let merged = scene.merge("task", "main", true).await.unwrap();
    assert_eq!(scene.git(&["log", "-1", "--format=%P %s"]), format!("{main} Merge task"));
    assert_eq!((scene.head(), scene.read("b.txt")), (merged.clone(), "bb\n".to_owned()));
    // Its changes are all there: there is nothing to add.
    assert_eq!(scene.merge("task", "main", true).await.unwrap(), merged);
}

#[tokio::test]
async fn also_a_branch_that_only_went_on_gets_a_commit_of_its_own() {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("b.txt", "b\n");
    let task = scene.commit("Work");
    let merged = scene.merge("task", "main", false).await.unwrap();
    assert_ne!(merged, task);
    assert_eq!(scene.git(&["rev-parse", "main^{tree}"]), scene.git(&["rev-parse", "task^{tree}"]));
}

#[tokio::test]
async fn what_does_not_fit_together_leaves_everything_as_it_was() {
    let scene = scene();
    scene.write("c.txt", "other\n");
    scene.write("line\nend", "x");
    scene.commit("Against it");
    let before = scene.state();
    for squash in [false, true] {
        let told = words(scene.merge("task", "main", squash).await);
        assert_eq!(told, "the branches do not fit together: both changed `c.txt`");
        assert_eq!(scene.state(), before);
    }
    scene.git(&["switch", "-q", "main"]);
    let before = scene.state();
    words(scene.merge("task", "main", false).await);
    assert_eq!((scene.state(), scene.read("c.txt")), (before, "c\n".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_merged_is_told() {
    let scene = scene();
    let before = scene.state();
    for (from, into, none) in [("none", "main", "none"), ("task", "-x", "-x")] {
        let end = scene.merge(from, into, false).await;
        assert_eq!(end, Err(RepositoryError::NoBranch(none.to_owned())));
    }
    scene.git(&["checkout", "-q", "--orphan", "strange"]);
    scene.git(&["commit", "-q", "-m", "From nowhere"]);
    scene.git(&["switch", "-q", "task"]);
    let told = words(scene.merge("strange", "main", false).await);
    assert!(told.contains("unrelated histories"), "{told}");
    scene.git(&["branch", "-q", "-D", "strange"]);
    scene.write("b.txt", "changed\n");
    let dirty = Err(RepositoryError::Dirty(vec!["b.txt".to_owned()]));
    assert_eq!(scene.merge("task", "main", false).await, dirty);
    scene.write("b.txt", "bb\n");
    assert_eq!(scene.state(), before);
}

#[tokio::test]
async fn a_branch_that_another_tree_is_on_is_merged_there() {
    let scene = scene();
    let other = scene.home.join("other");
    scene.git(&["worktree", "add", "-q", other.to_str().unwrap(), "main"]);
    let before = scene.state();
    let told = words(scene.merge("task", "main", false).await);
    assert!(told.contains("main"), "{told}");
    assert_eq!(scene.state(), before);
    let merge = loggia_domain::Merge {
        from: "task".to_owned(),
        into: "main".to_owned(),
        message: "Merge".to_owned(),
        squash: false,
    };
    scene.repository().merge(&other, merge).await.unwrap();
    assert!(other.join("b.txt").exists());
    assert_eq!(scene.git(&["branch", "--show-current"]), "task");
}

#[tokio::test]
async fn a_merge_whose_files_find_others_in_their_way_goes_back() {
    let scene = scene();
    scene.write("dir/settings", "of the branch");
    scene.commit("Settings");
    scene.git(&["switch", "-q", "main"]);
    scene.write(".git/info/exclude", "dir\n");
    scene.write("dir/settings", "mine");
    let before = scene.state();
    let end = scene.merge("task", "main", false).await;
    assert_eq!(end, Err(RepositoryError::Dirty(vec!["dir/settings".to_owned()])));
    assert_eq!((scene.state(), scene.read("dir/settings")), (before, "mine".to_owned()));
}
