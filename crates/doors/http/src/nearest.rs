//! Which of the words we know somebody may have meant.

use std::fmt::Write as _;

/// How much of a word is compared and shown: longer than any name of ours, and no work for the server.
const MAX_CHARS: usize = 64;

/// How many known words are listed where none is near.
const MAX_LISTED: usize = 12;

/// How far apart two words are: the number of letters to change.
pub(crate) fn distance(word: &str, known: &str) -> usize {
    strsim::damerau_levenshtein(&start(word), &start(known))
}

/// Whether a word may well be another one, mistyped: a third of the letters may differ, no more.
pub(crate) fn is_near(word: &str, known: &str) -> bool {
    distance(word, known) <= 1 + word.chars().take(MAX_CHARS).count() / 3
}

/// A hint for somebody who wrote another word than those that are known.
pub(crate) fn hint(word: &str, known: &[&str]) -> String {
    let near = known.iter().map(|known| (distance(word, known), known)).min();
    if let Some((_, near)) = near
        && is_near(word, near)
    {
        return format!("did you mean `{near}`?");
    }
    match known {
        [] => "there is none".to_owned(),
        [only] => format!("there is only `{only}`"),
        known => {
            let mut text = "there are ".to_owned();
            for (index, known) in known.iter().take(MAX_LISTED).enumerate() {
                let gap = if index == 0 { "" } else { ", " };
                write!(text, "{gap}`{known}`").expect("a string takes everything");
            }
            if known.len() > MAX_LISTED {
                text.push_str(", …");
            }
            text
        }
    }
}

/// The beginning of a text, as far as it is worth showing.
pub(crate) fn start(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_mistyped_is_found_and_what_was_not_is_listed() {
        let known = ["workspace_id", "title", "model"];
        assert_eq!(hint("titel", &known), "did you mean `title`?");
        assert_eq!(hint("workspaceId", &known), "did you mean `workspace_id`?");
        assert_eq!(hint("colour", &known), "there are `workspace_id`, `title`, `model`");
        assert_eq!(hint("colour", &["title"]), "there is only `title`");
        assert_eq!(hint("colour", &[]), "there is none");
    }

    #[test]
    fn a_word_without_end_is_no_work() {
        let long = "x".repeat(8 << 20);
        assert_eq!(hint(&long, &["title"]), "there is only `title`");
        assert_eq!(start(&long).len(), MAX_CHARS);
    }
}
