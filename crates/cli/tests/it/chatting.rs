//! Conversations, with lines from a channel.

use loggia_cli::{Approvals, Chat, CliError, Interrupts, Outcome, SessionChoice};
use loggia_protocol_agent_server::PolicyPreset;
use tokio::sync::mpsc;

use crate::house::{House, PATIENCE, calls, says};
use crate::screen::{FILES, PIPE, Screen};

fn options(house: &House) -> Chat {
    Chat {
        workspace: house.root(),
        model: None,
        session: SessionChoice::New,
        approvals: Approvals::Yes,
        preset: Some(PolicyPreset::Ask),
        budget: None,
        quiet: false,
        history: None,
        revive: None,
    }
}

/// Types these lines, then leaves.
async fn chat(house: &House, lines: &[&str]) -> Screen {
    let (screen, terminal) = Screen::new(FILES);
    let (sender, receiver) = mpsc::channel(16);
    for line in lines {
        sender.send((*line).to_owned()).await.unwrap();
    }
    drop(sender);
    let mut terminal = terminal.with_lines(receiver);
    let talk = loggia_cli::chat(&house.client, options(house), &mut terminal, Interrupts::never());
    assert_eq!(tokio::time::timeout(PATIENCE, talk).await.unwrap().unwrap(), Outcome::Done);
    screen
}

#[tokio::test]
async fn prompts_follow_each_other_in_one_session() {
    let house = House::new(&[("a.txt", "hello\n")], &[says("First."), says("Second.")].concat()).await;
    let screen = chat(&house, &["one", "two @a.txt", "/cost"]).await;
    assert_eq!(screen.out(), "First.\nSecond.\n");
    let told = "The last prompt took 1,234 tokens.\nThe session took 2,468 tokens.\n";
    assert!(screen.err().ends_with(told), "{}", screen.err());
    let sessions = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap();
    assert_eq!(sessions.sessions.len(), 1);
    assert!(house.last_prompt().contains("a.txt"), "{}", house.last_prompt());
}

#[tokio::test]
async fn what_was_done_is_taken_back() {
    let house =
        House::new(&[("a.txt", "old\n")], &calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }"))
            .await;
    let screen = chat(&house, &["write", "/undo"]).await;
    assert_eq!(house.read("a.txt"), "old\n");
    assert!(screen.out().ends_with("Took back 1 step.\n  a.txt\n"), "{}", screen.out());
}

#[tokio::test]
async fn a_plan_changes_nothing_and_what_follows_it_does() {
    let write = |text: &str| calls("write_file", &format!("{{ path = \"a.txt\", content = {text:?} }}"));
    let house = House::new(&[("a.txt", "old\n")], &[write("planned\n"), write("done\n")].concat()).await;
    let screen = chat(&house, &["/plan change it"]).await;
    assert_eq!(house.read("a.txt"), "old\n");
    assert!(screen.err().contains("the turn was begun for reading only"), "{}", screen.err());
    // A session that begins with a plan may do what any other may.
    let house = House::new(&[("a.txt", "old\n")], &[write("planned\n"), write("done\n")].concat()).await;
    chat(&house, &["/plan change it", "do it"]).await;
    assert_eq!(house.read("a.txt"), "done\n");
}

#[tokio::test]
async fn a_mistake_does_not_end_the_conversation() {
    let house = House::new(&[], &says("Fine.")).await;
    let screen = chat(&house, &["/undo", "/nothing", "/model what", "fine?", "/quit", "never asked"]).await;
    assert_eq!(screen.out(), "Fine.\n");
    for told in ["hint: ", "There is no /nothing", "`what` is no name of a model"] {
        assert!(screen.err().contains(told), "{told}: {}", screen.err());
    }
}

#[tokio::test]
async fn the_conversation_goes_on_with_another_model() {
    let house = House::new(&[], &[says("First."), says("Second.")].concat()).await;
    let lines = ["one", "/model nobody:model", "/model scripted:model", "two", "/model"];
    let screen = chat(&house, &lines).await;
    assert_eq!(screen.out(), "First.\nSecond.\n");
    assert!(screen.err().contains("there is no model `nobody:model`"), "{}", screen.err());
    assert!(screen.err().contains("The conversation goes on with scripted:model.\n"), "{}", screen.err());
    assert!(screen.err().ends_with("scripted:model\n"), "{}", screen.err());
    let sessions = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap();
    let model = sessions.sessions[0].model.as_ref().map(|model| model.model_name.as_str());
    assert_eq!((sessions.sessions.len(), model), (1, Some("model")));
    // What was said before is still known.
    let asked = house.model.requests().pop().unwrap();
    assert!(format!("{:?}", asked.messages).contains("First."), "{asked:?}");
}

#[tokio::test]
async fn what_it_cost_is_told_where_it_is_known() {
    let says = |text: &str, cost: &str| {
        format!("[[reply]]\nparts = [{{ text = {text:?} }}]\nusage = {{ input = 1000, output = 10{cost} }}\n")
    };
    let script =
        [says("One.", ", micro_dollars = 1500"), says("Two.", ", micro_dollars = 20500"), says("Three.", "")];
    let house = House::new(&[], &script.concat()).await;
    let (screen, terminal) = Screen::new(PIPE);
    let (sender, receiver) = mpsc::channel(16);
    for line in ["/cost", "one", "two", "/cost", "three", "/cost"] {
        sender.send(line.to_owned()).await.unwrap();
    }
    drop(sender);
    let mut terminal = terminal.with_lines(receiver);
    let talk = loggia_cli::chat(&house.client, options(&house), &mut terminal, Interrupts::never());
    tokio::time::timeout(PATIENCE, talk).await.unwrap().unwrap();
    let shown = screen.shown().replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
    for told in [
        "Nothing was asked yet.",
        "\nscripted:model · 1,010 tokens · $0.0015 · 0.0 s",
        "\nscripted:model · 1,010 tokens · $0.021 · $0.022 in the\nsession · 0.0 s",
        "The last prompt took 1,010 tokens, $0.021.\nThe session took 2,020 tokens, $0.022.",
        "\nscripted:model · 1,010 tokens · 3,030 tokens in the session",
        "The last prompt took 1,010 tokens.\nThe session took 3,030 tokens.",
    ] {
        assert!(shown.contains(told), "{told} is not in:\n{shown}");
    }
}

#[tokio::test]
async fn without_a_terminal_there_is_no_conversation() {
    let house = House::new(&[], "").await;
    let (_, mut terminal) = Screen::new(FILES);
    let error = loggia_cli::chat(&house.client, options(&house), &mut terminal, Interrupts::never())
        .await
        .unwrap_err();
    assert!(matches!(error, CliError::NoTerminal) && error.hint().contains("loggia ask"));
}
