//! Words as tasks.

use loggia_domain::GuestError;

use crate::support::Scene;

#[tokio::test]
async fn words_are_a_task_called_by_their_first_line() {
    let scene = Scene::new();
    let text = scene.provider("text");
    // With the scheme, or without where words are known to be meant.
    for reference in ["text: Fix the login\n\nIt fails: see x:y.\n", " Fix the login\n\nIt fails: see x:y."] {
        let key = text.resolve(reference.to_owned()).await.unwrap();
        let item = text.fetch(key.clone()).await.unwrap();
        assert_eq!((item.title.as_str(), item.description.as_str()), ("Fix the login", key.as_str()));
        assert_eq!((item.label, item.location, item.more.0.as_str()), (None, None, "{}"));
        assert_eq!(text.snapshot(key).await.unwrap(), "Fix the login\n\nIt fails: see x:y.");
    }
}

#[tokio::test]
async fn no_words_and_too_many_are_refused() {
    let scene = Scene::new();
    for reference in ["text:", "text: \n ", "text:##\n"] {
        let end = scene.fetch("text", reference).await;
        assert_eq!(end, Err(GuestError::Refused("the task has no words".to_owned())));
    }
    let end = scene.fetch("text", &format!("text:{}", "x".repeat(65 * 1024))).await;
    assert!(matches!(&end, Err(GuestError::Refused(told)) if told.contains("put it into a file")), "{end:?}");
}
