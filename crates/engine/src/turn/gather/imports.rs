//! What a file imports, as files of the workspace: text and names in, paths out.
//!
//! Knows how the common languages name other files, and resolves names the way each does as far as names alone go. Refuses
//! to know build systems: what their settings rename is not found. What always holds: a path that is told is in the
//! listing and is not the file itself, each is told once, and a text is gone over a fixed number of times, whatever it is.

mod c;
mod go;
mod java;
mod python;
mod rust;
mod script;

use std::collections::BTreeMap;

use crate::turn::gather::language::{Language, directory, name, stem};
use crate::turn::gather::listing::Listing;

pub(super) use go::Module;

/// More imports than a file has that people wrote.
const MOST: usize = 256;

/// How many names of one file are looked up: a single import may list as many as it has bytes.
const MOST_LOOKED_UP: usize = 2048;

/// How many names are kept of what is imported from one file: each is looked for on every line.
const MOST_NAMES: usize = 64;

/// A longer name is none of a file.
const LONGEST_NAME: usize = 512;

/// A file that another one imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The imported file.
    pub(super) path: String,
    /// The line of the import, counted from 1.
    pub(super) line: usize,
    /// What is imported from it, as far as it is named.
    pub(super) names: Vec<String>,
}

/// The files a file imports, in the order of its imports.
pub(super) fn imported(path: &str, text: &str, files: &Listing, modules: &[Module]) -> Vec<Import> {
    let found = match Language::of(path) {
        Language::Rust => rust::imports(path, text, files),
        Language::Python => python::imports(path, text, files),
        Language::Script => script::imports(path, text, files),
        Language::Go => go::imports(path, text, files, modules),
        Language::Java => java::imports(path, text, files),
        Language::C => c::imports(path, text, files),
        Language::Braces | Language::Indented => Vec::new(),
    };
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut imports: Vec<Import> = Vec::new();
    for import in found.into_iter().filter(|import| import.path != path).take(MOST) {
        match places.get(&import.path) {
            Some(place) => imports[*place].names.extend(import.names),
            None => {
                places.insert(import.path.clone(), imports.len());
                imports.push(import);
            }
        }
    }
    for import in &mut imports {
        import.names.truncate(MOST_NAMES);
    }
    imports
}

/// Whether a file may import another one, by the words in it: quicker to tell than what it imports.
pub(super) fn may_import(text: &str, target: &str) -> bool {
    let module = name(directory(target));
    match (Language::of(target), stem(target)) {
        (Language::Rust, "lib" | "main") => text.contains("crate::") || text.contains("super::"),
        (Language::Rust, "mod") => text.contains(module) || text.contains("super::"),
        (Language::Rust, stem) => text.contains(stem) || text.contains("super::"),
        (Language::Go, _) => module.is_empty() || text.contains(module),
        (Language::Python, "__init__") => text.contains(module),
        // `from . import it` names a directory's own file by no word at all.
        (Language::Script, "index") => text.contains("'.") || text.contains("\"."),
        (Language::C, _) => text.contains(name(target)),
        (_, stem) => text.contains(stem),
    }
}

/// Which lines places are on. They are asked for in their order, so that the text is gone over once.
struct Lines<'a> {
    text: &'a [u8],
    counted: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { text, counted: 0, line: 1 }
    }

    /// The line of a place, counted from 1.
    fn line(&mut self, place: usize) -> usize {
        let more = self.text.get(self.counted..place).unwrap_or_default();
        self.line += more.iter().filter(|byte| **byte == b'\n').count();
        self.counted = self.counted.max(place);
        self.line
    }
}

#[cfg(test)]
mod tests;
