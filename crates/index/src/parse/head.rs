//! What is shown of a definition: its head on one line, and the first line of its documentation.
//!
//! Knows lines and the signs that comments begin with, in all languages alike; what it takes for documentation is what
//! stands directly above a definition, or, in Python, first in its body.

use tree_sitter::Node;

use crate::language::Language;

/// How much of a head is kept: what fits on a screen's line or two.
const MAX_SIGNATURE: usize = 160;

/// How much of a line of documentation is kept.
const MAX_DOC: usize = 160;

/// How many lines above a definition are looked at for the beginning of its documentation.
const MAX_LINES_ABOVE: usize = 500;

/// The first and the last line of a node, counted from 1.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a file has fewer lines than bytes, and those are bounded"
)]
pub(super) fn lines(node: &Node<'_>) -> (u32, u32) {
    let start = node.start_position().row as u32 + 1;
    let end = node.end_position();
    // A node that ends at the start of a line does not reach into it.
    let last = end.row as u32 + u32::from(end.column > 0);
    (start, last.max(start))
}

/// The text before the body, or the first line, on one line.
pub(super) fn signature(text: &str, node: &Node<'_>, body: Option<&Node<'_>>) -> String {
    let end = body.map_or_else(|| node.end_byte(), Node::start_byte);
    let whole = text.get(node.start_byte()..end).unwrap_or("");
    let part = if body.is_some() { whole } else { whole.lines().next().unwrap_or("") };
    let mut shown = String::new();
    for word in part.split_whitespace() {
        if shown.len() + word.len() >= MAX_SIGNATURE {
            if shown.is_empty() {
                shown.push_str(cut(word, MAX_SIGNATURE));
            }
            shown.push('…');
            break;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    let kept = shown.trim_end_matches(['{', ':', ' ', ';']).len();
    shown.truncate(kept);
    shown
}

/// The first line of a definition's documentation; empty if there is none.
pub(super) fn doc<'t>(
    text: &'t str,
    node: &Node<'_>,
    body: Option<&Node<'_>>,
    language: Language,
) -> &'t str {
    let found = match (language, body) {
        (Language::Python, Some(body)) => docstring(text.get(body.start_byte()..).unwrap_or("")),
        _ => above(text.get(..node.start_byte()).unwrap_or(""), language),
    };
    cut(found, MAX_DOC)
}

fn docstring(body: &str) -> &str {
    let Some(rest) = ["\"\"\"", "'''", "\""].iter().find_map(|quote| body.strip_prefix(quote)) else {
        return "";
    };
    let line = rest.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    line.trim_end_matches(['"', '\'']).trim_end()
}

/// The first line of the comment that ends directly above.
fn above(before: &str, language: Language) -> &str {
    let Some((mut rest, own_line)) = before.rsplit_once('\n') else { return "" };
    // What follows something else on its line is not what the comment above is about.
    if own_line.contains(['{', '(', ';', ',']) {
        return "";
    }
    let has_hash = language.comments().is_none_or(|style| style.line == "#");
    let mut first = "";
    for _ in 0..MAX_LINES_ABOVE {
        let start = rest.rfind('\n').map_or(0, |at| at + 1);
        let line = rest[start..].trim();
        if let Some(words) = comment(line).filter(|_| has_hash || !line.starts_with('#')) {
            if !words.is_empty() {
                first = words;
            }
            if line.starts_with("/*") {
                return first;
            }
        } else if !line.starts_with("#[") && !line.starts_with('@') && !line.starts_with("[") {
            // Attributes and decorators may stand between; anything else ends it.
            return first;
        }
        if start == 0 {
            return first;
        }
        rest = &rest[..start - 1];
    }
    // Its beginning is farther up, and any other line of it is not what it is about.
    ""
}

/// The words of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    if line.starts_with("#[") || line.starts_with("#!") {
        return None;
    }
    // Tags of documentation tools are no sentence.
    let words = |line: &'_ str| -> Option<usize> {
        ["///", "//!", "//", "/**", "/*", "*/", "*", "#", "--"]
            .iter()
            .find(|sign| line.starts_with(**sign))
            .map(|sign| sign.len())
    };
    let from = words(line)?;
    let said = line[from..].trim_start_matches(['/', '*', '#', '!', '<']).trim();
    let said = said.strip_prefix("<summary>").unwrap_or(said);
    let said = said.strip_suffix("*/").unwrap_or(said).trim();
    Some(if said.starts_with('@') || said == "summary>" || said == "/summary>" { "" } else { said })
}

/// The start of a text, cut between characters.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_the_comment_above_is_taken() {
        let check =
            |before: &str, expected: &str| assert_eq!(above(before, Language::Other), expected, "{before}");
        check("/// One.\n/// Two.\n", "One.");
        check("x\n// One.\n#[test]\n    ", "One.");
        check("/**\n * One.\n * @param x\n */\n", "One.");
        check("/* One. */\n", "One.");
        check("// One.\n\n", "");
        check("let x = 1;\n", "");
        check("", "");
        check("# One\n@decorated\n", "One");
        check("// One.\nstruct A { b: u8, ", "");
        assert_eq!(above("#define X\n", Language::C), "");
    }
}
