//! What providers may send, in every shape that is known of them.

use loggia_protocol_mehrhof::{
    AddCommentParams, ListResult, ProviderCapability, ProviderInitParams, ProviderInitResult,
    UpdateStatusParams, WorkUnit,
};

use crate::{result, value};

#[test]
fn parse_gives_an_id_or_a_reason() {
    let check =
        |text: &str, expected: &str| assert_eq!(result("provider.parse", text), expected, "for {text}");
    check(r#"{"id":"PROJ-1"}"#, r#"{"id":"PROJ-1"}"#);
    check(r#"{"error":"Invalid format"}"#, r#"{"error":"Invalid format"}"#);
    check(r#"{"id":null,"error":"Invalid format"}"#, r#"{"error":"Invalid format"}"#);
    check(r#"{"id":"","error":"Invalid format"}"#, r#"{"error":"Invalid format"}"#);
    check(r#"{"id":"PROJ-1","error":null}"#, r#"{"id":"PROJ-1"}"#);
    check("{}", "error: either `id` or `error` is needed");
}

#[test]
fn lists_are_read_from_an_object_or_bare() {
    let listed: ListResult =
        value(r#"{"items":[{"id":"1"},{"id":"2","status":"open"}],"total":7,"hasMore":true}"#);
    assert_eq!((listed.items.len(), listed.total, listed.has_more()), (2, Some(7), true));
    let bare: ListResult = value(r#"[{"id":"1"},{"id":"2"}]"#);
    assert_eq!((bare.items.len(), bare.total, bare.has_more()), (2, None, false));
    let short: ListResult = value(r#"{"items":null,"total":0}"#);
    assert_eq!((short.items.len(), short.total, short.has_more()), (0, Some(0), false));
}

#[test]
fn a_wrong_item_of_a_list_is_named() {
    assert_eq!(
        result("provider.list", r#"{"items":[{"id":"1"},{}]}"#),
        "error: items[1]: missing field `id`"
    );
    assert_eq!(
        result("provider.list", "7"),
        "error: invalid type: integer `7`, expected an object with `items`, or a list of work units"
    );
}

#[test]
fn absent_null_and_empty_lists_are_the_same() {
    let plain: WorkUnit = value(r#"{"id":"1"}"#);
    assert!(plain.labels.is_empty() && plain.comments.is_empty() && plain.subtasks.is_empty());
    for text in [
        r#"{"id":"1","labels":[],"assignees":[],"comments":[],"attachments":[],"subtasks":[]}"#,
        r#"{"id":"1","labels":null,"assignees":null,"comments":null,"attachments":null,"subtasks":null,"title":null}"#,
    ] {
        assert_eq!(value::<WorkUnit>(text), plain, "for {text}");
    }
}

#[test]
fn dates_nobody_can_read_and_words_nobody_knows_survive() {
    let text = r#"{"id":"1","taskType":"quest","status":"half done","createdAt":"yesterday","updatedAt":""}"#;
    assert_eq!(result("provider.fetch", text), text);
}

#[test]
fn one_odd_value_does_not_lose_a_task() {
    for (came, read) in [
        (r#"{"id":42,"externalKey":42,"title":7}"#, r#"{"id":"42","externalKey":"42","title":"7"}"#),
        (r#"{"id":"1","priority":"high"}"#, r#"{"id":"1"}"#),
        (r#"{"id":"1","priority":"2"}"#, r#"{"id":"1","priority":2}"#),
        (r#"{"id":"1","priority":3.0}"#, r#"{"id":"1","priority":3}"#),
        (
            r#"{"id":"1","labels":["a",{"name":"bug","color":"red"},7,[]]}"#,
            r#"{"id":"1","labels":["a","bug","7"]}"#,
        ),
        (r#"{"id":"1","labels":"bug"}"#, r#"{"id":"1","labels":["bug"]}"#),
        (r#"{"id":"1","subtasks":[{"id":"2","title":"T"},3]}"#, r#"{"id":"1","subtasks":["2","3"]}"#),
        (
            r#"{"id":"1","assignees":["ann",{"id":7,"name":"Bob"}]}"#,
            r#"{"id":"1","assignees":[{"name":"ann"},{"id":"7","name":"Bob"}]}"#,
        ),
        (r#"{"id":"1","source":"https://x/1"}"#, r#"{"id":"1","source":{"reference":"https://x/1"}}"#),
        (
            r#"{"id":"1","createdAt":1700000000,"updatedAt":{"at":1}}"#,
            r#"{"id":"1","createdAt":"1700000000"}"#,
        ),
        (
            r#"{"id":"1","comments":[{"id":9,"body":"b","author":"ann"},{"text":"no body"}]}"#,
            r#"{"id":"1","comments":[{"id":"9","body":"b","author":{"name":"ann"}}]}"#,
        ),
        (
            r#"{"id":"1","attachments":[{"id":5,"size":"12 KB"},{"name":"no id"}]}"#,
            r#"{"id":"1","attachments":[{"id":"5"}]}"#,
        ),
    ] {
        assert_eq!(result("provider.fetch", came), read, "for {came}");
    }
    assert_eq!(result("provider.fetch", r#"{"id":{}}"#), "error: id: a text is needed");
    assert_eq!(result("provider.parse", r#"{"id":42}"#), r#"{"id":"42"}"#);
    assert_eq!(
        result("provider.list", r#"{"items":[{"id":1}],"total":"7","hasMore":"no"}"#),
        r#"{"items":[{"id":"1"}],"total":7}"#
    );
    assert_eq!(
        result("provider.createPR", r#"{"id":7,"number":"12","url":null}"#),
        r#"{"id":"7","number":12}"#
    );
}

#[test]
fn a_work_unit_has_a_headline_however_sparse_it_is() {
    for (text, expected) in [
        (r#"{"id":"1","title":"T","externalKey":"K"}"#, "T"),
        (r#"{"id":"1","title":"","externalKey":"K"}"#, "K"),
        (r#"{"id":"1","externalId":"E"}"#, "E"),
        (r#"{"id":"1"}"#, "1"),
    ] {
        assert_eq!(value::<WorkUnit>(text).headline(), expected, "for {text}");
    }
}

#[test]
fn no_list_of_capabilities_differs_from_an_empty_one() {
    assert_eq!(value::<ProviderInitResult>("{}").capabilities, None);
    assert_eq!(value::<ProviderInitResult>(r#"{"capabilities":[]}"#).capabilities, Some(Vec::new()));
    for odd in ["null", "true", r#""ready""#, r#"{"capabilities":"read"}"#] {
        assert_eq!(value::<ProviderInitResult>(odd).capabilities, None, "for {odd}");
    }
    let known: ProviderInitResult = value(r#"{"capabilities":["list",7,"levitate"]}"#);
    let expected = vec![ProviderCapability::List, ProviderCapability::Other("levitate".to_owned())];
    assert_eq!(known.capabilities, Some(expected));
}

#[test]
fn optional_methods_need_their_capability() {
    for (method, expected) in [
        ("provider.init", None),
        ("provider.match", None),
        ("provider.parse", None),
        ("provider.fetch", Some(ProviderCapability::Read)),
        ("provider.snapshot", Some(ProviderCapability::Snapshot)),
        ("provider.list", Some(ProviderCapability::List)),
        ("provider.removeLabels", Some(ProviderCapability::ManageLabels)),
        ("provider.createPR", Some(ProviderCapability::CreatePr)),
    ] {
        assert_eq!(ProviderCapability::needed_by(method), expected, "for {method}");
    }
}

#[test]
fn without_configuration_an_empty_object_is_sent() {
    assert_eq!(serde_json::to_string(&value::<ProviderInitParams>("{}")).unwrap(), r#"{"config":{}}"#);
}

#[test]
fn comments_and_status_are_sent_in_both_spellings() {
    let comment = AddCommentParams::new("T-1".into(), "Done.");
    assert_eq!(
        serde_json::to_string(&comment).unwrap(),
        r#"{"id":"T-1","workUnitId":"T-1","comment":"Done.","body":"Done."}"#
    );
    assert_eq!(serde_json::to_string(&comment.documented()).unwrap(), r#"{"id":"T-1","comment":"Done."}"#);
    let status = UpdateStatusParams::new("T-1".into(), "closed");
    assert_eq!(
        serde_json::to_string(&status).unwrap(),
        r#"{"id":"T-1","workUnitId":"T-1","status":"closed"}"#
    );
    assert_eq!(serde_json::to_string(&status.documented()).unwrap(), r#"{"id":"T-1","status":"closed"}"#);
}

#[test]
fn comments_are_read_in_either_spelling() {
    for text in [r#"{"id":"T-1","comment":"Done."}"#, r#"{"workUnitId":"T-1","body":"Done."}"#] {
        let comment: AddCommentParams = value(text);
        assert_eq!((comment.task(), comment.words()), (Some(&"T-1".into()), Some("Done.")), "for {text}");
    }
    assert_eq!(
        value::<UpdateStatusParams>(r#"{"workUnitId":"T-1","status":"x"}"#).task(),
        Some(&"T-1".into())
    );
}

#[test]
fn results_nobody_reads_may_be_anything() {
    for text in ["null", "true", "{}", r#"{"ok":1}"#, "[1]"] {
        assert_eq!(result("provider.updateStatus", text), "{}", "for {text}");
        assert_eq!(result("provider.addComment", text), "{}", "for {text}");
    }
}
