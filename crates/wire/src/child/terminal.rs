//! A terminal for a program that wants one.
//!
//! The system edits lines on it, and does not echo them: whoever writes one knows it already.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// How many lines.
    pub rows: u16,
    /// How many characters in a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// What terminals have had since there were any.
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

/// Our side, which does not block, and the program's.
pub(super) fn open(size: TerminalSize) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut modes = tcgetattr(&theirs)?;
    modes.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
    modes.output_modes.remove(OutputModes::ONLCR);
    tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, theirs))
}
