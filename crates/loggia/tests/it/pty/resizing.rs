//! Windows that change their size.

use loggia_mock_models::Gate;

use crate::ask_models::{Provider, ProviderStage};
use crate::auto::AutoStage;
use crate::pty::screen::OnTerminal;

const WORDS: &str =
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";

#[test]
fn a_reply_is_wrapped_to_the_width_that_the_window_has_now() {
    let gate = Gate::default();
    let first = format!("{WORDS}\n\nThen: ");
    let provider = Provider::held_up(&first, &gate, &format!("{WORDS} end.\n"));
    let stage = ProviderStage::open_ai(&provider);
    let terminal = OnTerminal::start(&stage.command(&["ask", "count"]), 30, 80);
    terminal.until("Then:");
    terminal.resize(30, 40);
    gate.open();
    let ended = terminal.end();
    assert_eq!(ended.code(), Some(0));
    // What stood there before is cut off by this terminal; others fold it. What came later is laid out anew.
    insta::assert_snapshot!(ended.shown.settled(), @"
    one two three four five six seven eight
    fifteen

    Then: one two three four five six seven
    eight nine ten eleven twelve thirteen
    fourteen fifteen end.
    <dim>openai:gpt-5 · 107 tokens · 0.0 s ·<>
    <dim>SESSION<>
    ");
}

#[test]
fn a_question_survives_another_size() {
    let stage = AutoStage::playing(
        r#"
[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "one.txt", content = "new\n" } } }]

[[reply]]
repeat = true
parts = [{ text = "It is written, and this line is longer than forty columns are wide." }]
"#,
    );
    let terminal = OnTerminal::start(&stage.0.command(&["ask", "write"]), 30, 80);
    terminal.until("o once");
    terminal.resize(30, 40);
    terminal.press("o");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true));
    insta::assert_snapshot!(ended.shown.settled(), @"
    <bold>one.txt<> (new) <green>+1<> <red>-0<>
    <cyan>  @@ -0,0 +1,1 @@<>
    <green>  +new<>
    <magenta bold>?<> <bold>Change one.txt?<><dim> The agent's `write_fil<>
      <green>yes<>
    <green>✓<> Write one.txt

    It is written, and this line is longer
    than forty columns are wide.
    <dim>1 file changed · scripted:script.toml ·<>
    <dim>0.0 s ·<>
    <dim>SESSION<>
    ");
    assert_eq!(stage.0.read("project/one.txt"), "new\n");
}
