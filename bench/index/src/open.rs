//! Opening an index for a measurement.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use loggia_index::{FileIndex, IndexSettings};
use loggia_tree::{HardLinkRule, Root, RootSettings};

/// The index of a tree, as the product opens it.
pub(crate) fn open(tree: &Path, data: &Path) -> Result<FileIndex> {
    let settings = RootSettings { hard_links: HardLinkRule::Read, ..RootSettings::default() };
    let root = Arc::new(Root::open(tree, settings)?);
    Ok(FileIndex::open(IndexSettings::new(data, root))?)
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}
