//! Finding an index on disk: is it there, is it ours, is it whole?
//!
//! One that is of another version or damaged is not used and is built anew, and why is told.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::IndexState;

use crate::base::{Base, Known};
use crate::disk::catalogue::Catalogue;
use crate::disk::{self, Current, packs};
use crate::fault::{AtFile, Fault};
use crate::keeper::Keeper;
use crate::snapshot::Snapshot;
use crate::text::TextIndex;

/// Where a build has its text index.
pub(super) const TEXT: &str = "text";
/// How the catalogues of a build are called.
pub(super) const CATALOGUE: &str = "files-";

impl Keeper {
    /// Opens what is on disk. Says whether it has to be built anew.
    pub(super) fn load(&mut self) -> bool {
        let directory = self.shared.settings.directory.clone();
        let note = match disk::current(&directory) {
            Ok(Current::None) => None,
            Ok(Current::Build(build)) => match open(&directory, &build) {
                Ok(base) => {
                    self.opened(base);
                    return false;
                }
                Err(fault) => Some(format!("the index was damaged and is built anew: {fault}")),
            },
            Ok(Current::OtherVersion(version)) => Some(format!(
                "the index has version {version}, this program writes version {}; it is built anew",
                disk::VERSION
            )),
            Ok(Current::Damaged) => Some("the index was damaged and is built anew".to_owned()),
            Err(fault) => Some(format!("the index could not be read and is built anew: {fault}")),
        };
        if let Err(fault) = disk::clear(&directory) {
            tracing::warn!(%fault, "an index could not be cleared");
        }
        self.shared.publish(|published| {
            published.state = IndexState::Empty;
            published.notes.extend(note.clone());
        });
        match note {
            Some(note) => {
                tracing::warn!(index = %directory.display(), "{note}");
                true
            }
            None => false,
        }
    }

    fn opened(&mut self, base: Base) {
        self.next_key = base.catalogue.next_key.into();
        self.see(Snapshot::of(base));
        // Until somebody looked, files may have changed meanwhile.
        self.told(IndexState::Stale, None);
    }
}

fn open(directory: &Path, build: &Path) -> Result<Base, Fault> {
    let text = TextIndex::open(&build.join(TEXT))?;
    let damaged = || Fault::Damaged { path: build.to_owned() };
    let name = text.payload()?.filter(|name| name.starts_with(CATALOGUE)).ok_or_else(damaged)?;
    let catalogue = Catalogue::read(&build.join(&name))?;
    let base = Base::open(build, Arc::new(text), catalogue, Known::default())?;
    disk::sweep(directory, Some(build))?;
    sweep(build, &name, &base.catalogue)?;
    Ok(base)
}

/// Removes the catalogues and packs of older states.
pub(super) fn sweep(build: &Path, name: &str, catalogue: &Catalogue) -> Result<(), Fault> {
    for entry in std::fs::read_dir(build).at(build)? {
        let entry = entry.at(build)?;
        let other = entry.file_name();
        let other = other.to_string_lossy();
        if other.starts_with(CATALOGUE) && other != name {
            std::fs::remove_file(entry.path()).at(&entry.path())?;
        }
    }
    packs::sweep(build, &catalogue.entries)
}
