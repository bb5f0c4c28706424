//! What is known of a file without reading it.

use rustix::fs::{FileType, Stat};

/// What the file system says about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// What kind of entry it is.
    pub kind: Kind,
    /// Its length in bytes; of a link, the length of its target.
    pub len: u64,
    /// The permission bits, with set-user, set-group and sticky: `0o7777` at most.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
    /// When its content last changed, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// When its content, mode, owner or number of names last changed, in nanoseconds since 1970.
    pub changed_ns: i128,
    /// Its number in the file system.
    pub inode: u64,
}

/// The kinds of entry that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A fifo, socket or device: never opened.
    Other,
}

impl Kind {
    pub(crate) fn of(stat: &Stat) -> Kind {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Link => "a link",
            Kind::Other => "a fifo, socket or device",
        })
    }
}

impl Meta {
    #[expect(clippy::useless_conversion, reason = "the fields of `Stat` differ between platforms")]
    pub(crate) fn of(stat: &Stat) -> Meta {
        Meta {
            kind: Kind::of(stat),
            len: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode & 0o7777,
            links: u64::from(stat.st_nlink),
            modified_ns: nanoseconds(i64::from(stat.st_mtime), u64::from(stat.st_mtime_nsec)),
            changed_ns: nanoseconds(i64::from(stat.st_ctime), u64::from(stat.st_ctime_nsec)),
            inode: stat.st_ino,
        }
    }
}

/// Which directory it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev, inode: stat.st_ino }
    }
}

fn nanoseconds(seconds: i64, rest: u64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}
