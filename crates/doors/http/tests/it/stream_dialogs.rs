//! Dialogs and windows of extensions on the stream that belongs to no session.

use loggia_domain::{Dialogs, GuestWindow, WindowId};
use serde_json::{Value, json};

use crate::stream_support::{Client, DRIVER, WATCHER, Who, World, world, world_with_desks};

/// A client on the stream of everything, able to do this.
async fn listener(world: &World, who: &Who, name: &str, capabilities: &[&str]) -> Client {
    let mut client = world.connect(who, "/v1/stream").await;
    let info = json!({"name": name, "version": "1", "capabilities": capabilities});
    client.say(json!({"type": "client.hello", "client_info": info})).await;
    assert_eq!(client.next().await["type"], "server.hello");
    client
}

/// Runs a command of the extension in the background; gives what it said.
fn run(world: &World, command: &'static str) -> tokio::task::JoinHandle<String> {
    let (engine, workspace) = (world.engine.clone(), world.workspace.clone());
    tokio::spawn(async move {
        let commands = engine.extensions().commands(workspace).await.unwrap();
        commands.execute(command.to_owned(), None, None).await.unwrap().said[0].text.clone()
    })
}

#[tokio::test]
async fn the_first_answer_counts_and_all_screens_hear_of_it() {
    let world = world_with_desks(&[]).await;
    let mut page = listener(&world, &DRIVER, "page", &["dialogs"]).await;
    let mut wall = listener(&world, &WATCHER, "wall", &["dialogs"]).await;
    let said = run(&world, "demo/ask");
    let asked = page.until("ui.dialog.request").await;
    assert_eq!(
        (&asked["kind"], &asked["message"], &asked["buttons"], &asked["extension"]),
        (&json!("confirm"), &json!("Go on?"), &json!("yes_no"), &json!("demo"))
    );
    assert_eq!(wall.until("ui.dialog.request").await, asked);
    // Who comes later is told of what is open.
    let mut late = listener(&world, &DRIVER, "late", &["dialogs"]).await;
    assert_eq!(late.until("ui.dialog.request").await, asked);
    let answer = |confirmed: bool| json!({"type": "ui.dialog.response", "dialog_id": asked["dialog_id"], "confirmed": confirmed});
    wall.say(answer(false)).await;
    assert_eq!(wall.until_error().await["code"], "FORBIDDEN");
    page.say(answer(true)).await;
    assert_eq!(said.await.unwrap(), "yes");
    let closed = json!({
        "type": "ui.dialog.closed", "dialog_id": asked["dialog_id"], "reason": "answered", "by": "page"
    });
    for client in [&mut page, &mut wall, &mut late] {
        assert_eq!(client.until("ui.dialog.closed").await, closed);
    }
    late.say(answer(false)).await;
    let error = late.until_error().await;
    assert_eq!(
        (&error["code"], &error["details"]["decided_by"]),
        (&json!("ALREADY_DECIDED"), &json!("page"))
    );
}

#[tokio::test]
async fn answers_that_do_not_fit_are_refused_and_the_dialog_stays() {
    let world = world_with_desks(&[("a.hl7", "NAME=x\n")]).await;
    let mut page = listener(&world, &DRIVER, "page", &["dialogs"]).await;
    let said = run(&world, "demo/open");
    let asked = page.until("ui.dialog.request").await;
    assert_eq!(asked["kind"], "open_file");
    let id = asked["dialog_id"].clone();
    let with = |mut answer: Value| {
        answer["type"] = json!("ui.dialog.response");
        answer["dialog_id"] = id.clone();
        answer
    };
    for (answer, code, pointer) in [
        (with(json!({"confirmed": true})), "INVALID_MESSAGE", ""),
        (with(json!({"acknowledged": true})), "INVALID_MESSAGE", ""),
        (with(json!({"paths": []})), "INVALID_MESSAGE", ""),
        (with(json!({"paths": ["a.hl7", "b.hl7"]})), "INVALID_MESSAGE", ""),
        (with(json!({"paths": ["/etc/passwd"]})), "INVALID_MESSAGE", "/paths"),
        (with(json!({"paths": ["../data/token"]})), "INVALID_MESSAGE", "/paths"),
        (with(json!({"paths": ["nothing.hl7"]})), "INVALID_MESSAGE", "/paths"),
        (with(json!({"paths": [1]})), "INVALID_MESSAGE", "/paths/0"),
        (with(json!({})), "INVALID_MESSAGE", "/acknowledged"),
        (with(json!({"confirmed": true, "cancelled": true})), "INVALID_MESSAGE", "/cancelled"),
        (with(json!({"cancelled": false})), "INVALID_MESSAGE", "/cancelled"),
    ] {
        page.say(answer.clone()).await;
        let error = page.until_error().await;
        assert_eq!(
            (&error["code"], &error["details"]["pointer"]),
            (&json!(code), &json!(pointer)),
            "{answer}: {error}"
        );
        assert_eq!(error["recoverable"], true);
    }
    let unknown = json!({"type": "ui.dialog.response", "dialog_id": "dlg_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f", "cancelled": true});
    page.say(unknown).await;
    assert_eq!(page.until_error().await["code"], "UNKNOWN_REQUEST");
    page.say(json!({"type": "ui.dialog.response", "dialog_id": "five", "cancelled": true})).await;
    assert_eq!(page.until_error().await["details"]["pointer"], "/dialog_id");
    page.say(with(json!({"paths": ["a.hl7"]}))).await;
    assert_eq!(said.await.unwrap(), "a.hl7");
    page.say(with(json!({"paths": ["a.hl7"]}))).await;
    assert_eq!(page.until_error().await["code"], "ALREADY_DECIDED");
}

#[tokio::test]
async fn a_cancelled_choice_is_no_error() {
    let world = world_with_desks(&[]).await;
    let mut page = listener(&world, &DRIVER, "page", &["dialogs"]).await;
    for (command, expected) in [("demo/open", "cancelled"), ("demo/ask", "no")] {
        let said = run(&world, command);
        let asked = page.until("ui.dialog.request").await;
        page.say(json!({"type": "ui.dialog.response", "dialog_id": asked["dialog_id"], "cancelled": true}))
            .await;
        assert_eq!(said.await.unwrap(), expected);
    }
}

#[tokio::test]
async fn without_a_client_that_shows_dialogs_the_extension_is_told_at_once() {
    let world = world_with_desks(&[]).await;
    let _editor = listener(&world, &DRIVER, "editor", &[]).await;
    let _wall = listener(&world, &WATCHER, "wall", &["dialogs"]).await;
    let said = run(&world, "demo/ask").await.unwrap();
    assert_eq!(said, "nobody is there to answer: no client that shows dialogs is connected");
}

#[tokio::test]
async fn a_withdrawn_dialog_goes_from_every_screen() {
    let world = world_with_desks(&[]).await;
    let mut page = listener(&world, &DRIVER, "page", &["dialogs"]).await;
    let said = run(&world, "demo/ask");
    let asked = page.until("ui.dialog.request").await;
    said.abort();
    let closed = page.until("ui.dialog.closed").await;
    assert_eq!((&closed["dialog_id"], &closed["reason"]), (&asked["dialog_id"], &json!("withdrawn")));
    page.say(json!({"type": "ui.dialog.response", "dialog_id": asked["dialog_id"], "confirmed": true})).await;
    assert_eq!(page.until_error().await["code"], "UNKNOWN_REQUEST");
}

#[tokio::test]
async fn windows_are_shown_and_their_closing_is_heard_by_their_extension() {
    let world = world_with_desks(&[]).await;
    let mut page = listener(&world, &DRIVER, "page", &["dialogs"]).await;
    let window = GuestWindow {
        id: WindowId::new(),
        workspace: world.workspace.id,
        guest: "demo".to_owned(),
        url: "http://127.0.0.1:40000/search".to_owned(),
        title: "Search".to_owned(),
        width: 500,
        height: 300,
        modal: true,
        resizable: false,
    };
    let done = world.engine.dialogs().show(window).await.unwrap();
    let opened = page.until("ui.window.opened").await;
    assert_eq!((&opened["url"], &opened["modal"]), (&json!("http://127.0.0.1:40000/search"), &json!(true)));
    page.say(json!({"type": "ui.window.closed", "window_id": opened["window_id"]})).await;
    done.await;
    let closed = page.until("ui.window.closed").await;
    assert_eq!((&closed["reason"], &closed["by"]), (&json!("user"), &json!("page")));
    page.say(json!({"type": "ui.window.closed", "window_id": opened["window_id"]})).await;
    assert_eq!(page.until_error().await["code"], "UNKNOWN_REQUEST");
}

#[tokio::test]
async fn what_is_about_a_session_and_what_is_not_have_their_own_streams() {
    let world = world(&[], "").await;
    let session = world.open(loggia_domain::Preset::Ask).await;
    let mut editor = world.join(session, "editor", &["dialogs"]).await;
    editor.say(json!({"type": "ui.window.closed", "window_id": "win_1"})).await;
    assert_eq!(editor.until_error().await["details"]["pointer"], "/type");
    let mut wall = listener(&world, &DRIVER, "wall", &[]).await;
    wall.prompt("hello").await;
    assert_eq!(wall.until_error().await["details"]["pointer"], "/type");
}
