//! Reading the system's list of mounts.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::mount::MountFlags;

/// A mount, where it is and what it forbids.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) point: PathBuf,
    pub(super) flags: MountFlags,
}

/// Reads the text of a `mountinfo` file.
pub(super) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

/// The fifth field is the mount point and the sixth what holds for this mount.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ').skip(4);
    let point = PathBuf::from(OsString::from_vec(unescape(fields.next()?)));
    let flags = fields.next()?.split(|&byte| byte == b',').fold(MountFlags::empty(), |flags, word| {
        flags
            | match word {
                b"ro" => MountFlags::RDONLY,
                b"nosuid" => MountFlags::NOSUID,
                b"nodev" => MountFlags::NODEV,
                b"noexec" => MountFlags::NOEXEC,
                b"nosymfollow" => MountFlags::NOSYMFOLLOW,
                _ => MountFlags::empty(),
            }
    });
    Some(Mount { point, flags })
}

/// Blanks, line ends and backslashes are written as a backslash and three octal digits.
fn unescape(mut text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    while let Some((&byte, rest)) = text.split_first() {
        text = rest;
        let digits = rest.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(number) if byte == b'\\' => {
                plain.push(number);
                text = &rest[3..];
            }
            _ => plain.push(byte),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_flags_are_read() {
        let text =
            b"36 35 98:0 / /new/with\\040blank\\134 ro,nosuid,relatime master:1 - ext4 /dev/x rw\nshort\n";
        let mount = Mount {
            point: PathBuf::from("/new/with blank\\"),
            flags: MountFlags::RDONLY | MountFlags::NOSUID,
        };
        assert_eq!(parse(text), [mount]);
    }
}
