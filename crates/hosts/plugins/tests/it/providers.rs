//! Every method of a provider, and who is asked about a reference.

use loggia_domain::{GuestError, Proposal, ProviderAbility, WorkQuery};

use crate::support::One;

fn key() -> String {
    "PROJ-123".to_owned()
}

#[tokio::test]
async fn a_provider_is_handed_its_configuration_first_and_once() {
    let one = One::within("provider", &[], |home| {
        home.config.insert("one".to_owned(), serde_json::json!({"url": "https://x", "deep": [1]}).into());
    });
    let provider = one.provider();
    provider.resolve("jira:PROJ-1".to_owned()).await.unwrap();
    provider.resolve("jira:PROJ-2".to_owned()).await.unwrap();
    assert_eq!(one.params("provider.init"), r#"{"config":{"url":"https://x","deep":[1]}}"#);
    let first: serde_json::Value = serde_json::from_str(&one.lines("requests.log")[0]).unwrap();
    assert_eq!(first["method"], "provider.init");
    assert_eq!((first["jsonrpc"].as_str(), first["id"].as_u64()), (Some("2.0"), Some(1)));
    assert_eq!(one.starts(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn without_configuration_a_provider_gets_an_empty_object() {
    let one = One::new("provider", &[]);
    one.plugin.start().await.unwrap();
    assert_eq!(one.params("provider.init"), r#"{"config":{}}"#);
    one.host.stop().await;
}

#[tokio::test]
async fn a_reference_is_matched_and_parsed() {
    let one = One::new("provider", &[]);
    let provider = one.provider();
    assert!(provider.claims("jira:PROJ-123".to_owned()).await.unwrap());
    assert!(!provider.claims("https://example.com".to_owned()).await.unwrap());
    assert_eq!(provider.resolve("jira:PROJ-123".to_owned()).await.unwrap(), "PROJ-123");
    assert_eq!(one.params("provider.parse"), r#"{"input":"jira:PROJ-123"}"#);
    let error = provider.resolve("jira:nonsense".to_owned()).await.unwrap_err();
    assert_eq!(
        error,
        GuestError::Refused("plugin `one`, `provider.parse`: it refuses: Invalid format".to_owned())
    );
    assert_eq!(one.starts(), 1, "a refusal is an answer");
    one.host.stop().await;
}

#[tokio::test]
async fn a_task_is_fetched_and_kept_as_text() {
    let one = One::new("provider", &[]);
    let provider = one.provider();
    let item = provider.fetch(key()).await.unwrap();
    assert_eq!((item.key.as_str(), item.label.as_deref()), ("PROJ-123", Some("PROJ-123")));
    assert_eq!((item.title.as_str(), item.description.as_str()), ("Implement feature", "Full description"));
    assert_eq!((item.kind.as_deref(), item.status.as_deref()), (Some("story"), Some("open")));
    assert_eq!((item.priority, item.tags.join(" ").as_str()), (Some(2), "frontend"));
    assert_eq!(item.location.as_deref(), Some("https://jira.example.com/PROJ-123"));
    assert!(item.more.0.contains(r#""metadata":{"team":"a"}"#), "{}", item.more.0);
    assert_eq!(provider.snapshot(key()).await.unwrap(), "# PROJ-123");
    assert_eq!(one.params("provider.snapshot"), r#"{"id":"PROJ-123"}"#, "the key, not the unit's own id");
    let sparse = provider.fetch("PROJ-9".to_owned()).await.unwrap();
    assert_eq!((sparse.title.as_str(), sparse.provider.as_deref()), ("PROJ-9", Some("jira")));
    one.host.stop().await;
}

#[tokio::test]
async fn tasks_are_listed_page_by_page() {
    for habits in [&[][..], &["bare"]] {
        let one = One::new("provider", habits);
        let provider = one.provider();
        let query = WorkQuery {
            status: Some("open".to_owned()),
            tags: vec!["bug".to_owned()],
            limit: 3,
            cursor: None,
        };
        let page = provider.list(query.clone()).await.unwrap();
        let keys: Vec<&str> = page.items.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys, ["PROJ-1", "PROJ-2", "PROJ-3"]);
        assert_eq!(
            one.params("provider.list"),
            r#"{"filter":{"status":"open","labels":["bug"]},"limit":3,"offset":0}"#
        );
        if habits.is_empty() {
            let rest = provider.list(WorkQuery { cursor: page.next, ..query }).await.unwrap();
            assert_eq!((rest.items.len(), rest.next), (2, None));
        } else {
            assert_eq!(page.next, None, "a bare list says nothing of more");
            provider.list(WorkQuery { cursor: Some("x".to_owned()), ..query }).await.unwrap_err();
        }
        one.host.stop().await;
    }
}

#[tokio::test]
async fn a_list_is_always_asked_for_with_a_filter() {
    let one = One::new("provider", &[]);
    one.provider().list(WorkQuery { limit: 1, ..WorkQuery::default() }).await.unwrap();
    assert_eq!(one.params("provider.list"), r#"{"filter":{},"limit":1,"offset":0}"#);
    one.host.stop().await;
}

#[tokio::test]
async fn odd_values_of_a_task_do_not_lose_it() {
    let unit = r#"{"id":42,"externalKey":42,"title":"T","priority":"high","labels":[{"name":"bug"}],"createdAt":1700000000,"source":"https://x/1"}"#;
    let one = One::new("provider", &["result:provider.init:null", &format!("result:provider.fetch:{unit}")]);
    let item = one.provider().fetch(key()).await.unwrap();
    assert_eq!((item.key.as_str(), item.label.as_deref(), item.priority), ("PROJ-123", Some("42"), None));
    assert_eq!((item.tags.join(" ").as_str(), item.location.as_deref()), ("bug", Some("https://x/1")));
    one.host.stop().await;
}

#[tokio::test]
async fn a_provider_that_is_ready_has_said_what_it_can_do() {
    let one = One::new("provider", &[]);
    let provider = one.provider();
    assert!(!provider.can(ProviderAbility::Propose), "its manifest does not say so");
    provider.ready().await.unwrap();
    assert!(provider.can(ProviderAbility::Propose));
    one.host.stop().await;
}

#[tokio::test]
async fn what_a_provider_can_do_beyond_the_specification_is_reached() {
    let one = One::new("provider", &[]);
    let provider = one.provider();
    provider.comment(key(), "done".to_owned()).await.unwrap();
    let both = r#"{"id":"PROJ-123","workUnitId":"PROJ-123","comment":"done","body":"done"}"#;
    assert_eq!(one.params("provider.addComment"), both);
    provider.set_status(key(), "closed".to_owned()).await.unwrap();
    let both = r#"{"id":"PROJ-123","workUnitId":"PROJ-123","status":"closed"}"#;
    assert_eq!(one.params("provider.updateStatus"), both);
    let comments = provider.comments(key()).await.unwrap();
    let named = |name: &str, words: &str| (name.to_owned(), words.to_owned());
    assert_eq!(comments, [named("Ann", "first"), named("somebody", "second")]);
    provider.set_tags(key(), vec!["a".to_owned()], true).await.unwrap();
    assert_eq!(one.params("provider.addLabels"), r#"{"workUnitId":"PROJ-123","labels":["a"]}"#);
    provider.set_tags(key(), vec!["a".to_owned()], false).await.unwrap();
    assert_eq!(one.requests("provider.removeLabels").len(), 1);
    provider.set_branch(key(), "b".to_owned(), true).await.unwrap();
    assert_eq!(one.params("provider.linkBranch"), r#"{"workUnitId":"PROJ-123","branch":"b"}"#);
    provider.set_branch(key(), "b".to_owned(), false).await.unwrap();
    assert_eq!(one.requests("provider.unlinkBranch").len(), 1);
    assert_eq!(provider.branch(key()).await.unwrap().as_deref(), Some("story/proj-123"));
    assert_eq!(provider.attachment(key(), "a1".to_owned()).await.unwrap(), b"\x00bytes\xff");
    let proposal = Proposal {
        key: Some(key()),
        title: "t".to_owned(),
        description: "d".to_owned(),
        from: "b".to_owned(),
        into: "main".to_owned(),
        draft: true,
    };
    let proposed = provider.propose(proposal).await.unwrap();
    assert_eq!((proposed.label.as_deref(), proposed.state.as_deref()), (Some("#7"), Some("open")));
    assert_eq!(proposed.location.as_deref(), Some("https://example.com/pr/7"));
    one.host.stop().await;
}

#[tokio::test]
async fn what_a_provider_says_it_can_do_counts_and_the_manifest_before_that() {
    let one = One::new("provider", &["capabilities:-:read:comment"]);
    let provider = one.provider();
    assert!(
        provider.can(ProviderAbility::List) && !provider.can(ProviderAbility::Comment),
        "as the manifest says"
    );
    let error = provider.list(WorkQuery { limit: 1, ..WorkQuery::default() }).await.unwrap_err();
    assert_eq!(
        error,
        GuestError::Unsupported("plugin `one`, `provider.list`: this is nothing it can do".to_owned())
    );
    assert!(one.requests("provider.list").is_empty(), "it is not even asked");
    assert!(!provider.can(ProviderAbility::List) && provider.can(ProviderAbility::Comment));
    provider.comment(key(), "x".to_owned()).await.unwrap();
    provider.fetch(key()).await.unwrap();
    one.host.stop().await;
}

#[tokio::test]
async fn a_provider_that_says_nothing_can_do_what_its_manifest_says() {
    let one = One::new("provider", &["capabilities:-:none"]);
    let provider = one.provider();
    assert_eq!(provider.snapshot(key()).await.unwrap(), "# PROJ-123");
    assert!(provider.can(ProviderAbility::Snapshot) && !provider.can(ProviderAbility::Comment));
    one.host.stop().await;
}
