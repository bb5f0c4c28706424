//! Answers that are not as they should be.

use loggia_domain::{GuestError, TaskProvider, WorkQuery};
use loggia_plugins::{GuestProvider, Limits};

use crate::support::{Home, One, SHORT, lines};

const REFERENCE: &str = "jira:PROJ-123";

async fn resolve(one: &One) -> Result<String, GuestError> {
    one.provider().resolve(REFERENCE.to_owned()).await
}

async fn fetch(one: &One) -> GuestError {
    one.provider().fetch("PROJ-123".to_owned()).await.unwrap_err()
}

#[tokio::test]
async fn junk_blank_lines_and_answers_to_nobody_are_skipped_and_counted() {
    let one = One::new("provider", &["junk"]);
    assert_eq!(resolve(&one).await.unwrap(), "PROJ-123");
    assert_eq!(resolve(&one).await.unwrap(), "PROJ-123");
    assert_eq!(one.starts(), 1);
    // Seven for each of three calls: two stray lines, two that are no messages, one notification and two answers.
    assert_eq!(one.plugin.sketch().stray_lines, 21);
    for line in one.lines("requests.log") {
        let request: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(request["method"].is_string(), "it was sent something that is no request: {line}");
    }
    one.host.stop().await;
}

#[tokio::test]
async fn an_answer_with_a_wrong_id_is_no_answer() {
    let one = One::within("provider", &["wrong-id:provider.match"], |home| {
        home.limits = Limits { question: SHORT, ..home.limits };
    });
    let error = one.provider().claims(REFERENCE.to_owned()).await.unwrap_err();
    assert!(matches!(error, GuestError::TimedOut(_)), "{error}");
    one.host.stop().await;
}

#[tokio::test]
async fn an_error_that_is_plain_text_is_an_error() {
    let one = One::new("provider", &["text-error:provider.fetch"]);
    let error = fetch(&one).await;
    let expected = "plugin `one`, `provider.fetch`: it answered: no such code (-32000)";
    assert_eq!(error, GuestError::Failed(expected.to_owned()));
    resolve(&one).await.unwrap();
    assert_eq!(one.starts(), 1, "it is well");
    one.host.stop().await;
}

#[tokio::test]
async fn an_error_inside_a_result_is_an_error_for_every_method() {
    for method in ["provider.fetch", "provider.snapshot", "provider.init"] {
        let one = One::new("provider", &[&format!("wrapped-error:{method}")]);
        let provider = one.provider();
        let error = match method {
            "provider.snapshot" => provider.snapshot("PROJ-123".to_owned()).await.unwrap_err(),
            _ => fetch(&one).await,
        };
        let expected = format!("plugin `one`, `{method}`: it answered: Task not found (-32005)");
        assert_eq!(error, GuestError::NotFound(expected));
        one.host.stop().await;
    }
}

#[tokio::test]
async fn an_error_without_an_id_is_about_the_call_under_way() {
    let one = One::new("provider", &["null-id:provider.fetch"]);
    let error = fetch(&one).await;
    let expected = "plugin `one`, `provider.fetch`: it answered: Parse error: x (-32700)";
    assert_eq!(error, GuestError::Failed(expected.to_owned()));
    one.host.stop().await;
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape_names_the_field() {
    let one = One::new("provider", &["odd-shape:provider.match"]);
    let error = one.provider().claims(REFERENCE.to_owned()).await.unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, GuestError::Failed(_)));
    assert!(
        words.starts_with("plugin `one`, `provider.match`: its answer has the wrong shape: matches: "),
        "{words}"
    );
    resolve(&one).await.unwrap();
    assert_eq!(one.starts(), 1, "it is well");
    one.host.stop().await;
}

#[tokio::test]
async fn codes_lead_to_what_can_be_done_about_them() {
    type Check = fn(&GuestError) -> bool;
    let cases: [(i64, Check, &str); 6] = [
        (-32000, |error| matches!(error, GuestError::Failed(_)), "it answered: as told (-32000)"),
        (
            -32003,
            |error| matches!(error, GuestError::NoAccess(_)),
            "it has no access: as told (-32003); it reads `KEY`",
        ),
        (-32005, |error| matches!(error, GuestError::NotFound(_)), "it answered: as told (-32005)"),
        (-32006, |error| matches!(error, GuestError::Refused(_)), r#"as told (-32006) {"why":"because"}"#),
        (-32601, |error| matches!(error, GuestError::Failed(_)), "it answered: as told (-32601)"),
        (-32603, |error| matches!(error, GuestError::Failed(_)), "it answered: as told (-32603)"),
    ];
    for (code, check, words) in cases {
        let one = One::within("provider", &[], |home| {
            let habit = format!("code:provider.fetch:{code}");
            let text =
                crate::support::manifest("provider", "one", &[&habit]) + "env: {KEY: {required: true}}\n";
            home.add_raw(loggia_plugins::Scope::Global, "one", &text);
        });
        let error = fetch(&one).await;
        assert!(check(&error) && error.to_string().contains(words), "{code}: {error:?}");
        one.host.stop().await;
    }
}

#[tokio::test]
async fn an_optional_method_that_is_missing_is_asked_for_once() {
    for code in [-32601, -32001] {
        let one = One::new("provider", &[&format!("code:provider.list:{code}")]);
        let provider = one.provider();
        for _ in 0..2 {
            let error = provider.list(WorkQuery { limit: 1, ..WorkQuery::default() }).await.unwrap_err();
            assert!(matches!(error, GuestError::Unsupported(_)), "{error}");
        }
        assert_eq!(one.requests("provider.list").len(), 1);
        one.host.stop().await;
    }
}

#[tokio::test]
async fn a_capability_that_turns_out_to_be_missing_is_forgotten() {
    let one = One::new("provider", &["code:provider.snapshot:-32002"]);
    let provider = one.provider();
    let error = provider.snapshot("PROJ-123".to_owned()).await.unwrap_err();
    assert!(matches!(error, GuestError::Failed(_)), "{error}");
    let error = provider.snapshot("PROJ-123".to_owned()).await.unwrap_err();
    assert!(matches!(error, GuestError::Unsupported(_)), "{error}");
    assert_eq!(one.requests("provider.snapshot").len(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_a_few_times() {
    let one = One::new("provider", &["rate:provider.fetch:3"]);
    assert_eq!(one.provider().fetch("PROJ-123".to_owned()).await.unwrap().title, "Implement feature");
    assert_eq!(one.requests("provider.fetch").len(), 4);
    one.host.stop().await;
    let one = One::new("provider", &["rate:provider.fetch:4"]);
    let error = fetch(&one).await;
    assert!(error.to_string().contains("slow down (-32004)"), "{error}");
    assert_eq!(one.requests("provider.fetch").len(), 4);
    one.host.stop().await;
}

#[tokio::test]
async fn a_plugin_that_refuses_both_spellings_gets_the_documented_one() {
    let one = One::new("provider", &["picky"]);
    one.provider().comment("PROJ-123".to_owned(), "x".to_owned()).await.unwrap();
    let sent: Vec<String> =
        one.requests("provider.addComment").iter().map(|request| request["params"].to_string()).collect();
    assert_eq!(sent[1], r#"{"id":"PROJ-123","comment":"x"}"#);
    assert_eq!(sent.len(), 2);
    one.host.stop().await;
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_fails_its_call_and_stops_the_plugin() {
    let one = One::new("provider", &["long:provider.snapshot"]);
    let error = one.provider().snapshot("PROJ-123".to_owned()).await.unwrap_err();
    let expected =
        "plugin `one`, `provider.snapshot`: it wrote a line of more than 67108864 bytes and was stopped";
    assert!(matches!(&error, GuestError::Gone(words) if words.lines().next() == Some(expected)), "{error}");
    assert_eq!(one.plugin.sketch().pid, None);
    resolve(&one).await.unwrap();
    assert_eq!(one.starts(), 2);
    one.host.stop().await;
}

#[tokio::test]
async fn endless_junk_on_stdout_stops_the_plugin() {
    let one = One::new("provider", &["flood-stdout:provider.fetch"]);
    let error = fetch(&one).await;
    let expected = "plugin `one`, `provider.fetch`: it wrote more than 100000 lines that are no messages and was stopped";
    assert!(matches!(&error, GuestError::Gone(words) if words.lines().next() == Some(expected)), "{error}");
    one.host.stop().await;
}

#[tokio::test]
async fn a_flood_on_stderr_holds_nothing_up_and_only_its_end_is_told() {
    let one = One::new("provider", &["flood-stderr:provider.fetch", "code:provider.fetch:-32000"]);
    // What is on stderr comes another way than the answer, and may be behind it.
    let words = loop {
        let words = fetch(&one).await.to_string();
        assert!(
            words.starts_with("plugin `one`, `provider.fetch`: it answered: as told (-32000)"),
            "{words}"
        );
        if words.ends_with("complaint number 199999") {
            break words;
        }
    };
    let last: Vec<String> =
        (199_995..200_000).map(|number| format!("  stderr: complaint number {number}")).collect();
    assert_eq!(words.lines().skip(1).collect::<Vec<_>>(), last);
    resolve(&one).await.unwrap();
    one.host.stop().await;
}

#[tokio::test]
async fn a_plugin_that_asks_is_told_that_nobody_serves_it() {
    let one = One::new("provider", &["asks:provider.fetch"]);
    one.provider().fetch("PROJ-123".to_owned()).await.unwrap();
    let answers = one.lines("answers.log");
    assert_eq!(
        answers,
        [r#"{"jsonrpc":"2.0","id":9001,"error":{"code":-32601,"message":"Method not found: host.read"}}"#]
    );
    one.host.stop().await;
}

#[tokio::test]
async fn one_plugin_that_misbehaves_does_not_disturb_another() {
    let mut home = Home::new();
    home.limits = Limits { provider: SHORT, ..home.limits };
    for (name, habits) in [("bad", &["hang:provider.fetch"][..]), ("good", &[])] {
        home.add("provider", name, habits);
    }
    let host = home.host();
    let [bad, good] = ["bad", "good"].map(|name| GuestProvider::of(host.get(name).unwrap().clone()).unwrap());
    good.claims(REFERENCE.to_owned()).await.unwrap();
    let (failed, fetched) = tokio::join!(bad.fetch("PROJ-1".to_owned()), good.claims(REFERENCE.to_owned()));
    assert!(matches!(failed.unwrap_err(), GuestError::TimedOut(_)));
    assert!(fetched.unwrap());
    assert_eq!(lines(&home.of("good").join("starts.log")).len(), 1);
    host.stop().await;
}
