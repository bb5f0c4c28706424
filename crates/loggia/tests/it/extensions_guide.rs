//! The pages about extensions and messages are true: their files are written and their commands are run, in order.

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

/// Writes the files of a page and runs its commands, in a new project.
fn walk(page: &str, files_at_least: usize, commands_at_least: usize) {
    let page = std::fs::read_to_string(documents().join(page)).unwrap();
    let stage = AutoStage::new();
    // What a server is asked that a command started by itself.
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
    assert!(
        files >= files_at_least && ran >= commands_at_least,
        "{files} files and {ran} commands were found"
    );
}

#[test]
fn every_file_and_every_command_of_the_extension_page_does_what_the_page_says() {
    walk("extensions.md", 2, 25);
}

#[test]
fn every_file_and_every_command_of_the_message_page_does_what_the_page_says() {
    walk("messages.md", 2, 18);
}
