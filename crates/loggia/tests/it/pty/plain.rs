//! Terminals without colours, and such as understand nothing.

use crate::auto::AutoStage;
use crate::pty::screen::{Ended, OnTerminal};

const REPLIES: &str = r#"
[[reply]]
parts = [
    { text = "Let me **look**.\n" },
    { call = { tool = "read_file", arguments = { path = "a.txt" } } },
]

[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "b.txt", content = "new\n" } } }]

[[reply]]
repeat = true
parts = [{ text = "It says `hello`.\n" }]
"#;

/// Asks, says yes to the one question, and ends.
fn asked(variable: (&str, &str), arguments: &[&str]) -> Ended {
    let stage = AutoStage::playing(REPLIES);
    stage.0.write("project/a.txt", "hello\n");
    let mut command = stage.0.command(&[arguments, &["ask", "what is it?"]].concat());
    command.env(variable.0, variable.1);
    let terminal = OnTerminal::start(&command, 30, 70);
    terminal.until("o once");
    terminal.press("o");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
    ended
}

/// The sequences that a program wrote, each once.
pub(crate) fn sequences(ended: &Ended) -> Vec<String> {
    let text = ended.text();
    let mut found: Vec<String> = text
        .match_indices('\x1b')
        .map(|(at, _)| {
            let rest = &text[at..];
            let end = rest.char_indices().skip(2).find(|(_, character)| character.is_ascii_alphabetic());
            end.map_or(rest, |(end, _)| &rest[..=end]).escape_debug().to_string()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn without_colours_lines_are_wiped_and_nothing_else() {
    let ended = asked(("NO_COLOR", "1"), &[]);
    assert_eq!(sequences(&ended), ["\\u{1b}[K"]);
    insta::assert_snapshot!(ended.shown.settled(), @"
    Let me **look**.
    ✓ Read a.txt
    b.txt (new) +1 -0
      @@ -0,0 +1,1 @@
      +new
    ? Change b.txt? The agent's `write_file` call.
      yes
    ✓ Write b.txt

    It says `hello`.
    1 file changed · scripted:script.toml · 0.0 s ·
    SESSION
    ");
    let by_flag = asked(("LC_ALL", "C.UTF-8"), &["--color", "never"]);
    assert_eq!(sequences(&by_flag), ["\\u{1b}[K"]);
    assert_eq!(by_flag.shown.settled(), ended.shown.settled());
}

#[test]
fn a_dumb_terminal_gets_no_sequences_at_all() {
    let ended = asked(("TERM", "dumb"), &[]);
    assert_eq!(sequences(&ended), [""; 0]);
    insta::assert_snapshot!(ended.shown.settled(), @"
    Let me **look**.
    ✓ Read a.txt
    b.txt (new) +1 -0
      @@ -0,0 +1,1 @@
      +new
    ? Change b.txt? The agent's `write_file` call.
      o once  s session  a always  n no  d show all
      yes
    ✓ Write b.txt

    It says `hello`.
    1 file changed · scripted:script.toml · 0.0 s ·
    SESSION
    ");
}

#[test]
fn colours_are_there_when_nobody_minds() {
    let ended = asked(("LC_ALL", "C.UTF-8"), &[]);
    assert!(sequences(&ended).len() > 3, "{:?}", sequences(&ended));
}
