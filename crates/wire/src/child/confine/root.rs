//! A root directory of its own, put together from mounts.
//!
//! Runs in a keeper that is alone with its mounts: the first process of its namespaces. What is not mounted here
//! does not exist for the program. What always holds: everything is mounted before anything is started, nothing is
//! mounted outside the new root, and a step that fails is the end of this road.

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};
use rustix::process::{chdir, getpid, pivot_root};

use super::NotStarted;
use super::landlock::DEVICES;
use super::mountinfo::{self, Mount};
use super::plan::{Place, Plan};

/// A directory every system has; what is in it is not needed on the way.
const BASE: &str = "/tmp";
/// Where the system's root is while the new one is made, and where that is.
const OLD: &str = "/old";
const NEW: &str = "/new";

/// The scaffold holds empty directories and files only.
const SCAFFOLD: &CStr = c"mode=0755,size=4m,nr_inodes=16k";
/// What programs put into directories of their own is memory; large things belong into the temporary directory
/// they are told of.
const TEMPORARY: &CStr = c"mode=1777,size=512m,nr_inodes=128k";

const CLOSED: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// Makes the planned root and moves into it.
pub(super) fn enter(plan: &Plan) -> Result<(), NotStarted> {
    if !getpid().is_init() {
        // Mounting in namespaces that are not ours alone would be felt by others.
        return Err(NotStarted::Refused("no namespaces to make a root in".to_owned()));
    }
    make_scaffold()?;
    make_devices()?;
    for (path, place) in &plan.places {
        put(plan, path, place)?;
    }
    let proc = new(Path::new("/proc"));
    done("make", &proc, fs::create_dir_all(&proc))?;
    done("mount", &proc, mount("proc", &proc, "proc", CLOSED | MountFlags::NOEXEC, None))?;
    close(plan)?;
    move_in()
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
    done("enter", base, chdir("/"))?;
    done("mount", Path::new(NEW), mount("tmpfs", NEW, "tmpfs", CLOSED, SCAFFOLD))
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

/// Takes from every mount what its place does not allow, those that came along inside another included.
fn close(plan: &Plan) -> Result<(), NotStarted> {
    let list = old(Path::new("/proc/self/mountinfo"));
    let text = fs::read(&list);
    let mounts: Vec<Mount> = mountinfo::parse(&done("read", &list, text)?);
    let inside: Vec<(PathBuf, &Mount)> = mounts
        .iter()
        .filter_map(|mount| Some((Path::new("/").join(mount.point.strip_prefix(NEW).ok()?), mount)))
        .collect();
    for (path, place) in &plan.places {
        // A mount that is not where it was planned went through a link that somebody put there in this moment.
        if !matches!(place, Place::Link(_)) && inside.iter().all(|(point, _)| point != path) {
            return Err(NotStarted::Refused(format!("`{}` changed while it was mounted", path.display())));
        }
    }
    for (path, mount) in &inside {
        let flags = MountFlags::BIND | mount.flags | flags_for(plan, path);
        done("close", &mount.point, mount_remount(&mount.point, flags, c""))?;
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
    below(OLD, path)
}

fn new(path: &Path) -> PathBuf {
    below(NEW, path)
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

fn done<T, E: Into<std::io::Error>>(what: &str, path: &Path, result: Result<T, E>) -> Result<T, NotStarted> {
    let refused =
        |error: E| NotStarted::Refused(format!("cannot {what} `{}`: {}", path.display(), error.into()));
    result.map_err(refused)
}
