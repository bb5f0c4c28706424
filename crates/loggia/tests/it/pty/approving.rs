//! Questions answered with single keys.

use crate::auto::AutoStage;
use crate::pty::screen::{Ended, OnTerminal, Shown};

/// One file, then another one.
const TWO_FILES: &[(&str, &str)] = &[("one.txt", "new\n"), ("two.txt", "new\n")];

/// The same file twice.
const ONE_FILE_TWICE: &[(&str, &str)] = &[("one.txt", "new\n"), ("one.txt", "newer\n")];

/// Changes the first and the last of twenty lines.
fn two_hunks() -> AutoStage {
    let stage = AutoStage::writing(&[("list.txt", &list("first\n", "last\n"))]);
    stage.0.write("project/list.txt", list("line 1\n", "line 20\n"));
    stage
}

/// The last line of a question.
const KEYS: &str = "o once";

fn list(first: &str, last: &str) -> String {
    let lines = (2..20).map(|line| format!("line {line}\n"));
    std::iter::once(first.to_owned()).chain(lines).chain([last.to_owned()]).collect()
}

/// Asks, and waits for the first question.
fn asked(stage: &AutoStage) -> OnTerminal {
    let terminal = OnTerminal::start(&stage.0.command(&["ask", "change it"]), 40, 70);
    terminal.until(KEYS);
    terminal
}

/// Asks again in a new session of a new server, for which the script begins anew.
fn restarted(stage: &AutoStage) -> OnTerminal {
    std::fs::remove_file(stage.0.path("project/one.txt")).unwrap();
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    OnTerminal::start(&stage.0.command(&["ask", "again"]), 40, 70)
}

/// Waits until the keys are asked for with this many answers above.
fn asked_again(terminal: &OnTerminal, question: &str) -> Shown {
    terminal.until_so(question, |shown| shown.has(question) && shown.current().contains(KEYS))
}

fn end(terminal: OnTerminal) -> Ended {
    let ended = terminal.end();
    assert!(ended.restored && ended.shown.cursor_visible, "{}", ended.shown.text());
    ended
}

#[test]
fn once_is_for_one_change() {
    let stage = AutoStage::writing(TWO_FILES);
    let terminal = asked(&stage);
    assert!(!terminal.is_restored(), "keys are read one by one");
    insta::assert_snapshot!(terminal.shown().settled(), @"
    <bold>one.txt<> (new) <green>+1<> <red>-0<>
    <cyan>  @@ -0,0 +1,1 @@<>
    <green>  +new<>
    <magenta bold>?<> <bold>Change one.txt?<><dim> The agent's `write_file` call.<>
      <cyan>o<> once  <cyan>s<> session  <cyan>a<> always  <cyan>n<> no  <cyan>d<> show all
    ");
    terminal.press("o");
    asked_again(&terminal, "Change two.txt?");
    assert_eq!(stage.0.read("project/one.txt"), "new\n");
    terminal.press("n");
    let ended = end(terminal);
    insta::assert_snapshot!(ended.shown.settled(), @"
    <bold>one.txt<> (new) <green>+1<> <red>-0<>
    <cyan>  @@ -0,0 +1,1 @@<>
    <green>  +new<>
    <magenta bold>?<> <bold>Change one.txt?<><dim> The agent's `write_file` call.<>
      <green>yes<>
    <green>✓<> Write one.txt
    <bold>two.txt<> (new) <green>+1<> <red>-0<>
    <cyan>  @@ -0,0 +1,1 @@<>
    <green>  +new<>
    <magenta bold>?<> <bold>Change two.txt?<><dim> The agent's `write_file` call.<>
      <red>no<>
    <red>✗<> Write two.txt
      <dim>it was refused<>

    Done.
    <dim>1 file changed · scripted:script.toml · 0.0 s ·<>
    <dim>SESSION<>
    ");
    assert_eq!(ended.code(), Some(6), "something was refused");
    assert!(!stage.0.path("project/two.txt").exists());
}

#[test]
fn a_yes_for_the_session_is_asked_for_once() {
    let stage = AutoStage::writing(ONE_FILE_TWICE);
    let terminal = asked(&stage);
    terminal.press("s");
    let ended = end(terminal);
    assert_eq!((ended.code(), ended.shown.count("Change ")), (Some(0), 1), "{}", ended.shown.text());
    assert!(ended.shown.has("yes; such changes to one.txt are allowed in this session"));
    assert_eq!(stage.0.read("project/one.txt"), "newer\n");
    // The next session asks again.
    let terminal = restarted(&stage);
    terminal.until(KEYS);
    terminal.press("n");
    asked_again(&terminal, "it was refused");
    terminal.press("n");
    assert_eq!(end(terminal).code(), Some(6));
}

#[test]
fn always_holds_for_the_next_session_too() {
    let stage = AutoStage::writing(ONE_FILE_TWICE);
    let terminal = asked(&stage);
    terminal.press("a");
    let ended = end(terminal);
    assert_eq!(ended.code(), Some(0));
    assert!(
        ended.shown.has("yes; such changes to one.txt are allowed in this workspace"),
        "{}",
        ended.shown.text()
    );
    let ended = end(restarted(&stage));
    assert_eq!((ended.code(), ended.shown.count("Change ")), (Some(0), 0), "{}", ended.shown.text());
    assert_eq!(stage.0.read("project/one.txt"), "newer\n");
}

#[test]
fn a_key_that_means_nothing_answers_nothing() {
    let stage = AutoStage::writing(TWO_FILES);
    let terminal = asked(&stage);
    // Enter, an arrow, a space, a letter; then a no, which shows that they were read.
    terminal.press("\r\x1b[A x");
    terminal.press("n");
    asked_again(&terminal, "Change two.txt?");
    assert!(!stage.0.path("project/one.txt").exists());
    terminal.press("n");
    assert_eq!(end(terminal).code(), Some(6));
}

#[test]
fn one_of_two_hunks_is_taken_on_the_way_through_them() {
    let stage = two_hunks();
    let terminal = asked(&stage);
    terminal.press("h");
    terminal.until("y take");
    terminal.press("n");
    terminal.until("[2/2]");
    terminal.press("y");
    let ended = end(terminal);
    insta::assert_snapshot!(ended.shown.settled(), @"
    <bold>list.txt<> <green>+2<> <red>-2<>
    <cyan>  @@ -1,4 +1,4 @@<>
    <red>  -line 1<>
    <green>  +first<>
       line 2
       line 3
       line 4
    <cyan>  @@ -17,4 +17,4 @@<>
       line 17
       line 18
       line 19
    <red>  -line 20<>
    <green>  +last<>
    <magenta bold>?<> <bold>Change list.txt?<><dim> The agent's `write_file` call.<>
    <bold>[1/2]<> list.txt
    <cyan>  @@ -1,4 +1,4 @@<>
    <red>  -line 1<>
    <green>  +first<>
       line 2
       line 3
       line 4
      <red>left<>
    <bold>[2/2]<> list.txt
    <cyan>  @@ -17,4 +17,4 @@<>
       line 17
       line 18
       line 19
    <red>  -line 20<>
    <green>  +last<>
      <green>yes, to 1 of 2 hunks<>
    <green>✓<> Write list.txt

    Done.
    <dim>1 file changed · 1 hunk refused · scripted:script.toml · 0.0 s ·<>
    <dim>SESSION<>
    ");
    assert_eq!(ended.code(), Some(0), "a part was taken");
    assert_eq!(stage.0.read("project/list.txt"), list("line 1\n", "last\n"));
}

#[test]
fn the_way_back_from_hunks_forgets_what_was_said() {
    let stage = two_hunks();
    let terminal = asked(&stage);
    terminal.press("h");
    terminal.until("y take");
    terminal.press("n");
    terminal.until("[2/2]");
    terminal.press("q");
    asked_again(&terminal, "list.txt");
    terminal.press("o");
    assert_eq!(end(terminal).code(), Some(0));
    assert_eq!(stage.0.read("project/list.txt"), list("first\n", "last\n"));
}

#[test]
fn what_was_typed_before_a_question_neither_shows_nor_answers_it() {
    let stage = AutoStage::playing(
        r#"
[[reply]]
parts = [{ call = { tool = "run_command", arguments = { command = "until test -e go; do sleep 0.05; done" } } }]

[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "one.txt", content = "new\n" } } }]

[[reply]]
repeat = true
parts = [{ text = "Done." }]
"#,
    );
    let terminal = asked(&stage);
    terminal.press("o");
    terminal.until_so("a yes", |shown| shown.has("  yes") && !shown.has(KEYS));
    terminal.press("oops\ro");
    stage.0.write("project/go", "");
    asked_again(&terminal, "Change one.txt?");
    assert!(!stage.0.path("project/one.txt").exists());
    terminal.press("n");
    let ended = end(terminal);
    assert_eq!(ended.code(), Some(6), "{}", ended.shown.text());
    assert!(!ended.shown.has("oops"), "{}", ended.shown.text());
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_the_question_comes_again() {
    let stage = AutoStage::writing(&TWO_FILES[..1]);
    let mut command = stage.0.program("/bin/bash");
    // With jobs of their own, as in a shell that somebody types into. `$0` is the binary.
    let line = "set -m; \"$0\" ask 'change it'; stty -a > modes; echo stopped; fg > /dev/null";
    command.args(["-c", line, env!("CARGO_BIN_EXE_loggia")]).env("PATH", "/usr/bin:/bin");
    let terminal = OnTerminal::start(&command, 40, 70);
    terminal.until(KEYS);
    terminal.press("\x1a");
    let shown = terminal.until_so("the question once more", |shown| {
        shown.count("Change one.txt?") == 2 && shown.current().contains(KEYS)
    });
    assert_eq!(shown.count("o once"), 1, "{}", shown.text());
    let modes = stage.0.read("project/modes");
    assert!(modes.contains(" icanon") && modes.contains(" echo "), "{modes}");
    terminal.press("o");
    let ended = end(terminal);
    assert_eq!(ended.code(), Some(0), "{}", ended.shown.text());
    assert_eq!(stage.0.read("project/one.txt"), "new\n");
}

#[test]
fn a_question_fits_into_forty_columns_and_goes_when_it_is_answered() {
    let stage = two_hunks();
    let terminal = OnTerminal::start(&stage.0.command(&["ask", "change it"]), 60, 40);
    let shown = terminal.until("show all");
    let keys: Vec<&String> = shown.lines.iter().rev().take(2).collect();
    assert_eq!(keys, ["  h hunks  d show all", "  o once  s session  a always  n no"]);
    terminal.press("o");
    let ended = end(terminal);
    assert!(!ended.shown.has("once") && !ended.shown.has("show all"), "{}", ended.shown.text());
    assert!(ended.shown.has("? Change list.txt?"), "{}", ended.shown.text());
}

#[test]
fn all_of_a_long_change_is_shown_on_request() {
    let content: String = (1..=80).map(|line| format!("row {line}\n")).collect();
    let stage = AutoStage::writing(&[("long.txt", &content)]);
    let terminal = asked(&stage);
    let shown = terminal.shown();
    assert!(shown.has("more lines") && !shown.has("+row 80"), "{}", shown.text());
    terminal.press("d");
    asked_again(&terminal, "+row 80");
    terminal.press("o");
    assert_eq!(end(terminal).code(), Some(0));
    assert_eq!(stage.0.read("project/long.txt").lines().count(), 80);
}

#[test]
fn a_question_is_answered_while_the_answer_goes_into_a_pipe() {
    let stage = AutoStage::writing(TWO_FILES);
    let mut command = stage.0.program("/bin/sh");
    command.args(["-c", "\"$0\" ask 'change it' | cat > answer", env!("CARGO_BIN_EXE_loggia")]);
    let terminal = OnTerminal::start(&command, 40, 70);
    terminal.until(KEYS);
    terminal.press("o");
    asked_again(&terminal, "Change two.txt?");
    terminal.press("o");
    let ended = end(terminal);
    assert!(!ended.shown.has("Done."), "{}", ended.shown.text());
    assert_eq!(stage.0.read("project/answer"), "Done.\n");
    assert_eq!(stage.0.read("project/two.txt"), "new\n");
}
