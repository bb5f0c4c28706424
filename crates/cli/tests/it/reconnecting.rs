//! The server goes and comes back.

use loggia_cli::{Ask, CliError, Interrupts, Key, Outcome, Revive};
use loggia_protocol_agent_server::PolicyPreset;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::house::{House, PATIENCE, calls, says};
use crate::losing::Loses;
use crate::screen::{FILES, Screen, TERMINAL};

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_after_the_server_came_back() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let house = House::new(&[("a.txt", "old\n")], &script).await;
    let (screen, mut terminal, keys) = Screen::with_keys(TERMINAL, "");
    let client = house.client.clone();
    let options = Ask { preset: Some(PolicyPreset::Ask), ..house.prompt("write") };
    let asking =
        tokio::spawn(
            async move { loggia_cli::ask(&client, options, &mut terminal, Interrupts::never()).await },
        );
    screen.until("o once").await;
    let remains = house.leave().await;
    screen.until("waiting for it to come back").await;
    let house = remains.start(&says("Done.")).await;
    screen.until("The server is back.").await;
    keys.send(Key::Char('o')).await.unwrap();
    assert_eq!(asking.await.unwrap().unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_cut_off_goes_on() {
    let hangs = "[[reply]]\nparts = [{ text = \"Half of \" }, { hang = true }]\n";
    let house = House::new(&[], hangs).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let client = house.client.clone();
    let revived = std::sync::Arc::new(Notify::new());
    let notice = std::sync::Arc::clone(&revived);
    let revive = Revive::new(move || {
        notice.notify_one();
        std::future::ready(())
    });
    let options = Ask { revive: Some(revive), ..house.prompt("work") };
    let asking =
        tokio::spawn(
            async move { loggia_cli::ask(&client, options, &mut terminal, Interrupts::never()).await },
        );
    screen.until("Half of").await;
    let remains = house.leave().await;
    revived.notified().await;
    let _house = remains.start(&says("The other half.")).await;
    assert_eq!(asking.await.unwrap().unwrap(), Outcome::Done);
    assert!(screen.err().contains("The turn was cut off; it goes on."), "{}", screen.err());
    assert!(screen.out().ends_with("The other half.\n"), "{}", screen.out());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_was_written_and_lost_is_said_again() {
    let house = House::new(&[], &says("Here I am.")).await;
    let client = house.client_losing(Loses::Message(1)).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let asking = loggia_cli::ask(&client, house.prompt("where?"), &mut terminal, Interrupts::never());
    assert_eq!(timeout(PATIENCE, asking).await.unwrap().unwrap(), Outcome::Done);
    assert_eq!(screen.out(), "Here I am.\n");
    assert!(screen.err().contains("The server is back."), "{}", screen.err());
    assert_eq!(house.last_prompt().matches("where?").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_written_and_lost_is_asked_for_again() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let house = House::new(&[("a.txt", "old\n")], &script).await;
    let client = house.client_losing(Loses::Message(2)).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "oo");
    let options = Ask { preset: Some(PolicyPreset::Ask), ..house.prompt("write") };
    let asking = loggia_cli::ask(&client, options, &mut terminal, Interrupts::never());
    assert_eq!(timeout(PATIENCE, asking).await.unwrap().unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "new\n");
    let shown = screen.shown();
    assert_eq!(shown.matches("The answer did not arrive.").count(), 1, "{shown}");
    assert_eq!(shown.matches("? Change a.txt?").count(), 2, "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_nobody_was_asked_for_is_given_again() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let house = House::new(&[("a.txt", "old\n")], &script).await;
    let client = house.client_losing(Loses::Message(2)).await;
    let (_, mut terminal) = Screen::new(FILES);
    let approvals = loggia_cli::Approvals::Yes;
    let options = Ask { approvals, preset: Some(PolicyPreset::Ask), json: true, ..house.prompt("write") };
    let asking = loggia_cli::ask(&client, options, &mut terminal, Interrupts::never());
    assert_eq!(timeout(PATIENCE, asking).await.unwrap().unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_when_the_turn_is_to_go_on_is_asked_again() {
    let hangs = "[[reply]]\nparts = [{ text = \"Half of \" }, { hang = true }]\n";
    let house = House::new(&[], hangs).await;
    let client = house.client_losing(Loses::Request("/continue")).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let options = house.prompt("work");
    let asking =
        tokio::spawn(
            async move { loggia_cli::ask(&client, options, &mut terminal, Interrupts::never()).await },
        );
    screen.until("Half of").await;
    let remains = house.leave().await;
    screen.until("waiting for it to come back").await;
    let _house = remains.start(&says("The other half.")).await;
    let outcome = timeout(PATIENCE, asking).await.unwrap().unwrap();
    assert_eq!(outcome.unwrap(), Outcome::Done, "{}", screen.shown());
    assert_eq!(screen.err().matches("it goes on.").count(), 2, "{}", screen.err());
    assert!(screen.out().ends_with("The other half.\n"), "{}", screen.out());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_before_the_prompt_is_brought_back_however_often() {
    for request in ["POST /v1/workspaces", "POST /v1/sessions", "websocket"] {
        for times in [1, 4] {
            let house = House::new(&[], &says("Here I am.")).await;
            let client = house.client_losing_often(Loses::Request(request), times).await;
            let (screen, mut terminal) = Screen::new(FILES);
            let options = Ask { revive: Some(nothing_to_do()), ..house.prompt("where?") };
            let asking = loggia_cli::ask(&client, options, &mut terminal, Interrupts::never());
            assert_eq!(timeout(PATIENCE, asking).await.unwrap().unwrap(), Outcome::Done, "{request}");
            assert_eq!(screen.out(), "Here I am.\n", "{request}");
            assert_eq!(house.last_prompt().matches("where?").count(), 1, "{request}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_each_time_is_given_up_on() {
    let house = House::new(&[], &says("Here I am.")).await;
    let client = house.client_losing_often(Loses::Request("POST /v1/sessions"), 1_000).await;
    let (_, mut terminal) = Screen::new(FILES);
    let options = Ask { revive: Some(nothing_to_do()), ..house.prompt("where?") };
    let asking = loggia_cli::ask(&client, options, &mut terminal, Interrupts::never());
    let error = timeout(PATIENCE, asking).await.unwrap().unwrap_err();
    assert!(matches!(error, CliError::Server(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_somebody_stopped_is_left_stopped() {
    let hangs = "[[reply]]\nparts = [{ text = \"Half of it.\\n\" }, { hang = true }]\n";
    let house = House::new(&[], hangs).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let revive = Revive::new(|| async { panic!("nobody wants another server") });
    let (client, options) = (house.client.clone(), Ask { revive: Some(revive), ..house.prompt("work") });
    let asking =
        tokio::spawn(
            async move { loggia_cli::ask(&client, options, &mut terminal, Interrupts::never()).await },
        );
    screen.until("Half of").await;
    house.client.stop().await.unwrap();
    assert_eq!(timeout(PATIENCE, asking).await.unwrap().unwrap().unwrap(), Outcome::Interrupted);
    assert!(
        screen.err().contains("error: the server was stopped by `loggia stop`\nhint: "),
        "{}",
        screen.err()
    );
}

/// For a server that has never gone, only the way to it.
fn nothing_to_do() -> Revive {
    Revive::new(|| std::future::ready(()))
}
