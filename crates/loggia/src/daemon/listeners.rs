//! Where a daemon listens.
//!
//! Knows addresses, certificates and sockets in the file system, and which of them are safe. Invariant: other machines
//! are heard only over TLS, unless somebody said otherwise; and a socket file is replaced only if nobody answers on it.

use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use loggia_endermux_io::server::Socket;
use loggia_http::{Listener, Tls};
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixSocket};

use super::directories::RuntimeDirectory;
use super::systemd::Activated;
use super::{DaemonError, Settings, TlsChoice};
use crate::config::places::Places;
use crate::errors;

/// How many connections may wait to be accepted. With the usual 128, a burst makes clients wait a second each; the system
/// lowers it if it knows better.
const BACKLOG: u32 = 1024;

/// What a socket is called that somebody else opened for us.
const ADOPTED: &str = "a socket that was handed over";

/// Names that always lead to this machine.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Listeners that accept, though nobody serves them yet.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) listeners: Vec<Listener>,
    pub(crate) rpc: UnixListener,
    pub(crate) console: Socket,
    pub(crate) place: Place,
}

/// Where that is.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its address, if it has one besides the socket.
    pub(crate) url: Option<String>,
    /// The same under the names others use, if they can reach it.
    pub(crate) other_urls: Vec<String>,
    pub(crate) http_socket: PathBuf,
    pub(crate) rpc_socket: PathBuf,
    pub(crate) console_socket: PathBuf,
    /// The certificate's, for clients to compare.
    pub(crate) fingerprint: Option<String>,
    /// The certificate we made, for clients to trust.
    pub(crate) certificate: Option<PathBuf>,
}

/// Binds everything.
pub(crate) async fn bind(
    settings: &Settings,
    places: &Places,
    runtime: &RuntimeDirectory,
    activated: Activated,
) -> Result<Bound, DaemonError> {
    let (tls, certificate) = tls(settings, places)?;
    let listeners = match (&settings.addr, activated.tcp.is_empty()) {
        (_, false) => adopt(activated.tcp, settings, tls.is_some())?,
        (Some(addr), true) => vec![bind_tcp(addr, settings, tls.is_some()).await?],
        (None, true) => Vec::new(),
    };
    let failed = |source| DaemonError::Listen { addr: ADOPTED.to_owned(), source };
    let own = listeners.first().map(TcpListener::local_addr).transpose().map_err(failed)?;
    if let Some(own) = own.filter(|own| own.ip().is_unspecified() && settings.hosts.is_empty()) {
        warn_of_hosts(own, places);
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = own.map(|own| format!("{scheme}://{}", reachable(own)));
    let other_urls = match own.filter(|own| !own.ip().is_loopback()) {
        None => Vec::new(),
        Some(own) => settings.hosts.iter().map(|name| named_url(scheme, name, own.port())).collect(),
    };
    let (http_socket, rpc_socket, console_socket) =
        (runtime.http_socket(), runtime.rpc_socket(), runtime.console_socket());
    let fingerprint = tls.as_ref().map(|tls| tls.fingerprint().to_owned());
    let mut all: Vec<_> =
        listeners.into_iter().map(|listener| Listener::Tcp(listener, tls.clone())).collect();
    // First: whoever finds that the http door answers counts on the others.
    let rpc = bind_unix(&rpc_socket)?;
    let console = Socket::bind(&console_socket).await?;
    all.push(Listener::Unix(bind_unix(&http_socket)?));
    for listener in activated.unix {
        all.push(Listener::Unix(UnixListener::from_std(listener).map_err(failed)?));
    }
    let place = Place { url, other_urls, http_socket, rpc_socket, console_socket, fingerprint, certificate };
    Ok(Bound { listeners: all, rpc, console, place })
}

/// Takes the sockets away, so that nobody knocks in vain. The console's goes with its listener.
pub(crate) fn leave(runtime: &RuntimeDirectory) {
    for socket in [runtime.http_socket(), runtime.rpc_socket()] {
        if let Err(error) = fs::remove_file(socket) {
            tracing::debug!(%error, "a socket stays");
        }
    }
}

/// The certificate to use, and its file if we made it.
fn tls(settings: &Settings, places: &Places) -> Result<(Option<Tls>, Option<PathBuf>), DaemonError> {
    Ok(match &settings.tls {
        TlsChoice::Off => (None, None),
        TlsChoice::Files { certificate, key } => (Some(Tls::from_files(certificate, key)?), None),
        TlsChoice::SelfSigned => {
            let asked = asked_names(settings);
            let mut names: Vec<String> = OWN_NAMES.map(str::to_owned).into();
            for name in asked.iter().copied().map(str::to_owned).chain(machine_name()) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let directory = places.data().join("tls");
            let tls = Tls::self_signed(&directory, names)?;
            let file = Tls::self_signed_file(&directory);
            for name in asked.into_iter().filter(|name| !tls.covers(name)) {
                errors::warn(
                    &format!("the certificate `{}` was not made for `{name}`", file.display()),
                    "remove it to have another one made at the next start; clients that pinned it must then be told the new fingerprint",
                );
            }
            (Some(tls), Some(file))
        }
    })
}

/// The names somebody asked for. "Any address" is none.
fn asked_names(settings: &Settings) -> Vec<&str> {
    let is_any = |name: &str| name.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
    let names = settings.hosts.iter().map(String::as_str).chain(settings.host());
    names.filter(|name| !is_any(name)).collect()
}

/// The machine's own name, if others could use it.
fn machine_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_str().ok()?.to_owned();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}

/// Whoever listens for others wants to be found by them.
fn warn_of_hosts(address: SocketAddr, places: &Places) {
    let name = machine_name().unwrap_or_else(|| "NAME".to_owned());
    errors::warn(
        &format!(
            "`{address}` is heard by others, but only requests to `localhost` and the loopback's addresses are answered"
        ),
        &format!(
            "list the names and addresses others use, separated by commas: `hosts = \"{name}\"` under `[server]` in `{}`, or `--set server.hosts={name}`",
            places.user_file().display()
        ),
    );
}

async fn bind_tcp(addr: &str, settings: &Settings, encrypted: bool) -> Result<TcpListener, DaemonError> {
    let failed = |source| DaemonError::Listen { addr: addr.to_owned(), source };
    let addresses: Vec<_> = tokio::net::lookup_host(addr).await.map_err(failed)?.collect();
    for address in &addresses {
        check(*address, settings, encrypted)?;
    }
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that was just stopped must not keep the next one from its port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Sockets that were opened for us.
fn adopt(
    given: Vec<std::net::TcpListener>,
    settings: &Settings,
    encrypted: bool,
) -> Result<Vec<TcpListener>, DaemonError> {
    let failed = |source| DaemonError::Listen { addr: ADOPTED.to_owned(), source };
    let adopt = |listener: std::net::TcpListener| {
        check(listener.local_addr().map_err(failed)?, settings, encrypted)?;
        TcpListener::from_std(listener).map_err(failed)
    };
    given.into_iter().map(adopt).collect()
}

/// Whether an address may be listened on.
fn check(address: SocketAddr, settings: &Settings, encrypted: bool) -> Result<(), DaemonError> {
    if address.ip().is_loopback() || encrypted {
        return Ok(());
    }
    if !settings.insecure {
        return Err(DaemonError::Insecure { address });
    }
    errors::warn(
        &format!(
            "`{address}` can be reached by other machines, and everything they send and get can be read on the way"
        ),
        "`--tls self-signed` would encrypt it",
    );
    Ok(())
}

/// An address people can open: not all systems take "any address" as one.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

/// An address under a name that was listed; that of an IPv6 address needs brackets.
fn named_url(scheme: &str, name: &str, port: u16) -> String {
    let is_bare = name.parse::<std::net::Ipv6Addr>().is_ok();
    if is_bare { format!("{scheme}://[{name}]:{port}") } else { format!("{scheme}://{name}:{port}") }
}

pub(crate) fn bind_unix(path: &Path) -> Result<UnixListener, DaemonError> {
    let failed = |source| DaemonError::Listen { addr: path.display().to_string(), source };
    if let Ok(found) = fs::symlink_metadata(path) {
        // A file that is no socket is not ours to remove; binding will say that it is in the way.
        if found.file_type().is_socket() {
            if UnixStream::connect(path).is_ok() {
                return Err(DaemonError::SocketTaken { path: path.to_owned() });
            }
            fs::remove_file(path).map_err(failed)?;
        }
    }
    let listener = UnixSocket::new_stream().and_then(|socket| {
        socket.bind(path)?;
        socket.listen(BACKLOG)
    });
    let listener = listener.map_err(failed)?;
    // Nobody else can have connected meanwhile: the directory is closed to them.
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_told_as_one_that_can_be_opened() {
        let told = |address: &str| reachable(address.parse().unwrap()).to_string();
        assert_eq!(told("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(told("[::]:80"), "[::1]:80");
        assert_eq!(told("192.168.1.2:80"), "192.168.1.2:80");
    }

    #[test]
    fn a_listed_name_is_told_as_an_address() {
        let told = |name| named_url("https", name, 80);
        assert_eq!(told("desk.local"), "https://desk.local:80");
        assert_eq!([told("fd00::1"), told("[fd00::1]")], ["https://[fd00::1]:80"; 2]);
    }

    #[tokio::test]
    async fn only_a_socket_nobody_answers_on_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("http.sock");
        let first = bind_unix(&path).unwrap();
        assert!(matches!(bind_unix(&path), Err(DaemonError::SocketTaken { .. })));
        drop(first);
        bind_unix(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "not a socket").unwrap();
        assert!(matches!(bind_unix(&path), Err(DaemonError::Listen { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a socket");
    }
}
