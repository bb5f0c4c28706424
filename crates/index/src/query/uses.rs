//! Finding where a name is used.
//!
//! The text index says which files have the word, their facts say on which lines it is a name and how it is used, and
//! the line itself is looked at last: facts know names by their hashes only.

use loggia_domain::{CodeReference, IndexError, ReferenceQuery};

use crate::facts::NameHash;
use crate::fields::Field;
use crate::query::excerpt::shortened;
use crate::query::filter::PathFilter;
use crate::query::symbols::parts;
use crate::query::{Search, unavailable};
use crate::words::{MAX_WORD, is_word};

/// How many bytes of a line are shown.
const MAX_LINE: usize = 400;

impl Search<'_> {
    /// The uses of a name, in the order of paths and lines.
    pub(crate) fn references(&self, query: &ReferenceQuery) -> Result<Vec<CodeReference>, IndexError> {
        let filter = PathFilter::new(&query.paths)?;
        // What it is in cannot be told from a use, so all things of this name are meant.
        let (_, name) = parts(&query.name);
        if name.is_empty() || !name.chars().all(is_word) || name.len() > MAX_WORD {
            return Err(IndexError::BadQuery(format!("`{}` is no name", shortened(name, MAX_WORD))));
        }
        let hash = NameHash::of(name.as_bytes());
        let mut files = self.files_with(name)?;
        files.retain(|(path, _)| filter.is_wanted(path));
        let mut references = Vec::new();
        for (path, file) in files {
            self.check()?;
            let Some(facts) = self.snapshot.facts(file).map_err(unavailable)? else { continue };
            let uses = facts.uses_of(hash);
            if uses.is_empty() {
                continue;
            }
            let Some(text) = self.text(path) else { continue };
            let lines: Vec<&str> = text.lines().collect();
            for used in uses {
                let line = lines.get(used.line as usize - 1).copied().unwrap_or("");
                if has_name(line, name) {
                    references.push(CodeReference {
                        path: path.to_owned(),
                        line: used.line,
                        kind: used.kind,
                        text: shortened(line.trim(), MAX_LINE).to_owned(),
                    });
                }
            }
            if references.len() >= query.limit {
                references.truncate(query.limit);
                break;
            }
        }
        Ok(references)
    }

    /// The files that have a word, sorted by path.
    fn files_with(&self, name: &str) -> Result<Vec<(&str, u32)>, IndexError> {
        let mut word = String::new();
        crate::words::Words::default().split(name, |whole| {
            if word.is_empty() {
                whole.clone_into(&mut word);
            }
        });
        let mut has = vec![false; self.snapshot.numbers()];
        if word.is_empty() {
            // A name of one letter is no word; every file may have it.
            has.fill(true);
        }
        for field in [Field::Body, Field::Comments] {
            let found = self.snapshot.base.each_with(field, &word, |file, _| has[file as usize] = true);
            found.map_err(unavailable)?;
        }
        for (file, changed) in self.snapshot.changes() {
            has[file as usize] |= changed.count(&word) != [0; crate::fields::FIELDS];
        }
        let entries = self.snapshot.entries().filter(|(file, _)| has[*file as usize]);
        let mut files: Vec<(&str, u32)> = entries.map(|(file, entry)| (&*entry.path, file)).collect();
        files.sort_unstable();
        Ok(files)
    }
}

/// Whether a line has a name as a whole.
fn has_name(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
