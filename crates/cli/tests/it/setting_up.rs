//! Setting up, with somebody who types.

use loggia_cli::{CliError, Interrupts, Needs, Offer, SetUp};
use tokio::sync::mpsc;

use crate::house::{House, says};
use crate::screen::{FILES, Screen, TERMINAL};

fn keyless() -> Vec<Offer> {
    vec![Offer { name: "openai:gpt-5".to_owned(), needs: Needs::Key }]
}

fn typed(lines: &[&str]) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    lines.iter().for_each(|line| sender.try_send((*line).to_owned()).unwrap());
    receiver
}

#[tokio::test]
async fn a_model_is_chosen_of_those_that_were_found_or_only_lack_a_key() {
    let house = House::new(&[], "").await;
    let (screen, terminal) = Screen::new(TERMINAL);
    let mut terminal = terminal.with_lines(typed(&["7", "2", "", "sk-secret "]));
    let mut interrupts = Interrupts::never();
    let mut people = SetUp::new(&mut terminal, &mut interrupts);
    assert!(people.can_ask());
    people.found(&house.client).await.unwrap();
    let offers = Offer::all(&house.client, keyless()).await.unwrap();
    people.list(&offers, None).unwrap();
    assert_eq!(people.choose(&offers, None).await.unwrap().as_deref(), Some("openai:gpt-5"));
    people.list(&offers, Some("openai:gpt-5")).unwrap();
    let again = people.choose(&offers, Some("openai:gpt-5")).await.unwrap();
    assert_eq!(again.as_deref(), Some("openai:gpt-5"), "what is set is kept");
    assert_eq!(people.key("openai").await.unwrap().as_deref(), Some("sk-secret"));
    assert_eq!(people.choose(&offers, None).await.unwrap(), None, "nobody types any more");
    let shown = screen.shown();
    assert!(shown.starts_with("What was found:\n"), "{shown}");
    for told in [
        "Models you can use:\n  1  scripted:model  on this machine\n  2  openai:gpt-5    hosted, needs a key\n",
        "? Which one? A number, or a name as PROVIDER:MODEL [scripted:model]: ! there is no number 7\n",
        "\n* 2  openai:gpt-5 ",
        "? The key of openai (it is not shown): ",
    ] {
        assert!(shown.contains(told), "{told} is not in:\n{shown}");
    }
    assert!(!shown.contains("sk-secret"), "{shown}");
}

#[tokio::test]
async fn a_model_is_tried_with_one_word() {
    let fails = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"down\" } }]\n";
    let house = House::new(&[], &[says("ok"), fails.to_owned()].concat()).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    let mut interrupts = Interrupts::never();
    let mut people = SetUp::new(&mut terminal, &mut interrupts);
    assert!(people.test(&house.client, "scripted:model", false).await.unwrap().works);
    assert!(!people.test(&house.client, "scripted:model", false).await.unwrap().works);
    let shown = screen.shown();
    assert!(shown.starts_with("✓ ") && shown.contains("\n✗ ") && shown.contains("down"), "{shown}");
}

#[tokio::test]
async fn without_a_terminal_nobody_is_asked() {
    let house = House::new(&[], "").await;
    let (_, mut terminal) = Screen::new(FILES);
    let mut interrupts = Interrupts::never();
    let mut people = SetUp::new(&mut terminal, &mut interrupts);
    assert!(!people.can_ask());
    let offers = Offer::all(&house.client, keyless()).await.unwrap();
    assert!(matches!(people.choose(&offers, None).await, Err(CliError::NoTerminal)));
    assert!(matches!(people.confirm("Really?").await, Err(CliError::NotConfirmed { .. })));
}
