//! Where paths lead, and reading what is there.
//!
//! What always holds: what is in the workspace is reached through a handle on its root; what is outside only by those
//! who may. No more than the limits is ever in memory.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use loggia_domain::GuestError;
use loggia_tree::{Kind, Root, RootSettings, TreeError, TreePath};

use crate::limits::MAX_FILE;

/// How far paths may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Into the workspace.
    Workspace,
    /// To whatever path somebody names who could read it themselves.
    Anywhere,
}

/// The places of one workspace.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    root: PathBuf,
    reach: Reach,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spot {
    Inside(TreePath),
    /// Absolute.
    Outside(PathBuf),
}

impl Places {
    pub(crate) fn new(root: &Path, reach: Reach) -> Self {
        Self { root: root.to_owned(), reach }
    }

    /// Where a path leads, by its words alone.
    pub(crate) fn spot(&self, path: &str) -> Result<Spot, GuestError> {
        if path.trim().is_empty() {
            return Err(GuestError::Refused("a path is missing".to_owned()));
        }
        if path.contains('\0') {
            return Err(GuestError::Refused("the path has a NUL character".to_owned()));
        }
        let whole = normal(&self.root.join(path));
        let real_root = self.root.canonicalize().ok();
        let roots = [Some(normal(&self.root)), real_root];
        let inside = roots.iter().flatten().find_map(|root| whole.strip_prefix(root).ok());
        match inside {
            Some(inside) => {
                // A part of a text is one.
                let inside = inside.to_str().unwrap_or_default();
                TreePath::parse(inside)
                    .map(Spot::Inside)
                    .map_err(|error| GuestError::Refused(error.to_string()))
            }
            None if self.reach == Reach::Anywhere => Ok(Spot::Outside(whole)),
            None => Err(GuestError::Refused(format!(
                "`{path}` is outside the workspace: copy it into the workspace, or give its text as `text:…`"
            ))),
        }
    }

    /// What is there; nothing if nothing is. Links are followed.
    pub(crate) fn kind(&self, spot: &Spot) -> Result<Option<Kind>, GuestError> {
        match spot {
            Spot::Inside(path) => {
                let root = self.open()?;
                let real = match root.real_path_of(path) {
                    Err(TreeError::NotFound { .. }) => return Ok(None),
                    real => real.map_err(|error| refusal(&error))?,
                };
                if real.is_root() {
                    return Ok(Some(Kind::Directory));
                }
                Ok(root.stat(&real).map_err(|error| refusal(&error))?.map(|meta| meta.kind))
            }
            Spot::Outside(path) => Ok(fs::metadata(path).ok().map(|found| kind_of(&found))),
        }
    }

    /// The text of a file.
    pub(crate) fn read(&self, spot: &Spot) -> Result<String, GuestError> {
        let bytes = match spot {
            Spot::Inside(path) => self.open()?.read(path, MAX_FILE).map_err(|error| refusal(&error))?.bytes,
            Spot::Outside(path) => read_outside(path)?,
        };
        as_text(bytes).map_err(|why| GuestError::Refused(format!("`{}` {why}", key(spot))))
    }

    /// The files of a directory by their names, sorted, without hidden ones; and how many entries can be no texts.
    pub(crate) fn files(&self, spot: &Spot) -> Result<(Vec<(String, Spot)>, usize), GuestError> {
        let (mut found, mut left_out) = match spot {
            Spot::Inside(path) => self.entries_inside(path)?,
            Spot::Outside(path) => entries_outside(path)?,
        };
        found.retain(|(name, entry)| {
            let is_file = match self.kind(entry) {
                Ok(Some(Kind::File)) => true,
                Ok(Some(Kind::Directory)) => return false,
                _ => false,
            };
            left_out += usize::from(!is_file && !name.starts_with('.'));
            is_file && !name.starts_with('.')
        });
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok((found, left_out))
    }

    fn entries_inside(&self, path: &TreePath) -> Result<(Vec<(String, Spot)>, usize), GuestError> {
        let listed = self.open()?.list(path).map_err(|error| refusal(&error))?;
        let all = listed.len();
        let named: Vec<_> =
            listed.into_iter().filter_map(|entry| Some((entry.name, Spot::Inside(entry.path?)))).collect();
        let unnamed = all - named.len();
        Ok((named, unnamed))
    }

    /// What people call it: its last name.
    pub(crate) fn name(&self, spot: &Spot) -> String {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = match spot {
            Spot::Inside(path) if path.is_root() => last(&normal(&self.root)),
            Spot::Inside(path) => path.name().map(str::to_owned),
            Spot::Outside(path) => last(path),
        };
        name.unwrap_or_else(|| key(spot))
    }

    /// Where people look at it.
    pub(crate) fn location(&self, spot: &Spot) -> String {
        match spot {
            Spot::Inside(path) => self.root.join(path.as_str()).display().to_string(),
            Spot::Outside(path) => path.display().to_string(),
        }
    }

    fn open(&self) -> Result<Root, GuestError> {
        Root::open(&self.root, RootSettings::default())
            .map_err(|error| GuestError::Refused(format!("{error}: {}", error.hint())))
    }
}

/// What it is fetched with: leads to the same spot again.
pub(crate) fn key(spot: &Spot) -> String {
    match spot {
        Spot::Inside(path) if path.is_root() => ".".to_owned(),
        Spot::Inside(path) => path.as_str().to_owned(),
        Spot::Outside(path) => path.display().to_string(),
    }
}

/// Without `.` and `..`, by its words alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

fn refusal(error: &TreeError) -> GuestError {
    let words = error.to_string();
    match error {
        TreeError::NotFound { .. } => GuestError::NotFound(words),
        TreeError::Io { .. } => GuestError::Failed(words),
        _ => GuestError::Refused(words),
    }
}

fn kind_of(found: &fs::Metadata) -> Kind {
    match found {
        found if found.is_file() => Kind::File,
        found if found.is_dir() => Kind::Directory,
        _ => Kind::Other,
    }
}

fn read_outside(path: &Path) -> Result<Vec<u8>, GuestError> {
    let shown = path.display();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => GuestError::NotFound(format!("`{shown}` does not exist")),
        _ => GuestError::Failed(format!("`{shown}`: {error}")),
    };
    // Opening a pipe would wait for somebody to write.
    let kind = kind_of(&fs::metadata(path).map_err(failed)?);
    if kind != Kind::File {
        return Err(GuestError::Refused(format!("`{shown}` is {kind}, not a file")));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(failed)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(GuestError::Refused(format!("`{shown}` has more than {MAX_FILE} bytes")));
    }
    Ok(bytes)
}

/// The entries of a directory outside that do not lead out of it, and how many do or cannot be named.
fn entries_outside(path: &Path) -> Result<(Vec<(String, Spot)>, usize), GuestError> {
    let failed = |error: std::io::Error| GuestError::Failed(format!("`{}`: {error}", path.display()));
    let real = path.canonicalize().map_err(failed)?;
    let (mut named, mut left_out) = (Vec::new(), 0);
    for (count, entry) in fs::read_dir(&real).map_err(failed)?.enumerate() {
        if count == loggia_tree::MAX_ENTRIES {
            let most = loggia_tree::MAX_ENTRIES;
            return Err(GuestError::Refused(format!("`{}` has more than {most} entries", path.display())));
        }
        let entry = entry.map_err(failed)?;
        let stays = entry.path().canonicalize().is_ok_and(|leads| leads.starts_with(&real));
        match entry.file_name().into_string() {
            Ok(name) if stays => named.push((name, Spot::Outside(entry.path()))),
            _ => left_out += 1,
        }
    }
    Ok((named, left_out))
}

/// Bytes as text, without the mark some editors put in front.
fn as_text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.contains(&0) {
        return Err("is no text: it has NUL characters".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        format!("is no UTF-8 text, from byte {place} on: save it as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
