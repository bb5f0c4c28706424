//! The page about plugins is true: its files are written and its commands are run, in order.

use crate::auto::AutoStage;
use crate::guide::{Shell, commands};
use crate::stage::documents;

/// What begins a block that is a file.
const FILE: &str = "# file: ";

/// All blocks of code, in order: the language and the text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("\n```").skip(1).step_by(2);
    parts.filter_map(|part| part.split_once('\n')).collect()
}

#[test]
fn every_file_and_every_command_of_the_plugin_page_does_what_the_page_says() {
    let page = std::fs::read_to_string(documents().join("plugins.md")).unwrap();
    let stage = AutoStage::new();
    let mut shell = Shell::start(&stage.0, &[("PYTHONDONTWRITEBYTECODE", "1")]);
    let (mut files, mut ran) = (0, 0);
    for (language, text) in blocks(&page) {
        if let Some((path, rest)) = text.strip_prefix(FILE).and_then(|text| text.split_once('\n')) {
            stage.0.write(&format!("project/{path}"), format!("{rest}\n"));
            files += 1;
        } else if language == "console" {
            for (command, told) in commands(text) {
                shell.check(command, &told);
                ran += 1;
            }
        }
    }
    assert!(files >= 6 && ran >= 12, "{files} files and {ran} commands were found");
}
