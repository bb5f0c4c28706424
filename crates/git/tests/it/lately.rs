//! What the last commits changed.

use loggia_domain::{Repository, RepositoryError};

use crate::support::Scene;

async fn lately(scene: &Scene, directory: &str, commits: usize) -> String {
    let repository = scene.repository_at(&scene.repo.join(directory));
    let changes = repository.lately(commits).await.unwrap();
    let shown = changes.iter().map(|change| format!("{}: {}", change.subject, change.files.join(" ")));
    shown.collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn what_the_last_commits_changed_is_told_the_latest_first() {
    let scene = Scene::new();
    scene.write("src/b.txt", "b\n");
    scene.commit("Second");
    scene.write("a.txt", "two\n");
    scene.write("src/gone.txt", "x\n");
    scene.commit("Third");
    std::fs::remove_file(scene.repo.join("src/gone.txt")).unwrap();
    scene.write("src/b.txt", "c\n");
    scene.write("src/é ü.txt", "c\n");
    scene.commit("Fourth");
    // What is not committed is nobody's news.
    scene.write("new.txt", "n\n");
    assert_eq!(lately(&scene, "", 1).await, "Fourth: src/b.txt src/é ü.txt");
    let before = "Third: a.txt src/gone.txt; Second: src/b.txt; First: a.txt";
    assert_eq!(lately(&scene, "", 10).await, format!("Fourth: src/b.txt src/é ü.txt; {before}"));
    // As whoever works in a part of it names them.
    assert_eq!(lately(&scene, "src", 10).await, "Fourth: b.txt é ü.txt; Third: gone.txt; Second: b.txt");
}

#[tokio::test]
async fn merges_and_commits_of_very_many_files_do_not_count() {
    let scene = Scene::new();
    scene.git(&["checkout", "-q", "-b", "side"]);
    scene.write("side.txt", "s\n");
    scene.commit("Side");
    scene.git(&["checkout", "-q", "main"]);
    for number in 0..60 {
        scene.write(&format!("many/{number}.txt"), "m\n");
    }
    scene.commit("Many");
    scene.git(&["merge", "-q", "--no-ff", "-m", "Merged", "side"]);
    assert_eq!(lately(&scene, "", 10).await, "Side: side.txt; First: a.txt");
}

#[tokio::test]
async fn where_nothing_is_committed_there_is_nothing_to_tell() {
    let scene = Scene::empty();
    scene.repository().lately(10).await.unwrap_err();
    let outside = scene.repository_at(&scene.home).lately(10).await;
    assert!(matches!(outside, Err(RepositoryError::NoRepository(_))), "{outside:?}");
}
