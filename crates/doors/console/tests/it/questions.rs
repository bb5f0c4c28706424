//! Questions: told to everybody, answered by anybody, once.

use loggia_domain::{Abilities, ApprovalScope, Preset, Role};
use loggia_tests::scripts::{TWO_HUNKS, proposes, says, twenty_lines};

use crate::support::{House, WRITE, finish};

/// Two terminals and a client of another door on one session; the one given answers, the others are too late.
async fn answered_by(who: usize) {
    let house = House::open(WRITE).await;
    let (id, mut player) = house.world.play(Preset::Ask).await;
    let (mut one, mut two) = (house.terminal().await, house.terminal().await);
    one.run(&format!("use {id}")).await;
    let running = one.client.run("ask Write").await.unwrap();
    let question = one.question().await;
    assert_eq!(two.question().await, question);
    let approval = player.until_asked().await;
    assert!(approval.to_string().ends_with(&question));
    let yes = format!("approve {question}");
    let done = format!("question {question} was allowed\n[0]");
    let by = match who {
        0 => {
            assert_eq!(one.run(&yes).await, done);
            "console 1"
        }
        1 => {
            assert_eq!(two.run(&yes).await, done);
            "console 2"
        }
        _ => {
            player.decide(approval, ApprovalScope::All).await.unwrap();
            "alice"
        }
    };
    assert_eq!(finish(running).await, "Writing.\nDone.\n[0]");
    for terminal in [&mut one, &mut two] {
        let heard = terminal.until("is done").await;
        assert!(heard.contains(&format!("question {question} was allowed by {by}\n")), "{heard}");
    }
    let late = two.run(&format!("reject {question} too late")).await;
    assert!(
        late.starts_with("error: `req_") && late.contains(&format!("it was allowed by {by}\n[5]")),
        "{late}"
    );
    assert!(player.decide(approval, ApprovalScope::None).await.is_err());
    assert_eq!(house.world.read("new.txt"), "hello\n");
}

#[tokio::test]
async fn the_terminal_that_asked_answers() {
    answered_by(0).await;
}

#[tokio::test]
async fn another_terminal_answers() {
    answered_by(1).await;
}

#[tokio::test]
async fn a_client_of_another_door_answers() {
    answered_by(2).await;
}

#[tokio::test]
async fn a_terminal_answers_what_was_asked_from_elsewhere_with_no() {
    let house = House::open(WRITE).await;
    let (_, mut player) = house.world.play(Preset::Ask).await;
    let mut terminal = house.terminal().await;
    player.prompt("Write").await.unwrap();
    let question = terminal.question().await;
    let listed = terminal.run("questions").await;
    assert!(
        listed.starts_with(&format!("{question}  ")) && listed.contains(" asks to change a file  req_"),
        "{listed}"
    );
    let shown = terminal.run(&format!("show {question}")).await;
    assert!(shown.contains("    new file new.txt: ") && shown.contains("\n    +hello\n"), "{shown}");
    assert_eq!(
        terminal.run(&format!("reject {question} not now")).await,
        format!("question {question} was refused\n[0]")
    );
    player.until_done().await;
    let heard = terminal.until("is done").await;
    assert!(heard.contains(" was refused by console 1: not now\n"), "{heard}");
    assert!(!house.world.root().join("new.txt").exists());
    assert_eq!(terminal.run("questions").await, "nothing waits for an answer\n[0]");
    assert!(terminal.run(&format!("show {question}")).await.contains("waits no more"));
}

#[tokio::test]
async fn a_question_in_a_result_is_told_there_and_a_refusal_is_a_status() {
    let house = House::open(WRITE).await;
    let mut watching = house.terminal().await;
    let caller = house
        .mute(loggia_endermux_io::client::Options::new(loggia_protocol_endermux::ColorLevel::None))
        .await;
    let running = caller.client.run("ask Write").await.unwrap();
    let question = watching.question().await;
    watching.run(&format!("reject {question}")).await;
    let text = finish(running).await;
    assert!(
        text.starts_with("Writing.\n") && text.contains(&format!("answer with `approve {question}`")),
        "{text}"
    );
    assert!(text.ends_with("Done.\nerror: something the agent wanted was refused\n[6]"), "{text}");
}

#[tokio::test]
async fn only_some_hunks_are_allowed() {
    let script = proposes(TWO_HUNKS) + &says("Done.");
    let builder = loggia_tests::WorldBuilder::new("/bin/false").file("a.txt", twenty_lines());
    let house = House::around(builder.start(&script).await).await;
    let mut terminal = house.terminal().await;
    let running = terminal.client.run("ask Change").await.unwrap();
    let question = terminal.question().await;
    let text = terminal.run(&format!("approve {question} --hunk 3")).await;
    assert!(text.starts_with("error: there is no hunk 3 in this question: it has 2\n"), "{text}");
    let text = terminal.run(&format!("approve {question} --hunk 2")).await;
    assert_eq!(text, format!("question {question} was allowed in part\n[0]"));
    finish(running).await;
    let file = house.world.read("a.txt");
    assert!(file.starts_with("line 1\n") && file.ends_with("LINE 20\n"), "{file}");
}

#[tokio::test]
async fn whoever_comes_late_finds_the_question_in_the_backlog_and_with_the_session() {
    let house = House::open(WRITE).await;
    let (id, mut player) = house.world.play(Preset::Ask).await;
    player.prompt("Write").await.unwrap();
    let approval = player.until_asked().await;
    let first = house.terminal().await;
    first.run("questions").await;
    let mut late = house
        .mute(loggia_endermux_io::client::Options::new(loggia_protocol_endermux::ColorLevel::None))
        .await;
    late.client.subscribe().await.unwrap();
    let question = late.question().await;
    assert!(approval.to_string().ends_with(&question));
    let taken = late.run(&format!("use {id}")).await;
    assert!(taken.contains(&format!("question {question})\n")) && taken.contains("+hello"), "{taken}");
    assert_eq!(first.run("clients").await.matches(" uses ").count(), 1);
    drop(player);
    let other = house.world.join(id, "bob", Role::Watch, Abilities::default()).await;
    assert_eq!(other.state().await.pending.len(), 1, "a question waits whoever leaves");
}

#[tokio::test]
async fn whoever_leaves_while_its_turn_waits_has_no_place_any_more() {
    let house = House::open(WRITE).await;
    let (id, _player) = house.world.play(Preset::Ask).await;
    let (mut one, two) = (house.terminal().await, house.terminal().await);
    one.run(&format!("use {id}")).await;
    let running = one.client.run("ask Write").await.unwrap();
    one.question().await;
    drop((running, one));
    // The list is empty as soon as it is noticed; nothing happens in the session meanwhile.
    while two.run("clients").await.contains("console 1") {
        tokio::task::yield_now().await;
    }
    assert!(two.run("questions").await.contains("change a file"));
}

/// A command that would look like another one on a terminal, and ends with what matters.
fn runs(command: &str) -> String {
    format!(
        r#"
        [[reply]]
        parts = [{{ call = {{ tool = "run_command", arguments = {{ command = "{command}", reason = "To see." }} }} }}]
        "#
    )
}

#[tokio::test]
async fn what_a_command_hides_is_shown_wherever_it_is_asked_about() {
    let house = House::open(&runs("true \\u001b]0;x; touch PWNED; true \\u0007")).await;
    let (id, mut player) = house.world.play(Preset::Ask).await;
    let mut terminal = house.terminal().await;
    player.prompt("Run").await.unwrap();
    player.until_asked().await;
    let heard = terminal.until("answer with").await;
    let spelt = "to run `true \\x1b]0;x; touch PWNED; true \\x07` (";
    assert!(heard.contains(spelt) && heard.contains("\n    ! this holds characters"), "{heard}");
    let question = heard.split_once(", question ").unwrap().1[..6].to_owned();
    let listed = terminal.run("questions").await;
    assert!(listed.contains(&format!("{spelt}holds characters that cannot be seen")), "{listed}");
    let shown = terminal.run(&format!("show {question}")).await;
    assert!(
        shown.contains("; touch PWNED; true \\x07`\n") && shown.contains("\n    ! this holds"),
        "{shown}"
    );

    assert!(terminal.run(&format!("use {id}")).await.contains(spelt));
    terminal.run("cancel").await;
    let heard = terminal.until("was cancelled").await;
    assert!(heard.contains(&format!("question {question} was withdrawn: the turn ended\n")), "{heard}");
    let late = terminal.run(&format!("approve {question}")).await;
    assert!(late.contains("it was withdrawn\n[5]"), "{late}");
}

#[tokio::test]
async fn a_long_command_is_never_approved_without_its_end() {
    let long = format!("echo {}; touch PWNED", "a".repeat(100_000));
    let house = House::open(&runs(&long)).await;
    let (_, mut player) = house.world.play(Preset::Ask).await;
    let mut terminal = house.terminal().await;
    player.prompt("Run").await.unwrap();
    player.until_asked().await;
    let heard = terminal.until("answer with").await;
    let question = heard.split_once(", question ").unwrap().1[..6].to_owned();
    let hint = format!(" more characters: show {question} … ");
    assert!(heard.matches(&hint).count() == 2 && heard.matches("; touch PWNED").count() == 2, "{heard}");
    assert!(terminal.run("questions").await.contains("; touch PWNED`"));
    assert!(terminal.run(&format!("show {question}")).await.contains(&format!("    │ {long}\n")));
}
