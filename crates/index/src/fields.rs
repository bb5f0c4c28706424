//! A file's text as the fields it is searched by: what is code, and what explains.
//!
//! Knows how comments begin and end, and guesses nothing about meaning. Every byte of a text lies in exactly one span,
//! so no word is lost; where quotes mislead us, a word is only in the other field. No grammar is needed, so text can be
//! searched before symbols are known.

use crate::language::{CommentStyle, Language};
use crate::words::{Unsaid, Words};

/// How many fields a file has.
pub(crate) const FIELDS: usize = 4;

/// What a word of a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Field {
    /// Its path.
    Path = 0,
    /// Its code.
    Body = 1,
    /// Its comments and prose.
    Comments = 2,
    /// The names it defines. They come with its symbols, and are not in the text index.
    Names = 3,
}

/// The fields that the text index holds.
pub(crate) const TEXT_FIELDS: [Field; 3] = [Field::Path, Field::Body, Field::Comments];

/// Gives every word of a file with its field.
pub(crate) fn words_of(
    words: &mut Words,
    path: &str,
    text: &str,
    language: Language,
    mut take: impl FnMut(Field, &str),
) -> Unsaid {
    words.split(path, |word| take(Field::Path, word));
    let mut unsaid = Unsaid::default();
    spans(text, language, |field, span| {
        let more = words.split(span, |word| take(field, word));
        unsaid.long_runs += more.long_runs;
    });
    unsaid
}

/// Cuts a text into code and comments. The spans are the text, in order.
fn spans<'t>(text: &'t str, language: Language, mut take: impl FnMut(Field, &'t str)) {
    let Some(style) = language.comments() else {
        let field = if language == Language::Prose { Field::Comments } else { Field::Body };
        take(field, text);
        return;
    };
    let mut cutter = Cutter { text, style, at: 0, span: 0 };
    while let Some((start, end)) = cutter.comment() {
        take(Field::Body, &text[cutter.span..start]);
        take(Field::Comments, &text[start..end]);
        cutter.span = end;
        cutter.at = end;
    }
    take(Field::Body, &text[cutter.span..]);
}

struct Cutter<'t> {
    text: &'t str,
    style: CommentStyle,
    at: usize,
    span: usize,
}

impl Cutter<'_> {
    /// The next comment from where we are: all its beginnings and ends are ASCII, so the cuts are between characters.
    fn comment(&mut self) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let line = self.style.line.as_bytes();
        while self.at < bytes.len() {
            let here = bytes[self.at];
            let rest = &bytes[self.at..];
            if here == line[0] || self.style.block.is_some_and(|(begin, _)| here == begin.as_bytes()[0]) {
                if let Some((begin, end)) = self.style.block
                    && rest.starts_with(begin.as_bytes())
                {
                    return Some((self.at, self.until(self.at + begin.len(), end)));
                }
                if rest.starts_with(line) {
                    let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| self.at + end);
                    return Some((self.at, end));
                }
            }
            if let Some(quote) = self.style.docs.iter().find(|quote| rest.starts_with(quote.as_bytes())) {
                return Some((self.at, self.until(self.at + quote.len(), quote)));
            }
            self.at = if self.style.quotes.contains(&here) { self.past_quote(here) } else { self.at + 1 };
        }
        None
    }

    fn until(&self, from: usize, end: &str) -> usize {
        let found = memchr::memmem::find(&self.text.as_bytes()[from..], end.as_bytes());
        found.map_or(self.text.len(), |at| from + at + end.len())
    }

    /// Past a text in quotes, which ends with its line at the latest: a lone quote is then a mistake of one line.
    fn past_quote(&self, quote: u8) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while at < bytes.len() && bytes[at] != b'\n' {
            match bytes[at] {
                b'\\' => at += 1,
                byte if byte == quote => return at + 1,
                _ => {}
            }
            at += 1;
        }
        at.min(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comments in brackets.
    fn check(language: Language, text: &str, expected: &str) {
        let mut shown = String::new();
        let mut whole = String::new();
        spans(text, language, |field, span| {
            whole.push_str(span);
            match field {
                Field::Comments => shown.push_str(&format!("[{span}]")),
                _ => shown.push_str(span),
            }
        });
        assert_eq!(shown, expected);
        assert_eq!(whole, text);
    }

    #[test]
    fn comments_are_told_from_code() {
        check(Language::Rust, "a // b\nc /* d\n */ e", "a [// b]\nc [/* d\n */] e");
        check(Language::Rust, r#"let x = "// no"; // yes"#, r#"let x = "// no"; [// yes]"#);
        check(Language::Rust, r#"'"' // yes"#, r#"'"' // yes"#);
        check(Language::Rust, "let q = '\"';\n// yes", "let q = '\"';\n[// yes]");
        check(Language::Python, "x = 1 # y\n\"\"\"doc\n\"\"\"\nz", "x = 1 [# y]\n[\"\"\"doc\n\"\"\"]\nz");
        check(Language::Markup, "<a><!-- b --><c/>", "<a>[<!-- b -->]<c/>");
        check(Language::Prose, "all of it", "[all of it]");
        check(Language::Data, "{}", "{}");
        check(Language::Go, "/* never ends", "[/* never ends]");
        check(Language::Rust, "x /", "x /");
        check(Language::JavaScript, "'\\", "'\\");
    }
}
