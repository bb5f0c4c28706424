//! Patterns over commands: `git status`, `cargo test *`, `RUST_LOG=* cargo run`.
//!
//! A pattern is words, written as in a shell: quotes and backslashes make characters plain. An unquoted `*` stands for
//! any text inside a word, for one word if it is the whole word, and for all further words if it is the last one. A
//! pattern matches a simple command completely; assignments in front must stand in front of the pattern too.
//!
//! There are two ways to match. [`CommandPattern::surely_matches`] is for what is allowed: every word must be certain.
//! [`CommandPattern::may_match`] is for what is asked and denied: a word that is not certain may be any words.

use super::builtin::is_tame_glob;
use super::shell::{Certainty, Command, Word, git_subcommand, is_assignment, program_name};

/// How many words a pattern may have.
const MAX_WORDS: usize = 128;

/// A pattern over simple commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    assignments: Vec<PatternWord>,
    words: Vec<PatternWord>,
    /// Whether any further words may follow.
    open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternWord {
    /// This text.
    Plain(String),
    /// These texts with anything between them; two of them at least.
    Pieces(Vec<String>),
}

/// Whether a pattern matches a command whose words are not all certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MayMatch {
    /// It does not.
    No,
    /// It depends on what a word turns out to be.
    Perhaps,
    /// It does.
    Yes,
}

impl CommandPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut words = split(text)?;
        if words.len() > MAX_WORDS {
            return Err(format!("it has more than {MAX_WORDS} words"));
        }
        let open = words.last().is_some_and(PatternWord::is_any);
        if open {
            words.pop();
        }
        let in_front = words.iter().take_while(|word| is_assignment(word.first_piece())).count();
        let assignments = words.drain(..in_front).collect();
        if words.is_empty() && !open && in_front == 0 {
            return Err("it is empty; leave the field out to match every command".to_owned());
        }
        Ok(Self { assignments, words, open })
    }

    /// Whether every shell would run exactly what the pattern says. `sharp` tells which words only a plain word of a
    /// pattern may match.
    pub(crate) fn surely_matches(&self, command: &Command, sharp: &[bool]) -> bool {
        let counts = if self.open {
            command.words.len() >= self.words.len()
        } else {
            command.words.len() == self.words.len()
        };
        let is_sharp = |at: usize| sharp.get(at).copied().unwrap_or(false);
        counts
            // A bare `*` is any program, not nothing.
            && !(self.words.is_empty() && self.assignments.is_empty() && command.words.is_empty())
            && command.assignments.len() == self.assignments.len()
            && command.assignments.iter().zip(&self.assignments).all(|(word, pattern)| pattern.surely(word, false))
            && command.words.iter().zip(&self.words).enumerate().all(|(at, (word, pattern))| {
                pattern.surely(word, is_sharp(at))
            })
            && command.words.iter().enumerate().skip(self.words.len()).all(|(at, word)| {
                !is_sharp(at) && (word.certain().is_some() || word.certainty == Certainty::Glob && is_tame_glob(&word.text))
            })
    }

    /// Whether a command could be one that the pattern means, whatever shell runs it.
    pub(crate) fn may_match(&self, command: &Command) -> MayMatch {
        let has_assignments = self.assignments.iter().all(|pattern| {
            command
                .assignments
                .iter()
                .any(|word| word.certainty != Certainty::Known || pattern.accepts(&word.text))
        });
        if !has_assignments || command.words.is_empty() && command.assignments.is_empty() {
            return MayMatch::No;
        }
        guises(&command.words).iter().map(|words| self.words_may_match(words)).max().unwrap_or(MayMatch::No)
    }

    /// Whether the pattern stands anywhere among words that could not be told apart into commands.
    pub(crate) fn stands_in(&self, words: &[Word]) -> bool {
        !self.words.is_empty()
            && words.windows(self.words.len()).any(|window| {
                window.iter().zip(&self.words).enumerate().all(|(at, (word, pattern))| {
                    pattern.accepts(if at == 0 { base_name(&word.text) } else { &word.text })
                })
            })
    }

    /// Word by word from the end: what the rest of the pattern makes of the rest of the words.
    fn words_may_match(&self, words: &[Word]) -> MayMatch {
        let end = |rest: &[Word]| match rest {
            _ if self.open => MayMatch::Yes,
            [] => MayMatch::Yes,
            rest if rest.iter().all(|word| word.certainty == Certainty::Unknown) => MayMatch::Perhaps,
            _ => MayMatch::No,
        };
        let mut after: Vec<MayMatch> = (0..=words.len()).map(|at| end(&words[at..])).collect();
        for (at, pattern) in self.words.iter().enumerate().rev() {
            let mut row = vec![MayMatch::No; words.len() + 1];
            for (index, word) in words.iter().enumerate().rev() {
                row[index] = match word.certainty {
                    // Any number of words, none included.
                    Certainty::Glob | Certainty::Unknown => {
                        row[index + 1].max(after[index]).max(after[index + 1]).min(MayMatch::Perhaps)
                    }
                    Certainty::Known | Certainty::Guessed => {
                        let is_name = at == 0 && index == 0;
                        let matches =
                            pattern.accepts(&word.text) || is_name && pattern.accepts(base_name(&word.text));
                        if matches { after[index + 1] } else { MayMatch::No }
                    }
                };
            }
            after = row;
        }
        after[0]
    }
}

impl PatternWord {
    fn is_any(&self) -> bool {
        matches!(self, Self::Pieces(pieces) if pieces.iter().all(String::is_empty))
    }

    fn first_piece(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Pieces(pieces) => pieces.first().map_or("", String::as_str),
        }
    }

    fn surely(&self, word: &Word, sharp: bool) -> bool {
        word.certain().is_some_and(|text| match self {
            Self::Plain(plain) => plain == text,
            Self::Pieces(_) => !sharp && self.accepts(text),
        })
    }

    fn accepts(&self, text: &str) -> bool {
        let pieces = match self {
            Self::Plain(plain) => return plain == text,
            Self::Pieces(pieces) => pieces,
        };
        let [first, between @ .., last] = pieces.as_slice() else { return false };
        let Some(mut rest) =
            text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str()))
        else {
            return false;
        };
        between.iter().all(|piece| match rest.find(piece.as_str()) {
            Some(at) => {
                rest = &rest[at + piece.len()..];
                true
            }
            None => false,
        })
    }
}

fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// The ways to write the same command that a deny rule should not miss: as it stands, without the options that stand
/// before the first operand, and for `git` without the options of `git` itself and their values.
fn guises(words: &[Word]) -> Vec<Vec<Word>> {
    let mut guises = vec![words.to_vec()];
    let Some((name, rest)) = words.split_first() else { return guises };
    let from = |at: usize| [std::slice::from_ref(name), &rest[at..]].concat();
    let options = rest.iter().take_while(|word| word.text.starts_with(['-', '+'])).count();
    if options > 0 {
        guises.push(from(options));
    }
    if program_name(words) == Some("git")
        && let Some(at) = git_subcommand(words)
    {
        guises.push(from(at - 1));
    }
    guises
}

/// Splits a pattern into words.
fn split(text: &str) -> Result<Vec<PatternWord>, String> {
    let mut words = Vec::new();
    let mut pieces: Option<Vec<String>> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c.is_whitespace() {
            words.extend(pieces.take().map(word_of));
            continue;
        }
        let current = pieces.get_or_insert_with(|| vec![String::new()]);
        let piece = match current.last_mut() {
            Some(piece) => piece,
            None => continue,
        };
        match c {
            '*' => current.push(String::new()),
            '\\' => piece.push(characters.next().ok_or("it ends with a backslash")?),
            '\'' => {
                take_quoted(&mut characters, '\'', piece)?;
            }
            '"' => {
                take_quoted(&mut characters, '"', piece)?;
            }
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' => {
                return Err(format!(
                    "`{c}` cannot stand in a simple command; quote it, or write one rule for each command"
                ));
            }
            _ => piece.push(c),
        }
    }
    words.extend(pieces.take().map(word_of));
    Ok(words)
}

fn take_quoted(characters: &mut std::str::Chars<'_>, quote: char, piece: &mut String) -> Result<(), String> {
    loop {
        match characters.next() {
            None => return Err(format!("a `{quote}` is never closed")),
            Some(c) if c == quote => return Ok(()),
            Some('\\') if quote == '"' => piece.push(characters.next().ok_or("it ends with a backslash")?),
            Some(c) => piece.push(c),
        }
    }
}

fn word_of(mut pieces: Vec<String>) -> PatternWord {
    if pieces.len() == 1
        && let Some(plain) = pieces.pop()
    {
        return PatternWord::Plain(plain);
    }
    PatternWord::Pieces(pieces)
}

/// Writes a word so that a pattern takes it plainly.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Place;
    use crate::policy::paths::Directory;
    use crate::policy::shell;

    fn command(line: &str) -> Command {
        let place = Place { root: "/home/ada/project".into(), home: None };
        let mut reading = shell::read(line, &Directory::Inside(String::new()), &place);
        assert_eq!(reading.commands.len(), 1, "{line}");
        reading.commands.remove(0)
    }

    fn surely(pattern: &str, line: &str) -> bool {
        CommandPattern::parse(pattern).unwrap().surely_matches(&command(line), &[])
    }

    fn may(pattern: &str, line: &str) -> MayMatch {
        CommandPattern::parse(pattern).unwrap().may_match(&command(line))
    }

    #[test]
    fn words_are_matched_one_by_one() {
        for (pattern, line, matches) in [
            ("git status", "git status", true),
            ("git status", "git  'status'", true),
            ("git status", "git status -s", false),
            ("git status", "git", false),
            ("git status *", "git status", true),
            ("git status *", "git status -s -b", true),
            ("git * origin", "git push origin", true),
            ("git * origin", "git origin", false),
            ("cargo test *::parse*", "cargo test policy::parse_line", true),
            ("cargo test *::parse*", "cargo test parse", false),
            ("ls *.rs", "ls 'a.rs'", true),
            ("ls a*a", "ls a", false),
            ("echo '*'", "echo '*'", true),
            ("echo '*'", "echo 'x'", false),
            ("echo a\\ b \"c d\"", "echo 'a b' c\\ d", true),
            ("*", "anything at all", true),
            ("A=1 ls", "A=1 ls", true),
            ("A=* ls", "A=2 ls", true),
            ("A=1 ls", "ls", false),
            ("ls", "A=1 ls", false),
            ("*", "A=1 ls", false),
            ("* ls", "A=1 ls", false),
            ("git status", "./git status", false),
            ("ls *", "ls $X", false),
            ("ls *", "ls src/*.rs", true),
            ("ls *", "ls *.rs", false),
            ("ls *", "ls .e*", false),
        ] {
            assert_eq!(surely(pattern, line), matches, "{pattern} / {line}");
        }
    }

    #[test]
    fn what_is_not_certain_may_match() {
        use MayMatch::{No, Perhaps, Yes};
        for (pattern, line, expected) in [
            ("git push *", "git push", Yes),
            ("git push *", "git push origin main", Yes),
            ("git push *", "/usr/bin/git push", Yes),
            ("git push *", "git -C /x --no-pager push", Yes),
            ("git push *", "git $X", Perhaps),
            ("git push *", "git $X push", Perhaps),
            ("git push *", "git status $X", No),
            ("git push", "git push $X", Perhaps),
            ("git push", "git push origin", No),
            ("docker push *", "docker --debug push x", Yes),
            ("rm *", "A=1 rm x", Yes),
            ("A=* rm *", "rm x", No),
            ("rm -rf *", "rm $FLAGS x", Perhaps),
        ] {
            assert_eq!(may(pattern, line), expected, "{pattern} / {line}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_match_is_refused() {
        for pattern in ["", "  ", "a | b", "a; b", "echo $X", "echo `x`", "echo 'x", "echo \\", "ls > x"] {
            assert!(CommandPattern::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn quoted_words_match_themselves_only() {
        for text in ["", "a", "a b", "*", "it's", "$HOME", "a\"b", "\\", "é", "A=b c"] {
            let words = split(&quoted(text)).unwrap();
            assert_eq!(words, [PatternWord::Plain(text.to_owned())], "{text}");
        }
    }
}
