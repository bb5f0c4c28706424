//! Text in, text out; styles are shown as tags.

use super::*;

/// The text as it looks at this width, with styles as `<1>…<0>`.
fn shown(text: &str, width: usize) -> String {
    tagged(&rendered(&[text], width, true))
}

fn rendered(pieces: &[&str], width: usize, color: bool) -> String {
    let mut markdown = Markdown::new(Paint { color });
    let mut out: String = pieces.iter().map(|piece| markdown.push(piece, width)).collect();
    out.push_str(&markdown.finish(width));
    assert!(!markdown.in_line());
    out
}

fn tagged(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        let (code, after) = after.split_once('m').unwrap();
        out.push_str(&format!("{before}<{code}>"));
        rest = after;
    }
    out.push_str(rest);
    out
}

const PAGE: &str = "\
# Why login fails

The check in `auth.rs` compares **hashes** of *different* lengths, see [the docs](https://example.org/hash).

- first, a thing that is long enough to need a second line here
- second
  1. nested

> quoted words
***
```rust
fn main() { println!(\"*\"); }
```

| name | what |
|------|------|
| a | the first |
| long one | b |

Done.
";

#[test]
fn a_page_is_rendered() {
    insta::assert_snapshot!(shown(PAGE, 48), @r#"
    <1><35>Why login fails<0>

    The check in <36>auth.rs<0> compares <1>hashes<0> of
    <3>different<0> lengths, see <4>the docs<0>
    <2>(https://example.org/hash)<0>.

    <1>• <0>first, a thing that is long enough to need a
      second line here
    <1>• <0>second
    <1>  1. <0>nested

    <2>│ <0><2>quoted words<0>
    <2>────────────────────────────────────────<0>
      <36>fn main() { println!("*"); }<0>

    <1>name<0>    <2> │ <0><1>what<0>
    <2>─────────┼──────────<0>
    a       <2> │ <0>the first
    long one<2> │ <0>b

    Done.
    "#);
}

#[test]
fn without_colours_only_lines_are_wrapped() {
    insta::assert_snapshot!(rendered(&[PAGE], 48, false), @r#"
    # Why login fails

    The check in `auth.rs` compares **hashes** of
    *different* lengths, see [the
    docs](https://example.org/hash).

    - first, a thing that is long enough to need a
      second line here
    - second
      1. nested

    > quoted words
    ***
    ```rust
    fn main() { println!("*"); }
    ```

    | name | what |
    |------|------|
    | a | the first |
    | long one | b |

    Done.
    "#);
}

#[test]
fn how_it_is_cut_into_pieces_does_not_show() {
    for color in [true, false] {
        let whole = rendered(&[PAGE], 48, color);
        for size in [1, 2, 3, 7, 20] {
            let characters: Vec<char> = PAGE.chars().collect();
            let pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let parts = rendered(&pieces, 48, color);
            // Code is painted piece by piece.
            let plain = |text: &str| tagged(text).replace("<0><36>", "");
            assert_eq!(plain(&parts), plain(&whole), "in pieces of {size}");
        }
    }
}

#[test]
fn words_come_out_as_soon_as_they_are_complete() {
    let mut markdown = Markdown::new(Paint { color: true });
    assert_eq!(markdown.push("Hello", 80), "");
    assert_eq!(markdown.push(" world", 80), "Hello");
    assert_eq!(markdown.push("!\n", 80), " world!\n");
}

#[test]
fn a_window_that_becomes_narrower_is_followed() {
    let mut markdown = Markdown::new(Paint { color: false });
    let mut out = markdown.push("one two three four ", 80);
    out.push_str(&markdown.push("five six seven eight nine ten", 20));
    out.push_str(&markdown.finish(20));
    assert_eq!(out, "one two three four\nfive six seven eight\nnine ten\n");
}

#[test]
fn writing_without_spaces_is_wrapped_and_counted_by_columns() {
    assert_eq!(shown("漢字漢字漢字", 6), "漢字漢\n字漢字\n");
}

#[test]
fn a_reply_cannot_steer_the_terminal() {
    let out = rendered(&["a \u{1b}]0;title\u{7} b\n```\n\u{1b}[2J\n```\n"], 80, true);
    assert!(!out.contains("\u{1b}]") && !out.contains("\u{1b}[2J") && !out.contains('\u{7}'), "{out:?}");
}

#[test]
fn a_fence_of_diffs_is_coloured_by_line() {
    assert_eq!(shown("```diff\n-old\n+new\n```", 80), "  <31>-old<0>\n  <32>+new<0>\n");
}

#[test]
fn code_that_is_never_closed_is_shown() {
    assert_eq!(shown("```\nlet x", 80), "  <36>let x<0>\n");
}
