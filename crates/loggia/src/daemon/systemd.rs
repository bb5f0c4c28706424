//! Being started by systemd, or by anything that does the same: sockets that were opened for us, and telling that we
//! are ready. Without it nothing happens here.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use listenfd::ListenFd;

/// Sockets that were opened for us.
#[derive(Debug, Default)]
pub(crate) struct Activated {
    pub(crate) tcp: Vec<std::net::TcpListener>,
    pub(crate) unix: Vec<std::os::unix::net::UnixListener>,
}

impl Activated {
    /// Takes what was handed over by `LISTEN_FDS`.
    pub(crate) fn take() -> Self {
        let mut given = ListenFd::from_env();
        let mut taken = Self::default();
        for place in 0..given.len() {
            if let Ok(Some(listener)) = given.take_tcp_listener(place) {
                if let Err(error) = listener.set_nonblocking(true) {
                    tracing::warn!(place, %error, "a socket that was handed over cannot be used");
                }
                taken.tcp.push(listener);
            } else if let Ok(Some(listener)) = given.take_unix_listener(place) {
                if let Err(error) = listener.set_nonblocking(true) {
                    tracing::warn!(place, %error, "a socket that was handed over cannot be used");
                }
                taken.unix.push(listener);
            } else {
                tracing::warn!(place, "a descriptor that was handed over is no socket we can use");
            }
        }
        taken
    }
}

/// Tells whoever watches over us how it goes.
pub(crate) fn notify(state: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else { return };
    if let Err(error) = send(&name, state) {
        tracing::warn!(%error, "whoever watches over us cannot be told");
    }
}

fn send(name: &OsStr, state: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    socket.send_to_addr(state.as_bytes(), &address(name)?)?;
    Ok(())
}

/// A name that begins with `@` is in no file system.
#[cfg(target_os = "linux")]
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}

#[cfg(not(target_os = "linux"))]
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_watches_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let watcher = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), "READY=1").unwrap();
        let mut heard = [0; 32];
        let length = watcher.recv(&mut heard).unwrap();
        assert_eq!(&heard[..length], b"READY=1");
    }
}
