//! The conformance run: what it finds in plugins that misbehave, one way at a time.

use loggia_plugins::{Limits, Outcome, Report, check};

use crate::support::{Home, NOT_SO_SHORT, options};

async fn of(kind: &str, habits: &[&str]) -> Report {
    checked(kind, habits, |_| {}).await
}

async fn checked(
    kind: &str,
    habits: &[&str],
    change: impl FnOnce(&mut loggia_plugins::CheckOptions),
) -> Report {
    let mut home = Home::new();
    let directory = home.add(kind, "one", habits);
    let mut options = options(&home);
    options.reference = (kind == "provider").then(|| "jira:PROJ-123".to_owned());
    change(&mut options);
    check(&directory, &options).await
}

/// The cases that did not pass and were not skipped, each with what came.
fn found(report: &Report) -> Vec<(String, String)> {
    let cases = report.cases.iter().filter_map(|case| match &case.outcome {
        Outcome::Noted { came, .. } => Some((format!("note {}", case.name), came.clone())),
        Outcome::Failed { came, .. } => Some((format!("FAILED {}", case.name), came.clone())),
        Outcome::Passed | Outcome::Skipped { .. } => None,
    });
    cases.collect()
}

fn check_found(report: &Report, expected: &[(&str, &str)]) {
    let found = found(report);
    let same = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|((name, came), (wanted, words))| name == wanted && came.contains(words));
    assert!(same, "{expected:#?}\nin\n{}", report.render());
}

#[tokio::test]
async fn a_plugin_that_behaves_passes() {
    let report = of("provider", &[]).await;
    assert!(report.has_passed(), "{}", report.render());
    let passed =
        |name: &str| report.cases.iter().any(|case| case.name == name && case.outcome == Outcome::Passed);
    for name in [
        "manifest",
        "executable",
        "provider.init",
        "provider.fetch: a task",
        "provider.snapshot: a task",
        "provider.list",
        "ping",
        "an unknown method",
        "an id that is text",
        "two calls at once",
        "shutdown",
        "shutdown: it leaves by itself",
        "the end of its input",
        "stdout: messages only",
    ] {
        assert!(passed(name), "{name} in\n{}", report.render());
    }
    // Its manifest names three of its ten capabilities, and it takes no notice of what is missing.
    assert!(found(&report).iter().any(|(name, _)| name == "note provider.init: capabilities"));
    let report = of("workflow", &[]).await;
    assert!(report.has_passed(), "{}", report.render());
}

#[tokio::test]
async fn a_manifest_that_is_no_good_ends_the_run() {
    let mut home = Home::new();
    let directory = home.add("provider", "one", &[]);
    std::fs::write(directory.join("plugin.yaml"), "version: 1\nname: one\n").unwrap();
    let report = check(&directory, &options(&home)).await;
    check_found(&report, &[("FAILED manifest", "`type` is required")]);
    let directory = home.add("provider", "two", &[]);
    let manifest = std::fs::read_to_string(directory.join("plugin.yaml")).unwrap();
    std::fs::write(directory.join("plugin.yaml"), manifest.replace("python3", "./nothing")).unwrap();
    check_found(&check(&directory, &options(&home)).await, &[("FAILED executable", "cannot be found")]);
}

#[tokio::test]
async fn an_init_that_goes_wrong_ends_the_run_with_the_last_words() {
    let report = of("provider", &["die:provider.init"]).await;
    check_found(&report, &[("FAILED provider.init", "its end with")]);
    assert_eq!(report.stderr, ["dying in provider.init"]);
    assert!(report.render().contains("skipped  everything else: `provider.init` did not work"));
    let report = of("provider", &["code:provider.init:-32003"]).await;
    check_found(&report, &[("FAILED provider.init", "the error -32003: as told")]);
    let report = checked("provider", &["hang:provider.init"], |options| {
        options.limits = Limits { init: NOT_SO_SHORT, ..options.limits };
    });
    check_found(&report.await, &[("FAILED provider.init", "nothing within 2 s")]);
}

#[tokio::test]
async fn what_ends_a_plugin_fails_and_the_rest_goes_on() {
    let report = of("provider", &["die:provider.snapshot"]).await;
    let failed: Vec<String> =
        found(&report).into_iter().map(|(name, _)| name).filter(|name| name.starts_with('F')).collect();
    assert_eq!(
        failed,
        ["FAILED provider.snapshot: a task", "FAILED provider.snapshot: a task that is not there"]
    );
    assert!(report.stderr_lines >= 2);
}

#[tokio::test]
async fn odd_answers_are_noted_or_fail_as_hosts_take_them() {
    let report = of("provider", &["text-error:ping"]).await;
    let texts: Vec<_> = found(&report).into_iter().filter(|(name, _)| name.contains("ping")).collect();
    assert_eq!(texts[0], ("note ping".to_owned(), "an `error` that is text alone: no such code".to_owned()));
    let report = of("provider", &["odd-shape:provider.match"]).await;
    assert!(
        found(&report).iter().any(|(name, came)| {
            name == "FAILED provider.match: a reference of its own" && came.contains("matches")
        }),
        "{}",
        report.render()
    );
    let report = of("provider", &["junk:provider.match"]).await;
    let found = found(&report);
    let came = |name: &str| found.iter().find(|(known, _)| known == name).map(|(_, came)| came.as_str());
    assert!(came("note stdout: messages only").unwrap().contains("Loading… 100%"), "{}", report.render());
    assert!(came("FAILED stdout: answers to what was asked").unwrap().contains("4711"));
    assert!(came("note stdout: no calls of its own").unwrap().contains("progress"));
}

#[tokio::test]
async fn values_that_hosts_have_to_read_otherwise_are_noted() {
    let unit = r#"{"id":7,"title":"T","description":"","provider":"jira","labels":["a",8]}"#;
    let report = of("provider", &[&format!("result:provider.fetch:{unit}")]).await;
    let fetched = found(&report).into_iter().find(|(name, _)| name == "note provider.fetch: a task").unwrap();
    assert_eq!(fetched.1, r#"`id` is `7`, read as `"7"`, `labels[1]` is `8`, read as `"8"`"#);
    let answer = r#"result:agent.run:{"status":"complete","tokens_used":"12"}"#;
    let report = of("agent", &["plain", answer]).await;
    let run = found(&report).into_iter().find(|(name, _)| name == "note agent.run").unwrap();
    assert_eq!(run.1, r#"`tokens_used` is `"12"`, read as `12`"#);
}

#[tokio::test]
async fn whoever_never_stops_talking_has_not_answered() {
    let report = checked("provider", &["flood-stdout:provider.init"], |options| {
        options.limits = Limits { init: NOT_SO_SHORT, ..options.limits };
    });
    let report = report.await;
    let failed = found(&report);
    assert_eq!(failed[0], ("FAILED provider.init".to_owned(), "nothing within 2 s".to_owned()));
    let report = checked("agent", &["flood-run"], |options| {
        options.limits = Limits { run_total: NOT_SO_SHORT, ..options.limits };
    });
    let report = report.await;
    let run = found(&report).into_iter().find(|(name, _)| name == "FAILED agent.run").unwrap();
    assert_eq!(run.1, "no end within 2 s", "{}", report.render());
}

#[tokio::test]
async fn whoever_stays_after_the_end_of_input_fails() {
    let report = checked("workflow", &["stubborn"], |options| {
        options.limits = Limits { stop_answer: NOT_SO_SHORT, stop_exit: NOT_SO_SHORT, ..options.limits };
    });
    let report = report.await;
    let failed: Vec<_> = found(&report).into_iter().filter(|(name, _)| name.starts_with('F')).collect();
    let came = "it is still there after 2 s".to_owned();
    assert_eq!(
        failed,
        [
            ("FAILED shutdown: it leaves at the end of its input".to_owned(), came.clone()),
            ("FAILED the end of its input".to_owned(), came)
        ]
    );
}

#[tokio::test]
async fn an_agent_is_run_with_tools() {
    let report = of("agent", &["tools"]).await;
    assert!(report.has_passed(), "{}", report.render());
    let of = |name: &str| report.cases.iter().find(|case| case.name == name).unwrap().outcome.clone();
    assert_eq!(of("agent.tool_result"), Outcome::Passed);
    assert_eq!(of("agent.run: complete"), Outcome::Passed);
}

#[tokio::test]
async fn events_that_cannot_be_read_fail_and_unknown_ones_are_noted() {
    let report = of("agent", &["odd"]).await;
    let found = found(&report);
    assert!(
        found.iter().any(|(name, came)| name == "FAILED agent.run: events" && came.contains("`text`")),
        "{}",
        report.render()
    );
    assert!(found.iter().any(|(name, _)| name == "note agent.run: complete"));
    let report = of("agent", &["error-event"]).await;
    assert!(
        self::found(&report).iter().any(|(name, came)| name == "FAILED agent.run" && came.contains("error"))
    );
}

#[tokio::test]
async fn an_agent_that_is_not_available_is_not_run() {
    let report = of("agent", &["unavailable"]).await;
    let case = report.cases.iter().find(|case| case.name == "agent.run").unwrap();
    assert_eq!(case.outcome, Outcome::Skipped { reason: "it is not available: API key not set".to_owned() });
}

#[tokio::test]
async fn an_init_that_answers_null_is_noted() {
    for kind in ["provider", "agent", "workflow"] {
        let init = format!("{kind}.init");
        let report = of(kind, &[&format!("null:{init}")]).await;
        let expected = (format!("note {init}"), "the result `null`".to_owned());
        assert_eq!(found(&report)[0], expected, "{}", report.render());
        assert!(report.has_passed(), "{}", report.render());
    }
}

#[tokio::test]
async fn guards_must_say_something_and_effects_run_only_if_told() {
    let report = of("workflow", &["says-nothing"]).await;
    assert!(found(&report).iter().any(|(name, came)| {
        name == "FAILED workflow.evaluateGuard: `requiresApproval`" && came.contains("neither")
    }));
    assert!(
        report.render().contains("skipped  workflow.executeEffect: `notifySlack`: it would do something")
    );
    let report = checked("workflow", &[], |options| options.effects = true).await;
    let found = found(&report);
    assert!(
        found.iter().any(|(name, came)| {
            name == "note workflow.executeEffect: `approvalLog`" && came == "Webhook not configured"
        }),
        "{}",
        report.render()
    );
}
