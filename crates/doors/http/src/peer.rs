//! Who is on the other end of a connection, as far as the system knows.

use std::fmt;
use std::net::SocketAddr;

/// The other end of a connection. Every request carries it as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Over TCP, from this address.
    Tcp(SocketAddr),
    /// Over a Unix socket, and a process of the same user that is none of our own children: that stands for a token.
    SameUser,
}

/// How a connection came in. Requests over TCP carry it as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// As it is.
    Http,
    /// Over TLS.
    Https,
}

/// As logs name it.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::SameUser => f.write_str("the Unix socket"),
        }
    }
}
