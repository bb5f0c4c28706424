//! A root directory of its own, put together from mounts.
//!
//! Runs in a keeper that is alone with its mounts: the first process of its namespaces. What is not mounted here
//! does not exist for the program.
//!
//! Part of it can be put there ahead, by a plan that is likely to be the next one's too. Meanwhile the system's own
//! root may change: what is hidden may be replaced, which takes our cover away; what is shown may be moved. So when the
//! plan is there, made from the system's root of that moment, each place put in ahead has to be in it, to be mounted
//! where it is planned, to show what it showed, and what the system's root shows there now. If not, the whole root is
//! thrown away and made anew.
//!
//! What always holds: everything is mounted before anything is started, nothing is mounted outside the new root, and
//! a step that fails is the end of this road.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};
use rustix::process::{chdir, getpid, pivot_root};

use super::NotStarted;
use super::landlock::DEVICES;
use super::mountinfo::{self, Mount};
use super::plan::{Place, Plan, below};

/// A directory every system has; what is in it is not needed on the way.
const BASE: &str = "/tmp";
/// Where the system's root is while the new one is made, and where that is.
pub(super) const OLD: &str = "/old";
const NEW: &str = "/new";

/// The scaffold holds empty directories and files only.
const SCAFFOLD: &CStr = c"mode=0755,size=4m,nr_inodes=16k";
/// What programs put into directories of their own is memory; large things belong into the temporary directory
/// they are told of.
const TEMPORARY: &CStr = c"mode=1777,size=512m,nr_inodes=128k";

const CLOSED: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// A root in the making. It is begun before anybody knows who will be in it; nobody is, until it is finished.
#[derive(Debug, Default)]
pub(super) struct Root {
    /// What was put into it ahead of its plan, and what it showed then. Links show nothing.
    ahead: BTreeMap<PathBuf, (Place, Option<Identity>)>,
    /// Whether a step failed and left nobody knows what.
    spoilt: bool,
}

/// A file system and a file in it. While a mount shows a file, no other gets its number.
type Identity = (u64, u64);

impl Root {
    /// Leaves the system's root, which is at [`OLD`] from now on, and makes what is in every root.
    pub(super) fn begin() -> Result<Self, NotStarted> {
        if !getpid().is_init() {
            // Mounting in namespaces that are not ours alone would be felt by others.
            return Err(NotStarted::Refused("no namespaces to make a root in".to_owned()));
        }
        make_scaffold()?;
        lay_ground()?;
        Ok(Self::default())
    }

    /// Puts in what is likely to be in the plan to come as well.
    pub(super) fn put_ahead(&mut self, likely: &Plan) {
        let lasting = likely.lasting();
        let put = |(path, place): (&PathBuf, &Place)| {
            put(&lasting, path, place)?;
            Ok((path.clone(), (place.clone(), identity(place, &new(path))?)))
        };
        let done: Result<BTreeMap<_, _>, NotStarted> = lasting.places.iter().map(put).collect();
        match done.and_then(|ahead| close(&lasting, false).map(|()| ahead)) {
            Ok(ahead) => self.ahead = ahead,
            Err(error) => {
                // The order will tell if it matters.
                tracing::debug!(%error, "nothing can be put into a root ahead");
                self.spoilt = true;
            }
        }
    }

    /// Makes the planned root and moves into it. What was put in ahead stays only if all of it is planned, and shows what
    /// is there now.
    pub(super) fn finish(self, plan: &Plan) -> Result<(), NotStarted> {
        let made_ahead = !self.ahead.is_empty();
        let completed =
            if self.is_part_of(plan) { self.complete(plan) } else { Err(changed(Path::new("/"))) };
        match completed {
            Err(error) if made_ahead || self.spoilt => {
                tracing::debug!(%error, "a root is made anew");
                let new = Path::new(NEW);
                done("leave", new, unmount(new, UnmountFlags::DETACH))?;
                lay_ground()?;
                Self::default().complete(plan)?;
            }
            completed => completed?,
        }
        move_in()
    }

    /// Whether what is there already is planned, and nothing planned is to be put over it.
    fn is_part_of(&self, plan: &Plan) -> bool {
        let planned = |(path, (place, _)): (&PathBuf, &(Place, _))| plan.places.get(path) == Some(place);
        let mut others = plan.places.keys().filter(|path| !self.ahead.contains_key(*path));
        !self.spoilt
            && self.ahead.iter().all(planned)
            && others.all(|other| self.ahead.keys().all(|path| !path.starts_with(other)))
    }

    /// Puts in the rest and closes everything.
    fn complete(&self, plan: &Plan) -> Result<(), NotStarted> {
        for (path, place) in plan.places.iter().filter(|(path, _)| !self.ahead.contains_key(*path)) {
            put(plan, path, place)?;
        }
        close(plan, true)?;
        for (path, (place, shown)) in &self.ahead {
            let is_same = matches!(place, Place::Same { .. });
            if identity(place, &new(path))? != *shown || is_same && identity(place, &old(path))? != *shown {
                return Err(changed(path));
            }
        }
        Ok(())
    }
}

/// What is seen at a place.
fn identity(place: &Place, path: &Path) -> Result<Option<Identity>, NotStarted> {
    if let Place::Link(_) = place {
        return Ok(None);
    }
    let found = done("see", path, path.symlink_metadata())?;
    Ok(Some((found.dev(), found.ino())))
}

fn changed(path: &Path) -> NotStarted {
    NotStarted::Refused(format!("`{}` changed while it was mounted", path.display()))
}

fn make_scaffold() -> Result<(), NotStarted> {
    let base = Path::new(BASE);
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    done("separate", Path::new("/"), mount_change("/", private))?;
    done("mount", base, mount("tmpfs", base, "tmpfs", CLOSED, SCAFFOLD))?;
    let (old, new) = (base.join("old"), base.join("new"));
    done("make", &old, fs::create_dir(&old))?;
    done("make", &new, fs::create_dir(&new))?;
    done("enter", base, pivot_root(base, &old))?;
    done("enter", base, chdir("/"))
}

/// What is in every root.
fn lay_ground() -> Result<(), NotStarted> {
    done("mount", Path::new(NEW), mount("tmpfs", NEW, "tmpfs", CLOSED, SCAFFOLD))?;
    make_devices()?;
    let proc = new(Path::new("/proc"));
    done("make", &proc, fs::create_dir_all(&proc))?;
    done("mount", &proc, mount("proc", &proc, "proc", CLOSED | MountFlags::NOEXEC, None))
}

/// The harmless devices, the usual links, and terminals of its own.
fn make_devices() -> Result<(), NotStarted> {
    let dev = new(Path::new("/dev"));
    done("make", &dev, fs::create_dir_all(dev.join("pts")))?;
    for device in DEVICES {
        let (from, to) = (old(Path::new(device)), new(Path::new(device)));
        if from.exists() {
            done("make", &to, fs::write(&to, ""))?;
            done("show", &to, mount_bind_recursive(&from, &to))?;
        }
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        done("make", &dev.join(name), symlink(target, dev.join(name)))?;
    }
    let terminals = c"newinstance,ptmxmode=0666,mode=0620";
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    if let Err(error) = mount("devpts", dev.join("pts"), "devpts", flags, terminals) {
        // Few programs want one.
        tracing::debug!(%error, "no terminals in the new root");
    }
    Ok(())
}

fn put(plan: &Plan, path: &Path, place: &Place) -> Result<(), NotStarted> {
    let target = new(path);
    // What a place already shows is taken from there, not from outside: somebody who can write there could have put
    // a link in the way meanwhile, and inside it leads nowhere else.
    let shown = matches!(plan.around(path), Some((_, Place::Same { .. })));
    let source = if shown { target.clone() } else { old(path) };
    if !shown && let Some(parent) = target.parent() {
        done("make", parent, fs::create_dir_all(parent))?;
    }
    match place {
        Place::Link(to) => done("make", &target, symlink(to, &target)),
        Place::Same { .. } => {
            if !shown {
                make_point(&target, source.is_dir())?;
            }
            done("show", &target, mount_bind_recursive(&source, &target))
        }
        Place::Empty { write } => {
            make_point(&target, true)?;
            let size = if *write { TEMPORARY } else { SCAFFOLD };
            done("cover", &target, mount("tmpfs", &target, "tmpfs", CLOSED, size))
        }
        Place::Blank => done("cover", &target, mount_bind_recursive(old(Path::new("/dev/null")), &target)),
    }
}

/// Something to mount on, if it is not there.
fn make_point(path: &Path, directory: bool) -> Result<(), NotStarted> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    done("make", path, if directory { fs::create_dir(path) } else { fs::write(path, "") })
}

/// Takes from every mount what its place does not allow, those that came along inside another included. Before the
/// `last` time, directories of our own making stay open for what is still to be made in them.
fn close(plan: &Plan, last: bool) -> Result<(), NotStarted> {
    let list = old(Path::new("/proc/self/mountinfo"));
    let text = fs::read(&list);
    let mounts: Vec<Mount> = mountinfo::parse(&done("read", &list, text)?);
    // More than one may be at the same point; what is closed there is always the topmost.
    let inside: Vec<(PathBuf, &Mount)> = mounts
        .iter()
        .filter_map(|mount| Some((Path::new("/").join(mount.point.strip_prefix(NEW).ok()?), mount)))
        .collect();
    let points: HashSet<&Path> = inside.iter().map(|(point, _)| point.as_path()).collect();
    for (path, place) in &plan.places {
        // A mount that is not where it was planned went through a link that somebody put there in this moment.
        if !matches!(place, Place::Link(_)) && !points.contains(path.as_path()) {
            return Err(changed(path));
        }
    }
    let is_open =
        |path: &Path| path == Path::new("/") || matches!(plan.places.get(path), Some(Place::Empty { .. }));
    for (path, mount) in inside.iter().filter(|(path, _)| last || !is_open(path)) {
        let flags = flags_for(plan, path);
        if !mount.flags.contains(flags) {
            let flags = MountFlags::BIND | mount.flags | flags;
            done("close", &mount.point, mount_remount(&mount.point, flags, c""))?;
        }
    }
    Ok(())
}

fn flags_for(plan: &Plan, path: &Path) -> MountFlags {
    let read_only = CLOSED | MountFlags::RDONLY;
    let at = plan.places.get(path).filter(|place| !matches!(place, Place::Link(_)));
    match at.or_else(|| plan.around(path).map(|(_, place)| place)) {
        Some(Place::Same { write, execute }) => {
            let write = if *write { MountFlags::empty() } else { MountFlags::RDONLY };
            let execute = if *execute { MountFlags::empty() } else { MountFlags::NOEXEC };
            CLOSED | write | execute
        }
        Some(Place::Empty { write: true }) => CLOSED,
        Some(Place::Blank) => read_only | MountFlags::NOEXEC,
        Some(Place::Empty { write: false } | Place::Link(_)) => read_only,
        None if path == Path::new("/dev") => read_only | MountFlags::NOEXEC,
        None if path.starts_with("/dev") => MountFlags::NOSUID | MountFlags::NOEXEC,
        None if path.starts_with("/proc") => read_only | MountFlags::NOEXEC,
        None => read_only,
    }
}

/// Makes the new root the root, and the old one gone.
fn move_in() -> Result<(), NotStarted> {
    let root = Path::new(NEW);
    done("enter", root, chdir(root))?;
    done("enter", root, pivot_root(".", "."))?;
    done("leave", Path::new(OLD), unmount(".", UnmountFlags::DETACH))?;
    done("enter", root, chdir("/"))
}

fn old(path: &Path) -> PathBuf {
    below(Path::new(OLD), path)
}

fn new(path: &Path) -> PathBuf {
    below(Path::new(NEW), path)
}

fn done<T, E: Into<std::io::Error>>(what: &str, path: &Path, result: Result<T, E>) -> Result<T, NotStarted> {
    let refused =
        |error: E| NotStarted::Refused(format!("cannot {what} `{}`: {}", path.display(), error.into()));
    result.map_err(refused)
}
