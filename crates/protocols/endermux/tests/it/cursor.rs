//! Cursors: whatever number comes in, a place between two characters comes out.

use loggia_protocol_endermux::cursor::{byte_offset, byte_offset_of_client, utf16_cursor, utf16_length};

/// Shows where a cursor from the wire lands, as a bar in the text, whoever sends it.
fn check(text: &str, cursor: i32, expected: &str) {
    assert_eq!(shown(text, byte_offset(text, cursor)), expected, "{cursor} in {text}");
    assert_eq!(shown(text, byte_offset_of_client(text, cursor)), expected, "{cursor} in {text}");
}

fn shown(text: &str, at: usize) -> String {
    let (before, after) = text.split_at(at);
    format!("{before}|{after}")
}

#[test]
fn cursors_count_utf16_units() {
    check("say é", 4, "say |é");
    check("a😀bcd", 3, "a😀|bcd");
    check("a😀bcd", 4, "a😀b|cd");
}

#[test]
fn cursors_are_clamped_to_the_text() {
    check("stop", -1, "|stop");
    check("stop", i32::MIN, "|stop");
    check("stop", 4, "stop|");
    check("stop", 99, "stop|");
    check("stop", i32::MAX, "stop|");
    check("", 0, "|");
    check("", 1, "|");
}

#[test]
fn a_cursor_never_splits_a_surrogate_pair() {
    check("a😀bcd", 2, "a|😀bcd");
    check("😀😀😀", 1, "|😀😀😀");
    for cursor in -2..30 {
        let text = "é😀 \u{10ffff}x";
        assert!(text.is_char_boundary(byte_offset(text, cursor)));
        assert!(text.is_char_boundary(byte_offset_of_client(text, cursor)));
    }
}

#[test]
fn a_cursor_that_equals_the_number_of_code_points_is_at_the_end() {
    // Existing clients count code points: 10 here, where UTF-16 counts 11.
    let text = "say 😀 é al";
    assert_eq!(shown(text, byte_offset_of_client(text, 10)), "say 😀 é al|");
    check(text, 11, "say 😀 é al|");
    check(text, 9, "say 😀 é |al");
}

#[test]
fn a_client_that_counts_as_it_should_is_taken_at_its_word() {
    let text = "say 😀 é al";
    assert_eq!(shown(text, byte_offset(text, 10)), "say 😀 é a|l");
    assert_eq!(shown("😀😀", byte_offset("😀😀", 2)), "😀|😀");
}

#[test]
fn offsets_become_utf16_cursors() {
    let text = "a😀é";
    let found: Vec<i32> = (0..=text.len() + 1).map(|offset| utf16_cursor(text, offset)).collect();
    assert_eq!(found, [0, 1, 1, 1, 1, 3, 3, 4, 4]);
    assert_eq!(utf16_length(text), 4);
    assert_eq!(utf16_length(""), 0);
}
