//! What a client wants its model told besides, or instead of, what every model is told.
//!
//! Knows the flags for it. A text may be given as it is or as the name of a file. Touches the file system only to read such a
//! file, and no more of it than may be.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use loggia_domain::OwnInstructions;

use crate::launch::LaunchError;
use crate::launch::arguments::Arguments;

/// The longest name of a file that a text is taken for: no path is longer.
const MAX_PATH_BYTES: usize = 4096;

/// What the flags say.
pub(super) fn instructions(arguments: &Arguments, current: &Path) -> Result<OwnInstructions, LaunchError> {
    let read = |flags: &[&'static str], file: &'static str| -> Result<Option<String>, LaunchError> {
        let given = flags.iter().find_map(|flag| Some((*flag, arguments.value(flag)?)));
        let (flag, text) = match (arguments.value(file), given) {
            (Some(path), _) => (file, read_file(file, &current.join(path))?),
            (None, Some((flag, text))) => match file_of(text, current) {
                Some(path) => (flag, read_file(flag, &path)?),
                None => (flag, text.to_owned()),
            },
            (None, None) => return Ok(None),
        };
        if text.len() > OwnInstructions::MAX_BYTES {
            return Err(LaunchError::LongInstructions { flag });
        }
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    };
    Ok(OwnInstructions {
        instead: read(&["sys-prompt", "system-prompt"], "system-prompt-file")?,
        added: read(&["append-sys-prompt", "append-system-prompt"], "append-system-prompt-file")?,
    })
}

/// The file that a text names, if it does.
fn file_of(text: &str, current: &Path) -> Option<std::path::PathBuf> {
    if text.len() > MAX_PATH_BYTES || text.contains('\n') {
        return None;
    }
    Some(current.join(text)).filter(|path| path.is_file())
}

fn read_file(flag: &'static str, path: &Path) -> Result<String, LaunchError> {
    let unreadable =
        |why: String| LaunchError::UnreadableInstructions { flag, path: path.display().to_string(), why };
    // Whatever else there may be at a path never ends, or waits for somebody.
    if path.exists() && !path.is_file() {
        return Err(unreadable("it is no file".to_owned()));
    }
    let mut text = String::new();
    let most = OwnInstructions::MAX_BYTES as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(most).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        // A character may be cut where too much was cut off.
        Err(_) if path.metadata().is_ok_and(|known| known.len() >= most) => {
            Err(LaunchError::LongInstructions { flag })
        }
        Err(error) => Err(unreadable(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[&str], current: &Path) -> Result<(Option<String>, Option<String>), String> {
        let read = instructions(&Arguments::read(line), current).map_err(|error| error.to_string())?;
        Ok((read.instead, read.added))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn texts_and_files_are_read_under_all_their_names() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("rules.md"), "from a file").unwrap();
        let read = |line: &[&str]| read(line, place.path()).unwrap();
        for flag in ["--sys-prompt", "--system-prompt"] {
            assert_eq!(read(&[flag, "Be brief."]), (some("Be brief."), None));
            assert_eq!(read(&[flag, "rules.md"]), (some("from a file"), None));
        }
        for flag in ["--append-sys-prompt", "--append-system-prompt"] {
            assert_eq!(read(&[flag, "Be brief."]), (None, some("Be brief.")));
            assert_eq!(read(&[flag, "./rules.md"]), (None, some("from a file")));
        }
        assert_eq!(read(&["--system-prompt-file", "rules.md"]), (some("from a file"), None));
        assert_eq!(read(&["--append-system-prompt-file=rules.md"]), (None, some("from a file")));
        assert_eq!(read(&["--sys-prompt", "a", "--append-sys-prompt", "b"]), (some("a"), some("b")));
        assert_eq!(read(&["--sys-prompt", " ", "--append-sys-prompt"]), (None, None));
    }

    #[test]
    fn what_is_too_long_or_not_there_is_told() {
        let place = tempfile::tempdir().unwrap();
        let long = "é".repeat(OwnInstructions::MAX_BYTES / 2 + 1);
        std::fs::write(place.path().join("long.md"), &long).unwrap();
        std::fs::create_dir(place.path().join("directory")).unwrap();
        let why = |line: &[&str]| read(line, place.path()).unwrap_err();
        for line in [["--sys-prompt", long.as_str()], ["--append-system-prompt-file", "long.md"]] {
            assert!(why(&line).contains("has more than 65536 bytes"), "{}", why(&line));
        }
        let missing = why(&["--system-prompt-file", "nowhere.md"]);
        assert!(missing.contains("nowhere.md") && missing.contains("--system-prompt-file"), "{missing}");
        assert!(why(&["--system-prompt-file", "directory"]).contains("no file"));
        // A directory's name is a text like any other.
        assert_eq!(read(&["--sys-prompt", "directory"], place.path()), Ok((some("directory"), None)));
    }
}
