//! Where in a JSON text a fault is.
//!
//! The JSON reader tells a line and a column; people want the field's name. Runs only on damaged rows.
//! Refuses to judge the text: it may be damaged in any way, and some place is always named, if only the whole.

/// What encloses the place, from the outside in.
enum Level<'a> {
    Object { key: &'a str },
    Array { index: usize },
}

/// The field that a reader was in at a line (from 1) and column (bytes taken from it), such as
/// `message.calls[1].id`; empty for the whole text.
pub(super) fn field_at(text: &str, line: usize, column: usize) -> String {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = before.saturating_add(column).min(text.len());
    render(&levels(text, end))
}

/// The levels that are open after the first `end` bytes.
fn levels(text: &str, end: usize) -> Vec<Level<'_>> {
    let bytes = text.as_bytes();
    let mut levels = Vec::new();
    let mut key_comes = false;
    let mut at = 0;
    while at < end {
        match bytes[at] {
            b'{' => {
                levels.push(Level::Object { key: "" });
                key_comes = true;
            }
            b'[' => levels.push(Level::Array { index: 0 }),
            b'}' | b']' => {
                levels.pop();
                key_comes = false;
            }
            b',' => match levels.last_mut() {
                Some(Level::Array { index }) => *index += 1,
                _ => key_comes = true,
            },
            b'"' => {
                let close = string_end(bytes, at + 1, end);
                if let (true, Some(Level::Object { key })) = (key_comes, levels.last_mut()) {
                    *key = text.get(at + 1..close).unwrap_or_default();
                    key_comes = false;
                }
                at = close;
            }
            _ => {}
        }
        at += 1;
    }
    levels
}

/// Where the string that starts at `at` has its closing quote, or `end`.
fn string_end(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end {
        match bytes[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    end
}

fn render(levels: &[Level<'_>]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object { key: "" } => {}
            Level::Object { key } if path.is_empty() => path.push_str(key),
            Level::Object { key } => {
                path.push('.');
                path.push_str(key);
            }
            Level::Array { index } => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bar stands for the place.
    fn check(marked: &str, expected: &str) {
        let (before, after) = marked.split_once('|').unwrap();
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        assert_eq!(field_at(&format!("{before}{after}"), line, column), expected, "{marked}");
    }

    #[test]
    fn the_field_around_a_place_is_named() {
        check(r#"{"a":1|,"b":2}"#, "a");
        check(r#"{"a":1,"b":2|}"#, "b");
        check(r#"{"a":{"b":[1,2,{"c":"x"|}]}}"#, "a.b[2].c");
        check(r#"{"a":{"b":1}|}"#, "a");
        check(r#"{"a":{"b":1},"c":[]|}"#, "c");
        check("{\"a\":1,\n \"b\":|2}", "b");
    }

    #[test]
    fn the_whole_text_has_no_name() {
        check("|", "");
        check("|{}", "");
        check(r#"{"a":1}|"#, "");
        check("nonsense|", "");
    }

    #[test]
    fn brackets_and_quotes_inside_strings_are_not_structure() {
        check(r#"{"a":"}],{\"[","b":true|}"#, "b");
        check(r#"{"a":"\\","b":"c|"#, "b");
    }

    proptest! {
        #[test]
        fn no_text_and_no_place_is_too_strange(
            text in any::<String>(),
            line in 0..4_usize,
            column in 0..99_usize,
        ) {
            field_at(&text, line, column);
        }

        #[test]
        fn no_pile_of_structure_is_too_strange(
            text in "[\\[\\]{}\",:\\\\éa\n]{0,40}",
            line in 0..4_usize,
            column in 0..50_usize,
        ) {
            field_at(&text, line, column);
        }
    }
}
