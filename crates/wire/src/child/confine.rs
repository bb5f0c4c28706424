//! Holding a program in: what it may reach, and how far that was achieved.
//!
//! [`Confinement`] says it in plain data: the paths it may read, write and execute, those it must not write or not
//! see, the network, Unix sockets. Knows nothing of why; that is the caller's policy. Everything not granted is
//! refused, except what the table below lists.
//!
//! There are three roads, tried in the caller's order until one is passable:
//!
//! | road | what it is | what it cannot do |
//! |---|---|---|
//! | [`Road::Namespaces`] | a root directory of its own made of bind mounts, its own processes, network and IPC | – |
//! | [`Road::Bubblewrap`] | the same made by `bwrap`, which some systems allow what they forbid us | – |
//! | [`Road::Landlock`] | the system's own files under Landlock's rules | seal a part of a writable directory; guard modes, times and attributes of the user's own files; hide that a path exists, or other processes' command lines; give the program a terminal, semaphores or a `/tmp` of its own |
//!
//! On every road the program also gets a Landlock domain, a filter of system calls, no privileges and no way to
//! new ones.
//!
//! **Who is confined.** Not the keeper: it has to signal the program and to clean up after it, and a program in
//! the keeper's own domain could trace it. The keeper confines *the thread* that starts the program. Landlock, the
//! filter and the privileges belong to a thread, and what a thread starts inherits them, so no code of ours runs
//! between `fork` and `exec` and no second executable is needed. Namespaces of processes and mounts cannot be
//! entered that way: there the keeper starts a second keeper inside them, which does all the rest. It is the first
//! process of its namespace, so the system itself kills everything in it when it goes.
//!
//! What always holds:
//! - a level is only told when all that it promises is in force; what was asked for and is not, is listed;
//! - with [`Confinement::required`] the program never runs below [`Level::Confined`];
//! - the keeper's environment is empty and its memory nobody's, whatever the program may do.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod enforce;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod mountinfo;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod split;
#[cfg(target_os = "linux")]
mod starter;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::path::PathBuf;

#[cfg(not(target_os = "linux"))]
pub(super) use self::unsupported::{Ahead, bubblewrap_arguments, launch, prepare, start};
#[cfg(target_os = "linux")]
pub(super) use self::{
    bubblewrap::arguments as bubblewrap_arguments,
    enforce::{Ahead, prepare, start},
    namespaces::launch,
};
use super::codec::{Reader, Writer};

/// What a program may reach. Paths are absolute; of two that lie in each other the deeper one decides, and at the
/// same place hidden beats sealed and sealed beats granted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Whether the program is refused when it cannot be held in.
    pub required: bool,
    /// How it may be held in, in the order they are tried.
    pub roads: Vec<Road>,
    /// What it may read, and more. One that does not exist grants nothing. The system's list of processes and the
    /// devices that lead nowhere are always there; in a root of its own nothing else of `/proc` and `/dev` is.
    pub grants: Vec<Grant>,
    /// Parts of what it may write that it must not write. They have to exist, without a link on the way, and stay
    /// sealed for as long as nobody outside replaces them.
    pub sealed: Vec<PathBuf>,
    /// What it must not see. What does not exist when the program starts is not hidden if it comes to exist later.
    pub hidden: Vec<PathBuf>,
    /// Directories that shall be empty and its own, where its root is its own. Elsewhere they are not granted.
    pub temporary: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it may use Unix sockets. Pairs of connected ones are always allowed.
    pub unix_sockets: bool,
}

/// A file or a directory with everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Where.
    pub path: PathBuf,
    /// Whether it may be written, not only read.
    pub write: bool,
    /// Whether what is there may be executed.
    pub execute: bool,
}

/// A way to hold a program in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Road {
    /// Namespaces and a root directory of our own making.
    Namespaces,
    /// The same made by this `bwrap`.
    Bubblewrap(PathBuf),
    /// The system's own root under Landlock's rules.
    Landlock,
}

/// How far a program is held in, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Not at all.
    None,
    /// In part: see [`Held::missing`].
    Partial,
    /// By Landlock and a filter of system calls, in all that was asked for.
    Confined,
    /// By namespaces as well.
    Isolated,
}

/// What holds a program in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// How far.
    pub level: Level,
    /// What was asked for and could not be had.
    pub missing: Vec<String>,
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    /// It cannot be held in on this road.
    #[error("{0}")]
    Refused(String),
    /// The system would not start it.
    #[error(transparent)]
    Program(#[from] std::io::Error),
}

impl Held {
    /// Nothing holds it and nobody asked for it.
    pub const FREE: Self = Self { level: Level::None, missing: Vec::new() };
}

impl Grant {
    /// Leave to read a path and to execute what is there.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), write: false, execute: true }
    }

    /// Leave to read, write and execute.
    pub fn write(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), write: true, execute: true }
    }

    /// The same without leave to execute.
    pub fn no_execute(self) -> Self {
        Self { execute: false, ..self }
    }
}

impl Level {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Confined => "confined",
            Self::Isolated => "isolated",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Partial, Self::Confined, Self::Isolated]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

impl Road {
    /// Whether the program gets a root directory and process numbers of its own.
    pub(super) fn has_own_root(&self) -> bool {
        !matches!(self, Self::Landlock)
    }

    fn encode(&self, out: &mut Writer) {
        match self {
            Self::Namespaces => out.number(0),
            Self::Landlock => out.number(1),
            Self::Bubblewrap(program) => {
                out.number(2);
                out.text(program);
            }
        }
    }

    fn decode(from: &mut Reader<'_>) -> Option<Self> {
        match from.number()? {
            0 => Some(Self::Namespaces),
            1 => Some(Self::Landlock),
            2 => Some(Self::Bubblewrap(from.text()?.into())),
            _ => None,
        }
    }
}

impl Confinement {
    pub(super) fn encode(&self, out: &mut Writer) {
        out.flag(self.required);
        out.list(&self.roads, |out, road| road.encode(out));
        out.list(&self.grants, |out, grant| {
            out.text(&grant.path);
            out.flag(grant.write);
            out.flag(grant.execute);
        });
        for paths in [&self.sealed, &self.hidden, &self.temporary] {
            out.list(paths, |out, path| out.text(path));
        }
        out.flag(self.network);
        out.flag(self.unix_sockets);
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Option<Self> {
        let path = |from: &mut Reader<'_>| from.text().map(PathBuf::from);
        Some(Self {
            required: from.flag()?,
            roads: from.list(Road::decode)?,
            grants: from
                .list(|from| Some(Grant { path: path(from)?, write: from.flag()?, execute: from.flag()? }))?,
            sealed: from.list(path)?,
            hidden: from.list(path)?,
            temporary: from.list(path)?,
            network: from.flag()?,
            unix_sockets: from.flag()?,
        })
    }
}
