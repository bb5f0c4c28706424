//! For explaining: what is selected, else the function in question, and nothing else.

use std::ops::RangeInclusive;

use loggia_domain::{Aim, AimedFile, CodeQuery, IndexState, QueryKind, Spot, ToolContext};

use crate::turn::Turn;
use crate::turn::gather::files::Files;
use crate::turn::gather::fix::MOST_FILES;
use crate::turn::gather::language::Language;
use crate::turn::gather::patience::patiently;
use crate::turn::gather::{Gathered, PATIENCE, piece, scope};

/// How many definitions with a name an index is asked for: the one in the file is among them.
const SAME_NAME: usize = 32;

/// A part of a file that is asked about.
struct Part {
    path: String,
    text: String,
    lines: RangeInclusive<usize>,
    /// The name of the definition around a line, if the lines are a guess at where it begins and ends.
    guessed: Option<(String, usize)>,
}

impl Turn {
    /// The parts of files an instruction is about.
    pub(super) async fn explain(&self, aim: &Aim, context: ToolContext, gathered: &mut Gathered) {
        let wanted: Vec<AimedFile> = wanted(&aim.files).into_iter().take(MOST_FILES).cloned().collect();
        let root = self.workspace.root();
        let parts = patiently(PATIENCE, move |patience| {
            let files = Files::new(root, context, patience);
            wanted.into_iter().filter_map(|aimed| part(aimed, &files)).collect::<Vec<_>>()
        });
        for part in parts.await.unwrap_or_default() {
            let lines = match &part.guessed {
                Some((name, line)) => self.symbol(&part.path, name, *line).await,
                None => None,
            };
            gathered.by_symbols |= lines.is_some();
            let lines = lines.unwrap_or(part.lines);
            gathered.add(piece::part(&part.path, &part.text, lines, None));
        }
    }

    /// Where a definition begins and ends, if an index that is up to date knows it.
    async fn symbol(&self, path: &str, name: &str, line: usize) -> Option<RangeInclusive<usize>> {
        let index = self.workspace.index().filter(|index| index.status().state == IndexState::Ready)?;
        let query = CodeQuery::new(name, QueryKind::Symbols, SAME_NAME);
        let found = match tokio::time::timeout(PATIENCE, index.search(query)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(session = %self.session, %error, "a definition could not be looked up");
                return None;
            }
            Err(_) => {
                tracing::warn!(session = %self.session, "a definition was looked up for too long");
                return None;
            }
        };
        let here = found.into_iter().filter(|finding| finding.path == path);
        let ranges = here.map(|finding| finding.start_line as usize..=finding.end_line as usize);
        ranges.filter(|range| range.contains(&line)).min_by_key(|range| range.end() - range.start())
    }
}

/// What is asked about: what is selected; else what was named; else what is in front of the user.
fn wanted(files: &[AimedFile]) -> Vec<&AimedFile> {
    let selected = |file: &&AimedFile| matches!(file.spot, Some(Spot::Selected { .. }));
    if let Some(selected) = files.iter().find(selected) {
        return vec![selected];
    }
    // The first file is the one in front of the user, unless somebody named a place in it.
    let named = files.iter().enumerate().filter(|(place, file)| match file.spot {
        Some(Spot::Named { .. }) => true,
        None => *place > 0,
        Some(_) => false,
    });
    let named: Vec<&AimedFile> = named.map(|(_, file)| file).collect();
    if named.is_empty() { files.iter().take(1).collect() } else { named }
}

fn part(aimed: AimedFile, files: &Files) -> Option<Part> {
    let AimedFile { path, spot } = aimed;
    let text = files.read(&path)?;
    let mut guessed = None;
    let lines = match spot {
        Some(Spot::Selected { first, last } | Spot::Visible { first, last }) => {
            first as usize..=last as usize
        }
        Some(Spot::Named { line } | Spot::Cursor { line }) => {
            let line = (line as usize).max(1);
            let scope = scope::around(&text, line, Language::of(&path), files.patience());
            guessed = scope.name.map(|name| (name, line));
            scope.lines
        }
        None => 1..=usize::MAX,
    };
    Some(Part { path, text, lines, guessed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_comes_before_a_name_and_a_name_before_the_cursor() {
        let file = |path: &str, spot| AimedFile { path: path.to_owned(), spot };
        let check = |files: &[AimedFile], expected: &str| {
            let paths: Vec<&str> = wanted(files).into_iter().map(|file| file.path.as_str()).collect();
            assert_eq!(paths.join(" "), expected);
        };
        let selected = || file("selected", Some(Spot::Selected { first: 1, last: 2 }));
        let cursor = || file("cursor", Some(Spot::Cursor { line: 1 }));
        let named = || file("named", Some(Spot::Named { line: 1 }));
        check(&[selected(), named(), file("mentioned", None)], "selected");
        check(&[cursor(), named(), file("mentioned", None)], "named mentioned");
        check(&[cursor()], "cursor");
        check(&[file("open", None), named()], "named");
        check(&[file("open", None)], "open");
        check(&[], "");
    }
}
