//! Having something ignored here and nowhere else.

use loggia_domain::Repository;

use crate::support::{Scene, words};

async fn exclude(scene: &Scene, pattern: &str) {
    scene.repository().exclude(pattern.to_owned()).await.unwrap();
}

#[tokio::test]
async fn a_directory_is_ignored_once_and_what_was_there_stays() {
    let scene = Scene::new();
    std::fs::write(scene.repo.join(".git/info/exclude"), b"# mine\n*.\xff\nlast line").unwrap();
    scene.write(".loggia/tasks/x/notes.md", "x");
    exclude(&scene, ".loggia/tasks/").await;
    exclude(&scene, ".loggia/tasks/").await;
    let text = std::fs::read(scene.repo.join(".git/info/exclude")).unwrap();
    assert_eq!(text, b"# mine\n*.\xff\nlast line\n.loggia/tasks/\n");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    let left = std::fs::read_dir(scene.repo.join(".git/info")).unwrap().count();
    assert_eq!(left, 1, "no other file is left");
}

#[tokio::test]
async fn it_works_without_a_file_and_from_a_linked_tree() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.repo.join(".git/info")).unwrap();
    let linked = scene.home.join("linked");
    scene.git(&["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    scene.repository_at(&linked).exclude(".loggia/tasks/".to_owned()).await.unwrap();
    assert_eq!(scene.read(".git/info/exclude"), ".loggia/tasks/\n");
}

#[tokio::test]
async fn below_the_root_only_that_directory_is_meant() {
    let scene = Scene::new();
    let below = "deep [x]/down";
    scene.write(&format!("{below}/.loggia/tasks/notes"), "x");
    scene.write(".loggia/tasks/notes", "another workspace's");
    let repository = scene.repository_at(&scene.repo.join(below));
    repository.exclude(".loggia/tasks/".to_owned()).await.unwrap();
    assert_eq!(scene.git(&["status", "--porcelain", "-uall"]), "?? .loggia/tasks/notes");
}

#[tokio::test]
async fn a_link_is_replaced_and_what_it_leads_to_is_not_written() {
    let scene = Scene::new();
    let elsewhere = scene.home.join("elsewhere");
    std::fs::write(&elsewhere, "kept\n").unwrap();
    std::fs::remove_file(scene.repo.join(".git/info/exclude")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scene.repo.join(".git/info/exclude")).unwrap();
    exclude(&scene, ".loggia/tasks/").await;
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "kept\n");
    assert_eq!(scene.read(".git/info/exclude"), "kept\n.loggia/tasks/\n");
    std::fs::remove_dir_all(scene.repo.join(".git/info")).unwrap();
    std::os::unix::fs::symlink(&scene.home, scene.repo.join(".git/info")).unwrap();
    let told = words(scene.repository().exclude(".loggia/".to_owned()).await);
    assert!(told.contains("`info` is no directory"), "{told}");
}

#[tokio::test]
async fn what_means_something_else_is_refused() {
    let scene = Scene::new();
    for odd in ["", "a\nb", "!x", "#x", " x", "x\0", "/etc"] {
        let told = words(scene.repository().exclude(odd.to_owned()).await);
        assert!(told.contains("is nothing that can be ignored"), "{odd:?}: {told}");
    }
}
