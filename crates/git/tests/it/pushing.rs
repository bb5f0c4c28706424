//! Sending a branch.

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, words};

/// A scene with a bare repository as its origin, on `task`.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.git_in(&scene.home, &["clone", "-q", "--bare", "repo", "origin.git"]);
    let origin = scene.home.join("origin.git");
    scene.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("b.txt", "b\n");
    scene.commit("Work");
    scene
}

async fn push(scene: &Scene, branch: &str) -> Result<(), RepositoryError> {
    scene.repository().push(branch.to_owned()).await
}

fn at_origin(scene: &Scene) -> String {
    scene.git_in(&scene.home.join("origin.git"), &["for-each-ref", "--format=%(refname)"])
}

#[tokio::test]
async fn that_branch_is_sent_and_nothing_else() {
    let scene = scene();
    scene.git(&["branch", "other"]);
    scene.git(&["tag", "-a", "-m", "tag", "tagged"]);
    scene.git(&["config", "push.followTags", "true"]);
    scene.git(&["config", "remote.origin.mirror", "true"]);
    scene.git(&["config", "remote.origin.push", "refs/heads/*:refs/heads/*"]);
    push(&scene, "task").await.unwrap();
    assert_eq!(at_origin(&scene), "refs/heads/main\nrefs/heads/task");
}

#[tokio::test]
async fn what_cannot_be_sent_is_told() {
    let scene = scene();
    assert_eq!(push(&scene, "none").await, Err(RepositoryError::NoBranch("none".to_owned())));
    push(&scene, "task").await.unwrap();
    scene.git(&["commit", "-q", "--amend", "-m", "Other work"]);
    let told = words(push(&scene, "task").await);
    assert!(told.contains("the remote refused the branch"), "{told}");
    scene.git(&["remote", "set-url", "origin", scene.home.join("nowhere").to_str().unwrap()]);
    let told = words(push(&scene, "task").await);
    assert!(told.contains("nowhere"), "{told}");
    scene.git(&["remote", "remove", "origin"]);
    let told = words(push(&scene, "task").await);
    assert!(told.contains("git remote add origin URL"), "{told}");
}
