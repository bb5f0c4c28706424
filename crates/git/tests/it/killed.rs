//! Gits that are killed, stopped or in somebody's way.
//!
//! A filter of the user's own holds git up in a moment of our choice: it tells who runs it, and waits.

use std::path::PathBuf;
use std::time::Duration;

use loggia_domain::{Repository, RepositoryError};

use crate::support::{Scene, eventually, words};

/// A filter that tells git's process and waits until somebody writes into a pipe, which nobody does.
fn hold_up(scene: &Scene, program: &str) {
    let home = scene.home.display();
    let held = format!(
        "echo $PPID > '{home}/pid.new'; mv '{home}/pid.new' '{home}/pid'; read x < '{home}/pipe'; cat"
    );
    scene.git(&["config", "--global", &format!("filter.slow.{program}"), &held]);
    make_pipe(&scene.home.join("pipe"));
    scene.write(".gitattributes", "*.slow filter=slow\n");
}

#[expect(clippy::disallowed_methods, reason = "makes one file")]
fn make_pipe(path: &std::path::Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn pid_file(scene: &Scene) -> PathBuf {
    scene.home.join("pid")
}

/// Waits until git is held up, and kills it.
#[expect(clippy::disallowed_methods, reason = "ends one process, by its number")]
async fn kill(scene: &Scene) {
    eventually("git is held up", || pid_file(scene).exists()).await;
    let pid = std::fs::read_to_string(pid_file(scene)).unwrap();
    assert!(std::process::Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
}

#[tokio::test]
async fn a_checkpoint_whose_git_is_killed_leaves_a_lock_that_is_told() {
    let scene = Scene::new();
    hold_up(&scene, "clean");
    scene.commit("Attributes");
    let head = scene.head();
    scene.write("b.slow", "b\n");
    let (end, ()) = tokio::join!(scene.checkpoint("m"), kill(&scene));
    let told = words(end);
    assert!(told.contains("killed at work (signal 9"), "{told}");
    // Nothing was committed, nothing lost; the lock is told with what to do.
    assert_eq!((scene.head(), scene.git(&["tag"])), (head, String::new()));
    assert_eq!(scene.read("b.slow"), "b\n");
    scene.git(&["config", "--global", "filter.slow.clean", "cat"]);
    let told = words(scene.checkpoint("m").await);
    assert!(told.contains("index.lock` is there") && told.contains("remove that file"), "{told}");
    std::fs::remove_file(scene.repo.join(".git/index.lock")).unwrap();
    let commit = scene.checkpoint("m").await.unwrap();
    assert_eq!((scene.head(), scene.git(&["status", "--porcelain"])), (commit, String::new()));
}

#[tokio::test]
async fn a_merge_whose_git_is_killed_while_it_goes_to_the_result_is_recognised() {
    let scene = Scene::new();
    scene.write(".gitattributes", "*.slow filter=slow\n");
    scene.commit("Attributes");
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("a.txt", "theirs\n");
    scene.write("b.slow", "b\n");
    scene.commit("Work");
    scene.git(&["switch", "-q", "main"]);
    let main = scene.head();
    hold_up(&scene, "smudge");
    let (end, ()) = tokio::join!(scene.merge("task", "main", false), kill(&scene));
    let told = words(end);
    assert!(told.contains("killed at work"), "{told}");
    assert_eq!(scene.git(&["rev-parse", "main"]), main.0, "the branch is where it was");
    assert!(!scene.has(".git/MERGE_HEAD"));
    // What it left is told, one thing after the other.
    scene.git(&["config", "--global", "filter.slow.smudge", "cat"]);
    let told = words(scene.merge("task", "main", false).await);
    assert!(told.contains("changes that are not committed") || told.contains("index.lock"), "{told}");
    std::fs::remove_file(scene.repo.join(".git/index.lock")).unwrap();
    scene.git(&["reset", "-q", "--hard"]);
    scene.git(&["clean", "-q", "-f"]);
    scene.merge("task", "main", false).await.unwrap();
    assert_eq!(scene.read("b.slow"), "b\n");
}

#[tokio::test]
async fn a_merge_whose_git_is_killed_while_it_compares_leaves_nothing_but_its_drivers_files() {
    let scene = Scene::new();
    scene.write(".gitattributes", "a.txt merge=slow\n");
    scene.commit("Attributes");
    let home = scene.home.display();
    let held =
        format!("echo $PPID > '{home}/pid.new'; mv '{home}/pid.new' '{home}/pid'; read x < '{home}/pipe'");
    scene.git(&["config", "--global", "merge.slow.driver", &held]);
    make_pipe(&scene.home.join("pipe"));
    scene.git(&["switch", "-q", "-c", "task"]);
    scene.write("a.txt", "theirs\n");
    scene.commit("Theirs");
    scene.git(&["switch", "-q", "main"]);
    scene.write("a.txt", "ours\n");
    scene.commit("Ours");
    scene.git(&["switch", "-q", "task"]);
    let before = scene.state();
    let (end, ()) = tokio::join!(scene.merge("task", "main", false), kill(&scene));
    assert!(words(end).contains("killed at work"));
    // What git made for the driver is told by its name, and is nobody's.
    let Err(RepositoryError::Dirty(left)) = scene.merge("task", "main", false).await else {
        panic!("its files are there")
    };
    for file in left {
        assert!(file.starts_with(".merge_file_"), "{file}");
        std::fs::remove_file(scene.repo.join(file)).unwrap();
    }
    assert_eq!(scene.state(), before);
}

#[tokio::test]
async fn a_future_that_is_dropped_ends_git_and_leaves_no_lock() {
    let scene = Scene::new();
    hold_up(&scene, "clean");
    scene.commit("Attributes");
    scene.write("b.slow", "b\n");
    {
        let checkpoint = scene.checkpoint("m");
        tokio::select! {
            end = checkpoint => panic!("it is held up: {end:?}"),
            () = eventually("git is held up", || pid_file(&scene).exists()) => {}
        }
    }
    let pid = std::fs::read_to_string(pid_file(&scene)).unwrap();
    let process = PathBuf::from(format!("/proc/{}", pid.trim()));
    eventually("git ends", || !process.exists()).await;
    assert!(!scene.has(".git/index.lock"));
}

#[tokio::test]
async fn a_git_that_takes_too_long_is_ended_and_leaves_no_lock() {
    let mut scene = Scene::new();
    hold_up(&scene, "clean");
    scene.commit("Attributes");
    scene.write("b.slow", "b\n");
    scene.limits.change = Duration::from_secs(2);
    assert_eq!(scene.checkpoint("m").await, Err(RepositoryError::TimedOut("git update-index".to_owned())));
    assert!(!scene.has(".git/index.lock"));
    scene.git(&["config", "--global", "filter.slow.clean", "cat"]);
    scene.limits = loggia_git::Limits::default();
    scene.checkpoint("m").await.unwrap();
}

#[tokio::test]
async fn a_lock_that_goes_is_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    let mut scene = Scene::new();
    scene.limits.locked = crate::support::PATIENCE;
    scene.write("a.txt", "two\n");
    scene.write(".git/index.lock", "");
    // A git that tells when it has met the lock.
    let own = scene.home.join("bin");
    std::fs::create_dir(&own).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nPATH='{path}' git \"$@\" && exit\nend=$?\n\
         case \"$*\" in *update-index*) touch \"$HOME/met\";; esac\nexit $end\n"
    );
    std::fs::write(own.join("git"), script).unwrap();
    std::fs::set_permissions(own.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{path}", own.display());
    let environment = vec![("PATH".into(), path.into()), ("HOME".into(), scene.home.clone().into())];
    let repository = scene.repository_in(environment, &scene.repo);
    let checkpoint = repository.checkpoint(&scene.repo, "x".to_owned(), "m".to_owned());
    let unlock = async {
        eventually("git meets the lock", || scene.home.join("met").exists()).await;
        std::fs::remove_file(scene.repo.join(".git/index.lock")).unwrap();
    };
    let (end, ()) = tokio::join!(checkpoint, unlock);
    assert_eq!(end.unwrap(), scene.head());
}

#[tokio::test]
async fn every_change_of_a_locked_tree_says_so() {
    let scene = Scene::new();
    scene.git(&["branch", "other"]);
    scene.write(".git/index.lock", "");
    let repository = scene.repository();
    repository.standing(&scene.repo).await.unwrap();
    scene.write("a.txt", "two\n");
    let told = words(scene.checkpoint("m").await);
    scene.write("a.txt", "one\n");
    for told in [
        told,
        words(repository.begin_branch(&scene.repo, "new".into(), "main".into()).await),
        words(repository.switch(&scene.repo, "other".into()).await),
    ] {
        assert!(told.contains("index.lock` is there"), "{told}");
    }
    assert_eq!(scene.git(&["branch", "--format=%(refname:short)"]), "main\nother");
    // So does a branch that is locked; what changed is in the index then, and is not lost.
    std::fs::remove_file(scene.repo.join(".git/index.lock")).unwrap();
    scene.write(".git/refs/heads/main.lock", "");
    scene.write("a.txt", "two\n");
    let head = scene.head();
    let told = words(scene.checkpoint("m").await);
    assert!(told.contains("main.lock` is there"), "{told}");
    assert_eq!((scene.head(), scene.git(&["tag"])), (head, String::new()));
    std::fs::remove_file(scene.repo.join(".git/refs/heads/main.lock")).unwrap();
    assert_eq!(scene.checkpoint("m").await.unwrap(), scene.head());
    assert_eq!(scene.git(&["show", "HEAD:a.txt"]), "two");
}

#[tokio::test]
async fn a_tree_whose_git_is_killed_while_making_it_can_be_forced_away() {
    let scene = Scene::new();
    scene.write("b.slow", "b\n");
    hold_up(&scene, "smudge");
    scene.commit("Attributes");
    let tree = scene.home.join("tree");
    let repository = scene.repository();
    let begin = repository.begin_tree(tree.clone(), "task".into(), "main".into());
    // It is the checkout inside that is killed; git itself then cleans up as far as it gets.
    let (end, ()) = tokio::join!(begin, kill(&scene));
    words(end);
    scene.git(&["config", "--global", "filter.slow.smudge", "cat"]);
    repository.drop_tree(tree.clone(), true).await.unwrap();
    let _ = repository.drop_branch("task".into()).await;
    repository.begin_tree(tree.clone(), "task".into(), "main".into()).await.unwrap();
    assert!(tree.join("b.slow").exists());
}
