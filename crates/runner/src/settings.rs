//! What is the same for every command of a runner.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use loggia_wire::child::{Limits, Road};

/// Where a `bwrap` that the system's administrator installed would be. `PATH` is not asked: whoever can change it
/// could choose what holds the commands in.
const BUBBLEWRAPS: &[&str] = &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Somewhat earlier than what people work with, and than ourselves.
const OOM_SCORE: u16 = 300;

/// What is the same for every command of a runner.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How commands may be held in, in the order they are tried.
    pub roads: Vec<Road>,
    /// What a command may use up.
    pub limits: Limits,
    /// Where temporary directories are made.
    pub temporary: PathBuf,
    /// The variables a command may inherit from, if it is on the list of those it may.
    pub environment: Vec<(OsString, OsString)>,
}

impl Default for Settings {
    /// Every road this system may have, no core dumps, the system's temporary directory and our own environment.
    fn default() -> Self {
        let mut roads = vec![Road::Namespaces];
        roads.extend(BUBBLEWRAPS.iter().map(Path::new).find(|path| is_trusted(path)).map(bubblewrap));
        roads.push(Road::Landlock);
        Self {
            roads,
            limits: Limits { core: Some(0), oom_score: Some(OOM_SCORE), ..Limits::default() },
            temporary: std::env::temp_dir(),
            environment: std::env::vars_os().collect(),
        }
    }
}

fn bubblewrap(path: &Path) -> Road {
    Road::Bubblewrap(path.to_owned())
}

/// Whether only the administrator can have put it there.
fn is_trusted(program: &Path) -> bool {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let own = |path: &Path| {
        path.metadata().is_ok_and(|found| found.uid() == 0 && found.mode() & WRITABLE_BY_OTHERS == 0)
    };
    program.is_file() && program.ancestors().all(own)
}
