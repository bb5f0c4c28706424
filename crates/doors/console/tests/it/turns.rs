//! Turns: asked from a terminal, seen on others, cancelled and undone.

use loggia_domain::{Abilities, Preset, Role, TurnEnd};
use loggia_endermux_io::client::Options;
use loggia_protocol_endermux::{ColorLevel, Epoch};

use crate::support::{House, WRITE, finish};

const HANG: &str = "[[reply]]\nparts = [{ text = \"So far\\nand\" }, { hang = true }]";

#[tokio::test]
async fn a_reply_is_the_output_and_the_end_is_the_status() {
    let house =
        House::open("[[reply]]\nparts = [{ text = \"Be\" }, { text = \"cause.\\n\\u001b[2JSo.\" }]").await;
    let terminal = house.terminal().await;
    assert_eq!(terminal.run("ask Why 'so'?").await, "Because.\nSo.\n[0]");
}

#[tokio::test]
async fn a_failed_turn_is_told_with_its_status() {
    let house = House::open("").await;
    let text = house.terminal().await.run("ask Why?").await;
    assert!(text.starts_with("error: the turn failed: ") && text.ends_with("[8]"), "{text}");
}

#[tokio::test]
async fn everybody_hears_of_a_turn_and_those_who_use_the_session_its_words() {
    let house = House::open("[[reply]]\nparts = [{ text = \"Because.\\nSo.\" }]").await;
    let id = house.world.open(Preset::Ask).await;
    let short = id.to_string()[30..].to_owned();
    let (mut uses, mut watches) = (house.terminal().await, house.terminal().await);
    uses.run(&format!("use {id}")).await;
    let player = house.world.join(id, "alice", Role::Drive, Abilities::default()).await;
    player.prompt("Why?").await.unwrap();
    let heard = uses.until("is done").await;
    let words = format!("{short} │ Because.\n{short} │ So.\n");
    assert!(heard.contains(&format!("INFO]: {short} is asked by alice: Why?\n")), "{heard}");
    assert!(heard.contains(&words), "{heard}");
    let heard = watches.until("is done").await;
    assert!(heard.contains(" is asked by alice: Why?\n") && !heard.contains("Because"), "{heard}");
}

/// A terminal that waits for the result has the reply from there, and not twice.
#[tokio::test]
async fn a_reply_is_told_once() {
    let house = House::open("[[reply]]\nrepeat = true\nparts = [{ text = \"Because.\\n\" }]").await;
    let mut terminal = house.terminal().await;
    assert_eq!(terminal.run("ask Why?").await, "Because.\n[0]");
    assert!(!terminal.until("is done").await.contains("Because"));
    // One that does not wait for results has it in its log.
    let options = Options { extras: false, epochs: vec![Epoch::Fifteen], ..Options::new(ColorLevel::None) };
    let mut plain = house.mute(options).await;
    plain.client.subscribe().await.unwrap();
    plain.client.execute("ask Why?").await.unwrap();
    assert!(plain.until("is done").await.contains(" │ Because.\n"));
}

#[tokio::test]
async fn a_turn_is_cancelled_from_another_terminal() {
    let house = House::open(HANG).await;
    let (asks, cancels) = (house.terminal().await, house.terminal().await);
    cancels.run("new").await;
    let running = asks.client.run("ask Why?").await.unwrap();
    // The reply has begun when the terminal that uses the session hears of it.
    let mut cancels = cancels;
    cancels.until("│ So far").await;
    assert_eq!(cancels.run("cancel").await, "cancelled\n[0]");
    assert_eq!(finish(running).await, "So far\nand\nerror: the turn was cancelled\n[7]");
    assert!(cancels.until("was cancelled by console 2").await.contains("│ and\n"));
    assert_eq!(cancels.run("cancel").await, "error: no turn is under way\n[5]");
}

#[tokio::test]
async fn a_turn_that_was_cut_goes_on() {
    let script = format!("{HANG}\n\n[[reply]]\nexpect = \"goes on\"\nparts = [{{ text = \" the rest.\" }}]");
    let house = House::open(&script).await;
    let (terminal, mut other) = (house.terminal().await, house.terminal().await);
    assert_eq!(
        terminal.run("continue").await,
        "error: no session is in use\n`use SESSION` takes one, `sessions` lists them\n[2]"
    );
    let begun = terminal.run("new").await;
    other.run(&format!("use {}", &begun[..6])).await;
    assert_eq!(terminal.run("continue").await, "error: there is no turn to continue\n[1]");
    let running = terminal.client.run("ask Why?").await.unwrap();
    other.until("│ So far").await;
    other.run("cancel").await;
    assert!(finish(running).await.ends_with("[7]"));
    assert_eq!(terminal.run("continue").await, " the rest.\n[0]");
    other.until("goes on, says console 1").await;
    assert_eq!(terminal.run("continue").await, "error: there is no turn to continue\n[1]");
}

#[tokio::test]
async fn another_model_replies_from_then_on() {
    let world = loggia_tests::WorldBuilder::new("/bin/false")
        .model("other")
        .start("[[reply]]\nrepeat = true\nparts = [{ text = \"The first.\" }]");
    let house = House::around(world.await).await;
    let mut terminal = house.terminal().await;
    terminal.run("new").await;
    assert_eq!(terminal.run("ask Who?").await, "The first.\n[0]");
    assert_eq!(terminal.run("model other").await, "[0]");
    terminal.until("uses the model other, says console 1").await;
    assert!(terminal.run("models").await.contains("* other  "));
    // It has nothing to say.
    let text = terminal.run("ask Who?").await;
    assert!(text.starts_with("error: the turn failed: ") && text.ends_with("[8]"), "{text}");
    let text = terminal.run("model none").await;
    assert!(text.ends_with("\n`models` lists those there are\n[5]"), "{text}");
    assert!(terminal.run("show").await.contains("\n  model      other\n"));
}

#[tokio::test]
async fn a_second_turn_is_refused_while_one_runs() {
    let house = House::open(HANG).await;
    let mut terminal = house.terminal().await;
    let _running = terminal.client.run("ask Why?").await.unwrap();
    terminal.until("is asked by").await;
    let text = terminal.run("ask And?").await;
    assert_eq!(text, "error: a turn is under way\nwait for its end, or end it with `cancel`\n[5]");
}

#[tokio::test]
async fn changes_are_undone_and_made_again() {
    let house = House::open(WRITE).await;
    let mut terminal = house.terminal().await;
    let running = terminal.client.run("ask Write").await.unwrap();
    let question = terminal.question().await;
    terminal.run(&format!("approve {question}")).await;
    assert_eq!(finish(running).await, "Writing.\nDone.\n[0]");
    assert_eq!(house.world.read("new.txt"), "hello\n");
    assert_eq!(terminal.run("undo").await, "undone\n[0]");
    assert!(!house.world.root().join("new.txt").exists());
    terminal.until("console 1 took back new.txt").await;
    assert_eq!(terminal.run("redo").await, "redone\n[0]");
    assert_eq!(house.world.read("new.txt"), "hello\n");
    assert_eq!(terminal.run("undo 5").await, "error: there is only 1 change to undo\n[1]");
}

#[tokio::test]
async fn the_daemons_end_ends_a_turn_that_is_waited_for() {
    let mut house = House::open(HANG).await;
    let mut terminal = house.terminal().await;
    let running = terminal.client.run("ask Why?").await.unwrap();
    terminal.until("is asked by").await;
    house.stop.cancel();
    let text = finish(running).await;
    assert!(text.contains("error: the daemon stops\n") && text.ends_with("[9]"), "{text}");
    house.ended().await;
}

#[tokio::test]
async fn a_question_without_a_session_is_for_the_only_one() {
    let house = House::open("[[reply]]\nrepeat = true\nparts = [{ text = \"Yes.\" }]").await;
    let (_, mut player) = house.world.play(Preset::Ask).await;
    let terminal = house.terminal().await;
    assert_eq!(terminal.run("ask Here?").await, "Yes.\n[0]");
    assert_eq!(player.until_done().await, TurnEnd::Done);
    house.world.open(Preset::Ask).await;
    let late = house.terminal().await;
    assert!(late.run("ask Where?").await.starts_with("error: which session? There are several\n"));
    assert_eq!(terminal.run("ask Still here?").await, "Yes.\n[0]");
    assert_eq!(player.until_done().await, TurnEnd::Done);
}

#[tokio::test]
async fn secrets_are_masked_here_too() {
    let world = loggia_tests::WorldBuilder::new("/bin/false")
        .secret("hunter2secret")
        .start("[[reply]]\nparts = [{ text = \"It is hunter2secret.\\n\" }]");
    let house = House::around(world.await).await;
    let mut terminal = house.terminal().await;
    let text = terminal.run("ask What is hunter2secret?").await;
    let heard = terminal.until("is done").await;
    assert!(!text.contains("hunter2secret") && !heard.contains("hunter2secret"), "{text}\n{heard}");
}

#[tokio::test]
async fn what_a_call_is_given_is_told_without_secrets() {
    let script = "[[reply]]\nparts = [{ call = { tool = \"read_file\", arguments = { path = \"hunter2secret.txt\" } } }]\n\n\
                  [[reply]]\nparts = [{ text = \"No such file.\\n\" }]";
    let world = loggia_tests::WorldBuilder::new("/bin/false").secret("hunter2secret").start(script);
    let house = House::around(world.await).await;
    let mut terminal = house.terminal().await;
    let text = terminal.run("ask Read it").await;
    let heard = terminal.until("is done").await;
    assert!(heard.contains("runs read_file"), "{heard}");
    assert!(!text.contains("hunter2secret") && !heard.contains("hunter2secret"), "{text}\n{heard}");
}
