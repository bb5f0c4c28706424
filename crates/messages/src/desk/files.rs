//! The files of messages: below the root of a workspace, reached through its handle, and nowhere else.
//!
//! Invariants: a file is written whole or not at all; nothing is written into the directories that belong to us, to git
//! or to tasks, whoever asks.

use std::path::{Path, PathBuf};

use loggia_domain::{MessageError, MessageKind};
use loggia_tree::{Content, Meta, Root, RootSettings, TreeError, TreePath};

use crate::limits::MAX_MESSAGE;

/// Directories in which nothing is written, wherever they are.
const SEALED: [&str; 3] = [".loggia", ".git", ".mehrhof"];

/// What a new file may be used for.
const NEW_FILE: u32 = 0o644;

/// The files below one root.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    root: PathBuf,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileText {
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
    /// What was known of it before it was read.
    pub(crate) meta: Meta,
}

/// How a file's characters are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    /// With the mark that some editors put in front.
    MarkedUtf8,
    /// One byte each: HL7 messages of older systems, which come back as they were.
    Latin1,
}

impl Files {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The file at a path, with the links on its way followed.
    pub(crate) fn locate(&self, path: &str) -> Result<TreePath, MessageError> {
        let root = self.open()?;
        let below = [root.path(), &self.root]
            .iter()
            .find_map(|root| Path::new(path).strip_prefix(root).ok()?.to_str());
        let path = TreePath::parse(below.unwrap_or(path)).map_err(|error| bad_file(&error))?;
        if path.is_root() {
            return Err(MessageError::BadFile("the root is a directory, not a file".to_owned()));
        }
        root.real_path_of(&path).map_err(|error| bad_file(&error))
    }

    /// Where a file is, for people.
    pub(crate) fn absolute(&self, path: &TreePath) -> PathBuf {
        let root = self.open().map_or_else(|_| self.root.clone(), |root| root.path().to_owned());
        root.join(path.as_str())
    }

    /// What is known of a file without reading it.
    pub(crate) fn stat(&self, path: &TreePath) -> Result<Option<Meta>, MessageError> {
        self.open()?.stat(path).map_err(|error| bad_file(&error))
    }

    /// The bytes of a file; nothing if it is not there.
    pub(crate) fn bytes(&self, path: &TreePath) -> Result<Option<(Vec<u8>, Meta)>, MessageError> {
        match self.open()?.read(path, MAX_MESSAGE as u64) {
            Ok(file) => Ok(Some((file.bytes, file.meta))),
            Err(TreeError::NotFound { .. } | TreeError::NotADirectory { .. }) => Ok(None),
            Err(error) => Err(bad_file(&error)),
        }
    }

    /// The text of a file; nothing if it is not there.
    pub(crate) fn read(&self, path: &TreePath) -> Result<Option<FileText>, MessageError> {
        let Some((bytes, meta)) = self.bytes(path)? else { return Ok(None) };
        let (text, encoding) = decode(bytes, path.as_str())?;
        Ok(Some(FileText { text, encoding, meta }))
    }

    /// Whether a file may be written at all.
    pub(crate) fn check_writable(path: &TreePath) -> Result<(), MessageError> {
        let sealed = path.parts().any(|part| SEALED.iter().any(|name| part.eq_ignore_ascii_case(name)));
        if sealed {
            return Err(MessageError::BadFile(format!("`{path}` is where no message is written")));
        }
        Ok(())
    }

    /// Writes a file whole, and says what is known of it then.
    pub(crate) fn write(&self, path: &TreePath, bytes: &[u8]) -> Result<Option<Meta>, MessageError> {
        Self::check_writable(path)?;
        let root = self.open()?;
        let there = root.stat(path).map_err(|error| bad_file(&error))?;
        let mode = there.map_or(NEW_FILE, |meta| meta.mode);
        let staged = root.stage(path, &Content::Bytes(bytes), mode).map_err(|error| bad_file(&error))?;
        root.commit(staged).map_err(|error| bad_file(&error))?;
        root.stat(path).map_err(|error| bad_file(&error))
    }

    fn open(&self) -> Result<Root, MessageError> {
        Root::open(&self.root, RootSettings::default()).map_err(|error| bad_file(&error))
    }
}

impl Encoding {
    /// A text as bytes.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, MessageError> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::MarkedUtf8 => Ok([b"\xEF\xBB\xBF", text.as_bytes()].concat()),
            Self::Latin1 => text.chars().map(|character| u8::try_from(character).map_err(|_| character)).collect::<Result<_, _>>().map_err(
                |character| {
                    MessageError::BadFile(format!(
                        "the file is Latin-1 and cannot hold `{character}`: write it as an HL7 escape, or save the file as UTF-8"
                    ))
                },
            ),
        }
    }
}

/// Bytes as text. HL7 that is no UTF-8 is taken for Latin-1, in which every byte is a character.
fn decode(bytes: Vec<u8>, shown: &str) -> Result<(String, Encoding), MessageError> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(text) => (text.to_owned(), Encoding::MarkedUtf8),
            None => (text, Encoding::Utf8),
        }),
        Err(error) if error.as_bytes().starts_with(b"MSH") => {
            Ok((error.as_bytes().iter().map(|byte| char::from(*byte)).collect(), Encoding::Latin1))
        }
        Err(error) => {
            let place = error.utf8_error().valid_up_to();
            Err(MessageError::BadText(format!(
                "`{shown}` is no UTF-8 from byte {place} on: save it as UTF-8"
            )))
        }
    }
}

/// What a file is, told by its contents and its name.
pub(crate) fn kind_of(path: &TreePath, text: &str) -> Result<MessageKind, MessageError> {
    let is_header = text
        .strip_prefix("MSH")
        .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_punctuation() && next != ':'));
    if is_header {
        return Ok(MessageKind::Hl7);
    }
    let name = path.name().unwrap_or_default().to_ascii_lowercase();
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("hl7") => Ok(MessageKind::Hl7),
        Some("json") => Ok(MessageKind::Json),
        Some("yaml" | "yml") => Ok(MessageKind::Yaml),
        Some("toml") => Ok(MessageKind::Toml),
        _ if text.is_empty() => Ok(MessageKind::Hl7),
        _ if text.trim_start().starts_with(['{', '[']) => Ok(MessageKind::Json),
        _ => Err(MessageError::BadText(format!(
            "`{path}` does not begin with `MSH`, and is not named as JSON, YAML or TOML"
        ))),
    }
}

fn bad_file(error: &dyn std::fmt::Display) -> MessageError {
    MessageError::BadFile(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_is_is_told_by_contents_and_name() {
        let kind = |path: &str, text: &str| kind_of(&TreePath::parse(path).unwrap(), text).ok();
        assert_eq!(kind("a.json", "MSH|^~\\&|"), Some(MessageKind::Hl7));
        assert_eq!(kind("a.yaml", "MSH: 1"), Some(MessageKind::Yaml));
        assert_eq!(kind("a.YML", ""), Some(MessageKind::Yaml));
        assert_eq!(kind("a.toml", "x = 1"), Some(MessageKind::Toml));
        assert_eq!(kind("a.txt", " {\"a\":1}"), Some(MessageKind::Json));
        assert_eq!(kind("a.txt", ""), Some(MessageKind::Hl7));
        assert_eq!(kind("a.hl7", "junk"), Some(MessageKind::Hl7));
        assert_eq!(kind("a.txt", "junk"), None);
    }

    #[test]
    fn texts_come_back_as_the_bytes_they_were() {
        for bytes in [&b"MSH|\xe9\xff\x80"[..], b"MSH|\xc3\xa9", b"\xEF\xBB\xBFMSH|"] {
            let (text, encoding) = decode(bytes.to_vec(), "x").unwrap();
            assert!(text.starts_with("MSH|"));
            assert_eq!(encoding.encode(&text).unwrap(), bytes);
        }
        assert!(decode(b"{\"a\":\"\xff\"}".to_vec(), "x").is_err());
        assert!(Encoding::Latin1.encode("€").is_err());
    }

    #[test]
    fn nothing_is_written_where_others_keep_their_own() {
        for path in [".git/config", "a/.Git/x", ".loggia/policy.toml", ".mehrhof/work/x.hl7"] {
            assert!(Files::check_writable(&TreePath::parse(path).unwrap()).is_err(), "{path}");
        }
        assert!(Files::check_writable(&TreePath::parse("a/.github/x").unwrap()).is_ok());
    }
}
