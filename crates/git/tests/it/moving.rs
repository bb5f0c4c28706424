//! Going back and forth between checkpoints, and what changed between them.

use loggia_domain::{Commit, Repository, RepositoryError};

use crate::support::{Scene, words};

/// A scene on `task` with two checkpoints.
async fn scene() -> (Scene, Commit, Commit) {
    let scene = Scene::new();
    scene.git(&["switch", "-q", "-c", "task"]);
    let first = scene.checkpoint("m/1").await.unwrap();
    scene.write("a.txt", "two\n");
    scene.write("dir/b.txt", "b\n");
    let second = scene.checkpoint("m/2").await.unwrap();
    (scene, first, second)
}

async fn move_to(scene: &Scene, branch: &str, from: &Commit, to: &Commit) -> Result<(), RepositoryError> {
    scene.repository().move_to(&scene.repo, branch.to_owned(), from.clone(), to.clone()).await
}

#[tokio::test]
async fn a_tree_goes_back_and_forth() {
    let (scene, first, second) = scene().await;
    move_to(&scene, "task", &second, &first).await.unwrap();
    assert_eq!(
        (scene.head(), scene.read("a.txt"), scene.has("dir")),
        (first.clone(), "one\n".to_owned(), false)
    );
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    move_to(&scene, "task", &first, &second).await.unwrap();
    assert_eq!((scene.head(), scene.read("dir/b.txt")), (second, "b\n".to_owned()));
    assert_eq!(scene.git(&["rev-parse", "main"]), first.0, "no other branch moves");
}

#[tokio::test]
async fn nothing_moves_that_is_not_where_it_was_left() {
    let (scene, first, second) = scene().await;
    let before = scene.state();
    let told = words(move_to(&scene, "main", &second, &first).await);
    assert_eq!(told, "the branch `main` is not where it was left: the tree is on `task`");
    let told = words(move_to(&scene, "task", &first, &second).await);
    assert!(told.contains(&format!("its newest commit is {}", second.0)), "{told}");
    scene.git(&["switch", "-q", "--detach"]);
    let told = words(move_to(&scene, "task", &second, &first).await);
    assert!(told.contains("the tree is on no branch"), "{told}");
    scene.git(&["switch", "-q", "task"]);
    let none = Commit("0123456789012345678901234567890123456789".to_owned());
    let told = words(move_to(&scene, "task", &second, &none).await);
    assert!(told.contains("there is no commit 0123"), "{told}");
    for odd in ["", "HEAD", "--reset", "main"] {
        let told = words(move_to(&scene, "task", &second, &Commit(odd.to_owned())).await);
        assert!(told.contains("names no commit"), "{told}");
    }
    scene.write("dir/b.txt", "changed\n");
    let dirty = Err(RepositoryError::Dirty(vec!["dir/b.txt".to_owned()]));
    assert_eq!(move_to(&scene, "task", &second, &first).await, dirty);
    scene.write("dir/b.txt", "b\n");
    assert_eq!(scene.state(), before);
}

#[tokio::test]
async fn files_that_git_does_not_know_are_not_overwritten() {
    let (scene, first, second) = scene().await;
    move_to(&scene, "task", &second, &first).await.unwrap();
    scene.write(".git/info/exclude", "dir\n");
    // In its place, and on the way to it.
    for mine in ["dir/b.txt", "dir"] {
        scene.write(mine, "mine");
        let before = scene.state();
        let in_the_way = Err(RepositoryError::Dirty(vec![mine.to_owned()]));
        assert_eq!(move_to(&scene, "task", &first, &second).await, in_the_way);
        assert_eq!((scene.state(), scene.read(mine)), (before, "mine".to_owned()));
        std::fs::remove_file(scene.repo.join(mine)).unwrap();
        let _ = std::fs::remove_dir(scene.repo.join("dir"));
    }
    // A directory where a file is to be.
    scene.write("dir/b.txt/mine", "mine");
    let in_the_way = Err(RepositoryError::Dirty(vec!["dir/b.txt".to_owned()]));
    assert_eq!(move_to(&scene, "task", &first, &second).await, in_the_way);
    std::fs::remove_dir_all(scene.repo.join("dir")).unwrap();
    move_to(&scene, "task", &first, &second).await.unwrap();
}

#[tokio::test]
async fn a_file_and_a_directory_change_places() {
    let (scene, _, second) = scene().await;
    std::fs::remove_dir_all(scene.repo.join("dir")).unwrap();
    scene.write("dir", "a file now");
    std::fs::remove_file(scene.repo.join("a.txt")).unwrap();
    scene.write("a.txt/deep", "a directory now");
    let third = scene.checkpoint("m/3").await.unwrap();
    move_to(&scene, "task", &third, &second).await.unwrap();
    assert_eq!((scene.read("dir/b.txt"), scene.read("a.txt")), ("b\n".to_owned(), "two\n".to_owned()));
    move_to(&scene, "task", &second, &third).await.unwrap();
    assert_eq!((scene.read("dir"), scene.read("a.txt/deep")).0, "a file now");
}

#[tokio::test]
async fn a_move_that_was_cut_off_after_its_files_goes_on() {
    let (scene, first, second) = scene().await;
    // What a crash in that moment leaves.
    scene.git(&["read-tree", "-m", "-u", &second.0, &first.0]);
    assert_ne!(scene.git(&["status", "--porcelain"]), "");
    move_to(&scene, "task", &second, &first).await.unwrap();
    assert_eq!((scene.head(), scene.git(&["status", "--porcelain"])), (first.clone(), String::new()));
    // With somebody's work besides it is left alone.
    scene.git(&["read-tree", "-m", "-u", &first.0, &second.0]);
    scene.write("new.txt", "mine");
    let end = move_to(&scene, "task", &first, &second).await;
    assert!(matches!(end, Err(RepositoryError::Dirty(_))), "{end:?}");
    assert_eq!(scene.read("new.txt"), "mine");
}

#[tokio::test]
async fn what_changed_is_a_unified_diff() {
    let (scene, first, second) = scene().await;
    scene.git(&["config", "--global", "diff.noprefix", "true"]);
    scene.git(&["config", "--global", "color.ui", "always"]);
    let changes =
        async |limit| scene.repository().changes(first.clone(), second.clone(), limit).await.unwrap();
    let whole = changes(10_000).await;
    assert!(whole.starts_with("diff --git a/a.txt b/a.txt\n"), "{whole}");
    assert!(whole.contains("\n-one\n+two\n") && whole.contains("+++ b/dir/b.txt\n"), "{whole}");
    let cut = changes(100).await;
    assert!(cut.len() <= 100 && cut.ends_with("... the rest of the changes is left out\n"), "{cut}");
    assert_eq!(changes(0).await, "");
    let told = words(scene.repository().changes(Commit("--output=x".into()), second.clone(), 100).await);
    assert!(told.contains("names no commit"), "{told}");
}

#[tokio::test]
async fn a_diff_of_bytes_that_are_no_text_stays_within_its_limit() {
    let (scene, first, _) = scene().await;
    std::fs::write(scene.repo.join("a.txt"), [b"\xff\xfe\xfd\n".as_slice(); 200].concat()).unwrap();
    std::fs::write(scene.repo.join("binary"), b"\0\x01").unwrap();
    let third = scene.checkpoint("m/3").await.unwrap();
    let text = scene.repository().changes(first, third, 2000).await.unwrap();
    assert!(text.len() <= 2000 && text.contains("\u{fffd}"), "{text}");
}
