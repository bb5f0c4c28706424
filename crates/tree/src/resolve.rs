//! Where a path leads: links are followed here, one name at a time.
//!
//! The kernel is never asked to follow a link or to go up. A name is opened as itself; if it is a link, its text is
//! read and its parts are walked by the same rules; `..` goes back to a name we came through. So whatever is swapped
//! meanwhile, each step is taken from a directory that was reached below the root.
//! The plain case, a path without links, costs one system call.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Stat, readlinkat, statat};
use rustix::io::Errno;

use crate::error::{AtPath, TreeError};
use crate::handle::{Handle, look_up, optional};
use crate::meta::Kind;
use crate::path::TreePath;

/// How many links one path may lead through: as many as Linux follows.
const MAX_LINKS: usize = 40;
/// How many names one path may lead through in all: as many as the longest path has parts, so that links full of
/// `a/../a/..` cannot keep us busy.
const MAX_STEPS: usize = 2048;

/// What to do with a link in the last place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Follow,
    Keep,
}

/// Where a path led.
#[derive(Debug)]
pub(crate) enum Place {
    /// To this name in this directory; `.` for the directory itself. Something need not be there.
    Entry { directory: OwnedFd, name: Vec<u8>, real: Vec<u8> },
    /// Nowhere: a directory before the last part is not there. The real path is what it would be.
    Missing { real: Vec<u8> },
}

impl Place {
    fn real(&self) -> &[u8] {
        match self {
            Place::Entry { real, .. } | Place::Missing { real } => real,
        }
    }
}

impl Handle {
    /// Where `path` leads, through links that stay inside.
    pub(crate) fn resolve(&self, path: &TreePath, last: Last) -> Result<Place, TreeError> {
        if let Some(place) = self.resolve_plain(path, last) {
            return Ok(place);
        }
        Steps::new(self, path).run(last)
    }

    /// The entry at `path`, which need not exist itself, but must have a directory.
    pub(crate) fn entry(&self, path: &TreePath, last: Last) -> Result<(OwnedFd, Vec<u8>), TreeError> {
        match self.resolve(path, last)? {
            Place::Entry { directory, name, .. } => Ok((directory, name)),
            Place::Missing { .. } => Err(TreeError::NotFound { path: path.clone() }),
        }
    }

    /// The path itself after following links that stay inside.
    pub(crate) fn real_path(&self, path: &TreePath) -> Result<TreePath, TreeError> {
        let place = self.resolve(path, Last::Follow)?;
        let real = std::str::from_utf8(place.real()).ok().and_then(|text| TreePath::parse(text).ok());
        real.ok_or_else(|| TreeError::Unnameable {
            directory: path.parent().unwrap_or_default(),
            shown: String::from_utf8_lossy(place.real()).into_owned(),
        })
    }

    /// The case without links. Any doubt is left to the steps.
    fn resolve_plain(&self, path: &TreePath, last: Last) -> Option<Place> {
        let (parent, name) = path.split().unwrap_or(("", "."));
        let directory = self.plain_directory(parent).ok()?;
        if last == Last::Follow {
            let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            if Kind::of(&stat) == Kind::Link {
                return None;
            }
        }
        Some(Place::Entry { directory, name: name.into(), real: path.as_str().into() })
    }
}

/// The walk along one path.
#[derive(Debug)]
struct Steps<'a> {
    handle: &'a Handle,
    /// The path asked for, for errors.
    path: &'a TreePath,
    /// The names from the root to where we are; none of them is a link.
    here: Vec<Vec<u8>>,
    /// Where we are; nothing after going up, until it is needed again.
    directory: Option<OwnedFd>,
    /// The parts still to walk, the next one at the end.
    ahead: Vec<Vec<u8>>,
    links: usize,
}

impl<'a> Steps<'a> {
    fn new(handle: &'a Handle, path: &'a TreePath) -> Steps<'a> {
        let ahead = path.parts().rev().map(|part| part.as_bytes().to_vec()).collect();
        Steps { handle, path, here: Vec::new(), directory: None, ahead, links: 0 }
    }

    fn run(mut self, last: Last) -> Result<Place, TreeError> {
        for _ in 0..MAX_STEPS {
            let Some(name) = self.ahead.pop() else { return self.arrive(b".".to_vec()) };
            if name == b".." {
                self.go_up()?;
                continue;
            }
            if self.ahead.is_empty() && last == Last::Keep {
                return self.arrive(name);
            }
            let Some((entry, stat)) = self.look_up(&name)? else { return self.miss(name) };
            match Kind::of(&stat) {
                Kind::Directory => {
                    self.here.push(name);
                    self.directory = Some(entry);
                }
                Kind::Link => self.follow(&entry)?,
                Kind::File | Kind::Other if self.ahead.is_empty() => return self.arrive(name),
                Kind::File | Kind::Other => {
                    return Err(TreeError::NotADirectory { path: self.path.clone() });
                }
            }
        }
        Err(TreeError::TooManyLinks { path: self.path.clone() })
    }

    fn look_up(&mut self, name: &[u8]) -> Result<Option<(OwnedFd, Stat)>, TreeError> {
        let path = self.path;
        let directory = self.directory()?;
        optional(look_up(directory, name)).at(path)
    }

    /// The directory we are in, opened again after going up.
    fn directory(&mut self) -> Result<&OwnedFd, TreeError> {
        let directory = match self.directory.take() {
            Some(directory) => directory,
            None => self.reopen()?,
        };
        Ok(self.directory.insert(directory))
    }

    /// Each name was a directory when we came through; if one is not any more, somebody is at work.
    fn reopen(&self) -> Result<OwnedFd, TreeError> {
        let path = self.path;
        let mut directory = self.handle.root().at(path)?;
        for name in &self.here {
            let (entry, stat) = look_up(&directory, name).at(path)?;
            if Kind::of(&stat) != Kind::Directory {
                return Err(TreeError::Swapped { path: path.clone() });
            }
            directory = entry;
        }
        Ok(directory)
    }

    fn go_up(&mut self) -> Result<(), TreeError> {
        self.directory = None;
        match self.here.pop() {
            Some(_) => Ok(()),
            None => Err(self.outside("a link goes above the root")),
        }
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), TreeError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(TreeError::TooManyLinks { path: self.path.clone() });
        }
        // The empty path means the link that was opened, not whatever has its name by now.
        let target = readlinkat(link, "", Vec::new()).at(self.path)?.into_bytes();
        let relative = if target.starts_with(b"/") {
            let below = self.below_root(&target).ok_or_else(|| self.outside("a link is absolute"))?;
            self.here.clear();
            self.directory = None;
            below
        } else {
            &target
        };
        let parts = relative.split(|byte| *byte == b'/').rev();
        self.ahead.extend(parts.filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec));
        Ok(())
    }

    /// An absolute link may name the root itself; what follows is walked like any other path.
    fn below_root<'t>(&self, target: &'t [u8]) -> Option<&'t [u8]> {
        let below = target.strip_prefix(self.handle.path.as_os_str().as_encoded_bytes())?;
        (below.is_empty() || below.starts_with(b"/")).then_some(below)
    }

    fn arrive(mut self, name: Vec<u8>) -> Result<Place, TreeError> {
        self.directory()?;
        let mut real = self.here;
        if name != b"." {
            real.push(name.clone());
        }
        match self.directory {
            Some(directory) => Ok(Place::Entry { directory, name, real: real.join(&b'/') }),
            None => Err(TreeError::Swapped { path: self.path.clone() }),
        }
    }

    /// The name is not there. What is ahead of it cannot be either.
    fn miss(mut self, name: Vec<u8>) -> Result<Place, TreeError> {
        if self.ahead.is_empty() {
            return self.arrive(name);
        }
        if self.ahead.iter().any(|part| part == b"..") {
            return Err(TreeError::from_errno(self.path, Errno::NOENT));
        }
        self.here.push(name);
        self.here.extend(self.ahead.into_iter().rev());
        Ok(Place::Missing { real: self.here.join(&b'/') })
    }

    fn outside(&self, why: &'static str) -> TreeError {
        TreeError::Outside { path: self.path.clone(), why }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use super::*;

    fn handle(path: &Path) -> Handle {
        Handle::new(File::open(path).unwrap().into(), path.to_owned())
    }

    fn by_steps(handle: &Handle, path: &str, last: Last) -> Result<Place, TreeError> {
        Steps::new(handle, &TreePath::parse(path).unwrap()).run(last)
    }

    #[test]
    fn the_steps_and_the_kernel_agree_on_plain_paths() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("a/b")).unwrap();
        std::fs::write(directory.path().join("a/b/c"), "").unwrap();
        let handle = handle(directory.path());
        for path in ["", "a", "a/b", "a/b/c"] {
            for last in [Last::Follow, Last::Keep] {
                let tree_path = TreePath::parse(path).unwrap();
                let stat = |place: Place| match place {
                    Place::Entry { directory, name, real } => {
                        (statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).unwrap().st_ino, real)
                    }
                    Place::Missing { .. } => panic!("{path} is there"),
                };
                let plain = stat(handle.resolve_plain(&tree_path, last).expect("the kernel knows the call"));
                assert_eq!(stat(by_steps(&handle, path, last).unwrap()), plain, "{path}");
            }
        }
    }

    /// What a mounted `/proc` below a root would be.
    #[test]
    fn magic_links_are_read_as_text_and_lead_nowhere() {
        let handle = handle(Path::new("/proc"));
        let open = File::open("/").unwrap();
        let descriptor = format!("self/fd/{}", open.as_raw_fd());
        for path in ["self/root", "self/root/etc", "self/cwd", "self/exe", &descriptor] {
            let led = handle.resolve(&TreePath::parse(path).unwrap(), Last::Follow);
            assert!(matches!(led, Err(TreeError::Outside { .. })), "{path} led to {led:?}");
        }
        let (reader, _writer) = std::io::pipe().unwrap();
        let pipe = format!("self/fd/{}", reader.as_raw_fd());
        let real = handle.real_path(&TreePath::parse(&pipe).unwrap()).unwrap();
        assert!(real.name().unwrap().starts_with("pipe:["), "{real} is the name of nothing");
    }
}
