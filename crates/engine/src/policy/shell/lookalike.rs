//! Characters that make a line look like another one.
//!
//! Knows what is not seen and what turns text around. A letter of another alphabet is no concern in an argument, and
//! is one in a program's name, where nearly nobody has a reason for it.

/// Why a line may not be what it looks like, if so.
pub(super) fn in_line(line: &str) -> Option<&'static str> {
    line.chars().find_map(|c| match c {
        '\n' | '\t' => None,
        '\r' => Some("it has carriage returns"),
        _ if c.is_control() => Some("it has control characters"),
        _ if is_unseen(c) => Some("it has characters that are not seen or that turn text around"),
        _ if c.is_whitespace() && c != ' ' => Some("it has blanks that no shell takes for blanks"),
        _ => None,
    })
}

/// Why a program's name may not be what it looks like, if so.
pub(super) fn in_name(name: &str) -> Option<&'static str> {
    (!name.is_ascii()).then_some("a program's name has letters that may look like others")
}

/// Zero-width characters, direction marks, fillers and tags. Joiners and variation selectors, which emoji are made
/// with, are left out.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_noticed() {
        for line in
            ["git\u{200b} status", "git\u{a0}status", "ls\r\n", "ls \u{202e}x", "ls \u{7}", "ls \u{e0041}"]
        {
            assert!(in_line(line).is_some(), "{line:?}");
        }
        for line in ["git commit -m 'für ❤️ 👩‍💻'", "a\n\tb"] {
            assert_eq!(in_line(line), None, "{line:?}");
        }
        assert!(in_name("gіt").is_some());
    }
}
