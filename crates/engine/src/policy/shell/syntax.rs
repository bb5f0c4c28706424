//! The grammar's parser, and what keeps it harmless.
//!
//! Knows how the parser fails: it descends once per level of nesting, tries an unclosed parenthesis twice at each
//! level, and panics on numbers that do not fit. Each is measured here before it is let near the text.
//!
//! What always holds: parsing takes at most some tens of milliseconds and a fifth of the reader's stack.

use brush_parser::ast::Program;
use brush_parser::{ParserOptions, Token, parse_tokens, uncached_tokenize_str};

/// How many things that open something a text may have in all. Each level takes about 25 KiB of stack in a debug build.
const MAX_OPENINGS: usize = 64;
/// How many tokens a text may have. Real lines have dozens.
const MAX_TOKENS: usize = 4096;
/// How many parentheses a text may have outside words, with a `case` counting twice: the parser's time doubles with
/// each, if they are not closed.
const MAX_DOUBLING: usize = 12;
/// How many digits a number before a redirection may have: the parser takes more for a number that fits.
const MAX_DESCRIPTOR_DIGITS: usize = 9;

/// Parses a text.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn parse(text: &str) -> Result<Program, String> {
    if openings(text) > MAX_OPENINGS {
        return Err("it is nested too deeply".to_owned());
    }
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let tokens =
        uncached_tokenize_str(text, &options.tokenizer_options()).map_err(|error| error.to_string())?;
    measure(&tokens)?;
    parse_tokens(&tokens, &options).map_err(|error| error.to_string())
}

/// An upper bound for the nesting of a text: everything that could open something, quoted or not.
fn openings(text: &str) -> usize {
    let characters =
        text.bytes().filter(|byte| matches!(byte, b'(' | b'{' | b'`')).count() + text.matches("$[").count();
    let keywords = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| {
            matches!(*word, "if" | "while" | "until" | "for" | "case" | "select" | "coproc" | "function")
        })
        .count();
    characters + keywords
}

fn measure(tokens: &[Token]) -> Result<(), String> {
    if tokens.len() > MAX_TOKENS {
        return Err("it has too many words".to_owned());
    }
    let doubling: usize = tokens
        .iter()
        .map(|token| match token {
            Token::Operator(operator, _) if operator == "(" => 1,
            Token::Word(word, _) if word == "case" => 2,
            _ => 0,
        })
        .sum();
    if doubling > MAX_DOUBLING {
        return Err("it has too many parentheses".to_owned());
    }
    for token in tokens {
        let Token::Word(word, _) = token else { continue };
        if word.len() > MAX_DESCRIPTOR_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("it has a number too large for a file descriptor".to_owned());
        }
        if is_intricate_element(word) {
            return Err("it has an array element with an expression".to_owned());
        }
    }
    Ok(())
}

/// `name[…` with quotes or expansions in it: the parser looks into those to find out whether it is an assignment.
fn is_intricate_element(word: &str) -> bool {
    let Some((name, index)) = word.split_once('[') else { return false };
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && index.contains(['$', '`', '"', '\'', '\\', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_the_parser_long_is_refused() {
        for text in [
            "( ".repeat(30),
            "((".repeat(20),
            "case x in a) ".repeat(10),
            "$(".repeat(1000),
            "{ ".repeat(1000),
            "if ".repeat(1000),
            "a ".repeat(10_000),
            "a[$(\"".repeat(10),
            "ls 99999999999>x".to_owned(),
        ] {
            assert!(parse(&text).is_err(), "{}", &text[..16]);
        }
    }

    #[test]
    fn real_lines_are_parsed() {
        for text in [
            "git status",
            "for f in *.rs; do wc -l \"$f\" | sort -n; done",
            "git commit -m \"$(cat <<'EOF'\nit's (done)\nEOF\n)\"",
            "if [ -f x[0] ]; then (cd a && make -j8) 2>&1 | tee log; else exit 1; fi",
        ] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }
}
