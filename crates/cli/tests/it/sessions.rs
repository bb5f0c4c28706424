//! Which session is asked.

use loggia_cli::{Ask, CliError, Outcome, SessionChoice};
use loggia_protocol_agent_server::{CreateSessionParams, PolicyPreset, WorkspaceId};

use crate::house::{House, says};
use crate::screen::{FILES, Screen};

#[tokio::test]
async fn a_conversation_goes_on_in_its_session() {
    let script = [says("First."), says("Second.")].concat();
    let house = House::new(&[], &script).await;
    let (screen, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("one"), &mut terminal).await.unwrap();
    let options = Ask { session: SessionChoice::Latest, ..house.prompt("two") };
    assert_eq!(house.ask(options, &mut terminal).await.unwrap(), Outcome::Done);
    assert_eq!(screen.out(), "First.\nSecond.\n");
    let sessions = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap();
    assert_eq!(sessions.sessions.len(), 1);
}

/// Editors open sessions in which nothing is ever said.
#[tokio::test]
async fn a_session_in_which_nothing_happened_is_not_gone_on_with() {
    let house = House::new(&[], &[says("First."), says("Second.")].concat()).await;
    let (_, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("one"), &mut terminal).await.unwrap();
    let params = CreateSessionParams {
        workspace_id: WorkspaceId(house.workspace.id.to_string()),
        title: None,
        model: None,
        policy_preset: None,
        budget: None,
    };
    let empty = house.client.create_session(&params).await.unwrap();
    let options = Ask { session: SessionChoice::Latest, ..house.prompt("two") };
    house.ask(options, &mut terminal).await.unwrap();
    assert_eq!(house.client.session(&empty.session_id).await.unwrap().last_seq, empty.last_seq);
}

#[tokio::test]
async fn there_must_be_a_session_to_go_on_with() {
    let house = House::new(&[], "").await;
    let (_, mut terminal) = Screen::new(FILES);
    let options = Ask { session: SessionChoice::Latest, ..house.prompt("two") };
    let error = house.ask(options, &mut terminal).await.unwrap_err();
    assert!(matches!(error, CliError::NoSession));
    assert!(error.hint().contains("begins one"));
}

#[tokio::test]
async fn what_a_session_may_do_is_chosen_when_it_begins() {
    let house = House::new(&[], &says("First.")).await;
    let (_, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("one"), &mut terminal).await.unwrap();
    let options =
        Ask { session: SessionChoice::Latest, preset: Some(PolicyPreset::Full), ..house.prompt("two") };
    let error = house.ask(options, &mut terminal).await.unwrap_err();
    assert!(matches!(error, CliError::SessionHasBegun { what: "policy" }), "{error}");
}

#[tokio::test]
async fn a_session_goes_on_with_another_model() {
    let house = House::new(&[], &[says("First."), says("Second.")].concat()).await;
    let (_, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("one"), &mut terminal).await.unwrap();
    let with = |model: &str| Ask {
        session: SessionChoice::Latest,
        model: Some(model.to_owned()),
        ..house.prompt("two")
    };
    let error = house.ask(with("ollama:qwen3"), &mut terminal).await.unwrap_err();
    assert!(error.to_string().contains("ollama:qwen3"), "{error}");
    house.ask(with("scripted:model"), &mut terminal).await.unwrap();
    assert_eq!(house.model.requests().len(), 2);
}
