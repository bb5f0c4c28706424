//! A console, typed.

use rustix::process::Signal;

use crate::auto::AutoStage;
use crate::console::ConsoleStage;
use crate::pty::screen::{Ended, OnTerminal, Shown};

const UP: &str = "\x1b[A";
const HOME: &str = "\x01";
pub(super) const CTRL_C: &str = "\x03";
pub(super) const CTRL_D: &str = "\x04";

pub(super) fn attach(stage: &ConsoleStage, arguments: &[&str]) -> OnTerminal {
    let terminal = OnTerminal::start(&stage.command(arguments), 30, 80);
    typed(&terminal, ">");
    stage.until_subscribed(1);
    terminal
}

/// Waits until the line that is edited is this.
pub(super) fn typed(terminal: &OnTerminal, line: &str) -> Shown {
    terminal.until_so(line, |shown| shown.current() == line && shown.bracketed_paste)
}

fn says(terminal: &OnTerminal, line: &str) {
    terminal.press(line);
    typed(terminal, &format!("> {line}"));
    terminal.press("\r");
}

pub(super) fn leave(terminal: OnTerminal) -> Ended {
    typed(&terminal, ">");
    terminal.press(CTRL_D);
    let ended = terminal.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.shown.text());
    assert!(ended.restored && ended.shown.cursor_visible && !ended.shown.bracketed_paste);
    ended
}

/// What is shown, without the first line: it has a path that is different each time.
fn settled(ended: &Ended) -> String {
    let lines = ended.shown.styled.lines().skip_while(|line| !line.contains("leaves."));
    lines.skip(1).collect::<Vec<_>>().join("\n")
}

#[test]
fn commands_are_typed_and_logs_come_in_above_them() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("print hello");
    // The colours come from the server, and a line that is sent stays as it is.
    terminal.until_so("colours", |shown| shown.styled.contains("<green>print<> hello"));
    terminal.press("\r");
    terminal.until_so("hello", |shown| shown.lines.iter().any(|line| line == "hello"));
    terminal.press("half a li");
    typed(&terminal, "> half a li");
    stage.console().broadcast("\u{1b}[33mfrom elsewhere\u{1b}[m\n");
    stage.console().broadcast("two\nlines\n");
    terminal.until("from elsewhere");
    terminal.until("lines");
    typed(&terminal, "> half a li");
    terminal.press("ne");
    terminal.until_so("colours", |shown| shown.styled.contains("<red>half<> a line"));
    terminal.press(CTRL_C);
    terminal.until("Ctrl-D leaves.");
    let ended = leave(terminal);
    insta::assert_snapshot!(settled(&ended), @"
    <other>> <><green>print<> hello
    hello
    <yellow>from elsewhere<>
    two
    lines
    <other>> <><red>half<> a line
    <dim>Ctrl-D leaves.<>
    <other>> <>
    ");
}

#[test]
fn tab_completes_as_the_server_says() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("pr\t");
    typed(&terminal, "> print");
    terminal.press(CTRL_C);
    typed(&terminal, ">");
    terminal.press("s\t");
    // What they share is put in, and there is a menu. Its colours are asked for with what it may become, so that
    // both are there.
    terminal.until_so("a menu", |shown| {
        shown.current().trim_end() == "> say" && shown.has("say-it") && shown.styled.contains("<green>say<>")
    });
    terminal.press("\t\t\r");
    terminal.until_so("a choice", |shown| shown.current().starts_with("> say"));
    terminal.press(CTRL_C);
    leave(terminal);
}

#[test]
fn the_line_is_coloured_as_the_server_says_and_not_without_colours() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("print it");
    terminal.until_so("a green word", |shown| shown.styled.contains("<green>print<> it"));
    terminal.press(HOME);
    terminal.press("x");
    terminal.until_so("a red word", |shown| shown.styled.contains("<red>xprint<> it"));
    terminal.press(CTRL_C);
    leave(terminal);
    let terminal = attach(&stage, &["--color", "never"]);
    terminal.press("print it");
    typed(&terminal, "> print it");
    stage.console().broadcast("\u{1b}[31mred\u{1b}[m\n");
    terminal.until("red");
    terminal.press(CTRL_C);
    let ended = leave(terminal);
    let styles: Vec<String> = crate::pty::plain::sequences(&ended);
    let styles: Vec<&String> = styles.iter().filter(|sequence| sequence.ends_with('m')).collect();
    assert_eq!(styles, ["\\u{1b}[0m"], "the editor's reset is all");
}

#[test]
fn the_arrow_brings_back_what_was_typed_also_the_next_time() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    says(&terminal, "print one");
    terminal.until_so("one", |shown| shown.lines.iter().any(|line| line == "one"));
    leave(terminal);
    let history = stage.stage.path("home/.local/share/loggia/other-console-history");
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let terminal = attach(&stage, &[]);
    terminal.press(UP);
    typed(&terminal, "> print one");
    terminal.press(CTRL_C);
    leave(terminal);
}

#[test]
fn a_server_that_comes_back_is_attached_to_again_and_the_line_stays() {
    let mut stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("print back");
    typed(&terminal, "> print back");
    stage.stop();
    typed(&terminal, "(waiting) print back");
    stage.start();
    typed(&terminal, "> print back");
    stage.until_subscribed(1);
    terminal.press("\r");
    terminal.until_so("back", |shown| shown.lines.iter().any(|line| line == "back"));
    leave(terminal);
}

#[test]
fn ctrl_c_leaves_while_nobody_is_there() {
    let stage = ConsoleStage::without_server();
    let terminal = OnTerminal::start(&stage.command(&[]), 24, 100);
    terminal.until("Ctrl-C leaves.");
    typed(&terminal, "(waiting)");
    terminal.press(CTRL_C);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
}

#[test]
fn no_commands_now_is_seen_and_the_line_stays() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("print it");
    typed(&terminal, "> print it");
    stage.console().set_interactive(false);
    typed(&terminal, "(no commands now) print it");
    terminal.press("\r");
    terminal.until("the line was not sent.");
    stage.console().set_interactive(true);
    terminal.press(UP);
    typed(&terminal, "> print it");
    terminal.press(CTRL_C);
    leave(terminal);
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let stage = ConsoleStage::new();
        let terminal = attach(&stage, &[]);
        assert!(!terminal.is_restored());
        terminal.signal(signal);
        let ended = terminal.end();
        assert!(ended.restored && ended.shown.cursor_visible && !ended.shown.bracketed_paste, "{signal:?}");
        assert_eq!(ended.code(), Some(7), "{}", ended.shown.text());
    }
}

#[test]
fn a_narrow_window_and_another_size_are_no_trouble() {
    let stage = ConsoleStage::new();
    let terminal = OnTerminal::start(&stage.command(&[]), 20, 40);
    typed(&terminal, ">");
    stage.until_subscribed(1);
    let long = format!("print {}", "word ".repeat(9).trim_end());
    terminal.press(&long);
    terminal.until_so("two rows", |shown| {
        shown.current().ends_with("word") && shown.cursor.1 == long.len() + 2 - 40
    });
    stage.console().broadcast("logged\n");
    let shown = terminal.until("logged");
    assert!(shown.has("Attached to "), "{}", shown.text());
    terminal.resize(20, 80);
    terminal.press("s");
    terminal.until_so("one row", |shown| shown.current() == format!("> {long}s"));
    // Above the line as it is now: the editor has taken in the new size.
    stage.console().broadcast("logged again\n");
    terminal.until("logged again");
    typed(&terminal, &format!("> {long}s"));
    terminal.press("\r");
    terminal.until_so("the answer", |shown| shown.count("words") == 2);
    leave(terminal);
}

#[test]
fn a_flood_does_not_keep_anybody_from_typing() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &["--level", "info"]);
    for number in 0..30_000 {
        stage.console().broadcast(format!("[INFO] line {number}\n"));
    }
    terminal.press("print typed");
    terminal.until_so("the line", |shown| shown.current() == "> print typed");
    terminal.press("\r");
    terminal.until_written("\rtyped\r\n");
    terminal.until_written("[INFO] line 29999\r\n");
    leave(terminal);
}

#[test]
fn hostile_lines_do_not_drive_the_terminal() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    stage.console().broadcast("a\u{1b}[2J\u{1b}[10;10Hb\u{1b}]0;title\u{7}c\u{1b}[?2004l\rd\u{9b}2Je\n");
    terminal.until("abcd2Je");
    typed(&terminal, ">");
    let ended = leave(terminal);
    assert!(ended.shown.has("Attached to "), "{}", ended.shown.text());
    assert!(!ended.text().contains("title") && !ended.text().contains("\u{1b}[2J"), "{:?}", ended.text());
}

#[test]
fn a_dumb_terminal_gets_lines_and_gives_lines() {
    let stage = ConsoleStage::new();
    let mut command = stage.command(&[]);
    command.env("TERM", "dumb");
    let terminal = OnTerminal::start(&command, 24, 100);
    terminal.until("Attached to ");
    stage.until_subscribed(1);
    stage.console().broadcast("\u{1b}[31mlogged\u{1b}[m\n");
    terminal.until("logged");
    terminal.press("print hello\r");
    terminal.until_so("the answer", |shown| shown.lines.iter().any(|line| line == "hello"));
    terminal.press(CTRL_D);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
    assert!(!ended.text().contains('\u{1b}'), "{:?}", ended.text());
}

#[test]
fn the_servers_console_asks_and_is_answered() {
    let stage = AutoStage::writing(&[("one.txt", "new\n")]);
    let terminal = OnTerminal::start(&stage.0.command(&["attach"]), 50, 100);
    typed(&terminal, ">");
    says(&terminal, &format!("new {}", stage.0.path("project").display()));
    terminal.until_so("the session", |shown| shown.count("project") > 1 && shown.current() == ">");
    says(&terminal, "ask write it");
    let shown = terminal.until("answer with `approve");
    let line = shown.lines.iter().find(|line| line.contains("answer with `approve")).unwrap();
    let id = line.split('`').nth(1).unwrap().strip_prefix("approve ").unwrap().to_owned();
    typed(&terminal, ">");
    terminal.press("appr\t");
    terminal.until_so("the command", |shown| shown.current().starts_with("> approve"));
    terminal.press(CTRL_C);
    typed(&terminal, ">");
    says(&terminal, &format!("approve {id}"));
    terminal.until_so("the end", |shown| shown.lines.iter().any(|line| line == "Done."));
    let ended = leave(terminal);
    assert_eq!(stage.0.read("project/one.txt"), "new\n");
    assert_eq!(ended.shown.lines.iter().filter(|line| *line == "Done.").count(), 1, "{}", ended.shown.text());
}

#[test]
fn the_servers_console_is_attached_to_again_when_the_server_comes_back() {
    let stage = AutoStage::new();
    let terminal = OnTerminal::start(&stage.0.command(&["attach"]), 50, 100);
    typed(&terminal, ">");
    stage.0.run(&["stop"]);
    typed(&terminal, "(waiting)");
    assert_eq!(stage.0.run(&["ask", "hello"]).code, Some(0));
    typed(&terminal, ">");
    terminal.until("Attached again");
    leave(terminal);
}
