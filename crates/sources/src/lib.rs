//! Tasks from files, directories and plain text.
//!
//! Fills [`TaskProvider`] three times. Knows Markdown with front matter, what a directory of texts is, and where
//! reading ends. Refuses to know what becomes of a task, and changes nothing: what it cannot do is refused as such.
//!
//! | Reference | Provider | Priority | Without a scheme |
//! |---|---|---|---|
//! | `dir:PATH` | `directory` | 15 | takes a path where a directory is |
//! | `file:PATH` | `file` | 10 | takes a path where a file is |
//! | `text:WORDS` | `text` | 0 | takes nothing; whoever knows that words are meant asks it by name |
//!
//! # Where reading ends
//!
//! Paths are relative to the workspace's root. What is in the workspace is read through a handle on its root: no link in
//! it leads outside, whatever a repository brings. A path outside, absolute or with `..`, is read only with
//! [`Reach::Anywhere`], which is for people who could read the file themselves: somebody of the same user on this
//! machine, never a client with a token. They named the file, so links on the way to it are followed; in a directory
//! outside, links that leave it are left out.
//!
//! # What always holds
//!
//! - every file, directory and text is bounded before it is kept; see `limits.rs`;
//! - what is no UTF-8, or has NUL in it, is no text: refused if it was named, left out and counted if it was found;
//! - a key is what its item was fetched with, and is looked at again each time: it is never a way past the above.

mod directory;
mod document;
mod file;
mod heading;
mod limits;
mod places;
mod provider;
mod text;

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{GuestError, TaskProvider};

use crate::directory::DirectorySource;
use crate::file::FileSource;
use crate::places::Places;
pub use crate::places::Reach;
use crate::provider::BuiltIn;
use crate::text::TextSource;

/// The providers that are always there, in the order in which they are asked about references.
pub fn built_in(root: &Path, reach: Reach) -> Vec<Arc<dyn TaskProvider>> {
    let places = Places::new(root, reach);
    vec![
        BuiltIn::provider(DirectorySource::new(places.clone())),
        BuiltIn::provider(FileSource::new(places)),
        BuiltIn::provider(TextSource),
    ]
}

/// A provider that lists the files of one directory instead of the root's: what `browse dir:PATH` needs.
///
/// # Errors
/// When the path is none or out of reach.
pub fn browsing(root: &Path, reach: Reach, path: &str) -> Result<Arc<dyn TaskProvider>, GuestError> {
    let source = DirectorySource::browsing(Places::new(root, reach), path)?;
    Ok(BuiltIn::provider(source))
}
