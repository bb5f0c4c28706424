//! Events: whom they reach, when, with what; and what happens while an extension is not listening.

use std::path::PathBuf;
use std::time::Duration;

use loggia_domain::{DeskEvent, MessageFormat};
use loggia_extensions::Limits;
use serde_json::{Value, json};

use crate::desk::MESSAGE;
use crate::support::{One, World, doing, eventually, failure, hearing, state};

fn all_events() -> Value {
    json!([
        { "name": "message/opened" }, { "name": "message/saved" },
        { "name": "message/changed", "options": { "includeContent": true, "format": "hl7" } }
    ])
}

/// One that hears of everything, in a pause that is easy to wait for.
async fn listener() -> One {
    One::within(hearing(all_events()), |world| world.desk.put(MESSAGE)).await
}

#[tokio::test]
async fn a_burst_of_edits_is_one_event_with_the_final_text() {
    let one = listener().await;
    for number in 0..100 {
        one.world.desk.type_text(&format!("MSH|{number}\nPID|é"));
    }
    eventually("the event", || !one.world.told("one", "message/changed").is_empty()).await;
    one.world.desk.type_text("MSH|again");
    eventually("the second event", || one.world.told("one", "message/changed").len() == 2).await;
    let expected = ["MSH|99\rPID|é", "MSH|again"]
        .map(|text| json!({ "hasFile": false, "message": text, "format": "hl7" }));
    assert_eq!(one.world.told("one", "message/changed"), expected);
    one.host.stop().await;
}

#[tokio::test]
async fn changes_wait_for_a_pause_and_the_rest_does_not() {
    let one = One::within(hearing(all_events()), |world| {
        world.desk.put(MESSAGE);
        world.limits.debounce = Duration::from_secs(3600);
    })
    .await;
    one.world.desk.type_text("MSH|1");
    one.world.desk.tell(DeskEvent::Opened(one.world.desk.open_message()));
    one.world.desk.set_file("/srv/ä.hl7");
    one.world.desk.tell(DeskEvent::Opened(one.world.desk.open_message()));
    for elsewhere in [true, false] {
        one.world.desk.tell(DeskEvent::Saved { message: one.world.desk.open_message(), elsewhere });
    }
    eventually("the events", || one.world.told("one", "message/saved").len() == 2).await;
    assert_eq!(
        one.world.told("one", "message/opened"),
        [json!({ "isNew": true }), json!({ "isNew": false, "filePath": "/srv/ä.hl7" })]
    );
    assert_eq!(
        one.world.told("one", "message/saved"),
        [
            json!({ "filePath": "/srv/ä.hl7", "saveAs": true }),
            json!({ "filePath": "/srv/ä.hl7", "saveAs": false })
        ]
    );
    assert!(one.world.told("one", "message/changed").is_empty());
    one.host.stop().await;
}

#[tokio::test]
async fn opening_and_saving_do_not_take_a_change_back_and_closing_does() {
    let one = listener().await;
    one.world.desk.type_text("MSH|1");
    one.world.desk.set_file("/a");
    one.world.desk.tell(DeskEvent::Saved { message: one.world.desk.open_message(), elsewhere: false });
    one.world.desk.tell(DeskEvent::Opened(one.world.desk.open_message()));
    eventually("the change", || one.world.told("one", "message/changed").len() == 1).await;
    let methods: Vec<Value> = one.world.heard("one").iter().map(|told| told["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "message/saved", "message/opened", "message/changed"]);
    one.world.desk.type_text("MSH|2");
    one.world.desk.tell(DeskEvent::Closed);
    one.world.desk.tell(DeskEvent::Opened(one.world.desk.open_message()));
    one.world.desk.type_text("MSH|3");
    eventually("the change", || one.world.told("one", "message/changed").len() == 2).await;
    assert_eq!(one.world.told("one", "message/changed")[1]["message"], "MSH|3");
    one.host.stop().await;
}

#[tokio::test]
async fn each_subscriber_gets_the_message_as_it_asked_and_others_nothing() {
    let mut world = World::new();
    world.desk.put(MESSAGE);
    world.desk.set_file("/srv/a.hl7");
    world.desk.cannot_write(MessageFormat::Toml);
    let changed = |options: Value| hearing(json!([{ "name": "message/changed", "options": options }]));
    world.puppet("bare", &changed(json!({ "includeContent": false, "format": "json" })));
    world.puppet("plain", &hearing(json!([{ "name": "message/changed" }])));
    world.puppet("json", &changed(json!({ "includeContent": true, "format": "json" })));
    world.puppet("usual", &changed(json!({ "includeContent": true })));
    world.puppet("toml", &changed(json!({ "includeContent": true, "format": "toml" })));
    world.puppet("opened", &hearing(json!([{ "name": "message/opened" }, { "name": "nonsense" }])));
    world.puppet("nothing", &json!({}));
    let host = world.started().await;
    world.desk.type_text("MSH|1");
    for name in ["bare", "plain", "json", "usual", "toml"] {
        eventually(name, || world.told(name, "message/changed").len() == 1).await;
    }
    let file = |more: Value| {
        let mut all = json!({ "hasFile": true, "filePath": "/srv/a.hl7" });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let told = |name: &str| world.told(name, "message/changed").remove(0);
    assert_eq!(told("bare"), file(json!({})));
    assert_eq!(told("plain"), file(json!({})));
    assert_eq!(told("json"), file(json!({ "message": "{\"text\":\"MSH|1\"}", "format": "json" })));
    assert_eq!(told("usual"), file(json!({ "message": "MSH|1", "format": "hl7" })));
    // What cannot be written is left out, and never told under another name.
    assert_eq!(told("toml"), file(json!({})));
    for name in ["opened", "nothing"] {
        assert_eq!(world.heard(name).len(), 1, "{name}");
    }
    host.stop().await;
}

#[tokio::test]
async fn an_extension_hears_of_its_own_edits() {
    let mut plan = doing(json!([["ask", "editor/setMessage", { "message": "MSH|mine", "format": "hl7" }]]));
    plan["init"] = json!({ "events": all_events() });
    let one = One::within(plan, |world| world.desk.put(MESSAGE)).await;
    one.give("go").await.unwrap().unwrap();
    eventually("the event", || !one.world.told("one", "message/changed").is_empty()).await;
    assert_eq!(one.world.told("one", "message/changed")[0]["message"], "MSH|mine");
    one.host.stop().await;
}

#[tokio::test]
async fn nothing_is_told_while_a_request_about_the_message_is_open() {
    let mut plan = doing(json!([
        ["send", "editor/getMessage", { "format": "hl7" }], ["send", "editor/getMessage", { "format": "json" }],
        ["wait", 2]
    ]));
    plan["init"] = json!({ "events": all_events() });
    let one = One::within(plan, |world| {
        world.desk.put(MESSAGE);
        world.desk.set_file("/a");
    })
    .await;
    one.world.desk.set_awake(false);
    let given = one.give("go");
    eventually("the request", || one.world.desk.calls().len() == 1).await;
    let message = one.world.desk.open_message();
    for _ in 0..3 {
        one.world.desk.tell(DeskEvent::Saved { message: message.clone(), elsewhere: false });
    }
    one.world.desk.tell(DeskEvent::Opened(message));
    // The desk tells it all before it answers.
    tokio::time::sleep(Duration::from_millis(100)).await;
    one.world.desk.set_awake(true);
    given.await.unwrap().unwrap();
    eventually("the events", || one.world.told("one", "message/opened").len() == 1).await;
    let told: Vec<String> = one
        .world
        .wire("one")
        .iter()
        .map(|heard| match heard["message"]["method"].as_str() {
            Some(method) => method.to_owned(),
            None => format!("answer {}", heard["message"]["id"]),
        })
        .collect();
    let expected = [
        "initialize",
        "command/execute",
        "answer 1",
        "answer 2",
        "message/saved",
        "message/saved",
        "message/saved",
        "message/opened",
    ];
    assert_eq!(told, expected);
    one.host.stop().await;
}

#[tokio::test]
async fn events_do_come_while_a_dialog_waits() {
    let mut plan = doing(json!([["ask", "ui/showMessage", { "message": "look" }]]));
    plan["init"] = json!({ "events": all_events() });
    let one = One::within(plan, |world| world.desk.set_file("/a")).await;
    let given = one.give("go");
    eventually("the dialog", || one.world.people.asked().len() == 1).await;
    one.world.desk.tell(DeskEvent::Opened(one.world.desk.open_message()));
    eventually("the event", || one.world.told("one", "message/opened").len() == 1).await;
    assert!(!given.is_finished());
    one.host.stop().await;
}

#[tokio::test]
async fn an_extension_that_does_not_listen_is_given_up_and_the_others_go_on() {
    let mut world = World::new();
    world.desk.set_file(&format!("/{}", "long/".repeat(1000)));
    world.limits = Limits { waiting_events: 8, ..world.limits };
    world.puppet(
        "deaf",
        &json!({ "init": { "events": [{ "name": "message/opened" }], "after": [["hang"]] } }),
    );
    world.puppet("good", &hearing(json!([{ "name": "message/opened" }])));
    let host = world.started().await;
    let mut count = 0;
    // A pipe and our own buffer take some before anything has to wait.
    while matches!(state(&host, "deaf"), loggia_domain::ExtensionState::Running) {
        world.desk.tell(DeskEvent::Opened(world.desk.open_message()));
        count += 1;
        eventually("the good one's turn", || world.told("good", "message/opened").len() >= count).await;
        assert!(count < 5000);
    }
    assert_eq!(
        failure(&host, "deaf"),
        "it does not read what it is told: 8 events wait for it, and it was killed"
    );
    assert_eq!(state(&host, "good"), loggia_domain::ExtensionState::Running);
    host.stop().await;
}

#[tokio::test]
async fn changes_that_nobody_has_taken_are_one() {
    let mut plan = doing(json!([["ask", "editor/getMessage", { "format": "hl7" }]]));
    plan["init"] = json!({ "events": [{ "name": "message/changed" }, { "name": "message/opened" }] });
    let one = One::within(plan, |world| {
        world.desk.put(MESSAGE);
        world.limits = Limits { waiting_events: 3, debounce: Duration::from_millis(1), ..world.limits };
    })
    .await;
    one.world.desk.set_awake(false);
    let given = one.give("go");
    eventually("the request", || one.world.desk.calls().len() == 1).await;
    for number in 0..20 {
        one.world.desk.type_text(&format!("MSH|{number}"));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    one.world.desk.tell(DeskEvent::Opened(one.world.desk.open_message()));
    tokio::time::sleep(Duration::from_millis(20)).await;
    one.world.desk.set_awake(true);
    given.await.unwrap().unwrap();
    eventually("the last event", || one.world.told("one", "message/opened").len() == 1).await;
    assert_eq!(one.world.told("one", "message/changed").len(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn a_message_that_is_not_saved_anywhere_is_not_told_as_saved() {
    let one = listener().await;
    let message = loggia_domain::OpenMessage { file: None, ..one.world.desk.open_message() };
    one.world.desk.tell(DeskEvent::Saved { message: message.clone(), elsewhere: false });
    let file = Some(PathBuf::from("/a"));
    one.world
        .desk
        .tell(DeskEvent::Saved { message: loggia_domain::OpenMessage { file, ..message }, elsewhere: false });
    eventually("the event", || one.world.told("one", "message/saved").len() == 1).await;
    assert_eq!(one.world.told("one", "message/saved"), [json!({ "filePath": "/a", "saveAs": false })]);
    one.host.stop().await;
}
