//! The hidden `__docs DIR [--write]`: keeps the generated parts of the reference pages equal to the code.
//!
//! A page is written by people; between two marker lines it belongs to this command. Without `--write` it
//! only tells which pages are not current, so a test and a chore can call it alike.

mod pages;

use std::path::Path;

use crate::cli::DocsArguments;
use crate::errors::{Error, note};
use crate::exit_code::ExitCode;
use pages::{PARTS, Part};

/// Runs the command.
pub(crate) fn run(arguments: &DocsArguments) -> Result<ExitCode, Error> {
    let mut stale = Vec::new();
    for part in PARTS {
        let path = arguments.directory.join(part.page);
        let old =
            std::fs::read_to_string(&path).map_err(|source| Error::Input { path: path.clone(), source })?;
        let new = splice(&path, &old, part)?;
        if new != old {
            if arguments.write {
                std::fs::write(&path, new).map_err(|source| Error::WriteFile { path, source })?;
                note(&format!("rewrote `{}` in {}", part.name, part.page));
            } else {
                stale.push(format!("`{}` in {}", part.name, part.page));
            }
        }
    }
    if stale.is_empty() {
        return Ok(ExitCode::Success);
    }
    Err(Error::StaleDocs {
        pages: stale,
        repair: "cargo run --quiet --package loggia -- __docs docs --write".to_owned(),
    })
}

/// The page with the part between its markers replaced.
fn splice(path: &Path, page: &str, part: &Part) -> Result<String, Error> {
    let begin = format!("<!-- generated: {} -->\n", part.name);
    let end = format!("<!-- end of generated: {} -->\n", part.name);
    let missing =
        |marker: &str| Error::NoMarker { path: path.to_owned(), marker: marker.trim_end().to_owned() };
    let (before, rest) = page.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    Ok(format!("{before}{begin}\n{}\n{end}{after}", (part.text)()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part { page: "p.md", name: "x", text: || "new\n".to_owned() };

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = "# Title\n<!-- generated: x -->\nold\n<!-- end of generated: x -->\nafter\n";
        let new = splice(Path::new("p.md"), page, &PART).unwrap();
        assert_eq!(new, "# Title\n<!-- generated: x -->\n\nnew\n\n<!-- end of generated: x -->\nafter\n");
        assert_eq!(splice(Path::new("p.md"), &new, &PART).unwrap(), new);
    }

    #[test]
    fn a_page_without_markers_is_refused() {
        let error = splice(Path::new("p.md"), "# Title\n", &PART).unwrap_err();
        assert_eq!(error.to_string(), "`p.md` has no line `<!-- generated: x -->`");
    }
}
