//! The server goes and comes back.

use loggia_cli::{Ask, Interrupts, Key, Outcome, Revive};
use loggia_protocol_agent_server::PolicyPreset;
use tokio::sync::Notify;

use crate::house::{House, calls, says};
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
