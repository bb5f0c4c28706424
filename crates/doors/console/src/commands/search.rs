//! `search`: places in the code, best first.

use std::sync::Arc;

use loggia_domain::{CodeFinding, CodeQuery, IndexState, QueryKind};

use super::index;
use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::{Painted, Style, brief, clean};
use crate::voice::{Refused, Voice};

/// Places that are shown: about a screen.
const FINDINGS: usize = 10;

/// Lines of a place that are shown.
const LINES: usize = 3;

/// How much of a line is shown.
const WIDTH: usize = 160;

/// How much of a name or a path is shown.
const BRIEF: usize = 120;

/// Words that are shorter are not marked: they stand everywhere.
const SHORTEST: usize = 2;

/// Looks for code in the workspace of the session in use, as far as its policy lets files be read, behind the command: an
/// index that has nothing yet is waited for a little.
pub(super) async fn search(door: &Arc<Inner>, guest: &Guest, query: &str, voice: Voice) {
    let (workspace, index) = match index::of(door, guest).await {
        Ok(found) => found,
        Err(refused) => return voice.end(Err(refused)).await,
    };
    let (query, engine) = (query.to_owned(), door.parts.engine.clone());
    door.spawn(async move {
        let wanted = CodeQuery::new(query.as_str(), QueryKind::Fused, FINDINGS);
        let found = engine.search_code(workspace, wanted).await;
        let answer = found.map_err(Refused::from).map(|found| {
            let mut text = listed(&found, &query);
            if index.status().state == IndexState::Building {
                text.append(Painted::of(Style::Aside, "the index is being built; there may be more").line());
            }
            text
        });
        voice.end(answer).await;
    });
}

fn listed(found: &[CodeFinding], query: &str) -> Painted {
    if found.is_empty() {
        return Painted::of(Style::Aside, "nothing was found").line();
    }
    let words: Vec<&str> = query
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.len() >= SHORTEST)
        .collect();
    let mut text = Painted::new();
    for finding in found.iter().take(FINDINGS) {
        text.append(place(finding).line());
        for (number, line) in (finding.start_line..).zip(finding.snippet.lines()).take(LINES) {
            text.append(Painted::of(Style::Aside, format!("{number:>6} ")));
            let line: String = clean(line).chars().take(WIDTH).collect();
            text.append(marked(&line, &words).line());
        }
    }
    text
}

/// Where it is, and what it is if it is a definition.
fn place(finding: &CodeFinding) -> Painted {
    let place = format!("{}:{}", brief(&finding.path, BRIEF), finding.start_line);
    let mut text = Painted::of(Style::Name, place);
    if let Some(name) = &finding.symbol {
        text.put(Style::Subject, format!("  {}", brief(name, BRIEF)));
    }
    if let Some(definition) = &finding.definition {
        let container = definition.container.as_deref();
        let container = container.map(|name| format!(" in {}", brief(name, BRIEF))).unwrap_or_default();
        text.put(Style::Aside, format!("  {}{container}", definition.kind.word()));
    }
    text
}

/// A line in which the words stand out, whatever the case of their letters is.
fn marked(line: &str, words: &[&str]) -> Painted {
    let begins = |at: usize| {
        let fits =
            |word: &&&str| line.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word));
        words.iter().filter(fits).map(|word| word.len()).max()
    };
    let (mut text, mut from, mut at) = (Painted::new(), 0, 0);
    while at < line.len() {
        match begins(at) {
            Some(length) => {
                text.put(Style::Plain, &line[from..at]);
                text.put(Style::Value, &line[at..at + length]);
                at += length;
                from = at;
            }
            None => at += line[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    text.put(Style::Plain, &line[from..]);
    text
}

#[cfg(test)]
mod tests {
    use loggia_protocol_endermux::ColorLevel;

    use super::*;

    #[test]
    fn words_stand_out_whatever_their_case() {
        let shown = |line: &str, words: &[&str]| {
            let text = marked(line, words).render(ColorLevel::Indexed16);
            text.replace("\u{1b}[95m", "[").replace("\u{1b}[0m", "]")
        };
        assert_eq!(shown("Sorts é list of LISTS", &["list", "lists"]), "Sorts é [list] of [LISTS]");
        assert_eq!(shown("é", &["list"]), "é");
        assert_eq!(shown("", &["list"]), "");
    }
}
