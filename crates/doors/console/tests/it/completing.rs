//! Completing and colouring with what the engine knows.

use loggia_domain::Preset;
use loggia_endermux_io::client::Options;
use loggia_protocol_endermux::ColorLevel;

use crate::support::{House, Terminal, WRITE};

/// What is offered at the end of a line.
async fn offered(terminal: &Terminal, line: &str) -> Vec<String> {
    let found = terminal.client.complete(line, line.len()).await.unwrap();
    found.into_iter().map(|candidate| candidate.value).collect()
}

#[tokio::test]
async fn values_are_offered_by_what_there_is() {
    let house = House::open(WRITE).await;
    let (id, player) = house.world.play(Preset::Ask).await;
    let mut terminal = house.terminal().await;
    let short = id.to_string()[30..].to_owned();
    assert_eq!(offered(&terminal, "use ").await, ["new".to_owned(), short.clone()]);
    assert_eq!(offered(&terminal, "use ses_").await, [id.to_string()]);
    assert_eq!(offered(&terminal, "approve ").await, Vec::<String>::new());
    player.prompt("Write").await.unwrap();
    let question = terminal.question().await;
    assert_eq!(offered(&terminal, "approve ").await, [question.as_str()]);
    assert_eq!(offered(&terminal, &format!("reject {}", &question[..2])).await, [question.as_str()]);
    assert_eq!(offered(&terminal, "log level d").await, ["debug"]);
    let models = offered(&terminal, "model ").await;
    assert!(models.len() == 1 && models[0].starts_with("scripted:"), "{models:?}");
    assert_eq!(offered(&terminal, "help can").await, ["cancel"]);
}

#[tokio::test]
async fn directories_are_offered_as_they_have_to_be_typed() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    let place = tempfile::tempdir().unwrap();
    for name in ["my project", "mine", ".hidden"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    std::fs::write(place.path().join("my file"), "").unwrap();
    let base = place.path().display();
    let expected = [format!("{base}/mine/"), format!("\"{base}/my project/\"")];
    assert_eq!(offered(&terminal, &format!("new {base}/m")).await, expected);
    assert_eq!(offered(&terminal, &format!("new \"{base}/my p")).await, expected[1..]);
    assert_eq!(offered(&terminal, &format!("new {base}/.")).await, [format!("{base}/.hidden/")]);
    assert_eq!(offered(&terminal, "new /no/such/place/").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_line_is_cut_and_coloured_by_the_table() {
    let house = House::open("").await;
    let terminal = house.mute(Options::new(ColorLevel::Indexed16)).await;
    assert_eq!(terminal.client.highlight("nope").await.unwrap(), "\u{1b}[91mnope\u{1b}[0m");
    let parsed = terminal.client.parse("new 'my 😀 d", 13).await.unwrap().parsed;
    assert_eq!((parsed.word(), parsed.index), ("'my 😀 d", 1));
}
