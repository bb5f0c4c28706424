//! A prompt for a session in which a turn is under way.

use loggia_cli::{Approvals, Ask, Chat, CliError, Interrupts, Outcome, SessionChoice};
use loggia_client::Heard;
use loggia_protocol_agent_server::{
    CreateSessionParams, PolicyPreset, RegisterWorkspaceParams, ServerMessage, Session, SessionStatus,
};
use tokio::sync::mpsc;

use crate::house::{House, PATIENCE, calls, says};
use crate::screen::{FILES, PIPE, Screen, TERMINAL};

/// A house with a turn that waits for an answer, and nobody there to give it. The next prompt is answered with `Second.`
async fn house() -> House {
    let edit = "{ path = \"a.txt\", old = \"one\", new = \"ONE\" }";
    let house =
        House::new(&[("a.txt", "one\n")], &[calls("edit_file", edit), says("Second.")].concat()).await;
    let root_path = house.root().to_str().unwrap().to_owned();
    let workspace =
        house.client.register_workspace(&RegisterWorkspaceParams { root_path, name: None }).await.unwrap();
    let params = CreateSessionParams {
        workspace_id: workspace.workspace_id,
        title: None,
        model: None,
        policy_preset: Some(PolicyPreset::Ask),
        budget: None,
    };
    let session = house.client.create_session(&params).await.unwrap();
    let mut stream = house.client.follow(&session.session_id).named("ada", "1").open().await.unwrap();
    stream.speaker().prompt("louder").await.unwrap();
    while !matches!(
        stream.next().await.unwrap().unwrap(),
        Heard::Message(ServerMessage::ToolRequestApproval(_))
    ) {}
    stream.close().await;
    house
}

async fn session(house: &House) -> Session {
    let page = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap();
    let [session] = page.sessions.try_into().unwrap();
    session
}

fn more(house: &House, approvals: Approvals) -> Ask {
    Ask { session: SessionChoice::Latest, approvals, ..house.prompt("more") }
}

#[tokio::test]
async fn without_a_terminal_nothing_is_answered_for_anybody() {
    for approvals in [Approvals::Ask, Approvals::Yes] {
        let house = house().await;
        let (screen, mut terminal) = Screen::new(FILES);
        let error = house.ask(more(&house, approvals), &mut terminal).await.unwrap_err();
        assert!(matches!(error, CliError::UnderWay), "{error}");
        assert!(error.hint().contains("`loggia ask --continue` in a terminal"), "{}", error.hint());
        // A program could not press a key either.
        let (_, mut terminal, _keys) = Screen::with_keys(TERMINAL, "o");
        let options = Ask { json: true, ..more(&house, approvals) };
        assert!(matches!(house.ask(options, &mut terminal).await, Err(CliError::UnderWay)));
        assert_eq!(screen.out(), "");
        let session = session(&house).await;
        assert_eq!(session.status, SessionStatus::WaitingApproval);
        assert_eq!(session.state.pending_approvals.len(), 1);
        assert_eq!(house.read("a.txt"), "one\n");
    }
}

#[tokio::test]
async fn the_other_turn_comes_first_and_keys_answer_it() {
    for (key, left) in [("n", "one\n"), ("o", "ONE\n")] {
        let house = house().await;
        // Who says yes beforehand says it to what the prompt leads to.
        let (screen, mut terminal, _keys) = Screen::with_keys(PIPE, key);
        let outcome = house.ask(more(&house, Approvals::Yes), &mut terminal).await.unwrap();
        assert_eq!((outcome, house.read("a.txt").as_str()), (Outcome::Done, left));
        assert!(house.last_prompt().contains("more"), "{}", house.last_prompt());
        // What the other turn said is no answer to the prompt.
        assert_eq!(screen.out(), "Second.\n");
        let shown = screen.err();
        let (said, asked) = (shown.find("A turn of this session is under way"), shown.find("Change a.txt?"));
        assert!(said.is_some() && said < asked, "{shown}");
    }
}

#[tokio::test]
async fn whoever_interrupts_leaves_the_other_turn_as_it_is() {
    let house = house().await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "");
    let (interrupter, interrupts) = Interrupts::channel();
    let asking = loggia_cli::ask(&house.client, more(&house, Approvals::Ask), &mut terminal, interrupts);
    let press = async {
        screen.until("Change a.txt?").await;
        interrupter.interrupt();
    };
    let (outcome, ()) = tokio::time::timeout(PATIENCE, async { tokio::join!(asking, press) }).await.unwrap();
    assert_eq!(outcome.unwrap(), Outcome::Left);
    assert_eq!(session(&house).await.status, SessionStatus::WaitingApproval);
    assert_eq!(house.model.requests().len(), 1);
}

#[tokio::test]
async fn a_conversation_waits_for_it_as_well() {
    let house = house().await;
    let (screen, terminal, _keys) = Screen::with_keys(TERMINAL, "n");
    let (sender, receiver) = mpsc::channel(1);
    sender.send("more".to_owned()).await.unwrap();
    drop(sender);
    let mut terminal = terminal.with_lines(receiver);
    let options = Chat {
        workspace: house.root(),
        model: None,
        session: SessionChoice::Latest,
        approvals: Approvals::Yes,
        preset: None,
        budget: None,
        quiet: false,
        history: None,
        revive: None,
    };
    let talk = loggia_cli::chat(&house.client, options, &mut terminal, Interrupts::never());
    assert_eq!(tokio::time::timeout(PATIENCE, talk).await.unwrap().unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "one\n");
    assert!(screen.shown().contains("Second."), "{}", screen.shown());
}
