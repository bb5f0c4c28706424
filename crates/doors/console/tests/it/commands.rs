//! Commands about the daemon, and what becomes of wrong ones.

use std::sync::Arc;

use loggia_endermux_io::client::Options;
use loggia_protocol_endermux::{ColorLevel, Epoch};
use loggia_tests::{Act, FakeAgent, FakeGuests, WorldBuilder};

use crate::support::House;

#[tokio::test]
async fn help_lists_every_command() {
    let house = House::open("").await;
    let text = house.terminal().await.run("help").await;
    assert!(text.contains("\nask TEXT…") && text.ends_with("[0]"), "{text}");
}

#[tokio::test]
async fn a_wrong_command_has_a_hint_and_a_status() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    assert_eq!(
        terminal.run("sesions").await,
        "error: there is no command `sesions`\ndid you mean `sessions`? `help` lists the commands\n[2]"
    );
    assert_eq!(terminal.run("use").await, "error: `use` needs SESSION\nusage: use SESSION\n[2]");
    assert_eq!(terminal.run("").await, "[0]");
    assert_eq!(
        terminal.run("cancel").await,
        "error: no session is in use\n`use SESSION` takes one, `sessions` lists them\n[2]"
    );
}

#[tokio::test]
async fn a_terminal_without_results_finds_them_in_its_log_and_others_do_not() {
    let house = House::open("").await;
    let mut other = house.terminal().await;
    let options = Options { extras: false, epochs: vec![Epoch::Fifteen], ..Options::new(ColorLevel::None) };
    let mut plain = house.mute(options).await;
    plain.client.subscribe().await.unwrap();
    plain.client.execute("version").await.unwrap();
    assert_eq!(plain.until("1.2.3").await, "loggia 1.2.3\n");
    plain.client.execute("vresion").await.unwrap();
    assert!(plain.until("did you mean").await.contains("error: there is no command `vresion`\n"));
    other.client.execute("version").await.unwrap();
    assert_eq!(other.until("1.2.3").await, "loggia 1.2.3\n");
}

#[tokio::test]
async fn the_daemon_tells_about_itself() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    let root = house.world.root().display().to_string();
    assert!(terminal.run("workspaces").await.contains(&root));
    let policy = terminal.run("policy").await;
    assert!(policy.contains("\n  preset     ask\n") && policy.contains("no network"), "{policy}");
    let models = terminal.run("models").await;
    assert!(models.starts_with("* scripted:"), "{models}");
    let clients = terminal.run("clients").await;
    assert!(clients.starts_with("* console 1  epoch 17, colours NONE, process "), "{clients}");
}

#[tokio::test]
async fn the_level_is_everybodys() {
    let house = House::open("").await;
    let (one, other) = (house.terminal().await, house.terminal().await);
    assert_eq!(one.run("log level").await, "log level info\n[0]");
    assert_eq!(one.run("log level debug").await, "log level debug\n[0]");
    assert_eq!(other.run("log level").await, "log level debug\n[0]");
    assert_eq!(one.run("log level wran").await, "error: there is no level `wran`\ndid you mean `warn`?\n[2]");
}

#[tokio::test]
async fn colours_are_those_of_the_terminal() {
    let house = House::open("").await;
    for (level, expected) in [
        (ColorLevel::None, "usage: cancel\n"),
        (ColorLevel::Indexed16, "\u{1b}[90musage: \u{1b}[0m\u{1b}[1mcancel\u{1b}[0m\n"),
        (ColorLevel::Indexed256, "\u{1b}[38;5;245musage: \u{1b}[0m\u{1b}[1mcancel\u{1b}[0m\n"),
        (ColorLevel::TrueColor, "\u{1b}[38;2;138;138;138musage: \u{1b}[0m\u{1b}[1mcancel\u{1b}[0m\n"),
    ] {
        let text = house.mute(Options::new(level)).await.run("help cancel").await;
        assert!(text.starts_with(expected), "{text:?}");
    }
}

#[tokio::test]
async fn stop_ends_everything_and_is_answered() {
    let mut house = House::open("").await;
    let mut watching = house.terminal().await;
    let terminal = house.terminal().await;
    assert_eq!(terminal.run("stop").await, "the daemon stops\n[0]");
    house.ended().await;
    assert!(house.stop.is_cancelled() && !house.path.exists());
    assert_eq!(house.door.clients(), 0);
    watching.until("<false>").await;
}

#[tokio::test]
async fn agents_of_plugins_are_listed_for_the_session_in_use_and_chosen_like_models() {
    let agent = FakeAgent::new("helper", vec![vec![Act::text("Here I am.")]]);
    let guests = Arc::new(FakeGuests(vec![agent]));
    let house = House::around(WorldBuilder::new("/bin/false").guests(guests).start("").await).await;
    let mut terminal = house.terminal().await;
    assert!(!terminal.run("models").await.contains("plugin:"), "they are a workspace's");
    terminal.run("use new").await;
    assert!(terminal.run("models").await.contains("\n  plugin:helper  agent of a plugin\n"));
    let refused = terminal.run("model plugin:nobody").await;
    assert!(refused.starts_with("error: there is no agent `nobody` in this workspace;"), "{refused}");
    assert!(terminal.run("model plugin:helper").await.ends_with("[0]"));
    assert!(terminal.run("models").await.contains("\n* plugin:helper  agent of a plugin\n"));
    terminal.client.execute("ask who is it?").await.unwrap();
    terminal.until("Here I am.").await;
}
