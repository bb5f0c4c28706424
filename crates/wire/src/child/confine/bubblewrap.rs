//! The planned root as arguments of `bwrap`.
//!
//! Some systems forbid programs in general to make namespaces and allow it to `bwrap`. What runs in it is the
//! keeper, with our socket as its stdin; it starts the program as on every other road.

use std::ffi::OsString;
use std::path::Path;

use super::plan::{self, Place};
use super::{Confinement, NotStarted};
use crate::child::spec::Keeper;

/// Where the keeper's own executable is inside.
const KEEPER: &str = "/.keeper";

/// What `bwrap` is told: the root, and the keeper to run in it.
pub(in crate::child) fn arguments(
    confinement: &Confinement,
    keeper: &Keeper,
) -> Result<Vec<OsString>, NotStarted> {
    let mut line = Line(Vec::new());
    line.add(["--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
    if !confinement.network {
        line.add(["--unshare-net"]);
    }
    line.add(["--dev", "/dev", "--proc", "/proc"]);
    let plan = plan::make(confinement, Path::new("/"));
    for (path, place) in &plan.places {
        match place {
            Place::Same { write: true, .. } => line.paths("--bind", path, path),
            Place::Same { write: false, .. } => line.paths("--ro-bind", path, path),
            Place::Empty { .. } => line.path("--tmpfs", path),
            Place::Blank => line.paths("--ro-bind", Path::new("/dev/null"), path),
            Place::Link(target) => line.paths("--symlink", target, path),
        }
    }
    // The name we started the keeper by may be one that means somebody else inside.
    let executable = keeper.program.canonicalize();
    let executable =
        executable.map_err(|error| NotStarted::Refused(format!("the keeper cannot be shown: {error}")))?;
    line.paths("--ro-bind", &executable, Path::new(KEEPER));
    // Only now: something may have been put inside.
    let closed = plan.places.iter().filter(|(_, place)| **place == Place::Empty { write: false });
    for (path, _) in closed {
        line.path("--remount-ro", path);
    }
    line.add(["--remount-ro", "/", "--", KEEPER]);
    line.0.extend(keeper.args.iter().cloned());
    Ok(line.0)
}

struct Line(Vec<OsString>);

impl Line {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn path(&mut self, word: &str, path: &Path) {
        self.0.extend([OsString::from(word), path.into()]);
    }

    fn paths(&mut self, word: &str, from: &Path, to: &Path) {
        self.0.extend([OsString::from(word), from.into(), to.into()]);
    }
}
