//! What is said when there is nobody to answer.

use std::fmt::Write as _;

use crate::searching::places::{Place, Places};
use crate::searching::words::Word;

/// How much of a line is quoted, in characters: what fits on a screen beside its place.
const MAX_QUOTED: usize = 120;

/// How many reasons of failed searches are told; they are mostly the same.
const MAX_REASONS: usize = 3;

/// What to do.
pub(super) const HOW: &str = "\
run `loggia init`; or start Ollama, LM Studio or llama.cpp on this machine, or set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or \
`GEMINI_API_KEY` where the server starts; `loggia model use PROVIDER:MODEL` chooses one, and `loggia doctor` tells \
what was found";

const PLAINLY: &str =
    "No model is set, so nobody has read your question; the workspace was only searched for its words.";

const FOUND: &str =
    "No model is set, so nobody has read your question; this is the code that the index found for it.";

/// To something that was not asked.
pub(super) fn nothing_asked() -> String {
    format!("No model is set. To set one: {HOW}.\n")
}

/// To something that cannot be searched for.
pub(super) fn nothing_to_search(words: &[Word]) -> String {
    let why =
        if words.is_empty() { "and it has no word to search for" } else { "and there is no search here" };
    format!("No model is set, so nobody has read your question, {why}.\n\nTo set a model: {HOW}.\n")
}

/// The code that was found for a question, as it was told.
pub(super) fn excerpts(found: &str) -> String {
    format!("{FOUND}\n\n{}\n\nTo set a model: {HOW}.\n", found.trim_end())
}

/// What was found for the words.
pub(super) fn of(words: &[Word], places: &Places) -> String {
    let names = words.iter().map(|word| code(word.text())).collect::<Vec<_>>().join(", ");
    let mut text = format!("{PLAINLY}\n\n");
    // Writing to a text cannot fail.
    let _ = match (places.best.len(), places.found) {
        (0, _) => writeln!(text, "Nothing was found for {names}."),
        (shown, found) if shown < found => {
            writeln!(text, "The best {shown} of {found} places for {names}:\n")
        }
        _ => writeln!(text, "What was found for {names}:\n"),
    };
    for Place { path, line, text: quoted } in &places.best {
        let _ = match quoted.is_empty() {
            true => writeln!(text, "- {}", code(&format!("{path}:{line}"))),
            false => writeln!(text, "- {} {}", code(&format!("{path}:{line}")), code(&shortened(quoted))),
        };
    }
    for reason in places.failures.iter().take(MAX_REASONS) {
        let _ = write!(text, "\nA search failed: {}\n", shortened(reason));
    }
    let _ = write!(text, "\nTo set a model: {HOW}.\n");
    text
}

/// As code in Markdown, whatever it holds.
fn code(text: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn shortened(line: &str) -> String {
    let mut short: String = line.chars().filter(|char| !char.is_control()).take(MAX_QUOTED).collect();
    if line.chars().nth(MAX_QUOTED).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_holds_backticks() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a `b` ```"), "```` a `b` ``` ````");
    }
}
