//! A copy of a directory, in bounds.

use std::fs;
use std::io;
use std::path::Path;

use loggia_domain::PluginDeskError;

/// Files and directories of one plugin: a plugin with its libraries has some thousands.
const MAX_FILES: usize = 50_000;

/// All of them together.
const MAX_BYTES: u64 = 1 << 30;

/// Levels of directories.
const MAX_DEPTH: usize = 64;

/// What was copied so far.
#[derive(Debug, Default)]
struct Copied {
    files: usize,
    bytes: u64,
}

/// Copies a directory. Links are copied as they are; what is neither file, directory nor link is left out.
pub(super) fn tree(from: &Path, to: &Path) -> Result<(), PluginDeskError> {
    let mut copied = Copied::default();
    copied.directory(from, to, 0)
}

impl Copied {
    fn directory(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), PluginDeskError> {
        let failed = |error: io::Error| {
            PluginDeskError::Unavailable(format!("cannot copy `{}`: {error}", from.display()))
        };
        if depth > MAX_DEPTH {
            return Err(too_large(from, "its directories are too deep"));
        }
        fs::create_dir(to).map_err(failed)?;
        for entry in fs::read_dir(from).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().map_err(failed)?;
            self.files += 1;
            if self.files > MAX_FILES {
                return Err(too_large(from, "it has too many files"));
            }
            if kind.is_dir() {
                self.directory(&source, &target, depth + 1)?;
            } else if kind.is_symlink() {
                let leads_to = fs::read_link(&source).map_err(failed)?;
                std::os::unix::fs::symlink(leads_to, &target).map_err(failed)?;
            } else if kind.is_file() {
                self.bytes = self.bytes.saturating_add(entry.metadata().map_err(failed)?.len());
                if self.bytes > MAX_BYTES {
                    return Err(too_large(from, "it is larger than 1 GiB"));
                }
                fs::copy(&source, &target).map_err(failed)?;
            }
        }
        Ok(())
    }
}

fn too_large(path: &Path, why: &str) -> PluginDeskError {
    PluginDeskError::Invalid(format!("`{}` is no plugin's directory: {why}", path.display()))
}
