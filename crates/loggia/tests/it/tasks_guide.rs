//! The page about tasks is true: its files are written and its commands are run, in order.

use crate::auto::AutoStage;
use crate::guide::{Shell, commands};
use crate::stage::documents;
use crate::tasks::repository;

/// What begins a block that is a file.
const FILE: &str = "# file: ";

/// An agent that plans, writes what the page says it writes, and looks at that; then the same again while nobody looks.
const AGENT: &str = r##"
[[reply]]
expect = "It says 500."
parts = [{ text = "# Summary\n\nLet people in.\n\n# Details\n\nWrite `login.txt`." }]

[[reply]]
expect = "Keep it short."
parts = [{ call = { tool = "write_file", arguments = { path = "login.txt", content = "Come in.\n" } } }]

[[reply]]
parts = [{ text = "I wrote `login.txt`." }]

[[reply]]
parts = [{ text = "There are no faults." }]

[[reply]]
expect = "Say goodbye"
parts = [{ text = "# Summary\n\nSay goodbye." }]

[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "bye.txt", content = "Bye.\n" } } }]

[[reply]]
parts = [{ text = "I wrote `bye.txt`." }]
"##;

/// All blocks of code, in order: the language and the text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("\n```").skip(1).step_by(2);
    parts.filter_map(|part| part.split_once('\n')).collect()
}

#[test]
fn every_file_and_every_command_of_the_page_about_tasks_does_what_the_page_says() {
    let page = std::fs::read_to_string(documents().join("tasks.md")).unwrap();
    let stage = AutoStage::playing(AGENT);
    repository(&stage.0, &[]);
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
    assert!(files >= 1 && ran >= 14, "{files} files and {ran} commands were found");
}
