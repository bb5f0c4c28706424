//! Titles of texts: headings and first lines.
//!
//! Pure: text in, text out.

use crate::limits::MAX_TITLE;

/// The first heading of a Markdown text. Lines of code are none.
pub(crate) fn first_heading(text: &str) -> Option<String> {
    let mut fence: Option<(char, usize)> = None;
    let mut before = "";
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let bare = line.trim();
        let is_code = fence.is_some() || indent > 3 || line.starts_with('\t');
        if let Some(mark) = fence_of(bare).filter(|_| indent <= 3) {
            fence = match fence {
                None => Some(mark),
                // The same sign, at least as often, and nothing behind it.
                Some(open)
                    if mark.0 == open.0 && mark.1 >= open.1 && bare.trim_matches(open.0).is_empty() =>
                {
                    None
                }
                open => open,
            };
            before = "";
            continue;
        }
        if is_code {
            before = "";
            continue;
        }
        if let Some(heading) = marked(bare) {
            return Some(shortened(heading));
        }
        let is_underline = !bare.is_empty()
            && (bare.chars().all(|sign| sign == '=') || bare.chars().all(|sign| sign == '-'));
        if is_underline && !before.is_empty() && !before.starts_with(['-', '*', '+', '>', '|']) {
            return Some(shortened(before));
        }
        before = bare;
    }
    None
}

/// The words of a line such as `## Title ##`.
fn marked(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let words = rest.strip_prefix([' ', '\t'])?.trim();
    let words = match words.trim_end_matches('#') {
        before if before.is_empty() || before.ends_with([' ', '\t']) => before.trim(),
        _ => words,
    };
    (1..=6).contains(&level).then_some(words).filter(|words| !words.is_empty())
}

/// The sign that fences code, and how often it stands there.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let sign = line.chars().next().filter(|sign| ['`', '~'].contains(sign))?;
    let count = line.chars().take_while(|next| *next == sign).count();
    (count >= 3).then_some((sign, count))
}

/// The first line with words in it.
pub(crate) fn first_line(text: &str) -> Option<String> {
    let line =
        text.lines().map(|line| line.trim().trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
    Some(shortened(line))
}

/// In one line that fits into a list.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_TITLE {
        return line;
    }
    let cut: String = line.chars().take(MAX_TITLE - 1).collect();
    // At a word's end, if one is near.
    let end = cut.rfind(' ').filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_heading_is_found_wherever_it_is_and_however_it_is_written() {
        for (text, expected) in [
            ("# One\n## Two", Some("One")),
            ("words\n\n### Deep ###\n", Some("Deep")),
            ("Title\n=====\n", Some("Title")),
            ("Title\n---\n", Some("Title")),
            ("```\n# comment\n```\n# Real", Some("Real")),
            ("~~~~ sh\n# comment\n~~~\n# still code\n~~~~\n# Real", Some("Real")),
            ("    # code\n", None),
            ("#no heading\n####### too deep\n#\n", None),
            ("# C#", Some("C#")),
            ("- item\n---\n", None),
            ("\n---\n", None),
            ("", None),
        ] {
            assert_eq!(first_heading(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_between_words() {
        let long = "wörd ".repeat(60);
        let short = shortened(&long);
        assert!(short.chars().count() <= MAX_TITLE && short.ends_with("wörd…"), "{short}");
        assert_eq!(shortened(&"x".repeat(500)).chars().count(), MAX_TITLE);
        assert_eq!(first_line("\n  \n## Fix the  login\nmore").as_deref(), Some("Fix the login"));
        assert_eq!(first_line(" \n#\n"), None);
    }
}
