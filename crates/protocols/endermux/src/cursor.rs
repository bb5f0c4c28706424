//! Places in a line of text. On the wire they count UTF-16 units; in memory they are byte offsets.
//!
//! Invariant: whatever number a peer sends, the result is inside the text and between two characters.

/// The byte offset of a cursor from the wire.
///
/// Clamped to the text; a place inside a surrogate pair counts as before it.
pub fn byte_offset(text: &str, cursor: i32) -> usize {
    let Ok(cursor) = usize::try_from(cursor) else { return 0 };
    let mut units = 0;
    for (offset, character) in text.char_indices() {
        units += character.len_utf16();
        if units > cursor {
            return offset;
        }
    }
    text.len()
}

/// The byte offset of a cursor from a client that may count code points, as existing clients do.
///
/// As [`byte_offset`], but a cursor equal to the number of code points counts as the end of the line: that is where a
/// cursor nearly always is, and the two counts only differ in text with characters outside the basic plane.
pub fn byte_offset_of_client(text: &str, cursor: i32) -> usize {
    let is_last = usize::try_from(cursor).is_ok_and(|cursor| cursor == text.chars().count());
    if is_last { text.len() } else { byte_offset(text, cursor) }
}

/// The cursor for the wire of a byte offset; an offset inside a character counts as before it.
pub fn utf16_cursor(text: &str, byte_offset: usize) -> i32 {
    let inside =
        text.char_indices().take_while(|(offset, character)| offset + character.len_utf8() <= byte_offset);
    let units: usize = inside.map(|(_, character)| character.len_utf16()).sum();
    i32::try_from(units).unwrap_or(i32::MAX)
}

/// The length of a text in UTF-16 units, which is the cursor at its end.
pub fn utf16_length(text: &str) -> i32 {
    utf16_cursor(text, text.len())
}
