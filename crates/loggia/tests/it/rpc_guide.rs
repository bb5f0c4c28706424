//! The page about the rpc door is true: its commands are run in order, in one shell.

use crate::auto::AutoStage;
use crate::guide::{Shell, blocks, commands};
use crate::stage::documents;

#[test]
fn every_command_of_the_rpc_page_does_what_the_page_says() {
    let page = std::fs::read_to_string(documents().join("rpc.md")).unwrap();
    let stage = AutoStage::new();
    let home = stage.0.path("home");
    let path = format!("{}/.local/bin:{}", home.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Shell::start(&stage.0, &[]);
    // As it is on most machines.
    shell.run("mkdir -p ~/.local/bin");
    shell.run(&format!("export PATH=\"$PATH:{path}\""));
    let blocks = blocks(&page, "console");
    assert!(blocks.len() >= 3, "{} blocks were found", blocks.len());
    for (command, told) in blocks.iter().flat_map(|block| commands(block)) {
        shell.check(command, &told);
    }
}
