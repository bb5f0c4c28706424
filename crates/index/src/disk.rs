//! An index's directory: who owns it, which build is current, and how a new state takes the place of the old one.
//!
//! ```text
//! lock            held by the owner; goes with its process
//! current         which format, and which build
//! build-N/        one build: what a rebuild starts from nothing
//!   text/         the text index; its last commit names a catalogue
//!   files-N       a catalogue: every file, and where its symbols are
//!   facts-N       a pack of symbols and uses
//! ```
//!
//! What always holds: a state is whole or not there. Packs and the catalogue are written and on disk before the text
//! index commits, and that commit, which is one renamed file, makes them the current state. A first state of a build is
//! current when `current` names the build, which is one renamed file again. Whatever is named by neither is left over
//! from a crash and is removed when the index is opened.

pub(crate) mod catalogue;
pub(crate) mod lock;
pub(crate) mod packs;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::fault::{AtFile, Fault};

/// The version of everything on disk. An index of another version is built anew.
pub(crate) const VERSION: u32 = 3;

const CURRENT: &str = "current";
const MAGIC: &str = "loggia-index";

/// What `current` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Current {
    /// There is no index.
    None,
    /// There is one of this version.
    Build(PathBuf),
    /// There is one of another version.
    OtherVersion(u32),
    /// It cannot be made out.
    Damaged,
}

/// Reads which build is current.
pub(crate) fn current(directory: &Path) -> Result<Current, Fault> {
    let path = directory.join(CURRENT);
    let text = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Current::None),
        Err(error) => return Err(error).at(&path),
    };
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(match words[..] {
        [MAGIC, version, build] => match version.parse() {
            Ok(VERSION) if number_of(build).is_some() => Current::Build(directory.join(build)),
            Ok(VERSION) | Err(_) => Current::Damaged,
            Ok(other) => Current::OtherVersion(other),
        },
        _ => Current::Damaged,
    })
}

/// Makes a build the current one.
pub(crate) fn make_current(directory: &Path, build: &Path) -> Result<(), Fault> {
    let name = build.file_name().unwrap_or_default().to_string_lossy();
    write_whole(&directory.join(CURRENT), format!("{MAGIC} {VERSION} {name}\n").as_bytes())
}

/// Makes the directory of a new build.
pub(crate) fn new_build(directory: &Path) -> Result<PathBuf, Fault> {
    let last = builds(directory)?.into_iter().map(|(number, _)| number).max().unwrap_or(0);
    let path = directory.join(format!("build-{}", last + 1));
    fs::create_dir(&path).at(&path)?;
    Ok(path)
}

/// Removes every build but one.
pub(crate) fn sweep(directory: &Path, keep: Option<&Path>) -> Result<(), Fault> {
    for (_, path) in builds(directory)? {
        if Some(path.as_path()) != keep {
            fs::remove_dir_all(&path).at(&path)?;
        }
    }
    Ok(())
}

/// Removes everything but the lock.
pub(crate) fn clear(directory: &Path) -> Result<(), Fault> {
    let path = directory.join(CURRENT);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error).at(&path),
        _ => {}
    }
    sweep(directory, None)
}

/// How many bytes the files below a directory have.
pub(crate) fn size(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Writes a file so that it is there whole, on disk, or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let unfinished = path.with_extension("unfinished");
    let mut file = File::create(&unfinished).at(&unfinished)?;
    file.write_all(bytes).at(&unfinished)?;
    file.sync_all().at(&unfinished)?;
    fs::rename(&unfinished, path).at(path)?;
    sync_directory(path)
}

/// Makes sure that the name of a file is on disk.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Fault> {
    let directory = path.parent().unwrap_or(path);
    File::open(directory).and_then(|directory| directory.sync_all()).at(directory)
}

fn builds(directory: &Path) -> Result<Vec<(u64, PathBuf)>, Fault> {
    let mut builds = Vec::new();
    for entry in fs::read_dir(directory).at(directory)? {
        let entry = entry.at(directory)?;
        if let Some(number) = entry.file_name().to_str().and_then(number_of) {
            builds.push((number, entry.path()));
        }
    }
    Ok(builds)
}

fn number_of(build: &str) -> Option<u64> {
    build.strip_prefix("build-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_build_is_what_was_made_current_last_and_all_others_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert_eq!(current(path).unwrap(), Current::None);
        let one = new_build(path).unwrap();
        make_current(path, &one).unwrap();
        let two = new_build(path).unwrap();
        assert_eq!(current(path).unwrap(), Current::Build(one.clone()));
        make_current(path, &two).unwrap();
        sweep(path, Some(&two)).unwrap();
        assert_eq!((one.exists(), two.exists()), (false, true));
        assert_eq!(current(path).unwrap(), Current::Build(two));
    }

    #[test]
    fn another_version_and_nonsense_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let check = |text: &str, expected| {
            fs::write(directory.path().join(CURRENT), text).unwrap();
            assert_eq!(current(directory.path()).unwrap(), expected, "{text}");
        };
        check("loggia-index 0 build-1\n", Current::OtherVersion(0));
        check("loggia-index 999 somewhere\n", Current::OtherVersion(999));
        check(&format!("loggia-index {VERSION} ../else\n"), Current::Damaged);
        check("", Current::Damaged);
        check("loggia-index x build-1", Current::Damaged);
    }
}
