//! Messages and extensions at the console, and what extensions ask of whoever is there.

use loggia_domain::{Dialogs, GuestWindow, WindowId};
use loggia_endermux_io::client::Options;
use loggia_engine::dialogs::DialogSettings;
use loggia_protocol_endermux::ColorLevel;
use loggia_tests::WorldBuilder;
use tokio::time::timeout;

use crate::support::{House, PATIENCE, Terminal};

async fn house() -> House {
    let world = WorldBuilder::new("/bin/false")
        .file("a.hl7", "ID=1\nNAME=DOE\n")
        .file(".env", "KEY=secret\n")
        .desks(DialogSettings::default());
    House::around(world.start("").await).await
}

/// Gives a command whose end is waited for elsewhere.
fn begin(terminal: Terminal, command: &'static str) -> tokio::task::JoinHandle<String> {
    tokio::spawn(async move { terminal.run(command).await })
}

/// The id after this word in what is heard next.
async fn id(terminal: &mut Terminal, word: &str) -> String {
    let heard = terminal.until("with `").await;
    let rest = heard.split_once(word).unwrap_or_else(|| panic!("no {word:?} in {heard}")).1;
    rest[..6].to_owned()
}

#[tokio::test]
async fn a_message_is_opened_changed_and_saved() {
    let house = house().await;
    let terminal = house.terminal().await;
    for (command, expected) in [
        ("message show", "error: no message is open\n`message open FILE` opens one\n[5]"),
        (
            "message open nothing.hl7",
            "error: the message's file cannot be used: `nothing.hl7` is not there\n[1]",
        ),
        ("message open a.hl7", "a.hl7  revision 1\n[0]"),
        ("message show", "a.hl7  revision 1\nID=1\nNAME=DOE\n[0]"),
        ("message show json", "a.hl7  revision 1\n{\"ID\":\"1\",\"NAME\":\"DOE\"}\n[0]"),
        ("message show xml", "error: `xml` is none of hl7, json, yaml and toml\n[2]"),
        ("message get NAME", "DOE\n[0]"),
        ("message get ELSE", "error: there is nothing at `ELSE`\n[1]"),
        ("message get 'A B'", "error: `A B` is not a path\n[2]"),
        ("message set NAME ROE AND MORE", "a.hl7  revision 2, not saved\n[0]"),
        ("message set ZZZ x", "error: there is no `ZZZ`\n[1]"),
        ("message close", "error: there are changes that are not saved\n[6]"),
        ("message undo", "a.hl7  revision 3\n[0]"),
        ("message undo", "error: there is nothing to undo\n[1]"),
        ("message redo", "a.hl7  revision 4, not saved\n[0]"),
        ("message save", "a.hl7  revision 4\n[0]"),
        ("message set NAME", "a.hl7  revision 5, not saved\n[0]"),
        ("message validate", "wrong NAME  it is empty\n[0]"),
        ("message save b.hl7", "b.hl7  revision 5\n[0]"),
        ("message close", "closed\n[0]"),
    ] {
        assert_eq!(terminal.run(command).await, expected, "{command}");
    }
    assert_eq!(house.world.read("a.hl7"), "ID=1\nNAME=ROE AND MORE\n");
    let secret = terminal.run("message open .env").await;
    assert!(
        secret.starts_with("error: built in: `.env` must be neither read nor written")
            && secret.ends_with("[6]"),
        "{secret}"
    );
}

#[tokio::test]
async fn extensions_are_listed_started_run_and_stopped() {
    let house = house().await;
    let terminal = house.terminal().await;
    for (command, expected) in [
        ("extensions", "demo  global  not started\nother  project  off\n[0]"),
        ("extensions none", "error: there is no extension `none`\n`extensions` lists those there are\n[5]"),
        ("ext run demo demo/say", "hello\n[0]"),
        ("ext run demo no/such", "error: there is no command `no/such`\n[5]"),
        ("extensions", "demo  global  running\nother  project  off\n[0]"),
        ("ext logs demo", "started\n[0]"),
        ("ext stop demo", "demo  global  stopped\n[0]"),
        ("ext restart demo", "demo  global  running\n[0]"),
        ("ext restart other", "error: `other` is disabled\n[6]"),
        ("ext restart none", "error: there is no extension `none`\n`extensions` lists those there are\n[5]"),
    ] {
        assert_eq!(terminal.run(command).await, expected, "{command}");
    }
    let shown = terminal.run("extensions demo").await;
    assert!(shown.contains("  command    demo/say  Say something\n"), "{shown}");
}

#[tokio::test]
async fn what_an_extension_asks_is_told_and_answered() {
    let house = house().await;
    let mut other = house.terminal().await;
    let answers = house.terminal().await;
    for (command, answer, said) in [
        ("ext run demo demo/ask", "yes", "yes\n[0]"),
        ("ext run demo demo/ask", "cancel", "no\n[0]"),
        ("ext run demo demo/open", "cancel", "cancelled\n[0]"),
        ("ext run demo demo/open", "a.hl7", "a.hl7\n[0]"),
    ] {
        let ran = begin(house.terminal().await, command);
        let dialog = id(&mut other, "dialog ").await;
        assert!(answers.run("dialogs").await.contains(&dialog));
        if command.ends_with("open") {
            let wrong = answers.run(&format!("answer {dialog} /etc/passwd")).await;
            assert!(wrong.contains("outside of the directories") && wrong.ends_with("[2]"), "{wrong}");
            let none = answers.run(&format!("answer {dialog}")).await;
            assert_eq!(none, "error: the answer is a path, or `cancel`\n[2]");
        } else {
            let wrong = answers.run(&format!("answer {dialog} perhaps")).await;
            assert_eq!(wrong, "error: the answer is `yes` or `no`\n[2]");
        }
        let answered = answers.run(&format!("answer {dialog} {answer}")).await;
        assert_eq!(answered, format!("dialog {dialog} was answered\n[0]"));
        assert_eq!(ran.await.unwrap(), said);
        other.until(&format!("dialog {dialog} was answered by console")).await;
        let late = answers.run(&format!("answer {dialog} {answer}")).await;
        assert!(late.starts_with("error: there is no dialog") && late.ends_with("[5]"), "{late}");
    }
    assert_eq!(answers.run("dialogs").await, "no extension asks or shows anything\n[0]");
}

#[tokio::test]
async fn a_terminal_without_a_log_is_nobody_to_ask() {
    let house = house().await;
    let mute = house.mute(Options::new(ColorLevel::None)).await;
    let said = mute.run("ext run demo demo/ask").await;
    assert_eq!(said, "nobody is there to answer: no client that shows dialogs is connected\n[0]");
}

#[tokio::test]
async fn a_terminal_that_only_listens_hears_of_dialogs_and_is_nobody_to_ask() {
    let house = house().await;
    let board = house.world.engine.dialogs().clone();
    let answerers = async |count: usize| {
        let counted = async {
            while board.answerers() != count {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, counted).await.unwrap();
    };
    let listens = Options { commands: false, ..Options::new(ColorLevel::None) };
    let _listener = house.listening(listens).await;
    let terminal = house.terminal().await;
    answerers(1).await;
    drop(terminal);
    answerers(0).await;
    let mute = house.mute(Options::new(ColorLevel::None)).await;
    let said = mute.run("ext run demo demo/ask").await;
    assert_eq!(said, "nobody is there to answer: no client that shows dialogs is connected\n[0]");
}

#[tokio::test]
async fn a_window_is_told_and_closed() {
    let house = house().await;
    let mut terminal = house.terminal().await;
    let board = house.world.engine.dialogs().clone();
    // The terminal counts as soon as it is heard of.
    while board.answerers() == 0 {
        tokio::task::yield_now().await;
    }
    let window = GuestWindow {
        id: WindowId::new(),
        workspace: house.world.workspace.id,
        guest: "demo".to_owned(),
        url: "http://127.0.0.1:40000/\u{1b}[31m".to_owned(),
        title: "Search".to_owned(),
        width: 1,
        height: 1,
        modal: false,
        resizable: false,
    };
    let done = board.show(window).await.unwrap();
    let window = id(&mut terminal, "window ").await;
    assert_eq!(
        terminal.run(&format!("window close {window}")).await,
        format!("window {window} was closed\n[0]")
    );
    done.await;
    terminal.until("was closed by console").await;
    assert!(terminal.run(&format!("window close {window}")).await.ends_with("[5]"));
}
