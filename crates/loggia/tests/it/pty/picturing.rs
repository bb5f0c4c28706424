//! The picture of the console in the documents: a real terminal on a real server, two people on one session.
//!
//! Played in every run; written to `docs/console.svg` when `LOGGIA_RECORD_PICTURE` is set.

use std::path::Path;

use crate::auto::AutoStage;
use crate::pty::screen::{OnTerminal, Shown};

const SCRIPT: &str = r#"
[[reply]]
parts = [
    { text = "The greeting is in `greet.py`. I will make it friendlier.\n" },
    { call = { tool = "edit_file", arguments = { path = "greet.py", old = "print(\"hi\")", new = "print(\"Good morning!\")" } } },
]

[[reply]]
repeat = true
parts = [{ text = "Done: it says good morning now." }]
"#;

fn typed(terminal: &OnTerminal, line: &str) -> Shown {
    terminal.until_so(line, |shown| shown.current() == line && shown.bracketed_paste)
}

fn says(terminal: &OnTerminal, line: &str) {
    terminal.press(line);
    typed(terminal, &format!("> {line}"));
    terminal.press("\r");
}

#[test]
fn two_terminals_share_a_session_as_the_picture_shows() {
    let stage = AutoStage::playing(SCRIPT);
    stage.0.write("project/greet.py", "import sys\n\nprint(\"hi\")\n");
    let asking = OnTerminal::start(&stage.0.command(&["attach"]), 34, 100);
    typed(&asking, ">");
    says(&asking, "new");
    asking.until("project");
    typed(&asking, ">");
    says(&asking, "ask make the greeting friendlier");
    let shown = asking.until("answer with `approve");
    let line = shown.lines.iter().find(|line| line.contains("answer with `approve")).unwrap();
    let id = line.split('`').nth(1).unwrap().strip_prefix("approve ").unwrap().to_owned();
    // Somebody else answers, from another terminal.
    let answered = stage.0.run(&["attach", "-c", &format!("approve {id}")]);
    assert_eq!(answered.code, Some(0), "{}", answered.stderr);
    asking.until("Done: it says good morning now.");
    asking.until("is done");
    let shown = typed(&asking, ">");
    assert_eq!(shown.count("Done: it says good morning now."), 1, "{}", shown.text());
    asking.press("log level \t");
    asking.until_so("a menu", |shown| shown.has("debug") && shown.has("trace"));
    assert!(stage.0.read("project/greet.py").contains("Good morning!"));
    record(&asking.picture(), &stage.0.path(""));
}

/// Writes the picture if that is wanted, with a place that everybody has instead of the test's own.
fn record(picture: &str, place: &Path) {
    if std::env::var_os("LOGGIA_RECORD_PICTURE").is_none() {
        return;
    }
    let place = place.to_str().unwrap().trim_end_matches('/');
    // Of the same length, so that nothing moves.
    let shown: String =
        "/home/ada/".chars().chain("work-of-hers".chars().cycle()).take(place.len()).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/console.svg");
    std::fs::write(path, picture.replace(place, &shown)).unwrap();
}
