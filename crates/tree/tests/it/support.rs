//! A workspace on disk with something beside it that must not be touched.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use loggia_tree::{Content, Root, RootSettings, TreeError, TreePath, WalkOptions};
use rustix::fs::{CWD, FileType, Mode, mkfifoat, mknodat};
use tempfile::TempDir;

/// What is in the file outside. Whoever returns it has read too much.
pub(crate) const SECRET: &str = "the secret outside";
/// What is in the files inside.
pub(crate) const INSIDE: &str = "the text inside";

/// `workspace/` is the root; `outside/` beside it holds `secret.txt`, `dir/secret.txt` and an empty directory `empty`.
#[derive(Debug)]
pub(crate) struct Fixture {
    directory: TempDir,
    pub(crate) root: Root,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture::with(RootSettings::default())
    }

    pub(crate) fn with(settings: RootSettings) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        for made in ["workspace", "outside/dir", "outside/empty"] {
            fs::create_dir_all(base.join(made)).unwrap();
        }
        for file in ["outside/secret.txt", "outside/dir/secret.txt"] {
            fs::write(base.join(file), SECRET).unwrap();
        }
        let root = Root::open(&base.join("workspace"), settings).unwrap();
        Fixture { directory, root }
    }

    /// A path inside, for the test's own use.
    pub(crate) fn inside(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// A path outside, for the test's own use.
    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        // Without a slash at the end, for the directory itself.
        self.root.path().parent().unwrap().join("outside").join(path).components().collect()
    }

    pub(crate) fn base(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn dir(&self, path: &str) -> &Fixture {
        fs::create_dir_all(self.inside(path)).unwrap();
        self
    }

    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Fixture {
        let path = self.inside(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Fixture {
        let path = self.inside(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// A hard link inside to a file outside.
    pub(crate) fn hard_link(&self, path: &str, outside: &str) -> &Fixture {
        fs::hard_link(self.outside(outside), self.inside(path)).unwrap();
        self
    }

    pub(crate) fn fifo(&self, path: &str) -> &Fixture {
        mkfifoat(CWD, self.inside(path), Mode::RWXU).unwrap();
        self
    }

    pub(crate) fn socket(&self, path: &str) -> &Fixture {
        UnixListener::bind(self.inside(path)).unwrap();
        self
    }

    /// A device that never ends; where only root may make one, a fifo, which never begins.
    pub(crate) fn device(&self, path: &str) -> &Fixture {
        let zero = rustix::fs::makedev(1, 5);
        match mknodat(CWD, self.inside(path), FileType::CharacterDevice, Mode::RWXU, zero) {
            Ok(()) => self,
            Err(_) => self.fifo(path),
        }
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.inside(path)).unwrap()
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.inside(path).symlink_metadata().is_ok()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        self.inside(path).symlink_metadata().unwrap().mode() & 0o7777
    }

    /// Stages and commits.
    pub(crate) fn put(&self, path: &str, text: &str, mode: u32) -> Result<(), TreeError> {
        let staged = self.root.stage(&at(path), &Content::Bytes(text.as_bytes()), mode)?;
        self.root.commit(staged)
    }

    /// What a walk finds, a line for each.
    pub(crate) fn walked(&self, options: &WalkOptions) -> String {
        let line = |item: Result<loggia_tree::Found, TreeError>| match item {
            Ok(found) => format!("{}\n", found.path),
            Err(error) => format!("! {error}\n"),
        };
        self.root.walk(options).map(line).collect()
    }

    /// Our unfinished files anywhere in the workspace and outside.
    pub(crate) fn unfinished(&self) -> Vec<String> {
        let names = snapshot(self.base());
        names.into_iter().filter(|line| line.contains(".loggia-")).collect()
    }
}

pub(crate) fn at(path: &str) -> TreePath {
    TreePath::parse(path).unwrap()
}

/// Everything below a directory, a line for each entry: what it is, its mode, number of names, time and content.
pub(crate) fn snapshot(directory: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut ahead = vec![directory.to_owned()];
    while let Some(path) = ahead.pop() {
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_file() {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
        } else if meta.is_symlink() {
            format!("-> {}", fs::read_link(&path).unwrap().display())
        } else {
            String::new()
        };
        lines.push(format!(
            "{} {:o} {} {}.{} {content:?}",
            path.display(),
            meta.mode(),
            meta.nlink(),
            meta.mtime(),
            meta.mtime_nsec()
        ));
        if meta.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    lines.sort();
    lines
}
