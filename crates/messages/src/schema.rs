//! What is known about segments: the schema that is always there, and what extensions lay over it.

pub(crate) mod base;
pub(crate) mod merge;
