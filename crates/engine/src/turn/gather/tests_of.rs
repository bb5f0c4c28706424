//! For testing: the files in question, their tests, and what they test.

use loggia_domain::Aim;

use crate::turn::gather::files::Files;
use crate::turn::gather::fix::MOST_FILES;
use crate::turn::gather::language::Language;
use crate::turn::gather::{Gathered, imports, piece, scope, test_files};

/// The files an instruction is about; with a source its tests, with a test its sources.
pub(super) fn files(aim: &Aim, files: &Files, gathered: &mut Gathered) {
    for aimed in aim.files.iter().take(MOST_FILES) {
        let path = aimed.path.as_str();
        let Some(text) = files.read(path) else { continue };
        let told = piece::file(path, &text, aimed.spot, None, files.patience());
        let is_whole = told.text.lines().count() == text.lines().count();
        gathered.add(told);
        if test_files::is_test(path) {
            let named = test_files::sources_of(path, files.listing());
            let sources = if named.is_empty() { imported(path, &text, files) } else { named };
            add(&sources, "what is tested", files, gathered);
            continue;
        }
        let inline = (Language::of(path) == Language::Rust).then(|| scope::inline_tests(&text)).flatten();
        let tests = test_files::tests_of(path, files.listing());
        // Who did not look to the end has not looked.
        if tests.is_empty() && inline.is_none() && !files.patience().is_over() {
            gathered.note(format!("No tests of `{path}` were found."));
        }
        if let Some(lines) = inline.filter(|_| !is_whole) {
            gathered.add(piece::part(path, &text, lines, Some("its own tests")));
        }
        add(&tests, "a test of it", files, gathered);
    }
}

/// What a test imports is what it tests, where its name does not say it.
fn imported(path: &str, text: &str, files: &Files) -> Vec<String> {
    /// As many as are told of tests.
    const MOST: usize = 4;
    let imports = imports::imported(path, text, files.listing(), files.modules());
    imports.into_iter().map(|import| import.path).take(MOST).collect()
}

fn add(paths: &[String], role: &'static str, files: &Files, gathered: &mut Gathered) {
    for path in paths {
        if let Some(text) = files.read(path) {
            gathered.add(piece::file(path, &text, None, Some(role), files.patience()));
        }
    }
}
