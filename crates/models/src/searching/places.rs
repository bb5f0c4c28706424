//! Where the words of a question were found, the best places first.
//!
//! A place is good when several of the words are in its line and in its file, when words are rare, when the file's own
//! name has them, when something is defined there, and when people read such files.

use std::collections::{BTreeMap, BTreeSet};

use loggia_domain::ModelMessage;

use crate::searching::words::Word;

/// How many places are cited: a screen's worth.
const MAX_PLACES: usize = 12;

/// How many places of one file are cited: the others have something to say, too.
const MAX_PER_FILE: usize = 3;

/// How many lines of a result are read; the tool shows fewer.
const MAX_LINES: usize = 1000;

/// Words that stand before a name where it is defined, in most languages.
const DEFINES: [&str; 17] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "type",
    "func",
    "function",
    "interface",
    "const",
    "static",
    "let",
    "var",
    "mod",
    "module",
    "impl",
];

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The best places.
    pub(super) best: Vec<Place>,
    /// How many there were.
    pub(super) found: usize,
    /// Why searches failed, each reason once.
    pub(super) failures: BTreeSet<String>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u64,
    pub(super) text: String,
}

impl Places {
    /// What the results after a question amount to.
    pub(super) fn of(words: &[Word], after: &[ModelMessage]) -> Self {
        let mut lines: BTreeMap<(String, u64), String> = BTreeMap::new();
        let mut failures = BTreeSet::new();
        for message in after {
            let ModelMessage::ToolResult { output, failed, .. } = message else { continue };
            if *failed {
                failures.extend(output.lines().next().map(ToOwned::to_owned));
                continue;
            }
            for place in output.lines().take(MAX_LINES).filter_map(read) {
                lines.entry((place.path, place.line)).or_insert(place.text);
            }
        }
        let found = lines.len();
        let best = ranked(words, lines);
        Self { best, found, failures }
    }
}

fn ranked(words: &[Word], lines: BTreeMap<(String, u64), String>) -> Vec<Place> {
    let queries: Vec<String> = words.iter().map(|word| word.query().to_lowercase()).collect();
    let holds = |text: &str| {
        let text = text.to_lowercase();
        queries.iter().map(|query| text.contains(query.as_str())).collect::<Vec<bool>>()
    };
    let mut hits = vec![0_usize; queries.len()];
    let mut files: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    let mut places: Vec<(Place, Vec<bool>)> = Vec::with_capacity(lines.len());
    for ((path, line), text) in lines {
        let held = holds(&text);
        let file = files.entry(path.clone()).or_insert_with(|| vec![false; queries.len()]);
        for (place, held) in held.iter().enumerate().filter(|(_, held)| **held) {
            hits[place] += 1;
            file[place] |= held;
        }
        places.push((Place { path, line, text }, held));
    }
    let worth = |held: &[bool]| -> i64 {
        held.iter().zip(&hits).filter(|(held, _)| **held).map(|(_, hits)| rarity(*hits)).sum()
    };
    let score = |(place, held): &(Place, Vec<bool>)| {
        let file = files.get(&place.path).map_or(0, |file| worth(file));
        let defined = queries.iter().any(|query| defines(&place.text, query));
        10 * worth(held)
            + 4 * file
            + 6 * worth(&holds(&place.path))
            + 12 * i64::from(defined)
            + kind(&place.path)
    };
    let mut scored: Vec<(i64, Place)> = places.into_iter().map(|place| (score(&place), place.0)).collect();
    // The tree's own order among equals.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let mut cited: BTreeMap<String, usize> = BTreeMap::new();
    let mut few = |place: &Place| {
        let count = cited.entry(place.path.clone()).or_default();
        *count += 1;
        *count <= MAX_PER_FILE
    };
    scored.into_iter().map(|(_, place)| place).filter(|place| few(place)).take(MAX_PLACES).collect()
}

/// What a word is worth that is in so many lines.
fn rarity(hits: usize) -> i64 {
    match hits {
        0..=5 => 4,
        6..=30 => 3,
        31..=120 => 2,
        _ => 1,
    }
}

/// Whether a line defines what a query names.
fn defines(line: &str, query: &str) -> bool {
    let line = line.to_lowercase();
    let tokens: Vec<&str> = line
        .split(|char: char| !char.is_alphanumeric() && char != '_')
        .filter(|token| !token.is_empty())
        .collect();
    tokens.windows(2).any(|pair| DEFINES.contains(&pair[0]) && pair[1].contains(query))
}

/// What kind of a file it is: people want sources rather than what was made of them.
fn kind(path: &str) -> i64 {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let made = name.contains(".min.")
        || name.starts_with("changelog")
        || ["vendor/", "node_modules/", "dist/", "snapshots/", "golden"]
            .iter()
            .any(|part| lower.contains(part));
    let tests =
        lower.split(['/', '_', '.']).any(|part| matches!(part, "test" | "tests" | "spec" | "fixtures"));
    let kind = match extension {
        "lock" | "svg" | "map" | "snap" | "log" | "csv" | "jsonl" => -30,
        "md" | "rst" | "txt" | "adoc" => 4,
        "json" | "yaml" | "yml" | "toml" | "ini" | "xml" | "html" | "css" => 2,
        "" => 0,
        _ => 10,
    };
    kind - 30 * i64::from(made) - 5 * i64::from(tests)
}

/// Reads `path:line:text`; anything else is a note.
fn read(line: &str) -> Option<Place> {
    let mut from = 0;
    while let Some(colon) = line[from..].find(':').map(|place| from + place) {
        let rest = &line[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if colon > 0 && digits > 0 && rest[digits..].starts_with(':') {
            let number = rest[..digits].parse().ok()?;
            let text = rest[digits + 1..].trim().to_owned();
            return Some(Place { path: line[..colon].to_owned(), line: number, text });
        }
        from = colon + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use loggia_domain::{CallId, JsonText, ToolCall};

    use super::*;
    use crate::searching::words;

    fn places(question: &str, outputs: &[&str]) -> Places {
        let result = |output: &&str| ModelMessage::ToolResult {
            call: ToolCall {
                id: CallId::new(),
                provider_id: None,
                tool: "search_text".to_owned(),
                arguments: JsonText("{}".to_owned()),
            },
            output: (*output).to_owned(),
            failed: false,
        };
        Places::of(&words::of(question), &outputs.iter().map(result).collect::<Vec<_>>())
    }

    fn cited(question: &str, outputs: &[&str]) -> Vec<String> {
        let best = places(question, outputs).best;
        best.iter().map(|place| format!("{}:{}", place.path, place.line)).collect()
    }

    #[test]
    fn lines_with_more_of_the_words_come_first_and_each_place_once() {
        let login = "src/a.rs:1:let login = 1;\nsrc/b.rs:9:login may fail here";
        let fail = "src/b.rs:9:login may fail here\nsrc/c.rs:3:fail";
        assert_eq!(cited("why does login fail", &[login, fail]), ["src/b.rs:9", "src/a.rs:1", "src/c.rs:3"]);
    }

    #[test]
    fn definitions_and_file_names_come_before_mentions_and_made_files_last() {
        let found = "Cargo.lock:2:login\ndocs/x.md:4:about login\nsrc/main.rs:7:login();\nsrc/login.rs:1:login\n\
                     src/user.rs:3:pub fn login() {";
        let order = ["src/login.rs:1", "src/user.rs:3", "src/main.rs:7", "docs/x.md:4", "Cargo.lock:2"];
        assert_eq!(cited("login", &[found]), order);
    }

    #[test]
    fn one_file_does_not_take_all_the_room() {
        let many: Vec<String> = (1..50).map(|line| format!("a.rs:{line}:login")).collect();
        let text = format!("{}\nb.rs:1:login\n[200 of 900 lines shown]", many.join("\n"));
        assert_eq!(cited("login", &[&text]).len(), MAX_PER_FILE + 1);
        assert_eq!(places("login", &[&text]).found, 50);
    }

    #[test]
    fn notes_are_no_places_and_paths_may_hold_colons() {
        assert_eq!(read("no line matches"), None);
        assert_eq!(read(":3:x"), None);
        let place = read("odd:name.rs:12:  let x: u8 = 1;").unwrap();
        assert_eq!(
            (place.path.as_str(), place.line, place.text.as_str()),
            ("odd:name.rs", 12, "let x: u8 = 1;")
        );
    }
}
