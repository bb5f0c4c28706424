//! Files as tasks.

use loggia_domain::{GuestError, JsonText, ProviderAbility, WorkItem};

use crate::support::Scene;

#[tokio::test]
async fn a_file_with_front_matter_is_a_task() {
    let scene = Scene::new();
    let text = "---\ntitle: Fix login\nkey: X-1\ntype: bug\nlabels: [web]\n---\n# Heading\n\nWords.\n";
    scene.write("tasks/login.md", text);
    let expected = WorkItem {
        key: "tasks/login.md".to_owned(),
        label: Some("X-1".to_owned()),
        kind: Some("bug".to_owned()),
        title: "Fix login".to_owned(),
        description: "# Heading\n\nWords.\n".to_owned(),
        status: None,
        priority: None,
        tags: vec!["web".to_owned()],
        location: Some(scene.root.join("tasks/login.md").display().to_string()),
        provider: Some("file".to_owned()),
        more: JsonText(r#"{"title":"Fix login","key":"X-1","type":"bug","labels":["web"]}"#.to_owned()),
    };
    for reference in
        ["file:tasks/login.md", "tasks/login.md", "file:./tasks//login.md", "file:x/../tasks/login.md"]
    {
        assert_eq!(scene.fetch("file", reference).await.unwrap(), expected, "{reference}");
    }
    let absolute = format!("file:{}", scene.root.join("tasks/login.md").display());
    assert_eq!(scene.fetch("file", &absolute).await.unwrap(), expected);
    let kept = scene.provider("file").snapshot("tasks/login.md".to_owned()).await.unwrap();
    assert_eq!(kept, text);
}

#[tokio::test]
async fn without_words_of_its_own_a_file_is_called_by_its_name() {
    let scene = Scene::new();
    scene.write("fix login.md", "no heading");
    scene.write("Makefile", "\u{feff}all:\n");
    assert_eq!(scene.fetch("file", "file:fix login.md").await.unwrap().title, "fix login");
    let item = scene.fetch("file", "file:Makefile").await.unwrap();
    assert_eq!((item.title.as_str(), item.description.as_str()), ("Makefile", "all:\n"));
}

#[tokio::test]
async fn what_is_no_text_or_not_there_is_told() {
    let scene = Scene::new();
    scene.write("latin.md", b"caf\xe9");
    scene.write("binary.md", b"a\0b");
    scene.write("large.md", vec![b'x'; 1024 * 1024 + 1]);
    scene.write("broken.md", "---\ntitle: [x\n---\n");
    scene.write("dir/x.md", "x");
    for (reference, expected) in [
        ("file:latin.md", "is no UTF-8 text, from byte 3 on"),
        ("file:binary.md", "is no text: it has NUL characters"),
        ("file:large.md", "at most 1048576 are read"),
        ("file:broken.md", "`broken.md`: the front matter is no YAML"),
        ("file:dir", "give it as `dir:dir`"),
        ("file:", "a path is missing"),
        ("file:a\0b", "NUL"),
    ] {
        match scene.fetch("file", reference).await {
            Err(GuestError::Refused(told)) => assert!(told.contains(expected), "{reference}: {told}"),
            other => panic!("{reference}: {other:?}"),
        }
    }
    let missing = scene.fetch("file", "file:none.md").await;
    assert_eq!(missing, Err(GuestError::NotFound("there is no file `none.md`".to_owned())));
    // It may go after it was resolved.
    let gone = scene.provider("file").fetch("none.md".to_owned()).await;
    assert!(matches!(gone, Err(GuestError::NotFound(_))), "{gone:?}");
}

#[tokio::test]
async fn a_file_that_may_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.write("secret.md", "x");
    let file = scene.root.join("secret.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&file).is_ok() {
        // For whoever may read everything there is no such file.
        return;
    }
    let end = scene.fetch("file", "file:secret.md").await;
    assert!(matches!(&end, Err(GuestError::Failed(told)) if told.contains("denied")), "{end:?}");
}

#[tokio::test]
async fn a_path_is_claimed_by_what_is_there() {
    let scene = Scene::new();
    scene.write("tasks/login.md", "x");
    assert_eq!(scene.claimed("tasks/login.md").await, ["file"]);
    assert_eq!(scene.claimed("./tasks").await, ["directory"]);
    assert_eq!(scene.claimed(".").await, ["directory"]);
    for nobodys in ["jira:X-1", "https://example.org/x", "fix the login", "tasks/none.md", "", "../outside"] {
        assert_eq!(scene.claimed(nobodys).await, [""; 0], "{nobodys}");
    }
    for (explicit, name) in [("file:none", "file"), ("dir:none", "directory"), ("text:x", "text")] {
        assert_eq!(scene.claimed(explicit).await, [name]);
    }
}

#[tokio::test]
async fn the_providers_say_what_they_are() {
    let scene = Scene::new();
    let told: Vec<_> = ["directory", "file", "text"]
        .map(|name| {
            let provider = scene.provider(name);
            let abilities = [ProviderAbility::Snapshot, ProviderAbility::List, ProviderAbility::Comment];
            (
                provider.schemes().join(","),
                provider.priority(),
                abilities.map(|ability| provider.can(ability)),
            )
        })
        .into();
    let expected = [
        ("dir".to_owned(), 15, [true, true, false]),
        ("file".to_owned(), 10, [true, false, false]),
        ("text".to_owned(), 0, [true, false, false]),
    ];
    assert_eq!(told, expected);
    let end = scene.provider("file").comment("x".to_owned(), "y".to_owned()).await;
    assert_eq!(end, Err(GuestError::Unsupported("tasks from `file` cannot be commented on".to_owned())));
    let end = scene.provider("file").list(Default::default()).await;
    assert!(matches!(end, Err(GuestError::Unsupported(_))), "{end:?}");
}
