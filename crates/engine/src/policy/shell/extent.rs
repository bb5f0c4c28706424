//! How far `$(…)`, `${…}` and `$[…]` reach.
//!
//! Knows quotes, nesting and here-documents inside them. Refuses what shells of different kinds and versions read
//! differently: `case` and comments between parentheses.
//!
//! What always holds: an answer is the byte index of the closing character.

/// Where what stands after `$(` is closed.
pub(super) fn of_parentheses(text: &str) -> Result<usize, &'static str> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.parentheses()?;
    Ok(cursor.at - 1)
}

/// Where what stands after `${` is closed.
pub(super) fn of_braces(text: &str) -> Result<usize, &'static str> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.enclosed('{', '}')?;
    Ok(cursor.at - 1)
}

/// Where what stands after `$[` is closed.
pub(super) fn of_brackets(text: &str) -> Result<usize, &'static str> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.enclosed('[', ']')?;
    Ok(cursor.at - 1)
}

const UNCLOSED: &str = "an expansion or a quote is never closed";

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A here-document whose body is still to come.
struct Pending {
    delimiter: String,
    strips_tabs: bool,
}

impl Cursor<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    /// Whether what was just taken stood at the beginning of a word.
    fn at_word_start(&self, taken: usize) -> bool {
        self.text[..self.at - taken]
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || ";|&()".contains(c))
    }

    fn parentheses(&mut self) -> Result<(), &'static str> {
        let mut depth = 0_usize;
        let mut pending: Vec<Pending> = Vec::new();
        let is_arithmetic = self.rest().starts_with('(');
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                ')' if pending.is_empty() || is_arithmetic => return Ok(()),
                ')' => return Err("a here-document begins and never ends"),
                '#' if self.at_word_start(1) => return Err("a comment stands inside a substitution"),
                'c' if self.rest().starts_with("ase") && self.at_word_start(1) => {
                    return Err("a `case` stands inside a substitution");
                }
                '<' if self.take("<") && !self.take("<") => pending.push(self.here_delimiter()),
                '\n' => {
                    for here in pending.drain(..) {
                        self.here_body(&here)?;
                    }
                }
                c => self.quoting(c)?,
            }
        }
    }

    fn enclosed(&mut self, opening: char, closing: char) -> Result<(), &'static str> {
        let mut depth = 0_usize;
        loop {
            match self.next().ok_or(UNCLOSED)? {
                c if c == opening => depth += 1,
                c if c == closing && depth == 0 => return Ok(()),
                c if c == closing => depth -= 1,
                c => self.quoting(c)?,
            }
        }
    }

    /// Passes over what a character begins, if it begins something.
    fn quoting(&mut self, c: char) -> Result<(), &'static str> {
        match c {
            '\\' => self.next().map(drop).ok_or(UNCLOSED),
            '\'' => self.until('\''),
            '"' => self.double_quoted(),
            '`' => self.escaped_until('`'),
            '$' => self.dollar(true),
            _ => Ok(()),
        }
    }

    fn dollar(&mut self, unquoted: bool) -> Result<(), &'static str> {
        if self.take("(") {
            self.parentheses()
        } else if self.take("{") {
            self.enclosed('{', '}')
        } else if unquoted && self.take("'") {
            self.escaped_until('\'')
        } else {
            // `$$'…'` is a number and then a plain quote.
            self.take("$");
            Ok(())
        }
    }

    fn double_quoted(&mut self) -> Result<(), &'static str> {
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '"' => return Ok(()),
                '\\' => self.next().map(drop).ok_or(UNCLOSED)?,
                '`' => self.escaped_until('`')?,
                '$' => self.dollar(false)?,
                _ => {}
            }
        }
    }

    fn until(&mut self, closing: char) -> Result<(), &'static str> {
        let length = self.rest().find(closing).ok_or(UNCLOSED)?;
        self.at += length + closing.len_utf8();
        Ok(())
    }

    fn escaped_until(&mut self, closing: char) -> Result<(), &'static str> {
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '\\' => self.next().map(drop).ok_or(UNCLOSED)?,
                c if c == closing => return Ok(()),
                _ => {}
            }
        }
    }

    fn here_delimiter(&mut self) -> Pending {
        let strips_tabs = self.take("-");
        while self.take(" ") || self.take("\t") {}
        let mut delimiter = String::new();
        let mut quote = None;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\'' | '"' if quote.is_none() => quote = Some(c),
                _ if quote == Some(c) => quote = None,
                '\\' if quote.is_none() => {}
                _ if quote.is_none() && (c.is_whitespace() || ";|&()<>".contains(c)) => break,
                _ => delimiter.push(c),
            }
            self.at += c.len_utf8();
        }
        Pending { delimiter, strips_tabs }
    }

    fn here_body(&mut self, here: &Pending) -> Result<(), &'static str> {
        while !self.rest().is_empty() {
            let line = self.rest().lines().next().unwrap_or_default().to_owned();
            self.at += line.len();
            self.take("\n");
            let line = if here.strips_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if line == here.delimiter {
                return Ok(());
            }
        }
        Err("a here-document begins and never ends")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitution_reaches_to_its_own_parenthesis() {
        for (text, inside) in [
            ("ls) x", "ls"),
            ("ls ')' \")\" \\) ) x", "ls ')' \")\" \\) "),
            ("a $(b \"$(c ')')\") d) x", "a $(b \"$(c ')')\") d"),
            ("(ls)) x", "(ls)"),
            ("a ${b:-)} `)` $')\\'') x", "a ${b:-)} `)` $')\\''"),
            ("cat <<'E'\n)\nit's\nE\n) x", "cat <<'E'\n)\nit's\nE\n"),
            ("cat <<-E\n)\n\tE\n) x", "cat <<-E\n)\n\tE\n"),
            ("cat <<<x) x", "cat <<<x"),
        ] {
            assert_eq!(of_parentheses(text).map(|ends| &text[..ends]), Ok(inside), "{text}");
        }
        assert_eq!(of_parentheses("(1 << 2)) x"), Ok(8));
    }

    #[test]
    fn what_shells_read_differently_is_refused() {
        for text in
            ["ls", "case x in x) ls;; esac)", "ls # )\n)", "cat <<E)\nE\n", "cat <<E\n)", "'", "\"$(", "${"]
        {
            assert!(of_parentheses(text).is_err(), "{text}");
        }
    }

    #[test]
    fn braces_and_brackets_reach_to_their_own_end() {
        assert_eq!(of_braces("a:-${b} '}' \"}\"} x"), Ok(15));
        assert_eq!(of_brackets("a[1]+2] x"), Ok(6));
    }
}
