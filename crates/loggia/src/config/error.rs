//! What can be wrong with a configuration.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::keys;

/// A place in a file, as people and editors write it: `path:line:column`, both counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    /// The place of a byte in the file's text. Columns count characters.
    pub(crate) fn of(path: &Path, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// A configuration that does not make sense.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A file is there and cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not TOML, or the trust store not what we wrote.
    #[error("`{place}` cannot be understood")]
    Syntax {
        /// Where.
        place: Place,
        /// The parser's words.
        #[source]
        source: ParserMessage,
    },
    /// A file sets a key that does not exist.
    #[error("unknown key `{key}` in `{place}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it is set.
        place: Place,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// `--set` names a key that does not exist.
    #[error("unknown key `{key}` in `--set`")]
    UnknownKeyInFlag {
        /// The key.
        key: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// A variable that begins with our prefix and is not ours.
    #[error("unknown variable `{name}` in the environment")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A value does not fit its key.
    #[error("`{key}` cannot be {found} (in `{place}`)")]
    WrongValue {
        /// The key.
        key: String,
        /// What was given.
        found: String,
        /// A place in a file, a variable or a flag.
        place: String,
        /// What would fit.
        expected: String,
    },
    /// A directory was given that is not absolute.
    #[error("`{name}` must be an absolute path, not `{}`", path.display())]
    RelativeDirectory {
        /// The variable.
        name: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// There is no home directory to look in.
    #[error("cannot find the home directory")]
    NoHome {
        /// The variable that would do instead.
        name: &'static str,
        /// Why.
        #[source]
        source: etcetera::HomeDirError,
    },
}

/// What a parser said, as a cause.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ParserMessage(String);

impl ConfigError {
    /// The parser's complaint with its place.
    pub(crate) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().trim_end().replace('\n', "; ");
        Self::Syntax { place: Place::of(path, text, offset), source: ParserMessage(message) }
    }

    /// What to try.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { key, nearest, .. } | Self::UnknownKeyInFlag { key, nearest, .. } => {
                Some(match (nearest, fields(key)) {
                    (Some(nearest), _) => format!("did you mean `{nearest}`?"),
                    (None, Some(fields)) => fields,
                    (None, None) => "`loggia config show` lists all keys".to_owned(),
                })
            }
            Self::UnknownVariable { nearest, .. } => Some(match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "variables that begin with `LOGGIA_` are reserved; unset this one".to_owned(),
            }),
            Self::WrongValue { expected, .. } => Some(format!("expected {expected}")),
            Self::NoHome { name, .. } => Some(format!("set `HOME`, or `{name}` to an absolute path")),
            Self::Write { path, .. } if path.is_symlink() && !path.exists() => {
                Some(format!("make the file that the link leads to, or remove the link `{}`", path.display()))
            }
            Self::Write { path, .. } => {
                Some(format!("look at who owns `{}` and the directories above it", path.display()))
            }
            Self::Read { path, source } if source.kind() == io::ErrorKind::PermissionDenied => {
                let path = path.display();
                Some(format!("`ls -l '{path}'` tells who owns it; `chmod u+r '{path}'` lets you read it"))
            }
            Self::Read { path, .. } => Some(format!("see that `{}` is a file of text", path.display())),
            Self::Syntax { .. } | Self::RelativeDirectory { .. } => None,
        }
    }
}

/// What can be said in the tables of the list that a key belongs to, if it belongs to one.
fn fields(key: &str) -> Option<String> {
    let list = &keys::EXTENSIONS;
    key.strip_prefix(list.path)?.strip_prefix('.')?;
    let names: Vec<_> =
        keys::FIELDS.iter().filter_map(|field| Some(format!("`{}`", field.field_of(list)?))).collect();
    Some(format!("each `[[{}]]` takes {}", list.path, names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a = 1\nü = 22\n";
        let place = |offset| Place::of(Path::new("f"), text, offset).to_string();
        assert_eq!(place(0), "f:1:1");
        assert_eq!(place(text.find("22").unwrap()), "f:2:5");
        assert_eq!(place(text.len()), "f:3:1");
        assert_eq!(place(999), "f:3:1");
    }
}
