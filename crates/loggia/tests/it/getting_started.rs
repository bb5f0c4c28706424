//! The first page people read is true: its commands are run in order, in one shell, from nothing to the end.

use crate::guide::{Shell, blocks, commands};
use crate::stage::{Stage, documents};

/// Ends the server that the page's commands start, whatever becomes of the test.
struct Ended<'s>(&'s Stage);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.run(&["stop"]);
    }
}

#[test]
fn every_command_of_the_first_page_does_what_the_page_says() {
    let page = std::fs::read_to_string(documents().join("getting-started.md")).unwrap();
    let stage = Stage::new();
    stage.write("project/.keep", "");
    stage.write("home/guide.toml", &blocks(&page, "toml")[0]);
    let _ended = Ended(&stage);
    let mut shell = Shell::start(&stage, &[]);
    let blocks = blocks(&page, "console");
    assert!(blocks.len() >= 10, "{} blocks were found", blocks.len());
    for (command, told) in blocks.iter().flat_map(|block| commands(block)) {
        shell.check(command, &told);
    }
}

#[test]
fn the_commands_of_the_policys_page_say_what_the_page_says() {
    let page = std::fs::read_to_string(documents().join("policy.md")).unwrap();
    let stage = Stage::new();
    stage.write("project/.keep", "");
    let _ended = Ended(&stage);
    let mut shell = Shell::start(&stage, &[("EDITOR", "sed -i 's/\"ask\"/\"auto-edit\"/'")]);
    let blocks = blocks(&page, "console");
    assert!(!blocks.is_empty());
    for (command, told) in blocks.iter().flat_map(|block| commands(block)) {
        shell.check(command, &told);
    }
}
