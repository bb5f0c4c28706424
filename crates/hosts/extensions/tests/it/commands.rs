//! Commands: who gets them, when they are done, and what happens to those that wait.

use std::time::Duration;

use loggia_domain::{DialogAnswer, GuestCommands, GuestError};
use loggia_extensions::Limits;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::desk::MESSAGE;
use crate::support::{One, PATIENCE, World, doing, eventually, texts};

#[tokio::test]
async fn a_command_is_done_when_its_extension_has_come_to_rest() {
    let plan = doing(json!([
        ["sleep", 0.1], ["ask", "editor/getMessage", { "format": "hl7" }], ["sleep", 0.1], ["say", "[warn] done"]
    ]));
    let one = One::within(plan, |world| {
        world.desk.put(MESSAGE);
        world.limits.quiet = Duration::from_secs(2);
    })
    .await;
    let began = Instant::now();
    let done = one.host.execute("go".to_owned(), None, None).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(2200), "{:?}", began.elapsed());
    assert_eq!((done.extension.as_str(), done.still_busy), ("one", false));
    let said: Vec<&str> = done.said.iter().map(|entry| entry.text.as_str()).collect();
    assert!(said[0].starts_with("answer ") && said[1] == "done", "{said:?}");
    one.host.stop().await;
}

#[tokio::test]
async fn a_command_that_asks_people_is_not_done_before_they_answer() {
    let plan = doing(json!([["ask", "ui/showConfirm", { "message": "sure?" }]]));
    let one = One::within(plan, |world| world.limits.quiet = Duration::from_secs(1)).await;
    let done = one.host.execute("go".to_owned(), None, Some(Duration::from_secs(3))).await.unwrap();
    assert!(done.still_busy && done.said.is_empty());
    one.host.stop().await;
}

#[tokio::test]
async fn one_that_never_falls_silent_is_still_busy_at_the_limit_and_holds_up_nobody() {
    let plan = json!({ "commands": { "talk": [["chatter"]], "go": [] } });
    let one = One::within(plan, |world| world.limits.quiet = Duration::from_secs(1)).await;
    let limit = Some(Duration::from_secs(3));
    let done = one.host.execute("talk".to_owned(), None, limit).await.unwrap();
    assert!(done.still_busy && done.said.iter().all(|entry| entry.text == "tick"));
    // The next one is told, though nobody hears it there.
    let done = one.host.execute("go".to_owned(), None, Some(Duration::from_secs(4))).await.unwrap();
    assert!(done.still_busy);
    one.host.stop().await;
}

#[tokio::test]
async fn a_command_goes_to_the_first_extension_that_has_it_unless_one_is_named() {
    let mut world = World::new();
    for name in ["first", "second"] {
        world.puppet(name, &json!({ "commands": { "same": [["say", name]], name: [] } }));
    }
    let host = world.started().await;
    let run = async |command: &str, extension: Option<&str>| {
        host.execute(command.to_owned(), extension.map(str::to_owned), Some(PATIENCE)).await
    };
    assert_eq!(run("same", None).await.unwrap().extension, "first");
    assert_eq!(run("same", Some("second")).await.unwrap().extension, "second");
    assert_eq!(run("second", None).await.unwrap().extension, "second");
    let commands: Vec<(String, String)> =
        host.commands().await.unwrap().into_iter().map(|command| (command.id, command.extension)).collect();
    let expected = [("same", "first"), ("first", "first"), ("same", "second"), ("second", "second")];
    assert_eq!(commands, expected.map(|(id, extension)| (id.to_owned(), extension.to_owned())));
    for (command, extension) in [("nothing", None), ("second", Some("first"))] {
        let error = run(command, extension).await.unwrap_err();
        let words = format!("no extension that runs here has the command `{command}`");
        assert_eq!(error, GuestError::NotFound(words));
    }
    assert_eq!(world.told("first", "command/execute"), [json!({ "command": "same" })]);
    host.stop().await;
}

#[tokio::test]
async fn a_command_of_a_button_alone_can_be_run() {
    let result = json!({ "name": "N", "version": "1", "toolbarButtons": [
        { "id": "b", "label": "Go", "icon": "", "command": "go" }] });
    let mut plan = doing(json!([["say", "pressed"]]));
    plan["init"] = json!({ "result": result });
    let one = One::new(plan).await;
    one.host.execute("go".to_owned(), None, Some(PATIENCE)).await.unwrap();
    eventually("its word", || texts(&one.host, "one").iter().any(|text| text == "pressed")).await;
    one.host.stop().await;
}

#[tokio::test]
async fn running_a_command_starts_what_is_to_run() {
    let mut world = World::new();
    world.puppet("one", &doing(json!([["say", "hello"]])));
    let host = world.host();
    assert!(world.heard("one").is_empty());
    host.execute("go".to_owned(), None, Some(PATIENCE)).await.unwrap();
    assert_eq!(world.told("one", "command/execute").len(), 1);
    host.stop().await;
}

#[tokio::test]
async fn a_second_command_waits_until_the_first_has_its_answers() {
    let plan = json!({ "commands": {
        "first": [["say", "first begins"], ["ask", "ui/showConfirm", { "message": "sure?" }], ["sleep", 0.2], ["say", "first ends"]],
        "second": [["say", "second"]]
    } });
    let one = One::within(plan, |world| world.limits.quiet = Duration::from_secs(2)).await;
    let first = one.give("first");
    eventually("the dialog", || one.world.people.asked().len() == 1).await;
    let (second, third) = (one.give("second"), one.give("second"));
    // Long enough for a second command to have come, had it been sent.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(one.world.told("one", "command/execute"), [json!({ "command": "first" })]);
    assert!(!first.is_finished() && !second.is_finished());
    one.host.stop_one("one").await.unwrap();
    for given in [first, second, third] {
        let error = given.await.unwrap().unwrap_err();
        assert!(matches!(&error, GuestError::Gone(words) if words.contains("it was stopped")), "{error}");
    }
    assert_eq!(one.world.told("one", "command/execute").len(), 1);
    one.host.restart("one").await.unwrap();
    one.world.people.will_answer([Ok(DialogAnswer::Confirmed(true))]);
    let (first, second) = (one.give("first"), one.give("second"));
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    let said: Vec<String> =
        texts(&one.host, "one").into_iter().filter(|text| text.starts_with(['f', 's'])).collect();
    // The first one went on when its question was taken back.
    assert_eq!(said, ["first begins", "first ends", "first begins", "first ends", "second"]);
    one.host.stop().await;
}

#[tokio::test]
async fn a_command_that_did_not_begin_in_time_never_begins() {
    let one = One::new(json!({ "commands": { "first": [["ask", "ui/showConfirm", { "message": "?" }]], "second": [["say", "second"]] } })).await;
    let first = one.give("first");
    eventually("the dialog", || one.world.people.asked().len() == 1).await;
    let error =
        one.host.execute("second".to_owned(), None, Some(Duration::from_millis(100))).await.unwrap_err();
    let words = "extension `one`, `second`: it is still busy with something else and has not begun";
    assert_eq!(error, GuestError::TimedOut(words.to_owned()));
    one.host.stop().await;
    first.await.unwrap().unwrap_err();
    assert_eq!(one.world.told("one", "command/execute").len(), 1);
}

#[tokio::test]
async fn commands_that_wait_are_bounded() {
    let plan =
        json!({ "commands": { "first": [["ask", "ui/showConfirm", { "message": "?" }]], "second": [] } });
    let one = One::within(plan, |world| world.limits = Limits { waiting_commands: 2, ..world.limits }).await;
    one.give("first");
    eventually("the dialog", || one.world.people.asked().len() == 1).await;
    let waiting = [one.give("second"), one.give("second")];
    tokio::task::yield_now().await;
    let refused = async || {
        one.host.execute("second".to_owned(), None, Some(Duration::from_millis(50))).await.unwrap_err()
    };
    let mut error = refused().await;
    // The two that wait may not have come that far yet.
    while matches!(error, GuestError::TimedOut(_)) {
        error = refused().await;
    }
    assert_eq!(
        error,
        GuestError::Refused("extension `one`, `second`: too many commands wait for it".to_owned())
    );
    assert!(waiting.iter().all(|given| !given.is_finished()));
    one.host.stop().await;
}

#[tokio::test]
async fn a_command_in_which_its_extension_dies_says_so() {
    let one = One::within(doing(json!([["say", "oh"], ["exit", 7]])), World::be_patient).await;
    let error = one.host.execute("go".to_owned(), None, None).await.unwrap_err();
    let words = error.to_string();
    assert!(
        matches!(error, GuestError::Gone(_)) && words.starts_with("extension `one`, `go`: it ended"),
        "{words}"
    );
    one.host.stop().await;
}

#[tokio::test]
async fn a_command_that_changes_the_message_can_be_followed_by_its_caller() {
    let patch = |value: &str| -> Value {
        json!(["ask", "editor/patchMessage", { "patches": [{ "path": "PID.5.1", "value": value }] }])
    };
    let one =
        One::within(doing(json!([patch("Müller"), patch("Ørsted")])), |world| world.desk.put(MESSAGE)).await;
    one.answers(2).await;
    assert!(one.world.desk.text().unwrap().ends_with("PID|1||77||Ørsted^ANN"));
    one.host.stop().await;
}
