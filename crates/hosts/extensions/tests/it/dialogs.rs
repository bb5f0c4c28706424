//! Each dialog: answered, cancelled, refused; and what becomes of those that nobody answers.

use std::path::PathBuf;

use loggia_domain::{
    ConfirmWords, DialogAnswer, DialogBody, DialogError, DialogWeight, ExtensionState, FileKind,
};
use serde_json::{Value, json};

use crate::support::{One, World, doing, eventually, state, texts};

fn paths(paths: &[&str]) -> Result<DialogAnswer, DialogError> {
    Ok(DialogAnswer::Chosen(Some(paths.iter().map(PathBuf::from).collect())))
}

const CANCELLED: Result<DialogAnswer, DialogError> = Ok(DialogAnswer::Chosen(None));

/// Asks the same several times, with an answer for each; the dialog that was shown.
async fn check(
    method: &str,
    params: Value,
    rounds: Vec<(Result<DialogAnswer, DialogError>, Value)>,
) -> loggia_domain::Dialog {
    let steps: Vec<Value> = rounds.iter().map(|_| json!(["ask", method, params])).collect();
    let (given, expected): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    let one = One::new(doing(Value::Array(steps))).await;
    one.world.people.will_answer(given);
    assert_eq!(one.answers(expected.len()).await, expected, "{method}");
    let mut asked = one.world.people.asked();
    assert_eq!((asked.len(), one.world.people.withdrawn()), (expected.len(), 0));
    one.host.stop().await;
    asked.remove(0)
}

fn nobody() -> (Result<DialogAnswer, DialogError>, Value) {
    let error = DialogError::NobodyThere("no client shows dialogs".to_owned());
    (Err(error.clone()), json!({ "code": -32012, "message": error.to_string() }))
}

#[tokio::test]
async fn a_message_is_shown_until_it_is_seen() {
    for (kind, weight) in
        [("info", DialogWeight::Info), ("warning", DialogWeight::Warning), ("error", DialogWeight::Error)]
    {
        let params = json!({ "message": "größer", "title": "T", "kind": kind });
        let seen = (Ok(DialogAnswer::Seen), json!({ "acknowledged": true }));
        let dialog = check("ui/showMessage", params, vec![seen, nobody()]).await;
        assert_eq!((dialog.guest.as_str(), dialog.title.as_deref()), ("one", Some("T")));
        assert_eq!(dialog.body, DialogBody::Message { text: "größer".to_owned(), weight });
    }
}

#[tokio::test]
async fn a_question_is_confirmed_denied_or_not_asked() {
    for (buttons, words) in [
        (json!("yesNo"), ConfirmWords::YesNo),
        (json!("okCancel"), ConfirmWords::OkCancel),
        (Value::Null, ConfirmWords::YesNo),
    ] {
        let rounds = vec![
            (Ok(DialogAnswer::Confirmed(true)), json!({ "confirmed": true })),
            (Ok(DialogAnswer::Confirmed(false)), json!({ "confirmed": false })),
            nobody(),
        ];
        let dialog = check("ui/showConfirm", json!({ "message": "sure?", "buttons": buttons }), rounds).await;
        assert_eq!(dialog.body, DialogBody::Confirm { text: "sure?".to_owned(), words });
    }
}

#[tokio::test]
async fn one_file_is_chosen_or_none() {
    let params = json!({ "title": "Open", "defaultPath": "/srv", "filters": [{ "name": "HL7", "extensions": ["hl7", "*"] }] });
    let rounds = vec![
        (paths(&["/srv/ä.hl7"]), json!({ "path": "/srv/ä.hl7" })),
        (CANCELLED, json!({ "path": null })),
        nobody(),
    ];
    let dialog = check("ui/openFile", params, rounds).await;
    let kinds = vec![FileKind { name: "HL7".to_owned(), endings: vec!["hl7".to_owned(), "*".to_owned()] }];
    assert_eq!(dialog.body, DialogBody::ChooseFiles { several: false, start: Some("/srv".into()), kinds });
}

#[tokio::test]
async fn several_files_are_chosen_or_none() {
    let rounds = vec![
        (paths(&["/a", "/b"]), json!({ "paths": ["/a", "/b"] })),
        (CANCELLED, json!({ "paths": null })),
        nobody(),
    ];
    let dialog = check("ui/openFiles", json!({}), rounds).await;
    assert_eq!(dialog.body, DialogBody::ChooseFiles { several: true, start: None, kinds: Vec::new() });
}

#[tokio::test]
async fn a_place_to_save_is_chosen_or_none() {
    let rounds =
        vec![(paths(&["/a/b"]), json!({ "path": "/a/b" })), (CANCELLED, json!({ "path": null })), nobody()];
    let dialog = check("ui/saveFile", json!({ "defaultName": "test.hl7", "title": null }), rounds).await;
    let body = DialogBody::ChoosePlace { start: None, name: Some("test.hl7".to_owned()), kinds: Vec::new() };
    assert_eq!((dialog.title, dialog.body), (None, body));
}

#[tokio::test]
async fn a_directory_is_chosen_or_none() {
    let rounds =
        vec![(paths(&["/a"]), json!({ "path": "/a" })), (CANCELLED, json!({ "path": null })), nobody()];
    let dialog = check("ui/selectDirectory", json!({ "title": "Where?" }), rounds).await;
    assert_eq!(dialog.body, DialogBody::ChooseDirectory { start: None });
}

#[tokio::test]
async fn too_many_dialogs_and_a_server_that_stops_are_told() {
    let rounds = [DialogError::TooMany("too many dialogs".to_owned()), DialogError::Stopping].map(|error| {
        let expected = json!({ "code": -32012, "message": error.to_string() });
        (Err(error), expected)
    });
    check("ui/showMessage", json!({ "message": "m" }), rounds.into()).await;
}

#[tokio::test]
async fn a_dialog_that_waits_is_answered_when_its_extension_is_stopped() {
    let one = One::new(doing(json!([["ask", "ui/showConfirm", { "message": "sure?" }]]))).await;
    let given = one.give("go");
    eventually("the dialog", || one.world.people.asked().len() == 1).await;
    one.host.stop_one("one").await.unwrap();
    let expected = json!({ "code": -32012, "message": "the extension is being stopped" });
    assert_eq!(one.all_answers(), [expected]);
    assert_eq!((one.world.people.withdrawn(), state(&one.host, "one")), (1, ExtensionState::Stopped));
    // It heard that before it was told to leave, and left in good order.
    let last = texts(&one.host, "one").pop().unwrap();
    assert!(last.ends_with("ended with exit status 0"), "{last}");
    given.await.unwrap().unwrap_err();
    one.host.stop().await;
}

#[tokio::test]
async fn a_dialog_during_shutdown_is_refused_and_everything_else_is_served() {
    let mut plan = doing(json!([]));
    plan["shutdown"] = json!({ "before": [
        ["ask", "ui/showConfirm", { "message": "really?" }],
        ["ask", "ui/openWindow", { "url": "http://127.0.0.1/", "title": "T" }],
        ["ask", "editor/getMessage", { "format": "hl7" }]
    ] });
    let one = One::within(plan, |world| world.desk.put("MSH|last")).await;
    one.host.stop_one("one").await.unwrap();
    let answers = one.all_answers();
    assert_eq!(answers[0], json!({ "code": -32012, "message": "the extension is being stopped" }));
    assert_eq!(answers[1], json!({ "code": -32008, "message": "the extension is being stopped" }));
    assert_eq!(answers[2], json!({ "message": "MSH|last", "hasFile": false }));
    assert!(one.world.people.asked().is_empty() && one.world.people.shown().is_empty());
    one.host.stop().await;
}

#[tokio::test]
async fn a_dialog_of_an_extension_that_dies_is_withdrawn() {
    let plan =
        doing(json!([["send", "ui/showConfirm", { "message": "sure?" }], ["sleep", 0.2], ["exit", 3]]));
    let one = One::within(plan, World::be_patient).await;
    let given = one.give("go");
    eventually("the dialog", || one.world.people.asked().len() == 1).await;
    given.await.unwrap().unwrap_err();
    eventually("its withdrawal", || one.world.people.withdrawn() == 1).await;
    one.host.stop().await;
}

#[tokio::test]
async fn requests_to_people_are_bounded() {
    let steps: Vec<Value> = (0..140).map(|_| json!(["send", "ui/showMessage", { "message": "m" }])).collect();
    let mut plan = doing(Value::Array(steps));
    plan["commands"]["go"].as_array_mut().unwrap().push(json!(["wait", 140]));
    let one = One::new(plan).await;
    let answers = one.answers(1).await;
    assert_eq!(answers[0]["code"], -32000, "{answers:?}");
    assert_eq!(one.world.people.asked().len(), 128);
    one.host.stop().await;
}
