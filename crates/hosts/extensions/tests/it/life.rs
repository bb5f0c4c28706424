//! Processes: noticed when they end, restarted when asked, listed, logged, laid over the schema; never left behind.

use std::time::Duration;

use loggia_domain::{ExtensionDeskError, ExtensionLogLevel, ExtensionState, GuestCommands, GuestError};
use serde_json::json;

use crate::support::{One, World, doing, eventually, failure, is_alive, state, texts};

#[tokio::test]
async fn the_end_of_an_extension_is_noticed_and_it_is_not_started_again() {
    for (steps, expected) in [
        (json!([["sleep", 0.1], ["exit", 3]]), "it ended with exit status 3"),
        (json!([["sleep", 0.1], ["exit", 0]]), "it ended with exit status 0"),
        (json!([["sleep", 0.1], ["close"], ["hang"]]), "it ended with its output closed, and was killed"),
    ] {
        let one = One::new(json!({ "init": { "after": steps } })).await;
        eventually("its end", || state(&one.host, "one") != ExtensionState::Running).await;
        assert_eq!(failure(&one.host, "one"), expected);
        let last = texts(&one.host, "one");
        assert!(
            last[last.len() - 2..][0] == expected && last[last.len() - 1].contains("ended with"),
            "{last:?}"
        );
        assert_eq!(one.summary().process, None);
        one.host.start_all().await;
        assert_eq!(one.world.heard("one").len(), 1);
        one.host.stop().await;
    }
}

#[tokio::test]
async fn a_killed_extension_leaves_the_others_working() {
    let mut world = World::new();
    world.puppet("victim", &json!({}));
    world.puppet("other", &doing(json!([["say", "pong"]])));
    world.limits.quiet = Duration::from_secs(3);
    let host = world.started().await;
    let pid = host.list()[0].process.unwrap();
    let kill = loggia_wire::child::ChildSpec::new("kill", "kill").args(["-9", &pid.to_string()]);
    loggia_wire::child::spawn(&crate::support::keeper(), kill).await.unwrap().ended().await;
    eventually("its end", || state(&host, "victim") != ExtensionState::Running).await;
    assert_eq!(failure(&host, "victim"), "it ended with signal 9 (SIGKILL)");
    let done = host.execute("go".to_owned(), None, None).await.unwrap();
    assert_eq!((done.extension.as_str(), done.said[0].text.as_str()), ("other", "pong"));
    host.stop().await;
}

#[tokio::test]
async fn nothing_that_an_extension_started_outlives_it() {
    let child_of =
        |texts: Vec<String>| texts.iter().find_map(|text| text.strip_prefix("child ").map(str::to_owned));
    // It ends by itself, is stopped, and loses its host.
    for end in ["dies", "stopped", "dropped"] {
        let plan = json!({ "init": { "before": [["child"]] }, "commands": { "die": [["exit", 1]] } });
        let one = One::within(plan, World::be_patient).await;
        let pid = one.summary().process.unwrap().to_string();
        let child = child_of(texts(&one.host, "one")).unwrap();
        assert!(is_alive(&child) && is_alive(&pid));
        match end {
            "dies" => drop(one.give("die").await.unwrap()),
            "stopped" => one.host.stop().await,
            _ => drop(one.host.clone()),
        }
        let One { world, host } = one;
        if end == "dropped" {
            drop(host);
        }
        eventually(end, || !is_alive(&child) && !is_alive(&pid)).await;
        drop(world);
    }
}

#[tokio::test]
async fn an_extension_is_restarted_on_request_and_keeps_its_log() {
    let plan = doing(json!([["say", "WARN: first"], ["sleep", 0.05], ["exit", 2]]));
    let one = One::within(plan, World::be_patient).await;
    let first = one.summary().process.unwrap();
    one.give("go").await.unwrap().unwrap_err();
    assert!(matches!(state(&one.host, "one"), ExtensionState::Failed(_)));
    let summary = one.host.restart("one").await.unwrap();
    assert_eq!(summary.state, ExtensionState::Running);
    assert_ne!(summary.process.unwrap(), first);
    let log = one.host.logs("one").unwrap();
    let warned = log.iter().find(|entry| entry.text == "first").unwrap();
    assert_eq!(warned.level, ExtensionLogLevel::Warning);
    assert!(
        log.iter()
            .any(|entry| entry.text == "it ended with exit status 2"
                && entry.level == ExtensionLogLevel::Error)
    );
    assert_eq!(one.world.told("one", "initialize").len(), 2);
    // One that runs is told why it has to leave.
    one.host.restart("one").await.unwrap();
    assert_eq!(one.world.told("one", "shutdown"), [json!({ "reason": "reload" })]);
    one.host.stop().await;
}

#[tokio::test]
async fn unknown_names_are_told_with_those_that_are_known() {
    let one = One::new(json!({})).await;
    let expected =
        ExtensionDeskError::NotFound("there is no extension `two` here; there are `one`".to_owned());
    assert_eq!(one.host.logs("two").unwrap_err(), expected);
    assert_eq!(one.host.restart("two").await.unwrap_err(), expected);
    assert_eq!(one.host.stop_one("two").await.unwrap_err(), expected);
    let error = one.host.execute("go".to_owned(), Some("two".to_owned()), None).await.unwrap_err();
    assert_eq!(error, GuestError::NotFound(expected.to_string()));
    one.host.stop().await;
}

#[tokio::test]
async fn the_log_has_the_last_hundred_lines_with_their_levels() {
    let mut steps: Vec<serde_json::Value> =
        (0..150).map(|number| json!(["say", format!("line {number}")])).collect();
    steps.extend([
        json!(["say", "[ERROR] größer"]),
        json!(["say", "info: done"]),
        json!(["say", "[tag] text"]),
    ]);
    let one = One::new(doing(json!(steps))).await;
    one.give("go").await.unwrap().unwrap();
    eventually("all lines", || texts(&one.host, "one").iter().any(|text| text == "[tag] text")).await;
    let log = one.host.logs("one").unwrap();
    assert_eq!(log.len(), 100);
    assert_eq!(log[0].text, "line 53");
    let last: Vec<_> = log[97..].iter().map(|entry| (entry.level, entry.text.as_str())).collect();
    assert_eq!(
        last,
        [
            (ExtensionLogLevel::Error, "größer"),
            (ExtensionLogLevel::Info, "done"),
            (ExtensionLogLevel::Info, "[tag] text")
        ]
    );
    one.host.stop().await;
}

#[tokio::test]
async fn overlays_lie_in_the_order_of_the_settings_and_go_with_their_extensions() {
    let schema = |note: &str| json!({ "init": { "schema": { "segments": { "PID": { "fields": [{ "field": 3, "note": note }] } } } }, "commands": { "die": [["exit", 1]] } });
    let mut world = World::new();
    world.puppet("first", &schema("1"));
    world.puppet("none", &json!({}));
    world.puppet("second", &schema("2"));
    world.be_patient();
    let host = world.started().await;
    let names = || world.desk.overlays().into_iter().map(|overlay| overlay.from).collect::<Vec<_>>();
    assert_eq!(names(), ["first", "second"]);
    assert!(host.list()[0].has_schema && !host.list()[1].has_schema);
    host.execute("die".to_owned(), Some("second".to_owned()), None).await.unwrap_err();
    eventually("its end", || names() == ["first"]).await;
    host.restart("second").await.unwrap();
    assert_eq!(names(), ["first", "second"]);
    host.restart("first").await.unwrap();
    assert_eq!(names(), ["first", "second"]);
    host.stop_one("first").await.unwrap();
    assert_eq!(names(), ["second"]);
    host.stop().await;
    assert!(names().is_empty());
}

#[tokio::test]
async fn one_that_was_stopped_stays_so_until_it_is_restarted() {
    let one = One::new(doing(json!([]))).await;
    let summary = one.host.stop_one("one").await.unwrap();
    assert_eq!((summary.state, summary.process), (ExtensionState::Stopped, None));
    assert_eq!(one.world.told("one", "shutdown"), [json!({ "reason": "disabled" })]);
    one.host.start_all().await;
    let error = one.host.execute("go".to_owned(), Some("one".to_owned()), None).await.unwrap_err();
    assert!(error.to_string().contains("it was stopped"), "{error}");
    one.host.restart("one").await.unwrap();
    one.host.execute("go".to_owned(), None, Some(Duration::from_secs(60))).await.unwrap();
    one.host.stop().await;
}

#[tokio::test]
async fn other_settings_restart_only_what_is_different() {
    let mut world = World::new();
    world.puppet("same", &json!({}));
    world.puppet("other", &json!({ "init": { "after": [["say", "before"]] } }));
    world.puppet("off", &json!({}));
    world.puppet("gone", &json!({}));
    let host = world.started().await;
    let pid = host.list()[0].process;
    eventually("its word", || texts(&host, "other").iter().any(|text| text == "before")).await;
    let mut entries = world.entries.clone();
    entries.remove(3);
    entries[1].env.insert("X".to_owned(), "1".to_owned());
    entries[2].enabled = false;
    world.puppet("new", &json!({}));
    entries.insert(0, world.entries.last().unwrap().clone());
    host.reconfigure(entries).await;
    let states: Vec<_> = host.list().into_iter().map(|one| (one.name, one.state)).collect();
    let expected = [
        ("new", ExtensionState::Idle),
        ("same", ExtensionState::Running),
        ("other", ExtensionState::Running),
        ("off", ExtensionState::Disabled),
    ];
    assert_eq!(states, expected.map(|(name, state)| (name.to_owned(), state)));
    assert_eq!(host.list()[1].process, pid);
    assert_eq!(world.told("same", "shutdown"), Vec::<serde_json::Value>::new());
    assert_eq!(world.told("other", "shutdown"), [json!({ "reason": "reload" })]);
    for name in ["off", "gone"] {
        assert_eq!(world.told(name, "shutdown"), [json!({ "reason": "disabled" })], "{name}");
    }
    assert!(texts(&host, "other").iter().any(|text| text == "before"), "its log is kept");
    host.start_all().await;
    assert_eq!(state(&host, "new"), ExtensionState::Running);
    host.stop().await;
}
