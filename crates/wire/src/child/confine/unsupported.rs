//! Systems without Landlock and namespaces: nothing can be held in here, and whoever requires it is told so.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use super::{Confinement, Held, Level, NotStarted};
use crate::child::limits::Limits;
use crate::child::spec::Keeper;

const REASON: &str = "this system has no sandbox that we know";

/// Nothing can be made ready.
#[derive(Debug)]
pub(in crate::child) enum Ahead {}

pub(in crate::child) fn prepare(_expected: &Confinement) -> Result<Ahead, NotStarted> {
    Err(NotStarted::Refused(REASON.to_owned()))
}

pub(in crate::child) fn start(
    mut command: Command,
    confinement: Confinement,
    limits: &Limits,
    _ahead: Option<Ahead>,
) -> Result<(u32, Held), NotStarted> {
    if confinement.required {
        return Err(NotStarted::Refused(REASON.to_owned()));
    }
    limits.apply(Path::new("/proc"))?;
    let pid = command.spawn()?.id();
    Ok((pid, Held { level: Level::None, missing: vec![REASON.to_owned()] }))
}

pub(in crate::child) fn launch(_socket: &UnixStream, _online: bool) -> Result<(), NotStarted> {
    Err(NotStarted::Refused(REASON.to_owned()))
}

pub(in crate::child) fn bubblewrap_arguments(
    _confinement: &Confinement,
    _keeper: &Keeper,
) -> Result<Vec<OsString>, NotStarted> {
    Err(NotStarted::Refused(REASON.to_owned()))
}
