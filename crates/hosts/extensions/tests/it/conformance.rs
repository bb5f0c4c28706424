//! The conformance run: what it finds in extensions that misbehave, one way at a time.

use std::time::Duration;

use loggia_extensions::{CheckOptions, ExtensionEntry, Limits, Outcome, Report, USUAL_MESSAGE, check};
use serde_json::{Value, json};

use crate::support::{PATIENCE, SHORT, World, environment, keeper};

/// How an extension of a world is checked.
pub(crate) fn options(world: &World) -> CheckOptions {
    CheckOptions {
        keeper: keeper(),
        environment: environment(),
        directory: world.directory.path().to_owned(),
        data_directory: world.directory.path().join("data"),
        message: USUAL_MESSAGE.to_owned(),
        commands: true,
        malformed: false,
        limits: Limits { initialize: PATIENCE, leave: Duration::from_secs(5), ..Limits::default() },
    }
}

async fn of(plan: Value) -> Report {
    checked(plan, |_| {}).await
}

async fn checked(plan: Value, change: impl FnOnce(&mut CheckOptions)) -> Report {
    let mut world = World::new();
    world.puppet("one", &plan);
    let mut options = options(&world);
    change(&mut options);
    check(&world.entries[0], &options).await
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

/// What every puppet does well enough to be asked on.
fn plan(more: Value) -> Value {
    let mut plan = json!({ "commands": { "go": [["ask", "editor/getMessage", { "format": "hl7" }]] } });
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    plan
}

#[tokio::test]
async fn an_extension_that_behaves_passes() {
    let mut world = crate::published::world(&["editor_ops"]);
    world.entries[0].name = Some("ops".to_owned());
    let report = check(&world.entries[0], &options(&world)).await;
    assert!(report.has_passed(), "{}", report.render());
    assert_eq!((report.extension.as_str(), report.version.as_deref()), ("Editor", Some("1.0.0")));
    let passed =
        |name: &str| report.cases.iter().any(|case| case.name == name && case.outcome == Outcome::Passed);
    for name in [
        "command line",
        "start",
        "initialize",
        "initialize: nothing is asked before",
        "an unknown request",
        "a second `initialize`",
        "command `editor-test/get-json`",
        "command `editor-test/patch`, when everything is refused",
        "an unknown command",
        "event `window/closed`",
        "shutdown",
        "shutdown: it leaves",
        "stdout: messages only",
        "stdout: requests that hosts serve",
    ] {
        assert!(passed(name), "{name} in\n{}", report.render());
    }
    // The reader that published extensions share spins there.
    check_found(&report, &[("note the end of its input", "still there")]);
}

#[tokio::test]
async fn all_published_extensions_pass() {
    for name in ["echo", "dialogs", "windows", "events", "schema_override"] {
        let world = crate::published::world(&[name]);
        let report = check(&world.entries[0], &options(&world)).await;
        let failures: Vec<_> =
            found(&report).into_iter().filter(|(name, _)| name.starts_with("FAILED")).collect();
        // It opens a window where nobody can show one, and looks for what is not there.
        let allowed = if name == "windows" { "FAILED command `window-test/open" } else { "none" };
        assert!(failures.iter().all(|(name, _)| name.starts_with(allowed)), "{}", report.render());
    }
}

#[tokio::test]
async fn what_cannot_be_started_ends_the_run() {
    let world = World::new();
    let report = check(&ExtensionEntry::new("python3 'x"), &options(&world)).await;
    check_found(&report, &[("FAILED command line", "not closed")]);
    let report = check(&ExtensionEntry::new("/nowhere/at/all"), &options(&world)).await;
    check_found(&report, &[("FAILED start", "/nowhere/at/all")]);
}

#[tokio::test]
async fn a_handshake_that_does_not_work_ends_the_run() {
    let report = of(json!({ "init": { "error": { "code": -32000, "message": "no" } } })).await;
    check_found(&report, &[("FAILED initialize", "the error -32000: no")]);
    let report = of(json!({ "init": { "result": { "name": "N" } } })).await;
    check_found(&report, &[("FAILED initialize", "missing field `version`")]);
    let report = of(json!({ "init": { "before": [["exit", 3]] } })).await;
    check_found(&report, &[("FAILED initialize", "its end with exit status 3")]);
    let report = checked(json!({ "init": { "before": [["hang"]] } }), |options| {
        options.limits.initialize = SHORT;
    })
    .await;
    check_found(&report, &[("FAILED initialize", "nothing within 0.3 s")]);
}

#[tokio::test]
async fn oddities_of_the_handshake_are_noted() {
    let result = json!({
        "name": " ", "version": "1", "schema": { "segments": {} },
        "toolbarButtons": [{ "id": "b", "label": "B", "icon": "x.png", "command": "go" }],
        "capabilities": { "commands": ["go", "go"], "events": [{ "name": "cursor/moved" }] }
    });
    let ask = json!([["ask", "editor/getMessage", { "format": "hl7" }]]);
    let report = of(plan(json!({ "init": { "result": result, "before": ask } }))).await;
    check_found(
        &report,
        &[
            ("FAILED initialize: nothing is asked before", "1 requests"),
            ("FAILED initialize: a name", "empty"),
            ("note initialize: commands", "`go` more than once"),
            ("note initialize: events", "`cursor/moved`"),
            ("note button `b`", "x.png"),
            ("note initialize: schema", "a schema alone"),
        ],
    );
}

#[tokio::test]
async fn silence_about_what_it_does_not_know_is_noted() {
    let report = of(plan(json!({ "silent": true }))).await;
    check_found(&report, &[("note an unknown request", "nothing within 5 s")]);
}

#[tokio::test]
async fn commands_that_break_the_protocol_are_failures() {
    let report = of(json!({ "commands": {
        "die": [["exit", 4]],
        "wrong": [["ask", "editor/getMessage", {}], ["ask", "editor/save", {}], ["ask", "ui/openFile", null]],
        "noise": [["body", "hello"], ["message", { "jsonrpc": "2.0", "id": 77, "result": {} }],
                  ["message", { "jsonrpc": "2.0", "method": "log", "params": {} }]],
        "lie": [["raw", "Content-Length: many\r\n\r\n"]]
    } }))
    .await;
    check_found(
        &report,
        &[
            ("FAILED command `die`", "its end with exit status 4"),
            ("FAILED command `die`, when everything is refused", "its end with exit status 4"),
            ("FAILED command `lie`", "not a number"),
            ("FAILED command `lie`, when everything is refused", "not a number"),
            ("FAILED stdout: messages only", "hello"),
            ("FAILED stdout: requests that hosts serve", "missing field `format`"),
            ("note stdout: answers to what was asked", "{}"),
            ("note stdout: no notifications", "log"),
        ],
    );
}

#[tokio::test]
async fn an_extension_that_does_not_leave_is_told() {
    let report = checked(plan(json!({ "shutdown": { "stay": true } })), |options| {
        options.limits.leave = SHORT;
    })
    .await;
    check_found(&report, &[("FAILED shutdown: it leaves", "it stays, and hosts kill it after 0.3 s")]);
    let report = checked(plan(json!({ "shutdown": { "answer": false, "stay": true } })), |options| {
        (options.limits.shutdown, options.limits.leave) = (SHORT, SHORT);
    })
    .await;
    check_found(
        &report,
        &[("FAILED shutdown", "nothing within 0.3 s"), ("FAILED shutdown: it leaves", "it stays")],
    );
    let report = of(plan(json!({ "shutdown": { "reply": { "result": { "success": false } } } }))).await;
    check_found(&report, &[("note shutdown", "the result `{\"success\": false}`")]);
}

#[tokio::test]
async fn commands_and_broken_bodies_are_left_out_unless_they_are_asked_for() {
    let report =
        checked(json!({ "commands": { "die": [["exit", 4]] } }), |options| options.commands = false).await;
    let skipped: Vec<&str> = report
        .cases
        .iter()
        .filter(|case| matches!(case.outcome, Outcome::Skipped { .. }))
        .map(|case| case.name.as_str())
        .collect();
    assert_eq!(skipped, ["command `die`", "bodies that are no messages"], "{}", report.render());
    // A puppet dies of them, as published extensions do.
    let report = checked(plan(json!({})), |options| options.malformed = true).await;
    check_found(&report, &[("note bodies that are no messages", "its end with exit status 1")]);
}
