//! The example of `docs/console.md` in which a server is wrapped, as it is written there.

use crate::stage::{Stage, documents};
use crate::wrapped::{Wrapped, soon};

const PAGE: &str = "console.md";

/// The first block of code in the page that is in this language and has this text.
fn block(language: &str, with: &str) -> String {
    let page = std::fs::read_to_string(documents().join(PAGE)).unwrap();
    let blocks = page.split("\n```").skip(1).step_by(2);
    let mut found = blocks.filter_map(|block| block.strip_prefix(&format!("{language}\n")));
    found.find(|block| block.contains(with)).unwrap_or_else(|| panic!("no block with `{with}`")).to_owned()
}

#[tokio::test]
async fn the_wrapped_server_of_the_guide_runs() {
    let stage = Stage::new();
    stage.write("outside/server.sh", block("sh", "Starting minecraft"));
    stage.write("outside/words.txt", block("text", "gamemode survival"));
    let line = block("sh", "loggia wrap --name");
    let line = line.trim().replace("\\\n", " ");
    let words: Vec<String> = line.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect();
    assert_eq!(words[..2], ["loggia", "wrap"]);
    let mut command = stage.command(&["wrap", "--json"]);
    command.args(&words[2..]).env("PATH", std::env::var_os("PATH").unwrap());
    let wrapped = Wrapped::spawn(command).await;
    let mut attached = wrapped.attach().await;
    attached.hears("Done").await;
    assert_eq!(attached.completes("gamemode s").await, "survival");
    attached.client.execute("say hello").await.unwrap();
    let heard = attached.hears("hello\n").await + &attached.hears("hello\n").await;
    assert!(heard.contains("[client 1] > say hello\n"), "{heard}");
    assert!(heard.contains("INFO]: [Server] hello\n"), "{heard}");
    wrapped.signal(rustix::process::Signal::TERM);
    let ended = soon(wrapped.end()).await;
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("Saving worlds"), "{}", ended.stdout);
}
