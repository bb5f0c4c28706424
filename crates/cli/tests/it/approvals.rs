//! Questions, answered by keys, beforehand or by somebody else.

use loggia_cli::{Approvals, Ask, Outcome};
use loggia_client::Heard;
use loggia_protocol_agent_server::{PolicyPreset, ServerMessage, SessionId};
use loggia_tests::scripts;

use crate::house::{House, calls};
use crate::screen::{FILES, Screen, TERMINAL};

fn edit() -> String {
    calls("edit_file", "{ path = \"a.txt\", old = \"one\", new = \"ONE\", reason = \"It should be louder\" }")
}

fn asking(house: &House, prompt: &str) -> Ask {
    Ask { preset: Some(PolicyPreset::Ask), ..house.prompt(prompt) }
}

#[tokio::test]
async fn one_key_says_yes() {
    let house = House::new(&[("a.txt", "one\n")], &edit()).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "xo");
    assert_eq!(house.ask(asking(&house, "louder"), &mut terminal).await.unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "ONE\n");
    insta::assert_snapshot!(screen.shown(), @r"
    Let me see.
    a.txt +1 -1
      @@ -1,1 +1,1 @@
      -one
      +ONE
    ? Change a.txt? It should be louder
      yes
    ✓ Edit a.txt

    Done.
    1 file changed · scripted:model · 0.0 s ·
    SESSION
    ");
}

#[tokio::test]
async fn one_key_says_no_and_nothing_is_changed() {
    let house = House::new(&[("a.txt", "one\n")], &edit()).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "n");
    assert_eq!(house.ask(asking(&house, "louder"), &mut terminal).await.unwrap(), Outcome::Refused);
    assert_eq!(house.read("a.txt"), "one\n");
    assert!(
        screen.shown().contains("? Change a.txt? It should be louder\n  no\n✗ Edit a.txt\n"),
        "{}",
        screen.shown()
    );
}

#[tokio::test]
async fn one_hunk_of_two_is_taken() {
    let lines = scripts::twenty_lines();
    let script = scripts::proposes(scripts::TWO_HUNKS) + &scripts::says("I see.");
    let house = House::new(&[("a.txt", &lines)], &script).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "hny");
    assert_eq!(house.ask(asking(&house, "shout"), &mut terminal).await.unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), lines.replace("line 20", "LINE 20"));
    let shown = screen.shown();
    assert!(shown.contains("[2/2] a.txt\n") && shown.contains("  yes, to 1 of 2 hunks\n"), "{shown}");
    assert!(shown.contains("\n1 file changed · 1 hunk refused · scripted:model · 0.0 s"), "{shown}");
}

#[tokio::test]
async fn an_answer_for_the_session_is_not_asked_for_again() {
    let script =
        [calls("run_command", "{ command = \"say hi\" }"), calls("run_command", "{ command = \"say hi\" }")];
    let script = script.concat().replace("[[reply]]\nparts = [{ text = \"Done.\" }]\n[[reply]]", "[[reply]]");
    let house = House::new(&[], &script).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "s");
    assert_eq!(house.ask(asking(&house, "run"), &mut terminal).await.unwrap(), Outcome::Done);
    let shown = screen.shown();
    assert_eq!(shown.matches("? Run say hi?").count(), 1, "{shown}");
    assert_eq!(shown.matches("✓ Run say hi").count(), 2, "{shown}");
    assert!(shown.contains("  yes; say hi is allowed in this session\n"), "{shown}");
}

#[tokio::test]
async fn what_cannot_be_remembered_is_not_offered() {
    for (arguments, title) in [
        ("{ command = 'say $WORDS' }", "? Run say $WORDS? The"),
        ("{ command = 'say hi && say ho' }", "? Run say hi && say ho? The"),
        ("{ command = 'say hi', cwd = 'sub' }", "? Run say hi? (in sub) The"),
        ("{ command = 'cd sub && rm -f x' }", "? Run cd sub && rm -f x? (high risk)"),
    ] {
        let house = House::new(&[], &calls("run_command", arguments)).await;
        std::fs::create_dir(house.root().join("sub")).unwrap();
        // Neither key means anything; then it is allowed once.
        let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "sao");
        assert_eq!(house.ask(asking(&house, "run"), &mut terminal).await.unwrap(), Outcome::Done);
        assert!(screen.err().contains("  o once  n no  d show all "), "{}", screen.err());
        let shown = screen.shown();
        assert!(shown.contains(title) && shown.contains("\n  yes\n"), "{shown}");
    }
}

#[tokio::test]
async fn a_failed_commands_last_lines_are_shown() {
    let house = House::new(&[], &calls("run_command", "{ command = \"fail\" }")).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let options = Ask { approvals: Approvals::Yes, ..asking(&house, "run") };
    assert_eq!(house.ask(options, &mut terminal).await.unwrap(), Outcome::Done);
    insta::assert_snapshot!(screen.err(), @r"
    ? Run fail? The agent wants to run this command.
      yes
    ✗ Run fail (exit code 3)
      … 2 lines before
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      line 9
      line 10
    ");
}

#[tokio::test]
async fn without_a_keyboard_the_answer_is_no() {
    let house = House::new(&[("a.txt", "one\n")], &edit()).await;
    let (screen, mut terminal) = Screen::new(FILES);
    assert_eq!(house.ask(asking(&house, "louder"), &mut terminal).await.unwrap(), Outcome::Refused);
    assert_eq!(house.read("a.txt"), "one\n");
    assert!(screen.err().contains("no: there is no keyboard to ask at"), "{}", screen.err());
}

#[tokio::test]
async fn read_only_changes_nothing() {
    let house = House::new(&[("a.txt", "one\n")], &edit()).await;
    let (_, mut terminal) = Screen::new(FILES);
    let options = Ask { approvals: Approvals::ReadOnly, ..house.prompt("louder") };
    assert_eq!(house.ask(options, &mut terminal).await.unwrap(), Outcome::Refused);
    assert_eq!(house.read("a.txt"), "one\n");
}

/// Another client says yes to the first question of the newest session.
async fn bob_says_yes(house: &House, screen: &Screen) {
    screen.until("? Change a.txt?").await;
    let id = house
        .client
        .sessions(None, &loggia_client::Page::default())
        .await
        .unwrap()
        .sessions
        .remove(0)
        .session_id;
    let mut stream = house.client.follow(&id).named("bob", "1").open().await.unwrap();
    while let Some(heard) = stream.next().await {
        if let Heard::Message(ServerMessage::ToolRequestApproval(asked)) = heard.unwrap() {
            stream.speaker().decide(asked.request_id, true).await.unwrap();
            break;
        }
    }
    stream.close().await;
}

#[tokio::test]
async fn somebody_else_answers_first_and_is_named() {
    for approvals in [Approvals::Ask, Approvals::Elsewhere] {
        let house = House::new(&[("a.txt", "one\n")], &edit()).await;
        let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "");
        let options = Ask { approvals, ..asking(&house, "louder") };
        let (outcome, ()) = tokio::join!(house.ask(options, &mut terminal), bob_says_yes(&house, &screen));
        assert_eq!(outcome.unwrap(), Outcome::Done);
        assert_eq!(house.read("a.txt"), "ONE\n");
        assert!(screen.shown().contains("  bob said yes\n"), "{}", screen.shown());
    }
}

#[tokio::test]
async fn an_id_that_is_no_session_is_told_with_a_hint() {
    let house = House::new(&[], "").await;
    let (_, mut terminal) = Screen::new(FILES);
    let id = SessionId("ses_00000000000000000000000000000000".to_owned());
    let options = Ask { session: loggia_cli::SessionChoice::Id(id), ..house.prompt("hm") };
    let error = house.ask(options, &mut terminal).await.unwrap_err();
    assert!(error.hint().starts_with("`loggia sessions list --all` tells"), "{}", error.hint());
}
