//! Changes against real files, the real git, and real crashes.

mod apply;
mod blobs;
mod crash;
mod fault;
mod scenario;
mod support;
mod text;
mod undo;
