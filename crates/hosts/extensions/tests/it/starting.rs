//! How extensions begin: their command lines, their environment, their handshake, and every way in which that fails.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use loggia_domain::{ExtensionDeskError, ExtensionState, GuestCommands, GuestError};
use loggia_extensions::{ExtensionEntry, Limits};
use serde_json::{Value, json};

use crate::support::{One, SHORT, World, doing, eventually, failure, is_alive, state, texts, variables};

/// Why a puppet with this plan does not start.
async fn fails(plan: Value, change: impl FnOnce(&mut World)) -> (String, World) {
    let mut world = World::new();
    world.puppet("one", &plan);
    change(&mut world);
    let host = world.host();
    host.start_all().await;
    let why = failure(&host, "one");
    let summary = host.list().remove(0);
    assert_eq!((summary.process, summary.commands.len()), (None, 0));
    // Nothing is left of it.
    for text in texts(&host, "one").iter().filter_map(|text| text.strip_prefix("child ")) {
        assert!(!is_alive(text));
    }
    host.stop().await;
    (why, world)
}

#[tokio::test]
async fn the_handshake_is_the_first_thing_said_and_tells_who_we_are() {
    let one = One::new(json!({})).await;
    let data = one.world.directory.path().join("data");
    assert!(data.is_dir());
    let expected = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "hermesVersion": env!("CARGO_PKG_VERSION"), "apiVersion": "1.0", "dataDirectory": data }
    });
    assert_eq!(one.world.heard("one"), [expected]);
    one.host.stop().await;
}

#[tokio::test]
async fn an_extension_says_what_it_is_and_what_it_offers() {
    let result = json!({
        "name": "Lab Ünits", "version": "2.0.1", "description": "units", "authors": ["A", "B"], "homepage": "https://x/",
        "capabilities": { "commands": ["lab/go"], "schemaProvider": true, "events": [{ "name": "message/saved" }] },
        "toolbarButtons": [{ "id": "b", "label": "Go", "icon": "<svg/>", "command": "lab/go" }],
        "schema": { "segments": {} }, "unknown": 3
    });
    let one = One::new(json!({ "init": { "result": result } })).await;
    let summary = one.summary();
    let about = summary.about.unwrap();
    assert_eq!((about.name.as_str(), about.version.as_str(), about.authors.len()), ("Lab Ünits", "2.0.1", 2));
    assert_eq!(
        (about.description.as_deref(), about.homepage.as_deref()),
        (Some("units"), Some("https://x/"))
    );
    assert_eq!(
        (summary.events, summary.has_schema, summary.of_workspace),
        (vec!["message/saved".to_owned()], true, false)
    );
    let [command] = &summary.commands[..] else { panic!("{:?}", summary.commands) };
    assert_eq!(
        (command.id.as_str(), command.title.as_str(), command.extension.as_str()),
        ("lab/go", "Go", "one")
    );
    assert_eq!(command.button.as_ref().unwrap().icon, "<svg/>");
    assert_eq!(one.host.commands().await.unwrap(), summary.commands);
    assert!(is_alive(&summary.process.unwrap().to_string()));
    one.host.stop().await;
}

#[tokio::test]
async fn capabilities_may_be_missing_and_unknown_events_are_a_warning() {
    let one = One::new(json!({ "init": { "result": { "name": "N", "version": "1" } } })).await;
    assert!(one.summary().commands.is_empty());
    one.host.stop().await;
    let events = json!([{ "name": "cursor/moved" }]);
    let one = One::new(json!({ "init": { "events": events } })).await;
    let warning = "it subscribes to `cursor/moved`, which does not exist here";
    assert!(texts(&one.host, "one").iter().any(|text| text == warning));
    one.host.stop().await;
}

#[tokio::test]
async fn settings_say_where_how_and_with_what_an_extension_runs() {
    let mut world = World::new();
    let source = "import os, sys\nprint(os.getcwd(), sys.argv[1:], file=sys.stderr)\n\
        for n in ('HERMES_VERSION', 'HERMES_API_VERSION', 'HERMES_DATA_DIR', 'MINE', 'SECRET'):\n\
        \tprint(n, os.environ.get(n), file=sys.stderr)\n";
    let inner = world.directory.path().join("my place");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("a b.py"), source).unwrap();
    let python = ExtensionEntry::new("python3 './a b.py' --x \"y z\"");
    world.entries.push(ExtensionEntry { cwd: Some("my place".into()), ..python.clone() });
    let args = vec!["my place/a b.py".to_owned(), "q".to_owned()];
    let env = variables(&[("MINE", "1"), ("HERMES_VERSION", "9.9")]);
    world.entries.push(ExtensionEntry { path: "python3".to_owned(), args, env, ..python });
    let host = world.host();
    host.start_all().await;
    let (root, data) = (world.directory.path().canonicalize().unwrap(), world.directory.path().join("data"));
    let data = format!("HERMES_DATA_DIR {}", data.display());
    assert_eq!(
        texts(&host, "a-b")[..6],
        [
            format!("{} ['--x', 'y z']", root.join("my place").display()),
            format!("HERMES_VERSION {}", env!("CARGO_PKG_VERSION")),
            "HERMES_API_VERSION 1.0".to_owned(),
            data.clone(),
            "MINE None".to_owned(),
            "SECRET None".to_owned()
        ]
    );
    let texts = texts(&host, "a-b-2");
    assert_eq!(texts[..2], [format!("{} ['q']", root.display()), "HERMES_VERSION 9.9".to_owned()]);
    assert_eq!(texts[3..5], [data, "MINE 1".to_owned()]);
    host.stop().await;
}

#[tokio::test]
async fn a_relative_program_is_looked_for_where_it_runs() {
    use std::os::unix::fs::PermissionsExt;

    let mut world = World::new();
    let program = world.directory.path().join("here.sh");
    std::fs::write(&program, "#!/bin/sh\necho here >&2\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.entries.push(ExtensionEntry::new("./here.sh"));
    let host = world.host();
    host.start_all().await;
    assert_eq!(texts(&host, "here")[0], "here");
    assert_eq!(failure(&host, "here"), "it ended with exit status 0");
    host.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_fails_and_the_rest_begins_in_order() {
    let mut world = World::new();
    world.entries.push(ExtensionEntry::new("/nowhere/at/all"));
    world.entries.push(ExtensionEntry::new("python3 'unbalanced"));
    world.entries.push(ExtensionEntry::new(" "));
    world.entries.push(ExtensionEntry { cwd: Some("missing".into()), ..ExtensionEntry::new("python3") });
    world.puppet("good", &json!({}));
    world.puppet("better", &json!({}));
    let host = world.host();
    assert!(host.list().iter().all(|summary| summary.state == ExtensionState::Idle));
    let states: Vec<ExtensionState> =
        host.start_all().await.into_iter().map(|summary| summary.state).collect();
    assert!(
        matches!(&states[0], ExtensionState::Failed(why) if why.contains("/nowhere/at/all")),
        "{states:?}"
    );
    assert!(matches!(&states[1], ExtensionState::Failed(why) if why.contains("not closed")), "{states:?}");
    assert!(matches!(&states[2], ExtensionState::Failed(why) if why.contains("empty")), "{states:?}");
    assert!(matches!(&states[3], ExtensionState::Failed(_)), "{states:?}");
    assert_eq!(states[4..], [ExtensionState::Running, ExtensionState::Running]);
    let begun = |name: &str| host.logs(name).unwrap()[0].at;
    assert!(begun("good") <= begun("better"));
    host.stop().await;
}

#[tokio::test]
async fn extensions_begin_one_after_another() {
    let mut world = World::new();
    let order = world.directory.path().join("order");
    for name in ["a", "b", "c"] {
        let source = format!(
            "import time\nopen({order:?}, 'a').write('{name} begins\\n')\ntime.sleep(0.1)\nopen({order:?}, 'a').write('{name} ends\\n')\n"
        );
        world.script(&format!("{name}.py"), &source);
    }
    let host = world.host();
    host.start_all().await;
    let expected = "a begins\na ends\nb begins\nb ends\nc begins\nc ends\n";
    assert_eq!(std::fs::read_to_string(order).unwrap(), expected);
    host.stop().await;
}

#[tokio::test]
async fn an_extension_that_does_not_answer_in_time_has_failed_and_is_killed() {
    let (why, _) = fails(json!({ "init": { "before": [["child"], ["hang"]] } }), |world| {
        world.limits = Limits { initialize: Duration::from_secs(2), ..world.limits };
    })
    .await;
    assert_eq!(why, "it did not answer `initialize` within 2 s and was killed");
}

#[tokio::test]
async fn an_extension_that_refuses_the_handshake_has_failed_and_is_killed() {
    let error = json!({ "code": -32050, "message": "wrong version" });
    let (why, _) =
        fails(json!({ "init": { "before": [["child"]], "error": error, "after": [["hang"]] } }), |_| {})
            .await;
    assert_eq!(why, "it refused `initialize`: wrong version (-32050)");
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape_is_a_failure_at_once() {
    for (result, words) in [
        (json!({ "name": "N" }), "missing field `version`"),
        (json!({ "name": 3, "version": "1" }), "name"),
        (json!({ "name": " ", "version": "1" }), "its `name` is empty"),
        (json!([]), ""),
        (json!("ready"), ""),
        (json!({ "name": "N", "version": "1", "toolbarButtons": [{ "id": "x" }] }), "toolbarButtons[0]"),
        (
            json!({ "name": "N", "version": "1", "schema": { "segments": { "PID": { "fields": [{ "field": 256 }] } } } }),
            "field",
        ),
    ] {
        let (why, _) = fails(json!({ "init": { "result": result, "after": [["hang"]] } }), |_| {}).await;
        assert!(why.starts_with("its answer to `initialize` has the wrong shape: "), "{why}");
        assert!(why.contains(words), "{why}");
    }
}

#[tokio::test]
async fn an_extension_that_ends_first_has_failed_at_once_with_its_last_words() {
    for (steps, expected) in [
        (json!([["say", "ERROR: no licence"], ["exit", 3]]), "it ended with exit status 3"),
        (
            json!([["say", "ERROR: no licence"], ["close"], ["hang"]]),
            "it ended with its output closed, and was killed",
        ),
    ] {
        let mut world = World::new();
        world.puppet("one", &json!({ "init": { "before": steps } }));
        let host = world.host();
        host.start_all().await;
        assert_eq!(failure(&host, "one"), expected);
        assert_eq!(texts(&host, "one"), ["no licence", expected]);
        host.stop().await;
    }
}

#[tokio::test]
async fn failed_extensions_stay_so_until_they_are_restarted() {
    let mut world = World::new();
    world.puppet("one", &json!({ "init": { "before": [["exit", 1]] } }));
    let host = world.host();
    for _ in 0..3 {
        host.start_all().await;
        host.commands().await.unwrap();
    }
    assert_eq!(world.heard("one").len(), 1);
    let error = host.execute("go".to_owned(), Some("one".to_owned()), None).await.unwrap_err();
    let expected =
        "extension `one`, `go`: it ended with exit status 1; it is started again when somebody restarts it";
    assert_eq!(error, GuestError::Gone(expected.to_owned()));
    let error = host.restart("one").await.unwrap_err();
    assert_eq!(error, ExtensionDeskError::Failed("extension `one`: it ended with exit status 1".to_owned()));
    assert_eq!(world.heard("one").len(), 2);
    host.stop().await;
}

#[tokio::test]
async fn disabled_extensions_never_run() {
    let mut world = World::new();
    world.puppet("one", &doing(json!([]))).enabled = false;
    let host = world.host();
    assert_eq!(host.start_all().await[0].state, ExtensionState::Disabled);
    let error = host.restart("one").await.unwrap_err();
    assert!(matches!(&error, ExtensionDeskError::NotAllowed(why) if why.contains("disabled")), "{error}");
    let error = host.execute("go".to_owned(), Some("one".to_owned()), None).await.unwrap_err();
    assert!(matches!(&error, GuestError::Refused(why) if why.contains("disabled")), "{error}");
    assert!(world.heard("one").is_empty());
    host.stop().await;
}

#[tokio::test]
async fn what_a_workspace_brought_runs_only_while_it_is_trusted() {
    let mut world = World::new();
    world.puppet("theirs", &doing(json!([]))).of_workspace = true;
    world.puppet("mine", &json!({}));
    world.trusted.store(false, SeqCst);
    let host = world.host();
    let states = |host: &loggia_extensions::Extensions| {
        host.list().into_iter().map(|summary| summary.state).collect::<Vec<_>>()
    };
    host.start_all().await;
    assert_eq!(states(&host), [ExtensionState::Untrusted, ExtensionState::Running]);
    let error = host.execute("go".to_owned(), Some("theirs".to_owned()), None).await.unwrap_err();
    assert!(matches!(error, GuestError::Untrusted(_)), "{error}");
    assert!(matches!(host.restart("theirs").await, Err(ExtensionDeskError::NotAllowed(_))));
    assert!(world.heard("theirs").is_empty());
    world.trusted.store(true, SeqCst);
    host.trust_changed().await;
    assert_eq!(states(&host), [ExtensionState::Idle, ExtensionState::Running]);
    host.start_all().await;
    assert_eq!(states(&host), [ExtensionState::Running, ExtensionState::Running]);
    world.trusted.store(false, SeqCst);
    host.trust_changed().await;
    assert_eq!(states(&host), [ExtensionState::Untrusted, ExtensionState::Running]);
    assert_eq!(world.told("theirs", "shutdown"), [json!({ "reason": "disabled" })]);
    world.trusted.store(true, SeqCst);
    host.start_all().await;
    assert_eq!(states(&host), [ExtensionState::Running, ExtensionState::Running]);
    host.stop().await;
}

#[tokio::test]
async fn a_host_that_stops_does_not_wait_for_a_handshake() {
    let mut world = World::new();
    world.puppet("one", &json!({ "init": { "before": [["say", "waiting"], ["hang"]] } }));
    let host = world.host();
    let starting = tokio::spawn({
        let host = host.clone();
        async move { host.start_all().await }
    });
    eventually("the handshake", || texts(&host, "one").iter().any(|text| text == "waiting")).await;
    let pid = host.list()[0].process.unwrap().to_string();
    assert_eq!(state(&host, "one"), ExtensionState::Initializing);
    host.stop().await;
    assert!(!is_alive(&pid));
    assert_eq!(starting.await.unwrap()[0].state, ExtensionState::Stopped);
    // Nothing is started any more.
    host.start_all().await;
    assert!(host.restart("one").await.is_err());
    assert_eq!(world.heard("one").len(), 1);
}

#[tokio::test]
async fn whoever_asked_for_a_start_may_go_and_it_is_carried_through() {
    let mut world = World::new();
    world.puppet("one", &json!({ "init": { "before": [["say", "waiting"], ["sleep", 0.3]] } }));
    let host = world.host();
    let started = tokio::time::timeout(SHORT / 30, host.restart("one")).await;
    assert!(started.is_err());
    eventually("its start", || state(&host, "one") == ExtensionState::Running).await;
    host.stop().await;
}
