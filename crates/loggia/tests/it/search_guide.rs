//! The page about searching code is true: its file is written and its commands are run, in order.

use crate::auto::AutoStage;
use crate::guide::{Shell, blocks, commands};
use crate::stage::documents;

/// What the block begins with that is a file.
const FILE: &str = "# file: ";

#[test]
fn every_command_of_the_page_about_searching_does_what_the_page_says() {
    let page = std::fs::read_to_string(documents().join("search.md")).unwrap();
    let auto = AutoStage::new();
    let file = &blocks(&page, "rust")[0];
    let (path, text) = file.strip_prefix(FILE).unwrap().split_once('\n').unwrap();
    auto.0.write(&format!("project/{path}"), format!("{text}\n"));
    let mut shell = Shell::start(&auto.0, &[]);
    let blocks = blocks(&page, "console");
    let mut ran = 0;
    for (command, told) in blocks.iter().flat_map(|block| commands(block)) {
        shell.check(command, &told);
        ran += 1;
    }
    assert!(ran >= 8, "{ran} commands were found");
}
