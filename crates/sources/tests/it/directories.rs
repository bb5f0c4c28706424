//! Directories as tasks, and as lists of them.

use loggia_domain::{GuestError, TaskProvider, WorkQuery};
use loggia_sources::{Reach, browsing};

use crate::support::Scene;

#[tokio::test]
async fn a_readme_speaks_for_its_directory() {
    let scene = Scene::new();
    scene.write("task/Readme.MD", "---\nkey: X-2\n---\n# Rewrite it\n");
    scene.write("task/notes.txt", "notes");
    scene.write("task/index.md", "# Not me\n");
    let item = scene.fetch("directory", "dir:task").await.unwrap();
    assert_eq!(
        (item.key.as_str(), item.title.as_str(), item.label.as_deref()),
        ("task", "Rewrite it", Some("X-2"))
    );
    assert_eq!(item.more.0, r#"{"key":"X-2","files":["Readme.MD","index.md","notes.txt"]}"#);
    let kept = scene.provider("directory").snapshot("task".to_owned()).await.unwrap();
    assert_eq!(kept, "---\nkey: X-2\n---\n# Rewrite it\n");
}

#[tokio::test]
async fn a_directory_without_one_is_all_its_texts_in_order() {
    let scene = Scene::new();
    scene.write("task/2.txt", "second\n\n");
    scene.write("task/1.md", "first");
    scene.write("task/picture.png", b"\x89PNG\0");
    scene.write("task/.hidden", "hidden");
    scene.write("task/below/3.md", "not here");
    let item = scene.fetch("directory", "task").await.unwrap();
    assert_eq!(item.title, "task");
    let expected = "## 1.md\n\nfirst\n\n## 2.txt\n\nsecond\n\n(1 more are left out: no texts, or too much)\n";
    assert_eq!(item.description, expected);
    // The root itself is called as the workspace is.
    scene.write("x.txt", "x");
    let item = scene.fetch("directory", "dir:").await.unwrap();
    assert_eq!((item.key.as_str(), item.title.as_str()), (".", "work"));
}

#[tokio::test]
async fn too_many_texts_are_left_out_and_counted() {
    let scene = Scene::new();
    for number in 0..210 {
        scene.write(&format!("many/{number:03}.md"), "x");
    }
    let text = scene.fetch("directory", "dir:many").await.unwrap().description;
    assert!(text.contains("## 199.md") && !text.contains("## 200.md"));
    assert!(text.ends_with("(10 more are left out: no texts, or too much)\n"));
    for number in 0..3 {
        scene.write(&format!("large/{number}.md"), vec![b'x'; 500 * 1024]);
    }
    let text = scene.fetch("directory", "dir:large").await.unwrap().description;
    assert!(text.len() <= 1024 * 1024 + 1024 && text.contains("(1 more"), "{}", text.len());
}

#[tokio::test]
async fn a_directory_that_says_nothing_is_told() {
    let scene = Scene::new();
    std::fs::create_dir(scene.root.join("empty")).unwrap();
    scene.write("file.md", "x");
    for (reference, expected) in [
        ("dir:empty", "`empty` has neither a README nor any text in it"),
        ("dir:file.md", "`file.md` is a file: give it as `file:file.md`"),
    ] {
        let end = scene.fetch("directory", reference).await;
        assert_eq!(end, Err(GuestError::Refused(expected.to_owned())));
    }
    let end = scene.fetch("directory", "dir:none").await;
    assert_eq!(end, Err(GuestError::NotFound("there is no directory `none`".to_owned())));
    scene.write("broken/README.md", "---\nlabels: {}\n---\n");
    let end = scene.fetch("directory", "dir:broken").await;
    assert!(
        matches!(&end, Err(GuestError::Refused(told)) if told.starts_with("`broken/README.md`: `labels`")),
        "{end:?}"
    );
}

#[tokio::test]
async fn files_are_listed_page_by_page_and_by_what_they_say() {
    let scene = Scene::new();
    for (name, status, labels) in
        [("a", "open", "x"), ("b", "done", "x, y"), ("c", "open", "y"), ("d", "open", "x")]
    {
        scene.write(
            &format!("todo/{name}.md"),
            format!("---\nstatus: {status}\nlabels: {labels}\n---\n# {name}!\n"),
        );
    }
    scene.write("todo/e.txt", "---\nlabels: {}\n---\n");
    scene.write("todo/picture.png", "no task");
    let provider = browsing(&scene.root, Reach::Workspace, "todo").unwrap();
    let list = async |query: WorkQuery| {
        let page = provider.list(query).await.unwrap();
        (page.items.iter().map(|item| item.title.clone()).collect::<Vec<_>>().join(" "), page.next)
    };
    let all = list(WorkQuery::default()).await;
    assert_eq!(all, ("a! b! c! d! e.txt".to_owned(), None));
    let first = WorkQuery { limit: 2, ..WorkQuery::default() };
    assert_eq!(list(first.clone()).await, ("a! b!".to_owned(), Some("b.md".to_owned())));
    let second = WorkQuery { cursor: Some("b.md".to_owned()), ..first.clone() };
    assert_eq!(list(second).await, ("c! d!".to_owned(), Some("d.md".to_owned())));
    let last = WorkQuery { cursor: Some("d.md".to_owned()), ..first };
    assert_eq!(list(last).await, ("e.txt".to_owned(), None));
    let open =
        WorkQuery { status: Some("open".to_owned()), tags: vec!["x".to_owned()], ..WorkQuery::default() };
    assert_eq!(list(open).await, ("a! d!".to_owned(), None));
    // What a list names can be fetched; what is wrong with a file is in its item.
    let item = provider.list(WorkQuery::default()).await.unwrap().items.remove(4);
    assert!(item.more.0.contains("must be a list of words"), "{}", item.more.0);
    let item = provider.fetch("todo/a.md".to_owned()).await.unwrap();
    assert_eq!((item.title.as_str(), item.provider.as_deref()), ("a!", Some("directory")));
    assert!(provider.snapshot("todo/a.md".to_owned()).await.unwrap().starts_with("---"));
}

#[tokio::test]
async fn a_directory_that_is_not_there_lists_nothing() {
    let scene = Scene::new();
    let provider = browsing(&scene.root, Reach::Workspace, "none").unwrap();
    let end = TaskProvider::list(&*provider, WorkQuery::default()).await;
    assert!(matches!(end, Err(GuestError::NotFound(_))), "{end:?}");
    assert!(browsing(&scene.root, Reach::Workspace, "../outside").is_err());
}
