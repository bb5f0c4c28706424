//! Paths into a tree: keys with dots between them, and indexes in brackets.
//!
//! ```text
//! path  := step { "." key | "[" n "]" }        step := key | "[" n "]"
//! key   := word | quoted                       n := decimal, from 0
//! ```
//!
//! A word is anything without `.`, `[`, `]`, `"` and white space. Other keys stand in quotes, as JSON writes them.

use thiserror::Error;

use crate::hl7::path::cut;
use crate::limits::{MAX_DEPTH, MAX_PATH_TEXT};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    /// From 0.
    Index(usize),
}

/// Why a text is no path into a tree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum TreePathError {
    #[error("a path is missing: such as `server.ports[0]` are")]
    Empty,
    #[error("`{path}` is no path from `{rest}` on: such as `server.ports[0]` and `\"a key\".b` are")]
    Junk { path: String, rest: String },
    #[error("the path is {0} bytes long and at most {MAX_PATH_TEXT} are possible")]
    TooLong(usize),
    #[error("the path has more than {MAX_DEPTH} steps")]
    TooDeep,
}

/// Reads a path.
pub(crate) fn parse(text: &str) -> Result<Vec<Step>, TreePathError> {
    if text.len() > MAX_PATH_TEXT {
        return Err(TreePathError::TooLong(text.len()));
    }
    if text.is_empty() {
        return Err(TreePathError::Empty);
    }
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let junk = || TreePathError::Junk { path: cut(text), rest: cut(rest) };
        if steps.len() == MAX_DEPTH {
            return Err(TreePathError::TooDeep);
        }
        let (step, after) = match rest.strip_prefix('[') {
            Some(inside) => index(inside).ok_or_else(junk)?,
            None if steps.is_empty() => key(rest).ok_or_else(junk)?,
            None => rest.strip_prefix('.').and_then(key).ok_or_else(junk)?,
        };
        steps.push(step);
        rest = after;
    }
    Ok(steps)
}

fn index(text: &str) -> Option<(Step, &str)> {
    let (digits, after) = text.split_once(']')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    Some((Step::Index(number), after))
}

fn key(text: &str) -> Option<(Step, &str)> {
    if text.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let key = values.next()?.ok()?;
        return Some((Step::Key(key), &text[values.byte_offset()..]));
    }
    let ends = |character: char| matches!(character, '.' | '[' | ']' | '"') || character.is_whitespace();
    let end = text.find(ends).unwrap_or(text.len());
    (end > 0).then(|| (Step::Key(text[..end].to_owned()), &text[end..]))
}

/// A path, as people write it.
pub(crate) fn shown(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                let is_word = !key.is_empty()
                    && !key.contains(|character: char| {
                        matches!(character, '.' | '[' | ']' | '"') || character.is_whitespace()
                    });
                text.push_str(&if is_word { key.clone() } else { crate::tree::json::quoted(key) });
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_shown_again() {
        for text in
            ["a", "a.b", "a[0]", "a[0][12].b-c", "[3].é", "\"a.b\".c", "a.\"\"", "a.\"x\\\"y\"[1]", "1.2"]
        {
            assert_eq!(shown(&parse(text).unwrap()), text);
        }
        assert_eq!(
            parse("a.\"b c\"[0]").unwrap(),
            [Step::Key("a".into()), Step::Key("b c".into()), Step::Index(0)]
        );
    }

    #[test]
    fn junk_is_refused() {
        for text in [
            ".",
            "a.",
            ".a",
            "a..b",
            "a[",
            "a[]",
            "a[-1]",
            "a[+1]",
            "a[x]",
            "a[1",
            "a]",
            "a b",
            "\"a",
            "\"a\"b",
            "a[99999999999999999999]",
            "a[0]b",
        ] {
            assert!(matches!(parse(text), Err(TreePathError::Junk { .. })), "{text}");
        }
        assert_eq!(parse(""), Err(TreePathError::Empty));
        assert_eq!(parse(&"a".repeat(MAX_PATH_TEXT + 1)), Err(TreePathError::TooLong(MAX_PATH_TEXT + 1)));
        assert_eq!(parse(&vec!["a"; MAX_DEPTH + 1].join(".")), Err(TreePathError::TooDeep));
    }
}
