//! Which sessions are tasks: an empty file in the data directory for each, called by the session's id.
//!
//! Only where to look: what a task is, its journal says. A file whose session is gone is no task. Touches disks: call it
//! where that may block.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use loggia_domain::SessionId;

/// Where they are, in the data directory.
const DIRECTORY: &str = "tasks";

/// The files.
#[derive(Debug, Clone)]
pub(crate) struct Catalogue(PathBuf);

impl Catalogue {
    pub(crate) fn new(data: &Path) -> Self {
        Self(data.join(DIRECTORY))
    }

    /// Notes a session that is about to be opened for a task. Durable when this returns.
    pub(super) fn add(&self, session: SessionId) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        File::create(self.0.join(session.to_string()))?.sync_all()?;
        File::open(&self.0)?.sync_all()
    }

    /// Forgets one.
    pub(super) fn remove(&self, session: SessionId) -> io::Result<()> {
        match fs::remove_file(self.0.join(session.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// All there are, the newest first.
    pub(super) fn sessions(&self) -> io::Result<Vec<SessionId>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut sessions = Vec::new();
        for entry in entries {
            sessions.extend(entry?.file_name().to_str().and_then(|name| name.parse::<SessionId>().ok()));
        }
        sessions.sort_unstable_by(|a, b| b.cmp(a));
        Ok(sessions)
    }
}
