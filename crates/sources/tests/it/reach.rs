//! Where reading ends.

use std::os::unix::fs::symlink;

use loggia_domain::GuestError;
use loggia_sources::Reach;

use crate::support::Scene;

#[tokio::test]
async fn what_is_outside_is_read_only_by_those_who_may() {
    let scene = Scene::new();
    std::fs::write(scene.outside.join("task.md"), "# Outside\n").unwrap();
    let absolute = format!("file:{}", scene.outside.join("task.md").display());
    for reference in ["file:../outside/task.md", &absolute] {
        let end = scene.fetch("file", reference).await;
        assert!(
            matches!(&end, Err(GuestError::Refused(told)) if told.contains("outside the workspace")),
            "{end:?}"
        );
        let provider = scene.providers(Reach::Anywhere).remove(1);
        let key = provider.resolve(reference.to_owned()).await.unwrap();
        assert_eq!(key, scene.outside.join("task.md").display().to_string());
        assert_eq!(provider.fetch(key.clone()).await.unwrap().title, "Outside");
        // Its key is no way in for others.
        assert!(scene.provider("file").fetch(key).await.is_err());
    }
}

#[tokio::test]
async fn no_link_of_a_workspace_leads_outside_not_even_for_those_who_may() {
    let scene = Scene::new();
    std::fs::write(scene.outside.join("secret"), "secret").unwrap();
    symlink(scene.outside.join("secret"), scene.root.join("innocent.md")).unwrap();
    symlink(&scene.outside, scene.root.join("innocent")).unwrap();
    symlink("/dev/zero", scene.root.join("endless.md")).unwrap();
    for reach in [Reach::Workspace, Reach::Anywhere] {
        for path in ["innocent.md", "innocent/secret", "endless.md"] {
            let provider = scene.providers(reach).remove(1);
            for end in
                [provider.resolve(format!("file:{path}")).await, provider.snapshot(path.to_owned()).await]
            {
                assert!(
                    matches!(&end, Err(GuestError::Refused(told)) if told.contains("outside")),
                    "{end:?}"
                );
            }
        }
        let provider = scene.providers(reach).remove(0);
        let end = provider.resolve("dir:innocent".to_owned()).await;
        assert!(matches!(&end, Err(GuestError::Refused(_))), "{end:?}");
    }
    // It is claimed, so that whoever names it hears why.
    assert_eq!(scene.claimed("innocent.md").await, ["file"]);
    // In a directory it is left out.
    scene.write("texts.txt", "x");
    let text = scene.fetch("directory", "dir:.").await.unwrap().description;
    assert!(text.contains("## texts.txt") && !text.contains("secret"), "{text}");
}

#[tokio::test]
async fn links_that_stay_inside_are_followed() {
    let scene = Scene::new();
    scene.write("real/task.md", "# Real\n");
    symlink("real/task.md", scene.root.join("link.md")).unwrap();
    symlink("real", scene.root.join("linked")).unwrap();
    assert_eq!(scene.claimed("link.md").await, ["file"]);
    assert_eq!(scene.fetch("file", "file:link.md").await.unwrap().title, "Real");
    assert_eq!(scene.claimed("linked").await, ["directory"]);
    assert!(scene.fetch("directory", "dir:linked").await.unwrap().description.contains("# Real"));
}

#[tokio::test]
async fn a_directory_outside_is_read_without_the_links_that_leave_it() {
    let scene = Scene::new();
    std::fs::write(scene.outside.join("1.md"), "first").unwrap();
    scene.write("2.md", "second");
    symlink(scene.root.join("2.md"), scene.outside.join("2.md")).unwrap();
    let provider = scene.providers(Reach::Anywhere).remove(0);
    let item = provider.fetch(scene.outside.display().to_string()).await.unwrap();
    assert_eq!(item.description, "## 1.md\n\nfirst\n\n(1 more are left out: no texts, or too much)\n");
    assert_eq!(item.title, "outside");
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_told() {
    let scene = Scene::new();
    std::fs::remove_dir_all(&scene.root).unwrap();
    let end = scene.fetch("file", "file:x.md").await;
    assert!(matches!(&end, Err(GuestError::Refused(told)) if told.contains("does not exist")), "{end:?}");
}
