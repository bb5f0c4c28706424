//! How much is read.

/// One file. A task is a page or two; somebody's whole log is none.
pub(crate) const MAX_FILE: u64 = 1024 * 1024;

/// The front matter of one file: a few lines, as a rule.
pub(crate) const MAX_FRONT_MATTER: usize = 64 * 1024;

/// Words given as such.
pub(crate) const MAX_WORDS: usize = 64 * 1024;

/// All texts of a directory together.
pub(crate) const MAX_TEXTS: usize = 1024 * 1024;

/// How many texts of a directory are taken together.
pub(crate) const MAX_TEXT_FILES: usize = 200;

/// How many files are on a page if nobody says.
pub(crate) const USUAL_PAGE: usize = 50;

/// How many files are on a page at most.
pub(crate) const MAX_PAGE: usize = 200;

/// How many files are looked at for one page, which may want only some of them.
pub(crate) const MAX_LOOKED_AT: usize = 1000;

/// What fits into a line of a list.
pub(crate) const MAX_TITLE: usize = 200;
