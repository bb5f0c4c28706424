//! Texts cut or shortened to what a client's line can hold.
//!
//! Pure. Counts bytes as they are in JSON, escapes included. What always holds: a text is never cut inside a character, the
//! pieces of a text joined are the text, and what is shortened says by how much and where the whole is.

use std::borrow::Cow;

use loggia_jsonrpc::Json;
use loggia_protocol_autohand as wire;
use loggia_protocol_autohand::limits::{MAX_ARGUMENT_BYTES, MAX_PIECE_BYTES};
use serde_json::{Value, json};

/// Room for the remark at the end of a shortened text.
const REMARK_BYTES: usize = 96;

/// To less than this the texts of a call are not shortened one by one: then the call has many, and is told as one text.
const LEAST_ARGUMENT_BYTES: usize = 256;

/// A text in pieces that fit into an update each; none of an empty one.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(fitting(rest, MAX_PIECE_BYTES));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// A text that takes no more than so much, with a remark if that is not all of it.
pub(crate) fn shortened(text: &str, room: usize) -> Cow<'_, str> {
    if fitting(text, room) == text.len() {
        return Cow::Borrowed(text);
    }
    let (kept, rest) = text.split_at(fitting(text, room.saturating_sub(REMARK_BYTES)));
    Cow::Owned(format!("{kept}\n[{} more bytes; `autohand.getMessages` has all of it]", rest.len()))
}

/// As many of these as take no more than so much together, with a remark if these are not all.
pub(super) fn list(mut texts: Vec<String>, room: usize) -> Vec<String> {
    let mut used = 0;
    let mut fits = |text: &String| {
        used += Value::from(text.as_str()).to_string().len() + 1;
        used <= room
    };
    let kept = texts.iter().take_while(|text| fits(text)).count();
    if kept < texts.len() {
        let more = texts.len() - kept;
        texts.truncate(kept);
        texts.push(format!("[{more} more]"));
    }
    texts
}

/// A call whose arguments take no more than so much.
pub(super) fn call(call: wire::ToolCall, room: usize) -> wire::ToolCall {
    wire::ToolCall { args: arguments(call.args, room), ..call }
}

/// Arguments that take no more than so much: long texts in them are shortened. What is long without them is told as a text.
pub(super) fn arguments(args: Json, room: usize) -> Json {
    let size = |value: &Value| value.to_string().len();
    if size(&args.0) <= room.min(MAX_ARGUMENT_BYTES) {
        return args;
    }
    let mut most = MAX_ARGUMENT_BYTES;
    while most >= LEAST_ARGUMENT_BYTES {
        let short = with_short_texts(&args.0, most);
        if size(&short) <= room {
            return Json(short);
        }
        most /= 2;
    }
    Json(json!({ "raw": shortened(&args.0.to_string(), room.min(MAX_ARGUMENT_BYTES)) }))
}

fn with_short_texts(value: &Value, most: usize) -> Value {
    match value {
        Value::String(text) => Value::String(shortened(text, most).into_owned()),
        Value::Array(items) => items.iter().map(|item| with_short_texts(item, most)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), with_short_texts(value, most))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// How much of a text, in bytes, takes no more than so many bytes of JSON.
fn fitting(text: &str, room: usize) -> usize {
    let mut left = room;
    for (place, letter) in text.char_indices() {
        match left.checked_sub(width(letter)) {
            Some(less) => left = less,
            None => return place,
        }
    }
    text.len()
}

/// How many bytes a character takes in JSON.
fn width(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..' ' => 6,
        letter => letter.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_as_wide_as_it_is_written() {
        for letter in (0..0x3000).filter_map(char::from_u32).chain(['\u{1f600}']) {
            let written = serde_json::to_string(&letter.to_string()).unwrap();
            assert_eq!(width(letter), written.len() - 2, "{letter:?}");
        }
    }

    #[test]
    fn pieces_joined_are_the_text_and_none_is_too_long() {
        for letter in ["x", "é", "\u{1f600}", "\"", "\u{1}", "a\n\u{1}é"] {
            let text = letter.repeat(MAX_PIECE_BYTES + 7);
            let cut: Vec<&str> = pieces(&text).collect();
            assert!(cut.len() > 1);
            assert_eq!(cut.concat(), text);
            for piece in cut {
                let written = serde_json::to_string(piece).unwrap().len() - 2;
                assert!(written <= MAX_PIECE_BYTES, "{written} for {letter:?}");
            }
        }
        assert_eq!(pieces("").count(), 0);
        assert_eq!(pieces("short").collect::<Vec<_>>(), ["short"]);
    }

    #[test]
    fn what_is_shortened_says_by_how_much() {
        assert_eq!(shortened("fits", 4), "fits");
        let long = "é".repeat(1000);
        let short = shortened(&long, 500);
        assert!(serde_json::to_string(&short).unwrap().len() - 2 <= 500);
        let (kept, remark) = short.split_once('\n').unwrap();
        assert!(long.starts_with(kept));
        let missing = long.len() - kept.len();
        assert_eq!(remark, format!("[{missing} more bytes; `autohand.getMessages` has all of it]"));
    }

    #[test]
    fn arguments_keep_their_form_as_long_as_they_can() {
        let long = "x".repeat(100_000);
        let told = |value: Value, room: usize| arguments(Json(value), room).0;
        assert_eq!(told(json!({"path": "a"}), 32_768), json!({"path": "a"}));
        let short = told(json!({"path": "a", "contents": long, "deep": [{"old": long}]}), 32_768 + 100);
        assert_eq!(short["path"], "a");
        for text in [&short["contents"], &short["deep"][0]["old"]] {
            assert!(text.as_str().unwrap().len() <= MAX_ARGUMENT_BYTES, "{short}");
            assert!(text.as_str().unwrap().contains("more bytes"));
        }
        // Less room, shorter texts.
        let tight = told(json!({"contents": long}), 4096);
        assert!(tight["contents"].is_string() && tight.to_string().len() <= 4096);
        // No text is long, and yet it is too much.
        let many = told(json!({"numbers": vec![7; 50_000]}), 8192);
        assert!(many["raw"].as_str().unwrap().starts_with("{\"numbers\":[7,"), "{many}");
        assert!(many.to_string().len() <= 8192 + 16);
    }
}
