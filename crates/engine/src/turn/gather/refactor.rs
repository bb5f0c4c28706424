//! For refactoring: the files in question, what they import, and what imports them.

use loggia_domain::Aim;

use crate::turn::excerpt::Excerpt;
use crate::turn::gather::files::Files;
use crate::turn::gather::imports::{Import, imported, may_import};
use crate::turn::gather::language::Language;
use crate::turn::gather::listing::shared;
use crate::turn::gather::patience::Patience;
use crate::turn::gather::{Gathered, piece};

/// Files that are refactored together by one instruction; of more, each would be told too little.
const MOST_FILES: usize = 2;

/// Files that are told of those a file imports, and of those that import it.
const MOST_IMPORTS: usize = 8;
const MOST_DEPENDENTS: usize = 12;

/// How many files are read to find those that import one.
const MOST_READ: usize = 5000;

/// How many lines are told of a file that imports one.
const MOST_LINES: usize = 12;

/// The files an instruction is about, what they import, and what imports them.
pub(super) fn files(aim: &Aim, files: &Files, gathered: &mut Gathered) {
    for aimed in aim.files.iter().take(MOST_FILES) {
        let path = aimed.path.as_str();
        let Some(text) = files.read(path) else { continue };
        gathered.add(piece::file(path, &text, aimed.spot, None, files.patience()));
        // These few are read first, since looking for what imports it may take all the time there is.
        let imports = imported(path, &text, files.listing(), files.modules());
        let read = |import: &Import| {
            let text = files.read(&import.path)?;
            Some(piece::file(&import.path, &text, None, Some("it imports this"), files.patience()))
        };
        let imports: Vec<Excerpt> = imports.iter().take(MOST_IMPORTS).filter_map(read).collect();
        for excerpt in dependents(path, files, gathered).into_iter().chain(imports) {
            gathered.add(excerpt);
        }
    }
}

/// The files that import one, each with the lines that name what it imports.
fn dependents(path: &str, files: &Files, gathered: &mut Gathered) -> Vec<Excerpt> {
    let language = Language::of(path);
    let alike = |candidate: &&str| *candidate != path && Language::of(candidate) == language;
    let mut candidates: Vec<&str> = files.listing().paths().filter(alike).collect();
    // Who imports a file is near it more often than not.
    candidates.sort_by_key(|candidate| std::cmp::Reverse(shared(candidate, path)));
    let mut found = Vec::new();
    for (read, candidate) in candidates.into_iter().enumerate() {
        if found.len() == MOST_DEPENDENTS || read == MOST_READ || files.patience().is_over() {
            gathered.note(format!("More files may depend on `{path}`: not all were looked at."));
            break;
        }
        let Some(text) = files.read(candidate).filter(|text| may_import(text, path)) else { continue };
        let imports = imported(candidate, &text, files.listing(), files.modules());
        if let Some(import) = imports.into_iter().find(|import| import.path == path) {
            found.push(uses(candidate, &text, &import, files.patience()));
        }
    }
    found
}

/// The lines of a file that name what it imports.
fn uses(path: &str, text: &str, import: &Import, patience: &Patience) -> Excerpt {
    let names_one = |line: &str| import.names.iter().any(|name| has_word(line, name));
    let numbered = text.lines().enumerate().map(|(place, line)| (place + 1, line));
    let numbered = numbered.take_while(|(number, _)| patience.lasts_at(*number));
    let told = numbered.filter(|(number, line)| *number == import.line || names_one(line)).take(MOST_LINES);
    let told: Vec<String> = told.map(|(number, line)| format!("{number}: {line}")).collect();
    let role = Some("it imports the file, on these lines");
    Excerpt { place: path.to_owned(), lines: None, role, text: told.join("\n") }
}

/// Whether a line has a name as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let in_word = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(place, _)| {
        let before = line[..place].chars().next_back();
        let after = line[place + word.len()..].chars().next();
        !word.is_empty() && !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependent_is_told_by_the_lines_that_use_what_it_imports() {
        let text = "import { login } from './auth';\n\nlogins();\nawait login();\nrelogin();\n";
        let import = Import { path: "auth.ts".to_owned(), line: 1, names: vec!["login".to_owned()] };
        let uses = |text| uses("a.ts", text, &import, &Patience::endless());
        assert_eq!(uses(text).text, "1: import { login } from './auth';\n4: await login();");
        let many = format!("{text}{}", "login();\n".repeat(100));
        assert_eq!(uses(&many).text.lines().count(), MOST_LINES);
    }
}
