//! Dialogs of extensions: answered beforehand, in a terminal, by another client, or by nobody.

use loggia_client::{Client, Heard, Server as Place, SessionStream};
use loggia_protocol_agent_server::{
    ClientCapability, DialogKind, DialogRequest, DialogResponse, ServerMessage,
};
use rustix::process::Signal;
use serde_json::Value;

use crate::extensions::{configure, house, said};
use crate::plugins::{House, noted, until_gone};
use crate::pty::screen::OnTerminal;

/// Runs a command of the extension `test`; what it said, in one text.
fn run(house: &House, command: &str, more: &[&str]) -> String {
    let arguments = [&["ext", "run", "test", command, "--json"], more].concat();
    said(&house.json(&arguments)).join("\n")
}

#[test]
fn without_anybody_there_a_dialog_fails_at_once_with_the_documented_error() {
    let house = house(&[("test", &[])]);
    let dialogs = [
        ("t/say", "ui/showMessage: -32012"),
        ("t/confirm", "ui/showConfirm: -32012"),
        ("t/open", "ui/openFile: -32012"),
        ("t/opens", "ui/openFiles: -32012"),
        ("t/place", "ui/saveFile: -32012"),
        ("t/directory", "ui/selectDirectory: -32012"),
        ("t/window", "ui/openWindow: -32008"),
    ];
    for (command, expected) in dialogs {
        let told = run(&house, command, &[]);
        assert!(told.contains(expected) && told.contains("nobody is there"), "{command}: {told}");
    }
    house.end();
}

#[test]
fn scripts_answer_dialogs_beforehand() {
    let house = house(&[("test", &[])]);
    let rows = [
        ("t/say", "--yes", "said: {\"acknowledged\": true}"),
        ("t/confirm", "--yes", "confirmed: {\"confirmed\": true}"),
        ("t/confirm", "--answer=confirm=no", "confirmed: {\"confirmed\": false}"),
        ("t/confirm", "--answer=file=x", "confirmed: {\"confirmed\": false}"),
        ("t/open", "--answer=file=adt.hl7", "chosen: {\"path\": \"[STAGE]/project/adt.hl7\"}"),
        ("t/open", "--answer=file=", "chosen: {\"path\": null}"),
        ("t/opens", "--answer=file=adt.hl7", "chosen: {\"paths\": [\"[STAGE]/project/adt.hl7\"]}"),
        ("t/place", "--answer=file=new.hl7", "place: {\"path\": \"[STAGE]/project/new.hl7\"}"),
        ("t/directory", "--answer=directory=.", "directory: {\"path\": \"[STAGE]/project\"}"),
        ("t/directory", "--yes", "directory: {\"path\": null}"),
    ];
    for (command, answer, expected) in rows {
        let told = run(&house, command, &[answer]);
        assert_eq!(told, expected, "{command} {answer}");
    }
    house.end();
}

#[test]
fn files_are_chosen_only_where_the_configuration_lets_them() {
    let house = house(&[("test", &[])]);
    let outside = house.stage.0.write("outside/messages/x.hl7", "MSH");
    let answer = format!("--answer=file={}", outside.display());
    let shown = house.run(&["ext", "run", "test", "t/open", "--json", &answer]);
    assert_eq!(shown.code, Some(6), "{shown}");
    assert!(shown.stderr.contains("cannot be chosen"), "{shown}");
    assert!(shown.stdout.contains("chosen: {\\\"path\\\": null}"), "{shown}");
    let directory = house.stage.0.path("outside/messages");
    configure(&house.stage.0, &format!("\n[dialogs]\ndirectories = [{directory:?}]\n"));
    let house = House {
        server: {
            house.server.end();
            House::serve(&house.stage.0)
        },
        stage: house.stage,
    };
    let chosen = "chosen: {\"path\": \"[STAGE]/outside/messages/x.hl7\"}";
    assert_eq!(run(&house, "t/open", &[&answer]), chosen);
    house.end();
}

/// Runs on a terminal, waits for a text, types something and expects an end.
fn on_terminal(house: &House, command: &str, asked: &str, keys: &str) -> String {
    let command = house.stage.0.command(&["ext", "run", "test", command]);
    let terminal = OnTerminal::start(&command, 24, 120);
    if !asked.is_empty() {
        terminal.until(asked);
        terminal.press(keys);
    }
    let ended = terminal.end();
    let text = ended.shown.text();
    assert!(ended.code() == Some(0) && ended.restored, "{text}");
    text
}

#[test]
fn somebody_at_a_terminal_answers_with_keys_and_paths() {
    let house = house(&[("test", &[])]);
    let shown = on_terminal(&house, "t/say", "", "");
    assert!(shown.contains("test: News: warning: Look at this."), "{shown}");
    for (key, answer) in [("y", "true"), ("n", "false"), ("\u{3}", "false")] {
        let shown = on_terminal(&house, "t/confirm", "y yes  n no", key);
        assert!(shown.contains(&format!("confirmed: {{\"confirmed\": {answer}}}")), "{shown}");
    }
    let shown = on_terminal(&house, "t/open", "path>", "adt.hl7\r");
    assert!(shown.contains("Which one?: which file?") && shown.contains("Messages (hl7, txt)"), "{shown}");
    assert!(shown.contains("project/adt.hl7"), "{shown}");
    for cancel in ["\r", "\u{3}"] {
        let shown = on_terminal(&house, "t/open", "path>", cancel);
        assert!(shown.contains("chosen: {\"path\": null}"), "{shown}");
    }
    let shown = on_terminal(&house, "t/opens", "path>", "adt.hl7\radt.hl7\r\r");
    assert_eq!(shown.matches("project/adt.hl7").count(), 2, "{shown}");
    let shown = on_terminal(&house, "t/window", "", "");
    assert!(shown.contains("\"Page\" is at http://127.0.0.1:9/page"), "{shown}");
    house.end();
}

/// Another client, which shows dialogs.
async fn listener(house: &House) -> SessionStream {
    let client = Client::new(Place::Unix(house.server.socket()));
    let follow = client.follow_all().named("another client", "1").also_able_to(ClientCapability::Dialogs);
    let mut stream = follow.open().await.unwrap();
    stream.next().await.unwrap().unwrap();
    stream
}

/// The next dialog.
async fn dialog(stream: &mut SessionStream) -> DialogRequest {
    loop {
        if let Heard::Message(ServerMessage::DialogRequest(dialog)) = stream.next().await.unwrap().unwrap() {
            return dialog;
        }
    }
}

fn response(dialog: &DialogRequest) -> DialogResponse {
    DialogResponse {
        dialog_id: dialog.dialog_id.clone(),
        acknowledged: None,
        confirmed: None,
        paths: None,
        cancelled: None,
    }
}

/// Runs a command in the background, without a terminal.
fn begin(house: &House, command: &str) -> std::process::Child {
    let mut begun = house.stage.0.command(&["ext", "run", "test", command, "--json"]);
    begun.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).spawn().unwrap()
}

fn ended(child: std::process::Child) -> String {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    said(&run).join("\n")
}

#[tokio::test]
async fn another_client_answers_over_the_stream() {
    let house = house(&[("test", &[])]);
    let mut stream = listener(&house).await;
    let run = begin(&house, "t/confirm");
    let asked = dialog(&mut stream).await;
    assert_eq!((asked.kind.clone(), asked.message.as_deref()), (DialogKind::Confirm, Some("Go on?")));
    let yes = DialogResponse { confirmed: Some(true), ..response(&asked) };
    stream.speaker().answer_dialog(yes.clone()).await.unwrap();
    assert_eq!(ended(run), "confirmed: {\"confirmed\": true}");
    // Who comes too late is told so.
    stream.speaker().answer_dialog(yes).await.unwrap();
    loop {
        if let Heard::Message(ServerMessage::Error(error)) = stream.next().await.unwrap().unwrap() {
            assert!(error.error.message.contains("already"), "{error:?}");
            break;
        }
    }
    stream.close().await;
    house.end();
}

#[tokio::test]
async fn the_first_answer_counts_and_the_terminal_is_told() {
    let house = house(&[("test", &[])]);
    let mut stream = listener(&house).await;
    let command = house.stage.0.command(&["ext", "run", "test", "t/open"]);
    let terminal = OnTerminal::start(&command, 24, 120);
    terminal.until("path>");
    let asked = dialog(&mut stream).await;
    let chosen = DialogResponse { paths: Some(vec!["adt.hl7".to_owned()]), ..response(&asked) };
    stream.speaker().answer_dialog(chosen).await.unwrap();
    terminal.until("answered elsewhere");
    let ended = terminal.end();
    assert!(ended.code() == Some(0) && ended.restored, "{}", ended.shown.text());
    assert!(ended.shown.text().contains("project/adt.hl7"), "{}", ended.shown.text());
    stream.close().await;
    house.end();
}

#[tokio::test]
async fn a_dialog_waits_for_somebody_to_come_if_that_is_configured() {
    let house = house(&[("test", &[])]);
    configure(&house.stage.0, "\n[dialogs]\nunattended = \"wait\"\n");
    let house = House {
        server: {
            house.server.end();
            House::serve(&house.stage.0)
        },
        stage: house.stage,
    };
    let run = begin(&house, "t/say");
    while noted(&house.stage.0, "outside/test/starts.log").is_empty() {
        tokio::task::yield_now().await;
    }
    let mut stream = listener(&house).await;
    let asked = dialog(&mut stream).await;
    let seen = DialogResponse { acknowledged: Some(true), ..response(&asked) };
    stream.speaker().answer_dialog(seen).await.unwrap();
    assert_eq!(ended(run), "said: {\"acknowledged\": true}");
    stream.close().await;
    house.end();
}

#[tokio::test]
async fn a_dialog_that_is_open_keeps_no_server_from_stopping() {
    let house = house(&[("test", &[])]);
    let mut stream = listener(&house).await;
    let mut run = begin(&house, "t/confirm");
    dialog(&mut stream).await;
    house.server.signal(Signal::TERM);
    let House { server, stage } = house;
    let waited = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(waited.0, Some(0), "{waited:?}");
    run.wait().unwrap();
    until_gone(&noted(&stage.0, "outside/test/starts.log"));
}
