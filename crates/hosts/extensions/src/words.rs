//! A command line as a shell would take it apart: quotes and backslashes, and nothing that would run or look up anything.

/// The words of a command line; nothing if a quote is not closed or it ends in a backslash.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next()? {
                '\n' => {}
                other => word.get_or_insert_default().push(other),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// What stands between double quotes, where a backslash escapes only what would mean something there.
fn quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            '\\' => match rest.next()? {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_shells_do() {
        let check = |line: &str, expected: Option<&[&str]>| {
            let expected =
                expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
            assert_eq!(split(line), expected, "{line}");
        };
        check(r#"python3 "/srv/my ext/a.py" --v"#, Some(&["python3", "/srv/my ext/a.py", "--v"]));
        check("  a\tb\n", Some(&["a", "b"]));
        check("", Some(&[]));
        check("''", Some(&[""]));
        check(r"a\ b c\'d", Some(&["a b", "c'd"]));
        check(r#"'a\b'"c\d\"e\\"f"#, Some(&[r#"a\bc\d"e\f"#]));
        check("$HOME *.py #x | y", Some(&["$HOME", "*.py", "#x", "|", "y"]));
        check("é 'ü ö'", Some(&["é", "ü ö"]));
        for broken in ["'a", "\"a", "a\\", "\"a\\"] {
            check(broken, None);
        }
    }
}
