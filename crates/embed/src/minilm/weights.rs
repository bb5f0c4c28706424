//! The files of the model in this process, and whether they are the right ones.
//!
//! Knows which files there are and their SHA-256. Refuses to know where they come from and what is in them. What always
//! holds: a file that is handed on is the one that is known here, byte for byte.
//!
//! The weights are those of `sentence-transformers/all-MiniLM-L6-v2`, under Apache-2.0.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Few calls, and still a small part of the memory that the weights need anyway.
const READ_BYTES: usize = 1024 * 1024;

/// A file as it has to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// Its name within the directory.
    pub(crate) name: &'static str,
    /// How long it is.
    pub(crate) bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub(crate) sha256: &'static str,
}

/// The numbers of the model.
pub(crate) const MODEL: Expected = Expected {
    name: "model.safetensors",
    bytes: 90_868_376,
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};

/// How texts are split for it.
pub(crate) const TOKENIZER: Expected = Expected {
    name: "tokenizer.json",
    bytes: 466_247,
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};

/// Why a directory does not hold the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// A file is not there.
    #[error("`{}` is not there", .0.display())]
    Missing(PathBuf),
    /// A file is there, and is another one.
    #[error("`{}` is not the file it should be: expected {expected}, found {found}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What it should be: its length or its hash.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A file is there and cannot be read.
    #[error("`{}` cannot be read: {words}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        words: String,
    },
}

/// Looks whether a directory holds the files of the model. Reads all of them: some tenths of a second.
///
/// # Errors
///
/// The first file that is missing or another one.
pub fn check_weights(directory: &Path) -> Result<(), WeightsError> {
    check(directory, &[MODEL, TOKENIZER])
}

/// Looks whether a directory holds these files.
pub(crate) fn check(directory: &Path, files: &[Expected]) -> Result<(), WeightsError> {
    files.iter().try_for_each(|file| pass(directory, *file, |_| ()))
}

/// The bytes of a file, which were looked at as they were read.
#[cfg(any(test, feature = "minilm"))]
pub(crate) fn read(directory: &Path, file: Expected) -> Result<Vec<u8>, WeightsError> {
    let mut bytes = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or_default());
    pass(directory, file, |piece| bytes.extend_from_slice(piece))?;
    Ok(bytes)
}

/// Hands on the pieces of a file, and tells afterwards whether they were right.
fn pass(directory: &Path, file: Expected, mut take: impl FnMut(&[u8])) -> Result<(), WeightsError> {
    let path = directory.join(file.name);
    let lost = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => WeightsError::Missing(path.clone()),
        _ => WeightsError::Unreadable { path: path.clone(), words: error.to_string() },
    };
    let wrong = |expected, found| WeightsError::Wrong { path: path.clone(), expected, found };
    let mut source = File::open(&path).map_err(lost)?;
    let length = source.metadata().map_err(lost)?.len();
    // A file of another length is not read: it may be of any size.
    if length != file.bytes {
        return Err(wrong(format!("{} bytes", file.bytes), format!("{length}")));
    }
    let mut hash = Sha256::new();
    let mut piece = vec![0; READ_BYTES];
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => {
                hash.update(&piece[..count]);
                take(&piece[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(lost(error)),
        }
    }
    let found = hexadecimal(&hash.finalize());
    if found == file.sha256 { Ok(()) } else { Err(wrong(format!("SHA-256 {}", file.sha256), found)) }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FILE: Expected = Expected {
        name: "model.safetensors",
        bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    };

    /// What is told of a directory whose file holds this.
    fn told(content: Option<&str>) -> String {
        let directory = tempfile::tempdir().unwrap();
        if let Some(content) = content {
            fs::write(directory.path().join(FILE.name), content).unwrap();
        }
        let outcome = read(directory.path(), FILE);
        assert_eq!(check(directory.path(), &[FILE]).err(), outcome.as_ref().err().cloned());
        match outcome {
            Ok(bytes) => format!("read {}", String::from_utf8(bytes).unwrap()),
            Err(error) => error.to_string().replace(&directory.path().display().to_string(), "…"),
        }
    }

    #[test]
    fn the_right_file_is_handed_on() {
        assert_eq!(told(Some("abc")), "read abc");
    }

    #[test]
    fn a_missing_file_is_named() {
        assert_eq!(told(None), "`…/model.safetensors` is not there");
    }

    #[test]
    fn another_file_is_told_by_its_hash() {
        assert_eq!(
            told(Some("abd")),
            "`…/model.safetensors` is not the file it should be: expected SHA-256 \
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad, found \
             a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"
        );
    }

    #[test]
    fn a_file_of_another_length_is_told_by_its_length() {
        assert_eq!(
            told(Some("a page that says no")),
            "`…/model.safetensors` is not the file it should be: expected 3 bytes, found 19"
        );
    }

    #[test]
    fn what_is_no_file_cannot_be_read() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(FILE.name)).unwrap();
        let bytes = fs::metadata(directory.path().join(FILE.name)).unwrap().len();
        let told = check(directory.path(), &[Expected { bytes, ..FILE }]).unwrap_err();
        assert!(matches!(told, WeightsError::Unreadable { .. }), "{told}");
    }

    #[test]
    fn a_file_in_place_of_the_directory_is_a_missing_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = check(file.path(), &[FILE]).unwrap_err();
        assert_eq!(told, WeightsError::Missing(file.path().join(FILE.name)));
    }
}
