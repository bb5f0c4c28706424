//! Changing the user's file: single values are set, and everything else stays as it was written.
//!
//! Refuses to know what the keys mean. What always holds: the file is replaced whole or not at all, a link stays a link,
//! and comments stay where they are.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use super::ConfigError;
use super::load;

/// The user's file, to be changed.
#[derive(Debug)]
pub(crate) struct Edit {
    path: PathBuf,
    before: Option<String>,
    document: DocumentMut,
}

impl Edit {
    /// Reads the file; one that is absent is empty.
    pub(crate) fn open(path: &Path) -> Result<Self, ConfigError> {
        let before = load::read(path)?;
        let document = before.as_deref().unwrap_or_default().parse::<DocumentMut>();
        let document = document.map_err(|error| ConfigError::Read {
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::InvalidData, error.message().to_owned()),
        })?;
        Ok(Self { path: path.to_owned(), before, document })
    }

    /// What the file says, if it is a text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        let mut item = self.document.as_item();
        for part in key.split('.') {
            item = item.get(part)?;
        }
        item.as_str()
    }

    /// What the file says, if it is a list of texts, or one text with commas.
    pub(crate) fn names(&self, key: &str) -> Vec<String> {
        let mut item = Some(self.document.as_item());
        for part in key.split('.') {
            item = item.and_then(|item| item.get(part));
        }
        let names: Vec<&str> = match item {
            Some(item) if item.is_array() => {
                item.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
            }
            item => item.and_then(Item::as_str).unwrap_or_default().split(',').collect(),
        };
        names.into_iter().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Sets a key to a list of texts.
    pub(crate) fn set_names(&mut self, key: &str, names: &[String]) {
        self.put(key, names.iter().map(String::as_str).collect());
    }

    /// Sets a key to a text.
    pub(crate) fn set(&mut self, key: &str, text: &str) {
        self.put(key, Value::from(text));
    }

    fn put(&mut self, key: &str, mut value: Value) {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        let parts: Vec<&str> = key.split('.').collect();
        for (place, part) in parts.iter().enumerate() {
            let below = parts.len() - place - 1;
            if below == 0 {
                let item = table.entry(part).or_insert(Item::None);
                if let Some(old) = item.as_value() {
                    // What is written beside it.
                    *value.decor_mut() = old.decor().clone();
                }
                *item = Item::Value(value);
                return;
            }
            // Not a table: whoever loads the file is told.
            let item = table.entry(part).or_insert_with(|| {
                let mut new = Table::new();
                // One that only holds other tables needs no line of its own.
                new.set_implicit(below > 1);
                Item::Table(new)
            });
            let Some(inner) = item.as_table_like_mut() else { return };
            table = inner;
        }
    }

    /// Writes the file if something changed; whether it did.
    pub(crate) fn save(self) -> Result<bool, ConfigError> {
        let text = self.document.to_string();
        if self.before.as_deref() == Some(text.as_str()) {
            return Ok(false);
        }
        let failed = |source| ConfigError::Write { path: self.path.clone(), source };
        replace(&self.path, &text).map_err(failed)?;
        Ok(true)
    }
}

/// Puts a text in the place of a file, which keeps its mode; a new one is its owner's alone.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What the name leads to is changed, not the name: people keep such files elsewhere.
    let path = match path.canonicalize() {
        Ok(real) => real,
        // A link that leads nowhere: where its target should be, nobody said.
        Err(error) if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
            let target = fs::read_link(path)?;
            let message =
                format!("it is a link to `{}`, which cannot be followed: {error}", target.display());
            return Err(io::Error::new(error.kind(), message));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut file = tempfile::Builder::new().prefix(".config-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Ok(there) = fs::metadata(&path) {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn edited(before: &str, changes: &[(&str, &str)]) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        fs::write(&path, before).unwrap();
        let mut edit = Edit::open(&path).unwrap();
        for (key, text) in changes {
            edit.set(key, text);
        }
        edit.save().unwrap();
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn only_what_is_set_changes() {
        let before =
            "# Mine.\n[model] # which\ndefault = \"a:b\"  # the good one\n\n[ui]\ncolor = \"never\"\n";
        assert_eq!(edited(before, &[("model.default", "c:d")]), before.replace("a:b", "c:d"));
        assert_eq!(edited(before, &[("model.default", "a:b")]), before);
        assert_eq!(edited("", &[("model.default", "a:b")]), "[model]\ndefault = \"a:b\"\n");
        assert_eq!(
            edited("model.default = 'a:b'\n", &[("model.default", "c:d")]),
            "model.default = \"c:d\"\n"
        );
        assert_eq!(
            edited("model = { default = \"\" }\n", &[("model.default", "c:d")]),
            "model = { default = \"c:d\" }\n"
        );
        let named = [("models.openai.kind", "openai"), ("models.openai.key_file", "/k")];
        assert_eq!(edited("", &named), "[models.openai]\nkind = \"openai\"\nkey_file = \"/k\"\n");
    }

    #[test]
    fn names_are_read_in_both_spellings_and_written_as_a_list() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        let listed = |before: &str| {
            fs::write(&path, before).unwrap();
            let mut edit = Edit::open(&path).unwrap();
            let mut names = edit.names("plugins.enabled");
            names.push("new".to_owned());
            edit.set_names("plugins.enabled", &names);
            edit.save().unwrap();
            fs::read_to_string(&path).unwrap()
        };
        assert_eq!(listed(""), "[plugins]\nenabled = [\"new\"]\n");
        assert_eq!(
            listed("# mine\n[plugins]\nenabled = [\"a\", \"b\"] # on\n"),
            "# mine\n[plugins]\nenabled = [\"a\", \"b\", \"new\"] # on\n"
        );
        assert_eq!(listed("plugins.enabled = \"a, b\"\n"), "plugins.enabled = [\"a\", \"b\", \"new\"]\n");
    }

    #[test]
    fn a_table_that_somebody_wrote_keeps_its_line_and_its_comments() {
        let before = "# My machines\n[models] # see the wiki\n\n[models.lab]\nkind = \"ollama\"\n";
        let added = "\n[models.openai]\nkey_file = \"/k\"\n";
        assert_eq!(edited(before, &[("models.openai.key_file", "/k")]), format!("{before}{added}"));
        assert_eq!(edited(before, &[("models.lab.kind", "openai")]), before.replace("ollama", "openai"));
    }

    #[test]
    fn a_file_is_made_in_private_and_a_link_stays_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config/config.toml");
        let mut edit = Edit::open(&path).unwrap();
        edit.set("model.default", "a:b");
        assert!(edit.save().unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Edit::open(&path).unwrap().text("model.default"), Some("a:b"));
        assert!(!Edit::open(&path).unwrap().save().unwrap(), "nothing changed");

        let link = directory.path().join("link.toml");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut edit = Edit::open(&link).unwrap();
        edit.set("model.default", "c:d");
        edit.save().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Edit::open(&path).unwrap().text("model.default"), Some("c:d"));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("config.toml");
        std::os::unix::fs::symlink(directory.path().join("gone/config.toml"), &link).unwrap();
        let error = match Edit::open(&link) {
            Ok(mut edit) => {
                edit.set("model.default", "a:b");
                edit.save().unwrap_err()
            }
            Err(error) => error,
        };
        let ConfigError::Write { source, .. } = &error else { panic!("{error}") };
        assert!(source.to_string().contains("gone/config.toml`, which cannot be followed"), "{source}");
        assert!(error.hint().unwrap().contains("link"), "{error}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
