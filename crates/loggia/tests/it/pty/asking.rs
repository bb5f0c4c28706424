//! What `ask` looks like.

use crate::auto::AutoStage;
use crate::pty::screen::OnTerminal;

const REPLIES: &str = r##"
[[reply]]
parts = [
    { thought = "I should look first." },
    { text = "Let me look.\n" },
    { call = { tool = "read_file", arguments = { path = "a.txt" } } },
]
usage = { input = 1200, output = 34 }

[[reply]]
parts = [{ call = { tool = "read_file", arguments = { path = "absent.txt" } } }]

[[reply]]
repeat = true
parts = [
    { text = "# What it is\n\nA file with **one** word, `hel" },
    { text = "lo`:\n\n- it is *short*\n- it is long enough to be wrapped at the end of a line of sixty columns\n\n" },
    { text = "```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n" },
]
usage = { input = 1300, output = 56 }
"##;

/// What is seen of it in so many columns.
fn seen(columns: u16) -> String {
    let stage = AutoStage::playing(REPLIES);
    stage.0.write("project/a.txt", "hello\n");
    let ended = OnTerminal::start(&stage.0.command(&["ask", "what is it?"]), 40, columns).end();
    assert_eq!((ended.code(), ended.restored, ended.shown.cursor_visible), (Some(0), true, true));
    ended.shown.settled()
}

#[test]
fn a_reply_is_seen_as_rendered_markdown_with_a_line_for_each_tool() {
    insta::assert_snapshot!(seen(60), @"
    Let me look.
    <green>✓<> Read a.txt
    <red>✗<> Read absent.txt
      <dim>`absent.txt` does not exist<>

    <magenta bold>What it is<>

    A file with <bold>one<> word, <cyan>hello<>:

    <bold>• <>it is <italic>short<>
    <bold>• <>it is long enough to be wrapped at the end of a line of
      sixty columns

      <cyan>fn main() {}<>

    <bold>a<><dim> │ <><bold>b<>
    <dim>──┼──<>
    1<dim> │ <>2
    <dim>scripted:script.toml · 2,590 tokens · 0.0 s ·<>
    <dim>SESSION<>
    ");
}

#[test]
fn forty_columns_are_enough() {
    insta::assert_snapshot!(seen(40), @"
    Let me look.
    <green>✓<> Read a.txt
    <red>✗<> Read absent.txt
      <dim>`absent.txt` does not exist<>

    <magenta bold>What it is<>

    A file with <bold>one<> word, <cyan>hello<>:

    <bold>• <>it is <italic>short<>
    <bold>• <>it is long enough to be wrapped at the
      end of a line of sixty columns

      <cyan>fn main() {}<>

    <bold>a<><dim> │ <><bold>b<>
    <dim>──┼──<>
    1<dim> │ <>2
    <dim>scripted:script.toml · 2,590 tokens ·<>
    <dim>0.0 s ·<>
    <dim>SESSION<>
    ");
}
